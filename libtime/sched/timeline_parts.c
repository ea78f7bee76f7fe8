#include "libtime/sched/timeline_parts.h"

const struct tl_part *timeline_part_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = NULL;
	for (size_t i = 0; i < tl->parts.n && tl->parts.v[i].thread_first <= thread; i++)
		p = &tl->parts.v[i];
	return p;
}

const struct tl_part *timeline_part_of_cpu(const struct timeline *tl, uint16_t cpu)
{
	const struct tl_part *p = NULL;
	for (size_t i = 0;
	     cpu != TL_NOCPU && i < tl->parts.n && tl->parts.v[i].cpu_first <= cpu; i++)
		p = &tl->parts.v[i];
	return p;
}

const struct tl_recording *timeline_recording_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = timeline_part_of(tl, thread);
	return p ? &p->rec : &tl->rec;
}

uint32_t timeline_flags_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = timeline_part_of(tl, thread);
	return p ? p->flags : tl->flags;
}

uint16_t timeline_cpu(const struct timeline *tl, uint16_t cpu)
{
	const struct tl_part *p = timeline_part_of_cpu(tl, cpu);
	return p ? (uint16_t)(cpu - p->cpu_first) : cpu;
}

int timeline_has_event(const struct timeline *tl, const char *name)
{
	uint32_t id;
	if (!strtab_find(&tl->stacks->strings, name, &id))
		return 0;
	for (size_t i = 0; i < tl->events.n; i++)
		if (tl->events.v[i].name == id)
			return 1;
	return 0;
}

int timeline_one_clock(const struct timeline *tl)
{
	for (size_t i = 1; i < tl->parts.n; i++)
		if (tl->parts.v[i].rec.host != tl->parts.v[0].rec.host ||
		    tl->parts.v[i].rec.clock != tl->parts.v[0].rec.clock)
			return 0;
	return 1;
}

static uint64_t recorded_in(const struct tl_recording *r, uint64_t from, uint64_t to)
{
	from = from > r->origin_ns ? from : r->origin_ns;
	to = to && to < r->end_ns ? to : r->end_ns;
	return to > from ? to - from : 0;
}

uint64_t timeline_recorded_in(const struct timeline *tl, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < tl->parts.n; i++)
		ns += recorded_in(&tl->parts.v[i].rec, from_ns, to_ns);
	return tl->parts.n ? ns : recorded_in(&tl->rec, from_ns, to_ns);
}

uint64_t timeline_recorded_ns(const struct timeline *tl)
{
	return timeline_recorded_in(tl, 0, 0);
}
