/*
 * chain_namer.h - names callchains on two threads of its own, while a recording is read.
 *
 *	caller ──batch of a CPU──► frames ──► call paths
 *
 * Each sample's chain is named, even if an equal one was: on a busy host so many chains are new
 * that looking for equal ones costs more than it saves. Consecutive samples of one CPU are often
 * of one thread and share callers, which need no lookup; so a batch has those of one CPU. Both
 * threads take batches in the order in which they became full: equal recordings give equal
 * paths.
 *
 * Meanwhile the machine must know all records, nobody else may prepare modules or make paths,
 * and whoever interns strings holds the modules' lock.
 */
#ifndef LIBTIME_BUILD_CHAIN_NAMER_H
#define LIBTIME_BUILD_CHAIN_NAMER_H

#include "libsym/names.h"

struct chain_namer;

/* NULL if memory or a thread is missing. */
struct chain_namer *chain_namer_new(struct names *names);

/* Queue a chain of a sample on `cpu`, waiting while the queue is full. *id counts from 1. The
 * words are copied unless they `stay`. ERR_NOMEM. */
int chain_namer_add(struct chain_namer *n, const struct stack_entry *x, uint32_t cpu, int stay,
		    uint32_t *id);

/* Wait until all are named, and free the namer: (*paths)[id] is a chain's call path, for the
 * caller to free (mem_free); (*paths)[0] is 0. ERR_NOMEM: *paths is NULL. */
int chain_namer_end(struct chain_namer *n, uint32_t **paths);

#endif
