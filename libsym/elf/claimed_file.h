/*
 * claimed_file.h - opens files by names that recorded processes or strangers' folders chose.
 *
 * Whoever reads may be root, and what is read may be handed on in a bundle. So a name must not
 * lead to a file that the one who chose it could not have read:
 *
 *	a link                 is followed if root or the caller made it in a folder that nobody
 *	                       else writes; with CLAIMED_INSIDE any link is, but none leads
 *	                       out of `root`, not even an absolute one or ".."; who is not
 *	                       root and reads for himself follows what the kernel lets him
 *	a file for everybody   is read
 *	… for some only        by root only with a proof: the recorded mapping was of this very
 *	                       inode, or its owner is known to have meant it
 *
 * Each folder is opened from the one above it, without following links, so what was judged is
 * what is read. openat2(2) has RESOLVE_NO_SYMLINKS for that, but does not tell who made a link
 * or may search a folder.
 */
#ifndef LIBSYM_ELF_CLAIMED_FILE_H
#define LIBSYM_ELF_CLAIMED_FILE_H

#include "libsym/elf/elf_file.h"

#include <limits.h>
#include <sys/stat.h>

enum claimed_flag {
	CLAIMED_INSIDE = 1,   /* follow all links, within root */
	CLAIMED_FOR_SELF = 2, /* nothing that is read is handed on */
};

/* An open file. */
struct claimed {
	int fd; /* the caller closes it; -1: not open */
	struct stat st;
	int shown;           /* everybody may read it, and search the folders to it */
	char path[PATH_MAX]; /* with CLAIMED_INSIDE: below root, without links */
};

/*
 * Open the regular file `path` in the folder `root` ("": this machine's root folder), as the
 * kernel would: ".." is of the folder that a link led to. fifos, devices and files of procfs,
 * sysfs, debugfs and tracefs are ERR_UNSUPPORTED; ERR_NOTFOUND; ERR_REFUSED if a link is not
 * followed; else as file_failed. *c is not open after an error.
 */
int claimed_open(const char *root, unsigned flags, const char *path, struct claimed *c,
		 struct err *e);

/* What speaks for a file that not everybody may read. Zero-initialised: nothing. */
struct claim {
	int trusted;                  /* --trust-paths */
	int id_read;                  /* it has the id that the kernel read as it was mapped */
	const struct file_id *mapped; /* the inode of the mapping; NULL: not known */
	int64_t written_ns;           /* a later file is not the mapped one; 0: not known */
	int has_owner;
	uid_t owner; /* who may have meant it: the process's, or the owner of its binary */
};

/* 0 if it may be read and handed on, else ERR_REFUSED and why. Callers other than root read
 * with their own rights, which is always allowed. */
int claimed_check(const struct claimed *c, const struct claim *k, const char *name,
		  struct err *e);

#endif
