/* chain_parts.c - the parts of a link, and the threads that kept it there; see
 * chain_internal.h. */
#include "libtime/explain/behind.h"
#include "libtime/explain/chain_internal.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <string.h>

enum { LOOKED_THROUGH = 16 };

static uint64_t part_key(const struct chain_part *p)
{
	enum { VECTORS = 1 << 20 };
	return (uint64_t)p->function << 32 | (uint64_t)(p->vector % VECTORS) << 12 |
	       (uint64_t)p->state << 8 | p->cause;
}

/* Find the link's part with that key. Most links have only a few parts, which are compared one
 * by one; the others are in a map. */
static int find_part(const struct explainer *x, uint64_t key, uint32_t *at)
{
	const struct chain_link *l = x->link;
	for (*at = 0; *at < l->nparts && *at < LOOKED_THROUGH; ++*at)
		if (part_key(&x->out->parts.v[l->part + *at]) == key)
			return 1;
	return u64map_get(&x->part_of, key, at);
}

static int new_part(struct explainer *x, uint64_t key, const struct chain_part *p, uint32_t *at)
{
	struct chain_link *l = x->link;
	struct chain_part new = {.first_ns = p->first_ns,
				 .function = p->function,
				 .samples = p->samples,
				 .vector = p->vector,
				 .offcpu = TL_NONE,
				 .actor = TL_NONE,
				 .state = p->state,
				 .cause = p->cause};
	*at = l->nparts;
	if (vec_push(&x->out->parts, new) ||
	    (*at >= LOOKED_THROUGH && u64map_put(&x->part_of, key, *at)))
		return ERR_NOMEM;
	l->nparts++;
	return 0;
}

static void add_stretch(struct chain_part *q, uint64_t ns, uint8_t end, uint32_t path,
			uint32_t offcpu)
{
	q->ns += ns;
	q->by_end[end] += ns;
	if (ns > q->largest_ns) {
		q->largest_ns = ns;
		q->path = path;
		q->offcpu = offcpu;
	}
}

int chain_add_part(struct explainer *x, const struct chain_part *p, uint32_t *index)
{
	uint64_t key = part_key(p);
	uint32_t at;
	if (!find_part(x, key, &at) && new_part(x, key, p, &at))
		return ERR_NOMEM;
	at += x->link->part;
	add_stretch(&x->out->parts.v[at], p->ns, p->end, p->path, p->offcpu);
	if (index)
		*index = at;
	return 0;
}

static int add_blocked(struct explainer *x, uint8_t state, uint8_t end, uint32_t offcpu,
		       const struct window *w, uint32_t *index)
{
	struct chain_part p = {.ns = w->to_ns - w->from_ns,
			       .first_ns = w->from_ns,
			       .offcpu = offcpu,
			       .state = state,
			       .cause = CAUSE_UNKNOWN,
			       .end = end};
	if (offcpu != TL_NONE) {
		p.cause = x->tl->offcpu.v[offcpu].cause;
		p.path = x->tl->offcpu.v[offcpu].path;
	}
	p.function = evidence_function(&x->ev, appframe_reported(x->tl, p.path));
	return chain_add_part(x, &p, index);
}

/* All waiting for a CPU is one part, whichever thread had it. */
static int find_queue(struct explainer *x, uint64_t first_ns)
{
	struct chain_part p = {
		.first_ns = first_ns, .state = PART_RUNNABLE, .cause = CAUSE_RUNQUEUE};
	x->queue_link = x->link_number;
	return chain_add_part(x, &p, &x->queue);
}

/* On a crowded CPU a wait has thousands of such stretches: the part is searched for once. */
static int add_queued(struct explainer *x, uint8_t end, uint32_t offcpu, const struct window *w,
		      uint32_t *index)
{
	if (x->queue_link != x->link_number && find_queue(x, w->from_ns))
		return ERR_NOMEM;
	add_stretch(&x->out->parts.v[x->queue], w->to_ns - w->from_ns, end,
		    offcpu != TL_NONE ? x->tl->offcpu.v[offcpu].path : 0, offcpu);
	if (index)
		*index = x->queue;
	return 0;
}

/* Add a stretch that a thread spent off a CPU. */
static int add_offcpu_part(struct explainer *x, uint8_t state, uint8_t end, uint32_t offcpu,
			   const struct window *w, uint32_t *index)
{
	return state == PART_RUNNABLE ? add_queued(x, end, offcpu, w, index)
				      : add_blocked(x, state, end, offcpu, w, index);
}

