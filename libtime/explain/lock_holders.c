#include "libtime/explain/lock_holders.h"
#include "base/gallop.h"
#include "libtime/causes/sites.h"
#include "libtime/explain/interpreter_lock.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

/* How many turns, and how many releases and waits on the way, are looked at for one wait. */
enum { MAX_TURNS = 256, MAX_STEPS = 8192 };

/* How many functions that wait for a lock are remembered. */
enum { MAX_TAKERS = 8 };

/* A woken thread was late to get a CPU if that took more than 1 in so many of its turn. */
enum { LATE = 8 };

/* A wait for a lock, and the search for its holders. */
struct lock_wait {
	struct evidence *ev;
	const struct timeline *tl;
	const struct offcpu *o;
	const struct mechanism *kind;
	uint64_t lock, address;   /* class, and futex or 0 */
	struct lock_mark mark;    /* the probe's, at the begin of the wait; owner 0: none */
	uint64_t from_ns, end_ns; /* the wait, until its wakeup */
	size_t first, last;       /* evidence.releases of the class */
	int steps;
	/* functions that were seen to wait for such a lock, so that take it and let it go */
	uint32_t takers[MAX_TAKERS];
	int n_takers;
	uint32_t shared; /* turns during which another reader had taken the lock already */
	/* a function that takes the lock again and again, and what it calls while it has it */
	uint32_t loop, held_in;
	windows_vec *out;
};

/* Was the search given up? Then nothing is known of earlier times: what it did not look at may
 * have been another thread's. */
static int is_exhausted(const struct lock_wait *h)
{
	return h->steps >= MAX_STEPS;
}

static int is_interpreters(const struct lock_wait *h)
{
	return h->kind && h->kind->by == LOCK_BY_INTERPRETER;
}

static int same_process(const struct timeline *tl, uint32_t a, uint32_t b)
{
	const struct tl_thread *x = &tl->threads.v[a], *y = &tl->threads.v[b];
	return x->pid >= 0 && x->pid == y->pid &&
	       timeline_part_of(tl, a) == timeline_part_of(tl, b);
}

enum same { SAME_NOT, SAME_UNDECIDED, SAME };

/* The application's function that a stack shows; 0: none. */
static uint32_t place(const struct lock_wait *h, uint32_t path)
{
	return evidence_function(h->ev, appframe_reported(h->tl, path));
}

static int same_place(const struct lock_wait *h, uint32_t a, uint32_t b)
{
	uint32_t f = place(h, a);
	return a == b || (f && f == place(h, b));
}

/* glibc's reader/writer lock has several futexes. */
static int is_at(const struct lock_wait *h, const struct offcpu *o, uint64_t address)
{
	enum { RWLOCK_BYTES = 56 };
	uint64_t apart = address > h->address ? address - h->address : h->address - address;
	int rwlocks = o->cause == CAUSE_RWLOCK && h->o->cause == CAUSE_RWLOCK;
	return apart < (rwlocks ? RWLOCK_BYTES : 1);
}

/* Did another wait of the class wait for the same lock? A thread that was woken in vain and
 * waits again does not hit the probe: then the place decides. A futex may be a condition
 * variable that the lock's holder signalled, so that it must have the address. */
static enum same same_lock(const struct lock_wait *h, const struct offcpu *o, uint64_t address)
{
	int futex = o->cause == CAUSE_FUTEX || h->o->cause == CAUSE_FUTEX;
	unsigned by = h->kind ? h->kind->by : LOCK_BY_ADDRESS;
	if (by == LOCK_BY_PROCESS || by == LOCK_BY_INTERPRETER)
		return SAME;
	if (by == LOCK_BY_ADDRESS && address && h->address)
		return is_at(h, o, address) ? SAME : SAME_NOT;
	if (futex && !h->kind)
		return SAME_NOT;
	return same_place(h, o->path, h->o->path) ? SAME : SAME_UNDECIDED;
}

