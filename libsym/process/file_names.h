/*
 * file_names.h - all names in one file, by address range, as modules_lookup gives them. They
 * name frames that were exported as offsets (names_options.offsets).
 *
 *	file_names_open(&f, "/usr/bin/app", NULL, &opt, &e);
 *	while (file_names_next(f, &r, &e) == 1)
 *		... r.start <= offset < r.end: r.names[0 .. r.n) ...
 *	file_names_close(f);
 *
 * Ranges ascend and leave no gaps after the first one: a range without names has n 0. An
 * offset is an offset in the file that ran; a caller's is inside the call, one below the
 * return address.
 */
#ifndef LIBSYM_PROCESS_FILE_NAMES_H
#define LIBSYM_PROCESS_FILE_NAMES_H

#include "libsym/process/modules.h"

struct file_names;

/* The names, innermost first, of the offsets in [start, end). Names live until the close, the
 * list until the next call. */
struct named_range {
	uint64_t start, end;
	size_t n;
	const char *const *names;
};

/* A file that contains names. */
struct named_file {
	struct build_id id;
	int is_debug; /* it has no code of its own: a separate debug file */
};

/* Examine a file. ERR_UNSUPPORTED if it has no build-id or no segments; else the errors of
 * elf_file_open. */
int named_file_look(const char *path, struct named_file *out, struct err *e);

/* Open a program or library by the file that ran, by its debug file, or by both (of one
 * build-id); the missing one is searched for. Of `opt`, only the options about names and paths
 * are used. ERR_NOTFOUND: only a debug file, which lacks the program's file offsets. */
int file_names_open(struct file_names **out, const char *runtime, const char *debug,
		    const struct modules_options *opt, struct err *e);

/* The next range. 1, 0 at the end, ERR_NOMEM. */
int file_names_next(struct file_names *f, struct named_range *r, struct err *e);

/* NULL is accepted. */
void file_names_close(struct file_names *f);

#endif
