/*
 * evidence.h - indexes over a finished timeline, for explanations: which thread had a CPU, what
 * samples and marks a thread has in a window, which lock waits it ended.
 *
 * An index is made when it is first needed.
 */
#ifndef LIBTIME_EXPLAIN_EVIDENCE_H
#define LIBTIME_EXPLAIN_EVIDENCE_H

#include "libtime/causes/app_frame.h"
#include "libtime/causes/mechanism.h"
#include "libtime/sched/by_thread.h"
#include "libtime/sched/disk_requests.h"
#include "libtime/sched/lock_mark.h"
#include "libtime/sched/timeline_query.h"

/* When a thread let a lock go that another one waited for. */
struct lock_release {
	uint64_t lock; /* its class: lock_class() */
	uint64_t time_ns;
	uint64_t address;        /* of the futex that was waited on; 0: not known */
	uint32_t thread, offcpu; /* who let it go, and the wait that this ended */
};

struct evidence {
	const struct timeline *tl; /* borrowed, finished */
	struct mechanisms *mechanisms;
	struct tl_runs runs;
	VEC(size_t) last_run; /* by CPU: where the last search ended */
	struct by_thread samples, marks, spans, interrupts; /* in order of time */
	VEC(struct lock_mark) lock_marks;                   /* by address and time */
	VEC(struct lock_release) releases;                  /* by lock and time */
	VEC(const struct mechanism *) lock_kinds;
	struct u64map lock_kind_of; /* stack → index of lock_kinds */
	disk_requests requests;     /* by end */
	struct u64map by_tid;       /* tid → the first thread that had it, ... */
	VEC(uint32_t) same_tid;     /* ... thread → the next one with its tid, or TL_NONE */
	VEC(uint32_t) functions;    /* by frame: the first frame of that function */
	struct u64map tally;        /* scratch of evidence_hot */
	VEC(uint64_t) weight;
	int have_runs, have_lock_marks, have_releases, have_tids, have_requests;
};

/* ERR_NOMEM; release it then, too. */
int evidence_init(struct evidence *x, const struct timeline *tl, struct err *e);
void evidence_release(struct evidence *x);

/* The function of a frame, as the first frame that has it: frames of different lines are equal
 * then. 0 for 0. */
uint32_t evidence_function(const struct evidence *x, uint32_t frame);

/* A stretch of a thread's time. */
struct window {
	uint64_t from_ns, to_ns;
	uint32_t thread;
};
typedef VEC(struct window) windows_vec;

/*
 * Append to *out the windows in which other threads than `thread` had `cpu` in [from, to), in
 * order of time, not overlapping. ERR_NOMEM.
 */
int evidence_holders(struct evidence *x, uint16_t cpu, uint64_t from_ns, uint64_t to_ns,
		     uint32_t thread, windows_vec *out, struct err *e);

/* The priority that a thread ran with on `cpu` at that time; -1: not known. */
int evidence_prio(struct evidence *x, uint16_t cpu, uint32_t thread, uint64_t at_ns);

/* 1 if some thread is known to have run on `cpu` before `at_ns`. If all switches were recorded,
 * everything that the CPU did since then is known. */
int evidence_knows_cpu(struct evidence *x, uint16_t cpu, uint64_t at_ns);

/* The idle state of `cpu` at that time, from marks of power:cpu_idle; -1: not known. */
int evidence_idle_state(const struct evidence *x, uint16_t cpu, uint64_t at_ns);

/* The time that recorded interrupts took in n windows of running threads; nested ones count
 * once. *vector (strings id) is the one that took most, or 0. ERR_NOMEM. */
int evidence_interrupted(struct evidence *x, const struct window *w, size_t n, uint64_t *ns,
			 uint32_t *vector, struct err *e);

/* What samples say about running time. */
struct hot {
	uint32_t path;     /* a stack of the function with most samples, called by what called
				 it in most of them; 0: no samples */
	uint32_t function; /* its frame id */
	uint64_t samples, of; /* samples in it, and in all windows */
	uint64_t beside;      /* those called like path */
	int vague;            /* no stack has a frame of the application */
	/* Samples inside interrupts, which are not counted above; a frame id of what one of
	 * them did. */
	uint64_t interrupted;
	uint32_t interrupt;
};

/* The application function with most samples in the windows. A sample counts for its innermost
 * application frame. If no sample has one, each counts for its innermost user frame, else its
 * leaf. ERR_NOMEM. */
