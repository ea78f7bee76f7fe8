#include "libtime/watch/history.h"
#include "libparse/rounds.h"
#include "base/mem.h"
#include "libtime/watch/file_ids.h"
#include "libtime/watch/tasks.h"

#include <string.h>

enum {
	CHUNK = 256 << 10,
	CHUNK_NS = 500000000,
	MAGIC = 16,
	HEADER_MAX = 64 << 20, /* formats of tracepoints, features, build-ids */
	EXTRA_AT = RECORD_HEADER_SIZE,
	CPUS_MAX = 8192,
};

struct kept {
	uint8_t *p;
	size_t n;
	uint64_t min_ns, max_ns; /* 0: no record has a time */
};

struct ring { /* of a CPU */
	uint64_t last_ns;
	int lost; /* since the last history_take_loss */
};

struct history {
	struct history_limits limits;
	struct buf header;     /* magic and header records; `rec` reads it */
	struct buf late;       /* header records that came after it */
	struct buf part;       /* the first part of an incomplete record */
	struct recording *rec; /* of the header; NULL: incomplete */
	VEC(struct kept) chunks;
	size_t unseen; /* index of the first chunk that no answer has fully covered */
	uint64_t seen_ns;
	struct tasks tasks;
	struct file_ids ids;
	int is_ours;   /* files of this host are those of the stream */
	uint64_t skip; /* remaining bytes after an AUXTRACE record */
	struct rounds rounds;
	uint64_t records, lost;
	VEC(struct ring) rings; /* by CPU */
	struct history_loss loss;
};

int history_new(struct history **out, struct history_limits limits, struct err *e)
{
	struct history *h = *out = mem_zalloc(1, sizeof(*h));
	if (!h)
		return err_nomem(e);
	h->limits = limits;
	h->tasks.max = limits.bytes / 2;
	return 0;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->chunks.n; i++)
		mem_free(h->chunks.v[i].p);
	vec_release(&h->chunks);
	buf_release(&h->header);
	buf_release(&h->late);
	buf_release(&h->part);
	tasks_release(&h->tasks);
	file_ids_release(&h->ids);
	vec_release(&h->rings);
	recording_close(h->rec);
	mem_free(h);
}

/* --- chunks --------------------------------------------------------------------------- */

static uint64_t oldest(const struct history *h)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < h->chunks.n; i++) {
		const struct kept *c = &h->chunks.v[i];
		ns = c->min_ns && (!ns || c->min_ns < ns) ? c->min_ns : ns;
	}
	return ns;
}

/* The time of a record; 0: none, or not the clock's. */
static uint64_t time_of(const struct record_id *id)
{
	return id->has_time && id->time < SAMPLE_DUMMY_TIMES ? id->time : 0;
}

/* Drop the oldest chunk, whose side-band records become state. */
static int forget_first(struct history *h)
{
	struct kept c = h->chunks.v[0];
	int rc = 0;
	for (size_t at = 0; !rc && at < c.n;) {
		struct record_id id = {0};
		struct record r;
		at += record_view(c.p + at, 0, &r);
		if (r.type == PERF_RECORD_SAMPLE || r.type >= PERF_RECORD_HEADER_ATTR)
			continue;
		recording_id(h->rec, &r, &id);
		rc = tasks_add(&h->tasks, &r, time_of(&id));
	}
	mem_free(c.p);
	memmove(h->chunks.v, h->chunks.v + 1, --h->chunks.n * sizeof(*h->chunks.v));
	h->unseen -= h->unseen > 0;
	return rc ? rc : tasks_settle(&h->tasks, oldest(h));
}

static int is_past(const struct history *h, const struct kept *c)
{
	return h->rounds.newest > h->limits.ns && c->max_ns < h->rounds.newest - h->limits.ns;
}

static int is_old(const struct history *h)
{
	return h->chunks.n > 1 &&
	       ((h->chunks.n + 1) * CHUNK > h->limits.bytes || is_past(h, h->chunks.v));
}

static void note_unseen(struct history *h, const struct kept *c)
{
	struct history_loss *x = &h->loss;
	uint64_t from = c->min_ns > h->seen_ns ? c->min_ns : h->seen_ns;
	if (c->max_ns <= h->seen_ns)
		return;
	x->unseen_from_ns =
		!x->unseen_to_ns || from < x->unseen_from_ns ? from : x->unseen_from_ns;
	x->unseen_to_ns = c->max_ns > x->unseen_to_ns ? c->max_ns : x->unseen_to_ns;
}

