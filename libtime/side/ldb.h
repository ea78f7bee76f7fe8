/*
 * ldb.h - event files of LDB, a latency debugger ("ldb.data"): 40-byte little-endian records of
 * many threads, without a header and not sorted by time.
 *
 *	s32 type; u32 sec; u32 nsec; u32 tid; u64 arg1; u64 arg2; u64 arg3
 *
 *	 1 STACK       a call returned; arg1: how long it took (ns), arg2: its return address
 *	 2 TAG_SET     the thread begins to work on request arg1
 *	 3 TAG_BLOCK   it stops: the request waits in a queue
 *	 4 TAG_UNSET   it stops: the request is done, unless other threads work on it
 *	 5 TAG_CLEAR   TAG_UNSET for all of the thread's requests
 *	 6 MUTEX_WAIT, 7 MUTEX_LOCK, 8 MUTEX_UNLOCK   arg1: address of the mutex
 *	 9 JOIN_WAIT, 10 JOINED, 11 THREAD_CREATE, 12 THREAD_EXIT
 *
 * These become spans, each on its thread: calls, named after their call site (side_span.site);
 * "request", with its id as key, from the first SET to the last UNSET or CLEAR, and within it
 * "request part", a thread's share, and "in queue", from BLOCK to the next SET; "mutex wait"
 * with the label mutex=ADDRESS, and "mutex hold" with held=ADDRESS. The older layout, eight
 * types with other numbers, is recognized and refused.
 */
#ifndef LIBTIME_SIDE_LDB_H
#define LIBTIME_SIDE_LDB_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if all whole records in the first n bytes can be such events. */
int side_is_ldb(const char *data, size_t n);

/* Read all of it. A truncated last record is a bad row, whose line is the record's number from
 * 1. ERR_FORMAT for the older layout; ERR_* of lines.h, ERR_NOMEM, ERR_LIMIT. */
int side_ldb_read(struct side *out, struct side_lines *l, struct err *e);

#endif
