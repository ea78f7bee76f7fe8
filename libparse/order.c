#include "libparse/order.h"
#include "base/mem.h"
#include "libparse/sample.h"

#include <pthread.h>

enum {
	BATCH = 2048, /* records handed over at once */
	AHEAD = 8,    /* batches there may be at a time */
	SOON = 8,     /* records */
	HANDED_BACK = 2,
};

struct key {
	uint64_t time;
	uint32_t at; /* index of held */
};

/* What is kept of a record that waits for its turn; the rest is read again from its bytes. */
struct held {
	const uint8_t *p;
	uint64_t offset;
	struct chunk *chunk;
	const struct event *event;
	uint32_t stream;
};

/* One whose time is a dummy: no round lets it go. */
struct late {
	struct held held;
	uint64_t time;
};

/* Records in their final order. */
struct batch {
	size_t n;
	struct ordered v[BATCH];
};

/*
 * Reading ahead: the thread fills ring[made % AHEAD], the caller consumes ring[taken % AHEAD].
 * All but the rings' contents is under `lock`; while the thread lives, the window is its own.
 */
struct ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *ring[AHEAD];
	size_t made, taken;
	int ended; /* the last batch is made: 0 not yet, 1, < 0 with `why`, or HANDED_BACK */
	int stop;
	struct err why;
};

struct order {
	struct recording *rec;
	/* the window */
	VEC(struct held) held; /* read and not yet given out */
	VEC(struct held) left; /* compact()'s space */
	VEC(struct key) keys;  /* of held, in the order of time once released */
	VEC(struct key) spare; /* merge space */
	size_t next, ready;    /* keys[next..ready) can be given out */
	VEC(struct late) late; /* come behind all others */
	uint64_t round_max, safe_time;
	int rounds, ended;
	/* what the caller gets its records from; where a thread has the window, not in a cache
	 * line that it writes to at each record */
	char apart[64];
	struct batch *batch;
	size_t at;
	struct chunk *given; /* of the record given out last */
	struct batch *own;   /* without a thread */
	struct ahead *ahead; /* NULL without */
};

/* --- sorting: the file is made of sorted runs, one per ring buffer and round -----------------
 */

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

/* Merge neighbouring runs until there is one. Stable; linear on sorted input. */
static int sort_keys(struct order *o)
{
	size_t n = o->keys.n;
	if (!n || run_end(o->keys.v, 0, n) == n)
		return 0;
	if (n > o->spare.cap && vec_reserve(&o->spare, n))
		return ERR_NOMEM;
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
		size_t cap = o->keys.cap;
		o->keys.v = out;
		o->keys.cap = o->spare.cap;
		o->spare.v = k;
		o->spare.cap = cap;
		if (pairs <= 1)
			return 0;
	}
}

/* --- the window ----------------------------------------------------------------------------
 */

/* Forget what was given out, so that indexes start at 0 again. */
static int compact(struct order *o)
{
	size_t n = o->keys.n - o->next;
	o->left.n = 0;
	if (vec_reserve(&o->left, n))
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct key *k = &o->keys.v[o->next + i];
		o->left.v[i] = o->held.v[k->at];
		o->keys.v[i] = (struct key){.time = k->time, .at = (uint32_t)i};
	}
	struct held *v = o->held.v;
	size_t cap = o->held.cap;
	o->held.v = o->left.v;
	o->held.cap = o->left.cap;
	o->held.n = n;
	o->left.v = v;
	o->left.cap = cap;
	o->keys.n = n;
	o->next = o->ready = 0;
	return 0;
}

/* Let go all keys up to `until`. */
static int release(struct order *o, uint64_t until)
{
	if (sort_keys(o))
		return ERR_NOMEM;
	size_t lo = o->next, hi = o->keys.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (o->keys.v[mid].time <= until)
			lo = mid + 1;
		else
			hi = mid;
	}
	o->ready = lo;
	return 0;
}

