#include "libtime/build/raw_chains.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static_assert(sizeof(struct stack_entry) <= 48, "millions are kept until the end");

enum {
	BATCH = 1024,
	QUEUED = 256, /* batches waiting; more hold up the caller */
};

struct chain_batch {
	struct chain_batch *next;
	size_t n;
	struct stack_entry v[BATCH];
};

struct chain_namer {
	struct names *names;
	pthread_t thread;
	VEC(uint32_t) path;       /* the thread's: of each chain, from number 1 on */
	struct chain_batch *open; /* the caller's, being filled */
	/* all below is under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chain_batch *first, *last; /* to be named */
	size_t queued;
	int closing, rc;
};

/* --- interning ------------------------------------------------------------------------ */

static int hand_over(struct chain_namer *n, const struct stack_entry *x);

static int same_chain(const struct stack_entry *a, const struct stack_entry *x)
{
	return a->nwords == x->nwords && a->space == x->space && a->version == x->version &&
	       (a->space != NO_ID || a->pid == x->pid) && a->kind == x->kind &&
	       a->cpumode == x->cpumode && !memcmp(a->words, x->words, (size_t)x->nwords * 8);
}

static int add(struct raw_chains *c, const struct stack_entry *x, uint64_t hash, uint32_t *id)
{
	struct stack_entry fresh = *x;
	if (!c->v.n && vec_push(&c->v, (struct stack_entry){0}))
		return ERR_NOMEM;
	if (c->v.n >= UINT32_MAX - 1)
		return ERR_NOMEM;
	if (!c->stay || x->kind != CHAIN_RAW) {
		uint8_t *copy = arena_alloc(&c->words, (size_t)x->nwords * 8);
		if (!copy)
			return ERR_NOMEM;
		fresh.words = memcpy(copy, x->words, (size_t)x->nwords * 8);
	}
	*id = (uint32_t)c->v.n;
	if (vec_push(&c->v, fresh) || idmap_put(&c->index, hash, *id))
		return ERR_NOMEM;
	return c->namer ? hand_over(c->namer, &fresh) : 0;
}

int raw_chains_intern(struct raw_chains *c, const struct stack_entry *x, uint32_t *id)
{
	c->seed = c->seed ? c->seed : hash_seed();
	uint32_t owner = x->space == NO_ID ? ~(uint32_t)x->pid : x->space;
	uint64_t h = hash_bytes(x->words, (size_t)x->nwords * 8, c->seed) ^
		     hash_u64((uint64_t)owner << 32 ^ (uint64_t)x->version << 8 ^ x->kind);
	size_t at = 0;
	while (idmap_next(&c->index, h, &at, id))
		if (same_chain(&c->v.v[*id], x))
			return 0;
	return add(c, x, h, id);
}

/* --- naming meanwhile ----------------------------------------------------------------- */

static int name_batch(struct chain_namer *n, const struct chain_batch *b)
{
	int r = 0;
	for (size_t i = 0; !r && i < b->n; i++) {
		uint32_t path;
		r = names_symbolize(n->names, &b->v[i], &path, NULL);
		r = r ? r : vec_push(&n->path, path);
	}
	return r;
}

/* The thread. After a failure it only empties the queue. */
static void *name_batches(void *namer)
{
	struct chain_namer *n = namer;
	pthread_mutex_lock(&n->lock);
	for (;;) {
		while (!n->first && !n->closing)
			pthread_cond_wait(&n->changed, &n->lock);
		struct chain_batch *b = n->first;
		if (!b)
			break;
		int r = n->rc;
		pthread_mutex_unlock(&n->lock);
		r = r ? r : name_batch(n, b);
		pthread_mutex_lock(&n->lock);
		n->first = b->next;
		n->queued--;
		n->rc = r;
		pthread_cond_signal(&n->changed);
		mem_free(b);
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

/* Queue the batch being filled as soon as there is room. */
static void queue_batch(struct chain_namer *n)
{
	struct chain_batch *b = n->open;
	n->open = NULL;
	pthread_mutex_lock(&n->lock);
	while (n->queued == QUEUED)
		pthread_cond_wait(&n->changed, &n->lock);
	if (n->first)
		n->last->next = b;
	else
		n->first = b;
	n->last = b;
	n->queued++;
	pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

static int hand_over(struct chain_namer *n, const struct stack_entry *x)
{
	if (!n->open) {
		n->open = mem_alloc(sizeof(*n->open));
		if (!n->open)
			return ERR_NOMEM;
		n->open->next = NULL;
		n->open->n = 0;
	}
	n->open->v[n->open->n++] = *x;
	if (n->open->n == BATCH)
		queue_batch(n);
	return 0;
}

void raw_chains_name_early(struct raw_chains *c, struct names *names)
{
	struct chain_namer *n = mem_zalloc(1, sizeof(*n));
	if (!n)
		return;
	n->names = names;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->changed, NULL);
	if (!pthread_create(&n->thread, NULL, name_batches, n)) {
		c->namer = n;
		return;
	}
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	mem_free(n);
}

int raw_chains_name_wait(struct raw_chains *c)
{
	struct chain_namer *n = c->namer;
	if (!n)
		return 0;
	if (n->open)
		queue_batch(n);
	pthread_mutex_lock(&n->lock);
	n->closing = 1;
	pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	int r = n->rc;
	c->named = n->path.v;
	c->nnamed = n->path.n;
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	mem_free(n);
	c->namer = NULL;
	return r;
}

/* --- the rest ------------------------------------------------------------------------- */

int raw_chains_name(struct raw_chains *c, struct names *names, uint32_t **path, struct err *e)
{
	uint32_t *out = mem_zalloc(c->v.n ? c->v.n : 1, sizeof(*out));
	int r = out ? 0 : err_nomem(e);
	if (!r && raw_chains_name_wait(c))
		r = err_nomem(e);
	if (!r && c->nnamed)
		memcpy(out + 1, c->named, c->nnamed * sizeof(*out));
	for (size_t i = 1 + c->nnamed; !r && i < c->v.n; i++)
		r = names_symbolize(names, &c->v.v[i], &out[i], e);
	if (r) {
		mem_free(out);
		out = NULL;
	}
	*path = out;
	return r;
}

void raw_chains_release(struct raw_chains *c)
{
	(void)raw_chains_name_wait(c); /* released early only after a failure */
	mem_free(c->named);
	vec_release(&c->v);
	idmap_release(&c->index);
	arena_release(&c->words);
}
