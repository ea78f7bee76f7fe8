#include "libtime/causes/causes.h"
#include "libtime/explain/told.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"

#include <string.h>

static struct told_arg in_function(uint32_t frame)
{
	return arg_frame("function", TOLD_FUNC, frame);
}

/* --- groups --------------------------------------------------------------------------- */

/* What the root did to the thread that waited for it: "held the GIL", "thawed it"; nothing if
 * there is only what it did itself. 1 when something was said. */
static int tell_role(struct told *to, const struct tail_root *r)
{
	const struct mechanism *m = r->held_mechanism;
	size_t before = to->v.n;
	if (r->via == VIA_CPU)
		TELL_BARE(to, ROOT_HAD_CPU);
	else if (ended_lock(r->via, r->held_cause, m))
		TELL(to, ROOT_HELD, m ? arg_mechanism(m) : arg_word("what", "the lock"));
	else if (m &&
		 m->kind == MECHANISM_STOP) /* its words are of the thread that was stopped */
		TELL(to, STATE, arg_word("state", m->verb));
	else if (m)
		TELL(to, MECHANISM_STATE, arg_mechanism(m));
	if (r->doing && to->v.n > before)
		TELL(to, DOING, arg_mechanism(r->doing));
	return to->v.n > before;
}

/* What it did, in few words; of a wait with `cause` alone its cause. */
static void tell_state(struct told *to, const struct tail_root *r, int cause)
{
	switch (r->state) {
	case PART_RUNNING:
		told_say(to, r->end == END_IRQ ? TOLD_INTERRUPTED : TOLD_RUNNING, NULL, 0);
		break;
	case PART_RUNNABLE:
		told_say(to, r->end == END_IDLE_EXIT ? TOLD_IDLE_CPU : TOLD_WANTS_CPU, NULL, 0);
		break;
	case PART_PREEMPTED:
		TELL_BARE(to, QUOTA_USED_UP);
		break;
	case PART_UNKNOWN:
		TELL_BARE(to, UNKNOWN);
		break;
	default:
		if (r->cause == CAUSE_SLEEP && !cause)
			TELL_BARE(to, ASLEEP);
		else
			TELL(to, STATE, arg_word("state", cause_name(r->cause)));
	}
}

static void tell_place(struct told *to, const struct timeline *tl, const struct tail_root *r,
		       uint32_t function)
{
	int ran = r->state == PART_RUNNING;
	unsigned cause = r->state == PART_BLOCKED ? r->cause : CAUSE_UNKNOWN;
	struct told_arg at = r->vector
				     ? arg_string("vector", r->vector)
				     : in_function(told_function(tl, cause, r->path, function));
	if (r->vector)
		told_say(to, ran ? TOLD_AT_VECTOR : TOLD_IN_VECTOR, &at, 1);
	else if (function)
		told_say(to, ran ? TOLD_AT : TOLD_IN, &at, 1);
}

void told_root_brief(struct told *to, const struct timeline *tl, const struct tail_root *r)
{
	TELL(to, NAME, arg_string("name", r->comm));
	TELL_BARE(to, COLON);
	tell_state(to, r, 1);
	tell_place(to, tl, r, r->function);
}

static void tell_root_group(struct told *to, const struct timeline *tl,
			    const struct tail_root *r, int unnamed)
{
	TELL(to, NAME, arg_string("name", r->via == VIA_CPU ? r->process : r->comm));
	TELL_BARE(to, COLON);
	int did = tell_role(to, r);
	if (did && (unnamed || (r->state == PART_RUNNING && !r->function && !r->vector)))
		return;
	if (did)
		TELL_BARE(to, COMMA);
	if (r->mechanism)
		told_mechanism(to, r->mechanism);
	else
		tell_state(to, r, 0);
	tell_place(to, tl, r, unnamed ? 0 : r->function);
}

static void tell_holder(struct told *to, const struct tail_holder *h)
{
	if (h->thread != TL_NONE) {
		TELL(to, NAME, arg_string("name", h->comm));
		TELL_BARE(to, COLON);
	}
	switch (h->kind) {
	case HOLDER_NONE:
		TELL_BARE(to, NO_OTHER);
		break;
	case HOLDER_QUEUE:
		TELL_BARE(to, SEVERAL_HAD_CPU);
		break;
	case HOLDER_CPU:
		TELL_BARE(to, HAD_ITS_CPU);
		break;
	case HOLDER_LOCK:
		TELL(to, ROOT_HELD, arg_word("what", "the lock"));
		break;
	default:
		TELL(to, WOKE_IT, arg_word("cause", cause_name(h->cause)));
	}
	if (h->function)
		TELL(to, IN, in_function(h->function));
}

void told_group(struct told *to, const struct tail *t, const struct tail_group *g)
{
	const struct tail_row *row = &t->rows.v[g->row];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	int blocked = row->state != PART_RUNNING && row->state != PART_UNKNOWN;
	uint32_t label;
	switch (t->group_by) {
	case GROUP_HOLDER:
		tell_holder(to, &row->holder);
		break;
	case GROUP_STACK:
		TELL(to, STACK, arg_path(row->path, 4));
		break;
	case GROUP_CAUSE:
		TELL(to, STATE,
		     arg_word("state",
			      blocked ? cause_name(row->cause) : part_state_name(row->state)));
		break;
	case GROUP_THREAD:
		TELL(to, THREAD, arg_who(ep->thread, ep->comm));
		break;
	case GROUP_COMM:
		TELL(to, NAME, arg_string("name", ep->comm));
		break;
	case GROUP_LABEL:
		label = timeline_label(t->tl, ep->at, t->group_label);
		if (label)
			TELL(to, NAME, arg_string("name", label));
		else
			TELL_BARE(to, NO_LABEL);
		break;
	default:
		tell_root_group(to, t->tl, &row->root, g->unnamed);
	}
}