int chain_own_part(struct explainer *x, uint8_t state, uint8_t end, uint32_t offcpu,
		   uint64_t from, uint64_t to)
{
	return add_offcpu_part(x, state, end, offcpu, &(struct window){from, to, TL_NONE},
			       NULL);
}

/* The thread's candidate for a part, or a new one. */
static int find_candidate(struct explainer *x, uint32_t thread, uint32_t part, uint32_t *at)
{
	struct place *p = &x->place[thread];
	uint32_t first = p->link == x->link_number ? p->candidate : TL_NONE;
	for (*at = first; *at != TL_NONE; *at = x->candidates.v[*at].more)
		if (x->candidates.v[*at].part == part)
			return 0;
	*at = p->candidate = (uint32_t)x->candidates.n;
	p->link = x->link_number;
	return vec_push(&x->candidates,
			((struct candidate){.thread = thread, .part = part, .more = first}));
}

/* The window's thread kept the link in a stretch of that part. */
static int claim(struct explainer *x, const struct window *w, uint8_t via, uint8_t state,
		 uint32_t offcpu)
{
	uint64_t ns = w->to_ns - w->from_ns;
	uint32_t part, at;
	uint8_t end = state == PART_RUNNABLE ? END_QUEUED : END_NONE;
	if (add_offcpu_part(x, state, end, offcpu, w, &part) ||
	    find_candidate(x, w->thread, part, &at))
		return ERR_NOMEM;
	struct candidate *c = &x->candidates.v[at];
	c->ns += ns;
	if (ns > c->largest_ns) {
		const struct offcpu *o = &x->tl->offcpu.v[offcpu];
		c->largest_ns = ns;
		c->path = o->path;
		c->offcpu = offcpu;
		c->via = via;
		c->state = via == VIA_CPU && o->flags & OFF_RUNNING ? PART_PREEMPTED : state;
	}
	return vec_push(&x->claims, ((struct claim){at, *w}));
}

static int on_chain(const struct explainer *x, uint32_t thread)
{
	for (size_t i = 0; i < x->out->chain.n; i++)
		if (x->out->chain.v[i].thread == thread)
			return 1;
	return 0;
}

/* May the chain go on from the wait `offcpu` to the window's thread? If so, the window is cut
 * to the thread's recorded life; if not, *end says why. */
static int follow(const struct explainer *x, uint32_t offcpu, struct window *w, uint8_t *end)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	if (w->thread == x->tl->offcpu.v[offcpu].thread || on_chain(x, w->thread)) {
		*end = END_CYCLE;
		return 0;
	}
	if (x->out->chain.n >= CHAIN_DEPTH) {
		*end = END_DEPTH;
		return 0;
	}
	*end = END_GONE;
	if (w->from_ns < t->first_ns)
		w->from_ns = t->first_ns;
	if (w->to_ns > t->last_ns)
		w->to_ns = t->last_ns;
	return w->from_ns < w->to_ns;
}

/* Did a kernel thread end the wait that only received packets (threaded NAPI, PREEMPT_RT,
 * ksoftirqd)? poll may wait for a device other than the network's, whose irq_thread proves
 * nothing. */
static int only_took_packets(const struct explainer *x, const struct offcpu *o)
{
	static const char *const names[] = {"irq_thread", "net_rx_action", "__napi_poll",
					    "napi_threaded_poll", NULL};
	return (o->cause == CAUSE_NET || o->cause == CAUSE_POLL) && o->waker != TL_NONE &&
	       x->tl->threads.v[o->waker].flags & THREAD_KERNEL &&
	       evidence_stack_has(x->tl, o->waker_path,
				  o->cause == CAUSE_NET ? names : names + 1);
}

static uint8_t end_of_net(const struct explainer *x, const struct offcpu *o)
{
	static const char *const timeouts[] = {"process_timeout", "hrtimer_wakeup", NULL};
	if (evidence_stack_has(x->tl, o->waker_path, timeouts))
		return END_TIMER;
	return o->waker_context == WAKER_SOFTIRQ || o->waker_context == WAKER_HARDIRQ ||
			       only_took_packets(x, o)
		       ? END_NETWORK
		       : END_IRQ;
}

