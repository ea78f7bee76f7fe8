/*
 * remedy.h - the `perf record` line that would have been right, from the one that was recorded.
 */
#ifndef LIBSTORE_REMEDY_H
#define LIBSTORE_REMEDY_H

#include "base/buf.h"

/* What is to change in the recorded line. */
enum remedy_drop {
	REMEDY_DROP_RATE = 1,    /* -F, -c */
	REMEDY_DROP_STACKS = 2,  /* -g, --call-graph */
	REMEDY_DROP_EVENTS = 4,  /* -e */
	REMEDY_DROP_TARGET = 8,  /* -p, -t, -u, -C, -a */
	REMEDY_DROP_RING = 16,   /* -m */
	REMEDY_DROP_CLOCK = 32,  /* -k */
	REMEDY_DROP_OUTPUT = 64, /* -o, -q: always dropped */
};

/* The events every question about waiting needs, each with its -e. */
extern const char remedy_sched_events[];

/*
 * Append `perf record ADD ...`, the rest being the recorded words (`cmdline`, joined by blanks,
 * may be NULL) without what `drop` names, quoted for sh. Where the recorded line is none of
 * perf record, or holds what cannot be quoted for certain: ADD and `-- COMMAND`.
 */
void remedy_record(struct buf *out, const char *cmdline, unsigned drop, const char *add);

#endif
