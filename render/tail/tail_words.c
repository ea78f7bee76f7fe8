#include "render/tail/tail_words.h"
#include "base/text/path.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"
#include "render/tail/object_words.h"
#include "render/text/escape.h"
#include "render/text/units.h"
#include "render/text/weight.h"

#include <string.h>

void describe_name(struct buf *b, const struct timeline *tl, uint32_t string)
{
	const struct strtab *s = &tl->stacks->strings;
	escape_visible(b, strtab_get(s, string), strtab_len(s, string));
}

void describe_thread(struct buf *b, const struct timeline *tl, uint32_t thread, uint32_t comm)
{
	if (thread == TL_NONE) {
		buf_char(b, '?');
		return;
	}
	if (strtab_len(&tl->stacks->strings, comm))
		describe_name(b, tl, comm);
	else
		buf_char(b, '?');
	buf_fmt(b, "/%d", tl->threads.v[thread].tid);
	const struct tl_part *p = timeline_part_of(tl, thread);
	if (p) {
		buf_char(b, '@');
		describe_name(b, tl, p->label);
	}
}

void describe_frame(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	const struct frame *f = frame ? &tl->stacks->frames.v[frame] : NULL;
	if (!f || (!f->name && !f->dso)) {
		buf_str(b, "[unknown]");
		return;
	}
	if (f->name) {
		describe_name(b, tl, f->name);
		return;
	}
	const char *base = path_base(strtab_get(&tl->stacks->strings, f->dso));
	int bare = base[0] != '['; /* "[vdso]" is its name */
	buf_str(b, bare ? "[" : "");
	escape_visible(b, base, strlen(base));
	buf_str(b, bare ? "]" : "");
}

void describe_function(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	size_t at = b->n;
	describe_frame(b, tl, frame);
	if (!buf_failed(b) && b->n > at && b->v[b->n - 1] != ')' && b->v[b->n - 1] != ']')
		buf_str(b, "()");
}

const char *describe_cause(unsigned state, unsigned cause)
{
	if (state == PART_RUNNING || state == PART_UNKNOWN)
		return part_state_name(state);
	return cause_name(cause);
}

void describe_prio(struct buf *b, int prio)
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

/* 1 for an address outside of mappings. */
static int is_unmapped(const struct stacks *s, uint32_t path)
{
	const struct frame *f = path ? &s->frames.v[s->paths.v[path].frame] : NULL;
	return f && !f->name && !f->dso;
}

void describe_stack(struct buf *b, struct evidence *ev, uint32_t path, int max)
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
	if (is_unmapped(s, p) && how && !is_unmapped(s, innermost_user_path(s, path))) {
		describe_frame(b, tl, how); /* the place is not known, only how it waited */
		return;
	}
	for (int i = 0; p && i < max; i++, p = s->paths.v[p].parent) {
		if (i)
			buf_str(b, " < ");
		describe_frame(b, tl, s->paths.v[p].frame);
	}
	if (p)
		buf_str(b, " < ...");
	if (node && how && how != s->paths.v[node].frame) {
		int bare = tl->stacks->frames.v[how].name != 0; /* else its name has brackets */
		buf_str(b, bare ? " [" : " ");
		describe_frame(b, tl, how);
		buf_str(b, bare ? "]" : "");
	}
}

/* --- what a link did ------------------------------------------------------------------ */

/* "waiting for the GIL", "throttled, too many dirty pages". */
static void put_mechanism(struct buf *b, const struct mechanism *m)
{
	int state = m->kind == MECHANISM_STATE || m->kind == MECHANISM_STOP;
	buf_fmt(b, "%s%s", state ? "" : "waiting for ", m->words);
}

