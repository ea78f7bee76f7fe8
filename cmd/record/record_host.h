/*
 * record_host.h - facts about this machine and its load as `fact` lines of a recording's
 * context (libtime/build/fd_context.h): CPUs, devices, mounts, interrupts, pressure, cgroups.
 * Read from /proc and /sys before and after the recording, not during it.
 */
#ifndef CMD_RECORD_RECORD_HOST_H
#define CMD_RECORD_RECORD_HOST_H

#include "base/text/buf.h"
#include "base/text/strtab.h"

/* The cgroups whose facts are in a snapshot; zero-initialised is none. */
struct host_cgroups {
	struct strtab paths;
};

/* Add the machine's facts. What cannot be read is left out; check buf_failed afterwards. */
void record_host_add(struct buf *out);

/* Add a process's cgroup, and the facts of that cgroup and those above it that are not in
 * `seen`: quotas, throttling, memory limits, the container's name if its runtime left one. */
void record_host_cgroup(struct buf *out, struct host_cgroups *seen, long pid);

/* Valid for none, too. */
void host_cgroups_release(struct host_cgroups *seen);

#endif
