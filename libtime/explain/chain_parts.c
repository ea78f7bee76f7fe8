/* chain_parts.c - the parts of a link, and who else is in them; see chain_internal.h. */
#include "libtime/explain/chain_internal.h"
#include "libtime/explain/lock_held.h"

#include <string.h>

enum { FEW = 16 };

static uint64_t part_key(const struct chain_part *p)
{
	return (uint64_t)p->function << 32 | (uint64_t)p->state << 16 |
	       (uint64_t)p->cause << 8 | p->end;
}

/* The link's part of that key. The first few are looked through, which is all that most links
 * have; the others are in a map. */
static struct chain_part *find_part(struct explainer *x, uint64_t key)
{
	const struct chain_link *l = x->link;
	uint32_t at;
	for (at = 0; at < l->nparts && at < FEW; at++) {
		struct chain_part *q = &x->out->parts.v[l->part + at];
		if (part_key(q) == key)
			return q;
	}
	return u64map_get(&x->part_of, key, &at) ? &x->out->parts.v[l->part + at] : NULL;
}

int chain_add_part(struct explainer *x, const struct chain_part *p)
{
	struct chain_link *l = x->link;
	uint64_t key = part_key(p);
	struct chain_part *q = find_part(x, key);
	if (q) {
		q->ns += p->ns;
		if (p->ns > q->largest_ns) {
			q->largest_ns = p->ns;
			q->path = p->path;
			q->off = p->off;
		}
		return 0;
	}
	if (vec_push(&x->out->parts, *p) ||
	    (l->nparts >= FEW && u64map_put(&x->part_of, key, l->nparts)))
		return ERR_NOMEM;
	x->out->parts.v[l->part + l->nparts++].largest_ns = p->ns;
	return 0;
}

/* The link's own doing in a stretch of it. */
int chain_own_part(struct explainer *x, uint8_t state, uint8_t end, uint32_t off, uint64_t from,
		   uint64_t to)
{
	struct chain_part p = {.ns = to - from,
			       .first_ns = from,
			       .off = off,
			       .state = state,
			       .cause = CAUSE_UNKNOWN,
			       .end = end};
	if (off != TL_NONE && state != PART_RUNNING) {
		const struct off *o = &x->tl->off.v[off];
		p.path = o->path;
		p.cause = state == PART_RUNNABLE ? CAUSE_RUNQUEUE : o->cause;
		p.function = appframe_telling(x->tl, p.path);
	}
	return chain_add_part(x, &p);
}

/* 1 when the thread was met in this link by that way; *at is then where it stands. */
static int met(struct explainer *x, uint32_t thread, uint8_t via, uint32_t **at)
{
	struct place *p = &x->place[(size_t)thread * WAYS + via];
	int is = p->link == x->link_number;
	p->link = x->link_number;
	*at = &p->at;
	return is;
}

static int claim(struct explainer *x, const struct window *w, uint8_t via, uint8_t state,
		 uint32_t off)
{
	const struct off *o = &x->tl->off.v[off];
	uint64_t ns = w->to_ns - w->from_ns;
	uint32_t *at;
	if (!met(x, w->thread, via, &at)) {
		*at = (uint32_t)x->candidates.n;
		struct candidate new = {.thread = w->thread, .via = via};
		if (vec_push(&x->candidates, new))
			return ERR_NOMEM;
	}
	struct candidate *c = &x->candidates.v[*at];
	c->ns += ns;
	if (ns > c->largest_ns) {
		c->largest_ns = ns;
		c->path = o->path;
		c->off = off;
		c->state = state;
		c->cause = state == PART_RUNNABLE ? CAUSE_RUNQUEUE : o->cause;
	}
	return vec_push(&x->claims, ((struct claim){*at, *w}));
}

static int on_chain(const struct explainer *x, uint32_t thread)
{
	for (size_t i = 0; i < x->out->chain.n; i++)
		if (x->out->chain.v[i].thread == thread)
			return 1;
	return 0;
}

/* May the chain go on from the wait `off` to the window's thread? Cuts the window to its
 * recorded life; where it may not, *end says why. */
static int follow(const struct explainer *x, uint32_t off, struct window *w, uint8_t *end)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	if (w->thread == x->tl->off.v[off].thread || on_chain(x, w->thread)) {
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

/* 1 when a kernel function of one of these names is on the stack. */
static int has_function(const struct explainer *x, uint32_t path, const char *const *names)
{
	const struct stacks *s = x->tl->stacks;
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		const char *name = strtab_get(&s->strings, f->name);
		for (size_t i = 0; f->kind == FRAME_KERNEL && names[i]; i++)
			if (!strcmp(name, names[i]))
				return 1;
	}
	return 0;
}

/* A thread of the kernel that only took packets in (threaded NAPI, PREEMPT_RT, ksoftirqd). What
 * is polled may be another device's than the network's: its irq_thread says nothing. */
static int took_packets(const struct explainer *x, const struct off *o)
{
	static const char *const names[] = {"irq_thread", "net_rx_action", "__napi_poll",
					    "napi_threaded_poll", NULL};
	return (o->cause == CAUSE_NET || o->cause == CAUSE_POLL) && o->waker != TL_NONE &&
	       x->tl->threads.v[o->waker].flags & THREAD_KERNEL &&
	       has_function(x, o->waker_path, o->cause == CAUSE_NET ? names : names + 1);
}

