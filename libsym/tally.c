#include "libsym/tally.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 32 };

struct tally_batch {
	uint64_t seed;
	size_t n;
	struct {
		struct tallied key;
		uint64_t hash;
		const struct tallied *likely; /* the first entry with its hash; or NULL */
	} v[BATCH];
	VEC(uint32_t) runs; /* of all; key.runs is an index into these */
};

static int same(const struct tally *t, const struct tallied *x, const struct tallied *key,
		const uint32_t *runs)
{
	return x->nruns == key->nruns && x->event == key->event && x->comm == key->comm &&
	       x->pid == key->pid && x->tid == key->tid && x->cpu == key->cpu &&
	       x->cgroup == key->cgroup && x->chain == key->chain &&
	       (!x->nruns || !memcmp(t->runs.v + x->runs, runs, x->nruns * sizeof(*runs)));
}

static uint64_t hash_of(const struct tallied *key, const uint32_t *runs, uint64_t seed)
{
	uint64_t h = hash_bytes(runs, key->nruns * sizeof(*runs), seed);
	h = hash_u64(h ^ ((uint64_t)key->comm << 32 | key->event << 1 | key->chain));
	h ^= hash_u64((uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid);
	return hash_u64(h ^ ((uint64_t)key->cgroup << 32 | key->cpu));
}

static int add(struct tally *t, const struct tallied *key, const uint32_t *runs, uint64_t h)
{
	struct tallied x = *key;
	x.runs = t->runs.n;
	if (t->v.n >= UINT32_MAX - 1 || vec_reserve(&t->runs, x.nruns) || vec_push(&t->v, x))
		return ERR_NOMEM;
	if (x.nruns)
		memcpy(t->runs.v + t->runs.n, runs, x.nruns * sizeof(*runs));
	t->runs.n += x.nruns;
	return idmap_put(&t->index, h, (uint32_t)(t->v.n - 1));
}

static int count(struct tally *t, const struct tallied *key, const uint32_t *runs, uint64_t h)
{
	size_t at = 0;
	for (uint32_t id; idmap_next(&t->index, h, &at, &id);) {
		struct tallied *x = &t->v.v[id];
		if (!same(t, x, key, runs))
			continue;
		x->weight += key->weight;
		x->samples += key->samples;
		return 0;
	}
	return add(t, key, runs, h);
}

/* Each loop prefetches what the next one reads. */
static int count_batch(struct tally *t)
{
	struct tally_batch *b = t->batch;
	int rc = 0;
	for (size_t i = 0; i < b->n; i++) {
		size_t at = 0;
		uint32_t id;
		int is_known = idmap_next(&t->index, b->v[i].hash, &at, &id);
		b->v[i].likely = is_known ? &t->v.v[id] : NULL;
		__builtin_prefetch(b->v[i].likely);
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].likely)
			__builtin_prefetch(t->runs.v + b->v[i].likely->runs);
	for (size_t i = 0; !rc && i < b->n; i++) {
		const struct tallied *key = &b->v[i].key;
		rc = count(t, key, b->runs.v + key->runs, b->v[i].hash);
	}
	b->n = b->runs.n = 0;
	return rc;
}

int tally_add(struct tally *t, const struct tallied *key, const uint32_t *runs, size_t n)
{
	struct tally_batch *b = t->batch;
	if (!b) {
		b = t->batch = mem_zalloc(1, sizeof(*b));
		if (!b)
			return ERR_NOMEM;
		b->seed = hash_seed();
	}
	if (vec_reserve(&b->runs, n + 1))
		return ERR_NOMEM;
	if (n)
		memcpy(b->runs.v + b->runs.n, runs, n * sizeof(*runs));
	struct tallied *to = &b->v[b->n].key;
	*to = *key;
	to->runs = b->runs.n;
	to->nruns = (uint32_t)n;
	b->v[b->n].hash = hash_of(to, runs, b->seed);
	__builtin_prefetch(idmap_first(&t->index, b->v[b->n].hash));
	b->runs.n += n;
	return ++b->n < BATCH ? 0 : count_batch(t);
}

static void batch_free(struct tally *t)
{
	if (t->batch)
		vec_release(&t->batch->runs);
	mem_free(t->batch);
	t->batch = NULL;
}

