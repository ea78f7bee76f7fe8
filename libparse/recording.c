/* recording.c - open and close, the record cursor, events by id. */
#include "libparse/recording.h"
#include "base/mem.h"
#include "libparse/reader.h"
#include "libparse/sample.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static int reader_new(struct recording **out, const char *name, struct err *e)
{
	struct recording *rec = mem_zalloc(1, sizeof(*rec));
	struct reader *rd = mem_zalloc(1, sizeof(*rd));
	if (rec && rd) {
		rec->reader = rd;
		rd->src.fd = -1;
		rec->id_offset = -1;
		rec->name = arena_strndup(&rec->strings, name, strlen(name));
		if (rec->name) {
			*out = rec;
			return 0;
		}
	}
	mem_free(rec);
	mem_free(rd);
	return err_nomem(e);
}

/* Point every stream's feed at the start of its bytes. */
static void streams_start(struct recording *rec)
{
	struct reader *rd = rec->reader;
	rd->current = 0;
	for (size_t i = 0; i < rd->streams.n; i++) {
		struct stream *st = &rd->streams.v[i];
		const struct source *src = st->src.data ? &st->src : &rd->src;
		inflater_release(&st->inflater);
		st->skip = 0;
		if (!source_is_mapped(src))
			continue;
		chunk_drop(st->feed.chunk);
		st->feed = (struct feed){.p = src->data + st->data_start,
					 .end = src->data + st->data_end,
					 .offset = st->data_start};
	}
}

/* data.0, data.1, … of a directory: records without any header. */
static int open_directory_streams(struct recording *rec, const char *dir, struct err *e)
{
	for (unsigned i = 0; i < MAX_STREAMS; i++) {
		char path[4096];
		if ((size_t)snprintf(path, sizeof(path), "%s/data.%u", dir, i) >= sizeof(path))
			return err_set(e, ERR_LIMIT, "%s: path is too long", dir);
		struct stat st;
		if (stat(path, &st)) {
			if (errno == ENOENT)
				return 0;
			return err_sys(e, "%s: cannot open", path);
		}
		if (!st.st_size)
			continue;
		struct stream s = {.src.fd = -1};
		int r = source_open(&s.src, path, e);
		if (r)
			return r;
		if (i >= FILES_KEPT)
			source_close_file(&s.src);
		s.data_end = s.src.size;
		if (!source_is_mapped(&s.src))
			r = err_set(e, ERR_IO, "%s: cannot be mapped", path);
		else if (vec_push(&rec->reader->streams, s))
			r = err_nomem(e);
		if (r) {
			source_close(&s.src);
			return r;
		}
		rec->data_size += s.data_end;
	}
	return 0;
}

static int open_source(struct recording *rec, const char *path, struct err *e)
{
	struct reader *rd = rec->reader;
	struct stat st;
	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode))
		return source_open(&rd->src, path, e);
	char header[4096];
	if ((size_t)snprintf(header, sizeof(header), "%s/data", path) >= sizeof(header))
		return err_set(e, ERR_LIMIT, "%s: path is too long", path);
	if (stat(header, &st) || !S_ISREG(st.st_mode)) /* a fifo in it was not named */
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: a directory without perf's file 'data' in it", path);
	rec->directory = 1;
	return source_open(&rd->src, header, e);
}

/* Header records of a pipe, up to the first record that is none; it waits as pending. */
static int read_pipe_header(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	for (;;) {
		struct record r;
		int got = recording_next(rec, &r, e);
		if (got <= 0)
			return got;
		switch (r.type) {
		case PERF_RECORD_HEADER_ATTR:
		case PERF_RECORD_HEADER_EVENT_TYPE:
		case PERF_RECORD_HEADER_TRACING_DATA:
		case PERF_RECORD_HEADER_BUILD_ID:
		case PERF_RECORD_HEADER_FEATURE:
		case PERF_RECORD_EVENT_UPDATE:
			continue;
		default:
			rd->pending = r;
			rd->has_pending = rd->header_ended = 1;
			return 0;
		}
	}
}