/* The chunk that has room for the record. 1: see history_add. */
static int room_for(struct history *h, size_t size, uint64_t ns, struct kept **out)
{
	struct kept *last = h->chunks.n ? &h->chunks.v[h->chunks.n - 1] : NULL;
	struct kept fresh = {0};
	*out = last;
	if (last && last->n + size <= CHUNK &&
	    (!ns || !last->min_ns || ns < last->min_ns + CHUNK_NS))
		return 0;
	while (is_old(h)) {
		if (!h->unseen)
			return 1;
		note_unseen(h, h->chunks.v);
		if (forget_first(h))
			return ERR_NOMEM;
	}
	fresh.p = mem_alloc(CHUNK);
	if (!fresh.p || vec_push(&h->chunks, fresh)) {
		mem_free(fresh.p);
		return ERR_NOMEM;
	}
	*out = &h->chunks.v[h->chunks.n - 1];
	return 0;
}

static int keep(struct history *h, const struct record *r, uint64_t ns)
{
	struct kept *c;
	int rc = room_for(h, r->size, ns, &c);
	if (rc)
		return rc;
	memcpy(c->p + c->n, r->p, r->size);
	c->n += r->size;
	if (!ns)
		return 0;
	c->min_ns = !c->min_ns || ns < c->min_ns ? ns : c->min_ns;
	c->max_ns = ns > c->max_ns ? ns : c->max_ns;
	rounds_note(&h->rounds, ns);
	return 0;
}

/* Half of it remains, unless it is older than the window, for waits that end in what comes. */
static int may_go(const struct history *h, size_t i)
{
	const struct kept *c = &h->chunks.v[i];
	return c->max_ns <= h->rounds.safe && (i < h->chunks.n / 2 || is_past(h, c));
}

void history_seen(struct history *h)
{
	size_t i = 0;
	while (i < h->chunks.n && may_go(h, i))
		i++;
	/* without rounds, or with one larger than the limits, nothing would ever be seen */
	h->unseen = i || !h->chunks.n ? i : h->chunks.n - 1;
	h->seen_ns = h->rounds.safe;
}

int history_forget(struct history *h, uint64_t ns, struct err *e)
{
	while (h->chunks.n > 1 && h->chunks.v[0].max_ns < ns)
		if (forget_first(h))
			return err_nomem(e);
	return 0;
}

/* --- loss ----------------------------------------------------------------------------- */

static struct ring *ring_of(struct history *h, uint32_t cpu)
{
	if (cpu >= CPUS_MAX ||
	    (cpu >= h->rings.n && vec_reserve(&h->rings, cpu + 1 - h->rings.n)))
		return NULL;
	while (h->rings.n <= cpu)
		h->rings.v[h->rings.n++] = (struct ring){0};
	return &h->rings.v[cpu];
}

static void note_loss(struct history *h, const struct record *r, const struct record_id *id)
{
	struct ring *ring = ring_of(h, id->cpu);
	struct history_loss *x = &h->loss;
	uint64_t to = time_of(id) ? time_of(id) : h->rounds.newest,
		 from = ring && ring->last_ns ? ring->last_ns : to;
	if (r->type != PERF_RECORD_LOST) {
		if (ring && to > ring->last_ns)
			ring->last_ns = to;
		return;
	}
	if (r->size < RECORD_HEADER_SIZE + 16)
		return;
	uint64_t n = load_u64(r->p + RECORD_HEADER_SIZE + 8, 0);
	h->lost += n;
	x->records += n;
	x->from_ns = !x->from_ns || (from && from < x->from_ns) ? from : x->from_ns;
	x->to_ns = to > x->to_ns ? to : x->to_ns;
	x->cpus += ring && !ring->lost;
	if (ring)
		ring->lost = 1;
}

struct history_loss history_take_loss(struct history *h)
{
	struct history_loss x = h->loss;
	h->loss = (struct history_loss){0};
	for (size_t i = 0; i < h->rings.n; i++)
		h->rings.v[i].lost = 0;
	return x;
}

/* --- records -------------------------------------------------------------------------- */

