#include "render/tail/host_words.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <string.h>

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

static void put_percent(struct buf *b, int64_t millipercent)
{
	if (millipercent < 10000)
		buf_fmt(b, "%.1f %%", (double)millipercent / 1000);
	else
		buf_fmt(b, "%d %%", (int)((millipercent + 500) / 1000));
}

/* The NUMA node to which a page was moved. */
static void put_node(struct buf *b, const struct timeline *tl, const struct explanation *x,
		     const struct chain_part *p)
{
	int nodes, node;
	uint16_t cpu =
		p->offcpu != TL_NONE ? tl->offcpu.v[p->offcpu].cpu_out : root_cpu(tl, x, p);
	if (!p->mechanism || strcmp(p->mechanism->name, "numa"))
		return;
	node = fact_node(tl, explanation_root(x)->thread, cpu, &nodes);
	if (node >= 0)
		buf_fmt(b, " CPU %u is in node %d, one of %d.", timeline_cpu(tl, cpu), node,
			nodes);
}

void describe_host(struct buf *b, const struct timeline *tl, const struct explanation *x)
{
	enum { WORTH = 1000 }; /* 1 % */
	const struct chain_part *p = link_part(x, explanation_root(x));
	uint32_t thread = explanation_root(x)->thread;
	uint16_t cpu = p ? root_cpu(tl, x, p) : TL_NOCPU;
	const char *of = p ? pressure_of(p) : NULL;
	if (p)
		put_node(b, tl, x, p);
	int64_t share = cpu == TL_NOCPU ? -1 : fact_steal(tl, thread, cpu);
	if (share >= WORTH) {
		buf_str(b, " Over the whole recording, by /proc/stat, the hypervisor took ");
		put_percent(b, share);
		buf_fmt(b, " of CPU %u.", timeline_cpu(tl, cpu));
	}
	share = of ? fact_pressure(tl, thread, of) : -1;
	if (share >= WORTH) {
		buf_str(b, " Over the whole recording, by /proc/pressure, ");
		buf_fmt(b, "tasks waited for %s ",
			*of == 'c'   ? "a CPU"
			: *of == 'i' ? "I/O"
				     : of);
		put_percent(b, share);
		buf_str(b, " of the time.");
	}
}
