/*
 * history.h - answers about a stream that never ends, while it goes on. First header of this
 * room; spikes.h finds what is new in an answer.
 *
 * A history keeps the last seconds of perf's stream, and the state that their records refer to.
 * It writes both as a recording, which every command reads:
 *
 *	bytes ──► header │ state │ chunk chunk chunk chunk
 *	                   ▲          └ the last seconds, raw ┘
 *	                   └── when a chunk gets too old, names and mappings of living processes
 *	                       move here
 *
 * Memory is bounded by the limits, not by the stream's length: state may take half as much as
 * records (tasks.h). Mappings of this host's files get build-ids (file_ids.h). Only streams
 * (`perf record -o -`) in this machine's byte order, and without compression, are read.
 */
#ifndef LIBTIME_WATCH_HISTORY_H
#define LIBTIME_WATCH_HISTORY_H

#include "libparse/recording.h"

#include <stdio.h>

struct history;

struct history_limits {
	uint64_t ns, bytes; /* of records, whichever is reached first */
};

/* State of the stream. Times are on its clock. */
struct history_status {
	uint64_t oldest_ns, newest_ns; /* of the records that are kept; 0: none */
	uint64_t safe_ns;       /* all records up to here have been read (perf's rounds) */
	uint64_t records, lost; /* since the beginning */
	uint64_t bytes;         /* of records and state in memory */
	int32_t clockid;        /* -1: perf's own clock */
};

/* Records that perf lost, between the record before them in their CPU's ring buffer and the one
 * that reports the loss (records 0: none), and what was dropped before an answer covered it,
 * because one of perf's rounds exceeds the limits (unseen_to_ns 0: nothing). */
struct history_loss {
	uint64_t from_ns, to_ns, records;
	uint32_t cpus; /* how many lost some */
	uint64_t unseen_from_ns, unseen_to_ns;
};

/* Make an empty history. ERR_NOMEM. */
int history_new(struct history **out, struct history_limits limits, struct err *e);

/* NULL is accepted. */
void history_free(struct history *h);

/*
 * Add up to n bytes of the stream; *used is set to how many were consumed. 1 if a chunk would
 * have to be dropped that no answer has covered (history_seen): call again with the rest after
 * that. ERR_FORMAT, ERR_UNSUPPORTED: not a stream that this reads. ERR_NOMEM.
 */
int history_add(struct history *h, const uint8_t *p, size_t n, size_t *used, struct err *e);

/* 1 if what was added ends inside a record, or inside the bytes behind one. */
int history_is_cut(const struct history *h);

/* An answer covers everything up to safe_ns, so it may be dropped; what came later is for the
 * next answer. */
void history_seen(struct history *h);

/* What was lost since the last call, each kind as one span. */
struct history_loss history_take_loss(struct history *h);

/* The current state. */
void history_status(const struct history *h, struct history_status *out);

/* Drop chunks that end before `ns`. ERR_NOMEM. */
int history_forget(struct history *h, uint64_t ns, struct err *e);

/* Write it as a recording in pipe mode. A failure is f's error. */
void history_write(const struct history *h, FILE *f);

/* The same, giving back the memory of what is written: nothing is kept afterwards. */
void history_write_away(struct history *h, FILE *f);

#endif