/* The last release of the lock by another thread than `thread` in (from, to), or NULL. */
static const struct lock_release *released_by_others(struct lock_wait *h, uint32_t thread,
						     uint64_t from, uint64_t to)
{
	const struct lock_release *v = h->ev->releases.v;
	size_t i = PARTITION_POINT(k, h->first, h->last, v[k].time_ns < to);
	for (; i > h->first && v[i - 1].time_ns > from && h->steps < MAX_STEPS; i--) {
		const struct lock_release *r = &v[i - 1];
		h->steps++;
		if (r->thread != thread &&
		    same_lock(h, &h->tl->offcpu.v[r->offcpu], r->address) == SAME)
			return r;
	}
	return NULL;
}

/* Is the function on the stack? */
static int is_above(const struct lock_wait *h, uint32_t path, uint32_t function)
{
	const struct stacks *s = h->tl->stacks;
	while (path && evidence_function(h->ev, s->paths.v[path].frame) != function)
		path = s->paths.v[path].parent;
	return path != 0;
}

static int ran(const struct timeline *tl, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, from);
	if (t->first_ns >= to || t->last_ns <= from)
		return 0;
	return i >= t->offcpu_first + t->offcpu_n || tl->offcpu.v[i].start_ns > from ||
	       tl->offcpu.v[i].end_ns < to;
}

/* Might another thread have taken the lock in [from, to), before the one that was woken for
 * it had a CPU? That leaves no trace. Asks for the threads that wait for such a lock or let
 * it go around that time. */
static int could_be_taken(struct lock_wait *h, uint32_t woken, uint64_t from, uint64_t to)
{
	enum { LOOKED_AT = 128 };
	const struct lock_release *v = h->ev->releases.v;
	size_t at = PARTITION_POINT(k, h->first, h->last, v[k].time_ns < from);
	size_t i = at - h->first > LOOKED_AT ? at - LOOKED_AT : h->first;
	for (; from < to && i < h->last && i < at + LOOKED_AT; i++) {
		uint32_t threads[] = {v[i].thread, h->tl->offcpu.v[v[i].offcpu].thread};
		for (int k = 0; k < 2; k++)
			if (threads[k] != woken && threads[k] != h->o->thread &&
			    ran(h->tl, threads[k], from, to))
				return 1;
	}
	return 0;
}

/* May a wait at another place have been for another lock, while the thread held this one?
 * Not if the function `in`, which let this one go, was not yet at work. Readers and writers
 * wait for one lock at different places. */
static int is_inside(const struct lock_wait *h, const struct offcpu *o, uint32_t in)
{
	if (!in)
		return o->cause != CAUSE_RWLOCK;
	return is_above(h, o->path, in) && place(h, o->path) != in;
}

/* When a thread that let the lock go at `to`, in the function `in` (0: not known), had last
 * waited for it: *since, not before `from`. Of a wait that may be for another lock it held
 * the lock throughout if that function was at work already. If it waits for the lock at
 * `to`, *since is `to`. */
static int last_waited(struct lock_wait *h, uint32_t thread, uint32_t in, uint64_t from,
		       uint64_t to, uint64_t *since, struct err *e)
{
	const struct timeline *tl = h->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, to - 1);
	*since = from;
	if (i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < to)
		i++;
	for (; i > t->offcpu_first && tl->offcpu.v[i - 1].end_ns > from; i--) {
		const struct offcpu *o = &tl->offcpu.v[i - 1];
		const struct mechanism *kind;
		uint64_t lock, address, woken = o->start_ns + o->blocked_ns;
		if (h->steps++ >= MAX_STEPS)
			woken = to; /* not known */
		else {
			int r = evidence_lock_class(h->ev, o, &lock, &kind, e);
			if (r <= 0 || lock != h->lock) {
				if (r < 0)
					return r;
				continue;
			}
			if (evidence_lock_address(h->ev, i - 1, &address, e))
				return ERR_NOMEM;
			enum same same = same_lock(h, o, address);
			if (same == SAME_NOT || (same == SAME_UNDECIDED && is_inside(h, o, in)))
				continue;
		}
		int late = woken < to && o->end_ns - woken > (to - woken) / LATE;
		if (h->o->cause == CAUSE_RWLOCK || /* readers leave no trace */
		    (late && could_be_taken(h, thread, woken, o->end_ns)))
			woken = o->end_ns;
		*since = woken < to ? woken : to;
		if (*since < from)
			*since = from;
		return 0;
	}
	return 0;
}

