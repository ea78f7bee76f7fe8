#include "libparse/order.h"
#include "libparse/rounds.h"
#include "base/bigvec.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/search.h"
#include "libparse/reader.h"
#include "libparse/sample.h"

#include <pthread.h>

enum {
	BATCH = 2048,  /* records handed over at once */
	BATCHES = 128, /* batches at a time, 10 MB */
	PREFETCH = 16, /* records */
	HANDED_BACK = ORDER_LATE + 1,
	STEP_BACK = 1000000, /* ns; interrupts make some ten thousand */
	FAR = 1000000000,    /* ns */
};

struct key {
	uint64_t time;
	uint32_t at; /* index of queued */
};

/* A record that waits for its turn; the rest is read again from its bytes. */
struct queued {
	const uint8_t *p; /* NULL: copied to bytes[copy] */
	uint64_t offset;
	union {
		struct chunk *chunk;
		size_t copy;
	};
	const struct event *event;
	uint32_t stream;
};

/* A record with a dummy time: no round releases it. */
struct dummy {
	struct queued queued;
	uint64_t time;
};

/* Records in their final order. The caller's thread decodes them: it needs their bytes soon, and
 * the cache of the reading thread's core has long lost them. */
struct batch {
	size_t n;
	struct queued v[BATCH];
};

/*
 * Reading ahead: the thread fills ring[made % BATCHES], the caller consumes ring[taken %
 * BATCHES]. While the thread reads and sorts a round, which may have 100,000 records a CPU, none
 * is handed over: the ring holds enough of the round before to keep the caller busy. `lock`
 * protects everything but the rings' contents; while the thread lives, the window is its own.
 */
struct ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *ring; /* takes memory only as far as it is used */
	size_t made, taken;
	int ended; /* 1 after the last batch, < 0 with `why`, or HANDED_BACK; else 0 */
	int stop;
	struct err why;
};

typedef BIGVEC(struct queued) queued_vec;
typedef BIGVEC(struct key) keys_vec;

struct order {
	struct recording *rec;
	/* the window */
	queued_vec queued;         /* read and not yet returned */
	queued_vec left;           /* compact()'s scratch space */
	keys_vec keys;             /* of queued, in the order of time once released */
	keys_vec spare;            /* scratch space of merge() */
	size_t next, ready;        /* keys[next..ready) can be returned */
	BIGVEC(uint8_t) bytes;     /* copies of records from chunks */
	VEC(struct dummy) dummies; /* come after all others */
	uint64_t newest, second;   /* times of all records read */
	struct rounds round;       /* its safe time */
	uint64_t released;         /* nothing older will come */
	size_t in_round; /* records queued since a late one, or since the round's start */
	struct order_counts counts;
	VEC(struct order_doubt) doubts;
	int round_ended; /* the recording has rounds */
	int rounds, whole, ended;
	/* The caller's part. The padding keeps it out of a cache line that the thread writes at
	 * each record */
	char padding[64];
	struct batch *batch;
	size_t at;
	struct ordered given; /* returned last */
	struct batch *own;    /* without a thread */
	struct ahead *ahead;  /* NULL without */
};

static struct chunk *chunk_of(const struct queued *h)
{
	return h->p ? h->chunk : NULL;
}

/* --- sorting: the file consists of sorted runs, one per ring buffer and round ---------- */

static size_t run_end(const struct key *k, size_t from, size_t n)
{
	size_t i = from + 1;
	while (i < n && k[i - 1].time <= k[i].time)
		i++;
	return i < n ? i : n;
}

static void merge(const struct key *a, size_t na, const struct key *b, size_t nb,
		  struct key *out)
{
	while (na && nb) {
		if (b->time < a->time) {
			*out++ = *b++;
			nb--;
		} else {
			*out++ = *a++;
			na--;
		}
	}
	memcpy(out, a, na * sizeof(*a));
	memcpy(out + na, b, nb * sizeof(*b));
}

