/*
 * sched_internal.h - what the parts of the state machine (sched.h) share, and its drawing.
 *
 *	sched.c        threads and CPUs, their lives, losses; the door
 *	sched_off.c     lives and off-CPU intervals: what they become
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
 *  1. A thread in OFF has exactly one interval being built (`off`), which starts at or after
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
 */
#ifndef LIBTIME_SCHED_SCHED_INTERNAL_H
#define LIBTIME_SCHED_SCHED_INTERNAL_H

#include "base/hash.h"
#include "libtime/sched/sched.h"

enum state { UNSEEN, RUNNING, OFF, DEAD };

struct wake {
	uint64_t ns;
	uint32_t waker, path;
	uint16_t cpu;
	uint8_t context, set;
};

/* Where the records show a thread, without asking whether that can be: for sched_skew.c alone.
 */
struct seen {
	uint64_t in_ns;      /* … it came there */
	uint64_t unwoken_ns; /* … from a sleep that nothing had ended; 0: not so */
	uint64_t waking_ns;  /* … and was woken while it ran; 0: not */
	uint64_t old_in, new_in, new_out; /* when it came to either CPU, and left the new one */
	uint16_t cpu, waking_cpu, old_cpu, new_cpu;
	uint8_t runs;         /* on `cpu` */
	uint8_t slept, woken; /* it left a CPU to sleep; a waking came since */
	uint8_t twice;        /* it came to new_cpu before it left old_cpu */
};

struct thr {
	struct off off;    /* OFF: the interval being built */
	struct wake wake;  /* OFF: what ends the blocked part */
	struct wake early; /* a waking while it ran */
	struct seen seen;
	uint64_t until_ns; /* SCHED_DIRECT: end of its last interval */
	char comm[SCHED_COMM_SIZE];
	uint16_t cpu; /* where it runs; OFF: ran last, or was moved to since */
	uint8_t state, woken, exiting, sleeps /* OFF: in a blocked state */;
};

struct cpu {
	uint64_t last_ns;           /* last record */
	uint64_t cur_ns;            /* last record that showed cur_tid on it */
	uint64_t alt_ns, alt_lo_ns; /* first record showing alt_tid, and the one before */
	uint64_t switch_ns;         /* last sched_switch, … */
	uint64_t lost_ns;           /* last LOST */
	uint32_t cur;               /* thread of cur_tid, TL_NONE for idle */
	int32_t cur_tid;            /* -1 not known, 0 idle */
	int32_t switch_from;        /* … and its prev; its next is cur_tid */
	int32_t alt_tid; /* current task of the last records when it is not cur_tid; -1 none */
	uint8_t lost;    /* LOST since cur_ns */
};

/* Impossible orders between two CPUs, and what explains them: the two largest differences, and
 * the largest for a thread that ran on both at once. */
struct skew_pair {
	uint64_t n, most, second, twice;
	uint16_t cpus[2];
};

struct skew {
	VEC(struct skew_pair) pairs;
	struct u64map of_cpus; /* smaller CPU << 16 | larger → pairs */
};

struct sched {
	struct timeline *tl;
	VEC(struct thr) threads; /* parallel to tl->threads */
	VEC(struct cpu) cpus;
	struct u64map by_tid;
	struct skew skew;
	uint64_t now;
	int chain;     /* the chain rule holds */
	int no_cpus;   /* per-task records that carry no CPU: each thread has one of its own */
	struct err *e; /* of the call at hand; ERR_IO has been set there */
};

/* --- sched.c -------------------------------------------------------------------------- */

/* The thread a tid stands for now; a dead one's tid stands for a new thread. ERR_NOMEM,
 * ERR_LIMIT; so all functions below. What points to a thread or a CPU does not outlive it. */
int sched_thread_of(struct sched *s, int32_t tid, uint32_t *i);

/* The same, sooner: most often it is the one believed to be on this CPU. */
int sched_thread_on(struct sched *s, const struct cpu *c, int32_t tid, uint32_t *i);

