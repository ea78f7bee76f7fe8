/*
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
 *     lies between them is running.
 *  4. `wake` of an OFF thread is the last waking before the first wakeup; `early` of a RUNNING
 *     one is a waking no wakeup has followed yet: it belongs to the next sleep if that one is
 *     ended by a wakeup without a waking of its own (the waker raced with the switch-out).
 *  5. Keys are the raw fields of the tracepoints. The record's own tid (-1 for exiting threads)
 *     only serves to say who is current where no switch has said so.
 */
#include "libstore/sched.h"
#include "base/mem.h"

#include <string.h>

enum state { UNSEEN, RUNNING, OFF, DEAD };

struct wake {
	uint64_t ns;
	uint32_t waker, path;
	uint16_t cpu;
	uint8_t context, set;
};

struct thr {
	struct off off;    /* OFF: the interval being built */
	struct wake wake;  /* OFF: what ends the blocked part */
	struct wake early; /* a waking while it ran */
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

struct sched {
	struct timeline *tl;
	VEC(struct thr) threads; /* parallel to tl->threads */
	VEC(struct cpu) cpus;
	struct u64map by_tid;
	uint64_t now;
	int chain;     /* the chain rule holds */
	int no_cpus;   /* per-task records that carry no CPU: each thread has one of its own */
	struct err *e; /* of the call at hand; ERR_IO has been told there */
};

int sched_new(struct timeline *tl, struct sched **out, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->tl = tl;
	(*out)->chain = !(tl->flags & TL_PER_TASK);
	return 0;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	vec_release(&s->threads);
	vec_release(&s->cpus);
	u64map_release(&s->by_tid);
	mem_free(s);
}

/* --- threads and CPUs ------------------------------------------------------------------ */

/* What strncmp(a, b, SCHED_COMM_SIZE - 1) says, of short names, without the call. */
static inline int same_comm(const char *a, const char *b)
{
	for (int i = 0; i < SCHED_COMM_SIZE - 1; i++) {
		if (a[i] != b[i])
			return 0;
		if (!a[i])
			return 1;
	}
	return 1;
}

static int set_comm(struct sched *s, uint32_t i, const char *comm)
{
	struct thr *t = &s->threads.v[i];
	if (!comm || !*comm || same_comm(t->comm, comm))
		return 0;
	size_t n = strnlen(comm, SCHED_COMM_SIZE - 1);
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, n);
	return strtab_intern(&s->tl->stacks->strings, t->comm, &s->tl->threads.v[i].comm);
}

static int add_thread(struct sched *s, int32_t tid, uint32_t *i)
{
	struct tl_thread t = {.pid = -1, .tid = tid, .first_cpu = TL_NOCPU, .first_prio = -1};
	struct thr m = {0};
	if (s->threads.n >= UINT32_MAX - 2)
		return ERR_LIMIT;
	if (vec_push(&s->tl->threads, t))
		return ERR_NOMEM;
	if (vec_push(&s->threads, m)) {
		s->tl->threads.n--;
		return ERR_NOMEM;
	}
	*i = (uint32_t)(s->threads.n - 1);
	return u64map_put(&s->by_tid, (uint32_t)tid, *i);
}

/* The thread a tid stands for now; a dead one's tid stands for a new thread. */
static int thread_of(struct sched *s, int32_t tid, uint32_t *i)
{
	if (u64map_get(&s->by_tid, (uint32_t)tid, i) && s->threads.v[*i].state != DEAD)
		return 0;
	return add_thread(s, tid, i);
}

static void set_pid(struct sched *s, uint32_t i, int32_t pid)
{
	if (pid >= 0)
		s->tl->threads.v[i].pid = pid;
}

static int cpu_of(struct sched *s, uint16_t n, struct cpu **c)
{
	while (s->cpus.n <= n) {
		struct cpu fresh = {.cur = TL_NONE, .cur_tid = -1, .alt_tid = -1};
		if (vec_push(&s->cpus, fresh))
			return ERR_NOMEM;
	}
	*c = &s->cpus.v[n];
	return 0;
}