static int takes_lock(const struct lock_wait *h, uint32_t frame)
{
	for (int i = 0; i < h->n_takers; i++)
		if (h->takers[i] == frame)
			return 1;
	return 0;
}

static void add_taker(struct lock_wait *h, uint32_t frame)
{
	if (frame && !appframe_is_outer(h->tl, frame) && !takes_lock(h, frame) &&
	    h->n_takers < MAX_TAKERS)
		h->takers[h->n_takers++] = frame;
}

/* Find the functions that wait for such a lock, in the last waits. Only where stacks are whole:
 * a function that takes a lock and lets it go has it no longer than it is on the stack. */
static void find_takers(struct lock_wait *h)
{
	enum { LOOKED_AT = 64 };
	const struct lock_release *v = h->ev->releases.v;
	size_t i = PARTITION_POINT(k, h->first, h->last, v[k].time_ns <= h->end_ns);
	if (!sites_have_copies(h->tl) || is_interpreters(h) ||
	    (h->kind && h->kind->by == LOCK_BY_PROCESS))
		return;
	add_taker(h, place(h, h->o->path));
	for (size_t n = 0; i > h->first && n < LOOKED_AT; i--, n++)
		add_taker(h, place(h, h->tl->offcpu.v[v[i - 1].offcpu].path));
}

/* The innermost function on the stack that takes such a lock; 0: none. */
static uint32_t taker_on(const struct lock_wait *h, uint32_t path)
{
	for (; path; path = h->tl->stacks->paths.v[path].parent) {
		uint32_t f = evidence_function(h->ev, h->tl->stacks->paths.v[path].frame);
		if (takes_lock(h, f))
			return f;
	}
	return 0;
}

/* The last time in (from, to) at which a sample of the thread lay outside of the function `in`;
 * else `from`. */
static int sampled_outside(struct lock_wait *h, uint32_t thread, uint32_t in, uint64_t from,
			   uint64_t to, uint64_t *out, struct err *e)
{
	size_t first, last;
	const struct stacks *s = h->tl->stacks;
	int r = evidence_samples(h->ev, thread, from, to, &first, &last, e);
	*out = from;
	for (; !r && last > first && h->steps++ < MAX_STEPS; last--) {
		const struct tl_sample *t = &h->tl->samples.v[h->ev->samples.id.v[last - 1]];
		uint32_t root = t->path;
		while (root && s->paths.v[root].parent)
			root = s->paths.v[root].parent;
		if (!root || !appframe_is_outer(h->tl, s->paths.v[root].frame) ||
		    is_above(h, t->path, in))
			continue; /* cut, or inside */
		*out = t->time_ns;
		break;
	}
	return r;
}

/* The function that `in` called, on a stack of a wait; 0: `in` is not on it. */
static uint32_t called_in(const struct lock_wait *h, const struct offcpu *o, uint32_t in)
{
	const struct stacks *s = h->tl->stacks;
	uint32_t below = 0;
	for (uint32_t path = o->blocked_ns ? o->path : 0; path;
	     path = s->paths.v[path].parent) {
		uint32_t f = evidence_function(h->ev, s->paths.v[path].frame);
		if (f == in)
			return below;
		below = f;
	}
	return 0;
}

