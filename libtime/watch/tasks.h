/*
 * tasks.h - the state of a stream's side-band: living processes, names of their threads,
 * mappings. Kept as perf's records, to be written before later ones, as perf record itself does
 * when it starts.
 */
#ifndef LIBTIME_WATCH_TASKS_H
#define LIBTIME_WATCH_TASKS_H

#include "base/text/buf.h"
#include "base/vec.h"
#include "libparse/record.h"

#include <stdio.h>

struct task { /* a thread */
	int32_t pid, tid;
	struct buf comm; /* its COMM record */
};

struct space { /* a process's mappings; pid -1: the kernel's */
	int32_t pid;
	struct buf maps; /* MMAP and MMAP2 records */
};

/* Zero-initialized: empty. */
struct tasks {
	VEC(struct task) threads; /* by tid */
	VEC(struct space) spaces; /* by pid */
	struct buf other;         /* KSYMBOL, BPF_EVENT, CGROUP, NAMESPACES, unchanged */
};

/* Update the state by a record; samples and other records are ignored. ERR_NOMEM. */
int tasks_update(struct tasks *t, const struct record *r);

/* Write all records with their times set to `ns`; a time is `back` bytes before a record's end
 * (0: records have none). */
void tasks_write(const struct tasks *t, uint64_t ns, uint32_t back, FILE *f);

/* Bytes of memory. */
uint64_t tasks_bytes(const struct tasks *t);

/* Release everything. */
void tasks_release(struct tasks *t);

#endif
