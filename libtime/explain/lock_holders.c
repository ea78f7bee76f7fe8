#include "libtime/explain/lock_holders.h"

/* How many wakeups and probe hits are looked at for one wait. */
enum { MAX_STEPS = 256 };

/* A wait for a lock, and the search for its holders. */
struct lock_wait {
	struct evidence *ev;
	const struct timeline *tl;
	const struct offcpu *o;
	struct lock_mark mark;
	uint64_t end_ns;     /* its wakeup */
	uint64_t checked_ns; /* until then the holder has woken no other waiter */
	int steps;
	windows_vec *out;
};

static int same_process(const struct timeline *tl, uint32_t a, uint32_t b)
{
	const struct tl_thread *x = &tl->threads.v[a], *y = &tl->threads.v[b];
	return x->pid >= 0 && x->pid == y->pid &&
	       timeline_part_of(tl, a) == timeline_part_of(tl, b);
}

/* Did that other interval wait for the same lock? The addresses decide if the probe has both. A
 * thread that was woken in vain and waits again does not hit the probe: then its stack must
 * show a lock, since another futex may be a condition variable that the lock's holder
 * signalled. */
static int same_lock(struct lock_wait *h, uint32_t offcpu, struct err *e)
{
	const struct offcpu *o = &h->tl->offcpu.v[offcpu];
	struct lock_mark m;
	if (o->thread == h->o->thread || o->flags & OFF_IDLE || o->unknown ||
	    !same_process(h->tl, o->thread, h->o->thread))
		return 0;
	int r = evidence_lock_mark(h->ev, offcpu, &m, e);
	if (r > 0 && m.address && h->mark.address)
		return m.address == h->mark.address;
	if (r < 0)
		return r;
	return o->cause != CAUSE_FUTEX || !h->mark.address;
}

static uint32_t holder(const struct lock_wait *h)
{
	return h->out->v[h->out->n - 1].thread;
}

static uint64_t since(const struct lock_wait *h)
{
	return h->out->v[h->out->n - 1].from_ns;
}

static int hand_over(struct lock_wait *h, uint32_t thread, uint64_t at)
{
	h->out->v[h->out->n - 1].to_ns = at;
	return vec_push(h->out, ((struct window){at, h->end_ns, thread}));
}

/* Follow the wakeups of waiters for this lock, each by the thread that then holds it, up to a
 * time. */
static int follow_wakeups(struct lock_wait *h, uint64_t to, struct err *e)
{
	size_t i, last;
	int r;
	do {
		uint32_t giver = holder(h);
		uint64_t after = since(h) > h->checked_ns ? since(h) : h->checked_ns;
		r = evidence_lock_wakes(h->ev, giver, after, to, &i, &last, e);
		for (; !r && i < last && holder(h) == giver && h->steps++ < MAX_STEPS; i++) {
			const struct lock_wake *w = &h->ev->lock_wakes.v[h->ev->wakes.id.v[i]];
			r = same_lock(h, w->offcpu, e);
			if (r > 0)
				r = hand_over(h, h->tl->offcpu.v[w->offcpu].thread, w->time_ns)
					    ? err_nomem(e)
					    : 0;
		}
		if (holder(h) == giver)
			break;
	} while (!r);
	h->checked_ns = to - 1;
	return r;
}

/*
 * Can the thread with the tid that a probe read hold the lock? A probe in a container reads a
 * tid of that container, which another thread has on the host. So it must not be a kernel
 * thread, nor a thread of another process unless that ended the wait (a lock in shared memory).
 */
static int can_own(const struct lock_wait *h, uint32_t thread)
{
	if (thread == TL_NONE || h->tl->threads.v[thread].flags & THREAD_KERNEL)
		return 0;
	return same_process(h->tl, thread, h->o->thread) || thread == h->o->waker;
}

/* Follow the owners that other waiters' probes read meanwhile, and the wakeups between them. */
static int follow_marks(struct lock_wait *h, struct err *e)
{
	const struct timeline *tl = h->tl;
	size_t i = 0, last = 0;
	int r = 0;
	if (h->mark.address)
		r = evidence_lock_marks(h->ev, h->mark.address, h->mark.time_ns, h->end_ns, &i,
					&last, e);
	for (; !r && i < last && h->steps++ < MAX_STEPS; i++) {
		struct lock_mark m = h->ev->lock_marks.v[i];
		if (m.owner <= 0 || !same_process(tl, m.thread, h->o->thread))
			continue;
		r = follow_wakeups(h, m.time_ns, e);
		if (r || m.owner == tl->threads.v[holder(h)].tid)
			continue;
		uint32_t owner;
		r = evidence_thread_at(h->ev, h->o->thread, m.owner, m.time_ns, &owner, e);
		if (!r && can_own(h, owner) && owner != h->o->thread && m.time_ns > since(h) &&
		    hand_over(h, owner, m.time_ns))
			r = err_nomem(e);
	}
	return r ? r : follow_wakeups(h, h->end_ns, e);
}

