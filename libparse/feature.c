/*
 * feature.c - the feature sections after the data (or the HEADER_FEATURE records of a pipe).
 *
 * Layouts: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c.
 * A section that is damaged leaves its fields unset; the recording stays readable.
 */
#include "libparse/reader.h"
#include "libparse/simpleperf.h"
#include "base/text/buf.h"
#include "base/mem.h"

#include <sys/utsname.h>

int features_are_ours(const struct features *f)
{
	struct utsname u;
	return f->hostname && f->osrelease && !uname(&u) && !strcmp(u.nodename, f->hostname) &&
	       !strcmp(u.release, f->osrelease);
}

/* These return 0, even if the section is damaged, or ERR_NOMEM. */

/* struct perf_header_string: u32 len, then len bytes with NUL padding. *out is NULL if it is
 * damaged. */
static int parse_string(struct recording *rec, struct bytes *b, const char **out)
{
	uint32_t len = bytes_u32(b);
	const char *s = bytes_take(b, len);
	*out = s ? arena_strndup(&rec->strings, s, strnlen(s, len)) : NULL;
	return s && !*out ? ERR_NOMEM : 0;
}

static int parse_words(struct recording *rec, struct bytes *b, const char **argv, uint32_t n)
{
	struct features *f = &rec->features;
	struct buf line = {0};
	int r = 0;
	for (uint32_t i = 0; i < n && !r; i++) {
		r = parse_string(rec, b, &argv[i]);
		if (!argv[i])
			break;
		if (i)
			buf_char(&line, ' ');
		buf_str(&line, argv[i]);
		f->nargv = i + 1;
	}
	if (!r)
		r = buf_failed(&line);
	if (!r)
		f->cmdline = arena_strndup(&rec->strings, buf_cstr(&line), line.n);
	buf_release(&line);
	return r || !f->cmdline ? ERR_NOMEM : 0;
}

static int parse_cmdline(struct recording *rec, struct bytes *b)
{
	uint32_t n = bytes_u32(b);
	size_t most =
		bytes_left(b) / sizeof(uint32_t); /* each word is preceded by its length */
	if (n > most)
		n = (uint32_t)most;
	const char **argv = arena_alloc(&rec->strings, ((size_t)n + 1) * sizeof(*argv));
	rec->features.argv = argv;
	rec->features.nargv = 0;
	return argv ? parse_words(rec, b, argv, n) : ERR_NOMEM;
}

/* Names of events, in the order of the attrs: nr, attr size, then attr, nr_ids, name, ids. */
static int parse_event_desc(struct recording *rec, struct bytes *b)
{
	uint32_t n = bytes_u32(b), attr_size = bytes_u32(b);
	for (uint32_t i = 0; i < n && bytes_ok(b); i++) {
		bytes_skip(b, attr_size);
		uint32_t nr_ids = bytes_u32(b);
		const char *name;
		int r = parse_string(rec, b, &name);
		if (r || nr_ids > bytes_left(b) / 8)
			return r;
		bytes_skip(b, (size_t)nr_ids * 8);
		if (name && *name && i < rec->events.n &&
		    header_name_event(&rec->events.v[i], name, strlen(name)))
			return ERR_NOMEM;
	}
	return 0;
}

/* Groups come after their events, in the events' order, and once. */
static int parse_group_desc(struct recording *rec, struct bytes *b)
{
	uint32_t n = rec->features.groups.n ? 0 : bytes_u32(b);
	size_t next = 0;
	for (uint32_t i = 0; i < n && bytes_ok(b); i++) {
		struct feature_group g;
		int r = parse_string(rec, b, &g.name);
		g.leader = bytes_u32(b);
		g.members = bytes_u32(b);
		if (r || !bytes_ok(b))
			return r;
		if (vec_push(&rec->features.groups, g))
			return ERR_NOMEM;
		if (g.leader < next)
			continue;
		next = g.leader;
		for (uint32_t k = 0; k < g.members && next < rec->events.n; k++)
			rec->events.v[next++].leader = g.leader;
	}
	return 0;
}

