/*
 * diskroom.h - output leaves disk space for others: a tenth of what was free at the start.
 *
 *	struct diskroom room = {0};
 *	r = diskroom_reserve(&room, fd, n, name, e);   // before each write of n bytes
 *
 * The file system's free space is read at the start and every 16 MB, on small disks more often;
 * one with less than 32 MB free may be filled. Only regular files count.
 */
#ifndef BASE_DISKROOM_H
#define BASE_DISKROOM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised at the start of a file. */
struct diskroom {
	uint64_t floor; /* bytes to leave free */
	uint64_t taken; /* since free space was last read */
	int begun;
};

/* Ask before writing `n` more bytes to `fd`. 0, or ERR_IO with a line that begins with `name`
 * if they would use the last tenth. */
int diskroom_reserve(struct diskroom *d, int fd, size_t n, const char *name, struct err *e);

#endif