/* thread_of, sooner: most often it is the one believed to be on this CPU. */
static int thread_on(struct sched *s, const struct cpu *c, int32_t tid, uint32_t *i)
{
	if (c->cur_tid != tid || s->threads.v[c->cur].state == DEAD)
		return thread_of(s, tid, i);
	*i = c->cur;
	return 0;
}

static void set_current(struct cpu *c, int32_t tid, uint32_t thread, uint64_t ns)
{
	c->cur_tid = tid;
	c->cur = thread;
	c->cur_ns = ns;
	c->alt_tid = -1;
	c->lost = 0;
}

static void begin_life(struct sched *s, uint32_t i, uint64_t ns)
{
	s->tl->threads.v[i].first_ns = ns;
}

static void run_on(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	t->state = RUNNING;
	t->cpu = cpu;
	t->early.set = 0;
}

static void begin_running(struct sched *s, uint32_t i, uint16_t cpu, int16_t prio, uint64_t ns)
{
	begin_life(s, i, ns);
	s->tl->threads.v[i].first_cpu = cpu;
	s->tl->threads.v[i].first_prio = prio;
	run_on(s, i, cpu);
}

static void end_life(struct sched *s, uint32_t i, uint64_t ns)
{
	struct tl_thread *t = &s->tl->threads.v[i];
	if (s->threads.v[i].state == UNSEEN)
		t->first_ns = ns;
	t->last_ns = ns;
	t->flags |= THREAD_EXITED;
	s->threads.v[i].state = DEAD;
}

/* --- intervals ------------------------------------------------------------------------- */

static void begin_off(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	t->off = (struct off){
		.start_ns = ns,
		.thread = i,
		.comm = s->tl->threads.v[i].comm,
		.waker = TL_NONE,
		.cpu_out = cpu,
		.cpu_in = TL_NOCPU,
		.cpu_wake = TL_NOCPU,
		.prio_in = -1,
	};
	t->wake.set = 0;
	t->woken = 0;
	t->sleeps = 1;
	t->state = OFF;
}

/* The last moment a RUNNING thread was surely on its CPU. */
static uint64_t last_seen(const struct sched *s, const struct thr *t)
{
	return t->cpu < s->cpus.n ? s->cpus.v[t->cpu].cur_ns : t->until_ns;
}

/* Its switch-out is missing: from the last moment it was surely running on, nothing is known.
 * 'last' when nothing shows it again: an exiting thread then has ended. */
static void lost_out(struct sched *s, uint32_t i, int last)
{
	struct thr *t = &s->threads.v[i];
	uint64_t from = last_seen(s, t);
	uint8_t reason =
		t->cpu < s->cpus.n && s->cpus.v[t->cpu].lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	if (last && t->exiting) {
		end_life(s, i, from);
		return;
	}
	begin_off(s, i, from, t->cpu);
	t->off.unknown = reason;
	t->off.flags |= OFF_SUSPECT | OFF_NO_STACK;
}

static int emit(struct sched *s, const struct off *o)
{
	if (o->unknown && o->end_ns == o->start_ns)
		return 0;
	int r = bigvec_push(&s->tl->off, *o, s->e);
	if (!r && s->no_cpus) {
		struct off *last = &s->tl->off.v[s->tl->off.n - 1];
		last->cpu_out = last->cpu_in = last->cpu_wake = TL_NOCPU;
	}
	return r;
}

/* Where the blocked part ends, by the best evidence there is. */
static void split(struct sched *s, struct thr *t)
{
	struct off *o = &t->off;
	const struct wake *w = &t->wake;
	if (o->unknown || !t->sleeps)
		return;
	if (!w->set && t->early.set && !(s->tl->flags & TL_HAS_WAKEUP))
		w = &t->early;
	if (!w->set) {
		if (o->flags & OFF_OPEN)
			o->blocked_ns = off_ns(o);
		else
			o->unknown = UNKNOWN_NO_WAKE;
		return;
	}
	o->blocked_ns = w->ns > o->start_ns ? w->ns - o->start_ns : 0;
	o->waker = w->waker;
	o->waker_path = w->path;
	o->waker_context = w->context;
	o->cpu_wake = w->cpu;
}

static int end_off(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	t->off.end_ns = ns;
	t->off.cpu_in = cpu;
	t->off.prio_in = prio;
	split(s, t);
	return emit(s, &t->off);
}

