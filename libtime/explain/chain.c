#include "libtime/explain/chain.h"
#include "base/check.h"
#include "base/mem.h"
#include "libtime/explain/chain_internal.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <assert.h>
#include <string.h>

const char *part_state_name(unsigned int state)
{
	static const char *const names[] = {"running", "blocked", "runnable", "preempted",
					    "unknown"};
	ENTRIES(names, PART_UNKNOWN + 1);
	return state < sizeof(names) / sizeof(*names) ? names[state] : "";
}

const char *part_end_name(unsigned int end)
{
	static const char *const names[] = {
		"",       "ran",   "device",    "timer",   "network",   "interrupt",
		"nobody", "open",  "no_wakeup", "cycle",   "depth",     "gone",
		"others", "quota", "timed_out", "suspect", "no_holder", "idle"};
	ENTRIES(names, END_COUNT);
	return end < sizeof(names) / sizeof(*names) ? names[end] : "";
}

const char *link_via_name(unsigned int via)
{
	static const char *const names[] = {"self", "waker", "owner", "turn", "cpu"};
	ENTRIES(names, VIA_CPU + 1);
	return via < sizeof(names) / sizeof(*names) ? names[via] : "";
}

int explainer_new(const struct timeline *tl, struct explainer **out, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->tl = tl;
	(*out)->place = mem_zalloc(tl->threads.n + 1, sizeof(*(*out)->place));
	int r = evidence_init(&(*out)->ev, tl, e);
	if (!r && !(*out)->place)
		r = err_nomem(e);
	if (!r)
		return 0;
	explainer_free(*out);
	*out = NULL;
	return r;
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
	u64map_release(&x->part_of);
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
	vec_release(&x->root);
}

/* --- the windows of an episode -------------------------------------------------------- */

/* The last wait of `thread` that `giver` ended in (from, to); with TL_NONE, the last idle wait
 * that any other thread ended. */