int tally_finish(struct tally *t)
{
	int rc = t->batch ? count_batch(t) : 0;
	batch_free(t);
	idmap_release(&t->index);
	return rc;
}

/* --- in order -------------------------------------------------------------------------------
 */

static size_t count_frames(const struct tally *t, const struct names *n)
{
	size_t frames = 0;
	for (size_t i = 0; i < t->runs.n; i++)
		frames += n->runs.v[t->runs.v[i]].n;
	return frames;
}

/* Put the frames of a stack's runs, leaf first, in front of t->runs.v[end], so that they are
 * root first there. Returns where they begin. */
static size_t put_frames(struct tally *t, const struct names *n, const uint32_t *runs,
			 uint32_t nruns, size_t end)
{
	for (uint32_t k = 0; k < nruns; k++) {
		const struct frame_run *r = &n->runs.v[runs[k]];
		end -= r->n;
		memcpy(t->runs.v + end, n->frames.v + r->at, r->n * sizeof(*runs));
	}
	return end;
}

/* Replace runs by frames, root first, in the same list: different runs may have equal frames.
 * Every run has a frame, so a stack's frames end no further in front than its runs do: from the
 * last stack on, only the stack's own runs are overwritten before they are read. */
static int expand(struct tally *t, const struct names *n)
{
	VEC(uint32_t) own = {0};
	size_t end = count_frames(t, n);
	int rc = vec_reserve(&t->runs, end - t->runs.n) ? ERR_NOMEM : 0;
	t->runs.n = rc ? 0 : end;
	for (size_t i = t->v.n; !rc && i-- > 0;) {
		struct tallied *x = &t->v.v[i];
		own.n = 0;
		rc = vec_reserve(&own, x->nruns);
		if (rc || !x->nruns)
			continue;
		memcpy(own.v, t->runs.v + x->runs, x->nruns * sizeof(*own.v));
		x->runs = put_frames(t, n, own.v, x->nruns, end);
		x->nruns = (uint32_t)(end - x->runs);
		end = x->runs;
	}
	vec_release(&own);
	return rc;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* The order of stacks with equal frames. */
static int compare_keys(const struct tallied *x, const struct tallied *y)
{
	int c = compare_u32(x->comm, y->comm);
	c = c ? c : compare_u32(x->event, y->event);
	c = c ? c : compare_u32((uint32_t)x->pid, (uint32_t)y->pid);
	c = c ? c : compare_u32((uint32_t)x->tid, (uint32_t)y->tid);
	c = c ? c : compare_u32(x->cpu, y->cpu);
	c = c ? c : compare_u32(x->cgroup, y->cgroup);
	return c ? c : compare_u32(x->chain, y->chain);
}

/* tally_compare for stacks whose first `shared` frames are equal. */
static int compare_from(uint32_t shared, const struct tally *t, const struct tallied *x,
			const struct tally *u, const struct tallied *y)
{
	const uint32_t *a = t->runs.v + x->runs, *b = u->runs.v + y->runs;
	uint32_t n = x->nruns < y->nruns ? x->nruns : y->nruns;
	for (uint32_t i = shared; i < n; i++)
		if (a[i] != b[i])
			return compare_u32(a[i], b[i]);
	return x->nruns != y->nruns ? compare_u32(x->nruns, y->nruns) : compare_keys(x, y);
}

int tally_compare(const struct tally *t, const struct tallied *x, const struct tally *u,
		  const struct tallied *y)
{
	return compare_from(0, t, x, u, y);
}

/* A stack being sorted: `key` is its frame at the current depth, 0 after its last. This is the
 * sort of strings by characters (multikey quicksort): shared frames are not compared again. */
struct sorted {
	const uint32_t *frames;
	uint32_t n, key, id;
};

struct range {
	size_t from, n;
	uint32_t depth;
	int read; /* keys are those of `depth` */
};

struct sorter {
	struct tally *t;
	struct sorted *v;
	VEC(struct range) left; /* not yet sorted */
};

static void swap_sorted(struct sorted *a, struct sorted *b)
{
	struct sorted x = *a;
	*a = *b;
	*b = x;
}

/* The order of two stacks with the same frames. */
static int by_key(const void *a, const void *b, void *tally)
{
	const struct tally *t = tally;
	return compare_keys(&t->v.v[((const struct sorted *)a)->id],
			    &t->v.v[((const struct sorted *)b)->id]);
}

static int by_rest(const struct tally *t, const struct sorted *a, const struct sorted *b,
		   uint32_t depth)
{
	return compare_from(depth, t, &t->v.v[a->id], t, &t->v.v[b->id]);
}

static void sort_few(const struct sorter *s, const struct range *r)
{
	struct sorted *v = s->v + r->from;
	for (size_t i = 1; i < r->n; i++)
		for (size_t k = i; k && by_rest(s->t, &v[k - 1], &v[k], r->depth) > 0; k--)
			swap_sorted(&v[k - 1], &v[k]);
}

static void read_keys(struct sorted *v, size_t n, uint32_t depth)
{
	for (size_t i = 0; i < n; i++)
		v[i].key = depth < v[i].n ? v[i].frames[depth] : 0;
}

/* Partition by the key of a randomly chosen stack, so that no input can force the worst case:
 * less, equal, more. */
static void split(struct sorted *v, size_t n, size_t *less, size_t *more)
{
	uint32_t pivot = v[hash_u64(n ^ hash_seed()) % n].key;
	size_t lo = 0, hi = n;
	for (size_t i = 0; i < hi;) {
		if (v[i].key < pivot)
			swap_sorted(&v[lo++], &v[i++]);
		else if (v[i].key > pivot)
			swap_sorted(&v[i], &v[--hi]);
		else
			i++;
	}
	*less = lo;
	*more = hi;
}

static int sort_range(struct sorter *s, struct range r)
{
	enum { FEW = 8 };
	size_t less, more;
	if (r.n <= FEW) {
		sort_few(s, &r);
		return 0;
	}
	if (!r.read)
		read_keys(s->v + r.from, r.n, r.depth);
	split(s->v + r.from, r.n, &less, &more);
	uint32_t key = s->v[r.from + less].key;
	struct range parts[] = {{r.from, less, r.depth, 1},
				{r.from + more, r.n - more, r.depth, 1},
				{r.from + less, more - less, r.depth + 1, 0}};
	if (!key) /* all stacks end here: they differ by thread, CPU … */
		qsort_r(s->v + parts[2].from, parts[2].n, sizeof(*s->v), by_key, s->t);
	for (size_t i = 0; i < (key ? 3 : 2); i++)
		if (parts[i].n > 1 && vec_push(&s->left, parts[i]))
			return ERR_NOMEM;
	return 0;
}

static int sort_all(struct sorter *s)
{
	int rc = vec_push(&s->left, ((struct range){0, s->t->v.n, 0, 0}));
	while (!rc && s->left.n)
		rc = sort_range(s, s->left.v[--s->left.n]);
	return rc;
}

/* Put each where it was sorted to, without a second list: around each cycle. */
static void place_all(struct tally *t, struct sorted *v)
{
	for (uint32_t i = 0; i < t->v.n; i++) {
		struct tallied first = t->v.v[i];
		uint32_t to = i, from = v[i].id;
		for (; from != i; from = v[to].id) {
			t->v.v[to] = t->v.v[from];
			v[to].id = to;
			to = from;
		}
		t->v.v[to] = first;
		v[to].id = to;
	}
}

int tally_sort(struct tally *t, const struct names *n)
{
	struct sorter s = {.t = t};
	s.v = mem_alloc(t->v.n * sizeof(*s.v));
	int rc = s.v ? expand(t, n) : ERR_NOMEM;
	for (size_t i = 0; !rc && i < t->v.n; i++) {
		const struct tallied *x = &t->v.v[i];
		s.v[i] = (struct sorted){t->runs.v + x->runs, x->nruns, 0, (uint32_t)i};
	}
	rc = rc ? rc : sort_all(&s);
	if (!rc)
		place_all(t, s.v);
	vec_release(&s.left);
	mem_free(s.v);
	return rc;
}

void tally_release(struct tally *t)
{
	batch_free(t);
	vec_release(&t->v);
	vec_release(&t->runs);
	idmap_release(&t->index);
}