/* The record's time; 0 when it has none. `ev` is its event or NULL. */
static uint64_t time_of(const struct order *o, const struct record *r, const struct event *ev)
{
	if (!ev)
		return 0;
	if (r->type == PERF_RECORD_SAMPLE)
		return ev->head_time && ev->head_time + 8 <= r->size
			       ? load_u64(r->p + ev->head_time, o->rec->swap)
			       : 0;
	return r->type < PERF_RECORD_HEADER_ATTR && ev->tail_time &&
			       ev->tail_size + RECORD_HEADER_SIZE <= r->size
		       ? load_u64(r->p + r->size - ev->tail_time, o->rec->swap)
		       : 0;
}

static int add_key(struct order *o, struct held h, uint64_t time)
{
	struct key k = {.time = time, .at = (uint32_t)o->held.n};
	if (o->held.n >= UINT32_MAX)
		return ERR_LIMIT;
	if (vec_push(&o->held, h))
		return ERR_NOMEM;
	if (vec_push(&o->keys, k)) {
		o->held.n--;
		return ERR_NOMEM;
	}
	return 0;
}

static int hold(struct order *o, const struct record *r)
{
	struct held h = {.p = r->p,
			 .offset = r->offset,
			 .chunk = r->chunk,
			 .event = recording_event(o->rec, r),
			 .stream = r->stream};
	uint64_t time = time_of(o, r, h.event);
	struct late late = {.held = h, .time = time};
	int rc = time < SAMPLE_DUMMY_TIMES ? add_key(o, h, time) : vec_push(&o->late, late);
	if (rc)
		return rc;
	chunk_hold(r->chunk);
	if (time > o->round_max && time < SAMPLE_DUMMY_TIMES)
		o->round_max = time;
	return 0;
}

/* Nothing more comes: all that is left, in order. */
static int end_all(struct order *o)
{
	for (size_t i = 0; i < o->late.n; i++) {
		int rc = add_key(o, o->late.v[i].held, o->late.v[i].time);
		if (rc) {
			o->keys.n = o->held.n -= i; /* they are late's still */
			return rc;
		}
	}
	o->late.n = 0;
	return release(o, UINT64_MAX);
}

static int end_round(struct order *o)
{
	int r = o->rounds && o->safe_time ? release(o, o->safe_time) : 0;
	o->safe_time = o->round_max;
	return r;
}

/* Read on until something can be given out or the input ends. */
static int fill(struct order *o, struct err *e)
{
	struct record r;
	int got = 1;
	if (compact(o))
		return err_nomem(e);
	while (o->ready == 0 && got) {
		got = recording_next(o->rec, &r, e);
		if (got < 0)
			return got;
		int rc = !got                                   ? end_all(o)
			 : r.type == PERF_RECORD_FINISHED_ROUND ? end_round(o)
								: hold(o, &r);
		if (rc == ERR_LIMIT)
			return err_set(e, rc, "%s: more than 2^32 records in one round",
				       o->rec->name);
		if (rc)
			return err_nomem(e);
	}
	o->ended = !got;
	return 0;
}

/* The next records in order. 1, 0 at the end, < 0. */
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
	for (; b->n < BATCH && o->next < o->ready; b->n++, o->next++) {
		const struct held *h = &o->held.v[o->keys.v[o->next].at];
		struct record *r = &b->v[b->n].r;
		record_view(h->p, o->rec->swap, r);
		r->offset = h->offset;
		r->chunk = h->chunk;
		r->stream = h->stream;
		recording_id_of(o->rec, r, h->event, &b->v[b->n].id);
	}
	return 1;
}

/* --- reading ahead ---------------------------------------------------------------------------
 */

/* An empty batch to fill, or NULL when nobody wants more. Once all are full, half of them have
 * to be consumed first: sleeping and waking cost more than a batch. */
static struct batch *empty_batch(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	size_t enough = a->made - a->taken == AHEAD ? AHEAD / 2 : AHEAD - 1;
	while (!a->stop && a->made - a->taken > enough)
		pthread_cond_wait(&a->changed, &a->lock);
	struct batch *b = a->stop ? NULL : a->ring[a->made % AHEAD];
	pthread_mutex_unlock(&a->lock);
	return b;
}

