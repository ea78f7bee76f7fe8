/*
 * facts.h - looks things up in a recording's context (timeline.facts): cgroups and their
 * quotas, what a descriptor refers to, and which device that is on. Any answer may be unknown.
 * Where a recording has to be chosen, it is that of `thread`.
 */
#ifndef LIBTIME_SCHED_FACTS_H
#define LIBTIME_SCHED_FACTS_H

#include "libtime/sched/timeline.h"

/* The cgroup of a thread's process (strings id); 0: not known. */
uint32_t fact_cgroup(const struct timeline *tl, uint32_t thread);

/* The container of a cgroup as its runtime names it (strings id): "NAMESPACE/POD/CONTAINER";
 * 0: not known. */
uint32_t fact_container(const struct timeline *tl, uint32_t thread, uint32_t cgroup);

/* A limit on CPU time. */
struct fact_quota {
	uint32_t cgroup; /* strings id: the cgroup that has it, the thread's own or one above */
	uint64_t quota_ns, period_ns; /* quota_ns of CPU time in each period */
	uint64_t throttled, periods;  /* during the recording: periods that used it up, of all;
				       * 0, 0: not known */
};

/* The quota that limits a thread: among its cgroup and the ones above, the quota that was used
 * up most often, else the smallest. 0 if there is none, or it is not known. */
int fact_quota(const struct timeline *tl, uint32_t thread, struct fact_quota *out);

/* The same for a cgroup. */
int fact_quota_of(const struct timeline *tl, uint32_t thread, uint32_t cgroup,
		  struct fact_quota *out);

/* Shares of the time between the context's two snapshots, which is a little longer than the
 * recording, in thousandths of a percent; -1: not known.
 *
 * The time that the hypervisor took from a CPU (its number in the timeline). */
int64_t fact_steal(const struct timeline *tl, uint32_t thread, uint16_t cpu);

/* The time in which some task waited for "cpu", "memory" or "io" (/proc/pressure). */
int64_t fact_pressure(const struct timeline *tl, uint32_t thread, const char *of);

/* The NUMA node of a CPU; *nodes is how many there are. -1: not known, or only one. */
int fact_node(const struct timeline *tl, uint32_t thread, uint16_t cpu, int *nodes);

/* What a wait's descriptor refers to: a path, or a peer's address. NULL: not known. */
const char *fact_target(const struct timeline *tl, const struct offcpu *o);

/* The name of the disk with these numbers: "vda" for "254:0". NULL: not known. */
const char *fact_disk(const struct timeline *tl, uint32_t thread, const char *numbers);

/* The device that a path is on: "sda1", or what is mounted there. NULL: not known. */
const char *fact_device(const struct timeline *tl, uint32_t thread, const char *path);

/* 1 if perfkit's own recorder took a part of the recordings: not all waits have stacks. *over:
 * how long a wait had to be to have one at the worst time; over may be NULL. */
int fact_own_recorder(const struct timeline *tl, uint64_t *over);

#endif
