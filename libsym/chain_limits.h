/*
 * chain_limits.h - where the kernel cuts callchains: a chain with as many frames as it records
 * may lack its outermost callers.
 *
 * The limit is that of the event (perf record --call-graph fp,N; max-stack=N), else
 * kernel.perf_event_max_stack, which is not recorded: 127 unless someone raised it, as a longer
 * chain shows. Context markers do not count, except before Linux 4.7.
 */
#ifndef LIBSYM_CHAIN_LIMITS_H
#define LIBSYM_CHAIN_LIMITS_H

#include "libparse/recording.h"
#include "libparse/sample.h"
#include "libsym/unwind/stack_words.h"

/* The default of kernel.perf_event_max_stack. */
enum { CHAIN_USUAL = 127 };

struct chain_limits {
	const struct recording *rec; /* borrowed; NULL: chains are never cut */
	int raised; /* a chain is longer than CHAIN_USUAL: the kernel's own limit is not known */
};

/* The most frames of a callchain of this event, unless the kernel's limit was raised; 0: it has
 * no callchains, or their user part comes later. */
uint32_t chain_limit(const struct event_attr *a);

/* Note a sample, or all in the bytes [p, end) of records, before any stack is named. */
void chain_limits_note(struct chain_limits *c, const struct sample *s);
void chain_limits_note_run(struct chain_limits *c, const uint8_t *p, const uint8_t *end);

/* 1 when the callchain of an entry has as many frames as the kernel records; `swap`: its words
 * are in the other byte order. */
int chain_is_full(const struct chain_limits *c, const struct stack_entry *x, int swap);

#endif