static const struct offcpu *handed_over_at(const struct timeline *tl, uint32_t thread,
					   uint64_t from, uint64_t to, uint32_t giver)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	const struct offcpu *found = NULL;
	for (uint32_t i = timeline_offcpu_after(tl, thread, from);
	     i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
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

/* When the last thread of a span got it, if no wakeup shows that because the thread was already
 * running. 0: not known. */
static uint64_t handed_ns(const struct timeline *tl, const struct episode *ep)
{
	uint64_t at = ep->at < tl->spans.n ? tl->spans.v[ep->at].handed_ns : 0;
	return at > ep->start_ns && at < ep->end_ns ? at : 0;
}

/* Work handed from thread to thread is followed backwards from its end: a thread got it when
 * the thread that began it woke it last, or else when it was woken from its idle wait. */
int episode_windows(const struct timeline *tl, const struct episode *ep, windows_vec *out)
{
	struct window w = {ep->start_ns, ep->end_ns, ep->end_thread};
	size_t first = out->n;
	for (int depth = 0; w.thread != ep->thread && depth < CHAIN_DEPTH; depth++) {
		const struct offcpu *o =
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
	uint64_t taken = w.thread != ep->thread && out->n == first ? handed_ns(tl, ep) : 0;
	if (taken) {
		w.from_ns = taken;
		if (vec_push(out, w))
			return ERR_NOMEM;
		w = (struct window){ep->start_ns, taken, ep->thread};
	}
	if (vec_push(out, w))
		return ERR_NOMEM;
	reverse(out->v + first, out->n - first);
	return 0;
}

/* --- one link ------------------------------------------------------------------------- */

static int add_running(struct explainer *x, uint32_t thread, uint64_t from, uint64_t to)
{
	x->link->run_ns += to - from;
	return vec_push(&x->ran, ((struct window){from, to, thread}));
}

/* Sum up the episode's own time, whichever thread kept it waiting. */
static void sum_own(struct explainer *x, uint32_t offcpu, unsigned state, uint64_t ns)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	struct stretch *longest = &x->longest[state][o->cause];
	if (x->out->chain.n || !ns)
		return;
	if (state == PART_BLOCKED)
		x->out->blocked_by[o->cause] += ns;
	if (state == PART_PREEMPTED && o->cause == CAUSE_THROTTLE)
		x->out->throttled_ns += ns;
	if (ns > longest->ns)
		*longest = (struct stretch){ns, offcpu};
}

static int add_unknown(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to)
{
	uint8_t why = x->tl->offcpu.v[offcpu].unknown;
	x->link->unknown_ns += to - from;
	sum_own(x, offcpu, PART_UNKNOWN, to - from);
	return chain_own_part(x, PART_UNKNOWN, why == UNKNOWN_EDGE ? END_OPEN : END_NO_WAKE,
			      offcpu, from, to);
}

/* An interval of the link's thread inside [from, to). */
static int visit_interval(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to,
			  struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	struct chain_link *l = x->link;
	uint64_t woken = chain_clamp(o->start_ns + o->blocked_ns, from, to);
	int r = 0;
	if (o->unknown)
		return add_unknown(x, offcpu, from, to);
	l->blocked_ns += woken - from;
	l->runnable_ns += to - woken;
	if (o->flags & OFF_RUNNING)
		l->preempted_ns += to - woken;
	sum_own(x, offcpu, PART_BLOCKED, woken - from);
	sum_own(x, offcpu, o->flags & OFF_RUNNING ? PART_PREEMPTED : PART_RUNNABLE, to - woken);
	if (o->flags & OFF_SUSPECT)
		return chain_own_part(x, PART_UNKNOWN, END_SUSPECT, offcpu, from, to);
	if (woken > from)
		r = chain_blocked(x, offcpu, from, woken, e);
	if (!r && to > woken)
		r = chain_runnable(x, offcpu, woken, to, e);
	return r;
}

/* Was the wakeup lost, or were wakeups not recorded at all? */
static unsigned missing_wakeup(const struct explainer *x, uint32_t thread)
{
	uint32_t flags = timeline_flags_of(x->tl, thread);
	return flags & TL_HAS_WAKING ? MISSING_WAKEUP : MISSING_WAKING_EVENT;
}

static void note_missing(struct explainer *x, const struct offcpu *o)
{
	unsigned *m = &x->out->missing;
	if (o->unknown == UNKNOWN_NO_WAKE)
		*m |= missing_wakeup(x, o->thread);
	if (o->unknown == UNKNOWN_HOLE || o->unknown == UNKNOWN_LOST || o->flags & OFF_SUSPECT)
		*m |= MISSING_HOLE;
	/* a new thread has not left any code */
	if ((o->flags & OFF_NO_STACK || !o->path) && o->cause != CAUSE_RUNQUEUE)
		*m |= MISSING_STACK;
	if (o->flags & OFF_OPEN)
		*m |= MISSING_OPEN;
}

static int visit_window(struct explainer *x, const struct window *w, struct err *e)
{
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	uint64_t at = w->from_ns, to = w->to_ns;
	int r = 0;
	/* nothing is known outside of a thread's recorded life */
	if (at < t->first_ns || to > t->last_ns) {
		uint64_t a = chain_clamp(t->first_ns, at, to),
			 b = chain_clamp(t->last_ns, a, to);
		x->link->unknown_ns += a - at + (to - b);
		if (a - at + (to - b))
			r = chain_own_part(x, PART_UNKNOWN, END_GONE, TL_NONE, at,
					   at + (a - at) + (to - b));
		at = a;
		to = b;
	}
	x->offcpu_at = timeline_offcpu_after_near(x->tl, w->thread, at, x->offcpu_at);
	for (uint32_t i = x->offcpu_at; !r && at < to && i < t->offcpu_first + t->offcpu_n &&
					x->tl->offcpu.v[i].start_ns < to;
	     i++) {
		const struct offcpu *o = &x->tl->offcpu.v[i];
		uint64_t from = chain_clamp(o->start_ns, at, to),
			 end = chain_clamp(o->end_ns, from, to);
		if (from > at)
			r = add_running(x, w->thread, at, from);
		if (!r)
			r = visit_interval(x, i, from, end, e);
		if (!x->out->chain.n)
			note_missing(x, o);
		at = end;
	}
	if (!r && at < to)
		r = add_running(x, w->thread, at, to);
	return r;
}

/* The stack at which a thread left the CPU at the end of a running window: the next best thing
 * to a sample. */
static uint32_t stack_at(const struct explainer *x, const struct window *w)
{
	if (!w)
		return 0;
	const struct tl_thread *t = &x->tl->threads.v[w->thread];
	uint32_t i = timeline_offcpu_after(x->tl, w->thread, w->to_ns);
	return i < t->offcpu_first + t->offcpu_n ? x->tl->offcpu.v[i].path : 0;
}

static uint64_t ran_ns(const windows_vec *ran, uint32_t thread)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < ran->n; i++)
		if (ran->v[i].thread == thread)
			ns += ran->v[i].to_ns - ran->v[i].from_ns;
	return ns;
}