static int add_bytes(struct history *h, const uint8_t *p, size_t n, struct err *e)
{
	struct buf *b = h->rec ? &h->late : &h->header;
	if (b->n + n > HEADER_MAX)
		return err_set(e, ERR_LIMIT, "the stream's header is too long");
	buf_add(b, p, n);
	return buf_failed(b) ? err_nomem(e) : 0;
}

/* Records that a recording needs once, in any position. */
static int is_header(uint32_t type)
{
	return record_is_header(type) || type == PERF_RECORD_HEADER_EVENT_TYPE ||
	       type == PERF_RECORD_ID_INDEX || type == PERF_RECORD_THREAD_MAP ||
	       type == PERF_RECORD_CPU_MAP;
}

/* Bytes that follow a record, such as the formats of tracepoints. */
static uint64_t bytes_behind(const struct record *r)
{
	if (r->type == PERF_RECORD_HEADER_TRACING_DATA && r->size >= EXTRA_AT + 4)
		return ((uint64_t)load_u32(r->p + EXTRA_AT, 0) + 7) & ~7ull;
	return 0;
}

static int open_header(struct history *h, struct err *e)
{
	int rc = recording_open_mem(&h->rec, h->header.v, h->header.n, "the stream", e);
	h->is_ours = !rc && features_are_ours(&h->rec->features);
	return rc;
}

static int add_record(struct history *h, struct record *r, struct err *e)
{
	struct record_id id = {0};
	int rc = h->rec ? 0 : open_header(h, e);
	if (rc)
		return rc;
	if (r->type == PERF_RECORD_COMPRESSED || r->type == PERF_RECORD_COMPRESSED2)
		return err_set(e, ERR_UNSUPPORTED,
			       "the stream is compressed: leave out perf record's -z");
	if (r->type == PERF_RECORD_FINISHED_ROUND) {
		rounds_end(&h->rounds, h->rounds.newest);
	} else if (r->type < PERF_RECORD_HEADER_ATTR) {
		recording_id(h->rec, r, &id);
		if (h->is_ours && file_ids_fill(&h->ids, r))
			return err_nomem(e);
	} else if (r->type == PERF_RECORD_AUXTRACE && r->size >= EXTRA_AT + 8) {
		h->skip = load_u64(r->p + EXTRA_AT, 0);
		return 0;
	}
	rc = keep(h, r, time_of(&id));
	if (rc)
		return rc < 0 ? err_nomem(e) : rc;
	if (r->type == PERF_RECORD_SAMPLE && id.has_tid)
		tasks_ran(&h->tasks, id.pid, id.tid, time_of(&id));
	h->records++;
	if (r->type < PERF_RECORD_HEADER_ATTR)
		note_loss(h, r, &id);
	return 0;
}

/* Bytes of the record at p (or the magic before the first), as far as n of them tell. */
static uint64_t needed(const struct history *h, const uint8_t *p, size_t n)
{
	struct record r;
	if (!h->header.n)
		return MAGIC;
	if (n < RECORD_HEADER_SIZE || record_view(p, 0, &r) < RECORD_HEADER_SIZE)
		return RECORD_HEADER_SIZE;
	return n < r.size ? r.size : r.size + bytes_behind(&r);
}

static int64_t add_magic(struct history *h, const uint8_t *p, struct err *e)
{
	if (memcmp(p, "PERFILE2", 8) != 0 || load_u64(p + 8, 0) != MAGIC)
		return err_set(e, ERR_FORMAT,
			       "not a stream of perf record -o - (of this machine's "
			       "byte order); perfkit tail reads recordings and bundles");
	int rc = add_bytes(h, p, MAGIC, e);
	return rc ? rc : MAGIC;
}

/* Add the record that begins the n bytes at p. Returns its size; 0 if it is incomplete; < 0.
 * *full as in history_add. */
static int64_t add_one(struct history *h, const uint8_t *p, size_t n, int *full, struct err *e)
{
	struct record r;
	uint64_t size = needed(h, p, n);
	int rc;
	if (size > HEADER_MAX)
		return err_set(e, ERR_LIMIT, "the stream's header is too long");
	/* before what it claims for a size is waited for */
	if (h->header.n && n >= RECORD_HEADER_SIZE && record_view(p, 0, &r) &&
	    r.type >= RECORD_TYPES_COUNTED)
		return err_set(e, ERR_FORMAT,
			       "the stream goes on with bytes that are no records");
	if (n < size)
		return 0;
	if (!h->header.n)
		return add_magic(h, p, e);
	if (record_view(p, 0, &r) < RECORD_HEADER_SIZE)
		return err_set(e, ERR_FORMAT, "a record of the stream has no size");
	if (is_header(r.type)) {
		rc = add_bytes(h, p, size, e);
	} else {
		rc = add_record(h, &r, e);
		*full = rc > 0;
	}
	return rc < 0 ? rc : *full ? 0 : (int64_t)size;
}

