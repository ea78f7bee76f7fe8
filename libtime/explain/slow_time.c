#include "libtime/explain/slow_time.h"

enum {
	ENOUGH = 20,  /* cycles, of which the longest are unusual ... */
	UNUSUAL = 3,  /* ... if they are so many times as long as the median */
	MOSTLY = 60,  /* percent of their time that was running */
	AS_LONG = 50, /* percent of the running time that another thread lacked a CPU */
};

/* The largest part of an episode's own running time, or NULL. */
static const struct chain_part *ran_most(const struct explanation *x)
{
	const struct chain_link *l = &x->chain.v[0];
	for (uint32_t i = 0; i < l->nparts; i++)
		if (x->parts.v[l->part + i].state == PART_RUNNING)
			return &x->parts.v[l->part + i];
	return NULL;
}

/* For how long a thread was ready in [from, to), but without a CPU. */
static uint64_t lacked_cpu(const struct timeline *tl, uint32_t thread, uint64_t from,
			   uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t ns = 0;
	for (uint32_t i = timeline_offcpu_after(tl, thread, from);
	     i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < to; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t a = o->start_ns + o->blocked_ns, b = o->end_ns;
		a = a < from ? from : a;
		b = b > to ? to : b;
		ns += !o->unknown && b > a ? b - a : 0;
	}
	return ns;
}

static uint32_t find_stalled(const struct timeline *tl, const struct episode *ep,
			     uint64_t run_ns)
{
	const struct tl_thread *own = &tl->threads.v[ep->thread];
	uint64_t most = run_ns / 100 * AS_LONG;
	uint32_t found = TL_NONE;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (i == ep->thread || t->pid != own->pid || own->pid < 0 ||
		    timeline_part_of(tl, i) != timeline_part_of(tl, ep->thread))
			continue;
		uint64_t ns = lacked_cpu(tl, i, ep->start_ns, ep->end_ns);
		if (ns > most) {
			most = ns;
			found = i;
		}
	}
	return found;
}

static int add_cycle(struct explainer *x, const struct timeline *tl, const struct episode *ep,
		     struct explanation *of, struct slow_time *out, struct err *e)
{
	int r = explain(x, ep, of, e);
	const struct chain_part *p = r ? NULL : ran_most(of);
	if (r)
		return r;
	if (!out->cycles++) {
		out->comm = ep->comm;
		out->function = p ? p->function : 0;
		out->path = p ? p->path : 0;
		out->mechanism = p ? p->mechanism : NULL;
		out->stalled = find_stalled(tl, ep, of->run_ns);
	}
	out->alike += p && p->function && p->function == out->function;
	out->ns += episode_ns(ep);
	out->run_ns += of->run_ns;
	out->blocked_ns += of->blocked_ns;
	out->runnable_ns += of->runnable_ns;
	return 0;
}

int slow_time_find(struct explainer *x, const struct timeline *tl,
		   const struct episode_query *q, uint64_t waits_ns, struct slow_time *out,
		   struct err *e)
{
	struct episode_query cycles = *q;
	struct episode_pick pick = {.kind = PICK_TOP, .top = SLOW_CYCLES};
	struct episodes all;
	struct episode_selection worst = {.threshold_ns = 0};
	struct explanation of = {0};
	*out = (struct slow_time){.stalled = TL_NONE};
	cycles.kind = EPISODE_ACTIVATION;
	cycles.by_base = 1;
	int r = episodes_collect(tl, &cycles, &all, e);
	if (r)
		return r;
	uint64_t usual = episodes_percentile(&all, 50000, 0);
	if (all.clean.n >= ENOUGH)
		r = episodes_select(&all, tl, &pick, &worst, e);
	if (worst.threshold_ns / UNUSUAL < usual)
		worst.v.n = 0;
	for (size_t i = 0; !r && i < worst.v.n; i++)
		r = add_cycle(x, tl, &all.v.v[worst.v.v[i]], &of, out, e);
	if (out->run_ns <= waits_ns || out->run_ns * 100 < out->ns * MOSTLY || !out->function)
		out->cycles = 0;
	explanation_release(&of);
	episode_selection_release(&worst);
	episodes_release(&all);
	return r;
}