void describe_quota(struct buf *b, const struct timeline *tl, uint32_t thread, int counts)
{
	struct fact_quota q;
	if (!fact_quota(tl, thread, &q))
		return;
	uint32_t name = fact_container(tl, thread, q.cgroup);
	buf_str(b, " of ");
	units_duration(b, q.quota_ns);
	buf_str(b, " in ");
	units_duration(b, q.period_ns);
	buf_str(b, " (");
	describe_name(b, tl, name ? name : q.cgroup);
	if (counts && q.throttled) {
		buf_fmt(b, ", throttled in %llu", (unsigned long long)q.throttled);
		if (q.periods)
			buf_fmt(b, " of %llu", (unsigned long long)q.periods);
		buf_str(b, " periods");
	}
	buf_char(b, ')');
}

void describe_target(struct buf *b, const struct timeline *tl, const struct offcpu *o,
		     const char *before)
{
	const char *target = fact_target(tl, o);
	const char *device = target ? fact_device(tl, o->thread, target) : NULL;
	if (!target)
		return;
	buf_str(b, before);
	buf_str(b, *target == '/' ? "" : "peer ");
	escape_visible(b, target, strlen(target));
	if (device) {
		buf_str(b, " on ");
		escape_visible(b, device, strlen(device));
	}
}

/* The parts of the time: until it was submitted, in its queue, at the disk. */
static void disk_times(struct buf *b, const struct offcpu *o, const struct disk_request *q)
{
	enum { SHARE = 20 };
	uint64_t late = q->insert_ns > o->start_ns ? q->insert_ns - o->start_ns : 0;
	if (late > o->blocked_ns / SHARE) {
		units_duration(b, late);
		buf_str(b, " until it was submitted, ");
	}
	if (q->has_insert) {
		units_duration(b, q->issue_ns - q->insert_ns);
		buf_str(b, " queued, ");
	}
	units_duration(b, q->end_ns - q->issue_ns);
	buf_str(b, " served");
}

void describe_disk(struct buf *b, struct evidence *ev, uint32_t offcpu, const char *before)
{
	const struct offcpu *o = &ev->tl->offcpu.v[offcpu];
	const struct disk_request *q;
	char text[DISK_NAME];
	if (evidence_disk(ev, offcpu, &q, NULL))
		b->failed = ERR_NOMEM;
	if (buf_failed(b) || !q)
		return;
	buf_fmt(b, "%sa %s ", before, disk_operation(q));
	if (q->bytes) {
		buf_str(b, "of ");
		weight_text(b, (double)q->bytes, 1, 1, "bytes");
		buf_char(b, ' ');
	}
	buf_fmt(b, "%s ", q->op == 'R' ? "from" : q->op == 'W' ? "to" : "of");
	const char *name = disk_name(ev->tl, o->thread, q, text);
	escape_visible(b, name, strlen(name));
	buf_str(b, ": ");
	disk_times(b, o, q);
}

static void blocked_part(struct buf *b, struct evidence *ev, const struct chain_part *p)
{
	const struct timeline *tl = ev->tl;
	uint32_t how = innermost_user(tl->stacks, p->path);
	if (p->mechanism) {
		put_mechanism(b, p->mechanism);
		buf_fmt(b, " (%s)", cause_name(p->cause));
		if (p->function) {
			buf_str(b, " in ");
			describe_function(b, tl, p->function);
		}
	} else if (p->cause == CAUSE_SLEEP) {
		buf_str(b, p->function ? "asleep in " : "asleep");
		if (p->function)
			describe_function(b, tl, p->function);
	} else if (p->cause == CAUSE_IO && how && how != p->function) {
		buf_str(b, "in ");
		describe_frame(b, tl, how);
		buf_str(b, " (io)");
	} else {
		buf_fmt(b, "blocked (%s)", cause_name(p->cause));
		if (p->function) {
			buf_str(b, " in ");
			describe_function(b, tl, p->function);
		}
	}
	if (p->offcpu != TL_NONE) {
		describe_target(b, tl, &tl->offcpu.v[p->offcpu], ", ");
		describe_disk(b, ev, p->offcpu, ", ");
	}
	switch (p->end) {
	case END_NETWORK:
		buf_str(b, ", until a packet arrived");
		break;
	case END_IRQ:
		if (p->cause != CAUSE_IO && p->cause != CAUSE_FAULT &&
		    !(p->mechanism && p->mechanism->kind == MECHANISM_STATE))
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
	case END_TIMED_OUT:
		buf_str(b, ", which timed out");
		break;
	case END_NO_HOLDER:
		buf_str(b, ", holder unknown");
		break;
	default:
		break;
	}
}

