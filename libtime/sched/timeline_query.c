#include "libtime/sched/timeline_query.h"
#include "base/gallop.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

uint32_t timeline_part_begin(const struct timeline *tl, unsigned part, unsigned parts)
{
	const struct tl_thread *v = tl->threads.v;
	size_t n = tl->threads.n, want = tl->offcpu.n / parts * part;
	size_t i = part == parts ? n : PARTITION_POINT(k, 0, n, v[k].offcpu_first < want);
	int nearer = i && i < n && want - v[i - 1].offcpu_first < v[i].offcpu_first - want;
	return (uint32_t)(nearer ? i - 1 : i);
}

int timeline_has_switches(const struct timeline *tl)
{
	for (size_t i = 0; i < tl->events.n; i++)
		if (!strcmp(strtab_get(&tl->stacks->strings, tl->events.v[i].name),
			    "sched:sched_switch"))
			return 1;
	return (tl->flags & TL_HAS_RECORDS) != 0;
}

void timeline_thread_sums(const struct timeline *tl, uint32_t thread, struct tl_sums *out)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	*out = (struct tl_sums){.offs = t->offcpu_n, .run = t->last_ns - t->first_ns};
	for (uint32_t i = 0; i < t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[t->offcpu_first + i];
		out->run -= offcpu_ns(o);
		out->blocked += o->blocked_ns;
		out->runnable += offcpu_runnable_ns(o);
		out->preempted += offcpu_preempted_ns(o);
		out->unknown += offcpu_unknown_ns(o);
		out->open += (o->flags & OFF_OPEN) != 0;
		out->suspect += (o->flags & OFF_SUSPECT) != 0;
	}
}

uint32_t timeline_offcpu_after(const struct timeline *tl, uint32_t thread, uint64_t from)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return (uint32_t)search_after(BY_KEY(tl->offcpu.v, end_ns), t->offcpu_first,
				      t->offcpu_first + t->offcpu_n, from);
}

uint32_t timeline_offcpu_after_near(const struct timeline *tl, uint32_t thread, uint64_t from,
				    uint32_t near)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return (uint32_t)gallop_after(BY_KEY(tl->offcpu.v, end_ns), t->offcpu_first,
				      t->offcpu_first + t->offcpu_n, near, from);
}

uint16_t timeline_cpu_at(const struct timeline *tl, uint32_t thread, uint64_t ns)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, ns), end = t->offcpu_first + t->offcpu_n;
	if (i < end)
		return tl->offcpu.v[i].start_ns <= ns ? tl->offcpu.v[i].cpu_in
						      : tl->offcpu.v[i].cpu_out;
	return t->offcpu_n ? tl->offcpu.v[end - 1].cpu_in : t->first_cpu;
}

static int run_order(const void *a, const void *b)
{
	const struct tl_run *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/*
 * Sorts runs by start: each CPU's time is cut into slots of a few runs, a first walk counts the
 * runs of each slot, a second one puts each into its slot, then each slot is sorted.
 */
struct run_sorter {
	uint64_t from_ns, slot_ns;
	uint32_t slots; /* of a CPU */
	VEC(uint32_t) at;
	struct tl_run *v; /* NULL: count only */
};

static void put_run(struct run_sorter *s, const struct tl_run *run)
{
	uint64_t slot = (run->start_ns - s->from_ns) / s->slot_ns;
	if (slot >= s->slots) /* an unchecked timeline */
		slot = s->slots - 1;
	uint32_t *at = &s->at.v[(size_t)run->cpu * s->slots + (size_t)slot];
	if (s->v)
		s->v[*at] = *run;
	++*at;
}

static void thread_runs(const struct timeline *tl, uint32_t thread, struct run_sorter *s)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	struct tl_run run = {.thread = thread,
			     .start_ns = t->first_ns,
			     .cpu = t->first_cpu,
			     .prio = t->first_prio};
	for (uint32_t i = 0; i <= t->offcpu_n; i++) {
		const struct offcpu *o =
			i < t->offcpu_n ? &tl->offcpu.v[t->offcpu_first + i] : NULL;
		run.end_ns = o ? o->start_ns : t->last_ns;
		if (run.end_ns > run.start_ns && run.cpu != TL_NOCPU)
			put_run(s, &run);
		if (o) {
			run.start_ns = o->end_ns;
			run.cpu = o->cpu_in;
			run.prio = o->prio_in;
		}
	}
}

