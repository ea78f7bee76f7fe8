/* recording.c - the record cursor: streams one after the other, compressed records inflated. */
#include "libparse/recording.h"
#include "base/mem.h"
#include "libparse/reader.h"

#include <stdio.h>

void bad_records_note(struct bad_records *b, uint64_t at, const struct err *why)
{
	if (b->n++ && at >= b->first_at)
		return;
	b->first_at = at;
	snprintf(b->first, sizeof(b->first), "%.159s", why->msg);
}

void bad_records_add(struct bad_records *b, const struct bad_records *more)
{
	if (more->n && (!b->n || more->first_at < b->first_at)) {
		b->first_at = more->first_at;
		memcpy(b->first, more->first, sizeof(b->first));
	}
	b->n += more->n;
}

/* The stream ends here although bytes are left; describe the recording's first cut. */
/* Compression may be nested, and the ratios of the layers multiply, so the output of the
 * innermost layer is bounded by the size of the outermost file. Real stack dumps of a loop
 * reach 1600 times. */
static const uint64_t ORIGIN_FREE = 64 << 20, ORIGIN_RATIO = 2048;

static void note_truncated(struct recording *rec, uint64_t offset, uint64_t left,
			   const char *why)
{
	rec->stats.torn_bytes += left;
	if (!rec->stats.truncated[0])
		snprintf(rec->stats.truncated, sizeof(rec->stats.truncated), "%s at 0x%llx",
			 why, (unsigned long long)offset);
}

/* The next record of the inflated bytes: 1, or 0 when no complete one is there. */
static int next_inflated(struct recording *rec, struct stream *st, struct record *r)
{
	struct inflater *z = &st->inflater;
	size_t left = (size_t)(z->end - z->p);
	if (left < RECORD_HEADER_SIZE)
		return 0;
	uint16_t size = record_view(z->p, rec->swap, r);
	if (size < RECORD_HEADER_SIZE) {
		note_truncated(rec, st->feed.offset, left,
			       "inflated record with a size below 8");
		z->p = z->end;
		z->corrupt = 1;
		return 0;
	}
	if (size > left)
		return 0;
	r->chunk = z->chunk;
	r->offset = st->feed.offset;
	z->p += size;
	return 1;
}

/* A compressed record, or its rest, cannot be decompressed: the record that it continues and
 * the one that continues it are lost, too. */
static int skip_undecodable(struct recording *rec, struct stream *st, uint64_t at,
			    const struct err *why)
{
	struct inflater *z = &st->inflater;
	bad_records_note(&rec->stats.bad, at, why);
	rec->stats.torn_bytes += (uint64_t)(z->end - z->p);
	z->p = z->end;
	z->lost = 1;
	return 0;
}

/* COMPRESSED: the rest of the record; COMPRESSED2: u64 size, data, padding. */
static int handle_compressed(struct recording *rec, struct stream *st, const struct record *r,
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
				"COMPRESSED2 at 0x%llx: data extends past the record's end",
				(unsigned long long)r->offset);
			return skip_undecodable(rec, st, r->offset, &why);
		}
		p += 8;
		n = (size_t)size;
	}
	const struct source *src = stream_source(rec->reader, st);
	st->inflater.allowed =
		src->unbounded ? 0 : ORIGIN_FREE + ORIGIN_RATIO * source_origin(src);
	int rc = inflater_push(&st->inflater, p, n, r->offset, &why);
	if (rc == ERR_FORMAT)
		return skip_undecodable(rec, st, r->offset, &why);
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
	if (z->corrupt) {
		rec->stats.torn_bytes += (uint64_t)(z->end - z->p);
		z->p = z->end;
	}
	if (rc == ERR_FORMAT) {
		skip_undecodable(rec, st, z->offset, &why);
		return 1;
	}
	if (rc == ERR_LIMIT || rc == ERR_REFUSED)
		err_prefix(&why, "%s", rec->name);
	if (rc < 0 && e)
		*e = why;
	return rc;
}

