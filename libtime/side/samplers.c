#include "libtime/side/samplers.h"
#include "libtime/side/gaps.h"
#include "libtime/side/when.h"

#include <string.h>

enum {
	DRIFT = 2000,   /* 1 in 2000: 500 ppm */
	ROUNDED = 1000, /* ns; uncertainty of sysjitter's own readings */
};

struct text {
	const char *s;
	size_t n;
};

/* Cut off *t what precedes the first `end`. */
static struct text cut_to(struct text *t, char end)
{
	const char *at = t->n ? memchr(t->s, end, t->n) : NULL;
	struct text out = {t->s, at ? (size_t)(at - t->s) : t->n};
	t->s += out.n + (at != NULL);
	t->n -= out.n + (at != NULL);
	return out;
}

static struct text cut_word(struct text *t)
{
	while (t->n && *t->s == ' ')
		t->s++, t->n--;
	return cut_to(t, ' ');
}

static int number(struct text t, uint64_t max, uint64_t *out)
{
	return when_number(t.s, t.n, 1, out) || *out > max ? -1 : 0;
}

/* --- InfluxDB ------------------------------------------------------------------------- */

/* The length up to the first `end` without a backslash before it; with `strings`, in which
 * backslashes quote, too, outside of them. */
static size_t part_length(struct text t, char end, int strings)
{
	size_t n = 0;
	for (int in = 0; n < t.n; n++) {
		char c = t.s[n];
		if (in && c == '\\')
			n += n + 1 < t.n;
		else if (c == '"' && strings)
			in = !in;
		else if (c == end && !in && !(n && t.s[n - 1] == '\\'))
			break;
	}
	return n;
}

static struct text cut_part(struct text *t, char end, int strings)
{
	struct text out = {t->s, part_length(*t, end, strings)};
	t->s += out.n + (out.n < t->n);
	t->n -= out.n + (out.n < t->n);
	return out;
}

/* What is behind the tags; the time is left. */
static struct text cut_fields(struct text *line)
{
	while (line->n && *line->s == ' ')
		line->s++, line->n--;
	return cut_part(line, ' ', 1);
}

/* The value of `key` in "a=1,cpu=2"; n is 0 if it is missing. */
static struct text value_of(struct text list, const char *key, int strings)
{
	size_t len = strlen(key);
	while (list.n) {
		struct text x = cut_part(&list, ',', strings);
		if (x.n > len && !memcmp(x.s, key, len) && x.s[len] == '=')
			return (struct text){x.s + len + 1, x.n - len - 1};
	}
	return (struct text){"", 0};
}

static struct text length_in(struct text fields)
{
	static const char *const names[] = {"latency", "jitter", "delay"};
	struct text x = {"", 0};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !x.n; i++)
		x = value_of(fields, names[i], 1);
	if (x.n && (x.s[x.n - 1] == 'i' || x.s[x.n - 1] == 'u'))
		x.n--;
	return x;
}

int side_is_influx(const char *text, size_t n)
{
	uint64_t x;
	struct text head = {text, n}, line = cut_to(&head, '\n');
	struct text tags = cut_part(&line, ' ', 0), fields = cut_fields(&line);
	return tags.n && *tags.s != '#' && !number(length_in(fields), INT64_MAX, &x) &&
	       !memchr(tags.s, '{', tags.n);
}

static const char *parse_point(struct side *out, struct text line, int *rc)
{
	struct side_gap g = {.cpu = -1};
	struct text tags = cut_part(&line, ' ', 0), fields = cut_fields(&line), cpu;
	uint64_t n;
	if (number(length_in(fields), INT64_MAX, &g.lost_ns))
		return "no field latency, jitter or delay with a number of ns";
	if (number(cut_word(&line), INT64_MAX, &g.end_ns) || line.n)
		return "its time is not a number of ns";
	if (g.lost_ns > g.end_ns)
		return "its delay begins before time 0";
	cpu = value_of(tags, "cpu", 0);
	if (cpu.n && number(cpu, UINT16_MAX - 1, &n))
		return "its CPU is not a number";
	if (!cpu.n && out->gaps.n && out->gaps.v[0].cpu >= 0)
		return "it names no CPU, as the first one does";
	g.cpu = cpu.n ? (int32_t)n : -1;
	g.start_ns = g.end_ns; /* until side_gaps_windows knows the interval */
	*rc = vec_push(&out->gaps, g);
	return NULL;
}

int side_influx_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct text line;
	int r, rc = 0;
	while ((r = side_lines_next(l, &line.s, &line.n, e)) > 0) {
		if (!line.n || *line.s == '#')
			continue;
		out->rows++;
		const char *why = parse_point(out, line, &rc);
		if (why)
			side_bad_row(out, side_lines_number(l), why);
		if (rc)
			return err_nomem(e);
	}
	side_gaps_windows(out);
	return r;
}

/* --- sysjitter ------------------------------------------------------------------------ */

int side_is_sysjitter(const char *text, size_t n)
{
	struct text head = {text, n}, line = cut_to(&head, '\n');
	return line.n > 12 && *line.s == '#' && memmem(line.s, line.n, "Timestamp", 9) &&
	       memmem(line.s, line.n, "<== interruption =>", 19);
}

/* Timestamp, delta (in unsorted output), cycles, ns. */
static const char *parse_interruption(struct side *out, struct text line, int columns, int *rc)
{
	struct side_gap g = {.cpu = -1};
	uint64_t x[4] = {0};
	int n = 0;
	for (; n < columns; n++)
		if (number(cut_word(&line), INT64_MAX / 2, &x[n]))
			return "it has fewer numbers than the second line names";
	if (cut_word(&line).n)
		return "it has more columns than the second line names";
	g.lost_ns = x[columns - 1];
	if (g.lost_ns > x[0])
		return "it began before the start";
	uint64_t margin = x[0] / DRIFT + ROUNDED, begin = x[0] - g.lost_ns;
	g.start_ns = begin > margin ? begin - margin : 0;
	g.end_ns = x[0] + margin;
	*rc = vec_push(&out->gaps, g);
	return NULL;
}

int side_sysjitter_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct text line;
	int r, rc = 0, columns = 3;
	out->from_start = 1;
	while ((r = side_lines_next(l, &line.s, &line.n, e)) > 0) {
		if (line.n && *line.s == '#' && memmem(line.s, line.n, "delta", 5))
			columns = 4;
		if (!line.n || *line.s == '#')
			continue;
		out->rows++;
		const char *why = parse_interruption(out, line, columns, &rc);
		if (why)
			side_bad_row(out, side_lines_number(l), why);
		if (rc)
			return err_nomem(e);
	}
	return r;
}
