#include "libstore/chain.h"
#include "base/mem.h"
#include "libstore/lockheld.h"

#include <stdlib.h>
#include <string.h>

const char *part_state_name(unsigned int state)
{
	static const char *const names[] = {"running", "blocked", "runnable", "preempted",
					    "unknown"};
	return state < sizeof(names) / sizeof(*names) ? names[state] : "";
}

const char *part_end_name(unsigned int end)
{
	static const char *const names[] = {
		"",     "ran",       "device", "timer", "network", "interrupt", "nobody",
		"open", "no_wakeup", "cycle",  "depth", "gone",    "others"};
	return end < sizeof(names) / sizeof(*names) ? names[end] : "";
}

const char *link_via_name(unsigned int via)
{
	static const char *const names[] = {"self", "waker", "owner", "cpu"};
	return via < sizeof(names) / sizeof(*names) ? names[via] : "";
}

/* Another thread that explains some of a link's time: the next link, if it explains most. */
struct candidate {
	uint64_t ns, largest_ns;
	uint32_t thread;
	uint32_t path, off; /* of the largest part it explains */
	uint8_t via, state, cause;
};

enum { WAYS = VIA_CPU + 1 };

struct claim { /* a window of the candidate with this index */
	uint32_t candidate;
	struct window w;
};

struct explainer {
	const struct timeline *tl;
	struct evidence ev;
	/* of the link being taken apart */
	windows_vec windows, next, ran, holders, owners;
	VEC(struct candidate) candidates;
	VEC(struct claim) claims;
	/* where a thread stands in `candidates` by each way, and in `ahead` (VIA_SELF) */
	struct place {
		uint32_t link, at; /* valid when `link` is the link's number */
	} * place;
	uint32_t link_number;
	uint32_t off_at; /* the interval that the link's last window ended in */
	struct chain_link *link;
	struct explanation *out;
};

int explainer_new(const struct timeline *tl, struct explainer **out, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->tl = tl;
	(*out)->place = mem_zalloc(tl->threads.n + 1, WAYS * sizeof(*(*out)->place));
	evidence_init(&(*out)->ev, tl);
	if ((*out)->place)
		return 0;
	explainer_free(*out);
	*out = NULL;
	return err_nomem(e);
}

void explainer_free(struct explainer *x)
{
	if (!x)
		return;
	evidence_release(&x->ev);
	vec_release(&x->windows);
	vec_release(&x->next);
	vec_release(&x->ran);
	vec_release(&x->holders);
	vec_release(&x->owners);
	vec_release(&x->candidates);
	vec_release(&x->claims);
	mem_free(x->place);
	mem_free(x);
}

struct evidence *explainer_evidence(struct explainer *x)
{
	return &x->ev;
}

void explanation_release(struct explanation *x)
{
	vec_release(&x->corunners);
	vec_release(&x->ahead);
	vec_release(&x->chain);
	vec_release(&x->parts);
}

/* --- the windows of an episode -------------------------------------------------------------
 */

/* The last wait of `thread` that was ended in (from, to) by `giver`; by whichever thread, if
 * that is TL_NONE and the wait was idle. */
static const struct off *handed_over_at(const struct timeline *tl, uint32_t thread,
					uint64_t from, uint64_t to, uint32_t giver)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	const struct off *found = NULL;
	for (uint32_t i = timeline_off_after(tl, thread, from); i < t->off_first + t->off_n;
	     i++) {
		const struct off *o = &tl->off.v[i];
		uint64_t woken = o->start_ns + o->blocked_ns;
		if (woken >= to || o->start_ns >= to)
			break;
		int by_giver = giver != TL_NONE ? o->waker == giver
						: o->flags & OFF_IDLE && o->waker != TL_NONE &&
							  o->waker != thread;
		if (woken > from && !o->unknown && by_giver)
			found = o;
	}
	return found;
}

static void reverse(struct window *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct window tmp = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = tmp;
	}
}

/* Work handed from thread to thread is followed backwards from its end: a thread has it since
 * whoever began it woke it last, or else since the wakeup out of its idle wait. */