/* A perf.data of file mode that comes through a pipe has its index at the end. */
static int spool_file_mode(struct recording *rec, struct err *e)
{
	struct source *src = &rec->reader->src;
	const uint8_t *p;
	size_t n;
	int r = source_is_mapped(src) ? 0 : source_peek(src, &p, &n, e);
	if (r || source_is_mapped(src) || n < 16)
		return r;
	return header_is_pipe(p) ? 0 : source_spool(src, e);
}

static int open_rest(struct recording *rec, const char *path, struct err *e)
{
	struct reader *rd = rec->reader;
	rec->written_ns = rd->src.mtime_ns;
	int r = spool_file_mode(rec, e);
	if (r)
		return r;
	r = source_is_mapped(&rd->src) ? header_read_file(rec, e)
				       : header_read_pipe_magic(rec, e);
	if (!r && rec->directory)
		r = open_directory_streams(rec, path, e);
	if (!r)
		r = header_finish_events(rec, e);
	if (r)
		return r;
	streams_start(rec);
	if (!rec->pipe_mode)
		return 0;
	r = read_pipe_header(rec, e);
	if (!r &&
	    source_is_mapped(&rd->src)) /* the first pass over the header does not count */
		r = recording_rewind(rec, e);
	if (!r && !rec->events.n)
		return err_set(e, ERR_FORMAT, "%s: no event attributes in front of the data",
			       rec->name);
	return r;
}

int recording_open(struct recording **out, const char *path, struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, strcmp(path, "-") ? path : "stdin", e);
	if (r)
		return r;
	r = open_source(rec, path, e);
	if (!r)
		r = open_rest(rec, path, e);
	if (r)
		recording_close(rec);
	else
		*out = rec;
	return r;
}

int recording_open_source(struct recording **out, struct source *src, struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, src->name, e);
	if (r) {
		source_close(src);
		return r;
	}
	rec->reader->src = *src;
	*src = (struct source){.fd = -1};
	r = open_rest(rec, rec->name, e);
	if (r)
		recording_close(rec);
	else
		*out = rec;
	return r;
}

int recording_open_mem(struct recording **out, const void *p, size_t n, const char *name,
		       struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, name, e);
	if (r)
		return r;
	r = source_open_mem(&rec->reader->src, p, n, name, e);
	if (!r)
		r = open_rest(rec, name, e);
	if (r)
		recording_close(rec);
	else
		*out = rec;
	return r;
}

void recording_close(struct recording *rec)
{
	if (!rec)
		return;
	struct reader *rd = rec->reader;
	for (size_t i = 0; i < rd->streams.n; i++) {
		struct stream *st = &rd->streams.v[i];
		inflater_release(&st->inflater);
		chunk_drop(st->feed.chunk);
		source_close(&st->src);
	}
	vec_release(&rd->streams);
	chunk_drop(rd->held);
	chunk_pool_close(&rd->pool);
	source_close(&rd->src);
	mem_free(rd->window.buf);
	mem_free(rd);
	for (size_t i = 0; i < rec->events.n; i++) {
		mem_free(rec->events.v[i].name);
		vec_release(&rec->events.v[i].ids);
	}
	vec_release(&rec->events);
	vec_release(&rec->features.build_ids);
	vec_release(&rec->features.groups);
	u64map_release(&rec->by_id);
	arena_release(&rec->strings);
	mem_free(rec);
}

int recording_rewind(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	if (!source_is_mapped(&rd->src))
		return err_set(e, ERR_UNSUPPORTED, "%s: a pipe cannot be read twice",
			       rec->name);
	rd->has_pending = rd->copies = rd->sampled = 0;
	struct recording_stats was = rec->stats;
	rec->stats = (struct recording_stats){0};
	if (!rec->pipe_mode) { /* a cut that the header told stays known */
		memcpy(rec->stats.torn, was.torn, sizeof(was.torn));
		rec->stats.joined = was.joined;
	}
	streams_start(rec);
	return 0;
}

int recording_is_mapped(const struct recording *rec)
{
	return source_is_mapped(&rec->reader->src) && !rec->compressed &&
	       !(rec->features.bits[0] >> HEADER_COMPRESSED & 1);
}

