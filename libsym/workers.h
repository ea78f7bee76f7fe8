/*
 * workers.h - threads that count slices of samples while the walk over the recording goes on;
 * used by collect.
 *
 *	walk ──slices──► queue ──► threads, one aggregate each
 *
 * One thread, the walk's, calls all of these. It counts too whenever it has to wait, so that as
 * many threads work as there are aggregates.
 */
#ifndef LIBSYM_WORKERS_H
#define LIBSYM_WORKERS_H

#include "libsym/aggregate.h"

enum {
	MAX_WORKERS = 16,
	SLICE_MAX = 1 << 18, /* bytes of a slice */
};

/* A run of whole records, adjacent in memory. */
struct slice {
	const uint8_t *p, *end;
	uint64_t offset;
	struct chunk *chunk; /* held; NULL for a mapped file */
};

struct workers;

/* Count into n ≥ 1 aggregates, borrowed. Threads are started when there is work for them.
 * ERR_NOMEM. */
int workers_new(struct workers **out, struct aggregate **aggregates, int n, struct err *e);

/* Have n slices counted. They are the queue's from now on, their chunks too, which are dropped
 * by the calling thread in a later call. ERR_NOMEM: none was taken. */
int workers_add(struct workers *c, const struct slice *s, size_t n, struct err *e);

/* Count along until all that was given is counted. < 0: what the first slice that failed failed
 * with; the rest is let go. */
int workers_wait(struct workers *c, struct err *e);

/* End the threads, drop what was not counted. NULL is accepted. */
void workers_free(struct workers *c);

#endif