int episode_windows(const struct timeline *tl, const struct episode *ep, windows_vec *out)
{
	struct window w = {ep->start_ns, ep->end_ns, ep->end_thread};
	size_t first = out->n;
	for (int depth = 0; w.thread != ep->thread && depth < CHAIN_DEPTH; depth++) {
		const struct off *o =
			handed_over_at(tl, w.thread, ep->start_ns, w.to_ns, ep->thread);
		if (!o)
			o = handed_over_at(tl, w.thread, ep->start_ns, w.to_ns, TL_NONE);
		if (!o)
			break;
		w.from_ns = o->start_ns + o->blocked_ns;
		if (vec_push(out, w))
			return ERR_NOMEM;
		w = (struct window){ep->start_ns, w.from_ns, o->waker};
	}
	if (vec_push(out, w))
		return ERR_NOMEM;
	reverse(out->v + first, out->n - first);
	return 0;
}

/* --- parts of a link ----------------------------------------------------------------------
 */

static int add_part(struct explainer *x, const struct chain_part *p)
{
	struct chain_link *l = x->link;
	for (uint32_t i = 0; i < l->nparts; i++) {
		struct chain_part *q = &x->out->parts.v[l->part + i];
		if (q->state != p->state || q->cause != p->cause || q->end != p->end ||
		    q->function != p->function)
			continue;
		q->ns += p->ns;
		if (p->ns > q->largest_ns) {
			q->largest_ns = p->ns;
			q->path = p->path;
			q->off = p->off;
		}
		return 0;
	}
	if (vec_push(&x->out->parts, *p))
		return ERR_NOMEM;
	x->out->parts.v[l->part + l->nparts++].largest_ns = p->ns;
	return 0;
}

/* The link's own doing in a stretch of it. */
static int own_part(struct explainer *x, uint8_t state, uint8_t end, uint32_t off,
		    uint64_t from, uint64_t to)
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
		if (appframe_telling(&x->ev.app, p.path, &p.function))
			return ERR_NOMEM;
	}
	return add_part(x, &p);
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

/* May the chain go on to the window's thread? Cuts the window to its recorded life; where it
 * may not, *end says why. */
static int follow(const struct explainer *x, struct window *w, uint8_t *end)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	if (w->thread == x->link->thread || on_chain(x, w->thread)) {
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

/* What ended a wait that no thread ended. */
static uint8_t end_of(const struct off *o, uint8_t cut)
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
		return o->waker_context == WAKER_SOFTIRQ || o->waker_context == WAKER_HARDIRQ
			       ? END_NETWORK
			       : END_IRQ;
	default:
		return o->waker_context == WAKER_NONE ? END_NO_WAKE : END_IRQ;
	}
}

/* A thread that slept on purpose, or that a device kept, is the end; a user thread that ended
 * an I/O wait held what it was for (a page, an inode). */
static int has_waker(const struct explainer *x, const struct off *o)
{
	if (o->waker == TL_NONE || o->cause == CAUSE_SLEEP)
		return 0;
	if (o->cause == CAUSE_IO || o->cause == CAUSE_FAULT)
		return o->waker_context == WAKER_TASK &&
		       !(x->tl->threads.v[o->waker].flags & THREAD_KERNEL);
	return o->waker_context == WAKER_TASK || o->waker_context == WAKER_SOFTIRQ_INLINE;
}

static uint64_t clamp(uint64_t x, uint64_t lo, uint64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* A blocked stretch that the window's thread kept the link in. */
static int kept_by(struct explainer *x, struct window w, uint8_t via, uint32_t off)
{
	uint64_t from = w.from_ns, to = w.to_ns;
	uint8_t end = END_NONE;
	if (!follow(x, &w, &end))
		return own_part(x, PART_BLOCKED, end, off, from, to);
	if (claim(x, &w, via, PART_BLOCKED, off))
		return ERR_NOMEM;
	if (w.from_ns > from && own_part(x, PART_BLOCKED, END_GONE, off, from, w.from_ns))
		return ERR_NOMEM;
	return w.to_ns < to ? own_part(x, PART_BLOCKED, END_GONE, off, w.to_ns, to) : 0;
}

static int blocked(struct explainer *x, uint32_t off, uint64_t from, uint64_t to, struct err *e)
{
	const struct off *o = &x->tl->off.v[off];
	x->owners.n = 0;
	int r = off_is_lock(o) ? lock_held(&x->ev, off, &x->owners, e) : 0;
	for (size_t i = 0; !r && i < x->owners.n; i++) {
		struct window w = x->owners.v[i];
		w.from_ns = clamp(w.from_ns, from, to);
		w.to_ns = clamp(w.to_ns, from, to);
		if (w.from_ns < w.to_ns)
			r = kept_by(x, w, VIA_OWNER, off);
	}
	if (r || x->owners.n)
		return r;
	if (has_waker(x, o))
		return kept_by(x, (struct window){from, to, o->waker}, VIA_WAKER, off);
	return own_part(x, PART_BLOCKED, end_of(o, to == o->end_ns), off, from, to);
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

static int runnable(struct explainer *x, uint32_t off, uint64_t from, uint64_t to,
		    struct err *e)
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
			r = own_part(x, state, END_IDLE_CPU, off, at, w.from_ns);
		at = w.to_ns;
		if (!r)
			r = follow(x, &w, &end) ? claim(x, &w, VIA_CPU, state, off)
						: own_part(x, state, end, off, w.from_ns, at);
	}
	if (!r && at < to)
		r = own_part(x, state, END_IDLE_CPU, off, at, to);
	return r;
}

