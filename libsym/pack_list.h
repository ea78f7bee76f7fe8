/*
 * pack_list.h - the files that named a profile, and where each must be in a bundle
 * (libparse/archive/bundle.h) so that the same question finds it there.
 *
 * After profile_fold every file that any frame needed is open; packlist_open_mapped opens the
 * other code that processes with samples had mapped. Each has passed the build-id check or the
 * trust rules of dso_find.h.
 */
#ifndef LIBSYM_PACK_LIST_H
#define LIBSYM_PACK_LIST_H

#include "libsym/profile.h"

struct pack_file {
	char *name;          /* in the bundle; safe, unique */
	char *path;          /* where it is, or what it was mapped from (for messages) */
	const uint8_t *data; /* its content, borrowed from the profile; NULL: the kernel's
				symbols, to be read from `fd` */
	int fd;              /* borrowed, too */
	char *made;          /* the same, if it was made of what had been read; else NULL */
	size_t size;
	struct build_id id; /* len 0: none */
	uint32_t dso;
	uint64_t samples; /* with at least one frame in the DSO */
	size_t order;
};

/* Free what it owns, for one that is taken off the list. */
void pack_file_free(struct pack_file *f);

/* Zero-initialised is empty. */
struct packlist {
	VEC(struct pack_file) files; /* by name */
};

/*
 * Open every executable mapping of each process that has a sample among p->folded, which must
 * be counted BY_PID: its own mappings and those inherited by fork, of all its images. DSOs
 * whose files were not found are appended to *lost (indices, ascending). 0 or ERR_NOMEM.
 */
typedef VEC(uint32_t) packlist_dsos;
int packlist_open_mapped(struct profile *p, packlist_dsos *lost, struct err *e);

/* List the files of a folded profile, which must outlive the list. ERR_NOMEM. */
int packlist_make(struct packlist *l, const struct profile *p, struct err *e);

/* Free the list; it is empty then. */
void packlist_release(struct packlist *l);

#endif
