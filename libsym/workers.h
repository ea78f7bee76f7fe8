/*
 * workers.h - threads that count slices of samples while the walk over the recording goes on;
 * used by collect.
 *
 *	walk ──slices──► queue ──► threads, one aggregate each
 *
 * One thread, the walk's, calls all of these. It counts, too, when it has to wait, so that as
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

/* Count into n ≥ 1 aggregates, borrowed. Threads are started on demand. ERR_NOMEM. */
int workers_new(struct workers **out, struct aggregate **aggregates, int n, struct err *e);

/* Queue n slices for counting. The queue owns them and their chunks, which the calling thread
 * drops in a later call. ERR_NOMEM: none was queued. */
int workers_add(struct workers *c, const struct slice *s, size_t n, struct err *e);

/* Help to count until all queued slices are counted. < 0: the error of the first slice that
 * failed; the rest is dropped. */
int workers_wait(struct workers *c, struct err *e);

/* End the threads and drop uncounted slices. NULL is accepted. */
void workers_free(struct workers *c);

#endif
