/*
 * record_context.h - writes this machine's view of the recorded processes' descriptors next to
 * the recording, in the format of libtime/build/fd_context.h.
 */
#ifndef CMD_RECORD_RECORD_CONTEXT_H
#define CMD_RECORD_RECORD_CONTEXT_H

#include "base/text/buf.h"
#include "base/err.h"

enum { RECORD_CONTEXT_MAX = 32 << 20 }; /* bytes: some 500,000 descriptors */

/*
 * Append a snapshot of the processes `pids` ("12,34"), or, if NULL, of all that are readable.
 * What cannot be read is left out; check buf_failed afterwards.
 */
void record_context_add(struct buf *out, const char *pids);

/*
 * Write the snapshots to RECORDING.context, readable only by its owner, with the recording's
 * size, which shows that they belong together. Does nothing for a folder. ERR_IO, ERR_NOMEM.
 */
int record_context_write(const struct buf *snapshots, const char *recording, struct err *e);

#endif
