/*
 * mechanism.h - what a wait was for, in words, by the frames of its stack. The head of
 * mechanisms.rules documents the rules.
 *
 *	... pthread_mutex_lock < take_gil < PyEval_RestoreThread < ...		"the GIL"
 *	... jbd2_log_wait_commit < ext4_sync_file < ...		"the ext4 journal's commit"
 */
#ifndef LIBTIME_CAUSES_MECHANISM_H
#define LIBTIME_CAUSES_MECHANISM_H

#include "libtime/sched/timeline.h"

enum mechanism_kind {
	MECHANISM_LOCK,
	MECHANISM_WAIT,
	MECHANISM_STATE,
	MECHANISM_STOP, /* only of waits with CAUSE_STOPPED */
	MECHANISM_DOING,
};

/* Bits by enum mechanism_kind: which rules are asked. */
enum {
	MECHANISMS_OF_WAIT = 1 << MECHANISM_LOCK | 1 << MECHANISM_WAIT | 1 << MECHANISM_STATE,
	MECHANISMS_OF_STOP = 1 << MECHANISM_STOP,
	MECHANISMS_OF_RUNNING = 1 << MECHANISM_STATE,
};

/* What tells one lock of that kind from another. */
enum lock_by {
	LOCK_BY_ADDRESS,     /* its futex, if that is known; else the place of the wait */
	LOCK_BY_PROCESS,     /* nothing: a process has one */
	LOCK_BY_THREAD,      /* the place: each thread waits at a futex of its own */
	LOCK_BY_MACHINE,     /* the place: processes share it */
	LOCK_BY_INTERPRETER, /* as LOCK_BY_PROCESS; threads have it while they interpret */
};

struct mechanism {
	const char *name;  /* "mmap_lock", for other programs */
	const char *words; /* "mmap_lock", "the ext4 journal's commit", "in fork" */
	const char *verb;  /* _WAIT, _STOP: what its waker did, "wrote"; else "" */
	uint8_t kind;      /* enum mechanism_kind */
	uint8_t by;        /* MECHANISM_LOCK: enum lock_by */
};

/* mechanisms.rules, compiled in. */
extern const char mechanisms_builtin[];

/* The table, and which of its conditions the frames of one timeline satisfy. */
struct mechanisms;

/* The built-in table for a finished timeline, which is borrowed. ERR_NOMEM. */
int mechanisms_new(const struct timeline *tl, struct mechanisms **out, struct err *e);

/* NULL is accepted. */
void mechanisms_free(struct mechanisms *m);

/* The mechanism of a wait, a stop or running code, by `kinds`: `path` is its stack,
 * `waker_path` the stack that ended it; 0: none. `timer_ns` is how long it took until a timer
 * interrupt sent the packet that ended it; 0: none did. NULL if no rule of these kinds
 * matches. It lives as long as the table. */
const struct mechanism *mechanism_of(struct mechanisms *m, unsigned kinds, uint32_t path,
				     uint32_t waker_path, uint64_t timer_ns);

/* What a thread of that name did while it kept another waiting: `path` is its hottest stack,
 * `waker_path` the one with which it ended the wait; 0: none. NULL if no rule matches. */
const struct mechanism *mechanism_doing(struct mechanisms *m, uint32_t path,
					uint32_t waker_path, uint32_t comm);

/* For tests: read rules instead of the built-in ones. ERR_FORMAT "NAME:LINE: ...", ERR_LIMIT,
 * ERR_NOMEM. */
int mechanisms_parse(const struct timeline *tl, const char *text, size_t n, const char *name,
		     struct mechanisms **out, struct err *e);

#endif