/*
 * The function `in` may take the lock again and again while it is on the stack. It does if it
 * waits by turns in what it calls last before `to` and elsewhere: it has the lock only since it
 * was last elsewhere.
 *
 *	render  ─ draw ▒▒▒▒ ─ pause ▒▒ ─ draw ▒▒▒▒ ─ lets it go
 *	                               └ since here
 *
 * 1 and *since, or 0.
 */
static int goes_round(struct lock_wait *h, uint32_t thread, uint32_t in, uint64_t from,
		      uint64_t to, uint64_t *since)
{
	const struct tl_thread *t = &h->tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(h->tl, thread, to - 1), last = 0;
	uint64_t elsewhere = 0;
	i += i < t->offcpu_first + t->offcpu_n && h->tl->offcpu.v[i].start_ns < to;
	for (; i > t->offcpu_first && h->tl->offcpu.v[i - 1].end_ns > from; i--) {
		const struct offcpu *o = &h->tl->offcpu.v[i - 1];
		uint32_t f = called_in(h, o, in);
		if (h->steps++ >= MAX_STEPS)
			break;
		if (!f)
			continue;
		last = last ? last : f;
		if (f != last && !elsewhere) {
			elsewhere = o->end_ns;
		} else if (f == last && elsewhere) {
			h->loop = in;
			h->held_in = last;
			*since = elsewhere;
			return 1;
		}
	}
	return 0;
}

/* When the function `in`, which holds the lock while it is on the stack, began in the thread:
 * the end of the last interval in (from, to) whose stack lacks it, or has `unlock` (0: none),
 * or a sample; else `from`. */
static int began_in(struct lock_wait *h, uint32_t thread, uint32_t in, uint32_t unlock,
		    uint64_t from, uint64_t to, uint64_t *out, struct err *e)
{
	const struct timeline *tl = h->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, to - 1);
	goes_round(h, thread, in, from, to, &from);
	for (; i > t->offcpu_first && tl->offcpu.v[i - 1].end_ns > from; i--) {
		const struct offcpu *o = &tl->offcpu.v[i - 1];
		if (h->steps++ >= MAX_STEPS)
			break;
		if ((unlock && is_above(h, o->path, unlock)) ||
		    (appframe_reported(tl, o->path) && !is_above(h, o->path, in))) {
			from = o->end_ns;
			break;
		}
	}
	return sampled_outside(h, thread, in, from, to, out, e);
}

/* The thread's interval at `at`, else the one before; TL_NONE: there is none that ended after
 * `from`. */
static uint32_t interval_at(const struct timeline *tl, uint32_t thread, uint64_t from,
			    uint64_t at)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, at);
	if (i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < at)
		return i;
	return i > t->offcpu_first && tl->offcpu.v[i - 1].end_ns > from ? i - 1 : TL_NONE;
}

/* Readers share a lock, so that no release shows since when one has had it: since the function
 * that takes it began, else since the thread last came back to a CPU in (from, to). */
static int reader_since(struct lock_wait *h, uint32_t thread, uint32_t in, uint32_t unlock,
			uint64_t from, uint64_t to, uint64_t *out, struct err *e)
{
	uint32_t i = interval_at(h->tl, thread, from, to - 1);
	*out = from;
	if (i == TL_NONE)
		return 0;
	const struct offcpu *o = &h->tl->offcpu.v[i];
	in = in && takes_lock(h, in) ? in : taker_on(h, o->path);
	if (in)
		return began_in(h, thread, in, unlock, from, to, out, e);
	*out = o->end_ns < to ? o->end_ns : to;
	return 0;
}

/* Does the thread wait for the lock in that interval? */
static int waits_for_it(struct lock_wait *h, uint32_t offcpu, struct err *e)
{
	const struct offcpu *o = &h->tl->offcpu.v[offcpu];
	const struct mechanism *kind;
	uint64_t lock, address;
	int r = evidence_lock_class(h->ev, o, &lock, &kind, e);
	if (r <= 0 || lock != h->lock)
		return r;
	r = evidence_lock_address(h->ev, offcpu, &address, e);
	return r ? ERR_NOMEM : same_lock(h, o, address) != SAME_NOT;
}

