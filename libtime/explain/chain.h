/*
 * chain.h - why an episode lasted: the parts of its time, and the chain of threads behind it.
 *
 *	front  ████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒██    blocked (lock) until middle woke it
 *	middle ██████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒█       blocked (lock) until back woke it
 *	back   ─────█▒▒▒▒io▒▒▒▒sleep▒▒▒█        the root: what it did is the end of the chain
 *
 * The chain goes backwards from the episode's end: to the waker for the time in which the
 * thread was blocked, to the thread that had its CPU for the time in which it was runnable, and
 * so on. Each link covers the part of the episode that it explains. A link's time is divided
 * into parts that add up to it: code that ran, waiting for a CPU, and one for each cause and
 * function it was blocked in, whichever thread ended those waits. The chain goes on from the
 * largest part to the thread that kept the link there for more than half of it, unless another
 * part is larger than what that thread explains. Otherwise it ends there, and that link is the
 * root. It also ends at a thread that is already on it, and at depth CHAIN_DEPTH.
 *
 *	front  12 ms lock   ─► middle  11 ms lock   ─► back  8 ms asleep
 *	        1 ms running            1 ms running          3 ms waiting for a CPU
 *
 * The root's parts and those that the chain did not follow are the shares of the episode: they
 * add up to it. Intervals next to lost records are unknown parts, whatever they look like.
 */
#ifndef LIBTIME_EXPLAIN_CHAIN_H
#define LIBTIME_EXPLAIN_CHAIN_H

#include "libtime/explain/behind.h"
#include "libtime/explain/episodes.h"
#include "libtime/explain/evidence.h"

enum { CHAIN_DEPTH = 16 };

/* What a thread did in a part of its time. */
enum part_state { PART_RUNNING, PART_BLOCKED, PART_RUNNABLE, PART_PREEMPTED, PART_UNKNOWN };

/* "running", "blocked", "runnable", "preempted", "unknown". */
const char *part_state_name(unsigned int state);

/* Why the chain does not follow a part. */
enum part_end {
	END_NONE,     /* the chain goes on through it */
	END_RAN,      /* code ran */
	END_DEVICE,   /* io, fault: a device answered */
	END_TIMER,    /* a sleep or timeout ended */
	END_NETWORK,  /* a packet from elsewhere */
	END_IRQ,      /* woken from an unknown interrupt */
	END_IDLE_CPU, /* runnable, but no thread is known to have had the CPU */
	END_OPEN,     /* not woken before the recording ended, or before it began */
	END_NO_WAKE,  /* no wakeup recorded */
	END_CYCLE,    /* the waker waits for a thread of this chain */
	END_DEPTH,
	END_GONE,      /* the waker did not exist yet, or its time is not recorded */
	END_QUEUED,    /* others took turns on the CPU it waited for: explanation.ahead */
	END_QUOTA,     /* its cgroup had used up its CPU quota */
	END_TIMED_OUT, /* a lock's holder is not known: the wait timed out, and so did its
			  retries */
	END_SUSPECT,   /* records are missing next to the interval */
	END_NO_HOLDER, /* a lock's holder is not known for that time */
	END_IDLE_EXIT, /* its CPU was idle, and had to wake up */
	END_COUNT,
};

/* "ran", "device", "timer" ...; "" for END_NONE. */
const char *part_end_name(unsigned int end);

/* How a link holds up the one before it. */
enum link_via {
	VIA_SELF,
	VIA_WAKER, /* it ended the wait */
	VIA_OWNER, /* it held the lock then */
	VIA_TURN,  /* before the waker, it let go the futex that the link waited for */
	VIA_CPU,
};

/* Stretches of a link with equal state, cause and function; all waiting for a CPU is one part,
 * PART_RUNNABLE. */
struct chain_part {
	uint64_t ns, first_ns; /* sum; where the first begins */
	uint64_t largest_ns;   /* the largest single one, which has `path` and `offcpu` */
	uint64_t kept_ns; /* of ns: the time in which a thread is known to have kept it there */
	uint64_t actor_ns; /* of that: the thread that did so longest, */
	uint64_t by_end[END_COUNT];
	uint32_t actor, actors;  /* which is this one, or TL_NONE; and how many did */
	uint32_t actor_function; /* of several that held a lock: a frame id; 0: not known */
	uint32_t path;           /* switch-out stack, hot sample's stack, or the wakeup's; 0 */
	uint32_t function;       /* frame id of its innermost application frame; 0 */
	uint32_t vector; /* strings id: END_IRQ, the interrupt that took most, if recorded; else
			  * 0
			  */
	uint32_t offcpu; /* index of timeline.offcpu; TL_NONE for running */
	uint64_t samples; /* of running code: those in `function`, of chain_link.samples */
	const struct mechanism *mechanism; /* of `path`; NULL; life: the explainer's */
	uint8_t state, cause;
	uint8_t end; /* of most of its time */
	uint8_t via; /* how the actor kept it there */
};

/* "self", "waker", "owner", "turn", "cpu". */
const char *link_via_name(unsigned int via);

struct chain_link {
	uint32_t thread, comm;
	uint64_t ns; /* how much of the episode this link explains */
	uint64_t run_ns, blocked_ns, runnable_ns, preempted_ns /* of runnable */, unknown_ns;
	uint64_t next_ns;      /* how much of it the next link explains; 0: this is the root */
	uint64_t queued_ns;    /* of runnable_ns: other threads are known to have had its CPU */
	uint32_t n_ahead;      /* how many other threads */
	uint32_t followed;     /* the part of which the next link explains next_ns */
	uint32_t part, nparts; /* explanation.parts[part ..], largest first */
	uint8_t via;           /* enum link_via */
	uint8_t state, cause;  /* of the followed part; in the root, of its largest part */
	uint32_t path, offcpu; /* of the same */
	int16_t prio;          /* VIA_CPU: the priority it ran with; else -1 */
	uint64_t samples;      /* taken in its running time */
	/* All but VIA_SELF and VIA_CPU: what it did meanwhile, if known; else NULL. */
	const struct mechanism *doing;
	struct behind behind; /* of a kernel thread that was waited for; else ns 0 */
	uint8_t guessed; /* no samples: its function is taken from its wakeup or switch-out */
};

