#include "libtime/side/gaps.h"
#include "libtime/side/when.h"

#include <stdlib.h>
#include <string.h>

static const char first_line[] = "perfkit-gaps ", csv_line[] = "time,delay",
		  with_cpu[] = "time,delay,cpu";

enum { CELLS = 4 };

struct words {
	const char *v[CELLS];
	size_t n[CELLS], count;
};

static int begins(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);
	return n >= len && !memcmp(s, with, len);
}

/* Does the line of names start with exactly these? */
static int has_names(const char *s, size_t n, const char *names)
{
	size_t len = strlen(names);
	return begins(s, n, names) &&
	       (n == len || s[len] == ',' || s[len] == '\n' || s[len] == '\r');
}

int side_is_gaps(const char *text, size_t n)
{
	return begins(text, n, first_line) || has_names(text, n, csv_line);
}

/* Split into words, of which the first CELLS are kept; `count` is how many there are. */
static void cut(struct words *w, const char *s, size_t n, char separator)
{
	w->count = 0;
	for (size_t at = 0; at <= n;) {
		const char *end = at < n ? memchr(s + at, separator, n - at) : NULL;
		size_t len = (end ? (size_t)(end - s) : n) - at;
		if (w->count < CELLS) {
			w->v[w->count] = s + at;
			w->n[w->count] = len;
		}
		w->count++;
		at += len + 1;
	}
}

static int number(const struct words *w, size_t i, uint64_t max, uint64_t *out)
{
	return i >= w->count || when_number(w->v[i], w->n[i], 1, out) || *out > max ? -1 : 0;
}

/* --- every gap ------------------------------------------------------------------------ */

static const char *parse_gap(struct side *out, const struct words *w, int *rc)
{
	struct side_gap g = {.cpu = -1};
	uint64_t cpu;
	if (w->count != 3 || number(w, 0, UINT16_MAX - 1, &cpu) ||
	    number(w, 1, INT64_MAX, &g.start_ns) || number(w, 2, INT64_MAX, &g.end_ns))
		return "a gap is CPU, begin and end in ns";
	if (g.end_ns < g.start_ns)
		return "it ends before it begins";
	g.cpu = (int32_t)cpu;
	g.lost_ns = g.end_ns - g.start_ns;
	*rc = vec_push(&out->gaps, g);
	return NULL;
}

static const char *add_spinner(struct side *out, const struct words *w, int control, int *rc)
{
	struct side_spinner s = {.control = control};
	uint64_t cpu, tid;
	if (w->count != 2 || number(w, 0, UINT16_MAX - 1, &cpu) ||
	    number(w, 1, INT32_MAX, &tid))
		return "a spinner is CPU and tid";
	s.cpu = (int32_t)cpu;
	s.tid = (int32_t)tid;
	*rc = vec_push(&out->spinners, s);
	return NULL;
}

static const char *parse_spinner(struct side *out, const struct words *w, int *rc)
{
	return add_spinner(out, w, 0, rc);
}

static const char *parse_control(struct side *out, const struct words *w, int *rc)
{
	return add_spinner(out, w, 1, rc);
}

static const char *parse_anchor(struct side *out, const struct words *w, int *rc)
{
	struct side_anchor a;
	if (w->count != 4 || number(w, 0, INT64_MAX, &a.ns[SIDE_CLOCK_MONO]) ||
	    number(w, 1, INT64_MAX, &a.ns[SIDE_CLOCK_RAW]) ||
	    number(w, 2, INT64_MAX, &a.ns[SIDE_CLOCK_REAL]) ||
	    number(w, 3, INT64_MAX, &a.error_ns))
		return "an anchor is three clocks and their error in ns";
	a.ns[SIDE_CLOCK_UNKNOWN] = 0;
	*rc = vec_push(&out->anchors, a);
	return NULL;
}

static const char *parse_dropped(struct side *out, const struct words *w, int *rc)
{
	uint64_t cpu, n;
	(void)rc;
	if (w->count != 2 || number(w, 0, UINT16_MAX - 1, &cpu) || number(w, 1, INT32_MAX, &n))
		return "dropped is CPU and how many gaps";
	out->dropped += n;
	return NULL;
}