/* --- one link -----------------------------------------------------------------------------
 */

static int running(struct explainer *x, uint32_t thread, uint64_t from, uint64_t to)
{
	x->link->run_ns += to - from;
	return vec_push(&x->ran, ((struct window){from, to, thread}));
}

/* An interval of the link's thread inside [from, to). */
static int take_off(struct explainer *x, uint32_t off, uint64_t from, uint64_t to,
		    struct err *e)
{
	const struct off *o = &x->tl->off.v[off];
	struct chain_link *l = x->link;
	uint64_t woken = clamp(o->start_ns + o->blocked_ns, from, to);
	int r = 0;
	if (o->unknown) {
		l->unknown_ns += to - from;
		return own_part(x, PART_UNKNOWN,
				o->unknown == UNKNOWN_EDGE ? END_OPEN : END_NO_WAKE, off, from,
				to);
	}
	l->blocked_ns += woken - from;
	l->runnable_ns += to - woken;
	if (o->flags & OFF_RUNNING)
		l->preempted_ns += to - woken;
	if (!x->out->chain.n)
		x->out->blocked_by[o->cause] += woken - from;
	if (woken > from)
		r = blocked(x, off, from, woken, e);
	if (!r && to > woken)
		r = runnable(x, off, woken, to, e);
	return r;
}

/* Lost, or not recorded at all? */
static unsigned missing_wakeup(const struct explainer *x, uint32_t thread)
{
	uint32_t flags = timeline_flags_of(x->tl, thread);
	return flags & TL_HAS_WAKING ? MISSING_WAKEUP : MISSING_WAKING_EVENT;
}

static void note_missing(struct explainer *x, const struct off *o)
{
	unsigned *m = &x->out->missing;
	if (o->unknown == UNKNOWN_NO_WAKE)
		*m |= missing_wakeup(x, o->thread);
	if (o->unknown == UNKNOWN_HOLE || o->unknown == UNKNOWN_LOST || o->flags & OFF_SUSPECT)
		*m |= MISSING_HOLE;
	if (o->flags & OFF_NO_STACK || !o->path)
		*m |= MISSING_STACK;
	if (o->flags & OFF_OPEN)
		*m |= MISSING_OPEN;
}

static int take_window(struct explainer *x, const struct window *w, struct err *e)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	uint64_t at = w->from_ns, to = w->to_ns;
	int r = 0;
	/* what lies outside a thread's recorded life is not known */
	if (at < t->first_ns || to > t->last_ns) {
		uint64_t a = clamp(t->first_ns, at, to), b = clamp(t->last_ns, a, to);
		x->link->unknown_ns += a - at + (to - b);
		if (a - at + (to - b))
			r = own_part(x, PART_UNKNOWN, END_GONE, TL_NONE, at,
				     at + (a - at) + (to - b));
		at = a;
		to = b;
	}
	x->off_at = timeline_off_after_near(x->tl, w->thread, at, x->off_at);
	for (uint32_t i = x->off_at;
	     !r && at < to && i < t->off_first + t->off_n && x->tl->off.v[i].start_ns < to;
	     i++) {
		const struct off *o = &x->tl->off.v[i];
		uint64_t from = clamp(o->start_ns, at, to), end = clamp(o->end_ns, from, to);
		if (from > at)
			r = running(x, w->thread, at, from);
		if (!r)
			r = take_off(x, i, from, end, e);
		if (!x->out->chain.n)
			note_missing(x, o);
		at = end;
	}
	if (!r && at < to)
		r = running(x, w->thread, at, to);
	return r;
}

/* The stack with which a thread left the CPU at the end of a running window: the next best
 * thing to a sample of what it did. */
