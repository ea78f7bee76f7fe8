/*
 * listed_files.h - which file was which: build-ids of mapped files that were read on the recorded
 * host, in the context next to a recording (PERF.DATA.context, docs/context.md).
 *
 *	perfkit-context 1
 *	of BYTES			size of the recording that it belongs to
 *	file DEV:DEV INODE GENERATION BUILD-ID PATH
 *					as MMAP2 records it: device, inode, generation (0: not
 *					known), path; other lines are skipped. Device and inode 0:
 *					no mapping's, as the file was written over since
 *
 * A build-id of the header belongs to the file that perf found at its path when it ended. These
 * lines say which of the mappings that was, and know the files that had left the path by then.
 */
#ifndef LIBPARSE_LISTED_FILES_H
#define LIBPARSE_LISTED_FILES_H

#include "libparse/recording.h"

#include <inttypes.h>

/* printf's format of a line: device, inode, generation, build-id in hex, path. */
#define LISTED_FILE "file %" PRIu32 ":%" PRIu32 " %" PRIu64 " %" PRIu64 " %s %s\n"

/* Append the lines of PATH.context to rec->files; none if there is no such file, if it cannot be
 * read, or if it belongs to another recording. 0 or ERR_NOMEM. */
int listed_files_load(struct recording *rec, const char *path, struct err *e);

#endif