static void percent_of(struct buf *b, uint64_t ns, uint64_t whole)
{
	buf_fmt(b, ", %u %%", (unsigned)(100 * (double)ns / (double)whole + 0.5));
}

/* The threads that kept a link blocked, if none did so for most of it; only those above a
 * tenth. */
static void put_blockers(struct buf *b, const struct timeline *tl, const struct chain_part *p)
{
	if (p->actor == TL_NONE || p->actor_ns < p->ns / 10)
		return;
	int turns = p->actors > 1 && ended_lock(p->via, p->cause, p->mechanism);
	buf_str(b, " (");
	if (turns) {
		units_count(b, p->actors);
		buf_str(b, " threads held it in turn, longest ");
	}
	describe_thread(b, tl, p->actor, tl->threads.v[p->actor].comm);
	if (turns && p->actor_function) {
		buf_str(b, " in ");
		describe_function(b, tl, p->actor_function);
	}
	buf_str(b, turns ? " for " : " kept it there for ");
	units_part(b, p->actor_ns, p->ns);
	percent_of(b, p->actor_ns, p->ns);
	if (p->actors > 1 && !turns) {
		buf_str(b, ", ");
		units_plural(b, p->actors - 1, "other", "others");
		buf_str(b, " for ");
		units_part(b, p->kept_ns - p->actor_ns, p->ns);
	}
	buf_char(b, ')');
}

/* The threads that had the CPU meanwhile, the largest with its share; for the root only. */
static void put_corunners(struct buf *b, const struct timeline *tl, const struct explanation *x,
			  const struct chain_link *l, uint64_t ns)
{
	if (l != explanation_root(x) || !x->ahead.n)
		return;
	const struct corunner *c = x->ahead.v;
	uint64_t rest = 0;
	buf_str(b, " (");
	describe_thread(b, tl, c->thread, tl->threads.v[c->thread].comm);
	buf_str(b, " used it for ");
	units_part(b, c->ns, ns);
	percent_of(b, c->ns, ns);
	for (size_t i = 1; i < x->ahead.n; i++)
		rest += x->ahead.v[i].ns;
	uint64_t unseen = c->ns + rest < ns ? ns - c->ns - rest : 0;
	int shown = unseen > ns / 10;
	if (x->ahead.n > 1) {
		buf_str(b, ", ");
		units_plural(b, x->ahead.n - 1, "other", "others");
		buf_str(b, " for ");
		if (shown)
			units_part(b, rest, ns);
		else
			buf_str(b, "the rest");
	}
	if (shown) {
		buf_str(b, ", unrecorded for ");
		units_part(b, unseen, ns);
	}
	buf_char(b, ')');
}

void describe_idle_cpu(struct buf *b, const struct evidence *ev, const struct chain_part *p)
{
	const struct offcpu *o = p->offcpu != TL_NONE ? &ev->tl->offcpu.v[p->offcpu] : NULL;
	int state = o ? evidence_idle_state(ev, o->cpu_in, o->start_ns + o->blocked_ns) : -1;
	buf_str(b, "waiting for an idle CPU to wake up");
	if (state >= 0)
		buf_fmt(b, " (idle state %d)", state);
}

static void queue_part(struct buf *b, struct evidence *ev, const struct explanation *x,
		       const struct chain_link *l, const struct chain_part *p)
{
	if (p->end == END_IDLE_EXIT) {
		describe_idle_cpu(b, ev, p);
		return;
	}
	if (p->end != END_QUEUED && p->end != END_DEPTH) {
		buf_str(b, p->end == END_CYCLE
				   ? "waiting for a CPU that this chain was using"
				   : "waiting for a CPU (who used it was not recorded)");
		return;
	}
	buf_str(b, "waiting for a CPU");
	if (p->function) {
		buf_str(b, " in ");
		describe_function(b, ev->tl, p->function);
	}
	put_corunners(b, ev->tl, x, l, p->ns);
}