static uint32_t stack_at(const struct explainer *x, const struct window *w)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	uint32_t i = timeline_off_after(x->tl, w->thread, w->to_ns);
	return i < t->off_first + t->off_n ? x->tl->off.v[i].path : 0;
}

/* The longest stretch of running time: its end is looked at when there are no samples. */
static const struct window *longest(const windows_vec *v)
{
	const struct window *w = v->v;
	for (size_t i = 1; i < v->n; i++)
		if (v->v[i].to_ns - v->v[i].from_ns > w->to_ns - w->from_ns)
			w = &v->v[i];
	return w;
}

/* Where no sample tells what ran: the stack of the wakeup it ended with, or the one it left the
 * CPU with; of the two the first that shows a function of the application. */
static int guess_running(struct explainer *x, const struct candidate *from,
			 struct chain_part *p)
{
	const uint32_t paths[] = {
		from && from->via == VIA_WAKER ? x->tl->off.v[from->off].waker_path : 0,
		stack_at(x, longest(&x->ran))};
	for (int i = 0; i < 2; i++) {
		uint32_t function;
		if (appframe_telling(&x->ev.app, paths[i], &function))
			return ERR_NOMEM;
		int outer = function ? appframe_is_outer(&x->ev.app, function) : 1;
		if (outer < 0)
			return outer;
		p->path = p->path ? p->path : paths[i];
		if (outer)
			continue;
		p->path = paths[i];
		p->function = function;
		return 0;
	}
	return 0;
}

/* All running time is one part: the function most samples were in. */
static int running_part(struct explainer *x, const struct candidate *from, struct err *e)
{
	struct hot hot;
	struct chain_part p = {
		.ns = x->link->run_ns, .off = TL_NONE, .state = PART_RUNNING, .end = END_RAN};
	if (!x->ran.n)
		return 0;
	int r = evidence_hot(&x->ev, x->ran.v, x->ran.n, &hot, e);
	if (!r)
		r = evidence_caller(&x->ev, x->ran.v, x->ran.n, &hot, e);
	if (r)
		return r;
	x->link->samples = hot.of;
	p.first_ns = x->ran.v[0].from_ns;
	p.path = hot.path;
	p.function = hot.function;
	if (!p.path) {
		x->link->guessed = 1;
		if (guess_running(x, from, &p))
			return err_nomem(e);
	}
	return add_part(x, &p) ? err_nomem(e) : 0;
}

static int part_order(const void *a, const void *b)
{
	const struct chain_part *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->state > y->state) - (x->state < y->state);
}

/* Time in which it could have run: not that in which it was not allowed to. */
static int waits_for_cpu(unsigned state, unsigned cause)
{
	return state == PART_RUNNABLE || (state == PART_PREEMPTED && cause != CAUSE_THROTTLE);
}

/* Of the threads that held up the link by having its CPU, or in other ways, the one that
 * explains most. */
static const struct candidate *most(const struct explainer *x, int by_cpu)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		if ((c->via == VIA_CPU) == by_cpu &&
		    (!best || c->ns > best->ns ||
		     (c->ns == best->ns && c->thread < best->thread)))
			best = c;
	}
	return best;
}

/* The next link: who explains as much as the link itself. Waiting for a CPU is one share of the
 * time: where it is the largest, the next link is who had most of that. */
static const struct candidate *best_candidate(const struct explainer *x)
{
	const struct candidate *cpu = most(x, 1), *other = most(x, 0);
	uint64_t own = 0, queued = x->link->queued_ns;
	for (uint32_t i = 0; i < x->link->nparts; i++) {
		const struct chain_part *p = &x->out->parts.v[x->link->part + i];
		*(waits_for_cpu(p->state, p->cause) ? &queued : &own) += p->ns;
	}
	if (other && other->ns >= own && other->ns >= queued)
		return other;
	return cpu && queued >= own && cpu->ns > queued / 2 ? cpu : NULL;
}

/* Add a stretch, or several, of waiting for a CPU to the part that has all of it. */
static void join_queue(struct chain_part *all, const struct chain_part *p)
{
	all->end = all->ns && all->end != p->end ? (uint8_t)END_QUEUED : p->end;
	all->first_ns = all->ns && all->first_ns < p->first_ns ? all->first_ns : p->first_ns;
	all->ns += p->ns;
	if (p->largest_ns <= all->largest_ns)
		return;
	all->largest_ns = p->largest_ns;
	all->path = p->path;
	all->off = p->off;
	all->cause = p->cause == CAUSE_THROTTLE ? CAUSE_THROTTLE : CAUSE_RUNQUEUE;
}

