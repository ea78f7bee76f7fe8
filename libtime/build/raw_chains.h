/*
 * raw_chains.h - interns callchains as raw words while a recording is read, and names each
 * distinct one at the end, or every one meanwhile.
 *
 *	raw_chains_intern(&c, &entry, &id);     // per sample
 *	raw_chains_name(&c, &names, path, &e);  // path[id] = its call path
 */
#ifndef LIBTIME_BUILD_RAW_CHAINS_H
#define LIBTIME_BUILD_RAW_CHAINS_H

#include "base/arena.h"
#include "base/hash.h"
#include "libsym/aggregate.h"
#include "libsym/names.h"
#include "libtime/build/chain_namer.h"

/* Zero-initialised is empty. Number 0 stands for "no stack". */
struct raw_chains {
	VEC(struct stack_entry) v; /* [0] is a dummy */
	struct idmap index;
	uint64_t seed;       /* of the hash */
	uint32_t single[64]; /* recent chains of one word, by hash; 0: none */
	struct arena words;
	int stay;                  /* raw words outlive the chains, so they are not copied */
	uint32_t cpu;              /* of the next stacks */
	struct chain_namer *namer; /* names them meanwhile; NULL: none does */
	uint32_t *named;           /* the paths that it has made, from number 1 on */
};

/*
 * Name chains on threads of their own while a recording is read (chain_namer.h). All chains
 * must be new. If there are no threads, nothing happens, and all are named at the end.
 */
void raw_chains_name_early(struct raw_chains *c, struct names *names);

/* Wait until these chains are named. 0 or ERR_NOMEM. */
int raw_chains_name_wait(struct raw_chains *c);

/* The number of a callchain. Those with equal words, address space (process, if unknown),
 * version, kind and cpumode have the same, unless they are named early: then each has a number
 * of its own. Words of a new one are copied, unless they stay. ERR_NOMEM. */
int raw_chains_intern(struct raw_chains *c, const struct stack_entry *x, uint32_t *id);

/* 1 if there are, or may be, chains: to be asked before raw_chains_name. */
static inline int raw_chains_any(const struct raw_chains *c)
{
	return c->v.n > 1 || c->namer || c->named;
}

/* Name all, or the rest: (*path)[number] is its call path, (*path)[0] is 0. The caller frees
 * the array (mem_free). ERR_NOMEM. */
int raw_chains_name(struct raw_chains *c, struct names *names, uint32_t **path, struct err *e);

/* Release everything; empty afterwards. */
void raw_chains_release(struct raw_chains *c);

#endif