/* 1 if the thread was in a function that takes the lock at that time, and did not wait for it:
 * off its CPU there, or before and after that it ran. */
static int is_reader_at(struct lock_wait *h, uint32_t thread, uint64_t at, struct err *e)
{
	const struct timeline *tl = h->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = interval_at(tl, thread, h->from_ns, at), in;
	if (i == TL_NONE || !(in = taker_on(h, tl->offcpu.v[i].path)))
		return 0;
	if (in == h->loop && called_in(h, &tl->offcpu.v[i], in) != h->held_in)
		return 0;
	if (tl->offcpu.v[i].end_ns >= at) {
		int r = waits_for_it(h, i, e);
		return r < 0 ? r : !r;
	}
	return i + 1 < t->offcpu_first + t->offcpu_n && in != h->loop &&
	       is_above(h, tl->offcpu.v[i + 1].path, in);
}

/* Another reader that had the lock at that time, besides `thread`: *out, or TL_NONE. Looks at
 * the threads that used the lock around that time. */
static int other_reader(struct lock_wait *h, uint32_t thread, uint64_t at, uint32_t *out,
			struct err *e)
{
	enum { LOOKED_AT = 32 };
	const struct lock_release *v = h->ev->releases.v;
	size_t to = PARTITION_POINT(k, h->first, h->last, v[k].time_ns < h->end_ns);
	size_t from = to - h->first > LOOKED_AT ? to - LOOKED_AT : h->first;
	*out = TL_NONE;
	for (to = h->last - to > LOOKED_AT ? to + LOOKED_AT : h->last; from < to; from++) {
		uint32_t both[] = {v[from].thread, h->tl->offcpu.v[v[from].offcpu].thread};
		for (int k = 0; k < 2; k++) {
			if (both[k] == thread || both[k] == h->o->thread ||
			    h->steps++ >= MAX_STEPS)
				continue;
			int r = is_reader_at(h, both[k], at, e);
			if (r > 0)
				*out = both[k];
			if (r)
				return r < 0 ? r : 0;
		}
	}
	return 0;
}

/* --- the owners that probes read ------------------------------------------------------ */

/*
 * Can the thread with the tid that a probe read hold the lock? A probe in a container reads a
 * tid of that container, which another thread has on the host. So it must not be a kernel
 * thread, nor a thread of another process unless that ended the wait (a lock in shared memory).
 */
static int can_own(const struct lock_wait *h, uint32_t thread)
{
	if (thread == TL_NONE || thread == h->o->thread ||
	    h->tl->threads.v[thread].flags & THREAD_KERNEL)
		return 0;
	return same_process(h->tl, thread, h->o->thread) || thread == h->o->waker;
}

/* The thread that a probe read as owner, or TL_NONE. ERR_NOMEM. */
static int owner_of(const struct lock_wait *h, const struct lock_mark *m, uint32_t *owner,
		    struct err *e)
{
	*owner = TL_NONE;
	if (m->owner <= 0 || !same_process(h->tl, m->thread, h->o->thread))
		return 0;
	int r = evidence_thread_at(h->ev, h->o->thread, m->owner, m->time_ns, owner, e);
	if (!r && !can_own(h, *owner))
		*owner = TL_NONE;
	return r;
}

/* The last owner other than `thread` that a probe read in [from, to), by the wait's own
 * probe or that of another waiter: *owner, or TL_NONE, and *at. Until *seen, from where on
 * probes read `thread`, the lock changed hands. */