static const char *parse_clock(struct side *out, const struct words *w, int *rc)
{
	(void)rc;
	out->clock = w->count == 1 ? side_clock_of(w->v[0], w->n[0]) : SIDE_CLOCK_UNKNOWN;
	return out->clock ? NULL : "clock is mono, raw or real";
}

static const char *parse_line(struct side *out, const char *s, size_t n, int *rc)
{
	static const struct {
		const char *word;
		const char *(*take)(struct side *, const struct words *, int *rc);
	} kinds[] = {{"gap ", parse_gap},         {"spinner ", parse_spinner},
		     {"control ", parse_control}, {"anchor ", parse_anchor},
		     {"dropped ", parse_dropped}, {"clock ", parse_clock}};
	struct words w;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].word);
		if (!begins(s, n, kinds[i].word))
			continue;
		cut(&w, s + len, n - len, ' ');
		return kinds[i].take(out, &w, rc);
	}
	return "it does not begin with a known word";
}

/* --- one of each interval ------------------------------------------------------------- */

static const char *parse_row(struct side *out, const char *s, size_t n, int has_cpu, int *rc)
{
	struct side_gap g = {.cpu = -1};
	struct words w;
	uint64_t cpu;
	cut(&w, s, n, ',');
	if (number(&w, 0, INT64_MAX, &g.end_ns) || number(&w, 1, INT64_MAX, &g.lost_ns))
		return "time and delay are numbers of ns";
	if (g.lost_ns > g.end_ns)
		return "its delay begins before time 0";
	if (has_cpu && number(&w, 2, UINT16_MAX - 1, &cpu))
		return "its CPU is not a number";
	g.cpu = has_cpu ? (int32_t)cpu : -1;
	g.start_ns = g.end_ns; /* until side_gaps_windows knows the interval */
	*rc = vec_push(&out->gaps, g);
	return NULL;
}

static int by_end(const void *a, const void *b)
{
	const struct side_gap *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

void side_gaps_windows(struct side *out)
{
	uint64_t interval = UINT64_MAX;
	if (out->gaps.n)
		qsort(out->gaps.v, out->gaps.n, sizeof(*out->gaps.v), by_end);
	for (size_t i = 1; i < out->gaps.n; i++) {
		const struct side_gap *g = &out->gaps.v[i];
		if (g->cpu == g[-1].cpu && g->end_ns > g[-1].end_ns &&
		    g->end_ns - g[-1].end_ns < interval)
			interval = g->end_ns - g[-1].end_ns;
	}
	for (size_t i = 0; i < out->gaps.n; i++) {
		struct side_gap *g = &out->gaps.v[i];
		uint64_t back = (interval == UINT64_MAX ? 0 : interval) + g->lost_ns;
		g->start_ns = g->end_ns > back ? g->end_ns - back : 0;
	}
}

/* --- either --------------------------------------------------------------------------- */

int side_gaps_read(struct side *out, struct side_lines *l, struct err *e)
{
	const char *s, *why;
	size_t n;
	int rc = 0, r = side_lines_next(l, &s, &n, e);
	int csv = r > 0 && has_names(s, n, csv_line);
	int has_cpu = csv && has_names(s, n, with_cpu);
	if (r > 0 && !csv &&
	    (n != strlen("perfkit-gaps v1") || memcmp(s, "perfkit-gaps v1", n)))
		return err_set(e, ERR_FORMAT, "line 1: gaps of another version than v1");
	while (r > 0 && (r = side_lines_next(l, &s, &n, e)) > 0) {
		if (!n || *s == '#')
			continue;
		out->rows++;
		why = csv ? parse_row(out, s, n, has_cpu, &rc) : parse_line(out, s, n, &rc);
		if (why)
			side_bad_row(out, side_lines_number(l), why);
		if (rc)
			return err_nomem(e);
	}
	if (csv)
		side_gaps_windows(out);
	return r;
}
