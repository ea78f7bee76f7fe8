/*
 * told_family.h - what most of the worst episodes waited for, if their roots are too different
 * for one sentence about one root: "waiting for the PostgreSQL row or table lock; its holder
 * lacked a CPU in 43 of them".
 */
#ifndef LIBTIME_EXPLAIN_TOLD_FAMILY_H
#define LIBTIME_EXPLAIN_TOLD_FAMILY_H

#include "libtime/explain/told.h"

/* What the episodes of t->family waited for. */
void told_family(struct told *to, const struct tail *t);

/* A sentence about who had the CPU that its roots lacked, if the first did not say so: " cc1 had
 * that CPU in 32." */
void told_family_takers(struct told *to, const struct tail *t);

#endif
