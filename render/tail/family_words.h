/*
 * family_words.h - what most of the worst episodes waited for, if their roots are too different
 * for one sentence about one root: "waiting for the PostgreSQL row or table lock; its holder
 * lacked a CPU in 43 of them".
 */
#ifndef RENDER_TAIL_FAMILY_WORDS_H
#define RENDER_TAIL_FAMILY_WORDS_H

#include "libtime/explain/family.h"
#include "base/text/buf.h"

/* How much of it is said: all, not where they waited, not who kept them waiting. */
enum { FAMILY_FULL, FAMILY_NO_PLACE, FAMILY_ALONE, FAMILY_LEVELS };

/* Append what the episodes of t->family waited for, without a full stop. */
void describe_family(struct buf *b, const struct tail *t, unsigned level);

/* Append a sentence about who had the CPU that its roots lacked, if the first did not say so:
 * " cc1 had that CPU in 32 of them." */
void describe_family_takers(struct buf *b, const struct tail *t);

#endif
