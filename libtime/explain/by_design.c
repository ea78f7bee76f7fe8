#include "libtime/explain/by_design.h"
#include "libtime/explain/chain.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

enum {
	ENOUGH = 4,  /* waits, of which a long one is unusual ... */
	UNUSUAL = 3, /* ... if it is so many times as long as the median */
	LOW_PRIO = 130,
};
static const uint64_t computes_ns = 50000000; /* between two waits, on average */

struct visit {
	uint64_t ns;
	uint32_t site;
};

struct habits {
	const struct timeline *tl;
	const struct tl_thread *of;
	VEC(struct visit) v; /* its waits, by site and length */
	uint64_t blocked_ns, waits;
};

/* Causes of waits that may be at rest. */
static int may_rest(unsigned cause)
{
	return cause == CAUSE_SLEEP || cause == CAUSE_POLL || cause == CAUSE_COND ||
	       cause == CAUSE_SEMAPHORE || cause == CAUSE_NET || cause == CAUSE_PIPE ||
	       cause == CAUSE_CHILD || cause == CAUSE_SIGNAL || cause == CAUSE_FUTEX;
}

static int visit_order(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static int learn(struct habits *h, const struct timeline *tl, uint32_t thread)
{
	h->tl = tl;
	h->of = &tl->threads.v[thread];
	h->v.n = 0;
	h->blocked_ns = h->waits = 0;
	for (uint32_t i = 0; i < h->of->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[h->of->offcpu_first + i];
		if (!o->blocked_ns)
			continue;
		h->waits++;
		h->blocked_ns += o->blocked_ns;
		if (may_rest(o->cause) &&
		    vec_push(&h->v, ((struct visit){o->blocked_ns, o->site})))
			return ERR_NOMEM;
	}
	if (h->v.n)
		qsort(h->v.v, h->v.n, sizeof(*h->v.v), visit_order);
	return 0;
}

static uint64_t life_ns(const struct habits *h)
{
	return h->of->last_ns - h->of->first_ns;
}

/* Is it where the thread spends most of its life, and as long as usual? */
static int is_habit(const struct habits *h, const struct offcpu *o)
{
	uint64_t ns = 0;
	size_t first = 0, n = 0;
	const struct tl_site *site = timeline_site(h->tl, o->site);
	int for_work = site->reason == REASON_WORK_FRAME || site->reason == REASON_WORK_WAIT ||
		       site->reason == REASON_CONNECTED;
	if (!may_rest(o->cause) || for_work)
		return 0;
	while (first < h->v.n && h->v.v[first].site != o->site)
		first++;
	for (; first + n < h->v.n && h->v.v[first + n].site == o->site; n++)
		ns += h->v.v[first + n].ns;
	if (ns < life_ns(h) / 2)
		return 0;
	return n < ENOUGH || o->blocked_ns / UNUSUAL < h->v.v[first + n / 2].ns;
}

/* Does the thread compute, without waiting for anything but a CPU? */
static int computes(const struct habits *h)
{
	uint64_t life = life_ns(h);
	return life > h->blocked_ns && (life - h->blocked_ns) / (h->waits + 1) >= computes_ns;
}

/* How long a thread had a CPU in [from, to). */
static uint64_t had_cpu(const struct timeline *tl, uint32_t thread, uint16_t cpu, uint64_t from,
			uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, from),
		 last = t->offcpu_first + t->offcpu_n;
	uint64_t ns = 0, at = i > t->offcpu_first ? tl->offcpu.v[i - 1].end_ns : t->first_ns;
	uint16_t on = i > t->offcpu_first ? tl->offcpu.v[i - 1].cpu_in : t->first_cpu;
	for (; at < to; i++) {
		uint64_t a = at < from ? from : at,
			 b = i < last ? tl->offcpu.v[i].start_ns : t->last_ns;
		b = b > to ? to : b;
		ns += on == cpu && b > a ? b - a : 0;
		if (i >= last)
			break;
		at = tl->offcpu.v[i].end_ns;
		on = tl->offcpu.v[i].cpu_in;
	}
	return ns;
}

/* Did the recorder have the CPU for most of the time that a thread waited for it? */
static int is_recorders(const struct timeline *tl, const struct offcpu *o)
{
	uint64_t from = o->start_ns + o->blocked_ns, ns = 0;
	for (uint32_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].flags & THREAD_RECORDER)
			ns += had_cpu(tl, i, offcpu_waited_cpu(o), from, o->end_ns);
	return ns * 2 > o->end_ns - from;
}

/* `meant`: threads of a program that was recorded for. If it computes, it is about CPUs. */
static int is_by_design(const struct habits *h, const struct offcpu *o, int meant)
{
	if (o->unknown || o->cause == CAUSE_THROTTLE || o->cause == CAUSE_YIELD)
		return 0;
	if (offcpu_runnable_ns(o) <= o->blocked_ns)
		return is_habit(h, o);
	return (!meant && (o->prio_in >= LOW_PRIO || computes(h))) || is_recorders(h->tl, o);
}

/* Are all waits of one process, so that it was recorded for? */
static int is_alone(const struct timeline *tl)
{
	int32_t pid = -1;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (t->flags & THREAD_SYSTEM || !t->offcpu_n)
			continue;
		if (pid >= 0 && t->pid != pid)
			return 0;
		pid = t->pid;
	}
	return 1;
}

int by_design_mark(struct episodes *x, const struct timeline *tl, struct err *e)
{
	struct habits h = {0};
	uint32_t thread = TL_NONE;
	int r = 0, meant = x->query.of.meant || is_alone(tl);
	for (size_t i = 0; !r && i < x->v.n; i++) {
		struct episode *ep = &x->v.v[i];
		if (episode_ns(ep) < DESIGN_LEAST_NS)
			continue;
		if (ep->thread != thread)
			r = learn(&h, tl, thread = ep->thread);
		ep->by_design = !r && is_by_design(&h, &tl->offcpu.v[ep->at], meant);
	}
	vec_release(&h.v);
	return r ? err_nomem(e) : 0;
}