/* Merge neighbouring runs until one is left. Stable; linear on sorted input. */
static int sort_keys(struct order *o, struct err *e)
{
	size_t n = o->keys.n;
	if (!n || run_end(o->keys.v, 0, n) == n)
		return 0;
	int rc = bigvec_reserve(&o->spare, n, e);
	if (rc)
		return rc;
	for (;;) {
		struct key *k = o->keys.v, *out = o->spare.v;
		size_t at = 0, pairs = 0;
		while (at < n) {
			size_t mid = run_end(k, at, n);
			size_t end = mid < n ? run_end(k, mid, n) : n;
			merge(k + at, mid - at, k + mid, end - mid, out + at);
			at = end;
			pairs++;
		}
		keys_vec sorted = o->spare;
		o->spare = o->keys;
		o->keys = sorted;
		o->keys.n = n;
		o->spare.n = 0;
		if (pairs <= 1)
			return 0;
	}
}

/* --- the window ----------------------------------------------------------------------- */

/* Drop what was returned, so that indexes start at 0 again. */
static int compact(struct order *o, struct err *e)
{
	size_t n = o->keys.n - o->next;
	int rc = bigvec_reserve(&o->left, n, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		struct key *k = &o->keys.v[o->next + i];
		o->left.v[i] = o->queued.v[k->at];
		o->keys.v[i] = (struct key){.time = k->time, .at = (uint32_t)i};
	}
	queued_vec given = o->queued;
	o->queued = o->left;
	o->left = given;
	o->queued.n = o->keys.n = n;
	o->left.n = 0;
	o->next = o->ready = 0;
	return 0;
}

/* Release all keys up to `until`. */
static int release(struct order *o, uint64_t until, struct err *e)
{
	int rc = sort_keys(o, e);
	if (rc)
		return rc;
	size_t lo = PARTITION_POINT(i, o->next, o->keys.n, o->keys.v[i].time <= until);
	CHECK(o->next <= lo && lo <= o->keys.n);
	o->ready = lo;
	return 0;
}

/* The offset of the record's time; 0 when it has none. `ev` is its event or NULL. */
static inline uint32_t time_at(const struct record *r, const struct event *ev)
{
	if (!ev)
		return 0;
	if (r->type == PERF_RECORD_SAMPLE)
		return ev->head_time && ev->head_time + 8 <= r->size ? ev->head_time : 0;
	return r->type < PERF_RECORD_HEADER_ATTR && ev->tail_time &&
			       ev->tail_size + RECORD_HEADER_SIZE <= r->size
		       ? r->size - ev->tail_time
		       : 0;
}

static const uint8_t *bytes_of(const struct order *o, const struct queued *h)
{
	return h->p ? h->p : o->bytes.v + h->copy;
}

static inline void view_record(const struct order *o, const struct queued *h, struct record *r)
{
	record_view(bytes_of(o, h), o->rec->swap, r);
	r->offset = h->offset;
	r->chunk = chunk_of(h);
	r->stream = h->stream;
}

static void view_queued(const struct order *o, const struct queued *h, struct ordered *out)
{
	view_record(o, h, &out->r);
	recording_id_of(o->rec, &out->r, h->event, &out->id);
}

/* What order_next promises. */
static void view_next(const struct order *o, const struct queued *h, struct ordered *out)
{
	view_record(o, h, &out->r);
	if (out->r.type != PERF_RECORD_SAMPLE) {
		recording_id_of(o->rec, &out->r, h->event, &out->id);
		return;
	}
	uint32_t at = time_at(&out->r, h->event);
	out->id = (struct record_id){.pid = -1,
				     .tid = -1,
				     .cpu = UINT32_MAX,
				     .has_time = at != 0,
				     .time = at ? load_u64(out->r.p + at, o->rec->swap) : 0,
				     .event = h->event};
}

static int add_doubt(struct order *o, uint64_t from, uint64_t to, uint32_t cpu, struct err *e)
{
	struct order_doubt d = {.from_ns = from, .to_ns = to, .cpu = cpu};
	struct order_doubt *last = o->doubts.n ? &o->doubts.v[o->doubts.n - 1] : NULL;
	if (!last || last->to_ns != to || last->cpu != cpu)
		return vec_push(&o->doubts, d) ? err_nomem(e) : 0;
	last->from_ns = from < last->from_ns ? from : last->from_ns;
	return 0;
}

/*
 * A record is older than others that were released. ORDER_LATE if the recording can be sorted
 * as a whole. In a stream the record moves to now: the time in its bytes is changed, so that
 * decoders see the same time.
 */
