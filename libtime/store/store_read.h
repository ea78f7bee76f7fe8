/*
 * store_read.h - one recording of an SQLite store → the timeline it was written from.
 *
 * The file is untrusted: it is opened read-only with SQLite's own schema
 * distrusted, only real tables are read, and every id, time and sum is checked before it is
 * used.
 */
#ifndef LIBTIME_STORE_STORE_READ_H
#define LIBTIME_STORE_STORE_READ_H

#include "libtime/sched/timeline.h"

struct store;

/*
 * Open a store. ERR_NOTFOUND, ERR_IO; ERR_UNSUPPORTED for an SQLite file that is not perfkit's
 * or has another version; ERR_FORMAT if tables are missing; ERR_REFUSED if tables or columns
 * are computed, not stored; ERR_NOMEM.
 */
int store_open(struct store **out, const char *path, struct err *e);

struct store_recording {
	int64_t id;
	const char *host, *file; /* "": not known; they live as long as the store */
};

/* The recordings by ascending id, at least one; they live as long as the store. ERR_IO,
 * ERR_FORMAT, ERR_NOMEM; ERR_LIMIT past 4096 of them. */
int store_recordings(struct store *s, const struct store_recording **v, size_t *n,
		     struct err *e);

/* Load frames with their instructions (frame.at) from now on; else those of one line are one. */
void store_want_places(struct store *s);

/* What is loaded. */
enum store_contents {
	STORE_TIMELINE, /* everything but the samples of tracepoints */
	STORE_ALL,
	STORE_REPORT, /* all but the samples of tracepoints if switches were recorded */
	STORE_SUMS,   /* sums instead of samples and intervals: enough to fold them */
	STORE_FOLDED, /* the same without threads, and addresses of unnamed frames */
};

/*
 * Load a recording (0 = the first) into tl, which is empty, and stacks, which are empty or were
 * filled by this function from the same store. The timeline is finished. In the first one
 * loaded, threads, events, frames and call paths are in the order in which they were written.
 * ERR_NOTFOUND, ERR_FORMAT ("offcpu 17: ends before it starts"), ERR_IO, ERR_NOMEM; then
 * release tl and stacks.
 */
int store_load(struct store *s, int64_t recording, enum store_contents what,
	       struct timeline *tl, struct stacks *stacks, struct err *e);

/* NULL is accepted. */
void store_close(struct store *s);

#endif