/* One more than the highest CPU that a thread ran on. */
static uint32_t count_cpus(const struct timeline *tl)
{
	uint32_t n = 0;
	for (size_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].first_cpu != TL_NOCPU && tl->threads.v[i].first_cpu >= n)
			n = tl->threads.v[i].first_cpu + 1u;
	for (size_t i = 0; i < tl->offcpu.n; i++)
		if (tl->offcpu.v[i].cpu_in != TL_NOCPU && tl->offcpu.v[i].cpu_in >= n)
			n = tl->offcpu.v[i].cpu_in + 1u;
	return n;
}

static int sorter_init(struct run_sorter *s, const struct timeline *tl, uint32_t ncpu)
{
	enum { RUNS_PER_SLOT = 8 };
	uint64_t from = UINT64_MAX, to = 0;
	for (size_t i = 0; i < tl->threads.n; i++) {
		from = tl->threads.v[i].first_ns < from ? tl->threads.v[i].first_ns : from;
		to = tl->threads.v[i].last_ns > to ? tl->threads.v[i].last_ns : to;
	}
	size_t slots = (tl->offcpu.n + tl->threads.n) / RUNS_PER_SLOT / (ncpu ? ncpu : 1) + 1;
	*s = (struct run_sorter){.from_ns = from, .slots = (uint32_t)slots};
	s->slot_ns = to > from ? (to - from) / slots + 1 : 1;
	if (vec_reserve(&s->at, slots * ncpu + 1))
		return ERR_NOMEM;
	s->at.n = slots * ncpu + 1;
	memset(s->at.v, 0, s->at.n * sizeof(*s->at.v));
	return 0;
}

/* Turn counts into the index where each slot begins. */
static uint32_t sum_slots(struct run_sorter *s)
{
	uint32_t at = 0;
	for (size_t i = 0; i < s->at.n; i++) {
		uint32_t n = s->at.v[i];
		s->at.v[i] = at;
		at += n;
	}
	return at;
}

/* Most slots hold a few runs: insertion sort is fastest. */
static void sort_slot(struct tl_run *v, size_t n)
{
	enum { FEW = 32 };
	if (n > FEW) {
		qsort(v, n, sizeof(*v), run_order);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct tl_run run = v[i];
		size_t k = i;
		for (; k && run_order(&run, &v[k - 1]) < 0; k--)
			v[k] = v[k - 1];
		v[k] = run;
	}
}

int timeline_runs(const struct timeline *tl, struct tl_runs *out, struct err *e)
{
	struct run_sorter s;
	uint32_t ncpu = count_cpus(tl), n = 0;
	*out = (struct tl_runs){0};
	int r = sorter_init(&s, tl, ncpu);
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		thread_runs(tl, i, &s);
	if (!r)
		n = sum_slots(&s);
	if (!r)
		r = vec_reserve(&out->v, n + 1) || vec_reserve(&out->first, ncpu + 1)
			    ? ERR_NOMEM
			    : 0;
	for (uint32_t i = 0; !r && i < ncpu; i++)
		out->first.v[out->first.n++] = s.at.v[(size_t)i * s.slots];
	s.v = out->v.v;
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		thread_runs(tl, i, &s);
	for (size_t i = 0; !r && i < s.at.n; i++) /* each is now where the next one begins */
		sort_slot(s.v + (i ? s.at.v[i - 1] : 0), s.at.v[i] - (i ? s.at.v[i - 1] : 0));
	if (!r) {
		out->v.n = n;
		out->first.v[out->first.n++] = n;
	}
	vec_release(&s.at);
	if (r) {
		tl_runs_release(out);
		return err_nomem(e);
	}
	return 0;
}

void tl_runs_release(struct tl_runs *r)
{
	vec_release(&r->v);
	vec_release(&r->first);
}
