/*
 * header.c - the file header, attrs and feature table of file mode; the header records of pipe
 * mode.
 */
#include "libparse/reader.h"
#include "libparse/sample.h"
#include "base/mem.h"
#include "base/text/longname.h"

#include <stdio.h>

#define MAGIC1 "PERFFILE" /* before 3.1, in host order: does not tell the byte order */
#define MAGIC2_LE "PERFILE2"
#define MAGIC2_BE "2ELIFREP"

enum { FILE_HEADER_SIZE = 104, FILE_HEADER_NO_FEATURES = 72 };
enum { EVENT_TYPE_ENTRY = 72, MAX_EVENTS = 1 << 16 };

struct section {
	uint64_t offset, size;
};

static int host_is_be(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Byte order from the first 16 bytes: magic and header size. */
static int read_magic(struct recording *rec, const uint8_t *p, struct err *e)
{
	if (!memcmp(p, MAGIC2_LE, 8)) {
		rec->big_endian = 0;
	} else if (!memcmp(p, MAGIC2_BE, 8)) {
		rec->big_endian = 1;
	} else if (!memcmp(p, MAGIC1, 8) || !memcmp(p, "ELIFFREP", 8)) {
		/* the size that follows is small in the right order and huge in the other */
		uint64_t size = load_u64(p + 8, host_is_be());
		rec->big_endian = size > UINT32_MAX;
	} else {
		return err_set(e, ERR_UNSUPPORTED, "%s: not a perf.data file", rec->name);
	}
	rec->swap = rec->big_endian != host_is_be();
	return 0;
}

int header_is_magic(const uint8_t *p)
{
	return !memcmp(p, MAGIC2_LE, 8) || !memcmp(p, MAGIC2_BE, 8);
}

static struct section read_section(struct bytes *b)
{
	struct section s = {.offset = bytes_u64(b)};
	s.size = bytes_u64(b);
	return s;
}

/* The section's bytes, or NULL when it is not inside the file. */
static const uint8_t *section_bytes(struct source *src, struct section s)
{
	return source_bytes(src, s.offset, s.size);
}

static int add_event(struct recording *rec, const struct event_attr *attr, const uint8_t *ids,
		     size_t nr_ids, struct err *e)
{
	if (rec->events.n >= MAX_EVENTS)
		return err_set(e, ERR_LIMIT, "%s: more than %d events", rec->name, MAX_EVENTS);
	struct event ev = {.attr = *attr, .index = (uint32_t)rec->events.n};
	ev.leader = ev.index;
	event_derive(&ev);
	for (size_t i = 0; i < nr_ids; i++)
		if (vec_push(&ev.ids, load_u64(ids + i * 8, rec->swap)))
			goto nomem;
	if (vec_push(&rec->events, ev))
		goto nomem;
	return 0;
nomem:
	vec_release(&ev.ids);
	return err_nomem(e);
}

static int read_attrs(struct recording *rec, struct section attrs, uint64_t attr_size,
		      struct err *e)
{
	struct source *src = &rec->reader->src;
	const uint8_t *p = section_bytes(src, attrs);
	if (!p)
		return err_set(e, ERR_TRUNCATED,
			       "%s: event attributes at 0x%llx extend past the file's end",
			       rec->name, (unsigned long long)attrs.offset);
	if (attr_size < ATTR_SIZE_VER0 + 16 || attr_size > 4096 || attrs.size % attr_size)
		return err_set(e, ERR_FORMAT,
			       "%s: invalid event attribute size %llu in the header", rec->name,
			       (unsigned long long)attr_size);
	uint64_t room = src->size; /* ids of different events do not overlap */
	for (uint64_t at = 0; at < attrs.size; at += attr_size) {
		struct bytes b = bytes_init(p + at, attr_size, rec->swap);
		struct event_attr attr;
		int r = attr_decode(&b, attr_size - 16, &attr, e);
		if (r)
			return r;
		struct section ids = read_section(&b);
		const uint8_t *idp = section_bytes(src, ids);
		if (idp && ids.size > room)
			return err_set(e, ERR_FORMAT, "%s: the id lists of events overlap",
				       rec->name);
		room -= idp ? ids.size : 0;
		r = add_event(rec, &attr, idp, idp ? ids.size / 8 : 0, e);
		if (r)
			return r;
	}
	return 0;
}

/* perf 3.x and older: names of tracepoints by id (struct perf_trace_event_type). */
static int read_event_types(struct recording *rec, struct section types, struct err *e)
{
	const uint8_t *p = section_bytes(&rec->reader->src, types);
	uint64_t n = p ? types.size / EVENT_TYPE_ENTRY : 0;
	struct u64map by_config = {0}; /* the first entry of each */
	uint32_t entry;
	int rc = 0;
	for (uint64_t i = 0; i < n && i < UINT32_MAX && !rc; i++) {
		uint64_t config = load_u64(p + i * EVENT_TYPE_ENTRY, rec->swap);
		if (!u64map_get(&by_config, config, &entry))
			rc = u64map_put(&by_config, config, (uint32_t)i);
	}
	for (size_t i = 0; i < rec->events.n && !rc; i++) {
		struct event *ev = &rec->events.v[i];
		if (!ev->is_tracepoint || !u64map_get(&by_config, ev->attr.config, &entry))
			continue;
		const char *name = (const char *)p + (size_t)entry * EVENT_TYPE_ENTRY + 8;
		ev->name = mem_strndup(name, EVENT_TYPE_ENTRY - 8);
		rc = ev->name ? 0 : ERR_NOMEM;
	}
	u64map_release(&by_config);
	return rc ? err_nomem(e) : 0;
}

/* Note another recording after the last byte this header refers to: cat a b >c. */
static void note_joined(struct recording *rec, uint64_t end)
{
	const uint8_t *p = section_bytes(&rec->reader->src, (struct section){end, 8});
	if (!p || !header_is_magic(p))
		return;
	snprintf(rec->stats.truncated, sizeof(rec->stats.truncated),
		 "another recording begins at 0x%llx", (unsigned long long)end);
	rec->stats.joined = 1;
}

void header_note_bad(struct recording *rec, uint64_t at, const struct err *why)
{
	bad_records_note(&rec->reader->bad, at, why);
	bad_records_note(&rec->stats.bad, at, why);
}

static int read_features(struct recording *rec, const uint64_t *bits, uint64_t table,
			 struct err *e)
{
	struct source *src = &rec->reader->src;
	uint64_t end = table;
	for (unsigned bit = 0; bit < HEADER_FEAT_BITS; bit++) {
		if (!(bits[bit / 64] >> bit % 64 & 1))
			continue;
		struct section at = {.offset = table, .size = 16};
		const uint8_t *p = section_bytes(src, at);
		if (!p)
			return 0; /* the table is cut: keep what was read */
		table += 16;
		struct bytes b = bytes_init(p, 16, rec->swap);
		struct section s = read_section(&b);
		p = section_bytes(src, s);
		if (p && s.offset + s.size > end)
			end = s.offset + s.size;
		struct err why;
		int r = p ? feature_parse(rec, bit, p, s.size, &why)
			  : err_set(&why, ERR_TRUNCATED,
				    "feature section %u extends past the file's end", bit);
		if (r == ERR_NOMEM)
			return err_nomem(e);
		if (r)
			header_note_bad(rec, s.offset, &why);
	}
	note_joined(rec, end > table ? end : table);
	return 0;
}

/*
 * The feature bitmap is an array of unsigned long: a big-endian machine of 32 bits writes the
 * low half of each word first. Bit HOSTNAME is set in every finished file, so it tells which.
 */
static void read_feature_bits(struct bytes *b, uint64_t bits[HEADER_FEAT_BITS / 64])
{
	for (int i = 0; i < HEADER_FEAT_BITS / 64; i++)
		bits[i] = bytes_u64(b);
	int file_is_be = b->swap != host_is_be();
	if (file_is_be && !(bits[0] >> HEADER_HOSTNAME & 1))
		for (int i = 0; i < HEADER_FEAT_BITS / 64; i++)
			bits[i] = bits[i] << 32 | bits[i] >> 32;
}

int header_read_file(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	struct source *src = &rd->src;
	if (src->size < PIPE_HEADER_SIZE)
		return err_set(e, ERR_UNSUPPORTED, "%s: not a perf.data file (%llu bytes)",
			       rec->name, (unsigned long long)src->size);
	uint64_t n = src->size < FILE_HEADER_SIZE ? src->size : FILE_HEADER_SIZE;
	const uint8_t *head = source_bytes(src, 0, n);
	if (!head)
		return err_set(e, ERR_IO, "%s: cannot be read", rec->name);
	int r = read_magic(rec, head, e);
	if (r)
		return r;
	struct bytes b = bytes_init(head + 8, (size_t)n - 8, rec->swap);
	uint64_t header_size = bytes_u64(&b);
	struct stream st = {.src.fd = -1};
	if (header_size == PIPE_HEADER_SIZE) {
		rec->pipe_mode = 1;
		st.data_start = PIPE_HEADER_SIZE;
		st.data_end = src->size;
		rec->data_size = src->size - PIPE_HEADER_SIZE;
		return vec_push(&rd->streams, st) ? err_nomem(e) : 0;
	}
	if (header_size != FILE_HEADER_SIZE && header_size != FILE_HEADER_NO_FEATURES)
		return err_set(e, ERR_FORMAT, "%s: file header of %llu bytes, %d expected",
			       rec->name, (unsigned long long)header_size, FILE_HEADER_SIZE);
	if (src->size < header_size)
		return err_set(e, ERR_TRUNCATED, "%s: the file ends inside its header",
			       rec->name);
	uint64_t attr_size = bytes_u64(&b);
	struct section attrs = read_section(&b), data = read_section(&b),
		       types = read_section(&b);
	uint64_t bits[HEADER_FEAT_BITS / 64] = {0};
	if (header_size == FILE_HEADER_SIZE)
		read_feature_bits(&b, bits);
	r = read_attrs(rec, attrs, attr_size, e);
	if (!r)
		r = read_event_types(rec, types, e);
	if (r)
		return r;
	if (data.offset < header_size || data.offset > src->size)
		return err_set(e, ERR_TRUNCATED,
			       "%s: data section at 0x%llx lies outside the file", rec->name,
			       (unsigned long long)data.offset);
	rec->cut_off = !data.size && data.offset < src->size;
	st.data_start = data.offset;
	st.data_end = src->size;
	if (!rec->cut_off && data.size <= src->size - data.offset) {
		st.data_end = data.offset + data.size;
		r = read_features(rec, bits, st.data_end, e);
		if (r)
			return r;
	} else if (!rec->cut_off) {
		snprintf(rec->stats.truncated, sizeof(rec->stats.truncated),
			 "the file ends %llu bytes before its data section does",
			 (unsigned long long)(data.size - (src->size - data.offset)));
		rec->stats.missing_bytes = data.size - (src->size - data.offset);
	}
	rec->data_size = st.data_end - st.data_start;
	return vec_push(&rd->streams, st) ? err_nomem(e) : 0;
}

int header_is_pipe(const uint8_t *p)
{
	struct recording probe = {.name = ""};
	return read_magic(&probe, p, NULL) || load_u64(p + 8, probe.swap) == PIPE_HEADER_SIZE;
}

int header_read_pipe_magic(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	struct stream st = {.src.fd = -1};
	st.feed.src = &rd->src;
	int r = feed_need(&st.feed, PIPE_HEADER_SIZE, e);
	if (r == 1) {
		r = read_magic(rec, st.feed.p, e);
		if (!r && load_u64(st.feed.p + 8, rec->swap) != PIPE_HEADER_SIZE)
			r = err_set(e, ERR_UNSUPPORTED, "%s: not a perf.data of pipe mode",
				    rec->name);
	} else if (!r) {
		r = err_set(e, ERR_UNSUPPORTED,
			    "%s: not a perf.data file (input ends after %llu bytes)", rec->name,
			    (unsigned long long)rd->src.size);
	}
	if (!r) {
		feed_advance(&st.feed, PIPE_HEADER_SIZE);
		rec->pipe_mode = 1;
		if (!vec_push(&rd->streams, st))
			return 0;
		r = err_nomem(e);
	}
	chunk_drop(st.feed.chunk);
	return r;
}

static int apply_attr(struct recording *rec, const struct record *r, struct err *e)
{
	size_t size = r->size - RECORD_HEADER_SIZE;
	struct bytes b = bytes_init(r->p + RECORD_HEADER_SIZE, size, rec->swap);
	uint32_t attr_size = size >= 8 ? load_u32(b.p + 4, rec->swap) : 0;
	if (!attr_size)
		attr_size = ATTR_SIZE_VER0;
	if (attr_size > size)
		return err_set(e, ERR_FORMAT,
			       "ATTR at 0x%llx: attribute extends past the end of the record",
			       (unsigned long long)r->offset);
	struct event_attr attr;
	int rc = attr_decode(&b, attr_size, &attr, e);
	if (!rc)
		rc = add_event(rec, &attr, b.p, bytes_left(&b) / 8, e);
	return rc ? rc : header_finish_events(rec, e);
}

int header_name_event(struct event *ev, const char *name, size_t n)
{
	char cut[LONG_NAME];
	name = long_name(name, &n, cut);
	char *copy = mem_strndup(name, n);
	if (!copy)
		return ERR_NOMEM;
	mem_free(ev->name);
	ev->name = copy;
	return 0;
}

/* struct perf_record_event_update: type, id, payload; only names matter here. */
static int apply_event_update(struct recording *rec, const struct record *r, struct err *e)
{
	enum { EVENT_UPDATE_NAME = 2 };
	struct bytes b =
		bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, rec->swap);
	uint64_t type = bytes_u64(&b), id = bytes_u64(&b);
	uint32_t i;
	if (!bytes_ok(&b) || type != EVENT_UPDATE_NAME || !u64map_get(&rec->by_id, id, &i))
		return 0;
	const char *name = (const char *)b.p;
	size_t n = strnlen(name, bytes_left(&b));
	return header_name_event(&rec->events.v[i], name, n) ? err_nomem(e) : 0;
}