/* --- cycles that were slow without waiting -------------------------------------------- */

/* ", while flusher had no CPU for 73 % of it": of the running time. */
static void tell_stalled(struct told *to, const struct timeline *tl, const struct slow_time *s)
{
	uint32_t comm = tl->threads.v[s->stalled].comm;
	unsigned percent = told_percent(s->stalled_ns, s->run_ns);
	struct told_arg args[] = {arg_string("thread", comm), arg_number("percent", percent)};
	told_say(to, comm == s->comm ? TOLD_NAMED_STALLED : TOLD_OTHER_STALLED, args,
		 percent < 100 ? 2 : 1);
}

void told_slow_time(struct told *to, const struct timeline *tl, const struct slow_time *s)
{
	unsigned in = told_percent(s->in_function, s->samples);
	struct told_arg args[] = {arg_number("n", s->alike), arg_number("all", s->cycles),
				  arg_number("percent", told_percent(s->run_ns, s->ns)),
				  arg_string("who", s->comm)};
	told_say(to, TOLD_SLOW_CYCLES, args, s->comm ? 4 : 3);
	if (s->function && in < 100)
		TELL(to, SAMPLES_IN, arg_number("percent", in));
	if (s->function)
		TELL(to, SLOW_IN, arg_frame("function", TOLD_SHORT, s->function));
	if (s->caller)
		TELL(to, CALLED_BY, arg_frame("function", TOLD_SHORT, s->caller));
	if (s->doing)
		TELL(to, SAMPLES_OF,
		     arg_number("percent", told_percent(s->doing_samples, s->samples)),
		     arg_mechanism(s->doing));
	if (s->mechanism)
		TELL(to, OF_MECHANISM, arg_mechanism(s->mechanism));
	if (s->stalled != TL_NONE)
		tell_stalled(to, tl, s);
	TELL_BARE(to, SLOW_END);
}

/* --- the host ------------------------------------------------------------------------- */

/* The resource whose pressure may explain what the root did, or NULL. */
static const char *pressure_of(const struct chain_part *p)
{
	static const char *const memory[] = {"memory-high", "reclaim-cgroup", "reclaim",
					     "compaction", "swap"};
	for (size_t i = 0; p->mechanism && i < sizeof(memory) / sizeof(*memory); i++)
		if (!strcmp(p->mechanism->name, memory[i]))
			return "memory";
	if (p->state == PART_BLOCKED && (p->cause == CAUSE_IO || p->cause == CAUSE_FAULT))
		return "io";
	return p->state == PART_RUNNABLE ? "cpu" : NULL;
}

/* The CPU where the root ran or wanted to run. */
static uint16_t root_cpu(const struct timeline *tl, const struct explanation *x,
			 const struct chain_part *p)
{
	if (p->state == PART_RUNNING)
		return timeline_cpu_at(tl, explanation_root(x)->thread, p->first_ns);
	return p->state == PART_RUNNABLE && p->offcpu != TL_NONE
		       ? offcpu_waited_cpu(&tl->offcpu.v[p->offcpu])
		       : TL_NOCPU;
}

/* The NUMA node to which a page was moved. */
static void tell_node(struct told *to, const struct timeline *tl, const struct explanation *x,
		      const struct chain_part *p)
{
	int nodes, node;
	uint16_t cpu =
		p->offcpu != TL_NONE ? tl->offcpu.v[p->offcpu].cpu_out : root_cpu(tl, x, p);
	if (!p->mechanism || strcmp(p->mechanism->name, "numa"))
		return;
	node = fact_node(tl, explanation_root(x)->thread, cpu, &nodes);
	if (node >= 0)
		TELL(to, NODE, arg_number("cpu", timeline_cpu(tl, cpu)),
		     arg_signed("node", node), arg_signed("nodes", nodes));
}

void told_host(struct told *to, const struct timeline *tl, const struct explanation *x)
{
	enum { WORTH = 1000 }; /* 1 % */
	const struct chain_part *p = link_part(x, explanation_root(x));
	uint32_t thread = explanation_root(x)->thread;
	uint16_t cpu = p ? root_cpu(tl, x, p) : TL_NOCPU;
	const char *of = p ? pressure_of(p) : NULL;
	if (p)
		tell_node(to, tl, x, p);
	int64_t share = cpu == TL_NOCPU ? -1 : fact_steal(tl, thread, cpu);
	if (share >= WORTH)
		TELL(to, STEAL, arg_number("share", (uint64_t)share),
		     arg_number("cpu", timeline_cpu(tl, cpu)));
	share = of ? fact_pressure(tl, thread, of) : -1;
	if (share >= WORTH)
		TELL(to, PRESSURE,
		     arg_word("what", *of == 'c'   ? "a CPU"
				      : *of == 'i' ? "I/O"
						   : of),
		     arg_number("share", (uint64_t)share));
}