/* Where a thread's last stretch on a CPU before `to` begins. *offcpu_ns is where it ends, or
 * `to`.
 */
static uint64_t last_on(const struct timeline *tl, uint32_t thread, uint64_t to,
			uint64_t *offcpu_ns)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, to - 1);
	*offcpu_ns = to;
	if (i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < to)
		*offcpu_ns = tl->offcpu.v[i].start_ns;
	return i > t->offcpu_first ? tl->offcpu.v[i - 1].end_ns : t->first_ns;
}

/* The thread that ended the wait was the last holder, even if no wakeup shows that it got the
 * lock. It has held it since the holder before it was last on a CPU, where that released it. */
static int end_with_waker(struct lock_wait *h)
{
	const struct offcpu *o = h->o;
	uint64_t released, waker_released;
	if (o->waker == TL_NONE || o->waker == holder(h) || o->waker == o->thread ||
	    o->waker_context != WAKER_TASK || !same_process(h->tl, o->waker, o->thread))
		return 0;
	uint64_t on = last_on(h->tl, holder(h), h->end_ns, &released);
	if (released == h->end_ns) {
		uint64_t waker_on = last_on(h->tl, o->waker, h->end_ns, &waker_released);
		released = on > waker_on ? on : waker_on;
	}
	if (released < since(h))
		released = since(h);
	return released < h->end_ns ? hand_over(h, o->waker, released) : 0;
}

/* Cut the windows to the wait itself: the probe was hit a little before it. */
static void cut(windows_vec *v, uint64_t from)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n; i++) {
		struct window w = v->v[i];
		w.from_ns = w.from_ns < from ? from : w.from_ns;
		if (w.from_ns < w.to_ns)
			v->v[n++] = w;
	}
	v->n = n;
}

int lock_holders(struct evidence *x, uint32_t offcpu, windows_vec *out, struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	struct lock_wait h = {.ev = x,
			      .tl = x->tl,
			      .o = o,
			      .end_ns = o->start_ns + o->blocked_ns,
			      .out = out};
	out->n = 0;
	int r = evidence_lock_mark(x, offcpu, &h.mark, e);
	if (r <= 0 || h.mark.owner <= 0)
		return r < 0 ? r : 0;
	uint32_t owner;
	r = evidence_thread_at(x, o->thread, h.mark.owner, o->start_ns, &owner, e);
	if (r || !can_own(&h, owner) || owner == o->thread)
		return r;
	if (vec_push(out, ((struct window){h.mark.time_ns, h.end_ns, owner})))
		return err_nomem(e);
	r = follow_marks(&h, e);
	if (!r && end_with_waker(&h))
		r = err_nomem(e);
	cut(out, o->start_ns);
	return r;
}

/* Did a timeout end this wait for a lock? */
static int timed_out(const struct offcpu *o)
{
	return (o->cause == CAUSE_LOCK || o->cause == CAUSE_RWLOCK) && !o->unknown &&
	       o->waker == TL_NONE && !(o->flags & (OFF_OPEN | OFF_SUSPECT));
}

uint32_t lock_last_try(const struct timeline *tl, uint32_t offcpu)
{
	enum { BRIEFLY = 8 }; /* between tries it ran for less than 1 in so many of the wait */
	const struct offcpu *first = &tl->offcpu.v[offcpu], *last = first;
	const struct tl_thread *t = &tl->threads.v[first->thread];
	uint64_t ran = 0;
	uint32_t i = offcpu + 1;
	for (int n = 0; timed_out(last) && n < MAX_STEPS && i < t->offcpu_first + t->offcpu_n;
	     n++, i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		ran += o->start_ns - tl->offcpu.v[i - 1].end_ns;
		if (ran > offcpu_ns(last) / BRIEFLY)
			break;
		if (o->flags & OFF_RUNNING)
			continue; /* preempted before the next try */
		if (o->path != first->path || o->cause != first->cause ||
		    o->flags & OFF_SUSPECT || o->unknown)
			break;
		last = o;
		ran = 0;
	}
	return (uint32_t)(last - tl->offcpu.v);
}

uint32_t lock_retried(const struct timeline *tl, uint32_t offcpu)
{
	uint32_t last = lock_last_try(tl, offcpu);
	return tl->offcpu.v[last].waker != TL_NONE ? last : offcpu;
}
