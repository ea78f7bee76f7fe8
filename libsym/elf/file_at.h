/*
 * file_at.h - is the file at a path of this machine the one that a mapping was of?
 *
 * perf and /proc/PID/maps name a mapped file by the device and inode of its file system, stat by
 * those that it shows to users: on overlays and btrfs they differ. So this maps the file and
 * asks /proc/self/maps, as perf's records were made.
 */
#ifndef LIBSYM_ELF_FILE_AT_H
#define LIBSYM_ELF_FILE_AT_H

#include "libsym/elf/elf_file.h"

/* The identity of the regular file at `path`, as a mapping of it has; generation 0: its file
 * system does not tell. *born_ns (may be NULL): when its inode was made, since 1970; 0: not
 * known. 1, or 0 if it cannot be mapped. */
int file_at(const char *path, struct file_id *out, int64_t *born_ns);

/* The same of an open file. */
int file_at_fd(int fd, struct file_id *out, int64_t *born_ns);

enum file_match {
	FILE_OTHER,
	FILE_SAME,
	FILE_UNSURE, /* an overlay's file, or the one below it */
};

/*
 * 1 when a kernel of this release (uname -r) records new mappings of an overlay's file by the
 * file below it, while /proc, from which perf takes the mappings that exist when it starts, has
 * the overlay's own device and inode: 6.7 to 6.17 (file_user_inode in fs/backing-file.c).
 */
int file_has_two_identities(const char *release);

/* Compare a mapping's file with one that file_at found. */
enum file_match file_compare(const struct file_id *mapped, const struct file_id *here);

#endif
