#include "libtime/causes/causes.h"
#include "libtime/explain/wait_object.h"
#include "libtime/sched/timeline_parts.h"

#include <string.h>

/* --- what a link did in a part ------------------------------------------------------------ */

static const struct told_arg absent = {.kind = TOLD_ABSENT};

static struct told_arg in_function(uint32_t frame)
{
	return arg_frame("function", TOLD_FUNC, frame);
}

static void tell_in(struct told *to, uint32_t frame)
{
	if (frame)
		TELL(to, IN, in_function(frame));
}

/* How a blocked part ended. */
static void tell_end(struct told *to, const struct chain_part *p)
{
	static const enum told_form ends[END_COUNT] = {
		[END_NETWORK] = TOLD_UNTIL_PACKET, [END_IRQ] = TOLD_BY_INTERRUPT,
		[END_OPEN] = TOLD_NOT_WOKEN,       [END_NO_WAKE] = TOLD_NO_WAKEUP,
		[END_CYCLE] = TOLD_WAITS_IN_CHAIN, [END_DEPTH] = TOLD_TRUNCATED,
		[END_TIMED_OUT] = TOLD_TIMED_OUT,  [END_NO_HOLDER] = TOLD_NO_HOLDER,
	};
	int device = p->cause == CAUSE_IO || p->cause == CAUSE_FAULT ||
		     (p->mechanism && p->mechanism->kind == MECHANISM_STATE);
	if (ends[p->end] && !(p->end == END_IRQ && device))
		told_say(to, ends[p->end], NULL, 0);
}

static void tell_blocked_part(struct told *to, struct evidence *ev, const struct chain_part *p)
{
	const struct timeline *tl = ev->tl;
	uint32_t user = told_user_path(tl->stacks, p->path);
	uint32_t how = user ? tl->stacks->paths.v[user].frame : 0;
	struct told_arg cause = arg_word("cause", cause_name(p->cause));
	if (p->mechanism) {
		told_mechanism(to, p->mechanism);
		TELL(to, OF_CAUSE, cause);
		tell_in(to, p->function);
	} else if (p->cause == CAUSE_SLEEP) {
		TELL(to, ASLEEP, in_function(p->function));
	} else if (p->cause == CAUSE_IO && how && how != p->function) {
		TELL(to, IN_IO, arg_frame("frame", TOLD_FRAME, how));
	} else {
		TELL(to, BLOCKED, cause, in_function(p->function));
	}
	if (p->offcpu != TL_NONE) {
		told_target(to, tl, &tl->offcpu.v[p->offcpu], 1);
		told_disk(to, ev, p->offcpu, 1);
	}
	tell_end(to, p);
}

/* The threads that kept a link blocked, if none did so for most of it; only those above a
 * tenth. */
static void tell_blockers(struct told *to, const struct timeline *tl,
			  const struct chain_part *p)
{
	if (p->actor == TL_NONE || p->actor_ns < p->ns / 10)
		return;
	struct told_arg who = arg_who(p->actor, tl->threads.v[p->actor].comm),
			ns = arg_part("ns", p->actor_ns, p->ns),
			percent = arg_number("percent", told_percent(p->actor_ns, p->ns));
	int others = p->actors > 1;
	if (others && ended_lock(p->via, p->cause, p->mechanism))
		TELL(to, HELD_IN_TURN, arg_number("n", p->actors), who,
		     in_function(p->actor_function), ns, percent);
	else
		TELL(to, KEPT_THERE, who, ns, percent,
		     others ? arg_number("others", p->actors - 1) : absent,
		     others ? arg_part("rest", p->kept_ns - p->actor_ns, p->ns) : absent);
}

/* The threads that had the CPU meanwhile, the largest with its share; for the root only. */
static void tell_corunners(struct told *to, const struct timeline *tl,
			   const struct explanation *x, const struct chain_link *l, uint64_t ns)
{
	if (l != explanation_root(x) || !x->ahead.n)
		return;
	const struct corunner *c = x->ahead.v;
	uint64_t rest = 0, others = x->ahead.n - 1;
	for (size_t i = 1; i < x->ahead.n; i++)
		rest += x->ahead.v[i].ns;
	uint64_t unseen = c->ns + rest < ns ? ns - c->ns - rest : 0;
	int shown = unseen > ns / 10;
	TELL(to, USED_CPU, arg_who(c->thread, tl->threads.v[c->thread].comm),
	     arg_part("ns", c->ns, ns), arg_number("percent", told_percent(c->ns, ns)),
	     others ? arg_number(shown ? "others" : "all_others", others) : absent,
	     others && shown ? arg_part("rest", rest, ns) : absent,
	     shown ? arg_part("unseen", unseen, ns) : absent);
}