/*
 * Thread i is found running at hi although no switch put it on a CPU; it happened after lo.
 *
 *	out ──known──► lo ──unknown──► hi ──running──►
 */
static int arrive(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi,
		  uint8_t reason)
{
	struct thr *t = &s->threads.v[i];
	struct cpu *c = &s->cpus.v[cpu];
	int r = 0;
	/* it may have been running when this came, about to leave */
	struct wake waking = t->state == OFF && !t->woken ? t->wake : (struct wake){0};
	if (t->state == RUNNING)
		lost_out(s, i, 0);
	if (t->state == OFF && (hi < t->off.start_ns || (t->wake.set && hi < t->wake.ns)))
		hi = s->now; /* elsewhere, or asleep, since: the record misled */
	if (c->cur == i)
		c->cur_ns = hi;
	if (t->state == UNSEEN) {
		begin_running(s, i, cpu, -1, hi);
		return 0;
	}
	if (t->wake.set && t->wake.ns > lo)
		lo = t->wake.ns;
	if (lo < t->off.start_ns || t->off.unknown)
		lo = t->off.start_ns;
	if (lo > hi)
		lo = hi;
	if (lo > t->off.start_ns) {
		struct off known = t->off;
		known.flags |= OFF_SUSPECT;
		known.end_ns = lo;
		t->off = known;
		if (!t->wake.set && t->sleeps)
			t->off.blocked_ns =
				off_ns(&known); /* asleep until then: not woken yet */
		else
			split(s, t);
		if ((r = emit(s, &t->off)))
			return r;
		begin_off(s, i, lo, TL_NOCPU);
		t->off.flags |= OFF_NO_STACK;
	}
	if (!t->off.unknown)
		t->off.unknown = reason;
	t->off.flags |= OFF_SUSPECT;
	if (hi > t->off.start_ns && (r = end_off(s, i, hi, cpu, -1)))
		return r;
	run_on(s, i, cpu);
	t->early = waking;
	return 0;
}

/* --- switches -------------------------------------------------------------------------- */

static int note_hole(struct sched *s, uint16_t cpu, uint64_t from, uint64_t to)
{
	struct tl_loss l = {
		.from_ns = from, .to_ns = to, .count = 1, .cpu = cpu, .kind = LOSS_HOLE};
	return vec_push(&s->tl->losses, l);
}

/* The CPU's last switch put another thread on it than the one (i; TL_NONE = idle) that is found
 * leaving it now. */
static int hole(struct sched *s, struct cpu *c, uint16_t cpu, int32_t tid, uint32_t i)
{
	int seen = c->alt_tid == tid;
	uint64_t lo = seen ? c->alt_lo_ns : c->last_ns, hi = seen ? c->alt_ns : s->now;
	uint8_t reason = c->lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	uint64_t from = c->cur_ns;
	if (c->cur != TL_NONE && s->threads.v[c->cur].state == RUNNING &&
	    s->threads.v[c->cur].cpu == cpu)
		lost_out(s, c->cur, 1);
	if (!c->lost && note_hole(s, cpu, from, hi))
		return ERR_NOMEM;
	set_current(c, tid, i, hi);
	return i == TL_NONE ? 0 : arrive(s, i, cpu, lo, hi, reason);
}

/* Make sure that i is believed to run on this CPU, whatever was believed before. */
static int expect_on(struct sched *s, struct cpu *c, uint16_t cpu, int32_t tid, uint32_t i)
{
	if (s->chain && c->cur_tid >= 0 && c->cur_tid != tid)
		return hole(s, c, cpu, tid, i);
	if (i == TL_NONE)
		return 0;
	const struct thr *t = &s->threads.v[i];
	if (t->state == RUNNING && t->cpu == cpu)
		return 0;
	uint8_t reason = s->chain ? UNKNOWN_EDGE : UNKNOWN_HOLE;
	return arrive(s, i, cpu, 0, s->now, reason);
}