static int last_owner(struct lock_wait *h, uint32_t thread, uint64_t from, uint64_t to,
		      uint32_t *owner, uint64_t *at, uint64_t *seen, struct err *e)
{
	size_t first = 0, last = 0;
	int r = 0;
	*owner = TL_NONE;
	*seen = to;
	if (h->mark.owner <= 0)
		return 0;
	if (h->address)
		r = evidence_lock_marks(h->ev, h->address, h->mark.time_ns, to, &first, &last,
					e);
	for (; !r && last > first && h->ev->lock_marks.v[last - 1].time_ns >= from &&
	       h->steps++ < MAX_STEPS;
	     last--) {
		const struct lock_mark *m = &h->ev->lock_marks.v[last - 1];
		*at = m->time_ns;
		r = owner_of(h, m, owner, e);
		if (!r && *owner == thread)
			*seen = m->time_ns;
		else if (*owner != TL_NONE)
			return r;
	}
	*at = h->from_ns;
	*owner = TL_NONE;
	if (!r && from <= h->from_ns)
		r = owner_of(h, &h->mark, owner, e);
	*owner = *owner == thread ? TL_NONE : *owner;
	return r;
}

/* Where a thread's last stretch on a CPU before `to` begins. *offcpu_ns is where it ends, or
 * `to`. */
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

/* When a lock went from one thread to another before `to`, if no wakeup shows it: the first one
 * let it go where it was last on a CPU. */
static uint64_t changed_hands(const struct timeline *tl, uint32_t giver, uint32_t taker,
			      uint64_t from, uint64_t to)
{
	uint64_t let_go, off;
	uint64_t on = last_on(tl, giver, to, &let_go);
	if (let_go == to) {
		uint64_t taker_on = last_on(tl, taker, to, &off);
		let_go = on > taker_on ? on : taker_on;
	}
	return let_go < from ? from : let_go;
}

/* --- turns, from the last to the first ------------------------------------------------ */

static int push(struct lock_wait *h, uint64_t from, uint64_t to, uint32_t thread)
{
	return from < to ? vec_push(h->out, ((struct window){from, to, thread})) : 0;
}

/* A turn that is being looked at: who let the lock go, when, and with which stack; the stack of
 * the wait that this ended. 0: not known. */
struct turn {
	uint32_t thread, path, wait;
	uint64_t to_ns;
};

static struct turn turn_before(const struct lock_wait *h, const struct lock_release *r)
{
	const struct offcpu *o = &h->tl->offcpu.v[r->offcpu];
	return (struct turn){r->thread, o->waker_path, o->path, r->time_ns};
}

/* May the thread have had the lock together with others? */
static int is_shared(const struct lock_wait *h, const struct turn *t)
{
	return h->o->cause == CAUSE_RWLOCK &&
	       !evidence_stack_role(h->tl, t->path, ROLE_EXCLUSIVE) &&
	       !evidence_stack_role(h->tl, t->wait, ROLE_EXCLUSIVE);
}

/* The function that let a lock of user space go, by its stack; 0: not known. */
static uint32_t unlock_of(const struct lock_wait *h, uint32_t path)
{
	static const char *const futex[] = {"futex_wake", "do_futex", NULL};
	const struct stacks *s = h->tl->stacks;
	if (!evidence_stack_has(h->tl, path, futex))
		return 0;
	while (path && s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL)
		path = s->paths.v[path].parent;
	return path ? evidence_function(h->ev, s->paths.v[path].frame) : 0;
}

/* A thread that lets a reader/writer lock go may lose its CPU before it has woken everybody:
 * others have the lock by then. Cuts the end of the turn, and pushes the rest. */
static int cut_unlocking(struct lock_wait *h, struct turn *t, uint32_t unlock)
{
	uint64_t to = t->to_ns;
	uint32_t i;
	while (unlock && (i = interval_at(h->tl, t->thread, h->from_ns, to - 1)) != TL_NONE &&
	       h->steps++ < MAX_STEPS && h->tl->offcpu.v[i].start_ns > h->from_ns &&
	       is_above(h, h->tl->offcpu.v[i].path, unlock))
		to = h->tl->offcpu.v[i].start_ns;
	int r = push(h, to, t->to_ns, TL_NONE);
	t->to_ns = to;
	return r;
}

