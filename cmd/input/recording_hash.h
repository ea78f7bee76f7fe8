/*
 * recording_hash.h - what tells a recording from every other, wherever it lies and whatever it
 * is called.
 */
#ifndef CMD_INPUT_RECORDING_HASH_H
#define CMD_INPUT_RECORDING_HASH_H

#include "cmd/input/input.h"

/* A hash of all bytes of the open recording, that inside of a bundle where it is one, or of all
 * files of a folder: below 2^63; 0 where it is no file, as a stream. ERR_NOMEM. */
int recording_hash(const struct input *in, uint64_t *hash, struct err *e);

#endif
