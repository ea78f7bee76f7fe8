#include "render/text/tail_words.h"
#include "libtime/explain/causes.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void words_name(struct buf *b, const struct timeline *tl, uint32_t string)
{
	const struct strtab *s = &tl->stacks->strings;
	escape_visible(b, strtab_get(s, string), strtab_len(s, string));
}

void words_thread(struct buf *b, const struct timeline *tl, uint32_t thread, uint32_t comm)
{
	if (thread == TL_NONE) {
		buf_char(b, '?');
		return;
	}
	words_name(b, tl, comm);
	buf_fmt(b, "/%d", tl->threads.v[thread].tid);
	const struct tl_part *p = timeline_part_of(tl, thread);
	if (p) {
		buf_char(b, '@');
		words_name(b, tl, p->label);
	}
}

void words_frame(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	const struct frame *f = frame ? &tl->stacks->frames.v[frame] : NULL;
	if (!f || (!f->name && !f->dso)) {
		buf_str(b, "[unknown]");
		return;
	}
	if (f->name) {
		words_name(b, tl, f->name);
		return;
	}
	const char *dso = strtab_get(&tl->stacks->strings, f->dso);
	const char *base = strrchr(dso, '/');
	base = base ? base + 1 : dso;
	int bare = base[0] != '['; /* "[vdso]" is its name */
	buf_str(b, bare ? "[" : "");
	escape_visible(b, base, strlen(base));
	buf_str(b, bare ? "]" : "");
}

void words_function(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	size_t at = b->n;
	words_frame(b, tl, frame);
	if (!buf_failed(b) && b->n > at && b->v[b->n - 1] != ')' && b->v[b->n - 1] != ']')
		buf_str(b, "()");
}

const char *words_root_cause(unsigned state, unsigned cause)
{
	return state == PART_RUNNABLE ? "waiting for a CPU (runnable)"
				      : words_cause(state, cause);
}

const char *words_cause(unsigned state, unsigned cause)
{
	if (state == PART_RUNNING || state == PART_UNKNOWN)
		return part_state_name(state);
	return cause_name(cause);
}

void words_prio(struct buf *b, int prio)
{
	if (prio < 0)
		return;
	if (prio < 100)
		buf_fmt(b, "real-time priority %d", 99 - prio);
	else
		buf_fmt(b, "nice %d", prio - 120);
}

/* The path down to its innermost user frame; 0 for none. */
static uint32_t innermost_user_path(const struct stacks *s, uint32_t path)
{
	while (path && s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL)
		path = s->paths.v[path].parent;
	return path;
}

static uint32_t innermost_user(const struct stacks *s, uint32_t path)
{
	path = innermost_user_path(s, path);
	return path ? s->paths.v[path].frame : 0;
}

/* An address that nothing is mapped at. */
static int is_nameless(const struct stacks *s, uint32_t path)
{
	const struct frame *f = path ? &s->frames.v[s->paths.v[path].frame] : NULL;
	return f && !f->name && !f->dso;
}

void words_stack(struct buf *b, struct evidence *ev, uint32_t path, int max)
{
	const struct timeline *tl = ev->tl;
	const struct stacks *s = tl->stacks;
	uint32_t node, p;
	if (!path) {
		buf_str(b, "no stack recorded");
		return;
	}
	node = appframe_node(tl, path);
	p = node ? node : innermost_user_path(s, path);
	p = p ? p : path;
	uint32_t how = innermost_user(s, path);
	if (is_nameless(s, p) && how && !is_nameless(s, innermost_user_path(s, path))) {
		words_frame(b, tl, how); /* where is not known: how it waited is all there is */
		return;
	}
	for (int i = 0; p && i < max; i++, p = s->paths.v[p].parent) {
		if (i)
			buf_str(b, " < ");
		words_frame(b, tl, s->paths.v[p].frame);
	}
	if (p)
		buf_str(b, " < ...");
	if (node && how && how != s->paths.v[node].frame) {
		int bare = tl->stacks->frames.v[how].name != 0; /* else it has brackets */
		buf_str(b, bare ? " [" : " ");
		words_frame(b, tl, how);
		buf_str(b, bare ? "]" : "");
	}
}