/* Where the chain does not go on to a thread that had the CPU: one part for all the time that
 * the link waited for one. */
static int queue_part(struct explainer *x)
{
	struct chain_link *l = x->link;
	struct chain_part all = {.state = PART_RUNNABLE, .off = TL_NONE};
	uint32_t n = l->nparts;
	x->out->parts.n = l->part;
	for (uint32_t i = 0; i < n; i++) {
		struct chain_part p = x->out->parts.v[l->part + i];
		if (waits_for_cpu(p.state, p.cause))
			join_queue(&all, &p);
		else
			x->out->parts.v[x->out->parts.n++] = p;
	}
	l->nparts = (uint32_t)x->out->parts.n - l->part;
	for (size_t i = 0; i < x->claims.n; i++) {
		const struct candidate *c = &x->candidates.v[x->claims.v[i].candidate];
		const struct window *w = &x->claims.v[i].w;
		struct chain_part p = {.ns = w->to_ns - w->from_ns,
				       .first_ns = w->from_ns,
				       .largest_ns = c->largest_ns,
				       .path = c->path,
				       .off = c->off,
				       .cause = c->cause,
				       .end = END_QUEUED};
		if (c->via == VIA_CPU)
			join_queue(&all, &p);
	}
	if (!all.ns)
		return 0;
	if (appframe_telling(&x->ev.app, all.path, &all.function) ||
	    vec_push(&x->out->parts, all))
		return ERR_NOMEM;
	l->nparts++;
	return 0;
}

static void name_link(struct explainer *x, const struct candidate *next)
{
	struct chain_link *l = x->link;
	const struct chain_part *p = link_part(x->out, l);
	if (next) {
		l->next_ns = next->ns;
		l->state = next->state;
		l->cause = next->cause;
		l->path = next->path;
		l->off = next->off;
	} else if (p) {
		l->state = p->state;
		l->cause = p->cause;
		l->path = p->path;
		l->off = p->off;
	}
}

/* The name a thread had at the link: that of its wait, else its last. */
static uint32_t comm_at(const struct explainer *x, const struct chain_link *l)
{
	return l->off != TL_NONE && x->tl->off.v[l->off].thread == l->thread
		       ? x->tl->off.v[l->off].comm
		       : x->tl->threads.v[l->thread].comm;
}

static int corunner_order(const void *a, const void *b)
{
	const struct corunner *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The state most of the link's time was spent in. */
static uint8_t main_state(const struct chain_link *l)
{
	const uint64_t ns[] = {[PART_RUNNING] = l->run_ns,
			       [PART_BLOCKED] = l->blocked_ns,
			       [PART_RUNNABLE] = l->runnable_ns - l->preempted_ns,
			       [PART_PREEMPTED] = l->preempted_ns,
			       [PART_UNKNOWN] = l->unknown_ns};
	uint8_t best = PART_BLOCKED;
	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		if (ns[i] > ns[best])
			best = (uint8_t)i;
	return best;
}

static uint8_t main_cause(const struct explanation *out)
{
	uint8_t best = CAUSE_UNKNOWN;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (out->blocked_by[i] > out->blocked_by[best])
			best = (uint8_t)i;
	return best;
}

/* The stretch that stands for the episode: the longest one of its main state and cause. */
static void choose_main(struct explainer *x, const struct chain_link *l)
{
	struct explanation *out = x->out;
	uint64_t most = 0;
	out->state = main_state(l);
	out->cause = out->state == PART_BLOCKED ? main_cause(out) : CAUSE_UNKNOWN;
	out->off = TL_NONE;
	out->path = 0;
	for (uint32_t i = 0; i < l->nparts; i++) {
		const struct chain_part *p = &out->parts.v[l->part + i];
		if (p->state != out->state || p->largest_ns <= most ||
		    (p->state == PART_BLOCKED && p->cause != out->cause))
			continue;
		most = p->largest_ns;
		out->off = p->off;
		out->path = p->path;
		out->cause = p->cause;
	}
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		if (c->state != out->state || c->largest_ns <= most ||
		    (c->state == PART_BLOCKED && c->cause != out->cause))
			continue;
		most = c->largest_ns;
		out->off = c->off;
		out->path = c->path;
		out->cause = c->cause;
	}
}

