/*
 * disk_requests.h - disk requests, put together from the marks of three tracepoints.
 *
 *	submitted ── block_rq_insert ──queued── block_rq_issue ──served── block_rq_complete
 *
 * A request that a disk can take at once is issued without being inserted in a queue.
 * Formats: the kernel's include/trace/events/block.h, print_fmt of the three events.
 */
#ifndef LIBTIME_SCHED_DISK_REQUESTS_H
#define LIBTIME_SCHED_DISK_REQUESTS_H

#include "libtime/sched/timeline.h"

/* A request that was issued and completed during the recording. */
struct disk_request {
	uint64_t insert_ns, issue_ns, end_ns; /* not queued: insert_ns is issue_ns */
	uint64_t sector, bytes;
	uint32_t major, minor; /* of the disk */
	uint32_t thread;       /* the one that inserted it, else that issued it; or TL_NONE */
	uint16_t cpu;          /* where it was completed */
	uint8_t has_insert;    /* block_rq_insert was recorded */
	char op;               /* 'R', 'W', 'D' (discard), 'F' (flush) ... as rwbs begins */
};
typedef VEC(struct disk_request) disk_requests;

/* All requests, ordered by end; *out is replaced. ERR_NOMEM. */
int disk_requests_read(const struct timeline *tl, disk_requests *out, struct err *e);

/* "read", "write", "discard", "flush"; "request" for others. */
const char *disk_operation(const struct disk_request *q);

/* The disk's name: "sda" if the context of the thread's recording has it, else "MAJOR:MINOR".
 * `text` may hold the result. */
enum { DISK_NAME = 24 };
const char *disk_name(const struct timeline *tl, uint32_t thread, const struct disk_request *q,
		      char text[DISK_NAME]);

#endif
