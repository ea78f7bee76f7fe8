/*
 * tasks.h - the side-band of a stream, as it stands at one moment: which processes live, what
 * their threads are called, what is mapped. Kept as perf's own records, so that it is written
 * in front of later ones as perf record itself does when it begins.
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
	struct buf maps; /* MMAP and MMAP2 records, one behind the other */
};

/* Zero-initialised: nothing is known. */
struct tasks {
	VEC(struct task) threads; /* by tid */
	VEC(struct space) spaces; /* by pid */
	struct buf other;         /* KSYMBOL, BPF_EVENT, CGROUP, NAMESPACES: as they came */
};

/* Take a record in; samples and all others are passed over. ERR_NOMEM. */
int tasks_update(struct tasks *t, const struct record *r);

/* Write it with all times set to `ns`, which stand `back` bytes from each record's end (0: they
 * have none). */
void tasks_write(const struct tasks *t, uint64_t ns, uint32_t back, FILE *f);

/* Memory in use. */
uint64_t tasks_bytes(const struct tasks *t);

/* Forget all. */
void tasks_release(struct tasks *t);

#endif
