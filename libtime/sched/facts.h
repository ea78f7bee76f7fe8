/*
 * facts.h - asks a recording's context (timeline.facts): cgroups and their quotas, what a
 * descriptor refers to, and which device that is on. Any answer may be unknown.
 */
#ifndef LIBTIME_SCHED_FACTS_H
#define LIBTIME_SCHED_FACTS_H

#include "libtime/sched/timeline.h"

/* The cgroup of a thread's process (strings id); 0: not known. */
uint32_t fact_cgroup(const struct timeline *tl, uint32_t thread);

/* A cgroup's container as its runtime calls it (strings id): "NAMESPACE/POD/CONTAINER"; 0. */
uint32_t fact_container(const struct timeline *tl, uint32_t thread, uint32_t cgroup);

/* A limit of CPU time. */
struct fact_quota {
	uint32_t cgroup; /* strings id: whose it is, the thread's own or one above */
	uint64_t quota_ns, period_ns; /* quota_ns of CPU time in each period */
	uint64_t throttled, periods;  /* while it was recorded: periods that used it up, of all;
				       * 0, 0: not known */
};

/* The quota that limits a thread: among its cgroup and the ones above, the quota that was used
 * up most often, else the smallest. 0 if there is none, or it is not known. */
int fact_quota(const struct timeline *tl, uint32_t thread, struct fact_quota *out);

/* The same of a cgroup itself, of the recording that `thread` is of. */
int fact_quota_of(const struct timeline *tl, uint32_t thread, uint32_t cgroup,
		  struct fact_quota *out);

/* Shares of the time between the context's snapshots, which is a little more than what was
 * recorded, in thousandths of a percent; of the recording that `thread` is of. -1: not known.
 *
 * What the hypervisor took of a CPU, by its number in the timeline. */
int64_t fact_steal(const struct timeline *tl, uint32_t thread, uint16_t cpu);

/* While some task waited for "cpu", "memory" or "io" (/proc/pressure). */
int64_t fact_pressure(const struct timeline *tl, uint32_t thread, const char *of);

/* The NUMA node of a CPU, of `*nodes`; -1: not known, or there is but one. */
int fact_node(const struct timeline *tl, uint32_t thread, uint16_t cpu, int *nodes);

/* What a wait's descriptor leads to: a path, or a peer's address. NULL where not known. */
const char *fact_target(const struct timeline *tl, const struct off *o);

/* The name of the disk with these numbers ("254:0"), of the recording that `thread` is of:
 * "vda". NULL where not known. */
const char *fact_disk(const struct timeline *tl, uint32_t thread, const char *numbers);

/* The device that a path is on, of the recording that `thread` is of: "sda1", or what is
 * mounted there. NULL where not known. */
const char *fact_device(const struct timeline *tl, uint32_t thread, const char *path);

#endif