/* Tracing data follows its record in perf's files; older versions of simpleperf count it in the
 * record's size. */
static int holds_tracing_data(const struct recording *rec, const struct record *r)
{
	const size_t head = RECORD_HEADER_SIZE + 4;
	uint32_t n = r->size > head ? load_u32(r->p + RECORD_HEADER_SIZE, rec->swap) : 0;
	return n && n <= r->size - head;
}

/* Bytes that follow a record without being counted in its size. */
static uint64_t extra_size(const struct recording *rec, const struct record *r)
{
	const uint8_t *p = r->p + RECORD_HEADER_SIZE;
	if (r->type == PERF_RECORD_AUXTRACE && r->size >= RECORD_HEADER_SIZE + 8)
		return load_u64(p, rec->swap);
	if (r->type == PERF_RECORD_HEADER_TRACING_DATA && r->size >= RECORD_HEADER_SIZE + 4 &&
	    !holds_tracing_data(rec, r))
		return ((uint64_t)load_u32(p, rec->swap) + 7) & ~7ull;
	return 0;
}

enum { MAX_TRACING_DATA = 256 << 20 };

/*
 * An AUX area is skipped at the next call; tracing data is made readable now, after the record.
 * Both views stay valid until the next call.
 */
static int handle_extra(struct recording *rec, struct stream *st, struct record *r,
			struct err *e)
{
	uint64_t n = extra_size(rec, r);
	if (!n && r->type == PERF_RECORD_HEADER_TRACING_DATA && holds_tracing_data(rec, r)) {
		r->extra = r->p + RECORD_HEADER_SIZE + 4;
		r->extra_size = load_u32(r->p + RECORD_HEADER_SIZE, rec->swap);
	}
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
	FETCH_MAX = 1024, /* longer records are not prefetched whole */
	LINE = 64,
};

/* Walking headers is bound by memory latency: each one's place depends on the one before.
 * Prefetching every cache line costs less. Samples with stack dumps are many times as long as
 * what is read of them: only a header is prefetched, near where it is if sizes are alike. */
static void fetch_ahead(const uint8_t *p, size_t size)
{
	if (size > FETCH_MAX) {
		for (int k = -1; k <= 1; k++)
			__builtin_prefetch(p + 4 * size + k * LINE);
		return;
	}
	for (size_t k = 0; k < size; k += LINE)
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
			note_truncated(rec, f->offset, 0, "the file ends inside an AUX area");
	}
	int got = feed_need(f, RECORD_HEADER_SIZE, e);
	uint64_t offset = f->offset, left = feed_left(f);
	if (got != 1) {
		if (!got && left)
			note_truncated(rec, offset, left, "the last record is cut off");
		return got;
	}
	if (rec->pipe_mode && header_is_magic(f->p)) { /* cat a b >c */
		note_truncated(rec, offset, left, "another recording begins");
		rec->stats.joined = 1;
		return 0;
	}
	uint16_t size = record_view(f->p, rec->swap, r);
	if (size < RECORD_HEADER_SIZE) {
		/* An unfinished file may end in zeroes that the kernel had allocated. */
		note_truncated(rec, offset, left, "record with a size below 8");
		return 0;
	}
	got = feed_need(f, size, e);
	if (got != 1) {
		if (!got)
			note_truncated(rec, offset, feed_left(f), "the last record is cut off");
		return got;
	}
	record_view(f->p, rec->swap, r); /* the feed may have moved */
	r->offset = offset;
	r->chunk = f->chunk;
	if (!f->chunk)
		fetch_ahead(f->p, size);
	feed_advance(f, size);
	got = handle_extra(rec, st, r, e);
	if (!got)
		note_truncated(rec, offset, feed_left(f), "data after a record is cut off");
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

