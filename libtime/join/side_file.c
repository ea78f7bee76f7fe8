#include "libtime/join/side_file.h"
#include "libtime/side/chrome.h"
#include "libtime/side/csv.h"
#include "libtime/side/gaps.h"
#include "libtime/side/hiccups.h"
#include "libtime/side/histories.h"
#include "libtime/side/ldb.h"
#include "libtime/side/maps.h"
#include "libtime/side/otlp.h"
#include "libtime/side/samplers.h"
#include "libtime/join/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- the option ----------------------------------------------------------------------- */

static int parse_offset(const char *s, struct side_option *o)
{
	char *end;
	errno = 0;
	o->offset_ns = strtoll(s, &end, 10);
	o->has_offset = 1;
	return errno || end == s || *end || o->offset_ns == INT64_MIN ? -1 : 0;
}

static int parse_cpu(const char *s, struct side_option *o)
{
	char *end;
	errno = 0;
	long n = strtol(s, &end, 10);
	o->cpu = (int)n;
	return errno || end == s || *end || n < 0 || n >= TL_NOCPU ? -1 : 0;
}

/* Parse one word after a comma: 1, 0 if it is unknown, < 0. */
static int parse_word(const char *word, struct side_option *o, struct err *e)
{
	if (!strncmp(word, "clock=", 6)) {
		o->clock = side_clock_of(word + 6, strlen(word + 6));
		return o->clock ? 1
				: err_set(e, ERR_USAGE,
					  "--with: clock is mono, raw, real or tsc, not '%s'",
					  word + 6);
	}
	if (!strncmp(word, "cpu=", 4))
		return parse_cpu(word + 4, o)
			       ? err_set(e, ERR_USAGE, "--with: cpu is a number, not '%s'",
					 word + 4)
			       : 1;
	if (!strncmp(word, "maps=", 5)) {
		buf_clear(&o->maps);
		buf_str(&o->maps, word + 5);
		buf_cstr(&o->maps); /* ends it */
		return buf_failed(&o->maps) ? err_nomem(e) : 1;
	}
	if (strncmp(word, "offset=", 7) != 0)
		return 0;
	return parse_offset(word + 7, o)
		       ? err_set(e, ERR_USAGE, "--with: offset is a number of ns, not '%s'",
				 word + 7)
		       : 1;
}

int side_option_parse(const char *text, struct side_option *out, struct err *e)
{
	int r = 1;
	*out = (struct side_option){.clock = SIDE_CLOCK_UNKNOWN, .cpu = -1};
	buf_str(&out->path, text);
	while (r > 0 && !buf_failed(&out->path)) {
		char *comma = strrchr(buf_cstr(&out->path), ',');
		r = comma ? parse_word(comma + 1, out, e) : 0;
		if (r > 0) {
			*comma = '\0';
			out->path.n = (size_t)(comma - out->path.v);
		}
	}
	if (r < 0)
		return r;
	if (buf_failed(&out->path))
		return err_nomem(e);
	return out->path.n ? 0 : err_set(e, ERR_USAGE, "--with: no file in '%s'", text);
}

void side_option_release(struct side_option *o)
{
	buf_release(&o->path);
	buf_release(&o->maps);
}

/* --- the file ------------------------------------------------------------------------- */