static uint8_t end_of_net(const struct explainer *x, const struct off *o)
{
	static const char *const timeouts[] = {"process_timeout", "hrtimer_wakeup", NULL};
	if (has_function(x, o->waker_path, timeouts))
		return END_TIMER;
	return o->waker_context == WAKER_SOFTIRQ || o->waker_context == WAKER_HARDIRQ ||
			       took_packets(x, o)
		       ? END_NETWORK
		       : END_IRQ;
}

/* What ended a wait that no thread ended. */
static uint8_t end_of(const struct explainer *x, const struct off *o, uint8_t cut)
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
	default:
		if (took_packets(x, o))
			return END_NETWORK;
		return o->waker_context == WAKER_NONE ? END_NO_WAKE : END_IRQ;
	}
}

/* A thread that slept on purpose, or that a device kept, is the end; a user thread that ended
 * an I/O wait held what it was for (a page, an inode). */
static int has_waker(const struct explainer *x, const struct off *o)
{
	if (o->waker == TL_NONE || o->cause == CAUSE_SLEEP || took_packets(x, o))
		return 0;
	if (o->cause == CAUSE_IO || o->cause == CAUSE_FAULT)
		return o->waker_context == WAKER_TASK &&
		       !(x->tl->threads.v[o->waker].flags & THREAD_KERNEL);
	return o->waker_context == WAKER_TASK || o->waker_context == WAKER_SOFTIRQ_INLINE;
}

/* A blocked stretch that the window's thread kept the link in. */
static int kept_by(struct explainer *x, struct window w, uint8_t via, uint32_t off)
{
	uint64_t from = w.from_ns, to = w.to_ns;
	uint8_t end = END_NONE;
	if (!follow(x, off, &w, &end))
		return chain_own_part(x, PART_BLOCKED, end, off, from, to);
	if (claim(x, &w, via, PART_BLOCKED, off))
		return ERR_NOMEM;
	if (w.from_ns > from && chain_own_part(x, PART_BLOCKED, END_GONE, off, from, w.from_ns))
		return ERR_NOMEM;
	return w.to_ns < to ? chain_own_part(x, PART_BLOCKED, END_GONE, off, w.to_ns, to) : 0;
}

int chain_blocked(struct explainer *x, uint32_t off, uint64_t from, uint64_t to, struct err *e)
{
	const struct off *o = &x->tl->off.v[off];
	x->owners.n = 0;
	int r = off_is_lock(o) ? lock_held(&x->ev, off, &x->owners, e) : 0;
	for (size_t i = 0; !r && i < x->owners.n; i++) {
		struct window w = x->owners.v[i];
		w.from_ns = chain_clamp(w.from_ns, from, to);
		w.to_ns = chain_clamp(w.to_ns, from, to);
		if (w.from_ns < w.to_ns)
			r = kept_by(x, w, VIA_OWNER, off);
	}
	if (r || x->owners.n)
		return r;
	if (has_waker(x, o))
		return kept_by(x, (struct window){from, to, o->waker}, VIA_WAKER, off);
	return chain_own_part(x, PART_BLOCKED, end_of(x, o, to == o->end_ns), off, from, to);
}

static int note_corunner(struct explainer *x, const struct window *w, uint16_t cpu)
{
	uint32_t *at;
	if (met(x, w->thread, VIA_SELF, &at)) {
		x->out->ahead.v[*at].ns += w->to_ns - w->from_ns;
		return 0;
	}
	*at = (uint32_t)x->out->ahead.n;
	struct corunner c = {
		.ns = w->to_ns - w->from_ns,
		.thread = w->thread,
		.prio = (int16_t)evidence_prio(&x->ev, cpu, w->thread, w->from_ns)};
	return vec_push(&x->out->ahead, c);
}

int chain_runnable(struct explainer *x, uint32_t off, uint64_t from, uint64_t to, struct err *e)
{
	const struct off *o = &x->tl->off.v[off];
	uint8_t state = o->flags & OFF_RUNNING ? PART_PREEMPTED : PART_RUNNABLE;
	uint64_t at = from;
	x->holders.n = 0;
	int r = evidence_holders(&x->ev, off_waited_cpu(o), from, to, o->thread, &x->holders,
				 e);
	for (size_t i = 0; !r && i < x->holders.n; i++) {
		struct window w = x->holders.v[i];
		uint8_t end;
		if (note_corunner(x, &w, off_waited_cpu(o)))
			return ERR_NOMEM;
		if (w.from_ns > at)
			r = chain_own_part(x, state, END_IDLE_CPU, off, at, w.from_ns);
		at = w.to_ns;
		if (!r)
			r = follow(x, off, &w, &end)
				    ? claim(x, &w, VIA_CPU, state, off)
				    : chain_own_part(x, state, end, off, w.from_ns, at);
	}
	if (!r && at < to)
		r = chain_own_part(x, state, END_IDLE_CPU, off, at, to);
	return r;
}