/* --- what a link did -----------------------------------------------------------------------
 */

static void blocked_part(struct buf *b, struct evidence *ev, const struct chain_part *p)
{
	const struct timeline *tl = ev->tl;
	uint32_t how = innermost_user(tl->stacks, p->path);
	if (p->cause == CAUSE_SLEEP) {
		buf_str(b, p->function ? "asleep in " : "asleep");
		if (p->function)
			words_function(b, tl, p->function);
	} else if (p->cause == CAUSE_IO && how && how != p->function) {
		buf_str(b, "in ");
		words_frame(b, tl, how);
		buf_str(b, " (io)");
	} else {
		buf_fmt(b, "blocked (%s)", cause_name(p->cause));
		if (p->function) {
			buf_str(b, " in ");
			words_function(b, tl, p->function);
		}
	}
	switch (p->end) {
	case END_NETWORK:
		buf_str(b, ", until a packet arrived");
		break;
	case END_IRQ:
		if (p->cause != CAUSE_IO && p->cause != CAUSE_FAULT)
			buf_str(b, ", ended by an interrupt (timer or device)");
		break;
	case END_OPEN:
		buf_str(b, ", not woken before the recording ended");
		break;
	case END_NO_WAKE:
		buf_str(b, ", no wakeup recorded");
		break;
	case END_CYCLE:
		buf_str(b, ", waiting for a thread of this chain");
		break;
	case END_DEPTH:
		buf_str(b, ", chain truncated here");
		break;
	default:
		break;
	}
}

/* Who had the CPU meanwhile, the largest with its share; of the root only. */
static void ahead(struct buf *b, const struct timeline *tl, const struct explanation *x,
		  const struct chain_link *l, uint64_t ns)
{
	if (l != explanation_root(x) || !x->ahead.n)
		return;
	const struct corunner *c = x->ahead.v;
	uint64_t rest = 0;
	buf_str(b, " (");
	words_thread(b, tl, c->thread, tl->threads.v[c->thread].comm);
	buf_str(b, " used it for ");
	units_part(b, c->ns, ns);
	buf_fmt(b, ", %u %%", (unsigned)(100 * (double)c->ns / (double)ns + 0.5));
	for (size_t i = 1; i < x->ahead.n; i++)
		rest += x->ahead.v[i].ns;
	uint64_t unseen = c->ns + rest < ns ? ns - c->ns - rest : 0;
	int told = unseen > ns / 10;
	if (x->ahead.n > 1) {
		buf_str(b, ", ");
		units_plural(b, x->ahead.n - 1, "other", "others");
		buf_str(b, " for ");
		if (told)
			units_part(b, rest, ns);
		else
			buf_str(b, "the rest");
	}
	if (told) {
		buf_str(b, ", unrecorded for ");
		units_part(b, unseen, ns);
	}
	buf_char(b, ')');
}

static void queue_part(struct buf *b, struct evidence *ev, const struct explanation *x,
		       const struct chain_link *l, const struct chain_part *p)
{
	if (p->end != END_QUEUED && p->end != END_DEPTH) {
		buf_str(b, p->end == END_CYCLE
				   ? "waiting for a CPU that this chain was using"
				   : "waiting for a CPU (who used it was not recorded)");
		return;
	}
	buf_str(b, "waiting for a CPU");
	if (p->function) {
		buf_str(b, " in ");
		words_function(b, ev->tl, p->function);
	}
	ahead(b, ev->tl, x, l, p->ns);
}

static void one_part(struct buf *b, struct evidence *ev, const struct explanation *x,
		     const struct chain_link *l, const struct chain_part *p)
{
	uint32_t caller;
	units_part(b, p->ns, l->ns);
	buf_char(b, ' ');
	switch (p->state) {
	case PART_RUNNING:
		buf_str(b, "running ");
		if (p->function)
			words_function(b, ev->tl, p->function);
		else
			buf_str(b, "unsampled code");
		caller = p->function ? appframe_caller(ev->tl, p->path) : 0;
		if (caller) {
			buf_str(b, " < ");
			words_function(b, ev->tl, caller);
		}
		break;
	case PART_BLOCKED:
		blocked_part(b, ev, p);
		break;
	case PART_RUNNABLE:
	case PART_PREEMPTED:
		queue_part(b, ev, x, l, p);
		break;
	default:
		if (p->function) {
			buf_str(b, "in ");
			words_function(b, ev->tl, p->function);
			buf_str(b, ", ");
		}
		buf_str(b, p->end == END_NO_WAKE ? "in an unknown state (no wakeup recorded)"
						 : "in an unknown state");
	}
}

