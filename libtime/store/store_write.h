/*
 * store_write.h - timelines → one SQLite file.
 *
 *	struct store_writer *w;
 *	store_writer_open(&w, "run.db", &e);
 *	store_writer_add(w, &tl, &e);       // once per recording
 *	store_writer_commit(w, &e);         // or store_writer_abort(w)
 *
 * Everything goes to PATH.tmp.PID in one transaction without a journal: rows as schema.h
 * declares them, written by a thread of its own beside the caller that makes them
 * (store_feed.h). Then the file is synced and renamed over PATH. A killed import leaves PATH
 * as it was (and, killed by SIGKILL, the temporary file behind).
 */
#ifndef LIBTIME_STORE_STORE_WRITE_H
#define LIBTIME_STORE_STORE_WRITE_H

#include "libtime/sched/timeline.h"

struct store_writer;

/* ERR_IO, ERR_NOMEM; ERR_REFUSED when PATH exists and is not an SQLite database: a store never
 * replaces a recording given by mistake. *out is NULL then. */
int store_writer_open(struct store_writer **out, const char *path, struct err *e);

/* The file written to until store_writer_commit, for its removal when a signal ends the
 * process. Life: the writer's. */
const char *store_writer_temporary(const struct store_writer *w);

/* Told now and then how many of `total` rows are written; may be NULL. */
void store_writer_progress(struct store_writer *w,
			   void (*tell)(void *arg, uint64_t done, uint64_t total), void *arg);

/* One finished timeline as one more row of `recordings`. ERR_IO, ERR_NOMEM, ERR_FORMAT;
 * ERR_LIMIT for times past 2^63 ns. The writer can then only be
 * aborted. */
int store_writer_add(struct store_writer *w, const struct timeline *tl, struct err *e);

/* Sync, rename; the writer is gone either way. ERR_IO. */
int store_writer_commit(struct store_writer *w, struct err *e);

/* Remove what was written; NULL is accepted. */
void store_writer_abort(struct store_writer *w);

#endif