static int handle_late(struct order *o, const struct record *r, uint32_t at, uint64_t *time,
		       struct err *e)
{
	uint64_t late = o->released - *time;
	struct record_id id;
	o->in_round = 0;
	o->counts.late++;
	if (late > o->counts.late_ns)
		o->counts.late_ns = late;
	if (o->whole)
		return 0;
	if (!recording_is_stream(o->rec))
		return ORDER_LATE;
	recording_id(o->rec, r, &id);
	store_u64(r->chunk->data + (r->p - r->chunk->data) + at, o->released, o->rec->swap);
	int rc = add_doubt(o, *time, o->released, id.cpu, e);
	*time = o->released;
	return rc;
}

/*
 * A ring buffer has the records of one CPU in order of time, except one that was interrupted
 * between reading the clock and reserving its place. Within a round each buffer is read once;
 * if there is one per thread, the event's id or the thread distinguishes them.
 */
static int note_back(struct order *o, const struct queued *h, uint64_t time, struct err *e)
{
	struct ordered prev, this;
	uint64_t was = o->in_round ? o->keys.v[o->keys.n - 1].time : 0;
	if (!time || time >= was || was - time < STEP_BACK)
		return 0;
	view_queued(o, &o->queued.v[o->queued.n - 1], &prev);
	view_queued(o, h, &this);
	if (!this.id.event || this.id.cpu == UINT32_MAX || prev.id.cpu != this.id.cpu ||
	    prev.r.stream != this.r.stream ||
	    (prev.id.id != this.id.id && prev.id.tid != this.id.tid) ||
	    attr_flag(&this.id.event->attr, ATTR_WRITE_BACKWARD))
		return 0;
	o->counts.back++;
	if (was - time > o->counts.back_ns)
		o->counts.back_ns = was - time;
	return add_doubt(o, time, was, this.id.cpu, e);
}

/* When the whole recording is sorted, its chunks are freed: they may need much more memory than
 * the file. */
static int keep_bytes(struct order *o, const struct record *r, struct queued *h, struct err *e)
{
	int rc = bigvec_reserve(&o->bytes, r->size, e);
	if (rc)
		return rc;
	memcpy(o->bytes.v + o->bytes.n, r->p, r->size);
	*h = (struct queued){.copy = o->bytes.n,
			     .offset = h->offset,
			     .event = h->event,
			     .stream = h->stream};
	o->bytes.n += r->size;
	return 0;
}

static int add_key(struct order *o, struct queued h, uint64_t time, struct err *e)
{
	struct key k = {.time = time, .at = (uint32_t)o->queued.n};
	if (o->queued.n >= UINT32_MAX)
		return err_set(e, ERR_LIMIT, "%s: more than 2^32 records in one round",
			       o->rec->name);
	int rc = bigvec_push(&o->queued, h, e);
	if (!rc && (rc = bigvec_push(&o->keys, k, e)))
		o->queued.n--;
	return rc;
}

static int add_dummy(struct order *o, struct queued h, uint64_t time, struct err *e)
{
	struct dummy d = {.queued = h, .time = time};
	return vec_push(&o->dummies, d) ? err_nomem(e) : 0;
}

static void note_newest(struct order *o, uint64_t time)
{
	if (time > o->newest) {
		o->second = o->newest;
		o->newest = time;
	} else if (time > o->second) {
		o->second = time;
	}
}

/* The time of the newest record, unless it is far from the second newest: one broken time would
 * make all following records late. Holding back too much does no harm. */
static uint64_t newest(const struct order *o)
{
	return o->newest - o->second > FAR ? o->second : o->newest;
}

/* 1 for a mapping or a name without a time: perf found it at the start. */
static int is_from_start(const struct record *r, uint64_t time)
{
	return !time && record_is_sideband(r->type);
}

static int enqueue(struct order *o, const struct record *r, struct err *e)
{
	struct queued h = {.p = r->p,
			   .offset = r->offset,
			   .chunk = r->chunk,
			   .event = recording_event(o->rec, r),
			   .stream = r->stream};
	uint32_t at = time_at(r, h.event);
	uint64_t time = at ? load_u64(r->p + at, o->rec->swap) : 0;
	int first = !recording_is_stream(o->rec) && is_from_start(r, time);
	if (first && o->released && !o->whole)
		return ORDER_LATE; /* records already returned needed it */
	int rc = time && time < o->released ? handle_late(o, r, at, &time, e) : 0;
	if (!rc && o->whole && r->chunk)
		rc = keep_bytes(o, r, &h, e);
	if (!rc)
		rc = note_back(o, &h, time, e);
	if (rc)
		return rc;
	/* other records without a time come before all that are not yet released */
	rc = time < SAMPLE_DUMMY_TIMES ? add_key(o, h, time || first ? time : o->released, e)
				       : add_dummy(o, h, time, e);
	if (rc)
		return rc;
	chunk_hold(chunk_of(&h));
	o->in_round += time < SAMPLE_DUMMY_TIMES;
	if (time < SAMPLE_DUMMY_TIMES)
		note_newest(o, time);
	return 0;
}