static int time_order(const void *a, const void *b)
{
	const struct chain_part *const *x = a, *const *y = b;
	if ((*x)->first_ns != (*y)->first_ns)
		return (*x)->first_ns < (*y)->first_ns ? -1 : 1;
	return (*x > *y) - (*x < *y); /* of one array */
}

void words_parts(struct buf *b, struct evidence *ev, const struct explanation *x,
		 const struct chain_link *l)
{
	enum { MOST = 3 };
	const struct chain_part *p[MOST];
	uint64_t told = 0;
	size_t n = 0;
	for (uint32_t i = 0; i < l->nparts && n < MOST; i++) {
		const struct chain_part *q = &x->parts.v[l->part + i];
		if (n && q->ns < l->ns / 25)
			break;
		p[n++] = q;
	}
	qsort(p, n, sizeof(*p), time_order);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_str(b, ", ");
		one_part(b, ev, x, l, p[i]);
		told += p[i]->ns;
	}
	/* what the link spent behind yet others, none of whom explains as much as it does */
	if (n && l->ns - told > l->ns / 10) {
		buf_str(b, ", ");
		units_part(b, l->ns - told, l->ns);
		buf_str(b, " in smaller waits");
	}
}

/* --- the root ------------------------------------------------------------------------------
 */

/* Does one of the innermost frames fit one of the globs, which a NULL ends? */
static int stands_in(const struct stacks *s, uint32_t path, const char *const *globs)
{
	enum { INNERMOST = 12 };
	for (int n = 0; path && n < INNERMOST; n++, path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		for (const char *const *g = globs; f->name && *g; g++)
			if (!fnmatch(*g, strtab_get(&s->strings, f->name), 0))
				return 1;
	}
	return 0;
}

/* Did it wait for room to write or send, not for something to read? */
static int waited_to_send(const struct stacks *s, uint32_t path)
{
	static const char *const globs[] = {"*pipe_write*",     "*sendmsg*",
					    "*_wait_for_wmem*", "*stream_wait_memory*",
					    "*_send_pskb*",     NULL};
	return stands_in(s, path, globs);
}

/* vfork and posix_spawn wait until the child has called exec, not until it ends. */
static int waited_for_exec(const struct stacks *s, uint32_t path)
{
	static const char *const globs[] = {"kernel_clone",        "*do_fork", "*sys_vfork",
					    "wait_for_vfork_done", "*vfork",   NULL};
	return stands_in(s, path, globs);
}

/* What a waker did to the link that waited for it. */
static const char *hold_words(const struct evidence *ev, const struct chain_link *l)
{
	switch (l->cause) {
	case CAUSE_LOCK:
	case CAUSE_RWLOCK:
		return "held the lock for ";
	case CAUSE_FUTEX: /* a lock or a condition: nobody knows */
		return "woke it from its futex only after ";
	case CAUSE_SEMAPHORE: /* held it, or had nothing to hand over yet */
		return "posted the semaphore only after ";
	case CAUSE_COND:
		return "signalled the condition only after ";
	case CAUSE_CHILD:
		if (waited_for_exec(ev->tl->stacks, l->path))
			return "called exec or exited only after ";
		return "exited only after ";
	case CAUSE_JOIN:
		return "exited only after ";
	case CAUSE_BARRIER:
		return "reached the barrier only after ";
	case CAUSE_NET:
	case CAUSE_PIPE:
	case CAUSE_POLL:
		return waited_to_send(ev->tl->stacks, l->path)
			       ? "read what was sent only after "
			       : "sent the data only after ";
	case CAUSE_SIGNAL:
		return "sent the signal only after ";
	default:
		return "kept it waiting for ";
	}
}

