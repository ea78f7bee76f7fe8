/*
 * file_names.h - all names that the addresses of one file have, as modules_lookup gives them:
 * for those who name elsewhere what was recorded as offsets (names_options.offsets).
 *
 *	file_names_open(&f, "/usr/bin/app", NULL, &opt, &e);
 *	while (file_names_next(f, &r, &e) == 1)
 *		... r.start <= offset < r.end: r.names[0 .. r.n) ...
 *	file_names_close(f);
 *
 * Ranges ascend, without gaps from the first on: one in which nothing has a name has none. An
 * offset is one of the file that ran; that of a caller is inside the call, one below the return
 * address.
 */
#ifndef LIBSYM_PROCESS_FILE_NAMES_H
#define LIBSYM_PROCESS_FILE_NAMES_H

#include "libsym/process/modules.h"

struct file_names;

/* Names, innermost first, of the offsets from `start` up to `end`. They live until the close,
 * the list until the next call. */
struct named_range {
	uint64_t start, end;
	size_t n;
	const char *const *names;
};

/* What a file is to be named from. */
struct named_file {
	struct build_id id;
	int is_debug; /* it has no code of its own: a separate debug file */
};

/* Look at a file. ERR_UNSUPPORTED: it has no build-id, or no program's layout; and what
 * elf_file_open fails with. */
int named_file_look(const char *path, struct named_file *out, struct err *e);

/* The names of a program or library: of the file that ran, its debug file, or both, of one
 * build-id; the other is looked for. Of `opt` what says how names are made and where files are.
 * ERR_NOTFOUND: a debug file alone that does not tell how the program's file is laid out. */
int file_names_open(struct file_names **out, const char *runtime, const char *debug,
		    const struct modules_options *opt, struct err *e);

/* The next range. 1, 0 at the end, ERR_NOMEM. */
int file_names_next(struct file_names *f, struct named_range *r, struct err *e);

/* NULL is accepted. */
void file_names_close(struct file_names *f);

#endif
