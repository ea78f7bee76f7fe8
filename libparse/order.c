#include "libparse/order.h"
#include "base/mem.h"

/* perf record --off-cpu stamps its sums with times from here up: no place in time. */
#define DUMMY_TIMES 0xffffffff00000000u

struct key {
	uint64_t time;
	uint32_t at; /* index of held */
};

struct held {
	struct record r;
	struct record_id id;
};

struct order {
	struct recording *rec;
	VEC(struct held) held; /* read and not yet given out */
	VEC(struct key) keys;  /* of held, in the order of time once released */
	VEC(struct key) spare; /* merge space */
	size_t next, ready;    /* keys[next..ready) can be given out */
	uint64_t round_max, safe_time;
	struct chunk *given; /* of the record given out last */
	int rounds, ended;
};

int order_new(struct order **out, struct recording *rec, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->rec = rec;
	(*out)->rounds = !rec->directory;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	chunk_drop(o->given);
	for (size_t i = o->next; i < o->keys.n; i++)
		chunk_drop(o->held.v[o->keys.v[i].at].r.chunk);
	vec_release(&o->held);
	vec_release(&o->keys);
	vec_release(&o->spare);
	mem_free(o);
}

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
	VEC(struct held) left = {0};
	size_t n = o->keys.n - o->next;
	if (n && vec_reserve(&left, n))
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct key *k = &o->keys.v[o->next + i];
		left.v[i] = o->held.v[k->at];
		o->keys.v[i] = (struct key){.time = k->time, .at = (uint32_t)i};
	}
	left.n = n;
	vec_release(&o->held);
	o->held.v = left.v;
	o->held.n = left.n;
	o->held.cap = left.cap;
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

static int hold(struct order *o, const struct record *r)
{
	struct held h = {.r = *r};
	recording_id(o->rec, r, &h.id);
	uint64_t time = h.id.has_time ? h.id.time : 0;
	struct key k = {.time = time, .at = (uint32_t)o->held.n};
	if (o->held.n >= UINT32_MAX)
		return ERR_LIMIT;
	if (vec_push(&o->held, h))
		return ERR_NOMEM;
	if (vec_push(&o->keys, k)) {
		o->held.n--;
		return ERR_NOMEM;
	}
	chunk_hold(r->chunk);
	if (time > o->round_max && time < DUMMY_TIMES)
		o->round_max = time;
	return 0;
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
		int rc = !got                                   ? release(o, UINT64_MAX)
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

int order_next(struct order *o, struct record *r, struct record_id *id, struct err *e)
{
	chunk_drop(o->given);
	o->given = NULL;
	while (o->next == o->ready) {
		if (o->ended)
			return 0;
		int rc = fill(o, e);
		if (rc)
			return rc;
	}
	const struct held *h = &o->held.v[o->keys.v[o->next++].at];
	*r = h->r;
	*id = h->id;
	o->given = r->chunk;
	return 1;
}
