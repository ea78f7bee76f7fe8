/*
 * sched_internal.h - what the parts of the state machine (sched.h) share, and its drawing.
 *
 *	sched.c         threads and CPUs, their lives, losses; public functions
 *	sched_offcpu.c  lives and off-CPU intervals: how they begin and end
 *	sched_switch.c  switches, and what they contradict
 *	sched_wake.c    wakeups and migrations
 *	sched_skew.c    clocks of CPUs that differ
 *
 * A thread, as the machine sees it:
 *
 *	          waking, wakeup_new                switch: prev (blocked, running)
 *	 UNSEEN ────────────────────► OFF ◄──────────────────────────────── RUNNING
 *	    │                          │  ▲   lost_out: found elsewhere        ▲ │
 *	    │                          │  └───────────────────────────────────┼─┤
 *	    │                          └──────────────────────────────────────┘ │
 *	    │                       switch: next; arrive: prev without a next   │
 *	    └───────────────────────────────────────────────────────────────────┤
 *	              switch: next; first record of a CPU           switch: prev (dead)
 *	                                                                        ▼
 *	                       fork, wakeup_new, any later mention = another  DEAD
 *
 * Invariants, true between two calls of sched_event:
 *  1. A thread in OFF has exactly one interval being built (`offcpu`), which starts at or after
 *     the end of its last emitted one. In the other states it has none.
 *  2. A thread in RUNNING is believed to be on cpu[t->cpu]; at most one thread that is RUNNING
 *     names a given CPU, and then cpu.cur_tid is its tid, unless cur_tid is not known (-1).
 *  3. Emitted intervals of one thread are pushed in the order of time and never overlap; what
 *     is between them is running.
 *  4. `wake` of an OFF thread is the last waking before the first wakeup; `early` of a RUNNING
 *     one is a waking no wakeup has followed yet: it belongs to the next sleep if that one is
 *     ended by a wakeup without a waking of its own (the waker raced with the switch-out).
 *  5. Keys are the raw fields of the tracepoints. The record's own tid (-1 for exiting threads)
 *     only serves to say who is current where no switch has said so.
 *
 * Bounds. A missing record is a fact with limits; every kind of gap leaves [low, high]. Within
 * 1 % or 5 us a length is known, else suspect. Where a record is missing for certain (1, 2, 4),
 * the slack between them is an interval of its own, OFF_REST, of state unknown: no sum, view
 * or picture takes it for blocked or runnable time. Up to 5 us it stays in the wait, as
 * offcpu.slack_ns, which says the same where records are perhaps missing (5, 6): there the
 * states are as recorded.
 *
 *	Y off        waking w   lo          hi  Y's first trace
 *	├── blocked ────┤┄┄┄┄┄┄┄┄├──────────┤── runs
 *	    exact         runnable  OFF_REST
 *
 *  1. X → Y is missing. Y's wait ended in [lo, hi]: lo is the last record that shows X on the
 *     CPU (not before w), hi the first that shows Y there. Exact: its begin, its stack, its
 *     blocked part. Idle → Y is the commonest (virtual machines whose perf does not see the
 *     idle task; a filter on prev_pid).
 *  2. The same for X: it left in [lo, hi]. Until a record shows X again it ran or waited, for
 *     a reason that is unknown: low is 0. A waking proves that it slept before.
 *     On an idle CPU nothing waits: without a waking, Y was woken in [lo, hi], too.
 *  3. A waking is missing: the length is exact, its division is unknown; of a wakeup without
 *     its waking only the waker is.
 *  4. A thread is woken twice and did not run in between: it did. The wait ended in [first
 *     waking, second]; how long it slept after that is unknown.
 *  5. LOST covers (from, to] of a CPU: what it touches may have ended from `from` on; what was
 *     before is exact.
 *  6. Two switches in a row may be missing unseen (X → Y, Y → X). If so many single ones are
 *     missing, without LOST, that this is likely to happen once in a hundred such recordings,
 *     then any wait may have ended unseen: from its waking on, and, if that can be missing too,
 *     from its begin on. Waits that lie wholly in such a gap are not seen at all.
 */
#ifndef LIBTIME_SCHED_SCHED_INTERNAL_H
#define LIBTIME_SCHED_SCHED_INTERNAL_H

#include "base/hash.h"
#include "libtime/sched/sched.h"

#include <string.h>

enum state { UNSEEN, RUNNING, OFF, DEAD };

enum { RECENT_TIDS = 256 };

struct wake {
	uint64_t ns;
	uint32_t waker, path;
	uint16_t cpu;
	uint8_t context, set;
};

/* Where the records show a thread, even if they contradict each other: for sched_skew.c alone.
 */
struct seen {
	uint64_t in_ns;                   /* … it came there */
	uint64_t unwoken_ns;              /* … from a sleep without a waking; else 0 */
	uint64_t waking_ns;               /* … and was woken while it ran; else 0 */
	uint64_t old_in, new_in, new_out; /* when it came to either CPU, and left the new one */
	uint16_t cpu, waking_cpu, old_cpu, new_cpu;
	uint8_t runs;         /* on `cpu` */
	uint8_t slept, woken; /* it left a CPU to sleep; a waking came since */
	uint8_t twice;        /* it came to new_cpu before it left old_cpu */
};

