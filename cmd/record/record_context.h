/*
 * record_context.h - what this machine knows of the descriptors of the processes that are
 * recorded, written beside the recording: the form is libtime/build/fd_context.h's.
 */
#ifndef CMD_RECORD_RECORD_CONTEXT_H
#define CMD_RECORD_RECORD_CONTEXT_H

#include "base/text/buf.h"
#include "base/err.h"

/*
 * Append a snapshot of the processes of `pids` ("12,34"), of all that may be looked at where it
 * is NULL. What cannot be read is left out; the buffer tells of its own failure alone.
 */
void record_context_add(struct buf *out, const char *pids);

/*
 * Write the snapshots to RECORDING.context, readable by its owner alone, with the recording's
 * size, by which it is known to belong to it. Of a folder there is none. ERR_IO, ERR_NOMEM.
 */
int record_context_write(const struct buf *snapshots, const char *recording, struct err *e);

#endif