/* At the end of the input: release all that is left, in order. */
static int end_all(struct order *o, struct err *e)
{
	for (size_t i = 0; i < o->dummies.n; i++) {
		int rc = add_key(o, o->dummies.v[i].queued, o->dummies.v[i].time, e);
		if (rc) {
			o->keys.n = o->queued.n -= i; /* they still belong to dummies */
			return rc;
		}
	}
	o->dummies.n = 0;
	if (!o->round_ended) /* then it is not known where a ring buffer begins */
		o->counts.back = o->counts.back_ns = o->doubts.n = 0;
	return release(o, UINT64_MAX, e);
}

static int end_round(struct order *o, struct err *e)
{
	int rc = 0;
	rounds_end(&o->round, newest(o));
	if (o->rounds && o->round.safe) {
		o->released = o->round.safe;
		rc = o->whole ? 0 : release(o, o->round.safe, e);
	}
	o->in_round = 0;
	o->round_ended = 1;
	return rc;
}

/* Read on until something can be returned or the input ends. */
static int fill(struct order *o, struct err *e)
{
	struct record r;
	int got = 1, rc = compact(o, e);
	while (!rc && o->ready == 0 && got) {
		got = recording_next(o->rec, &r, e);
		if (got < 0)
			return got;
		rc = !got                                   ? end_all(o, e)
		     : r.type == PERF_RECORD_FINISHED_ROUND ? end_round(o, e)
							    : enqueue(o, &r, e);
	}
	o->ended = !got;
	return rc;
}

/* The next records in order. 1, 0 at the end, ORDER_LATE, < 0. */
static int next_batch(struct order *o, struct batch *b, struct err *e)
{
	b->n = 0;
	while (o->next == o->ready) {
		if (o->ended)
			return 0;
		int rc = fill(o, e);
		if (rc)
			return rc;
	}
	for (; b->n < BATCH && o->next < o->ready; b->n++, o->next++)
		b->v[b->n] = o->queued.v[o->keys.v[o->next].at];
	return 1;
}

/* --- reading ahead -------------------------------------------------------------------- */

/* Wait for an empty batch: 1, or 0 when the reader must stop. Once all are full, it waits until
 * half are consumed: sleeping and waking cost more than a batch. */