uint32_t chain_runner(const struct explainer *x)
{
	uint32_t runner = x->link->thread, last = TL_NONE;
	uint64_t most = 0;
	for (size_t i = 0; i < x->windows.n; i++) {
		uint32_t thread = x->windows.v[i].thread;
		uint64_t ns = thread == last ? 0 : ran_ns(&x->ran, thread);
		if (ns > most) {
			most = ns;
			runner = thread;
		}
		last = thread;
	}
	return runner;
}

/* The longest stretch that a thread ran. */
static const struct window *longest(const windows_vec *v, uint32_t thread)
{
	const struct window *w = NULL;
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].thread == thread &&
		    (!w || v->v[i].to_ns - v->v[i].from_ns > w->to_ns - w->from_ns))
			w = &v->v[i];
	return w;
}

/* Without samples: take the stack of the wakeup that the running ended with, or the stack at
 * which it left the CPU, whichever first shows a function of the application. */
static int guess_running(struct explainer *x, const struct candidate *from,
			 struct chain_part *p)
{
	const uint32_t paths[] = {
		from && from->via == VIA_WAKER ? x->tl->offcpu.v[from->offcpu].waker_path : 0,
		stack_at(x, longest(&x->ran, chain_runner(x)))};
	for (int i = 0; i < 2; i++) {
		uint32_t function = appframe_reported(x->tl, paths[i]);
		int outer = !function || appframe_is_outer(x->tl, function);
		p->path = p->path ? p->path : paths[i];
		if (outer)
			continue;
		p->path = paths[i];
		p->function = function;
		return 0;
	}
	return 0;
}

/* How much of a thread's running time interrupts took, estimated from its samples; 0 if there
 * are too few of them. */
static uint64_t interrupted_ns(const struct hot *hot, uint64_t run_ns)
{
	enum { MIN_SAMPLES = 3, SHARE = 20 };
	if (hot->interrupted < MIN_SAMPLES || hot->interrupted * SHARE < hot->of)
		return 0;
	return run_ns / hot->of * hot->interrupted;
}

/* Make a part of what interrupts took from the running time: as recorded, else estimated from
 * samples. *taken is its length. */
static int interrupted_part(struct explainer *x, const struct hot *hot, uint64_t *taken,
			    struct err *e)
{
	enum { SHARE = 20 };
	struct chain_part p = {.first_ns = x->ran.v[0].from_ns,
			       .function = hot->interrupt,
			       .offcpu = TL_NONE,
			       .state = PART_RUNNING,
			       .end = END_IRQ};
	int r = evidence_interrupted(&x->ev, x->ran.v, x->ran.n, &p.ns, &p.vector, e);
	if (r)
		return r;
	if (!x->out->chain.n) {
		x->out->interrupted_ns = p.ns < x->link->run_ns ? p.ns : x->link->run_ns;
		x->out->interrupt = p.vector;
		x->out->interrupts = p.ns ? (uint32_t)x->ev.weight.n : 0;
	}
	if (!x->tl->interrupts.n)
		p.ns = interrupted_ns(hot, x->link->run_ns);
	else if (p.ns > x->link->run_ns || p.ns * SHARE < x->link->run_ns)
		p.ns = 0;
	*taken = p.ns;
	return p.ns && chain_add_part(x, &p, NULL) ? err_nomem(e) : 0;
}