static const char *why_unknown(unsigned end)
{
	switch (end) {
	case END_SUSPECT:
		return " (records are missing there)";
	case END_NO_WAKE:
		return " (no wakeup recorded)";
	case END_OPEN:
		return " (cut off by the edge of the recording)";
	default:
		return " (not recorded)";
	}
}

static void unknown_part(struct buf *b, struct evidence *ev, const struct chain_part *p)
{
	buf_str(b, "unknown");
	if (p->function) {
		buf_str(b, " in ");
		describe_function(b, ev->tl, p->function);
	}
	buf_str(b, why_unknown(p->end));
}

static void preempted_part(struct buf *b, struct evidence *ev, const struct chain_part *p)
{
	buf_str(b, "throttled");
	if (p->function) {
		buf_str(b, " in ");
		describe_function(b, ev->tl, p->function);
	}
	buf_str(b, ": its cgroup had used up its CPU quota");
	if (p->offcpu != TL_NONE)
		describe_quota(b, ev->tl, ev->tl->offcpu.v[p->offcpu].thread, 1);
}

/* No event says whose packets NET_RX receives. */
static void put_vector(struct buf *b, const struct timeline *tl, uint32_t vector)
{
	describe_name(b, tl, vector);
	if (!strcmp(strtab_get(&tl->stacks->strings, vector), "softirq NET_RX"))
		buf_str(b, " (whose packets is not recorded)");
}

/* What a link did in a part, or in `ns` of it. */
static void put_part(struct buf *b, struct evidence *ev, const struct explanation *x,
		     const struct chain_link *l, const struct chain_part *p, uint64_t ns)
{
	uint32_t caller;
	units_part(b, ns, l->ns);
	buf_char(b, ' ');
	switch (p->state) {
	case PART_RUNNING:
		if (p->end == END_IRQ) {
			buf_str(b, "interrupted by ");
			if (p->vector) {
				put_vector(b, ev->tl, p->vector);
				break;
			}
			describe_function(b, ev->tl, p->function);
			buf_str(b, ", as samples show");
			break;
		}
		buf_str(b, "running ");
		if (p->function)
			describe_function(b, ev->tl, p->function);
		else
			buf_str(b, "unsampled code");
		caller = p->function ? appframe_caller(ev->tl, p->path) : 0;
		if (caller) {
			buf_str(b, " < ");
			describe_function(b, ev->tl, caller);
		}
		if (p->mechanism)
			buf_fmt(b, ", %s", p->mechanism->words);
		break;
	case PART_BLOCKED:
		blocked_part(b, ev, p);
		if (l == explanation_root(x))
			put_blockers(b, ev->tl, p);
		break;
	case PART_RUNNABLE:
		queue_part(b, ev, x, l, p);
		break;
	case PART_PREEMPTED:
		preempted_part(b, ev, p);
		break;
	default:
		unknown_part(b, ev, p);
	}
}

int is_slight(uint64_t ns, uint64_t of)
{
	return ns < of / 20;
}

/* The rest of `ns` after the largest: ", 0.2 ms in 3 smaller parts". */
static void put_rest(struct buf *b, uint64_t ns, uint64_t whole, size_t parts)
{
	if (!parts || is_slight(ns, whole))
		return;
	buf_str(b, ", ");
	units_part(b, ns, whole);
	buf_str(b, " in ");
	units_plural(b, parts, "smaller part", "smaller parts");
}

void describe_blocked(struct buf *b, const struct explanation *x, const struct chain_link *l)
{
	const struct mechanism *m = l->state == PART_BLOCKED ? link_mechanism(x, l) : NULL;
	if (m)
		put_mechanism(b, m);
	else
		buf_str(b, part_state_name(l->state));
	if (l->state == PART_BLOCKED)
		buf_fmt(b, " (%s)", cause_name(l->cause));
}