static int leave(struct sched *s, const struct sched_event *ev, uint32_t i)
{
	if (ev->state_class == STATE_DEAD) {
		end_life(s, i, ev->time_ns);
		return 0;
	}
	struct thr *t = &s->threads.v[i];
	begin_off(s, i, ev->time_ns, ev->cpu);
	t->off.path = ev->path;
	t->off.state = ev->state;
	t->off.syscall = ev->syscall;
	if (ev->no_stack)
		t->off.flags |= OFF_NO_STACK;
	if (ev->state_class == STATE_RUNNING) {
		t->off.flags |= OFF_RUNNING;
		t->sleeps = 0;
	}
	return 0;
}

static int enter(struct sched *s, uint32_t i, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	if (t->state == RUNNING)
		lost_out(s, i, 0);
	if (t->state == UNSEEN) {
		begin_running(s, i, cpu, prio, s->now);
		return 0;
	}
	int r = end_off(s, i, s->now, cpu, prio);
	if (!r)
		run_on(s, i, cpu);
	return r;
}

/* The same record once more, as perf writes it now and then when it is late to empty a small
 * buffer. */
static int is_repeated(const struct cpu *c, const struct sched_event *ev)
{
	return ev->time_ns == c->switch_ns && ev->prev_tid == c->switch_from &&
	       ev->next_tid == c->cur_tid && ev->prev_tid != ev->next_tid;
}

/* In a per-task recording `next` may be a thread whose leaving will not be recorded: the ins
 * are left to the SWITCH records. */
static int on_switch(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t prev = TL_NONE, next = TL_NONE;
	int r = cpu_of(s, ev->cpu, &c);
	if (!r && is_repeated(c, ev))
		return 0;
	if (!r && ev->prev_tid > 0) {
		r = thread_on(s, c, ev->prev_tid, &prev);
		if (!r)
			r = set_comm(s, prev, ev->prev_comm);
		if (!r && ev->tid == ev->prev_tid)
			set_pid(s, prev, ev->pid);
	}
	if (!r)
		r = expect_on(s, c, ev->cpu, ev->prev_tid, prev);
	if (!r && prev != TL_NONE)
		r = leave(s, ev, prev);
	if (!r && !s->chain) {
		set_current(c, -1, TL_NONE, ev->time_ns);
		return 0;
	}
	if (!r && ev->next_tid > 0) {
		r = thread_of(s, ev->next_tid, &next);
		if (!r)
			r = set_comm(s, next, ev->next_comm);
		if (!r)
			r = enter(s, next, ev->cpu, ev->next_prio);
	}
	if (!r) {
		set_current(c, ev->next_tid, next, ev->time_ns);
		c->switch_ns = ev->time_ns;
		c->switch_from = ev->prev_tid;
	}
	return r;
}

/* PERF_RECORD_SWITCH. Beside system-wide tracepoints they tell nothing new; beside per-task
 * ones the outs are already known when they come, and the ins are theirs alone. */
static int records_matter(const struct sched *s)
{
	return !(s->tl->flags & TL_HAS_SWITCH) || s->tl->flags & TL_PER_TASK;
}

static int on_out(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i = TL_NONE;
	if (!records_matter(s) || ev->tid < 0)
		return 0;
	int r = cpu_of(s, ev->cpu, &c);
	if (!r && ev->tid > 0) {
		if (u64map_get(&s->by_tid, (uint32_t)ev->tid, &i) &&
		    (s->threads.v[i].state == DEAD || s->threads.v[i].state == OFF))
			return 0;
		r = thread_of(s, ev->tid, &i);
	}
	if (!r && i != TL_NONE)
		set_pid(s, i, ev->pid);
	if (!r)
		r = expect_on(s, c, ev->cpu, ev->tid, i);
	if (!r && i != TL_NONE) {
		struct sched_event out = *ev;
		out.state_class = ev->preempt ? STATE_RUNNING : STATE_BLOCKED;
		if (s->threads.v[i].exiting && !ev->preempt)
			out.state_class = STATE_DEAD;
		r = leave(s, &out, i);
	}
	if (!r)
		set_current(c, -1, TL_NONE, ev->time_ns);
	return r;
}

