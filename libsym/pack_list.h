/*
 * pack_list.h - the files a profile was named from, and where in a bundle
 * (libparse/archive/bundle.h) each has to lie so that the same question finds the same file
 * there.
 *
 * After profile_fold every file that any frame needed is open, callers' too, for the stacks are
 * unwound by then; packlist_open_mapped opens what else the processes with samples had mapped
 * as code. Each has passed the build-id check or the trust rules of dso_find.h.
 */
#ifndef LIBSYM_PACK_LIST_H
#define LIBSYM_PACK_LIST_H

#include "libsym/profile.h"

struct pack_file {
	char *name;          /* in the bundle; safe, unique */
	char *path;          /* where it is, or what it was mapped from (messages) */
	const uint8_t *data; /* its content, borrowed from the profile; NULL: read `path` */
	size_t size;
	struct build_id id; /* len 0: none */
	uint32_t dso;
	uint64_t samples; /* with at least one frame in that DSO */
	size_t order;
};

/* Zero-initialised is empty. */
struct packlist {
	VEC(struct pack_file) files; /* by name */
};

/*
 * Open every executable mapping of each process that has a sample among p->folded, which must
 * be counted BY_PID: its own mappings, and those it was forked with, of all images it had. The
 * DSOs whose files were looked for in vain are appended to *lost (indices, ascending). 0 or
 * ERR_NOMEM.
 */
typedef VEC(uint32_t) packlist_dsos;
int packlist_open_mapped(struct profile *p, packlist_dsos *lost, struct err *e);

/* List the files of a folded profile, which must outlive the list. ERR_NOMEM. */
int packlist_make(struct packlist *l, const struct profile *p, struct err *e);

/* Give the list back; it is empty then. */
void packlist_release(struct packlist *l);

#endif