/* A run of records shaped like HEADER_BUILD_ID ones; the type in their header is not set. */
static int parse_build_ids(struct recording *rec, const uint8_t *p, uint64_t n)
{
	for (uint64_t at = 0; n - at >= RECORD_HEADER_SIZE;) {
		struct record r = {.p = p + at,
				   .misc = load_u16(p + at + 4, rec->swap),
				   .size = load_u16(p + at + 6, rec->swap)};
		if (r.size < RECORD_HEADER_SIZE || r.size > n - at)
			return 0;
		r.type = PERF_RECORD_HEADER_BUILD_ID;
		int rc = header_apply_record(rec, &r, NULL);
		if (rc)
			return rc == ERR_NOMEM ? rc : 0;
		at += r.size;
	}
	return 0;
}

static void parse_clock_data(struct features *f, struct bytes *b)
{
	uint32_t version = bytes_u32(b), clockid = bytes_u32(b);
	uint64_t wall = bytes_u64(b), clock = bytes_u64(b);
	if (version != 1 || !bytes_ok(b))
		return;
	f->has_clock_data = 1;
	f->clockid = clockid;
	f->wall_ns = wall;
	f->clockid_ns = clock;
}

int64_t features_wall_ns(const struct features *f, uint64_t time)
{
	if (!f->has_clock_data)
		return 0;
	return (int64_t)(f->wall_ns + (time ? time - f->clockid_ns : 0));
}

static void parse_compressed(struct features *f, struct bytes *b)
{
	bytes_skip(b, 4); /* version */
	f->compress_type = bytes_u32(b);
	f->compress_level = bytes_u32(b);
	f->compress_ratio = bytes_u32(b);
}

int feature_parse(struct recording *rec, unsigned bit, const uint8_t *p, uint64_t n,
		  struct err *e)
{
	struct features *f = &rec->features;
	struct bytes b = bytes_init(p, (size_t)n, rec->swap);
	int r = 0, again = 0;
	if (bit < HEADER_FEAT_BITS) {
		again = f->bits[bit / 64] >> bit % 64 & 1;
		f->bits[bit / 64] |= 1ull << bit % 64;
	}
	switch (bit) {
	case HEADER_TRACING_DATA:
		f->tracing_data = p;
		f->tracing_data_size = n;
		break;
	case HEADER_BUILD_ID:
		r = parse_build_ids(rec, p, n);
		break;
	case HEADER_HOSTNAME:
		r = parse_string(rec, &b, &f->hostname);
		break;
	case HEADER_OSRELEASE:
		r = parse_string(rec, &b, &f->osrelease);
		break;
	case HEADER_VERSION:
		r = parse_string(rec, &b, &f->version);
		break;
	case HEADER_ARCH:
		r = parse_string(rec, &b, &f->arch);
		break;
	case HEADER_NRCPUS: /* available, then online: perf writes them in this order
			     */
		f->cpus_available = bytes_u32(&b);
		f->cpus_online = bytes_u32(&b);
		break;
	case HEADER_CPUDESC:
		r = parse_string(rec, &b, &f->cpudesc);
		break;
	case HEADER_CPUID:
		r = parse_string(rec, &b, &f->cpuid);
		break;
	case HEADER_TOTAL_MEM:
		f->total_mem_kb = bytes_u64(&b);
		break;
	case HEADER_CMDLINE:
		r = parse_cmdline(rec, &b);
		break;
	case HEADER_EVENT_DESC:
		r = parse_event_desc(rec, &b);
		break;
	case HEADER_GROUP_DESC:
		r = parse_group_desc(rec, &b);
		break;
	case HEADER_SAMPLE_TIME:
		f->first_sample_ns = bytes_u64(&b);
		f->last_sample_ns = bytes_u64(&b);
		break;
	case HEADER_CLOCKID:
		f->clockid_res_ns = bytes_u64(&b);
		f->has_clockid = bytes_ok(&b);
		break;
	case HEADER_CLOCK_DATA:
		parse_clock_data(f, &b);
		break;
	case HEADER_COMPRESSED:
		parse_compressed(f, &b);
		break;
	case SIMPLEPERF_FILE:
	case SIMPLEPERF_FILE2:
		r = again ? 0 : simpleperf_index(rec, p, n, bit == SIMPLEPERF_FILE2);
		break;
	case SIMPLEPERF_META_INFO:
		r = again ? 0 : simpleperf_name_events(rec, p, n);
		break;
	default: /* not needed: skipped by its size */
		break;
	}
	if (r)
		return err_nomem(e);
	if (!bytes_ok(&b))
		return err_set(e, ERR_FORMAT, "feature section %u is shorter than its content",
			       bit);
	return 0;
}
