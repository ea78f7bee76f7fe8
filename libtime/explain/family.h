/*
 * family.h - what most of the shown episodes waited for, whoever held them up.
 *
 *	#1  lock  holder waiting for a CPU, which cc1 had ┐
 *	#2  lock  holder waiting for the disk             ├ one family: that lock
 *	#3  lock  holder waiting for a CPU, which ld had  ┘
 *
 * Groups by root would say "cc1 had the CPU" of these, which is true of one.
 */
#ifndef LIBTIME_EXPLAIN_FAMILY_H
#define LIBTIME_EXPLAIN_FAMILY_H

#include "libtime/explain/tail_model.h"

/* Set t->family, when the groups are made. ERR_NOMEM. */
int family_find(struct tail *t);

/* 1 if a row is of t->family. */
int family_has(const struct tail *t, const struct tail_row *row);

#endif