/* What ended a wait, if not a thread. */
static uint8_t end_of(const struct explainer *x, const struct offcpu *o, uint8_t cut)
{
	if (o->flags & OFF_OPEN && cut)
		return END_OPEN;
	switch (o->cause) {
	case CAUSE_SLEEP:
		return END_TIMER;
	case CAUSE_IO:
	case CAUSE_FAULT:
		return END_DEVICE;
	case CAUSE_NET:
		return end_of_net(x, o);
	case CAUSE_LOCK:
	case CAUSE_RWLOCK:
		return o->waker_context == WAKER_NONE ? END_NO_WAKE : END_TIMED_OUT;
	default:
		if (only_took_packets(x, o))
			return END_NETWORK;
		return o->waker_context == WAKER_NONE ? END_NO_WAKE : END_IRQ;
	}
}

/* Did a thread end the wait? Timers may run in kernel threads (PREEMPT_RT): one that ends a
 * sleep counts as its timer. */
static int has_waker(const struct explainer *x, const struct offcpu *o)
{
	if (o->waker == TL_NONE || only_took_packets(x, o))
		return 0;
	if (o->cause == CAUSE_SLEEP && x->tl->threads.v[o->waker].flags & THREAD_KERNEL)
		return 0;
	if (o->cause == CAUSE_IO || o->cause == CAUSE_FAULT)
		return o->waker_context == WAKER_TASK;
	return o->waker_context == WAKER_TASK || o->waker_context == WAKER_SOFTIRQ_INLINE;
}

/* When in [from, to) the thread that ended a wait for a device began to work for it: a kernel
 * thread at the end of its last idle wait. Before that the device was at work. */
static uint64_t began_work_ns(const struct explainer *x, uint32_t thread, uint64_t from,
			      uint64_t to)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(x->tl, thread, to - 1);
	if (!(t->flags & THREAD_KERNEL))
		return from;
	if (i < t->offcpu_first + t->offcpu_n && x->tl->offcpu.v[i].start_ns < to)
		i++;
	for (; i > t->offcpu_first && x->tl->offcpu.v[i - 1].end_ns > from; i--) {
		const struct offcpu *o = &x->tl->offcpu.v[i - 1];
		if (kthread_is_idle(x->tl, o))
			return chain_clamp(o->start_ns + o->blocked_ns, from, to);
	}
	return from;
}

/* Add a blocked stretch in which the window's thread kept the link waiting. */
static int add_kept(struct explainer *x, struct window w, uint8_t via, uint32_t offcpu)
{
	uint64_t from = w.from_ns, to = w.to_ns;
	uint8_t end = END_NONE;
	if (!follow(x, offcpu, &w, &end))
		return chain_own_part(x, PART_BLOCKED, end, offcpu, from, to);
	if (claim(x, &w, via, PART_BLOCKED, offcpu))
		return ERR_NOMEM;
	if (w.from_ns > from &&
	    chain_own_part(x, PART_BLOCKED, END_GONE, offcpu, from, w.from_ns))
		return ERR_NOMEM;
	return w.to_ns < to ? chain_own_part(x, PART_BLOCKED, END_GONE, offcpu, w.to_ns, to)
			    : 0;
}

/* How a holder kept the link in a wait for a lock. */
static uint8_t via_of(const struct offcpu *o, int known, const struct window *w,
		      const struct offcpu *last)
{
	int woke = w->thread == last->waker && w->to_ns == o->start_ns + o->blocked_ns;
	if (known)
		return VIA_OWNER;
	if (woke)
		return VIA_WAKER;
	return o->cause == CAUSE_FUTEX ? VIA_TURN : VIA_OWNER;
}

/* Add [from, to) of a wait for a lock, divided among its holders in x->owners. */
static int held(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to, struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu],
			    *last = &x->tl->offcpu.v[lock_retried(x->tl, offcpu)];
	struct lock_mark mark = {0};
	int r = evidence_lock_mark(&x->ev, offcpu, &mark, e);
	int probed = 0;
	for (size_t i = 0; r > 0 && i < x->owners.n; i++)
		probed |= x->owners.v[i].thread != TL_NONE &&
			  x->tl->threads.v[x->owners.v[i].thread].tid == mark.owner;
	r = r < 0 ? r : 0;
	for (size_t i = 0; !r && i < x->owners.n; i++) {
		struct window w = x->owners.v[i];
		uint8_t via = via_of(o, probed, &w, last);
		w.from_ns = chain_clamp(w.from_ns, from, to);
		w.to_ns = chain_clamp(w.to_ns, from, to);
		if (w.from_ns >= w.to_ns)
			continue;
		r = w.thread != TL_NONE ? add_kept(x, w, via, offcpu)
					: chain_own_part(x, PART_BLOCKED, END_NO_HOLDER, offcpu,
							 w.from_ns, w.to_ns);
	}
	return r;
}