/* What a link did, its largest parts first: "6.0 ms asleep in slow_disk(), 0.4 ms in fdatasync
 * (io)". They and the rest add up to the link, unless the rest is slight. */
static void describe_parts(struct buf *b, struct evidence *ev, const struct explanation *x,
			   const struct chain_link *l)
{
	enum { MOST = 3 };
	uint64_t shown = 0, whole = x->chain.v[0].ns;
	uint32_t n = 0, most = l->nparts == MOST + 1 ? MOST + 1 : MOST;
	for (; n < l->nparts && n < most; n++) {
		const struct chain_part *p = &x->parts.v[l->part + n];
		if (n && is_slight(p->ns, whole))
			break;
		buf_str(b, n ? ", " : "");
		put_part(b, ev, x, l, p, p->ns);
		shown += p->ns;
	}
	put_rest(b, l->ns - shown, whole, l->nparts - n);
}

/* The other shares of the episode, which add up to it with the root, unless they are slight. */
static void other_shares(struct buf *b, struct evidence *ev, const struct explanation *x)
{
	enum { MOST = 3 };
	const struct chain_link *l = explanation_root(x);
	uint64_t whole = x->chain.v[0].ns, left = whole - l->ns;
	shares_vec v = {0};
	size_t n = 0, shown = 0;
	if (is_slight(left, whole))
		return;
	if (explanation_shares(x, &v))
		b->failed = ERR_NOMEM;
	for (size_t i = 0; i < v.n; i++)
		if (v.v[i].link + 1 < x->chain.n)
			v.v[n++] = v.v[i];
	buf_str(b, "; the other ");
	units_part(b, left, whole);
	if (!n || is_slight(v.v[0].ns, whole)) {
		vec_release(&v);
		buf_str(b, " in smaller parts");
		return;
	}
	for (; shown < n && shown < MOST && !is_slight(v.v[shown].ns, whole); shown++) {
		const struct chain_link *of = &x->chain.v[v.v[shown].link];
		buf_str(b, shown ? ", " : ": ");
		if (!shown || v.v[shown].link != v.v[shown - 1].link) {
			describe_thread(b, ev->tl, of->thread, of->comm);
			buf_char(b, ' ');
		}
		put_part(b, ev, x, of, &x->parts.v[v.v[shown].part], v.v[shown].ns);
		left -= v.v[shown].ns;
	}
	put_rest(b, left, whole, n - shown);
	vec_release(&v);
}

/* --- the root ------------------------------------------------------------------------- */

/* What a waker did to the link that waited for it. */
static const char *hold_words(const struct evidence *ev, const struct chain_link *l)
{
	switch (l->cause) {
	case CAUSE_FUTEX: /* a lock or a condition variable: unknown */
		return "woke it from its futex only after ";
	case CAUSE_SEMAPHORE: /* held it, or had not produced anything yet */
		return "posted the semaphore only after ";
	case CAUSE_COND:
		return "signalled the condition only after ";
	case CAUSE_CHILD:
		if (waited_for_exec(ev->tl, l->path))
			return "called exec or exited only after ";
		return "exited only after ";
	case CAUSE_JOIN:
		return "exited only after ";
	case CAUSE_STOPPED:
		return "kept it stopped for ";
	case CAUSE_BARRIER:
		return "reached the barrier only after ";
	case CAUSE_SAFEPOINT:
		return "ended the safepoint only after ";
	case CAUSE_NET:
	case CAUSE_PIPE:
	case CAUSE_POLL:
		return waited_to_send(ev->tl, l->path) ? "read what was sent only after "
						       : "sent the data only after ";
	default:
		return "kept it waiting for ";
	}
}