static int on_in(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i = TL_NONE;
	if (!records_matter(s) || ev->tid < 0)
		return 0;
	int r = cpu_of(s, ev->cpu, &c);
	if (!r && ev->tid > 0) {
		r = thread_of(s, ev->tid, &i);
		if (!r)
			set_pid(s, i, ev->pid);
	}
	if (!r && c->cur_tid > 0 && c->cur_tid != ev->tid &&
	    s->threads.v[c->cur].state == RUNNING && s->threads.v[c->cur].cpu == ev->cpu) {
		uint64_t from = c->cur_ns;
		lost_out(s, c->cur, 1);
		if (s->chain && !c->lost)
			r = note_hole(s, ev->cpu, from, s->now);
	}
	if (!r && i != TL_NONE) {
		struct thr *t = &s->threads.v[i];
		if (t->state != RUNNING || t->cpu != ev->cpu)
			r = enter(s, i, ev->cpu, -1);
	}
	if (!r)
		set_current(c, ev->tid, i, ev->time_ns);
	return r;
}

/* --- wakeups and lives ------------------------------------------------------------------ */

static int make_wake(struct sched *s, const struct sched_event *ev, struct wake *w)
{
	*w = (struct wake){.ns = ev->time_ns,
			   .waker = TL_NONE,
			   .path = ev->path,
			   .cpu = ev->cpu,
			   .context = ev->context,
			   .set = 1};
	if ((ev->context != WAKER_TASK && ev->context != WAKER_SOFTIRQ_INLINE) || ev->tid <= 0)
		return 0;
	if (ev->cpu < s->cpus.n)
		return thread_on(s, &s->cpus.v[ev->cpu], ev->tid, &w->waker);
	return thread_of(s, ev->tid, &w->waker);
}

/* First seen by being woken: how long it had slept lies before the recording. */
static void begin_woken(struct sched *s, uint32_t i, const struct wake *w, int flags)
{
	begin_life(s, i, w->ns);
	begin_off(s, i, w->ns, TL_NOCPU);
	s->threads.v[i].off.flags = (uint8_t)(flags | OFF_NO_STACK);
	s->threads.v[i].wake = *w;
}

/* A waking proves that a thread of unknown whereabouts sleeps. */
static int known_again(struct sched *s, uint32_t i)
{
	struct thr *t = &s->threads.v[i];
	int r = s->now > t->off.start_ns ? end_off(s, i, s->now, TL_NOCPU, -1) : 0;
	if (r)
		return r;
	begin_off(s, i, s->now, TL_NOCPU);
	t->off.flags |= OFF_SUSPECT | OFF_NO_STACK;
	return 0;
}

/* Woken a second time although no switch shows that it ran. It did, where switches are missing:
 * only a thread that has gone to sleep again is woken. In a whole recording the first counts.
 */
static int ran_unseen(const struct sched *s, const struct thr *t)
{
	return t->state == OFF && t->woken && t->sleeps && !t->off.unknown && s->chain &&
	       s->now > t->wake.ns && (s->tl->flags & TL_SOME_CPUS || s->tl->losses.n);
}

/*	out ──known──► first waking ──unknown──► this one ──runnable──► in */
static int woken_again(struct sched *s, uint32_t i)
{
	struct thr *t = &s->threads.v[i];
	uint64_t woken = t->wake.ns > t->off.start_ns ? t->wake.ns : t->off.start_ns;
	t->off.flags |= OFF_SUSPECT;
	int r = woken > t->off.start_ns ? end_off(s, i, woken, TL_NOCPU, -1) : 0;
	if (r)
		return r;
	begin_off(s, i, woken, TL_NOCPU);
	t->off.unknown = UNKNOWN_HOLE;
	t->off.flags |= OFF_SUSPECT | OFF_NO_STACK;
	if ((r = end_off(s, i, s->now, TL_NOCPU, -1)))
		return r;
	begin_off(s, i, s->now, TL_NOCPU);
	t->off.flags |= OFF_SUSPECT | OFF_NO_STACK;
	return 0;
}

static int on_waking(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = thread_of(s, ev->target_tid, &i);
	if (!r)
		r = set_comm(s, i, ev->target_comm);
	if (!r)
		r = make_wake(s, ev, &w);
	if (r)
		return r;
	struct thr *t = &s->threads.v[i]; /* after make_wake, which may add a thread */
	if (t->state == UNSEEN) {
		begin_woken(s, i, &w, OFF_OPEN);
	} else if (t->state == RUNNING) {
		t->early = w;
	} else if (!t->woken && t->sleeps) {
		r = t->off.unknown ? known_again(s, i) : 0;
		t->wake = w;
	} else if (ran_unseen(s, t)) {
		r = woken_again(s, i);
		t->wake = w;
	}
	return r;
}

