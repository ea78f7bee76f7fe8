/*
 * storeread.h - one recording of an SQLite store → the timeline it was written from.
 *
 * The file may come from a stranger: it is opened read-only with SQLite's own schema
 * distrusted, only real tables are read, and every id, time and sum is checked before it is
 * used.
 */
#ifndef LIBSTORE_STOREREAD_H
#define LIBSTORE_STOREREAD_H

#include "libstore/timeline.h"

struct store;

/*
 * Open a store. ERR_NOTFOUND, ERR_IO; ERR_UNSUPPORTED for an SQLite file that is not perfkit's
 * and for one of a newer version, each named so; ERR_FORMAT when tables are missing; ERR_NOMEM.
 */
int store_open(struct store **out, const char *path, struct err *e);

/* The ids of its recordings, ascending, into ids[0..max); *n is how many there are. */
int store_recordings(struct store *s, int64_t *ids, size_t max, size_t *n, struct err *e);

/*
 * Load a recording (0 = the first) into tl and stacks, both empty. The timeline is finished;
 * thread, event, frame and call path indexes come out in the order they were written in.
 * ERR_NOTFOUND, ERR_FORMAT ("offcpu 17: ends before it starts"), ERR_IO, ERR_NOMEM; tl and
 * stacks are then to be released.
 */
int store_load(struct store *s, int64_t recording, struct timeline *tl, struct stacks *stacks,
	       struct err *e);

/* NULL is accepted. */
void store_close(struct store *s);

#endif