/* A thread that had the CPU while the episode's thread was runnable there. */
struct corunner {
	uint64_t ns;
	uint32_t thread;
	int16_t prio;
};

/* Why an answer is incomplete, as bits. */
enum missing {
	MISSING_WAKEUP = 1,        /* no waking recorded for a wait */
	MISSING_STACK = 2,         /* a wait without a stack */
	MISSING_HOLE = 4,          /* a hole or lost records inside */
	MISSING_SAMPLES = 8,       /* running time without samples */
	MISSING_WAKING_EVENT = 16, /* wakeups were not recorded */
	MISSING_OPEN = 32,
};

/* Zero-initialised is empty; reused from episode to episode. */
struct explanation {
	/* The episode's wall time: the five sum up to it, blocked_by to blocked_ns. */
	uint64_t run_ns, blocked_ns, runnable_ns, preempted_ns /* of runnable */, unknown_ns;
	uint64_t throttled_ns;   /* of preempted: by a CPU quota */
	uint64_t interrupted_ns; /* of run: by interrupts, where those were recorded */
	uint32_t interrupt;      /* strings id: the one that took most of it, or 0 */
	uint32_t interrupts;     /* how many different ones did */
	uint64_t blocked_by[CAUSE_COUNT];
	uint8_t state, cause;           /* of its largest part; CAUSE_RUNQUEUE if runnable */
	uint32_t offcpu;                /* the interval with most of that; TL_NONE */
	uint32_t path;                  /* and its stack */
	uint64_t samples;               /* taken while it ran */
	VEC(struct corunner) corunners; /* longest first */
	VEC(struct corunner) ahead;     /* the same for the root's own time */
	VEC(struct chain_link) chain;   /* [0] is the episode's own thread; last is the root */
	VEC(struct chain_part) parts;
	windows_vec root; /* what the root did meanwhile, in order of time */
	unsigned missing; /* enum missing bits */
};

/* Explains episodes of one finished timeline, which is borrowed. */
struct explainer;
int explainer_new(const struct timeline *tl, struct explainer **out, struct err *e);
void explainer_free(struct explainer *x);

/* Explain one episode. ERR_NOMEM. */
int explain(struct explainer *x, const struct episode *ep, struct explanation *out,
	    struct err *e);
void explanation_release(struct explanation *x);

/* The explainer's indexes of samples and stacks; they live as long as it. */
struct evidence *explainer_evidence(struct explainer *x);

/* Append to *out the windows that an episode consists of, in order of time: of its thread, or
 * of several if it was handed over. ERR_NOMEM. */
int episode_windows(const struct timeline *tl, const struct episode *ep, windows_vec *out);

/* The CPU in whose run queue a thread waited: the one it was preempted on, or the one that the
 * wakeup put it on, even if another CPU pulled it in the end. TL_NOCPU: not known. */
static inline uint16_t offcpu_waited_cpu(const struct offcpu *o)
{
	if (o->flags & OFF_RUNNING && o->cpu_out != TL_NOCPU)
		return o->cpu_out;
	if (!(o->flags & OFF_RUNNING) && o->cpu_queue != TL_NOCPU)
		return o->cpu_queue;
	return o->cpu_in != TL_NOCPU ? o->cpu_in : o->cpu_out;
}

/* The root: the last link. */
static inline const struct chain_link *explanation_root(const struct explanation *x)
{
	return &x->chain.v[x->chain.n - 1];
}

/* A share of an episode: a part of the root, or one that the chain did not follow at a link
 * above it. */
struct chain_share {
	uint64_t ns;
	uint32_t link, part; /* indexes of explanation.chain and .parts */
};
typedef VEC(struct chain_share) shares_vec;

/* All shares of an episode, largest first; of equal ones those of the root come first. They sum
 * up to its length. *out is replaced. ERR_NOMEM. */
int explanation_shares(const struct explanation *x, shares_vec *out);

/* 1 if the chain ends at an interval next to missing records, so that the root is not known. */
int explanation_suspect(const struct explanation *x);

/* The largest part of a link, which is its first; NULL if it has no parts. */
static inline const struct chain_part *link_part(const struct explanation *x,
						 const struct chain_link *l)
{
	return l->nparts ? &x->parts.v[l->part] : NULL;
}

/* What a link's thread waited for, if the chain goes on after it and that is known; else NULL.
 */
static inline const struct mechanism *link_mechanism(const struct explanation *x,
						     const struct chain_link *l)
{
	return l->next_ns ? x->parts.v[l->followed].mechanism : NULL;
}

/* 1 when a link that ended a wait with that cause and mechanism (may be NULL) held a lock. */
static inline int ended_lock(unsigned int via, unsigned int cause, const struct mechanism *m)
{
	return via == VIA_OWNER ||
	       (via == VIA_WAKER && (cause == CAUSE_LOCK || cause == CAUSE_RWLOCK ||
				     (m && m->kind == MECHANISM_LOCK)));
}

/* 1 when the link held a lock that the one before it wanted. */
static inline int link_held_lock(const struct explanation *x, const struct chain_link *l)
{
	return l->via != VIA_SELF && ended_lock(l->via, l[-1].cause, link_mechanism(x, l - 1));
}

#endif
