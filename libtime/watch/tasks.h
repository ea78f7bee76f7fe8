/*
 * tasks.h - the state of a stream's side-band: living processes, names of their threads,
 * mappings. Kept as perf's records, to be written before later ones, as perf record itself does
 * when it starts.
 *
 * A stream has one CPU's records after another's, so a process that changed CPUs may exit in it
 * before it was forked. Records therefore wait until all older ones have come, and apply in the
 * order of time. An exit that perf lost never comes: beyond a number of bytes, what has not run
 * for longest is forgotten.
 */
#ifndef LIBTIME_WATCH_TASKS_H
#define LIBTIME_WATCH_TASKS_H

#include "base/text/buf.h"
#include "base/vec.h"
#include "libparse/record.h"

#include <stdio.h>

struct task { /* a thread */
	int32_t pid, tid;
	uint64_t seen_ns; /* when it last ran, or was named */
	struct buf comm;  /* its COMM record */
};

struct space { /* a process's mappings; pid -1: the kernel's */
	int32_t pid;
	uint64_t seen_ns;
	struct buf maps; /* MMAP and MMAP2 records */
};

struct waiting { /* a record, and where it is in `bytes` */
	uint64_t ns;
	size_t at;
};

/* Zero-initialized: empty. The owner sets `max`. */
struct tasks {
	uint64_t max;             /* bytes of threads and spaces; 0: any */
	uint64_t now_ns;          /* of the last record */
	VEC(struct task) threads; /* by tid */
	VEC(struct space) spaces; /* by pid */
	struct buf other;         /* KSYMBOL, BPF_EVENT, CGROUP, NAMESPACES, unchanged */
	VEC(struct waiting) waiting;
	struct buf bytes;
};

/* Add a record of that time (0: none, it applies at once); samples and other records are
 * ignored. ERR_NOMEM. */
int tasks_add(struct tasks *t, const struct record *r, uint64_t ns);

/* Update the state by all records older than `ns`. ERR_NOMEM. */
int tasks_settle(struct tasks *t, uint64_t ns);

/* A thread ran. */
void tasks_ran(struct tasks *t, int32_t pid, int32_t tid, uint64_t ns);

/* Write the state as records with the time `ns`, then those that wait with their own; a time is
 * `back` bytes before a record's end (0: records have none). */
void tasks_write(const struct tasks *t, uint64_t ns, uint32_t back, FILE *f);

/* Bytes of memory. */
uint64_t tasks_bytes(const struct tasks *t);

/* Release everything. */
void tasks_release(struct tasks *t);

#endif
