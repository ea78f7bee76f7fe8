/*
 * history.h - room watch: a recording that never ends, answered while it goes on.
 *
 * A history keeps the last seconds of perf's stream and what their records refer to, and writes
 * both as a recording of its own, which every command reads:
 *
 *	bytes ──► header │ state │ chunk chunk chunk chunk
 *	                   ▲          └ the last seconds, raw ┘
 *	                   └── a chunk that is too old leaves its processes' names and mappings
 *	                       here, and takes those that ended with it
 *
 * Memory is bounded by the limits and by the processes that live; how long the stream lasts
 * does not matter. Only streams are read (`perf record -o -`), of this machine's byte order and
 * not compressed.
 */
#ifndef LIBTIME_WATCH_HISTORY_H
#define LIBTIME_WATCH_HISTORY_H

#include "libparse/recording.h"

#include <stdio.h>

struct history;

struct history_limits {
	uint64_t ns, bytes; /* of records; what is reached first */
};

/* What is known of the stream so far. Times are on its clock. */
struct history_status {
	uint64_t oldest_ns, newest_ns; /* of the records that are kept; 0: none */
	uint64_t safe_ns;       /* no record from before it is still to come (perf's rounds) */
	uint64_t records, lost; /* since the beginning */
	uint64_t bytes;         /* kept: records and state */
	int32_t clockid;        /* -1: perf's own */
};

/* An empty one. ERR_NOMEM. */
int history_new(struct history **out, struct history_limits limits, struct err *e);

/* NULL is accepted. */
void history_free(struct history *h);

/*
 * Take up to n bytes of the stream; *used says how many. 1 where a chunk would have to go that
 * no answer has seen (history_seen), with the rest of the bytes to come again. ERR_FORMAT,
 * ERR_UNSUPPORTED: no stream of perf's that this reads. ERR_NOMEM.
 */
int history_add(struct history *h, const uint8_t *p, size_t n, size_t *used, struct err *e);

/* What is kept now is part of an answer, and may be forgotten. */
void history_seen(struct history *h);

/* What is known now. */
void history_status(const struct history *h, struct history_status *out);

/* Forget what is before `ns`, as far as whole chunks do. ERR_NOMEM. */
int history_forget(struct history *h, uint64_t ns, struct err *e);

/* Write it as a recording in pipe mode. What fails is f's error. */
void history_write(const struct history *h, FILE *f);

/* The same, giving back the memory of what is written: nothing is kept afterwards. */
void history_write_away(struct history *h, FILE *f);

#endif
