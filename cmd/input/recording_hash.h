/*
 * recording_hash.h - identifies a recording by its content, whatever its path.
 */
#ifndef CMD_INPUT_RECORDING_HASH_H
#define CMD_INPUT_RECORDING_HASH_H

#include "cmd/input/input.h"

#include <pthread.h>

/* A hash that is being made on a thread of its own. */
struct recording_hashing {
	const struct input *in;
	uint64_t hash;
	int rc;
	int started, stop;
	pthread_t thread;
};

/* Begin to hash (base/digest.h) all bytes of the open recording: in a bundle, of the one
 * inside; of all files of a folder. `in` is borrowed until recording_hash_end, which must
 * follow. */
void recording_hash_begin(struct recording_hashing *h, const struct input *in);

/* The hash is not needed any more. */
void recording_hash_stop(struct recording_hashing *h);

/* Wait for it: below 2^63, and 0 for a stream or what cannot be read. ERR_NOMEM. */
int recording_hash_end(struct recording_hashing *h, uint64_t *hash);

#endif
