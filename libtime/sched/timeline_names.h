/*
 * timeline_names.h - the words for the enumerations of timeline.h, in outputs and stores.
 */
#ifndef LIBTIME_SCHED_TIMELINE_NAMES_H
#define LIBTIME_SCHED_TIMELINE_NAMES_H

/* "task", "softirq-inline", ...; "hole", "lost", "open edge", "missing wakeup"; "" for none. */
const char *waker_context_name(unsigned int context);
const char *unknown_reason_name(unsigned int reason);
const char *loss_kind_name(unsigned int kind);

/* "futex", "accepted", "epoll-connected"; "" for ARG_NONE. */
const char *wait_arg_name(unsigned int kind);

/* "work", "idle", "unclear"; "program's loop", ...; "dwarf", ...; "" past the
 * end, and for no stacks. */
const char *site_verdict_name(unsigned int verdict);
const char *site_reason_name(unsigned int reason);
const char *stack_kind_name(unsigned int kind);

#endif