/* The episode's own parts, from its first link. */
static int sum_up(struct explainer *x, const struct chain_link *l)
{
	struct explanation *out = x->out;
	out->run_ns = l->run_ns;
	out->blocked_ns = l->blocked_ns;
	out->runnable_ns = l->runnable_ns;
	out->preempted_ns = l->preempted_ns;
	out->unknown_ns = l->unknown_ns;
	out->samples = l->samples;
	choose_main(x, l);
	for (size_t i = 0; i < out->ahead.n; i++)
		if (vec_push(&out->corunners, out->ahead.v[i]))
			return ERR_NOMEM;
	if (out->corunners.n)
		qsort(out->corunners.v, out->corunners.n, sizeof(*out->corunners.v),
		      corunner_order);
	return 0;
}

/* Take the link's windows apart and choose the next link, whose windows go to x->next. 1 when
 * there is one, 0 at the root. */
static int take_link(struct explainer *x, struct chain_link *l, struct candidate *via,
		     struct err *e)
{
	int r = 0;
	x->link = l;
	x->candidates.n = x->claims.n = x->ran.n = x->next.n = x->out->ahead.n = 0;
	x->link_number++;
	x->off_at = 0;
	l->part = (uint32_t)x->out->parts.n;
	l->off = TL_NONE;
	for (size_t i = 0; !r && i < x->windows.n; i++) {
		l->ns += x->windows.v[i].to_ns - x->windows.v[i].from_ns;
		r = take_window(x, &x->windows.v[i], e);
	}
	if (!r)
		r = running_part(x, x->out->chain.n ? via : NULL, e);
	if (r)
		return r;
	for (size_t i = 0; i < x->candidates.n; i++)
		if (x->candidates.v[i].via == VIA_CPU) {
			l->queued_ns += x->candidates.v[i].ns;
			l->behind++;
		}
	if (!x->out->chain.n && sum_up(x, l))
		return err_nomem(e);
	const struct candidate *next = best_candidate(x);
	if (!(next && next->via == VIA_CPU) && queue_part(x))
		return err_nomem(e);
	if (l->nparts)
		qsort(x->out->parts.v + l->part, l->nparts, sizeof(*x->out->parts.v),
		      part_order);
	if (x->out->ahead.n)
		qsort(x->out->ahead.v, x->out->ahead.n, sizeof(*x->out->ahead.v),
		      corunner_order);
	name_link(x, next);
	l->comm = comm_at(x, l);
	for (size_t i = 0; next && i < x->claims.n; i++)
		if (&x->candidates.v[x->claims.v[i].candidate] == next &&
		    vec_push(&x->next, x->claims.v[i].w))
			return err_nomem(e);
	if (next)
		*via = *next;
	return next != NULL;
}

static void swap_windows(struct explainer *x)
{
	windows_vec tmp = x->windows;
	x->windows = x->next;
	x->next = tmp;
}

static void note_root(struct explainer *x)
{
	const struct chain_link *root = explanation_root(x->out);
	const struct chain_part *p = link_part(x->out, root);
	if (p && p->state == PART_RUNNING && root->guessed)
		x->out->missing |= MISSING_SAMPLES;
	if (p && p->end == END_NO_WAKE)
		x->out->missing |= missing_wakeup(x, root->thread);
}

int explain(struct explainer *x, const struct episode *ep, struct explanation *out,
	    struct err *e)
{
	struct candidate via = {0};
	int r = 1;
	out->chain.n = out->parts.n = out->corunners.n = out->ahead.n = 0;
	memset(out->blocked_by, 0, sizeof(out->blocked_by));
	out->missing = ep->flags & OFF_OPEN ? MISSING_OPEN : 0;
	x->out = out;
	x->windows.n = 0;
	if (episode_windows(x->tl, ep, &x->windows))
		return err_nomem(e);
	struct chain_link l = {.thread = ep->end_thread, .prio = -1};
	while (r > 0) {
		r = take_link(x, &l, &via, e);
		if (r == ERR_NOMEM)
			return err_nomem(e);
		if (r < 0)
			return r;
		if (vec_push(&out->chain, l))
			return err_nomem(e);
		swap_windows(x);
		l = (struct chain_link){.thread = via.thread, .via = via.via, .prio = -1};
		if (r && via.via == VIA_CPU)
			l.prio = (int16_t)evidence_prio(&x->ev,
							off_waited_cpu(&x->tl->off.v[via.off]),
							via.thread, x->windows.v[0].from_ns);
	}
	note_root(x);
	return 0;
}