int recording_read_copies(struct recording *rec)
{
	struct reader *rd = rec->reader;
	struct stream *st = rd->streams.n == 1 ? &rd->streams.v[0] : NULL;
	if (!st || st->src.data || !rd->src.file || !recording_is_mapped(rec) ||
	    rec->pipe_mode || rec->directory || st->feed.offset != st->data_start)
		return 0;
	st->feed = (struct feed){.file = &rd->src,
				 .offset = st->data_start,
				 .at = st->data_start,
				 .stop = st->data_end,
				 .pool = &rd->pool};
	rd->copies = 1;
	return 1;
}

void recording_note_bad(struct recording *rec, const struct err *why)
{
	if (!rec->stats.bad_records++)
		snprintf(rec->stats.first_bad, sizeof(rec->stats.first_bad), "%.159s",
			 why->msg);
}

/* The stream ends here although bytes are left; the first cut of the recording is described. */
static void note_torn(struct recording *rec, uint64_t offset, uint64_t left, const char *why)
{
	rec->stats.torn_bytes += left;
	if (!rec->stats.torn[0])
		snprintf(rec->stats.torn, sizeof(rec->stats.torn), "%s at 0x%llx", why,
			 (unsigned long long)offset);
}

/* From the inflated bytes: 1 with a record, 0 when no whole one is there. */
static int next_inflated(struct recording *rec, struct stream *st, struct record *r)
{
	struct inflater *z = &st->inflater;
	size_t left = (size_t)(z->end - z->p);
	if (left < RECORD_HEADER_SIZE)
		return 0;
	uint16_t size = record_view(z->p, rec->swap, r);
	if (size < RECORD_HEADER_SIZE) {
		note_torn(rec, st->feed.offset, left, "inflated record with a size below 8");
		z->p = z->end;
		z->spoiled = 1;
		return 0;
	}
	if (size > left)
		return 0;
	r->chunk = z->chunk;
	r->offset = st->feed.offset;
	z->p += size;
	return 1;
}

/* A compressed record, or its rest, that nobody can read: neither what it would have gone on
 * from, the beginning of a record, nor what goes on from it. */
static int not_inflated(struct recording *rec, struct stream *st, const struct err *why)
{
	struct inflater *z = &st->inflater;
	recording_note_bad(rec, why);
	rec->stats.torn_bytes += (uint64_t)(z->end - z->p);
	z->p = z->end;
	z->lost = 1;
	return 0;
}

/* COMPRESSED: the rest of the record; COMPRESSED2: u64 size, data, padding. */
static int take_compressed(struct recording *rec, struct stream *st, const struct record *r,
			   struct err *e)
{
	struct err why = {0};
	const uint8_t *p = r->p + RECORD_HEADER_SIZE;
	size_t n = r->size - RECORD_HEADER_SIZE;
	rec->compressed = 1;
	if (r->type == PERF_RECORD_COMPRESSED2) {
		uint64_t size = n >= 8 ? load_u64(p, rec->swap) : 0;
		if (n < 8 || size > n - 8) {
			err_set(&why, ERR_FORMAT,
				"COMPRESSED2 at 0x%llx: data passes the record's end",
				(unsigned long long)r->offset);
			return not_inflated(rec, st, &why);
		}
		p += 8;
		n = (size_t)size;
	}
	int rc = inflater_push(&st->inflater, p, n, r->offset, &why);
	if (rc == ERR_FORMAT)
		return not_inflated(rec, st, &why);
	if (rc && e)
		*e = why;
	return rc;
}

/* More bytes of the compressed record that is being read: 1, 0 when that has no more, < 0. */
static int inflate_more(struct recording *rec, struct stream *st, struct err *e)
{
	struct inflater *z = &st->inflater;
	struct err why = {0};
	int rc = inflater_more(z, &why);
	if (z->spoiled) {
		rec->stats.torn_bytes += (uint64_t)(z->end - z->p);
		z->p = z->end;
	}
	if (rc == ERR_FORMAT) {
		not_inflated(rec, st, &why);
		return 1;
	}
	if (rc == ERR_LIMIT)
		err_prefix(&why, "%s", rec->name);
	if (rc < 0 && e)
		*e = why;
	return rc;
}