/* " (nice 19)", where it is not the usual one. */
static void put_prio(struct buf *b, int prio)
{
	enum { USUAL = 120 };
	if (prio < 0 || prio == USUAL)
		return;
	buf_str(b, " (");
	words_prio(b, prio);
	buf_char(b, ')');
}

/* The priority of a link whose time went by waiting for a CPU, as far as its doing counts in
 * the chain; else -1. */
static int prio_of_wait(const struct timeline *tl, const struct explanation *x,
			const struct chain_link *l)
{
	const struct chain_part *p = link_part(x, l);
	uint32_t off = TL_NONE;
	if (l != explanation_root(x))
		off = l[1].via == VIA_CPU ? l->off : TL_NONE;
	else if (p && p->state == PART_RUNNABLE)
		off = p->off;
	return off != TL_NONE ? tl->off.v[off].prio_in : -1;
}

/* A lock is held by who gets no CPU, while a thread of higher priority waits for it. */
static void inversion(struct buf *b, const struct timeline *tl, const struct explanation *x)
{
	const struct chain_link *self = &x->chain.v[0];
	int waiter = self->off != TL_NONE ? tl->off.v[self->off].prio_in : -1;
	for (size_t i = 1; i < x->chain.n && waiter >= 0; i++) {
		const struct chain_link *l = &x->chain.v[i];
		int holder = prio_of_wait(tl, x, l);
		int held = l->via == VIA_OWNER ||
			   (l->via == VIA_WAKER &&
			    (l[-1].cause == CAUSE_LOCK || l[-1].cause == CAUSE_RWLOCK));
		if (!held || holder <= waiter)
			continue;
		buf_str(b, "; priority inversion: ");
		words_thread(b, tl, self->thread, self->comm);
		put_prio(b, waiter);
		buf_str(b, " waited for a lock held by ");
		words_thread(b, tl, l->thread, l->comm);
		put_prio(b, holder);
		buf_str(b, ", which had no CPU");
		return;
	}
}

static void had_cpu(struct buf *b, const struct timeline *tl, const struct chain_link *l)
{
	const struct chain_link *before = l - 1;
	const struct off *o = before->off != TL_NONE ? &tl->off.v[before->off] : NULL;
	put_prio(b, l->prio);
	uint16_t cpu = o ? off_waited_cpu(o) : TL_NOCPU;
	if (cpu == TL_NOCPU)
		buf_str(b, " had its CPU for ");
	else
		buf_fmt(b, " had CPU %u for ", timeline_cpu(tl, cpu));
}

/* The largest of several who had the CPU: how large, and how many others there were. */
static void others_too(struct buf *b, const struct chain_link *l)
{
	const struct chain_link *before = l - 1;
	uint64_t rest = before->queued_ns > l->ns ? before->queued_ns - l->ns : 0;
	if (before->behind < 2 || rest <= before->queued_ns / 10)
		return;
	buf_str(b, " of ");
	units_duration(b, before->queued_ns);
	buf_str(b, " (");
	units_plural(b, before->behind - 1, "other", "others");
	buf_str(b, " had the rest)");
}

void words_root(struct buf *b, struct evidence *ev, const struct explanation *x)
{
	const struct chain_link *l = explanation_root(x);
	const struct timeline *tl = ev->tl;
	if (x->chain.n == 1) {
		buf_str(b, x->corunners.n && x->runnable_ns > l->ns / 10 ? "no single thread: "
									 : "no other thread: ");
		words_parts(b, ev, x, l);
		return;
	}
	buf_str(b,
		tl->threads.v[l->thread].flags & THREAD_KERNEL ? "kernel thread " : "thread ");
	words_thread(b, tl, l->thread, l->comm);
	if (l->via == VIA_CPU) {
		had_cpu(b, tl, l);
	} else {
		put_prio(b, prio_of_wait(tl, x, l));
		buf_char(b, ' ');
		buf_str(b, hold_words(ev, l - 1));
	}
	units_duration(b, l->ns);
	if (l->via == VIA_CPU)
		others_too(b, l);
	buf_str(b, ": ");
	words_parts(b, ev, x, l);
	inversion(b, tl, x);
}

static void gaps_fit(struct buf *b, const struct beat *beat)
{
	buf_fmt(b, " (%llu of %llu gaps fit)", (unsigned long long)beat->fitting,
		(unsigned long long)beat->of);
}