struct thr {
	struct offcpu offcpu; /* OFF: the interval being built */
	struct wake wake;     /* OFF: what ends the blocked part */
	struct wake early;    /* a waking while it ran */
	struct seen seen;
	uint32_t leaving;     /* path of SCHED_LEAVING since it got its CPU; 0: none */
	uint64_t until_ns;    /* SCHED_DIRECT: end of its last interval */
	uint64_t first_ns;    /* OFF: the first waking, if it is not `wake` */
	uint64_t may_end_ns;  /* OFF: it may have ended since, because records are missing; */
	uint8_t may_end_why;  /* … enum unknown_reason; KNOWN: it has not */
	uint32_t outs, holes; /* its switch-outs recorded, and those missing without LOST */
	char comm[SCHED_COMM_SIZE];
	uint16_t cpu; /* where it runs; OFF: where it ran last, or was moved since */
	uint8_t state, woken, exiting, sleeps /* OFF: in a blocked state */;
};

struct cpu {
	uint64_t last_ns;    /* last record */
	uint64_t cur_ns;     /* last record that showed cur_tid on it */
	uint64_t alt_ns;     /* first record showing alt_tid */
	uint64_t switch_ns;  /* last sched_switch, … */
	uint64_t lost_ns;    /* last LOST */
	uint32_t cur;        /* thread of cur_tid, TL_NONE for idle */
	int32_t cur_tid;     /* -1 not known, 0 idle */
	int32_t switch_from; /* … and its prev; its next is cur_tid */
	int32_t alt_tid; /* current task of the last records when it is not cur_tid; -1 none */
	uint8_t lost;    /* LOST since cur_ns */
};

/* Impossible orders of records between two CPUs: the two largest differences of their clocks
 * that explain one, and the largest for a thread that ran on both at once. */
struct skew_pair {
	uint64_t n, most, second, twice;
	uint32_t kept; /* in skew.cases */
	uint16_t cpus[2];
};

/* One of them, and by how much at least it says that the clocks differ. */
struct skew_case {
	uint64_t time_ns, least_ns;
	uint32_t pair;
	int twice; /* the thread ran on both */
};

struct skew {
	VEC(struct skew_pair) pairs;
	VEC(struct skew_case) cases; /* no more than CASES_KEPT of a pair */
	struct u64map of_cpus;       /* smaller CPU << 16 | larger → pairs */
};

struct sched {
	struct timeline *tl;
	VEC(struct thr) threads; /* parallel to tl->threads */
	VEC(struct cpu) cpus;
	struct u64map by_tid;
	struct recent {
		int32_t tid;
		uint32_t next; /* after its thread; 0: empty */
	} recent[RECENT_TIDS]; /* of by_tid, by the tid's low bits */
	struct skew skew;
	uint64_t now;
	uint64_t woken, unwoken; /* sleeps with their waking recorded, and without */
	int chain;               /* the chain rule holds */
	int no_cpus;   /* per-task records that carry no CPU: each thread has one of its own */
	struct err *e; /* of the current call; ERR_IO is already set there */
};

/* --- sched.c -------------------------------------------------------------------------- */

int sched_thread_of_any(struct sched *s, int32_t tid, uint32_t *i);

/* The thread that has a tid now, a new one if the last has ended. ERR_NOMEM, ERR_LIMIT, as for
 * all functions below. The call may move threads and CPUs in memory. */
static inline int sched_thread_of(struct sched *s, int32_t tid, uint32_t *i)
{
	const struct recent *r = &s->recent[(uint32_t)tid % RECENT_TIDS];
	if (r->tid != tid || !r->next || s->threads.v[r->next - 1].state == DEAD)
		return sched_thread_of_any(s, tid, i);
	*i = r->next - 1;
	return 0;
}

/* The same, faster if it is the CPU's current thread, as it usually is. */
static inline int sched_thread_on(struct sched *s, const struct cpu *c, int32_t tid,
				  uint32_t *i)
{
	if (c->cur_tid != tid || s->threads.v[c->cur].state == DEAD)
		return sched_thread_of(s, tid, i);
	*i = c->cur;
	return 0;
}

/* `target` was created: the thread that had its tid before has ended. */
int sched_new_thread(struct sched *s, const struct sched_event *ev, uint32_t *i);

/* Set the name; NULL and "" change nothing. */
int sched_set_comm(struct sched *s, uint32_t i, const char *comm);

/* Set the name to one of the event's. Mostly the thread has it, and the kernel has cleared the
 * bytes after it: two words are compared. */
static inline int sched_set_comm_of(struct sched *s, uint32_t i, const struct sched_event *ev,
				    const char *comm)
{
	int same =
		ev->whole_comms && comm && !memcmp(s->threads.v[i].comm, comm, SCHED_COMM_SIZE);
	return same ? 0 : sched_set_comm(s, i, comm);
}