/* Bytes that follow a record without being counted in its size. */
static uint64_t extra_size(const struct recording *rec, const struct record *r)
{
	const uint8_t *p = r->p + RECORD_HEADER_SIZE;
	if (r->type == PERF_RECORD_AUXTRACE && r->size >= RECORD_HEADER_SIZE + 8)
		return load_u64(p, rec->swap);
	if (r->type == PERF_RECORD_HEADER_TRACING_DATA && r->size >= RECORD_HEADER_SIZE + 4)
		return ((uint64_t)load_u32(p, rec->swap) + 7) & ~7ull;
	return 0;
}

enum { MAX_TRACING_DATA = 256 << 20 };

/*
 * An AUX area is skipped when the next record is asked for; tracing data is made readable now,
 * behind the record. Both views stay valid until the next call.
 */
static int take_extra(struct recording *rec, struct stream *st, struct record *r, struct err *e)
{
	uint64_t n = extra_size(rec, r);
	if (!n)
		return 1;
	if (r->type == PERF_RECORD_AUXTRACE) {
		rec->stats.aux_bytes += n;
		st->skip = n;
		return 1;
	}
	if (n > MAX_TRACING_DATA)
		return 0;
	chunk_hold(r->chunk);
	rec->reader->held = r->chunk;
	int got = feed_need(&st->feed, (size_t)n, e);
	if (got != 1)
		return got;
	r->extra = st->feed.p;
	r->extra_size = load_u32(r->p + RECORD_HEADER_SIZE, rec->swap);
	feed_advance(&st->feed, (size_t)n);
	return 1;
}

enum {
	FETCH_AHEAD = 4096,
	FETCH_MAX = 1024, /* of longer records not all is read */
};

/* Reading headers waits for memory, not for arithmetic: each one's place is known only from the
 * one before. Fetching every line ahead of them costs less. */
static void fetch_ahead(const uint8_t *p, size_t size)
{
	for (size_t k = 0; k < size; k += 64)
		__builtin_prefetch(p + k + FETCH_AHEAD);
}

/* The next record of the stream itself, compressed ones included. 1, 0 at its end, < 0. */
static int next_outer(struct recording *rec, struct stream *st, struct record *r, struct err *e)
{
	struct feed *f = &st->feed;
	if (st->skip) {
		int got = feed_skip(f, st->skip, e);
		st->skip = 0;
		if (got < 0)
			return got;
		if (!got)
			note_torn(rec, f->offset, 0, "the file ends inside an AUX area");
	}
	int got = feed_need(f, RECORD_HEADER_SIZE, e);
	uint64_t offset = f->offset, left = feed_left(f);
	if (got != 1) {
		if (!got && left)
			note_torn(rec, offset, left, "the last record is cut off");
		return got;
	}
	if (rec->pipe_mode && header_is_magic(f->p)) { /* cat a b >c */
		note_torn(rec, offset, left, "another recording begins");
		rec->stats.joined = 1;
		return 0;
	}
	uint16_t size = record_view(f->p, rec->swap, r);
	if (size < RECORD_HEADER_SIZE) {
		/* A file that was never finished may end in zeroes the kernel had allocated. */
		note_torn(rec, offset, left, "record with a size below 8");
		return 0;
	}
	got = feed_need(f, size, e);
	if (got != 1) {
		if (!got)
			note_torn(rec, offset, feed_left(f), "the last record is cut off");
		return got;
	}
	record_view(f->p, rec->swap, r); /* the feed may have moved */
	r->offset = offset;
	r->chunk = f->chunk;
	if (!f->chunk && size <= FETCH_MAX)
		fetch_ahead(f->p, size);
	feed_advance(f, size);
	got = take_extra(rec, st, r, e);
	if (!got)
		note_torn(rec, offset, feed_left(f), "data behind a record is cut off");
	return got;
}

static void count(struct recording *rec, const struct record *r)
{
	struct recording_stats *s = &rec->stats;
	if (r->type >= RECORD_TYPES_COUNTED) {
		s->unknown_types++;
		return;
	}
	s->by_type[r->type]++;
	if (r->type != PERF_RECORD_LOST && r->type != PERF_RECORD_LOST_SAMPLES)
		return;
	struct record_lost lost;
	if (record_lost_decode(r, rec->swap, &lost, NULL))
		return;
	*(r->type == PERF_RECORD_LOST ? &s->lost : &s->lost_samples) += lost.lost;
}