static int apply_build_id(struct recording *rec, const struct record *r, struct err *e)
{
	struct record_build_id b;
	int rc = record_build_id_decode(r, rec->swap, &b, e);
	if (rc)
		return rc;
	struct recorded_build_id id = {.pid = b.pid, .misc = b.misc, .size = b.size};
	memcpy(id.id, b.id, sizeof(id.id));
	id.filename = arena_strndup(&rec->strings, b.filename, strlen(b.filename));
	if (!id.filename || vec_push(&rec->features.build_ids, id))
		return err_nomem(e);
	return 0;
}

static int apply_feature(struct recording *rec, const struct record *r, struct err *e)
{
	struct bytes b =
		bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, rec->swap);
	uint64_t bit = bytes_u64(&b);
	if (!bytes_ok(&b) || bit >= HEADER_FEAT_BITS)
		return 0;
	size_t n = bytes_left(&b);
	const char *copy = arena_strndup(&rec->strings, (const char *)b.p, n);
	if (!copy)
		return err_nomem(e);
	return feature_parse(rec, (unsigned)bit, (const uint8_t *)copy, n, e);
}

/* struct perf_record_time_conv; before perf 5.11 it ends after time_zero. */
static int apply_time_conv(struct recording *rec, const struct record *r)
{
	enum { SHIFT_MAX = 32 };
	struct bytes b =
		bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, rec->swap);
	struct time_conv c = {0};
	uint64_t shift = bytes_u64(&b);
	c.mult = bytes_u64(&b);
	c.zero_ns = bytes_u64(&b);
	if (!bytes_ok(&b) || shift > SHIFT_MAX || c.mult > UINT32_MAX)
		return 0;
	c.shift = (uint32_t)shift;
	if (bytes_left(&b) >= 18) {
		uint64_t cycles = bytes_u64(&b), mask = bytes_u64(&b);
		int has_zero = bytes_u8(&b) != 0, is_short = bytes_u8(&b) != 0;
		c.cycles = is_short ? cycles : 0;
		c.mask = is_short ? mask : 0;
		c.mult = has_zero ? c.mult : 0;
	}
	rec->features.tsc = c;
	return 0;
}