/* "held the GIL for ", of a link after another. */
static void put_hold(struct buf *b, const struct evidence *ev, const struct explanation *x,
		     const struct chain_link *l)
{
	const struct mechanism *m = link_mechanism(x, l - 1);
	if (!link_held_lock(x, l)) {
		buf_str(b, l->via == VIA_TURN ? "had its turn at the futex for "
					      : hold_words(ev, l - 1));
		return;
	}
	buf_fmt(b, "held %s", m ? m->words : "the lock");
	if (l->doing)
		buf_fmt(b, " %s", l->doing->words);
	buf_str(b, " for ");
}

/* " (nice 19)", unless it is the default. */
static void put_prio(struct buf *b, int prio)
{
	enum { USUAL = 120 };
	if (prio < 0 || prio == USUAL)
		return;
	buf_str(b, " (");
	describe_prio(b, prio);
	buf_char(b, ')');
}

/* The priority of a link that spent its time in the chain waiting for a CPU; else -1. */
static int prio_of_wait(const struct timeline *tl, const struct explanation *x,
			const struct chain_link *l)
{
	const struct chain_part *p = link_part(x, l);
	uint32_t offcpu = TL_NONE;
	if (l != explanation_root(x))
		offcpu = l[1].via == VIA_CPU ? l->offcpu : TL_NONE;
	else if (p && p->state == PART_RUNNABLE)
		offcpu = p->offcpu;
	return offcpu != TL_NONE ? tl->offcpu.v[offcpu].prio_in : -1;
}

/* A sentence if a lock's holder gets no CPU while a thread of higher priority waits for it. */
static void put_inversion(struct buf *b, const struct timeline *tl, const struct explanation *x)
{
	const struct chain_link *self = &x->chain.v[0];
	int waiter = self->offcpu != TL_NONE ? tl->offcpu.v[self->offcpu].prio_in : -1;
	for (size_t i = 1; i < x->chain.n && waiter >= 0; i++) {
		const struct chain_link *l = &x->chain.v[i];
		int holder = prio_of_wait(tl, x, l);
		if (!link_held_lock(x, l) || holder <= waiter)
			continue;
		buf_str(b, "; priority inversion: ");
		describe_thread(b, tl, self->thread, self->comm);
		put_prio(b, waiter);
		buf_str(b, " waited for a lock held by ");
		describe_thread(b, tl, l->thread, l->comm);
		put_prio(b, holder);
		buf_str(b, ", which had no CPU");
		return;
	}
}

static void had_cpu(struct buf *b, const struct timeline *tl, const struct chain_link *l)
{
	const struct chain_link *before = l - 1;
	const struct offcpu *o =
		before->offcpu != TL_NONE ? &tl->offcpu.v[before->offcpu] : NULL;
	put_prio(b, l->prio);
	uint16_t cpu = o ? offcpu_waited_cpu(o) : TL_NOCPU;
	if (cpu == TL_NOCPU)
		buf_str(b, " had its CPU for ");
	else
		buf_fmt(b, " had CPU %u for ", timeline_cpu(tl, cpu));
}

/* Why no thread is named. */
static const char *why_no_thread(const struct chain_part *p)
{
	if (!p || p->state == PART_UNKNOWN)
		return "unknown: ";
	if (p->end == END_QUOTA)
		return "a CPU quota: ";
	if (p->end == END_TIMED_OUT || (p->end == END_NO_HOLDER && !p->kept_ns))
		return "no holder seen: ";
	if (p->mechanism && p->mechanism->kind == MECHANISM_STATE)
		return "no other thread: ";
	return p->kept_ns ? "no single thread: " : "no other thread: ";
}

/* Whose work a kernel thread did, if a good part of it was one's: "; bulk/12 gave it that
 * work, in backup() [fsync]". */