/* Since when the thread of a turn has had the lock. */
static int turn_since(struct lock_wait *h, struct turn *t, uint64_t *since, struct err *e)
{
	uint32_t in = place(h, t->path), unlock = 0;
	in = appframe_is_outer(h->tl, in) ? 0 : in;
	if (h->o->cause == CAUSE_RWLOCK) {
		unlock = unlock_of(h, t->path);
		if (cut_unlocking(h, t, unlock))
			return err_nomem(e);
	}
	int r = last_waited(h, t->thread, in, h->from_ns, t->to_ns, since, e);
	if (r)
		return r;
	if (is_shared(h, t))
		return reader_since(h, t->thread, in, unlock, *since, t->to_ns, since, e);
	return in && takes_lock(h, in)
		       ? began_in(h, t->thread, in, 0, *since, t->to_ns, since, e)
		       : 0;
}

/*
 * Push the turn: from when the thread had last waited for the lock, or from when another thread
 * is last known to have had it. *t becomes the turn before, whose thread is TL_NONE at the begin
 * of the wait, or where nothing more is known. Where the search is exhausted, nothing is pushed.
 */
static int one_turn(struct lock_wait *h, struct turn *t, struct err *e)
{
	uint32_t owner;
	uint64_t since, at, seen;
	struct turn before = {TL_NONE, 0, 0, h->from_ns};
	int r = turn_since(h, t, &since, e);
	if (!r)
		r = last_owner(h, t->thread, since, t->to_ns, &owner, &at, &seen, e);
	if (r)
		return r;
	const struct lock_release *last =
		released_by_others(h, t->thread, h->from_ns, t->to_ns);
	if (owner != TL_NONE && (!last || last->time_ns <= at))
		before = (struct turn){owner, 0, 0,
				       changed_hands(h->tl, owner, t->thread, at, seen)};
	else if (last)
		before = turn_before(h, last);
	if (since < before.to_ns)
		since = before.to_ns;
	if (since > before.to_ns && since < t->to_ns && is_shared(h, t)) {
		uint32_t reader;
		if (other_reader(h, t->thread, since, &reader, e))
			return ERR_NOMEM;
		if (reader != TL_NONE) {
			before = (struct turn){reader, 0, 0, since};
			h->shared++;
		}
	}
	if (is_exhausted(h)) {
		t->thread = TL_NONE;
		return 0;
	}
	if (push(h, since, t->to_ns, t->thread) || push(h, before.to_ns, since, TL_NONE))
		return err_nomem(e);
	*t = before;
	return 0;
}

/* Cut the turns to [from, to) and put them in order of time. */
static void order(windows_vec *v, uint64_t from, uint64_t to)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n; i++) {
		struct window w = v->v[i];
		w.from_ns = w.from_ns < from ? from : w.from_ns;
		w.to_ns = w.to_ns > to ? to : w.to_ns;
		if (w.from_ns < w.to_ns)
			v->v[n++] = w;
	}
	v->n = n;
	for (size_t i = 0; i < n / 2; i++) {
		struct window w = v->v[i];
		v->v[i] = v->v[n - 1 - i];
		v->v[n - 1 - i] = w;
	}
}

/* Who let the lock go last before the wait was over. Where that was not the waker, *t says what
 * is known of an earlier time, and the rest is pushed. TL_NONE: nobody is known. */
static int last_turn(struct lock_wait *h, const struct offcpu *last, struct turn *t,
		     struct err *e)
{
	uint32_t owner = TL_NONE;
	uint64_t at, seen;
	int r = evidence_is_release(h->ev, last, h->kind, e);
	*t = (struct turn){last->waker, last->waker_path, last->path, h->end_ns};
	if (r)
		return r < 0 ? r : 0;
	t->thread = TL_NONE;
	r = last_owner(h, TL_NONE, h->from_ns, h->end_ns, &owner, &at, &seen, e);
	if (owner != TL_NONE)
		*t = (struct turn){owner, 0, 0, h->end_ns};
	const struct lock_release *by =
		released_by_others(h, h->o->thread, h->from_ns, h->end_ns + 1);
	if (!r && is_exhausted(h))
		t->thread = TL_NONE;
	if (r || owner != TL_NONE || !by || is_exhausted(h))
		return r;
	*t = turn_before(h, by);
	return push(h, by->time_ns, h->end_ns, TL_NONE) ? err_nomem(e) : 0;
}

