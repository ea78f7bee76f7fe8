/*
 * fact_table.h - facts about the recorded host and its load, before and after the recording:
 * the `fact` lines of a recording's context (fd_context.h), which become the timeline's facts.
 *
 *	fact KIND<TAB>SUBJECT<TAB>KEY<TAB>VALUE
 *
 *	KIND		SUBJECT		KEY and value
 *	cpu		number		siblings, governor, steal_ms
 *	host		cpus		online, isolated, nohz_full, smt
 *	host		clock		monotonic_ms: when this was read
 *	node		number		cpus
 *	pressure	cpu, memory, io	some, full: microseconds (/proc/pressure)
 *	irq, softirq	as /proc names it	CPU's number: how many
 *	disk		MAJOR:MINOR	name
 *	mount		its folder	device (MAJOR:MINOR), type, source
 *	process		pid		cgroup: its path
 *	cgroup		its path	cpu.max, nr_periods, nr_throttled, throttled_us,
 *					memory.max, memory.high, memory.max_hits,
 *					memory.high_hits, name (NAMESPACE/POD/CONTAINER)
 *	recorder	kernel		stacks_over_ns: not all waits have stacks, but those
 *					that were longer (cmd/record/bpf_recorder.h)
 *	probe		a span's name	return_ns, lines_ns: what probes on entry and return,
 *					or of lines, add to it
 *
 * Other kinds and keys are kept as they are. For descriptors that threads waited on, perfkit
 * itself adds `fd` facts: subject PID/NUMBER, key `target`, a file's path or a socket's peer; and
 * `population` facts of who is meant (population/meant.h).
 */
#ifndef LIBTIME_BUILD_FACT_TABLE_H
#define LIBTIME_BUILD_FACT_TABLE_H

#include "libtime/sched/timeline.h"

/* Zero-initialised is empty. Ids are of `names`. */
struct fact_table {
	struct strtab names;
	VEC(struct tl_fact) v; /* in the order of the text */
	struct idmap index;
};

/* Add the rest of a line after "fact ", from the `snapshot`th snapshot, counted from 1. Other
 * text is skipped. ERR_NOMEM. */
int fact_table_add(struct fact_table *t, const char *line, unsigned snapshot);

/*
 * Add the relevant facts to a timeline: about processes, those with threads in it; about
 * interrupts, those that occurred in between. ERR_NOMEM.
 */
int fact_table_apply(const struct fact_table *t, struct timeline *tl);

/* Valid for an empty one, too. */
void fact_table_release(struct fact_table *t);

#endif
