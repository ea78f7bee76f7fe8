/*
 * outfile.h - output files that appear whole or not at all.
 *
 * Bytes go to a file without a name in the target's folder; outfile_commit syncs it, names it
 * and renames it over the target. "-" writes to stdout directly. A killed process leaves the
 * old target untouched and nothing else; only where the file system, or a missing /proc, does
 * not allow naming a file later, it leaves TARGET.tmp.PID behind.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/diskroom.h"
#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

struct outfile {
	FILE *f; /* write here with stdio; buffered. After a failure it accepts nothing
		    more: a caller that writes much checks ferror */
	char *path, *tmp;
	int unnamed;            /* tmp is not there yet */
	int fd;                 /* that f writes to */
	uint64_t most, written; /* bytes; most 0: no limit. Set it before writing */
	struct diskroom disk;
	struct err failed; /* the first failure of a write */
};

/* The file that `path` leads to if it is a link, in out[PATH_MAX]; else `path`. The link's
 * target is replaced, not the link, which may be /dev/stdout. */
const char *outfile_target(const char *path, char *out);

/* Open for writing `path` ("-", or what names the same file, is stdout). Existing non-regular
 * targets (/dev/null, a fifo) are written in place. The object must not move while it is open.
 * ERR_IO, ERR_NOMEM. */
int outfile_open(struct outfile *o, const char *path, struct err *e);

/* The same for a file that only its owner may read: a new one has mode 0600. */
int outfile_open_private(struct outfile *o, const char *path, struct err *e);

/* The same for a name that the user did not type, made of another or a default: whoever may write
 * to the folder may have put a link there, so whatever has that name is replaced by a new file,
 * never followed or written to. A folder is ERR_IO. `mode`: 0666, or 0600 for its owner. */
int outfile_open_derived(struct outfile *o, const char *path, unsigned mode, struct err *e);

/* ERR_REFUSED if the commit would replace a file of other content. The stream is flushed
 * before. */
int outfile_keep_other(const struct outfile *o, struct err *e);

/*
 * Make an empty file PATH.tmp.RANDOM of this mode, for a writer that needs its name: on the heap
 * in *name, open and locked in *fd until it is closed. What killed processes left of the same
 * target is removed. ERR_IO, ERR_NOMEM; then both are unset.
 */
int outfile_temporary(const char *path, int mode, char **name, int *fd, struct err *e);

/* Flush, sync, rename. On failure the temporary file is removed and the target is as it was.
 * ERR_IO; ERR_REFUSED beyond o->most bytes; ERR_NOMEM after any shortage (shortage.h), for what
 * was written may lack something. The object is closed either way. */
int outfile_commit(struct outfile *o, struct err *e);

/* Commit if `rc` is 0, else abort; `rc` is what the writer of o->f returned. If the stream
 * failed first, its error is reported. */
int outfile_end(struct outfile *o, int rc, struct err *e);

/* Close and remove what was written. Accepts an object that is not open. */
void outfile_abort(struct outfile *o);

#endif