static void tell_queue_part(struct told *to, struct evidence *ev, const struct explanation *x,
			    const struct chain_link *l, const struct chain_part *p)
{
	if (p->end == END_IDLE_EXIT) {
		told_idle_cpu(to, ev, p);
	} else if (p->end != END_QUEUED && p->end != END_DEPTH) {
		told_say(to, p->end == END_CYCLE ? TOLD_CPU_OF_CHAIN : TOLD_CPU_UNKNOWN, NULL,
			 0);
	} else {
		TELL(to, WANTS_CPU, in_function(p->function));
		tell_corunners(to, ev->tl, x, l, p->ns);
	}
}

static void tell_unknown_part(struct told *to, const struct chain_part *p)
{
	TELL(to, UNKNOWN, in_function(p->function));
	told_say(to,
		 p->end == END_SUSPECT   ? TOLD_WHY_MISSING
		 : p->end == END_NO_WAKE ? TOLD_WHY_NO_WAKE
		 : p->end == END_OPEN    ? TOLD_WHY_CUT
					 : TOLD_WHY_UNRECORDED,
		 NULL, 0);
}

static void tell_preempted_part(struct told *to, struct evidence *ev,
				const struct chain_part *p)
{
	TELL(to, THROTTLED, in_function(p->function));
	if (p->offcpu != TL_NONE)
		told_quota(to, ev->tl, ev->tl->offcpu.v[p->offcpu].thread, 1);
}

/* No event says whose packets NET_RX receives. */
static void tell_vector(struct told *to, const struct timeline *tl, uint32_t vector)
{
	TELL(to, INTERRUPTED, arg_string("vector", vector));
	if (!strcmp(strtab_get(&tl->stacks->strings, vector), "softirq NET_RX"))
		TELL_BARE(to, PACKETS_OF);
}

static void tell_running_part(struct told *to, const struct timeline *tl,
			      const struct chain_part *p)
{
	uint32_t caller = p->function ? appframe_caller(tl, p->path) : 0;
	if (p->end == END_IRQ && p->vector) {
		tell_vector(to, tl, p->vector);
		return;
	}
	if (p->end == END_IRQ) {
		TELL(to, INTERRUPTED_SAMPLED,
		     {.name = "function", .kind = TOLD_FUNC, .number = p->function});
		return;
	}
	if (p->function)
		TELL(to, RUNNING, in_function(p->function));
	else
		TELL_BARE(to, RAN_UNSAMPLED);
	if (caller)
		TELL(to, CALLED_BY, in_function(caller));
	if (p->mechanism)
		TELL(to, OF_MECHANISM, arg_mechanism(p->mechanism));
}

/* What a link did in a part, or in `ns` of it. */
static void tell_part(struct told *to, struct evidence *ev, const struct explanation *x,
		      const struct chain_link *l, const struct chain_part *p, uint64_t ns)
{
	TELL(to, FOR_NS, arg_part("ns", ns, l->ns));
	switch (p->state) {
	case PART_RUNNING:
		tell_running_part(to, ev->tl, p);
		break;
	case PART_BLOCKED:
		tell_blocked_part(to, ev, p);
		if (l == explanation_root(x))
			tell_blockers(to, ev->tl, p);
		break;
	case PART_RUNNABLE:
		tell_queue_part(to, ev, x, l, p);
		break;
	case PART_PREEMPTED:
		tell_preempted_part(to, ev, p);
		break;
	default:
		tell_unknown_part(to, p);
	}
}

/* The rest of `ns` after the largest: ", 0.2 ms in 3 smaller parts". */
static void tell_rest(struct told *to, uint64_t ns, uint64_t whole, size_t parts)
{
	if (parts && !is_slight(ns, whole))
		TELL(to, SMALLER_PARTS, arg_part("ns", ns, whole), arg_number("parts", parts));
}

/* What a link did, its largest parts first: "6.0 ms asleep in slow_disk(), 0.4 ms in fdatasync
 * (io)". They and the rest add up to the link, unless the rest is slight. */