void words_rhythm(struct buf *b, const struct recurrence *r, const char *they)
{
	if (!recurrence_is(r))
		return;
	buf_fmt(b, "%s recur ", they);
	if (r->rate.ns) {
		buf_str(b, "every ~");
		units_duration(b, r->rate.ns);
		gaps_fit(b, &r->rate);
	}
	if (r->pause.ns) {
		buf_str(b, r->rate.ns ? ", " : "~");
		units_duration(b, r->pause.ns);
		buf_str(b, " after the previous one ended");
		if (!r->rate.ns)
			gaps_fit(b, &r->pause);
		buf_str(b, "; something sleeps in between");
	}
	buf_char(b, '.');
}

void words_root_cell(struct buf *b, const struct tail *t, const struct tail_row *row,
		     int nameless)
{
	words_name(b, t->tl, row->root.comm);
	buf_fmt(b, ": %s", words_root_cause(row->root.state, row->root.cause));
	if (row->root.function && !nameless) {
		buf_str(b, " in ");
		words_function(b, t->tl, row->root.function);
	}
}

static void holder_cell(struct buf *b, const struct tail *t, const struct tail_holder *h)
{
	if (h->thread != TL_NONE) {
		words_name(b, t->tl, h->comm);
		buf_str(b, ": ");
	}
	switch (h->way) {
	case HOLDER_NONE:
		buf_str(b, "no other thread");
		break;
	case HOLDER_QUEUE:
		buf_str(b, "no single thread: several had its CPU");
		break;
	case HOLDER_CPU:
		buf_str(b, "had its CPU");
		break;
	case HOLDER_LOCK:
		buf_str(b, "held the lock");
		break;
	default:
		buf_fmt(b, "woke it (%s)", cause_name(h->cause));
	}
	if (h->function) {
		buf_str(b, " in ");
		words_function(b, t->tl, h->function);
	}
}

static void label_cell(struct buf *b, const struct tail *t, const struct episode *ep)
{
	uint32_t value = timeline_label(t->tl, ep->at, t->group_label);
	if (value)
		words_name(b, t->tl, value);
	else
		buf_str(b, "(none)");
}

void words_group(struct buf *b, struct tail *t, const struct tail_group *g)
{
	const struct tail_row *row = &t->rows.v[g->row];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	switch (t->group_by) {
	case GROUP_HOLDER:
		holder_cell(b, t, &row->holder);
		break;
	case GROUP_STACK:
		words_stack(b, explainer_evidence(t->explainer), row->path, 4);
		break;
	case GROUP_CAUSE:
		buf_str(b, words_cause(row->state, row->cause));
		break;
	case GROUP_THREAD:
		words_thread(b, t->tl, ep->thread, ep->comm);
		break;
	case GROUP_COMM:
		words_name(b, t->tl, ep->comm);
		break;
	case GROUP_LABEL:
		label_cell(b, t, ep);
		break;
	default:
		words_root_cell(b, t, row, g->nameless);
	}
}

void words_missing(const struct timeline *tl, unsigned missing,
		   void (*say)(void *ctx, const char *line), void *ctx)
{
	static const struct {
		unsigned bit;
		const char *line;
	} lines[] = {
		{MISSING_WAKING_EVENT,
		 "no wakeup recorded; -e sched:sched_waking shows who ends a wait"},
		{MISSING_WAKEUP,
		 "this wakeup was not recorded, although others were: lost, or "
		 "from an interrupt where perf cannot record (try a larger -m)"},
		{MISSING_STACK, "no stack at the switch; record with -g or --call-graph dwarf"},
		{MISSING_HOLE,
		 "records are missing inside, so its length and what happened are "
		 "uncertain (try a larger -m)"},
		{MISSING_OPEN, "cut off by the edge of the recording or of --time: it lasted "
			       "longer"},
		{MISSING_SAMPLES,
		 "no samples of the code that ran, so the stack of its next "
		 "wakeup or switch names it; record -e cpu-clock/freq=1999/ too"},
	};
	(void)tl;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (missing & lines[i].bit)
			say(ctx, lines[i].line);
}