/* Make one part of all other running time, with the function that most samples were in. */
static int running_part(struct explainer *x, const struct candidate *from, struct err *e)
{
	struct hot hot;
	struct chain_part p = {.ns = x->link->run_ns,
			       .offcpu = TL_NONE,
			       .state = PART_RUNNING,
			       .end = END_RAN};
	if (!x->ran.n)
		return 0;
	int r = evidence_hot(&x->ev, x->ran.v, x->ran.n, &hot, e);
	if (r)
		return r;
	evidence_caller(&x->ev, x->ran.v, x->ran.n, &hot);
	uint64_t taken;
	r = interrupted_part(x, &hot, &taken, e);
	if (r)
		return r;
	x->link->samples = hot.of;
	p.ns -= taken;
	p.first_ns = x->ran.v[0].from_ns;
	p.path = hot.path;
	p.function = hot.function;
	p.samples = hot.samples;
	if (!p.path) {
		x->link->guessed = 1;
		if (guess_running(x, from, &p))
			return err_nomem(e);
	}
	return chain_add_part(x, &p, NULL) ? err_nomem(e) : 0;
}

/* Divide the link's windows into parts and choose the next link, whose windows go to x->next:
 * 1, or 0 at the root. */
static int visit_link(struct explainer *x, struct chain_link *l, struct candidate *via,
		      struct err *e)
{
	int r = 0;
	x->link = l;
	x->candidates.n = x->claims.n = x->ran.n = x->next.n = x->out->ahead.n = 0;
	u64map_release(&x->part_of);
	x->link_number++;
	x->offcpu_at = 0;
	l->part = (uint32_t)x->out->parts.n;
	l->offcpu = TL_NONE;
	for (size_t i = 0; !r && i < x->windows.n; i++) {
		l->ns += x->windows.v[i].to_ns - x->windows.v[i].from_ns;
		r = visit_window(x, &x->windows.v[i], e);
	}
	if (!r)
		r = running_part(x, x->out->chain.n ? via : NULL, e);
	if (r)
		return r;
	const struct candidate *next;
	if (chain_end_link(x, &next))
		return err_nomem(e);
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
	if (p && p->end == END_SUSPECT)
		x->out->missing |= MISSING_HOLE;
}

int explanation_suspect(const struct explanation *x)
{
	const struct chain_part *p = link_part(x, explanation_root(x));
	return p && p->end == END_SUSPECT;
}

int explain(struct explainer *x, const struct episode *ep, struct explanation *out,
	    struct err *e)
{
	struct candidate via = {0};
	int r = 1;
	out->chain.n = out->parts.n = out->corunners.n = out->ahead.n = 0;
	memset(out->blocked_by, 0, sizeof(out->blocked_by));
	memset(x->longest, 0, sizeof(x->longest));
	out->throttled_ns = out->interrupted_ns = 0;
	out->interrupt = out->interrupts = 0;
	out->missing = ep->flags & OFF_OPEN ? MISSING_OPEN : 0;
	x->out = out;
	x->windows.n = 0;
	if (episode_windows(x->tl, ep, &x->windows))
		return err_nomem(e);
	struct chain_link l = {.thread = ep->end_thread, .prio = -1};
	while (r > 0) {
		r = visit_link(x, &l, &via, e);
		if (r == ERR_NOMEM)
			return err_nomem(e);
		if (r < 0)
			return r;
		if (vec_push(&out->chain, l))
			return err_nomem(e);
		swap_windows(x);
		l = (struct chain_link){.thread = via.thread, .via = via.via, .prio = -1};
		if (r && via.via == VIA_CPU)
			l.prio = (int16_t)evidence_prio(
				&x->ev, offcpu_waited_cpu(&x->tl->offcpu.v[via.offcpu]),
				via.thread, x->windows.v[0].from_ns);
	}
	note_root(x);
	out->root.n = 0; /* the root's windows are the last ones that were swapped away */
	for (size_t i = 0; i < x->next.n; i++)
		if (vec_push(&out->root, x->next.v[i]))
			return err_nomem(e);
	return 0;
}
