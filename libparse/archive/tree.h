/*
 * tree.h - creates files below one directory and nowhere else, for unpacking untrusted
 * archives. Names are those that tar_name_is_safe allows; no component on the way may be a
 * symbolic link. Files are made 0600 and directories 0700, whatever the archive says: a
 * recording holds parts of the recorded programs' memory.
 */
#ifndef LIBPARSE_ARCHIVE_TREE_H
#define LIBPARSE_ARCHIVE_TREE_H

#include "base/diskroom.h"
#include "libparse/archive/tar.h"

enum { TREE_DIRS_MAX = 1 << 15 };

struct tree {
	const char *dir; /* borrowed; for messages */
	int fd;
	int replace;           /* existing files are replaced, else ERR_IO */
	uint64_t files, bytes; /* written so far */
	struct diskroom room;
	size_t dirs; /* created so far; each costs far more than its name in an archive */
};

/* Open `dir`, created if needed (its parent must exist). ERR_IO, also for a link to a folder
 * without `follow`. */
int tree_open(struct tree *t, const char *dir, int replace, int follow, struct err *e);

/* Create a directory and its parents. ERR_LIMIT beyond TREE_DIRS_MAX, here and in
 * tree_put_entry; ERR_IO. */
int tree_mkdir(struct tree *t, const char *name, struct err *e);

/* Write a file of n bytes, replacing any. */
int tree_put(struct tree *t, const char *name, const void *p, size_t n, struct err *e);

/* Write a file: the n bytes that the caller has read of the tar's current entry, then the rest
 * of it. ERR_IO, or as tar_read. */
int tree_put_entry(struct tree *t, const char *name, const void *p, size_t n,
		   struct tar_reader *tar, struct err *e);

/* A closed or zeroed tree is accepted. */
void tree_close(struct tree *t);

#endif
