/*
 * branches.h - the branches that samples recorded (perf record -b; not call stacks), summed up by
 * their addresses.
 *
 *	entry 0   from ──► to     the last one
 *	entry 1   from ──► to     the one before; between its `to` and the `from` of entry 0 all
 *	...                       instructions ran, in entry 0's cycles
 *
 * Aggregates add them, perhaps several at the same time; addresses get their mappings at the end.
 */
#ifndef LIBSYM_BRANCHES_H
#define LIBSYM_BRANCHES_H

#include "libparse/sample.h"
#include "libsym/process/machine.h"

struct branch {
	uint32_t space;    /* the machine's */
	uint64_t from, to; /* of a run, its first and last instruction */
	uint64_t first;    /* time of its first sample */
	uint64_t taken, mispredicted;
	uint64_t cycles, timed; /* sum, of so many: not every processor counts them */
};

struct branch_set {
	struct idmap index;
	VEC(struct branch) v;
};

/* A run: the instructions between two branches, if all that are taken were recorded (-b). */
struct branches {
	struct branches_lock *lock;
	struct branch_set taken, runs;
};

/* A longer run is none: records between the two branches are missing. */
enum { RUN_BYTES_MAX = 1 << 16 };

/* Empty. ERR_NOMEM. */
int branches_init(struct branches *b);

/* Free the memory; valid for a zeroed object. */
void branches_release(struct branches *b);

/* Add a sample's branches, of the process with this space; `swap` as in sample.h. ERR_NOMEM. */
int branches_add(struct branches *b, const struct sample *s, uint32_t space, int swap);

/* 1 and *offset, where in the file of the machine's DSO `dso` a branch begins; 0: elsewhere. */
int branch_offset(const struct machine *m, const struct branch *b, uint32_t dso,
		  uint64_t *offset);

#endif
