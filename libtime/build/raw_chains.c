#include "libtime/build/raw_chains.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct stack_entry) <= 48, "millions are kept until the end");

/* --- interning ------------------------------------------------------------------------ */

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
	return vec_push(&c->v, fresh) ? ERR_NOMEM : idmap_put(&c->index, hash, *id);
}

static int find_or_add(struct raw_chains *c, const struct stack_entry *x, uint32_t *id)
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

/* Within a process, all samples of a tracepoint without stacks have the same address: the last
 * chain with the same hash is compared first. */
static int find_single(struct raw_chains *c, const struct stack_entry *x, uint32_t *id)
{
	uint64_t word;
	memcpy(&word, x->words, sizeof(word));
	uint32_t *at = &c->single[hash_u64(word ^ x->space) % 64];
	*id = *at;
	if (*at && same_chain(&c->v.v[*at], x))
		return 0;
	int r = find_or_add(c, x, id);
	*at = r ? 0 : *id;
	return r;
}

int raw_chains_intern(struct raw_chains *c, const struct stack_entry *x, uint32_t *id)
{
	if (c->namer)
		return chain_namer_add(c->namer, x, c->cpu, c->stay, id);
	return x->nwords == 1 ? find_single(c, x, id) : find_or_add(c, x, id);
}

/* --- naming --------------------------------------------------------------------------- */

void raw_chains_name_early(struct raw_chains *c, struct names *names)
{
	c->namer = chain_namer_new(names);
}

int raw_chains_name_wait(struct raw_chains *c)
{
	int r = c->namer ? chain_namer_end(c->namer, &c->named) : 0;
	c->namer = NULL;
	return r;
}

int raw_chains_name(struct raw_chains *c, struct names *names, uint32_t **path, struct err *e)
{
	int r = raw_chains_name_wait(c) ? err_nomem(e) : 0;
	uint32_t *out = c->named;
	c->named = NULL;
	if (!r && !out && !(out = mem_zalloc(c->v.n + 1, sizeof(*out))))
		r = err_nomem(e);
	for (size_t i = 1; !r && i < c->v.n; i++)
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
