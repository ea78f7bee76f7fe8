/*
 * diskroom.h - what is written leaves room for others: a tenth of what was free at the start.
 *
 *	struct diskroom room = {0};
 *	r = diskroom_reserve(&room, fd, n, name, e);   // before each write of n bytes
 *
 * The file system is asked at the start and every 16 MB, on small disks more often; one with
 * less than 32 MB free may be filled. Only regular files count.
 */
#ifndef BASE_DISKROOM_H
#define BASE_DISKROOM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised at the start of a file. */
struct diskroom {
	uint64_t floor; /* bytes that stay free */
	uint64_t taken; /* since it was asked last */
	int begun;
};

/* `n` more bytes are about to be written to `fd`. 0, or ERR_IO with a line that begins with
 * `name`, where they would reach into the last tenth. */
int diskroom_reserve(struct diskroom *d, int fd, size_t n, const char *name, struct err *e);

#endif
