/*
 * packlist.h - the files a profile was named from, and where in a bundle (libparse/bundle.h)
 * each has to lie so that the same question finds the same file there.
 *
 * After profile_fold every file that any frame needed is open, callers' too, for the stacks are
 * unwound by then; each has passed the build-id check or the trust rules of dsofind.h.
 */
#ifndef LIBSYM_PACKLIST_H
#define LIBSYM_PACKLIST_H

#include "libsym/profile.h"

struct pack_file {
	char *name;          /* in the bundle; safe, unique */
	char *path;          /* where it lies, or what it was mapped from (messages) */
	const uint8_t *data; /* its content, borrowed from the profile; NULL: read `path` */
	size_t size;
	struct build_id id; /* len 0: none */
	uint32_t dso;
	size_t order;
};

/* Zero-initialised is empty. */
struct packlist {
	VEC(struct pack_file) files; /* by name */
};

/* List the files of a folded profile, which must outlive the list. ERR_NOMEM. */
int packlist_make(struct packlist *l, const struct profile *p, struct err *e);

/* Give the list back; it is empty then. */
void packlist_release(struct packlist *l);

#endif