uint64_t recording_dropped_samples(const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	int told_twice = 0;
	for (size_t i = 0; i < rec->events.n; i++)
		told_twice |= !!(rec->events.v[i].attr.read_format & PERF_FORMAT_LOST);
	uint64_t known = told_twice ? s->lost : 0;
	return s->lost_samples > known ? s->lost_samples - known : 0;
}

static int next_in_stream(struct recording *rec, struct stream *st, struct record *r,
			  struct err *e)
{
	for (;;) {
		if (next_inflated(rec, st, r))
			return 1;
		int got = inflate_more(rec, st, e);
		if (got < 0)
			return got;
		if (got)
			continue;
		got = next_outer(rec, st, r, e);
		if (got != 1)
			return got;
		if (r->type != PERF_RECORD_COMPRESSED && r->type != PERF_RECORD_COMPRESSED2)
			return 1;
		count(rec, r);
		int rc = take_compressed(rec, st, r, e);
		if (rc)
			return rc;
	}
}

/* The end of the samples that begin at p; *n counts them. `ahead`: they are not in the cache.
 */
static const uint8_t *samples_end(const uint8_t *p, const uint8_t *end, int swap, int ahead,
				  uint64_t *n)
{
	uint32_t want = swap ? __builtin_bswap32(PERF_RECORD_SAMPLE) : PERF_RECORD_SAMPLE;
	while (end - p >= RECORD_HEADER_SIZE && load_u32(p, 0) == want) {
		uint16_t size = load_u16(p + 6, swap);
		if (size < RECORD_HEADER_SIZE || size > end - p)
			break;
		if (ahead)
			fetch_ahead(p, size);
		p += size;
		++*n;
	}
	return p;
}

/*
 * The header at p, which lies in a mapped file and in front of `end`, out of the window. What
 * follows it is read along as long as records are small: copying a page costs as much as asking
 * for the next header. NULL when there is none or it cannot be read: the mapping will tell why.
 */
static const uint8_t *header_apart(struct window *w, const struct source *src, const uint8_t *p,
				   const uint8_t *end, size_t last_size)
{
	enum { WINDOW = 128 << 10, FAR = 4096 };
	if (end - p < RECORD_HEADER_SIZE)
		return NULL;
	if (w->at && p >= w->at && p + RECORD_HEADER_SIZE <= w->at + w->n)
		return w->buf + (p - w->at);
	size_t n = last_size >= FAR ? RECORD_HEADER_SIZE : WINDOW;
	if (n > (size_t)(end - p))
		n = (size_t)(end - p);
	w->at = NULL;
	const uint8_t *got;
	if ((!w->buf && !(w->buf = mem_alloc(WINDOW))) ||
	    source_bytes(src, p, n, w->buf, &got, NULL))
		return NULL;
	w->at = p;
	w->n = n;
	return w->buf;
}

/* As samples_end, without touching the mapping and passing over the marks of rounds;
 * `data_end` is that of the records. */
static const uint8_t *samples_end_apart(struct recording *rec, const struct source *src,
					const uint8_t *p, const uint8_t *end,
					const uint8_t *data_end, struct record_run *run)
{
	uint16_t size = 0;
	for (const uint8_t *h; p < end; p += size) {
		h = header_apart(&rec->reader->window, src, p, data_end, size);
		uint32_t type = h ? load_u32(h, rec->swap) : 0;
		if (type != PERF_RECORD_SAMPLE && type != PERF_RECORD_FINISHED_ROUND)
			break;
		size = load_u16(h + 6, rec->swap);
		if (size < RECORD_HEADER_SIZE || size > end - p)
			break;
		int mode = load_u16(h + 4, rec->swap) & PERF_RECORD_MISC_CPUMODE_MASK;
		run->n += type == PERF_RECORD_SAMPLE;
		run->kernel |= type == PERF_RECORD_SAMPLE && mode == PERF_RECORD_MISC_KERNEL;
		rec->stats.by_type[PERF_RECORD_FINISHED_ROUND] += type != PERF_RECORD_SAMPLE;
	}
	return p;
}

