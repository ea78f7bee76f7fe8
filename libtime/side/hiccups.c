#include "libtime/side/hiccups.h"
#include "libtime/side/when.h"

#include <string.h>

enum { CELLS = 4 };
static const uint64_t SECOND = 1000000000u, YEAR = 365 * 86400 * 1000000000ull;

struct log {
	struct side *out;
	uint64_t base_ns, start_ns; /* 0: not in the file */
	uint32_t name, max, tag;    /* strings ids */
	int rc;
};

static int begins(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);
	return n >= len && !memcmp(s, with, len);
}

int side_is_hiccups(const char *text, size_t n)
{
	return begins(text, n, "#[")
		       ? memmem(text, n, "Histogram log format version", 28) != NULL
		       : begins(text, n, "\"StartTimestamp\"");
}

static int seconds(const char *s, size_t n, uint64_t *ns)
{
	return when_number(s, n, SECOND, ns);
}

/* #[BaseTime: SECONDS ( ... */
static void parse_comment(struct log *h, const char *s, size_t n)
{
	static const char base[] = "#[BaseTime: ", start[] = "#[StartTime: ";
	int is_base = begins(s, n, base);
	if (!is_base && !begins(s, n, start))
		return;
	size_t at = is_base ? sizeof(base) - 1 : sizeof(start) - 1, len = 0;
	while (at + len < n && strchr("0123456789.", s[at + len]))
		len++;
	uint64_t ns;
	if (seconds(s + at, len, &ns))
		return;
	*(is_base ? &h->base_ns : &h->start_ns) = ns;
}

static uint64_t base_of(const struct log *h, uint64_t first_ns)
{
	if (h->base_ns)
		return h->base_ns;
	return h->start_ns > YEAR && first_ns < h->start_ns - YEAR ? h->start_ns : 0;
}

/* [Tag=T,]START,LENGTH,MAX,HISTOGRAM */
static const char *parse_row(struct log *h, const char *s, size_t n)
{
	struct side_span span = {
		.pid = -1, .tid = -1, .name = h->name, .flags = SIDE_NO_THREAD};
	const char *tag = s + 4, *cell[CELLS];
	size_t len[CELLS], tag_len = 0, at = 0;
	uint64_t start, length, max;
	if (begins(s, n, "Tag=")) {
		const char *comma = memchr(tag, ',', n - (size_t)(tag - s));
		if (!comma)
			return "it ends after its tag";
		tag_len = (size_t)(comma - tag);
		n -= (size_t)(comma + 1 - s);
		s = comma + 1;
	}
	for (int i = 0; i < CELLS; i++) {
		const char *comma = at < n ? memchr(s + at, ',', n - at) : NULL;
		cell[i] = s + at;
		len[i] = comma ? (size_t)(comma - cell[i]) : at < n ? n - at : 0;
		at += len[i] + 1;
	}
	if (seconds(cell[0], len[0], &start) || seconds(cell[1], len[1], &length) ||
	    when_number(cell[2], len[2], SECOND, &max) || !begins(cell[3], len[3], "HIST"))
		return "an interval is start, length, maximum and histogram";
	span.start_ns = base_of(h, start) + start;
	span.end_ns = span.start_ns + length;
	if (span.start_ns > INT64_MAX || span.end_ns > INT64_MAX)
		return "its time is out of range";
	h->rc = side_add_label(h->out, h->max, cell[2], len[2]);
	if (!h->rc && tag_len)
		h->rc = side_add_label(h->out, h->tag, tag, tag_len);
	h->rc = h->rc ? h->rc : side_add_span(h->out, &span);
	return NULL;
}

int side_hiccups_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct log h = {.out = out};
	const char *s;
	size_t n;
	int r = 1;
	out->clock = SIDE_CLOCK_REAL;
	if (side_intern(out, "hiccups", 7, &h.name) || side_intern(out, "max", 3, &h.max) ||
	    side_intern(out, "tag", 3, &h.tag))
		return err_nomem(e);
	while (r > 0 && (r = side_lines_next(l, &s, &n, e)) > 0) {
		if (n && *s == '#')
			parse_comment(&h, s, n);
		if (!n || *s == '#' || *s == '"')
			continue;
		out->rows++;
		const char *why = parse_row(&h, s, n);
		if (why)
			side_bad_row(out, side_lines_number(l), why);
		if (h.rc)
			return h.rc == ERR_NOMEM ? err_nomem(e)
						 : err_set(e, h.rc, "too many rows");
	}
	return r;
}