static int on_wakeup(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = thread_of(s, ev->target_tid, &i);
	if (!r)
		r = set_comm(s, i, ev->target_comm);
	if (!r)
		r = make_wake(s, ev, &w);
	if (r)
		return r;
	struct thr *t = &s->threads.v[i];
	if (s->tl->flags &
	    TL_HAS_WAKING) { /* its own waking is missing: the waker is not known */
		w.waker = TL_NONE;
		w.path = 0;
		w.context = WAKER_NONE;
	}
	if (t->state == UNSEEN) {
		begin_woken(s, i, &w, OFF_OPEN);
		t->woken = 1; /* no later sleep is ended by it */
	} else if (t->state == RUNNING) {
		t->early.set = 0;
	} else if (!t->woken && t->sleeps && !t->off.unknown) {
		if (!t->wake.set)
			t->wake = t->early.set ? t->early : w;
		t->woken = 1;
	}
	return 0;
}

/*
 * A sleeping thread stays on the CPU it left: one that is taken from another has run there
 * meanwhile, and went to sleep again some time before what wakes it now.
 *
 *	out ──unknown──► waking ──runnable──► in
 */
static int ran_elsewhere(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	const struct wake wake = t->wake;
	uint64_t out = t->off.start_ns;
	int lost = cpu < s->cpus.n && s->cpus.v[cpu].lost_ns > out;
	t->off.unknown = lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	int r = lost ? 0 : note_hole(s, cpu, out, wake.ns);
	if (!r)
		r = end_off(s, i, wake.ns, TL_NOCPU, -1);
	if (r)
		return r;
	begin_off(s, i, wake.ns, TL_NOCPU);
	t->off.flags |= OFF_SUSPECT | OFF_NO_STACK;
	t->wake = wake;
	return 0;
}

static int on_migrate(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = 0;
	if (!s->chain || !u64map_get(&s->by_tid, (uint32_t)ev->target_tid, &i) ||
	    s->threads.v[i].state != OFF)
		return 0;
	struct thr *t = &s->threads.v[i];
	if (t->off.cpu_out != TL_NOCPU && !t->off.unknown && ev->from_cpu != TL_NOCPU &&
	    t->cpu != TL_NOCPU && ev->from_cpu != t->cpu) {
		t->off.flags |= OFF_SUSPECT;
		if (t->sleeps && !t->woken && t->wake.set && t->wake.ns > t->off.start_ns)
			r = ran_elsewhere(s, i, ev->from_cpu);
	}
	t->cpu = ev->to_cpu;
	return r;
}

/* The tid now belongs to somebody else, and the end of the old thread was not recorded. */
static int retire(struct sched *s, uint32_t i)
{
	struct thr *t = &s->threads.v[i];
	uint64_t end = t->state == OFF ? t->off.start_ns : last_seen(s, t);
	if (t->state == RUNNING && t->cpu < s->cpus.n && s->cpus.v[t->cpu].cur == i)
		set_current(&s->cpus.v[t->cpu], -1, TL_NONE, s->now);
	end_life(s, i, end);
	return 0;
}

static int new_thread(struct sched *s, const struct sched_event *ev, uint32_t *i)
{
	int r = 0;
	if (u64map_get(&s->by_tid, (uint32_t)ev->target_tid, i) &&
	    (s->threads.v[*i].state == RUNNING || s->threads.v[*i].state == OFF))
		r = retire(s, *i);
	if (!r)
		r = thread_of(s, ev->target_tid, i);
	if (!r)
		r = set_comm(s, *i, ev->target_comm);
	if (!r) {
		set_pid(s, *i, ev->target_pid);
		s->tl->threads.v[*i].flags |= THREAD_BORN;
	}
	return r;
}

static int on_wakeup_new(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = new_thread(s, ev, &i);
	if (!r)
		r = make_wake(s, ev, &w);
	if (r)
		return r;
	begin_woken(s, i, &w, 0);
	s->threads.v[i].off.cause = CAUSE_RUNQUEUE;
	s->threads.v[i].woken = 1;
	return 0;
}