static int add_all(struct history *h, const uint8_t *p, size_t n, size_t *used, struct err *e)
{
	int full = 0;
	*used = 0;
	while (*used < n) {
		if (h->skip) {
			uint64_t some = h->skip < n - *used ? h->skip : n - *used;
			h->skip -= some;
			*used += some;
			continue;
		}
		int64_t got = add_one(h, p + *used, n - *used, &full, e);
		if (got < 0)
			return (int)got;
		if (!got)
			break;
		*used += (size_t)got;
	}
	return full;
}

/* Complete the record whose first bytes came earlier. */
static int add_part(struct history *h, const uint8_t *p, size_t n, size_t *used, struct err *e)
{
	struct buf *b = &h->part;
	size_t before = b->n;
	int full = 0;
	for (;;) {
		uint64_t more = needed(h, (const uint8_t *)b->v, b->n);
		more = more > b->n && more <= HEADER_MAX ? more - b->n : 0;
		if (!more || *used == n)
			break;
		more = more < n - *used ? more : n - *used;
		buf_add(b, p + *used, (size_t)more);
		if (buf_failed(b))
			return err_nomem(e);
		*used += (size_t)more;
	}
	int64_t got = add_one(h, (const uint8_t *)b->v, b->n, &full, e);
	if (full) { /* it begins again next time */
		b->n = before;
		*used = 0;
	} else if (got > 0) {
		buf_clear(b);
	}
	return got < 0 ? (int)got : full;
}

int history_add(struct history *h, const uint8_t *p, size_t n, size_t *used, struct err *e)
{
	size_t some = 0;
	*used = 0;
	int rc = h->part.n ? add_part(h, p, n, used, e) : 0;
	if (rc || h->part.n)
		return rc;
	rc = add_all(h, p + *used, n - *used, &some, e);
	*used += some;
	if (rc)
		return rc;
	buf_add(&h->part, p + *used, n - *used);
	*used = n;
	return buf_failed(&h->part) ? err_nomem(e) : 0;
}

int history_is_cut(const struct history *h)
{
	return h->part.n || h->skip;
}

/* --- what is kept --------------------------------------------------------------------- */

void history_status(const struct history *h, struct history_status *out)
{
	const struct event *ev = h->rec ? h->rec->events.v : NULL;
	*out = (struct history_status){.oldest_ns = oldest(h),
				       .newest_ns = h->rounds.newest,
				       .safe_ns = h->rounds.safe,
				       .records = h->records,
				       .lost = h->lost,
				       .bytes = h->chunks.n * CHUNK + tasks_bytes(&h->tasks),
				       .clockid = -1};
	if (ev && attr_flag(&ev->attr, ATTR_USE_CLOCKID))
		out->clockid = ev->attr.clockid;
}

static void write_buf(const struct buf *b, FILE *f)
{
	if (b->n)
		fwrite(b->v, 1, b->n, f);
}

static void write_front(const struct history *h, FILE *f)
{
	uint32_t back = h->rec ? h->rec->events.v[0].tail_time : 0;
	write_buf(&h->header, f);
	write_buf(&h->late, f);
	tasks_write(&h->tasks, oldest(h), back, f);
}

void history_write_away(struct history *h, FILE *f)
{
	write_front(h, f);
	for (size_t i = 0; i < h->chunks.n; i++) {
		fwrite(h->chunks.v[i].p, 1, h->chunks.v[i].n, f);
		mem_free(h->chunks.v[i].p);
		h->chunks.v[i].p = NULL;
	}
	h->chunks.n = 0;
}

void history_write(const struct history *h, FILE *f)
{
	write_front(h, f);
	for (size_t i = 0; i < h->chunks.n; i++)
		fwrite(h->chunks.v[i].p, 1, h->chunks.v[i].n, f);
}