static int read_kind(struct side *out, struct side_lines *l, struct err *e)
{
	const char *head;
	size_t n;
	int r = side_lines_peek(l, &head, &n, e);
	if (r < 0)
		return r;
	if (!r)
		return err_set(e, ERR_FORMAT, "it is empty");
	if (n >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return err_set(e, ERR_FORMAT, "it is UTF-16; UTF-8 is read");
	if (side_is_otlp(head, n))
		return side_otlp_read(out, l, e);
	if (side_is_chrome(head, n)) /* before CSV, whose names may be quoted in it */
		return side_chrome_read(out, l, e);
	if (side_is_histories(head, n))
		return side_histories_read(out, l, e);
	if (side_is_gaps(head, n))
		return side_gaps_read(out, l, e);
	if (side_is_sysjitter(head, n))
		return side_sysjitter_read(out, l, e);
	if (side_is_influx(head, n))
		return side_influx_read(out, l, e);
	if (side_is_hiccups(head, n))
		return side_hiccups_read(out, l, e);
	if (side_is_csv(head, n))
		return side_csv_read(out, l, e);
	if (side_is_ldb(head, n))
		return side_ldb_read(out, l, e);
	return err_set(
		e, ERR_FORMAT,
		"not a known kind of side file: CSV with a line of names that has "
		"start and end or duration (start_us,duration_us,tid,key), OTLP traces as "
		"JSON lines, a Chrome trace, label histories, gaps (time,delay; InfluxDB; "
		"sysjitter --raw), HdrHistogram interval log, LDB");
}

int side_file_read(struct side *out, struct source *src, struct err *e)
{
	struct side_lines *l;
	int r = side_lines_open(&l, src, e);
	if (r)
		return r;
	r = read_kind(out, l, e);
	side_lines_close(l);
	/* a file with a spinner but no gaps is valid */
	int empty = !out->spans.n && !out->bindings.n && !out->gaps.n && !out->spinners.n;
	if (!r && empty && out->bad.n)
		return err_set(
			e, ERR_FORMAT, "%s %llu: %s; no row is whole", side_bad_unit(&out->bad),
			(unsigned long long)out->bad.first[0].line, out->bad.first[0].why);
	return !r && empty ? err_set(e, ERR_FORMAT, "no spans, labels or gaps in it") : r;
}

/* Calls are named by what was mapped where they were made. */
static int has_sites(const struct side *side)
{
	for (size_t i = 0; i < side->spans.n; i++)
		if (side->spans.v[i].site)
			return 1;
	return 0;
}

static int read_maps(struct side *side, const char *path, struct err *e)
{
	struct source src = {.fd = -1};
	struct side_lines *l;
	int r = source_open(&src, path, e);
	if (r)
		return r;
	r = side_lines_open(&l, &src, e);
	if (!r) {
		r = side_maps_read(side, l, e);
		side_lines_close(l);
	}
	if (r && e && strncmp(e->msg, src.name, strlen(src.name)) != 0)
		err_prefix(e, "%s", src.name);
	source_close(&src);
	return r;
}

/* LDB writes maps.data beside its events. */
static int find_maps(struct side *side, const struct side_option *o, struct err *e)
{
	struct buf beside = {0};
	struct stat st;
	int r = 0;
	if (!has_sites(side))
		return o->maps.n ? err_set(e, ERR_USAGE, "maps= is for LDB's events") : 0;
	if (o->maps.n)
		return read_maps(side, o->maps.v, e);
	const char *slash = strrchr(o->path.v, '/');
	buf_fmt(&beside, "%.*smaps.data", slash ? (int)(slash + 1 - o->path.v) : 0, o->path.v);
	if (buf_failed(&beside))
		r = err_nomem(e);
	else if (strcmp(o->path.v, "-") && !stat(buf_cstr(&beside), &st) && S_ISREG(st.st_mode))
		r = read_maps(side, buf_cstr(&beside), e);
	buf_release(&beside);
	return r;
}

static int choose_clock(const struct timeline *tl, const struct side *side,
			const struct side_option *o, struct side_clock_map *m, struct err *e)
{
	enum side_clock asked = o->has_offset && !o->clock ? SIDE_CLOCK_SAME : o->clock;
	if (side->from_start && !o->has_offset)
		return err_set(
			e, ERR_REFUSED,
			"its times count from its own start, which the file does not contain: "
			"give ,offset=NS, the start on the recording's clock");
	int r = side_clock_choose(tl, side, asked, m, e);
	if (!r && o->has_offset)
		m->offset_ns = (int64_t)((uint64_t)m->offset_ns + (uint64_t)o->offset_ns);
	return r ? r : side_clock_check(tl, side, m, e);
}

int side_file_add(struct timeline *tl, struct profile *p, const struct side_option *o,
		  struct side_report *out, struct err *e)
{
	struct side side = {.strings = &tl->stacks->strings};
	struct source src = {.fd = -1};
	*out = (struct side_report){.rows = 0};
	int r = source_open(&src, o->path.v, e);
	if (r)
		return r;
	r = side_file_read(&side, &src, e);
	if (!r)
		r = find_maps(&side, o, e);
	if (!r)
		r = choose_clock(tl, &side, o, &out->map, e);
	if (!r)
		r = side_name_sites(&side, p, tl, &out->map, e);
	if (!r)
		r = side_attach(tl, &side, &out->map, &out->counts, e);
	if (!r)
		r = side_bind(tl, p, &side, &out->map, &out->bound, e);
	if (!r)
		r = side_place_gaps(tl, &side, &out->map, o->cpu, &out->placed, e);
	if (r && e && strncmp(e->msg, src.name, strlen(src.name)) != 0)
		err_prefix(e, "%s", src.name);
	out->rows = side.rows;
	out->unbound = side.unbound;
	out->dropped = side.dropped;
	out->bad = side.bad;
	side_release(&side);
	source_close(&src);
	return r;
}
