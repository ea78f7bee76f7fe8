/*
 * raw_chains.h - distinct callchains as raw words, numbered while a recording is read and named
 * at its end, each once.
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

/* Zero-initialised is empty. Number 0 stands for "no stack". */
struct raw_chains {
	VEC(struct raw_chain {
		struct stack_entry entry;
		uint64_t hash;
	})
	v; /* [0] is a dummy */
	struct idmap index;
	uint64_t seed; /* asked for once: it is a call of the C library */
	struct arena words;
	int stay; /* raw words stay where they are as long as the chains do: not copied */
};

/* The number of a callchain: equal words, address space (where it is not known, process),
 * version, kind and cpumode have one. The words are copied when new, unless they stay.
 * ERR_NOMEM. */
int raw_chains_intern(struct raw_chains *c, const struct stack_entry *x, uint32_t *id);

/* The call path of every number into a new array, the caller's to free; *path[0] is 0.
 * ERR_NOMEM. */
int raw_chains_name(const struct raw_chains *c, struct names *names, uint32_t **path,
		    struct err *e);

/* Give all back; empty then. */
void raw_chains_release(struct raw_chains *c);

#endif