static int sample_run(struct recording *rec, size_t max, int apart, struct record_run *run)
{
	struct reader *rd = rec->reader;
	*run = (struct record_run){0};
	if (rd->has_pending || rd->current >= rd->streams.n)
		return 0;
	struct stream *st = &rd->streams.v[rd->current];
	struct inflater *z = &st->inflater;
	int inflated = z->end != z->p;
	if (st->skip || (!inflated && z->more))
		return 0;
	const uint8_t *p = inflated ? z->p : st->feed.p,
		      *end = inflated ? z->end : st->feed.end;
	const struct source *src = st->src.data ? &st->src : &rd->src;
	const uint8_t *data_end = end;
	if ((size_t)(end - p) > max)
		end = p + max;
	run->p = p;
	if (source_is_mapped(src) && !inflated && !rd->copies)
		run->source = src;
	run->end = apart && run->source && src->file
			   ? samples_end_apart(rec, src, p, end, data_end, run)
			   : samples_end(p, end, rec->swap, !rd->copies, &run->n);
	if (run->end == p)
		return 0;
	run->offset = st->feed.offset;
	run->chunk = inflated ? z->chunk : st->feed.chunk;
	if (inflated)
		z->p += run->end - p;
	else
		feed_advance(&st->feed, (size_t)(run->end - p));
	rec->stats.by_type[PERF_RECORD_SAMPLE] += run->n;
	rd->sampled = 1;
	return 1;
}

int recording_sample_run(struct recording *rec, size_t max, struct record_run *run)
{
	return sample_run(rec, max, 0, run);
}

int recording_skip_samples(struct recording *rec, size_t max, struct record_run *run)
{
	return sample_run(rec, max, 1, run);
}

int record_is_header(uint32_t type)
{
	return type == PERF_RECORD_HEADER_ATTR || type == PERF_RECORD_EVENT_UPDATE ||
	       type == PERF_RECORD_HEADER_BUILD_ID || type == PERF_RECORD_HEADER_FEATURE ||
	       type == PERF_RECORD_HEADER_TRACING_DATA;
}

/* Pipe mode repeats its header when read again: what is known already is not taken twice.
 * Whoever reads samples has counted the events by then: there come no more. */
static int take_header_record(struct recording *rec, const struct record *r, struct err *e)
{
	struct reader *rd = rec->reader;
	if (r->offset < rd->header_seen || (rd->copies && rd->sampled) ||
	    (!rec->pipe_mode && r->type == PERF_RECORD_HEADER_ATTR))
		return 0;
	rd->header_seen = r->offset + 1;
	struct err why = {0};
	int rc = rd->header_ended && r->type == PERF_RECORD_HEADER_ATTR
			 ? err_set(&why, ERR_FORMAT,
				   "ATTR at 0x%llx: an event declared behind the header",
				   (unsigned long long)r->offset)
			 : header_take_record(rec, r, &why);
	if (rc == ERR_FORMAT || rc == ERR_TORN) {
		recording_note_bad(rec, &why);
		return 0;
	}
	if (rc && e)
		*e = why;
	return rc;
}

int recording_next(struct recording *rec, struct record *r, struct err *e)
{
	struct reader *rd = rec->reader;
	chunk_drop(rd->held);
	rd->held = NULL;
	if (rd->has_pending) {
		*r = rd->pending;
		rd->has_pending = 0;
		return 1;
	}
	while (rd->current < rd->streams.n) {
		struct stream *st = &rd->streams.v[rd->current];
		int got = next_in_stream(rec, st, r, e);
		if (got < 0)
			return got;
		if (got) {
			r->stream = (uint32_t)rd->current;
			rd->sampled |= r->type == PERF_RECORD_SAMPLE;
			count(rec, r);
			int rc = record_is_header(r->type) ? take_header_record(rec, r, e) : 0;
			return rc ? rc : 1;
		}
		if (st->inflater.end != st->inflater.p)
			note_torn(rec, st->feed.offset,
				  (uint64_t)(st->inflater.end - st->inflater.p),
				  "the last compressed record is cut off");
		rd->current++;
	}
	return 0;
}

