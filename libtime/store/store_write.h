/*
 * store_write.h - timelines → one SQLite file.
 *
 *	struct store_writer *w;
 *	store_writer_open(&w, "run.db", &e);
 *	store_writer_add(w, &tl, &e);       // once per recording
 *	store_writer_commit(w, &e);         // or store_writer_abort(w)
 *
 * Everything goes to PATH.tmp.PID, without a journal. Rows are as schema.h declares them, and a
 * separate thread writes them (store_feed.h). Then the file is synced and renamed to PATH. A
 * killed import does not change PATH (SIGKILL leaves the temporary file).
 */
#ifndef LIBTIME_STORE_STORE_WRITE_H
#define LIBTIME_STORE_STORE_WRITE_H

#include "libtime/sched/timeline.h"

struct store_writer;

/* ERR_IO, ERR_NOMEM; ERR_REFUSED if PATH exists and is not an SQLite database, so that a
 * recording is not replaced by mistake. *out is NULL then. A link at PATH is replaced itself. */
int store_writer_open(struct store_writer **out, const char *path, struct err *e);

/* The temporary file, to be removed if a signal ends the process. The text lives as long as the
 * writer. */
const char *store_writer_temporary(const struct store_writer *w);

/* Set a function that is called now and then with how many of `total` rows are written, or
 * NULL. */
void store_writer_progress(struct store_writer *w,
			   void (*progress)(void *arg, uint64_t done, uint64_t total),
			   void *arg);

/* Add a finished timeline, as one more row of `recordings`. ERR_IO, ERR_NOMEM, ERR_FORMAT;
 * ERR_LIMIT for times past 2^63 ns. After an error only store_writer_abort may follow. */
int store_writer_add(struct store_writer *w, const struct timeline *tl, struct err *e);

/* Sync and rename; the writer is freed in any case. ERR_IO. */
int store_writer_commit(struct store_writer *w, struct err *e);

/* Remove what was written; NULL is accepted. */
void store_writer_abort(struct store_writer *w);

#endif