int evidence_hot(struct evidence *x, const struct window *w, size_t n, struct hot *out,
		 struct err *e);

/* The thread that had a tid at a time, in the recording of thread `self`; else TL_NONE.
 * ERR_NOMEM. */
int evidence_thread_at(struct evidence *x, uint32_t self, long tid, uint64_t ns, uint32_t *out,
		       struct err *e);

/* Is it a wait for a lock, or for a futex that may be one? */
int offcpu_is_lock(const struct offcpu *o);

/*
 * The class of the lock that an interval waited for: 1, or 0 if it did not wait for a lock. Waits
 * of different classes are for different locks; those of one class may be. *kind is what the lock
 * is; NULL: not known. ERR_NOMEM.
 */
int evidence_lock_class(struct evidence *x, const struct offcpu *o, uint64_t *lock,
			const struct mechanism **kind, struct err *e);

/* The futex of a lock wait, from the system call or the probe; 0: not known. ERR_NOMEM. */
int evidence_lock_address(struct evidence *x, uint32_t offcpu, uint64_t *address,
			  struct err *e);

/* Did the thread that ended a wait for a lock of that kind (NULL: not known) let it go
 * thereby? 1, 0 or ERR_NOMEM. */
int evidence_is_release(struct evidence *x, const struct offcpu *o,
			const struct mechanism *kind, struct err *e);

/* The releases of a class of locks: releases[first..last). ERR_NOMEM. */
int evidence_releases(struct evidence *x, uint64_t lock, size_t *first, size_t *last,
		      struct err *e);

/* The last hit of the lock probe by the thread of interval `offcpu`, since it got the CPU
 * before that interval: 1, or 0 if there is none; ERR_NOMEM. */
int evidence_lock_mark(struct evidence *x, uint32_t offcpu, struct lock_mark *out,
		       struct err *e);

/* The probe's hits for a lock in (after, to), in order of time: lock_marks[first..last).
 * ERR_NOMEM. */
int evidence_lock_marks(struct evidence *x, uint64_t address, uint64_t after_ns, uint64_t to_ns,
			size_t *first, size_t *last, struct err *e);

/*
 * If no function has three quarters of the samples, but one function called those that have:
 * out->function and ->path become that caller, the innermost one with three quarters of the
 * samples in or below it, unless the thread began there.
 */
void evidence_caller(const struct evidence *x, const struct window *w, size_t n,
		     struct hot *out);

/* The disk request whose end ended the wait `offcpu`, from block events; NULL: not known. It
 * lives as long as x. ERR_NOMEM. */
int evidence_disk(struct evidence *x, uint32_t offcpu, const struct disk_request **out,
		  struct err *e);

/*
 * The function of the TCP timer that sent the packet which ended the wait, as a stack of its
 * own; 0: not known, or no timer did. Packets to this host wait in a queue of the CPU that
 * sends them until its next NET_RX, which on a busy machine ksoftirqd runs much later:
 *
 *	softirq NET_RX ┤     ├ TIMER: tcp_delack_timer ┤    ├ NET_RX: the wakeup
 */
uint32_t evidence_tcp_timer(const struct evidence *x, uint32_t offcpu);

/*
 * How long the wait took that a packet ended which a timer interrupt sent, where the timers
 * themselves were not recorded: a softirq TIMER on the CPU of the wakeup since packets were last
 * received there, and no program that might have sent it after that. 0: none did.
 */
uint64_t evidence_packet_timer(struct evidence *x, uint32_t offcpu);

/* 1 if the stack has a frame with one of these roles (frame_table.h). */
int evidence_stack_role(const struct timeline *tl, uint32_t path, unsigned roles);

/* 1 if the stack has a kernel function with one of these names; NULL ends the names. */
int evidence_stack_has(const struct timeline *tl, uint32_t path, const char *const *names);

/* A thread's marks in [from, to): marks.id[first..last), indexes of timeline.marks. */
int evidence_marks(struct evidence *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		   size_t *first, size_t *last, struct err *e);

/* A thread's samples in [from, to): samples.id[first..last), indexes of timeline.samples.
 * ERR_NOMEM. */
int evidence_samples(struct evidence *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     size_t *first, size_t *last, struct err *e);

/* A thread's spans that begin before `to`: spans.id[first..last), indexes of timeline.spans. */
int evidence_spans(struct evidence *x, uint32_t thread, uint64_t to_ns, size_t *first,
		   size_t *last, struct err *e);

#endif