static void put_behind(struct buf *b, struct evidence *ev, const struct explanation *x,
		       const struct chain_link *l)
{
	enum { SHARE = 4 }; /* who gave less than 1 in so many is not behind it */
	const struct behind *by = &l->behind;
	if (!by->ns || by->ns < l->ns / SHARE)
		return;
	buf_str(b, "; ");
	if (by->thread == TL_NONE)
		buf_str(b, "an interrupt or timer");
	else
		describe_thread(b, ev->tl, by->thread, ev->tl->threads.v[by->thread].comm);
	buf_str(b, by->thread == x->chain.v[0].thread ? " itself gave it" : " gave it");
	if (is_slight(l->ns - by->ns, l->ns)) {
		buf_str(b, " that work");
	} else {
		buf_str(b, " work for ");
		units_part(b, by->ns, l->ns);
	}
	if (by->thread == TL_NONE) {
		buf_str(b, ", for whom is not recorded");
	} else if (by->path) {
		buf_str(b, ", in ");
		describe_stack(b, ev, by->path, 1);
	}
}

void describe_root(struct buf *b, struct evidence *ev, const struct explanation *x)
{
	const struct chain_link *l = explanation_root(x);
	const struct timeline *tl = ev->tl;
	if (x->chain.n == 1) {
		buf_str(b, why_no_thread(link_part(x, l)));
		describe_parts(b, ev, x, l);
		return;
	}
	buf_str(b,
		tl->threads.v[l->thread].flags & THREAD_KERNEL ? "kernel thread " : "thread ");
	describe_thread(b, tl, l->thread, l->comm);
	if (l->via == VIA_CPU) {
		had_cpu(b, tl, l);
	} else {
		put_prio(b, prio_of_wait(tl, x, l));
		buf_char(b, ' ');
		put_hold(b, ev, x, l);
	}
	units_duration(b, l->ns);
	buf_str(b, ": ");
	describe_parts(b, ev, x, l);
	put_behind(b, ev, x, l);
	other_shares(b, ev, x);
	put_inversion(b, tl, x);
}

static void gaps_fit(struct buf *b, const struct period *beat)
{
	buf_fmt(b, " (%llu of %llu gaps fit)", (unsigned long long)beat->fitting,
		(unsigned long long)beat->of);
}