static int on_exit(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	/* the record may come after the last switch: then there is nothing left to say */
	if (!u64map_get(&s->by_tid, (uint32_t)ev->target_tid, &i))
		return 0;
	s->threads.v[i].exiting = 1;
	set_pid(s, i, ev->target_pid);
	return 0;
}

static int on_comm(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = thread_of(s, ev->target_tid, &i);
	if (!r)
		r = set_comm(s, i, ev->target_comm);
	if (!r)
		set_pid(s, i, ev->target_pid);
	return r;
}

/* A whole interval at once, told at its end. Which thread had which CPU is not known then. */
static int on_direct(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = on_comm(s, ev);
	if (!r)
		r = thread_of(s, ev->target_tid, &i);
	if (r || s->tl->flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))
		return r; /* the switches tell all that, and more */
	struct thr *t = &s->threads.v[i];
	uint64_t from = ev->from_ns;
	if (t->state == UNSEEN || !t->until_ns)
		begin_running(s, i, TL_NOCPU, -1, from);
	if (from < t->until_ns)
		from = t->until_ns;
	begin_off(s, i, from, TL_NOCPU);
	t->off.path = ev->path;
	if (ev->no_stack)
		t->off.flags |= OFF_NO_STACK;
	t->until_ns = ev->time_ns;
	r = end_off(s, i, ev->time_ns, TL_NOCPU, -1);
	run_on(s, i, TL_NOCPU);
	return r;
}

static int on_loss(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	struct tl_loss l = {.from_ns = ev->from_ns,
			    .to_ns = ev->time_ns,
			    .count = ev->count,
			    .cpu = ev->cpu,
			    .sched = 1,
			    .kind = ev->kind == SCHED_LOST ? LOSS_LOST : LOSS_THROTTLE};
	if (ev->cpu != TL_NOCPU) {
		if (cpu_of(s, ev->cpu, &c))
			return ERR_NOMEM;
		c->lost = 1;
		c->lost_ns = ev->time_ns;
		if (!l.from_ns)
			l.from_ns = c->last_ns;
	}
	return vec_push(&s->tl->losses, l);
}

/* --- the door -------------------------------------------------------------------------- */

/* Who is current on this CPU, as far as a record that is no switch tells it. Between the switch
 * tracepoint and the switch itself the old task still is, so this never makes a hole; it
 * narrows the bounds of one. */
static int note_current(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i;
	int r = cpu_of(s, ev->cpu, &c);
	if (r)
		return r;
	if (c->cur_tid == ev->tid) {
		c->cur_ns = ev->time_ns;
		c->alt_tid = -1;
		if (ev->tid > 0 && ev->pid >= 0)
			s->tl->threads.v[c->cur].pid = ev->pid;
	} else if (c->cur_tid >= 0) {
		if (c->alt_tid != ev->tid) {
			c->alt_tid = ev->tid;
			c->alt_ns = ev->time_ns;
			c->alt_lo_ns = c->last_ns;
		}
	} else if (ev->tid == 0) {
		set_current(c, 0, TL_NONE, ev->time_ns);
	} else {
		r = thread_of(s, ev->tid, &i);
		if (!r && s->threads.v[i].state == UNSEEN) {
			set_pid(s, i, ev->pid);
			begin_running(s, i, ev->cpu, -1, ev->time_ns);
			set_current(c, ev->tid, i, ev->time_ns);
		}
	}
	return r;
}

static int dispatch(struct sched *s, const struct sched_event *ev)
{
	int target = ev->target_tid > 0;
	switch (ev->kind) {
	case SCHED_SWITCH:
		return ev->cpu == TL_NOCPU ? 0 : on_switch(s, ev);
	case SCHED_OUT:
		return ev->cpu == TL_NOCPU ? 0 : on_out(s, ev);
	case SCHED_IN:
		return ev->cpu == TL_NOCPU ? 0 : on_in(s, ev);
	case SCHED_WAKING:
		return target ? on_waking(s, ev) : 0;
	case SCHED_WAKEUP:
		return target ? on_wakeup(s, ev) : 0;
	case SCHED_MIGRATE:
		return target ? on_migrate(s, ev) : 0;
	case SCHED_WAKEUP_NEW:
		return target ? on_wakeup_new(s, ev) : 0;
	case SCHED_FORK: {
		uint32_t i;
		return target ? new_thread(s, ev, &i) : 0;
	}
	case SCHED_COMM:
		return target ? on_comm(s, ev) : 0;
	case SCHED_EXIT:
		return target ? on_exit(s, ev) : 0;
	case SCHED_DIRECT:
		return target ? on_direct(s, ev) : 0;
	case SCHED_LOST:
	case SCHED_THROTTLED:
		return on_loss(s, ev);
	default:
		return 0;
	}
}