static int wait_for_room(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	size_t enough = a->made - a->taken == BATCHES ? BATCHES / 2 : BATCHES - 1;
	while (!a->stop && a->made - a->taken > enough)
		pthread_cond_wait(&a->changed, &a->lock);
	int go_on = !a->stop;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

static void *read_ahead(void *order)
{
	struct order *o = order;
	struct ahead *a = o->ahead;
	struct err why = {0};
	int got = 1;
	while (got == 1 && !o->rec->compressed && wait_for_room(a)) {
		got = next_batch(o, &a->ring[a->made % BATCHES], &why);
		pthread_mutex_lock(&a->lock);
		a->made += got == 1;
		/* chunks belong to one thread */
		a->ended = !got ? 1 : got != 1 ? got : o->rec->compressed ? HANDED_BACK : 0;
		a->why = why;
		if (a->ended || a->made - a->taken == 1)
			pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	/* compressed from the start, although no header said so: nothing was read here */
	pthread_mutex_lock(&a->lock);
	if (!a->ended)
		a->ended = HANDED_BACK;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Return the current batch and get the next one. 1, 0 at the end, < 0, ORDER_LATE, HANDED_BACK.
 */
static int swap_batch(struct order *o, struct err *e)
{
	struct ahead *a = o->ahead;
	int rc = 1;
	pthread_mutex_lock(&a->lock);
	if (o->batch) {
		a->taken++;
		if (a->made - a->taken == BATCHES / 2)
			pthread_cond_signal(&a->changed);
	}
	o->batch = NULL;
	while (!a->ended && a->made == a->taken)
		pthread_cond_wait(&a->changed, &a->lock);
	if (a->made != a->taken && a->ended != ORDER_LATE) {
		o->batch = &a->ring[a->taken % BATCHES];
	} else {
		rc = a->ended == 1 ? 0 : a->ended;
		if (rc < 0 && e)
			*e = a->why;
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

static void ahead_free(struct ahead *a)
{
	mem_free(a->ring);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}

static void drop_batch(struct batch *b, size_t from)
{
	for (size_t i = from; i < b->n; i++)
		chunk_drop(chunk_of(&b->v[i]));
}

static void ahead_stop(struct order *o)
{
	struct ahead *a = o->ahead;
	pthread_mutex_lock(&a->lock);
	a->stop = 1;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	for (size_t i = a->taken; i != a->made; i++)
		drop_batch(&a->ring[i % BATCHES], o->batch && i == a->taken ? o->at : 0);
	ahead_free(a);
	o->ahead = NULL;
	o->batch = NULL;
}

int order_read_ahead(struct order *o, struct err *e)
{
	struct ahead *a = mem_zalloc(1, sizeof(*a));
	if (!a)
		return err_nomem(e);
	a->ring = mem_alloc(BATCHES * sizeof(*a->ring));
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (!a->ring) {
		ahead_free(a);
		return err_nomem(e);
	}
	o->ahead = a;
	if (pthread_create(&a->thread, NULL, read_ahead, o)) { /* then read without it */
		o->ahead = NULL;
		ahead_free(a);
	}
	return 0;
}

/* --- public functions
 * ------------------------------------------------------------------------- */

int order_new(struct order **out, struct recording *rec, struct err *e)
{
	struct order *o = mem_zalloc(1, sizeof(*o));
	*out = NULL;
	if (!o)
		return err_nomem(e);
	o->rec = rec;
	o->rounds = !rec->directory;
	o->whole = rec->directory;
	*out = o;
	return 0;
}

void order_whole(struct order *o)
{
	o->whole = 1;
}

struct order_counts order_counts(const struct order *o)
{
	return o->counts;
}

const struct order_doubt *order_doubts(const struct order *o, size_t *n)
{
	*n = o->doubts.n;
	return o->doubts.v;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	if (o->ahead)
		ahead_stop(o);
	chunk_drop(o->given.r.chunk);
	if (o->own)
		drop_batch(o->own, o->at);
	for (size_t i = o->next; i < o->keys.n; i++)
		chunk_drop(chunk_of(&o->queued.v[o->keys.v[i].at]));
	for (size_t i = 0; i < o->dummies.n; i++)
		chunk_drop(chunk_of(&o->dummies.v[i].queued));
	vec_release(&o->dummies);
	vec_release(&o->doubts);
	bigvec_release(&o->queued);
	bigvec_release(&o->left);
	bigvec_release(&o->keys);
	bigvec_release(&o->spare);
	bigvec_release(&o->bytes);
	mem_free(o->own);
	mem_free(o);
}

static int refill(struct order *o, struct err *e)
{
	o->at = 0;
	if (o->ahead) {
		int rc = swap_batch(o, e);
		if (rc != HANDED_BACK)
			return rc;
		ahead_stop(o);
	}
	if (!o->own && !(o->own = mem_zalloc(1, sizeof(*o->own))))
		return err_nomem(e);
	o->batch = o->own;
	return next_batch(o, o->own, e);
}

int order_next(struct order *o, struct ordered **out, struct err *e)
{
	if (o->given.r.chunk)
		chunk_drop(o->given.r.chunk);
	o->given.r.chunk = NULL;
	if (!o->batch || o->at == o->batch->n) {
		int rc = refill(o, e);
		if (rc != 1)
			return rc;
	}
	const struct queued *v = &o->batch->v[o->at++];
	/* the bytes may be in another core's cache, or copies */
	if (o->batch->n - o->at > PREFETCH && v[PREFETCH].p) {
		__builtin_prefetch(v[PREFETCH].p);
		__builtin_prefetch(v[PREFETCH].p + 64);
		__builtin_prefetch(v[PREFETCH].p + 128);
	}
	view_next(o, v, &o->given);
	*out = &o->given;
	return 1;
}
