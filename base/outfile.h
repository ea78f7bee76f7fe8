/*
 * outfile.h - output files that appear whole or not at all.
 *
 * Bytes go to a temporary file beside the target; outfile_commit syncs and renames it over the
 * target, outfile_abort removes it. "-" writes to stdout directly. A killed process leaves the
 * old target untouched (and a temporary file named TARGET.tmp.PID behind at worst).
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

struct outfile {
	FILE *f; /* write here with stdio; buffered */
	char *path, *tmp;
};

/* Open for writing `path` ("-" is stdout). Existing non-regular targets (/dev/null, a fifo) are
 * written in place. ERR_IO, ERR_NOMEM. */
int outfile_open(struct outfile *o, const char *path, struct err *e);

/* Flush, sync, rename. On failure the temporary file is removed and the target is as it was.
 * ERR_IO. The object is closed either way. */
int outfile_commit(struct outfile *o, struct err *e);

/* Close and remove what was written. Accepts an object that is not open. */
void outfile_abort(struct outfile *o);

#endif