static int failed(int r, struct err *e)
{
	if (r == ERR_LIMIT)
		return err_set(e, r, "more than 2^32 threads");
	return r && r != ERR_IO ? err_nomem(e) : r;
}

/* A CPU for a switch that names none: what counts is that no two threads share it. */
static int own_cpu(struct sched *s, struct sched_event *ev)
{
	int32_t tid = ev->kind == SCHED_SWITCH ? ev->prev_tid : ev->tid;
	uint32_t i;
	if (tid <= 0)
		return 0;
	int known = u64map_get(&s->by_tid, (uint32_t)tid, &i);
	if (!known && add_thread(s, tid, &i))
		return ERR_NOMEM;
	s->no_cpus = 1;
	ev->cpu = (uint16_t)(i % TL_NOCPU);
	return 0;
}

int sched_event(struct sched *s, const struct sched_event *in, struct err *e)
{
	struct sched_event own;
	const struct sched_event *ev = in;
	struct cpu *c;
	int is_switch =
		ev->kind == SCHED_SWITCH || ev->kind == SCHED_OUT || ev->kind == SCHED_IN;
	int r = 0;
	s->e = e;
	if (ev->time_ns > s->now)
		s->now = ev->time_ns;
	if (is_switch && ev->cpu == TL_NOCPU && !s->chain) {
		own = *in;
		ev = &own;
		r = own_cpu(s, &own);
	}
	if (!r && !is_switch && ev->kind != SCHED_LOST && ev->cpu != TL_NOCPU && ev->tid >= 0)
		r = note_current(s, ev);
	if (!r)
		r = dispatch(s, ev);
	if (!r && ev->cpu != TL_NOCPU) {
		r = cpu_of(s, ev->cpu, &c);
		if (!r)
			c->last_ns = ev->time_ns;
	}
	return failed(r, e);
}

int sched_thread(struct sched *s, int32_t pid, int32_t tid, const char *comm, uint32_t *thread,
		 struct err *e)
{
	*thread = TL_NONE;
	if (tid <= 0)
		return 0;
	int r = thread_of(s, tid, thread);
	if (!r)
		r = set_comm(s, *thread, comm);
	if (!r)
		set_pid(s, *thread, pid);
	return failed(r, e);
}

int sched_nobody(struct sched *s, int32_t pid, int32_t tid, uint64_t ns, uint32_t *thread,
		 struct err *e)
{
	int r = add_thread(s, tid, thread);
	if (r)
		return failed(r, e);
	struct tl_thread *t = &s->tl->threads.v[*thread];
	t->pid = pid;
	t->first_ns = t->last_ns = ns;
	t->flags = THREAD_IDLE_TASK | (tid ? 0 : THREAD_KERNEL);
	s->threads.v[*thread].state = DEAD;
	return 0;
}

int sched_finish(struct sched *s, uint64_t end_ns, struct err *e)
{
	int r = 0;
	s->e = e;
	if (end_ns < s->now)
		end_ns = s->now;
	for (uint32_t i = 0; i < s->threads.n; i++) {
		struct thr *t = &s->threads.v[i];
		struct tl_thread *out = &s->tl->threads.v[i];
		if (t->state == DEAD)
			continue;
		out->last_ns = end_ns;
		if (t->state == UNSEEN)
			out->first_ns = end_ns;
		if (t->state != OFF)
			continue;
		t->off.flags |= OFF_OPEN;
		if ((r = end_off(s, i, end_ns, TL_NOCPU, -1)))
			return failed(r, e);
	}
	return timeline_finish(s->tl, e);
}