int sched_new_cpu(struct sched *s, uint16_t n, struct cpu **c);

/* CPU n, made if it does not exist. */
static inline int sched_cpu_of(struct sched *s, uint16_t n, struct cpu **c)
{
	if (n >= s->cpus.n)
		return sched_new_cpu(s, n, c);
	*c = &s->cpus.v[n];
	return 0;
}

/* Set the pid; -1 changes nothing. The first one stays: damaged records have others. */
static inline void sched_set_pid(struct sched *s, uint32_t i, int32_t pid)
{
	if (s->tl->threads.v[i].pid < 0 && pid >= 0)
		s->tl->threads.v[i].pid = pid;
}

/* A record has shown the CPU's current thread. */
static inline void sched_set_current(struct cpu *c, int32_t tid, uint32_t thread, uint64_t ns)
{
	c->cur_tid = tid;
	c->cur = thread;
	c->cur_ns = ns;
	c->alt_tid = -1;
	c->lost = 0;
}

/* --- sched_offcpu.c ---------------------------------------------------------------------- */

/* The thread is first shown, … */
static inline void sched_begin_life(struct sched *s, uint32_t i, uint64_t ns)
{
	s->tl->threads.v[i].first_ns = ns;
}

/* … and it runs. */
void sched_begin_running(struct sched *s, uint32_t i, uint16_t cpu, int16_t prio, uint64_t ns);

/* It runs, after an interval. */
static inline void sched_run_on(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	t->state = RUNNING;
	t->cpu = cpu;
	t->early.set = 0;
	t->leaving = 0;
}

/* The thread has ended. */
void sched_end_life(struct sched *s, uint32_t i, uint64_t ns);

/* RUNNING, UNSEEN → OFF; the caller adds to t->offcpu what else it knows. */
void sched_begin_offcpu(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu);

/* End the interval: find its blocked part by the best evidence there is, and add it to the
 * timeline. The caller changes the state. */
int sched_end_offcpu(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio);

/* The last time at which a RUNNING thread was surely on its CPU. */
uint64_t sched_last_seen(const struct sched *s, const struct thr *t);

/* Its switch-out is missing: its state is unknown since it was surely running last. `last`: no
 * later record shows it, so an exiting thread has ended. */
void sched_lost_out(struct sched *s, uint32_t i, int last);

/* The thread's interval may have ended at `lo` already, or later: records are missing, `why`. */
void sched_may_end(struct thr *t, uint64_t lo, uint8_t why);

/* As sched_end_offcpu, for an interval that ended between lo and hi. */
int sched_end_between(struct sched *s, uint32_t i, uint64_t lo, uint64_t hi, uint16_t cpu,
		      uint8_t why);

/*
 * Thread i is found running at hi, but no switch put it on a CPU; it got there after lo, and
 * after its waking.
 *
 *	out ──blocked──► waking ──runnable──► lo ──may have ended──► hi ──running──►
 */
int sched_arrive(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi,
		 uint8_t reason);

/* A switch is missing on the CPU in (from, to]. */
int sched_note_hole(struct sched *s, uint16_t cpu, uint64_t from, uint64_t to);

/* When all intervals are known: those that may have ended unseen ("Bounds", 6). */
void sched_bounds(struct sched *s);

/* --- sched_switch.c, sched_wake.c: events by their kind ------------------------------- */

int sched_on_switch(struct sched *s, const struct sched_event *ev);
int sched_on_out(struct sched *s, const struct sched_event *ev);
int sched_on_in(struct sched *s, const struct sched_event *ev);
int sched_on_waking(struct sched *s, const struct sched_event *ev);
int sched_on_wakeup(struct sched *s, const struct sched_event *ev);
int sched_on_migrate(struct sched *s, const struct sched_event *ev);
int sched_on_wakeup_new(struct sched *s, const struct sched_event *ev);

/* sched_add_stack for a switch-out and for a wakeup of thread i. */
void sched_add_stack_out(struct sched *s, uint32_t i, const struct sched_event *ev,
			 uint64_t first_ns);
void sched_add_stack_wake(struct sched *s, uint32_t i, const struct sched_event *ev,
			  uint64_t first_ns);

/*
 * As sched_end_offcpu. If the thread was woken into the queue of a CPU that was not recorded, it
 * may have run there and slept again: the interval may have ended at its waking.
 */
int sched_end_woken(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio);

/* --- sched_skew.c --------------------------------------------------------------------- */

/* Thread i leaves a CPU (call before `c` changes), gets one, is woken by a record of one.
 * ERR_NOMEM. */
int skew_leaves(struct sched *s, const struct cpu *c, uint32_t i, uint16_t cpu, int sleeps);
void skew_comes(struct sched *s, uint32_t i, uint16_t cpu);
void skew_woken(struct sched *s, uint32_t i, uint16_t cpu);

/* When all intervals are known: report clocks that differ in tl->disorder, and make intervals
 * shorter than a hundred times the difference suspect. 0 or ERR_NOMEM. */
int skew_finish(struct sched *s);
void skew_release(struct skew *k);

#endif