void describe_period(struct buf *b, const struct recurrence *r, const char *they)
{
	if (!recurrence_found(r))
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

/* What the root did to the thread that waited for it: "held the GIL", "thawed it"; nothing if
 * there is only what it did itself. 1 when something was appended. */
static int put_role(struct buf *b, const struct tail_root *r)
{
	const struct mechanism *m = r->held_mechanism;
	size_t at = b->n;
	if (r->via == VIA_CPU)
		buf_str(b, "had the CPU");
	else if (ended_lock(r->via, r->held_cause, m))
		buf_fmt(b, "held %s", m ? m->words : "the lock");
	else if (m) /* a stop's words are of the thread that was stopped */
		buf_str(b, m->kind == MECHANISM_STOP ? m->verb : m->words);
	if (r->doing && b->n > at)
		buf_fmt(b, " %s", r->doing->words);
	return b->n > at;
}

static const char *doing_words(const struct tail_root *r)
{
	switch (r->state) {
	case PART_RUNNING:
		return r->end == END_IRQ ? "interrupted by" : "running";
	case PART_RUNNABLE:
		return r->end == END_IDLE_EXIT ? "waiting for an idle CPU to wake up"
					       : "waiting for a CPU";
	case PART_PREEMPTED:
		return "CPU quota used up";
	case PART_UNKNOWN:
		return "unknown";
	default:
		return r->cause == CAUSE_SLEEP ? "asleep" : cause_name(r->cause);
	}
}

static void put_place(struct buf *b, const struct tail *t, const struct tail_root *r)
{
	buf_str(b, r->state == PART_RUNNING ? " " : " in ");
	if (r->vector) {
		describe_name(b, t->tl, r->vector);
		return;
	}
	describe_function(b, t->tl, r->function);
}

void describe_root_brief(struct buf *b, const struct tail *t, const struct tail_root *r)
{
	describe_name(b, t->tl, r->comm);
	buf_fmt(b, ": %s", r->state == PART_BLOCKED ? cause_name(r->cause) : doing_words(r));
	if (r->function || r->vector)
		put_place(b, t, r);
}

static void root_cell(struct buf *b, const struct tail *t, const struct tail_root *r,
		      int unnamed)
{
	describe_name(b, t->tl, r->via == VIA_CPU ? r->process : r->comm);
	buf_str(b, ": ");
	int did = put_role(b, r);
	if (did && (unnamed || (r->state == PART_RUNNING && !r->function && !r->vector)))
		return;
	buf_str(b, did ? ", " : "");
	if (r->mechanism)
		put_mechanism(b, r->mechanism);
	else
		buf_str(b, doing_words(r));
	if ((r->function && !unnamed) || r->vector)
		put_place(b, t, r);
}

static void holder_cell(struct buf *b, const struct tail *t, const struct tail_holder *h)
{
	if (h->thread != TL_NONE) {
		describe_name(b, t->tl, h->comm);
		buf_str(b, ": ");
	}
	switch (h->kind) {
	case HOLDER_NONE:
		buf_str(b, "no other thread");
		break;
	case HOLDER_QUEUE:
		buf_str(b, "several threads had its CPU");
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
		describe_function(b, t->tl, h->function);
	}
}

static void label_cell(struct buf *b, const struct tail *t, const struct episode *ep)
{
	uint32_t value = timeline_label(t->tl, ep->at, t->group_label);
	if (value)
		describe_name(b, t->tl, value);
	else
		buf_str(b, "(none)");
}

void describe_group(struct buf *b, struct tail *t, const struct tail_group *g)
{
	const struct tail_row *row = &t->rows.v[g->row];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	switch (t->group_by) {
	case GROUP_HOLDER:
		holder_cell(b, t, &row->holder);
		break;
	case GROUP_STACK:
		describe_stack(b, explainer_evidence(t->explainer), row->path, 4);
		break;
	case GROUP_CAUSE:
		buf_str(b, describe_cause(row->state, row->cause));
		break;
	case GROUP_THREAD:
		describe_thread(b, t->tl, ep->thread, ep->comm);
		break;
	case GROUP_COMM:
		describe_name(b, t->tl, ep->comm);
		break;
	case GROUP_LABEL:
		label_cell(b, t, ep);
		break;
	default:
		root_cell(b, t, &row->root, g->unnamed);
	}
}

void more_details(struct buf *b, size_t n, size_t explained)
{
	if (!explained || explained >= n)
		return;
	buf_str(b, "\n... ");
	units_count(b, n - explained);
	buf_fmt(b, " more (explain all with --details %zu)\n", n);
}

void describe_missing(const struct timeline *tl, unsigned missing,
		      void (*say)(void *ctx, const char *line), void *ctx)
{
	const struct {
		unsigned bit;
		const char *line;
	} lines[] = {
		{MISSING_WAKING_EVENT,
		 "no wakeup recorded; -e sched:sched_waking shows who ends a wait"},
		{MISSING_WAKEUP,
		 "this wakeup was not recorded, although others were: lost, or "
		 "from an interrupt where perf cannot record (perfkit doctor says "
		 "whether records were lost)"},
		{MISSING_STACK, "no stack at the switch; record with -g or --call-graph dwarf"},
		{MISSING_HOLE,
		 "records are missing inside, so its length and what happened are "
		 "uncertain (perfkit doctor says why)"},
		{MISSING_OPEN, "cut off by the edge of the recording or of --time: it lasted "
			       "longer"},
		{MISSING_SAMPLES,
		 tl->samples.n ? "no sample fell where the root cause ran; with more samples "
				 "(perfkit record -F 1999) one may"
			       : "no CPU samples were recorded; -e cpu-clock/freq=1999/ shows "
				 "what ran"},
	};
	if (missing & MISSING_STACK && timeline_stacks_of_some(tl)) {
		missing &= ~(unsigned)MISSING_STACK;
		say(ctx, "no stack at the switch: stacks were recorded of chosen threads only "
			 "(perfkit record -p, --comm ...), by the names that they had at the "
			 "start");
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (missing & lines[i].bit)
			say(ctx, lines[i].line);
}