int header_apply_record(struct recording *rec, const struct record *r, struct err *e)
{
	switch (r->type) {
	case PERF_RECORD_HEADER_ATTR:
		return apply_attr(rec, r, e);
	case PERF_RECORD_EVENT_UPDATE:
		return apply_event_update(rec, r, e);
	case PERF_RECORD_HEADER_BUILD_ID:
		return apply_build_id(rec, r, e);
	case PERF_RECORD_HEADER_FEATURE:
		return apply_feature(rec, r, e);
	case PERF_RECORD_TIME_CONV:
		return apply_time_conv(rec, r);
	case PERF_RECORD_HEADER_TRACING_DATA:
		if (r->extra) {
			const char *copy = arena_strndup(&rec->strings, (const char *)r->extra,
							 (size_t)r->extra_size);
			if (!copy)
				return err_nomem(e);
			rec->features.tracing_data = (const uint8_t *)copy;
			rec->features.tracing_data_size = r->extra_size;
		}
		return 0;
	default:
		return 0;
	}
}

/* Set names, ids and the id's offset of the events added since the last call. */
int header_finish_events(struct recording *rec, struct err *e)
{
	rec->id_offset =
		rec->events.n ? sample_id_offset(rec->events.v[0].attr.sample_type) : -1;
	for (size_t *i = &rec->reader->events_finished; *i < rec->events.n; ++*i) {
		struct event *ev = &rec->events.v[*i];
		for (size_t k = 0; k < ev->ids.n; k++)
			if (u64map_put(&rec->by_id, ev->ids.v[k], (uint32_t)*i))
				return err_nomem(e);
		if (!ev->name) {
			char name[128];
			ev->name =
				mem_strdup(event_default_name(&ev->attr, name, sizeof(name)));
			if (!ev->name)
				return err_nomem(e);
		}
	}
	return 0;
}