/* Can waits for this lock be told from others at all? A futex of unknown address cannot. */
static int is_known(const struct lock_wait *h)
{
	return h->kind || h->address || h->o->cause != CAUSE_FUTEX;
}

static int anybody(const windows_vec *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].thread != TL_NONE)
			return 1;
	return 0;
}

/* As lock_holders; *shared is the number of turns that overlap. */
static int find_holders(struct evidence *x, uint32_t offcpu, windows_vec *out, uint32_t *shared,
			struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	const struct offcpu *last = &x->tl->offcpu.v[lock_retried(x->tl, offcpu)];
	struct lock_wait h = {.ev = x,
			      .tl = x->tl,
			      .o = o,
			      .from_ns = o->start_ns,
			      .end_ns = last->start_ns + last->blocked_ns,
			      .out = out};
	struct turn t;
	out->n = 0;
	int r = evidence_lock_class(x, o, &h.lock, &h.kind, e);
	if (r > 0)
		r = evidence_lock_address(x, offcpu, &h.address, e) ? ERR_NOMEM : 1;
	if (r > 0)
		r = is_known(&h);
	if (r <= 0)
		return r;
	if (evidence_lock_mark(x, offcpu, &h.mark, e) < 0 ||
	    evidence_releases(x, h.lock, &h.first, &h.last, e))
		return ERR_NOMEM;
	find_takers(&h);
	r = last_turn(&h, last, &t, e);
	if (!r && t.thread == TL_NONE && last->waker == TL_NONE && !is_interpreters(&h))
		return 0;
	while (!r && t.thread != TL_NONE && t.to_ns > h.from_ns && out->n < MAX_TURNS)
		r = one_turn(&h, &t, e);
	if (r)
		return r;
	*shared = h.shared;
	if (t.to_ns > h.from_ns && push(&h, h.from_ns, t.to_ns, TL_NONE))
		return err_nomem(e);
	order(out, o->start_ns, o->start_ns + o->blocked_ns);
	if (is_interpreters(&h))
		r = interpreter_holders(x, o->thread, h.lock, out, e);
	if (!r && last->waker == TL_NONE && !anybody(out))
		out->n = 0; /* it timed out */
	return r;
}

int lock_holders(struct evidence *x, uint32_t offcpu, windows_vec *out, struct err *e)
{
	uint32_t shared;
	return find_holders(x, offcpu, out, &shared, e);
}

/* Is it the first window of its thread? */
static int is_first(const windows_vec *v, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (v->v[i].thread == v->v[at].thread)
			return 0;
	return 1;
}

int lock_readers(struct evidence *x, uint32_t offcpu, struct lock_readers *out, struct err *e)
{
	windows_vec v = {0};
	uint32_t shared = 0;
	*out = (struct lock_readers){0};
	int r = find_holders(x, offcpu, &v, &shared, e);
	for (size_t i = 0; !r && i < v.n; i++) {
		uint32_t thread = v.v[i].thread;
		if (thread == TL_NONE)
			continue;
		uint32_t comm = x->tl->threads.v[thread].comm;
		out->ns += v.v[i].to_ns - v.v[i].from_ns;
		out->comm = !out->n || comm == out->comm ? comm : 0;
		out->n += (uint32_t)is_first(&v, i);
	}
	vec_release(&v);
	/* each turn but the first began while another reader had the lock */
	return r ? r : out->n > 1 && shared + 1 >= out->n;
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