static void tell_parts(struct told *to, struct evidence *ev, const struct explanation *x,
		       const struct chain_link *l)
{
	enum { MOST = 3 };
	uint64_t shown = 0, whole = x->chain.v[0].ns;
	uint32_t n = 0, most = l->nparts == MOST + 1 ? MOST + 1 : MOST;
	for (; n < l->nparts && n < most; n++) {
		const struct chain_part *p = &x->parts.v[l->part + n];
		if (n && is_slight(p->ns, whole))
			break;
		if (n)
			TELL_BARE(to, COMMA);
		tell_part(to, ev, x, l, p, p->ns);
		shown += p->ns;
	}
	tell_rest(to, l->ns - shown, whole, l->nparts - n);
}

/* The largest of the other shares of the episode. */
static void tell_largest_shares(struct told *to, struct evidence *ev,
				const struct explanation *x, const shares_vec *v, uint64_t left)
{
	enum { MOST = 3 };
	uint64_t whole = x->chain.v[0].ns;
	size_t i = 0;
	for (; i < v->n && i < MOST && !is_slight(v->v[i].ns, whole); i++) {
		const struct chain_link *of = &x->chain.v[v->v[i].link];
		told_say(to, i ? TOLD_COMMA : TOLD_COLON, NULL, 0);
		if (!i || v->v[i].link != v->v[i - 1].link) {
			TELL(to, THREAD, arg_who(of->thread, of->comm));
			TELL_BARE(to, SPACE);
		}
		tell_part(to, ev, x, of, &x->parts.v[v->v[i].part], v->v[i].ns);
		left -= v->v[i].ns;
	}
	tell_rest(to, left, whole, v->n - i);
}

/* The other shares of the episode, which add up to it with the root, unless they are slight. */
static void tell_other_shares(struct told *to, struct evidence *ev, const struct explanation *x)
{
	uint64_t whole = x->chain.v[0].ns, left = whole - explanation_root(x)->ns;
	shares_vec v = {0};
	size_t n = 0;
	if (is_slight(left, whole))
		return;
	if (explanation_shares(x, &v))
		to->failed = ERR_NOMEM;
	for (size_t i = 0; i < v.n; i++)
		if (v.v[i].link + 1 < x->chain.n)
			v.v[n++] = v.v[i];
	v.n = n;
	TELL(to, THE_OTHER, arg_part("ns", left, whole));
	if (!n || is_slight(v.v[0].ns, whole))
		TELL_BARE(to, IN_SMALLER_PARTS);
	else
		tell_largest_shares(to, ev, x, &v, left);
	vec_release(&v);
}

/* --- the root ------------------------------------------------------------------------- */

/* What a waker did to the link that waited for it. */
static enum told_form hold_form(const struct evidence *ev, const struct chain_link *l)
{
	switch (l->cause) {
	case CAUSE_FUTEX: /* a lock or a condition variable: unknown */
		return TOLD_WOKE_FUTEX;
	case CAUSE_SEMAPHORE: /* held it, or had not produced anything yet */
		return TOLD_POSTED;
	case CAUSE_COND:
		return TOLD_SIGNALLED;
	case CAUSE_CHILD:
		return waited_for_exec(ev->tl, l->path) ? TOLD_EXECED : TOLD_EXITED;
	case CAUSE_JOIN:
		return TOLD_EXITED;
	case CAUSE_STOPPED:
		return TOLD_KEPT_STOPPED;
	case CAUSE_BARRIER:
		return TOLD_REACHED_BARRIER;
	case CAUSE_SAFEPOINT:
		return TOLD_ENDED_SAFEPOINT;
	case CAUSE_NET:
	case CAUSE_PIPE:
	case CAUSE_POLL:
		return waited_to_send(ev->tl, l->path) ? TOLD_READ_SENT : TOLD_SENT_DATA;
	default:
		return TOLD_KEPT_WAITING;
	}
}

/* "held the GIL for ", of a link after another. */
static void tell_hold(struct told *to, const struct evidence *ev, const struct explanation *x,
		      const struct chain_link *l)
{
	const struct mechanism *m = link_mechanism(x, l - 1);
	if (link_held_lock(x, l))
		TELL(to, HELD_FOR, m ? arg_mechanism(m) : arg_word("what", "the lock"),
		     l->doing ? arg_word("doing", l->doing->words) : absent);
	else
		told_say(to, l->via == VIA_TURN ? TOLD_TURN_FOR : hold_form(ev, l - 1), NULL,
			 0);
}

