/*
 * cause.h - the mechanisms of waits, by number and by name. libtime/causes/causes.h
 * finds which one a wait has.
 */
#ifndef LIBTIME_SCHED_CAUSE_H
#define LIBTIME_SCHED_CAUSE_H

#include "base/err.h"

/* The mechanism of a wait; names in cause_name. Stored by name, never by number. */
enum cause {
	CAUSE_UNKNOWN,
	CAUSE_LOCK,
	CAUSE_RWLOCK,
	CAUSE_SEMAPHORE,
	CAUSE_COND,
	CAUSE_JOIN,
	CAUSE_BARRIER,
	CAUSE_FUTEX, /* a futex wait whose user frames do not show which of the above */
	CAUSE_SLEEP,
	CAUSE_POLL,
	CAUSE_NET,
	CAUSE_PIPE,
	CAUSE_IO,
	CAUSE_FAULT,
	CAUSE_CHILD,
	CAUSE_SIGNAL,
	CAUSE_THROTTLE,
	CAUSE_PREEMPT,
	CAUSE_RUNQUEUE, /* a new thread's first wait for a CPU */
	CAUSE_YIELD,
	CAUSE_STOPPED,
	CAUSE_EXIT,
	CAUSE_SAFEPOINT, /* of a JVM: until all its threads may go on */
	CAUSE_COUNT,
};

/* "lock", "unknown"; "" past the end. */
const char *cause_name(unsigned int cause);

/* The cause with that name; -1 if no cause has it. */
int cause_find(const char *name);

/* The same for a name that a user typed. ERR_USAGE, which lists the names. */
int cause_parse(const char *name, struct err *e);

#endif
