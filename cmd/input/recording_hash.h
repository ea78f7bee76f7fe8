/*
 * recording_hash.h - identifies a recording by its content, whatever its path.
 */
#ifndef CMD_INPUT_RECORDING_HASH_H
#define CMD_INPUT_RECORDING_HASH_H

#include "cmd/input/input.h"

/* A hash, below 2^63, of all bytes of the open recording (in a bundle, of the one inside; of
 * all files of a folder); 0 for a stream. ERR_NOMEM. */
int recording_hash(const struct input *in, uint64_t *hash, struct err *e);

#endif
