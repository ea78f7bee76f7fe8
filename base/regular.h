/*
 * regular.h - opens regular files only, by names that somebody else may have chosen. Whoever
 * opens such a file does it here: once, by a handle that shows what it is before anything acts.
 */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <sys/stat.h>

enum { REGULAR_PINS = 256 };

enum regular_flag {
	REGULAR_NO_LINK = 1,   /* the last part of the name is not followed */
	REGULAR_NO_PSEUDO = 2, /* no file of procfs, sysfs, debugfs or tracefs */
};

/*
 * Open the regular file `name` below the folder `dir` (or AT_FDCWD) for reading. A device, fifo
 * or folder is not opened, not even for a moment, since that may act already. The descriptor,
 * with the file's status in *st, or -1 and errno: ELOOP for a link that is not followed, EINVAL
 * for what is no regular file.
 */
int regular_open(int dir, const char *name, unsigned flags, struct stat *st);

/* The same, opened as `how` says (open(2), not O_CREAT); O_CLOEXEC is added. If `is` is not NULL,
 * a file that is not that one is not opened: ESTALE. */
int regular_open_as(int dir, const char *name, unsigned flags, int how, const struct stat *is);

/* The same of the file that `at` is a handle of (O_PATH), which stays open; by `name` in `dir`
 * only where procfs is not there. */
int regular_reopen(int at, int dir, const char *name, unsigned flags, struct stat *st);

/*
 * From now on all of these functions, when given `path` itself, open only the file that was
 * looked at (`is`), whatever somebody has put there since: ESTALE. At most REGULAR_PINS; of two
 * for one path the later counts. `path` NULL: none any more. 0, or -1 if there is no room.
 */
int regular_pin(const char *path, const struct stat *is);
int regular_is_pinned(const char *path);

#endif