static void *read_ahead(void *order)
{
	struct order *o = order;
	struct ahead *a = o->ahead;
	struct batch *b;
	struct err why = {0};
	int got = 1;
	while (got == 1 && !o->rec->compressed && (b = empty_batch(a)) != NULL) {
		got = next_batch(o, b, &why);
		pthread_mutex_lock(&a->lock);
		a->made += got == 1;
		/* chunks are for one thread only */
		a->ended = got < 0 ? got : !got ? 1 : o->rec->compressed ? HANDED_BACK : 0;
		a->why = why;
		if (a->ended || a->made - a->taken == 1)
			pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	/* compressed from the start, though no header said so: nothing was read here */
	pthread_mutex_lock(&a->lock);
	if (!a->ended)
		a->ended = HANDED_BACK;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* The batch in hand is done with: the next one. 1, 0 at the end, < 0, HANDED_BACK. */
static int take_batch(struct order *o, struct err *e)
{
	struct ahead *a = o->ahead;
	int rc = 1;
	pthread_mutex_lock(&a->lock);
	if (o->batch) {
		a->taken++;
		if (a->made - a->taken == AHEAD / 2)
			pthread_cond_signal(&a->changed);
	}
	o->batch = NULL;
	while (!a->ended && a->made == a->taken)
		pthread_cond_wait(&a->changed, &a->lock);
	if (a->made != a->taken) {
		o->batch = a->ring[a->taken % AHEAD];
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
	for (size_t i = 0; i < AHEAD; i++)
		mem_free(a->ring[i]);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}

static void drop_batch(struct batch *b, size_t from)
{
	for (size_t i = from; i < b->n; i++)
		chunk_drop(b->v[i].r.chunk);
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
		drop_batch(a->ring[i % AHEAD], o->batch && i == a->taken ? o->at : 0);
	ahead_free(a);
	o->ahead = NULL;
	o->batch = NULL;
}

int order_read_ahead(struct order *o, struct err *e)
{
	struct ahead *a = mem_zalloc(1, sizeof(*a));
	if (!a)
		return err_nomem(e);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (size_t i = 0; i < AHEAD; i++)
		if (!(a->ring[i] = mem_alloc(sizeof(*a->ring[i])))) {
			ahead_free(a);
			return err_nomem(e);
		}
	o->ahead = a;
	if (pthread_create(&a->thread, NULL, read_ahead, o)) { /* then without */
		o->ahead = NULL;
		ahead_free(a);
	}
	return 0;
}

/* --- the door --------------------------------------------------------------------------------
 */

int order_new(struct order **out, struct recording *rec, struct err *e)
{
	struct order *o = mem_zalloc(1, sizeof(*o));
	*out = NULL;
	if (!o)
		return err_nomem(e);
	o->rec = rec;
	o->rounds = !rec->directory;
	*out = o;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	if (o->ahead)
		ahead_stop(o);
	chunk_drop(o->given);
	if (o->own)
		drop_batch(o->own, o->at);
	for (size_t i = o->next; i < o->keys.n; i++)
		chunk_drop(o->held.v[o->keys.v[i].at].chunk);
	for (size_t i = 0; i < o->late.n; i++)
		chunk_drop(o->late.v[i].held.chunk);
	vec_release(&o->late);
	vec_release(&o->held);
	vec_release(&o->left);
	vec_release(&o->keys);
	vec_release(&o->spare);
	mem_free(o->own);
	mem_free(o);
}

static int refill(struct order *o, struct err *e)
{
	o->at = 0;
	if (o->ahead) {
		int rc = take_batch(o, e);
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
	chunk_drop(o->given);
	o->given = NULL;
	if (!o->batch || o->at == o->batch->n) {
		int rc = refill(o, e);
		if (rc != 1)
			return rc;
	}
	struct ordered *v = &o->batch->v[o->at++];
	if (o->batch->n - o->at > SOON) { /* the bytes may lie in another core's cache */
		__builtin_prefetch(v[SOON].r.p);
		__builtin_prefetch(v[SOON].r.p + 64);
		__builtin_prefetch(v[SOON].r.p + 128);
	}
	o->given = v->r.chunk;
	*out = v;
	return 1;
}