int chain_blocked(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to,
		  struct err *e)
{
	const struct timeline *tl = x->tl;
	const struct offcpu *o = &tl->offcpu.v[offcpu],
			    *last = &tl->offcpu.v[lock_retried(tl, offcpu)];
	int r = lock_holders(&x->ev, offcpu, &x->owners, e);
	if (!r && x->owners.n)
		return held(x, offcpu, from, to, e);
	if (r)
		return r;
	uint64_t since = from;
	if (has_waker(x, last)) {
		if (o->cause == CAUSE_IO || o->cause == CAUSE_FAULT)
			since = began_work_ns(x, last->waker, from, to);
		r = since < to ? add_kept(x, (struct window){since, to, last->waker}, VIA_WAKER,
					  offcpu)
			       : 0;
		to = since;
	}
	if (r || from == to)
		return r;
	return chain_own_part(x, PART_BLOCKED, end_of(x, o, to == o->end_ns), offcpu, from, to);
}

static int note_corunner(struct explainer *x, const struct window *w, uint16_t cpu)
{
	struct place *p = &x->place[w->thread];
	if (p->ahead_link == x->link_number) {
		x->out->ahead.v[p->ahead].ns += w->to_ns - w->from_ns;
		return 0;
	}
	p->ahead_link = x->link_number;
	p->ahead = (uint32_t)x->out->ahead.n;
	struct corunner c = {
		.ns = w->to_ns - w->from_ns,
		.thread = w->thread,
		.prio = (int16_t)evidence_prio(&x->ev, cpu, w->thread, w->from_ns)};
	return vec_push(&x->out->ahead, c);
}

/* Why no thread is seen on the CPU that a woken thread waited for since `at`: if all switches
 * were recorded, it was idle and had to wake up. */
static uint8_t end_of_idle_cpu(struct explainer *x, const struct offcpu *o, uint64_t at)
{
	unsigned flags = timeline_flags_of(x->tl, o->thread);
	int all = flags & TL_HAS_SWITCH && !(flags & (TL_PER_TASK | TL_SOME_CPUS | TL_SAMPLED));
	int woken = !(o->flags & (OFF_RUNNING | OFF_SUSPECT | OFF_OPEN)) &&
		    o->cpu_in == offcpu_waited_cpu(o);
	return all && woken && evidence_knows_cpu(&x->ev, o->cpu_in, at) ? END_IDLE_EXIT
									 : END_IDLE_CPU;
}

/* A thread without quota left is not on the run queue: the threads on its CPU did not hold it
 * up. */
int chain_runnable(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to,
		   struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	uint64_t at = from;
	if (o->cause == CAUSE_THROTTLE && o->flags & OFF_RUNNING)
		return chain_own_part(x, PART_PREEMPTED, END_QUOTA, offcpu, from, to);
	x->holders.n = 0;
	int r = evidence_holders(&x->ev, offcpu_waited_cpu(o), from, to, o->thread, &x->holders,
				 e);
	for (size_t i = 0; !r && i < x->holders.n; i++) {
		struct window w = x->holders.v[i];
		uint8_t end;
		if (note_corunner(x, &w, offcpu_waited_cpu(o)))
			return ERR_NOMEM;
		if (w.from_ns > at)
			r = chain_own_part(x, PART_RUNNABLE, end_of_idle_cpu(x, o, at), offcpu,
					   at, w.from_ns);
		uint64_t since = w.from_ns;
		at = w.to_ns;
		if (r)
			break;
		if (!follow(x, offcpu, &w, &end)) {
			r = chain_own_part(x, PART_RUNNABLE, end, offcpu, since, at);
			continue;
		}
		r = claim(x, &w, VIA_CPU, PART_RUNNABLE, offcpu);
		if (!r && since < w.from_ns)
			r = chain_own_part(x, PART_RUNNABLE, END_GONE, offcpu, since,
					   w.from_ns);
		if (!r && w.to_ns < at)
			r = chain_own_part(x, PART_RUNNABLE, END_GONE, offcpu, w.to_ns, at);
	}
	if (!r && at < to)
		r = chain_own_part(x, PART_RUNNABLE, end_of_idle_cpu(x, o, at), offcpu, at, to);
	return r;
}
