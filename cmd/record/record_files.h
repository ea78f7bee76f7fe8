/*
 * record_files.h - which file was which: lists mapped files with device, inode, generation and
 * build-id for a recording's context, as libparse/listed_files.h reads them.
 *
 * perf notes a build-id for each path when it ends. Files that were replaced by then, and those
 * that containers and chroots have at the same path, are known only here.
 */
#ifndef CMD_RECORD_RECORD_FILES_H
#define CMD_RECORD_RECORD_FILES_H

#include "base/text/buf.h"
#include "libtime/record/price.h"

/* Before perf starts: append the program files that the processes `pids` ("12,34"), or, if NULL,
 * all readable ones have mapped. */
void record_files_of_processes(struct buf *out, const char *pids);

/* After it ended: append the files that the recording's mappings are of, as far as they are still
 * at their path or mapped. `began`: when recording began, ns since 1970. Sets all of *paid but
 * perf's CPU time. */
void record_files_of_recording(struct buf *out, const char *recording, int64_t began,
			       struct price_paid *paid);

/* Say on stderr how much perf's cache of binaries takes, if that is half a GB and more. */
void record_say_copies(void);

#endif
