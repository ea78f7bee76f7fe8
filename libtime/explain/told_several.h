/*
 * told_several.h - the sentence's clauses about several threads (several.h), of the rows of a
 * group, or of t->family for NULL. Each says what is so in most of them, and in how many; 0, and
 * nothing is said, if there is no such thing.
 */
#ifndef LIBTIME_EXPLAIN_TOLD_SEVERAL_H
#define LIBTIME_EXPLAIN_TOLD_SEVERAL_H

#include "libtime/explain/told.h"

/* ". ringer had woken 40 threads named worker within 1.2 ms in ring()". */
int told_crowd(struct told *to, const struct tail *t, const struct tail_group *g);

/* ". All 4 threads named pool-worker were busy meanwhile, running derive_key()". */
int told_pool(struct told *to, const struct tail *t, const struct tail_group *g);

/* ", which 3 readers named render held in overlapping turns", of the rows that waited for a
 * reader/writer lock. */
int told_readers(struct told *to, const struct tail *t, const struct tail_group *g);

#endif