/* `target` was created: the thread that had its tid before has ended. */
int sched_new_thread(struct sched *s, const struct sched_event *ev, uint32_t *i);

/* NULL and "" say nothing. */
int sched_set_comm(struct sched *s, uint32_t i, const char *comm);

/* CPU n, made if it does not exist. */
int sched_cpu_of(struct sched *s, uint16_t n, struct cpu **c);

/* -1 says nothing. */
/* The first pid recorded stays: damaged records have others. */
static inline void sched_set_pid(struct sched *s, uint32_t i, int32_t pid)
{
	if (s->tl->threads.v[i].pid < 0 && pid >= 0)
		s->tl->threads.v[i].pid = pid;
}

/* A record has shown who is on the CPU. */
static inline void sched_set_current(struct cpu *c, int32_t tid, uint32_t thread, uint64_t ns)
{
	c->cur_tid = tid;
	c->cur = thread;
	c->cur_ns = ns;
	c->alt_tid = -1;
	c->lost = 0;
}

/* --- sched_off.c ---------------------------------------------------------------------- */

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
}

/* Its end was recorded, or is known otherwise. */
void sched_end_life(struct sched *s, uint32_t i, uint64_t ns);

/* RUNNING, UNSEEN → OFF; the caller says in t->off what it knows beyond. */
void sched_begin_off(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu);

/* The interval ends: its blocked part by the best evidence there is, then into the timeline.
 * The state is the caller's to change. */
int sched_end_off(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio);

/* The last moment a RUNNING thread was surely on its CPU. */
uint64_t sched_last_seen(const struct sched *s, const struct thr *t);

/* Its switch-out is missing: from the last moment it was surely running on, nothing is known.
 * `last` when nothing shows it again: an exiting thread then has ended. */
void sched_lost_out(struct sched *s, uint32_t i, int last);

/*
 * Thread i is found running at hi although no switch put it on a CPU; it happened after lo.
 *
 *	out ──known──► lo ──unknown──► hi ──running──►
 */
int sched_arrive(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi,
		 uint8_t reason);

/* A switch is missing on the CPU in (from, to]. */
int sched_note_hole(struct sched *s, uint16_t cpu, uint64_t from, uint64_t to);

/* --- sched_switch.c, sched_wake.c: events by their kind ------------------------------- */

int sched_on_switch(struct sched *s, const struct sched_event *ev);
int sched_on_out(struct sched *s, const struct sched_event *ev);
int sched_on_in(struct sched *s, const struct sched_event *ev);
int sched_on_waking(struct sched *s, const struct sched_event *ev);
int sched_on_wakeup(struct sched *s, const struct sched_event *ev);
int sched_on_migrate(struct sched *s, const struct sched_event *ev);
int sched_on_wakeup_new(struct sched *s, const struct sched_event *ev);

/* sched_add_stack, of a switch-out and of a wakeup of thread i. */
void sched_add_stack_out(struct sched *s, uint32_t i, const struct sched_event *ev,
			 uint64_t first_ns);
void sched_add_stack_wake(struct sched *s, uint32_t i, const struct sched_event *ev,
			  uint64_t first_ns);

/*
 * Before the interval of thread i ends: woken into the queue of a CPU that was not recorded, it
 * may have run there, and slept again. Else nothing is done.
 *
 *	out ──known──► waking ──unknown──►
 */
int sched_lose_woken(struct sched *s, uint32_t i);

/* --- sched_skew.c --------------------------------------------------------------------- */

/* Thread i leaves a CPU, before `c` is changed; comes to one; is woken by a record of one.
 * ERR_NOMEM. */
int skew_leaves(struct sched *s, const struct cpu *c, uint32_t i, uint16_t cpu, int sleeps);
void skew_comes(struct sched *s, uint32_t i, uint16_t cpu);
void skew_woken(struct sched *s, uint32_t i, uint16_t cpu);

/* All intervals are known: the clocks that differ into tl->disorder, and the intervals that are
 * shorter than a hundred times the difference made suspect. */
void skew_finish(struct sched *s);
void skew_release(struct skew *k);

#endif