uint64_t recording_dropped_samples(const struct recording *rec, int *at_end)
{
	const struct recording_stats *s = &rec->stats;
	int told_twice = 0;
	for (size_t i = 0; i < rec->events.n; i++)
		told_twice |= !!(rec->events.v[i].attr.read_format & PERF_FORMAT_LOST);
	uint64_t known = told_twice ? s->lost : 0;
	if (at_end)
		*at_end = told_twice;
	return s->lost_samples > known ? s->lost_samples - known : 0;
}

static int next_in_stream(struct recording *rec, struct stream *st, struct record *r,
			  struct err *e)
{
	for (;;) {
		if (next_inflated(rec, st, r))
			return 1;
		const struct inflater *z = &st->inflater;
		int got = z->more || z->corrupt ? inflate_more(rec, st, e) : 0;
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
		int rc = handle_compressed(rec, st, r, e);
		if (rc)
			return rc;
	}
}

/* The end of the samples that begin at p; *n counts them. */
static const uint8_t *samples_end(const uint8_t *p, const uint8_t *end, int swap, int mapped,
				  uint64_t *n)
{
	uint32_t want = swap ? __builtin_bswap32(PERF_RECORD_SAMPLE) : PERF_RECORD_SAMPLE;
	while (end - p >= RECORD_HEADER_SIZE && load_u32(p, 0) == want) {
		uint16_t size = load_u16(p + 6, swap);
		if (size < RECORD_HEADER_SIZE || size > end - p)
			break;
		if (mapped)
			fetch_ahead(p, size);
		p += size;
		++*n;
	}
	return p;
}

int recording_sample_run(struct recording *rec, size_t max, struct record_run *run)
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
	if ((size_t)(end - p) > max)
		end = p + max;
	run->p = p;
	run->chunk = inflated ? z->chunk : st->feed.chunk;
	run->end = samples_end(p, end, rec->swap, !run->chunk, &run->n);
	if (run->end == p)
		return 0;
	run->offset = st->feed.offset;
	if (inflated)
		z->p += run->end - p;
	else
		feed_advance(&st->feed, (size_t)(run->end - p));
	rec->stats.by_type[PERF_RECORD_SAMPLE] += run->n;
	return 1;
}

int record_is_header(uint32_t type)
{
	return type == PERF_RECORD_HEADER_ATTR || type == PERF_RECORD_EVENT_UPDATE ||
	       type == PERF_RECORD_HEADER_BUILD_ID || type == PERF_RECORD_HEADER_FEATURE ||
	       type == PERF_RECORD_HEADER_TRACING_DATA || type == PERF_RECORD_TIME_CONV;
}

/* In pipe mode the header is read again after a rewind; header records are applied only once.
 * Readers of samples have counted the events by then, so no more may come. */
static int handle_header_record(struct recording *rec, const struct record *r, struct err *e)
{
	struct reader *rd = rec->reader;
	if (r->offset < rd->header_seen ||
	    (!rec->pipe_mode && r->type == PERF_RECORD_HEADER_ATTR))
		return 0;
	rd->header_seen = r->offset + 1;
	struct err why = {0};
	int rc = rd->header_ended && r->type == PERF_RECORD_HEADER_ATTR
			 ? err_set(&why, ERR_FORMAT,
				   "ATTR at 0x%llx: an event declared after the header",
				   (unsigned long long)r->offset)
			 : header_apply_record(rec, r, &why);
	if (rc == ERR_FORMAT || rc == ERR_TRUNCATED) {
		header_note_bad(rec, r->offset, &why);
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
			count(rec, r);
			int rc =
				record_is_header(r->type) ? handle_header_record(rec, r, e) : 0;
			return rc ? rc : 1;
		}
		if (st->inflater.end != st->inflater.p)
			note_truncated(rec, st->feed.offset,
				       (uint64_t)(st->inflater.end - st->inflater.p),
				       "the last compressed record is cut off");
		rd->current++;
		if (!rec->data_size && rec->pipe_mode) /* now the size of a stream is known */
			rec->data_size =
				st->feed.offset + feed_left(&st->feed) - PIPE_HEADER_SIZE;
	}
	return 0;
}
