#include "libsym/tally.h"
#include "base/mem.h"

#include <string.h>

enum { BATCH = 32 };

struct tally_batch {
	uint64_t seed;
	size_t n;
	struct {
		struct tallied key;
		uint64_t hash;
		const struct tallied *likely; /* of the first id that its hash has; or NULL */
	} v[BATCH];
	VEC(uint32_t) runs; /* of all, key.runs is their place here */
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

/* Each loop asks for what the next one reads. */
static int count_batch(struct tally *t)
{
	struct tally_batch *b = t->batch;
	int rc = 0;
	for (size_t i = 0; i < b->n; i++) {
		size_t at = 0;
		uint32_t id;
		int met = idmap_next(&t->index, b->v[i].hash, &at, &id);
		b->v[i].likely = met ? &t->v.v[id] : NULL;
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

int tally_merge(struct tally *t, struct tally *from)
{
	int rc = 0;
	if (!t->v.n) {
		tally_release(t);
		*t = *from;
		*from = (struct tally){0};
		return 0;
	}
	for (size_t i = 0; !rc && i < from->v.n; i++) {
		const struct tallied *x = &from->v.v[i];
		rc = tally_add(t, x, from->runs.v + x->runs, x->nruns);
	}
	tally_release(from);
	return rc ? rc : tally_finish(t);
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
	return t->batch ? count_batch(t) : 0;
}

void tally_release(struct tally *t)
{
	batch_free(t);
	vec_release(&t->v);
	vec_release(&t->runs);
	idmap_release(&t->index);
}