/* " (nice 19)", unless it is the default. */
static void tell_prio(struct told *to, int prio)
{
	enum { USUAL = 120 };
	if (prio < 0 || prio == USUAL)
		return;
	if (prio < 100)
		TELL(to, REALTIME, arg_signed("priority", 99 - prio));
	else
		TELL(to, NICE, arg_signed("nice", prio - USUAL));
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
static void tell_inversion(struct told *to, const struct timeline *tl,
			   const struct explanation *x)
{
	const struct chain_link *self = &x->chain.v[0];
	int waiter = self->offcpu != TL_NONE ? tl->offcpu.v[self->offcpu].prio_in : -1;
	for (size_t i = 1; i < x->chain.n && waiter >= 0; i++) {
		const struct chain_link *l = &x->chain.v[i];
		int holder = prio_of_wait(tl, x, l);
		if (!link_held_lock(x, l) || holder <= waiter)
			continue;
		TELL(to, INVERSION, arg_who(self->thread, self->comm));
		tell_prio(to, waiter);
		TELL(to, WAITED_LOCK_OF, arg_who(l->thread, l->comm));
		tell_prio(to, holder);
		TELL_BARE(to, HAD_NO_CPU);
		return;
	}
}

static void tell_had_cpu(struct told *to, const struct timeline *tl, const struct chain_link *l)
{
	uint32_t offcpu = l[-1].offcpu;
	uint16_t cpu = offcpu != TL_NONE ? offcpu_waited_cpu(&tl->offcpu.v[offcpu]) : TL_NOCPU;
	tell_prio(to, l->prio);
	if (cpu == TL_NOCPU)
		TELL_BARE(to, HAD_ITS_CPU_FOR);
	else
		TELL(to, HAD_CPU_FOR, arg_number("cpu", timeline_cpu(tl, cpu)));
}

/* Why no thread is named. */
static enum told_form why_no_thread(const struct chain_part *p)
{
	if (!p || p->state == PART_UNKNOWN)
		return TOLD_ALONE_UNKNOWN;
	if (p->end == END_QUOTA)
		return TOLD_ALONE_QUOTA;
	if (p->end == END_TIMED_OUT || (p->end == END_NO_HOLDER && !p->kept_ns))
		return TOLD_ALONE_NO_HOLDER;
	if (p->mechanism && p->mechanism->kind == MECHANISM_STATE)
		return TOLD_ALONE;
	return p->kept_ns ? TOLD_ALONE_SHARED : TOLD_ALONE;
}

/* Whose work a kernel thread did, if a good part of it was one's: "; bulk/12 gave it that
 * work, in backup() [fsync]". */
static void tell_behind(struct told *to, struct evidence *ev, const struct explanation *x,
			const struct chain_link *l)
{
	enum { SHARE = 4 }; /* who gave less than 1 in so many is not behind it */
	const struct behind *by = &l->behind;
	if (!by->ns || by->ns < l->ns / SHARE)
		return;
	if (by->thread == TL_NONE)
		TELL_BARE(to, TIMER_GAVE_WORK);
	else
		told_say(to,
			 by->thread == x->chain.v[0].thread ? TOLD_ITSELF_GAVE_WORK
							    : TOLD_GAVE_WORK,
			 (struct told_arg[]){
				 arg_who(by->thread, ev->tl->threads.v[by->thread].comm)},
			 1);
	if (is_slight(l->ns - by->ns, l->ns))
		TELL_BARE(to, THAT_WORK);
	else
		TELL(to, WORK_FOR, arg_part("ns", by->ns, l->ns));
	if (by->thread == TL_NONE)
		TELL_BARE(to, WORK_UNKNOWN);
	else if (by->path)
		TELL(to, WORK_IN, arg_path(by->path, 1));
}

void told_root(struct told *to, struct evidence *ev, const struct explanation *x)
{
	const struct chain_link *l = explanation_root(x);
	const struct timeline *tl = ev->tl;
	struct told_arg who = arg_who(l->thread, l->comm);
	if (x->chain.n == 1) {
		told_say(to, why_no_thread(link_part(x, l)), NULL, 0);
		tell_parts(to, ev, x, l);
		return;
	}
	told_say(to,
		 tl->threads.v[l->thread].flags & THREAD_KERNEL ? TOLD_KERNEL_THREAD
								: TOLD_A_THREAD,
		 &who, 1);
	if (l->via == VIA_CPU) {
		tell_had_cpu(to, tl, l);
	} else {
		tell_prio(to, prio_of_wait(tl, x, l));
		TELL_BARE(to, SPACE);
		tell_hold(to, ev, x, l);
	}
	TELL(to, LASTED, arg_number("ns", l->ns));
	tell_parts(to, ev, x, l);
	tell_behind(to, ev, x, l);
	tell_other_shares(to, ev, x);
	tell_inversion(to, tl, x);
}
