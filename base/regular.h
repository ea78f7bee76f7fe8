/* regular.h - opens regular files only, by names that somebody else may have chosen. */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Open the regular file `name` below the folder `dir` (or AT_FDCWD) for reading; `flags` is 0 or
 * O_NOFOLLOW. A device, fifo or folder is not opened, not even for a moment, since that may act
 * already. The descriptor, with the file's status in *st, or -1 and errno: ELOOP for a link that
 * is not followed, EINVAL for what is no regular file.
 */
int regular_open(int dir, const char *name, int flags, struct stat *st);

#endif