const struct event *recording_event(const struct recording *rec, const struct record *r)
{
	if (rec->events.n <= 1)
		return rec->events.n ? &rec->events.v[0] : NULL;
	uint64_t id = 0;
	if (r->type == PERF_RECORD_SAMPLE) {
		if (rec->id_offset < 0)
			return &rec->events.v[0];
		if (r->size < RECORD_HEADER_SIZE + rec->id_offset + 8)
			return NULL;
		id = load_u64(r->p + RECORD_HEADER_SIZE + rec->id_offset, rec->swap);
	} else {
		struct record_id rid;
		record_id_decode(r, &rec->events.v[0], rec->swap, &rid);
		id = rid.id;
	}
	const struct event *ev = recording_event_of_id(rec, id);
	/* id 0 is what perf's own synthesized records carry: they are laid out as the first
	 * event */
	return ev || id ? ev : &rec->events.v[0];
}

/* "/freq=99,call-graph=dwarf/": how it is recorded, not which event it is; the length, or 0. */
static size_t record_terms(const char *s)
{
	static const char *const keys[] = {
		"freq=", "period=", "call-graph=", "stack-size=", "max-stack=",
		"time=", "inherit", "no-inherit",  "overwrite",   "no-overwrite"};
	const char *end = *s == '/' ? strchr(s + 1, '/') : NULL;
	for (size_t i = 0; end && i < sizeof(keys) / sizeof(*keys); i++)
		if (!strncmp(s + 1, keys[i], strlen(keys[i])))
			return (size_t)(end - s) + 1;
	return 0;
}

int event_name_fits(const char *have, const char *want)
{
	size_t n = strlen(want);
	if (strncmp(have, want, n) != 0)
		return 0;
	have += n;
	if (!*have)
		return 2;
	size_t terms = record_terms(have);
	have += terms;
	if (*have != ':' && !terms) /* "cycles:u", "cycles/freq=99/u" */
		return 0;
	have += *have == ':';
	return have[strspn(have, "ukhpPGHSDWIe")] == 0;
}

const struct event *recording_find_event(const struct recording *rec, const char *name)
{
	const struct event *found = NULL;
	int best = 0;
	for (size_t i = 0; i < rec->events.n; i++) {
		int fits = event_name_fits(rec->events.v[i].name, name);
		if (fits > best) {
			best = fits;
			found = &rec->events.v[i];
		}
	}
	return found;
}

static inline void take_id_field(struct record_id *out, uint64_t field, const uint8_t *p,
				 int swap)
{
	switch (field) {
	case PERF_SAMPLE_TID:
		out->pid = (int32_t)load_u32(p, swap);
		out->tid = (int32_t)load_u32(p + 4, swap);
		out->has_tid = 1;
		break;
	case PERF_SAMPLE_TIME:
		out->time = load_u64(p, swap);
		out->has_time = 1;
		break;
	case PERF_SAMPLE_IDENTIFIER:
	case PERF_SAMPLE_ID:
		out->id = load_u64(p, swap);
		break;
	case PERF_SAMPLE_CPU:
		out->cpu = load_u32(p, swap);
		break;
	default:
		break;
	}
}

/* The fixed fields in the kernel's order, as far as the record holds them. */
static void sample_id_fields(const struct recording *rec, const struct event *ev,
			     const struct record *r, struct record_id *out)
{
	static const uint64_t order[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID,       PERF_SAMPLE_TIME,
		PERF_SAMPLE_ADDR,       PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU};
	uint64_t t = ev->attr.sample_type;
	const uint8_t *p = r->p + RECORD_HEADER_SIZE;
	size_t left = r->size - RECORD_HEADER_SIZE;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && left >= 8; i++) {
		if (!(t & order[i]))
			continue;
		take_id_field(out, order[i], p, rec->swap);
		p += 8;
		left -= 8;
	}
}

void recording_id_of(const struct recording *rec, const struct record *r,
		     const struct event *ev, struct record_id *out)
{
	*out = (struct record_id){.cpu = UINT32_MAX};
	if (ev && r->type == PERF_RECORD_SAMPLE)
		sample_id_fields(rec, ev, r, out);
	else if (ev && r->type < PERF_RECORD_HEADER_ATTR)
		record_id_decode(r, ev, rec->swap, out);
	out->event = ev;
}

void recording_id(const struct recording *rec, const struct record *r, struct record_id *out)
{
	recording_id_of(rec, r, recording_event(rec, r), out);
}
