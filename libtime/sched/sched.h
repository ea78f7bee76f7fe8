/*
 * sched.h - scheduler events in time order → the off-CPU intervals of a timeline.
 *
 * The machine knows nothing of perf.data: a reader of recordings (build.h) or a test
 * turns each record into one struct sched_event. What it believes and the states it moves
 * through are drawn in sched_internal.h. Memory grows with threads and intervals only.
 *
 *	struct sched *s;
 *	sched_new(&tl, TL_HAS_WAKEUP | ..., &s, e);
 *	while (next record) sched_event(s, &ev, e);
 *	sched_finish(s, last_ns, e);        // closes what is open, then timeline_finish
 *	sched_free(s);
 */
#ifndef LIBTIME_SCHED_SCHED_H
#define LIBTIME_SCHED_SCHED_H

#include "libtime/sched/timeline.h"

enum sched_kind {
	SCHED_SWITCH,     /* sched:sched_switch */
	SCHED_WAKING,     /* sched:sched_waking: `target` is about to be woken */
	SCHED_WAKEUP,     /* sched:sched_wakeup: `target` is runnable */
	SCHED_MIGRATE,    /* sched:sched_migrate_task: `target` goes from_cpu → to_cpu */
	SCHED_WAKEUP_NEW, /* sched:sched_wakeup_new: a new thread is runnable */
	SCHED_FORK,       /* `target` was created (sched_process_fork, PERF_RECORD_FORK) */
	SCHED_COMM,       /* `target` is now called target_comm (exec or rename) */
	SCHED_EXIT,       /* `target` is exiting; its last switch is still to come */
	SCHED_LEAVING, /* sched:sched_switch without its fields: the stack with which `tid` leaves
			  its CPU, just before the SCHED_OUT that says so */
	SCHED_OUT,     /* PERF_RECORD_SWITCH{,_CPU_WIDE} out: `tid` leaves the CPU */
	SCHED_IN,      /* PERF_RECORD_SWITCH{,_CPU_WIDE} in: `tid` got the CPU */
	SCHED_LOST,    /* `count` records lost on this CPU in (from_ns, time_ns] */
	SCHED_THROTTLED, /* a scheduler event was throttled on this CPU in (from_ns, time_ns] */
	SCHED_DIRECT,    /* `target` was off a CPU in [from_ns, time_ns): --off-cpu, direct */
	SCHED_OTHER,     /* any other record with a CPU: shows which thread is current there */
};

/* What a switch-out's prev_state means, whatever its bits are (prev_state.h). */
enum state_class {
	STATE_BLOCKED, /* S, D, T, ...; also the class of a SWITCH record without preempt */
	STATE_RUNNING, /* R, R+ */
	STATE_DEAD,    /* X, Z, x: this thread's last switch */
};

enum { SCHED_COMM_SIZE = 16 }; /* TASK_COMM_LEN */

struct sched_event {
	uint64_t time_ns;
	uint64_t from_ns, count; /* SCHED_LOST, SCHED_THROTTLED, SCHED_DIRECT; LOST: from 0 =
				    this CPU's last record */
	/* may be NULL; read during the call, up to their NUL or SCHED_COMM_SIZE - 1 bytes */
	const char *prev_comm, *next_comm, *target_comm;
	uint32_t path;              /* call path of the record; 0 = none */
	int32_t pid, tid;           /* the record's own (current task's); -1 where not known */
	int32_t prev_tid, next_tid; /* SCHED_SWITCH, raw fields */
	int32_t target_tid, target_pid; /* of wakeups, fork, comm, exit; pid -1 = not known */
	int16_t next_prio;              /* -1 = not known */
	uint16_t cpu;                   /* TL_NOCPU where the record has none */
	/* SCHED_MIGRATE; to_cpu: also of WAKEUP*, in whose run queue it puts `target`. TL_NOCPU
	 * where not known */
	uint16_t from_cpu, to_cpu;
	uint16_t syscall; /* SCHED_SWITCH, OUT: index of timeline.syscalls that `prev` is in */
	uint16_t arg;     /* SCHED_SWITCH: index of timeline.args, its first argument */
	uint8_t kind;     /* enum sched_kind */
	uint8_t state;    /* SCHED_SWITCH: index of timeline.states */
	uint8_t state_class;
	uint8_t context;     /* SCHED_WAKING, WAKEUP*: enum waker_context */
	uint8_t preempt;     /* SCHED_OUT: the preempt bit of the record's misc */
	uint8_t no_stack;    /* the record carried no callchain */
	uint8_t whole_comms; /* all SCHED_COMM_SIZE bytes of each name can be read */
};

struct sched;

/* A machine that writes into `tl` (initialised, borrowed). tl->flags must already say
 * TL_PER_TASK (suspends the chain rule) and TL_HAS_WAKEUP/WAKING. ERR_NOMEM. */
int sched_new(struct timeline *tl, struct sched **out, struct err *e);

/*
 * One event; times must not decrease. An event that contradicts the machine's state makes a
 * hole or an unknown interval, never a failure. ERR_NOMEM; ERR_IO where there is no room for
 * the intervals (bigvec.h); ERR_LIMIT past 2^32 - 2 threads.
 */
int sched_event(struct sched *s, const struct sched_event *ev, struct err *e);

/*
 * Add the stack to an event that came at `first_ns` without one, when another perf event has
 * recorded the same tracepoint. Only kind, path, arg, prev_tid and target_tid of `ev` are used.
 * Nothing happens if that event has a stack or its interval has been completed. ERR_NOMEM.
 */
int sched_add_stack(struct sched *s, const struct sched_event *ev, uint64_t first_ns,
		    struct err *e);

/* The thread that has this tid now, or a new one (its life then starts when a record first
 * shows its state). pid -1 = not known; comm may be NULL. For samples and names. tid 0 and
 * below give TL_NONE. ERR_NOMEM. */
int sched_thread(struct sched *s, int32_t pid, int32_t tid, const char *comm, uint32_t *thread,
		 struct err *e);

/* The name of the thread that has this tid now; "" if no thread has it. */
void sched_comm_of(const struct sched *s, int32_t tid, char comm[SCHED_COMM_SIZE]);

/* A thread for samples that belong to no thread of the timeline: those of the idle task (tid
 * 0), of a task whose tid perf no longer knew (-1), of a tid that another process has now. It
 * has no life. ERR_NOMEM. */
int sched_pseudo_thread(struct sched *s, int32_t pid, int32_t tid, uint64_t ns,
			uint32_t *thread, struct err *e);

/*
 * Close what is open at end_ns (at least the last event's time), set the lives and finish the
 * timeline. ERR_NOMEM. Only sched_free may follow.
 */
int sched_finish(struct sched *s, uint64_t end_ns, struct err *e);

/* NULL is accepted; the timeline stays. */
void sched_free(struct sched *s);

#endif
