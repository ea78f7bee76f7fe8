/*
 * machine_internal.h - what the parts of machine share.
 *
 *	machine.c         records queued and applied in time order; threads and processes
 *	machine_spaces.c  address spaces: mappings added, and found by address and time
 *	machine_dsos.c    the DSO of a mapping; build-ids from the table
 *	machine_mounts.c  mount namespaces: which files perf's own paths were of
 */
#ifndef LIBSYM_PROCESS_MACHINE_INTERNAL_H
#define LIBSYM_PROCESS_MACHINE_INTERNAL_H

#include "libsym/process/machine.h"

/* A decoded side-band record that waits for its time. */
struct pending {
	uint64_t time, seq;
	uint32_t type;
	int32_t pid, tid, ppid, ptid;
	int exec;
	uint32_t name; /* strings id: comm or file name */
	struct map map;
	uint32_t flags;
	struct file_id file;
	struct build_id id;
	uint64_t mount; /* inode number of a mount namespace */
};

/* All return 0 or ERR_NOMEM. */

/* A new space, a copy of `parent` (NO_ID: empty) at `time`. */
int machine_new_space(struct machine *m, uint32_t parent, uint64_t time, uint32_t *id);

/* Fill *d with the DSO that an MMAP record maps, without adding it to the machine. */
int machine_classify(struct machine *m, const struct pending *p, struct dso *d);

/* The DSO equal to *d, added if it does not exist. Sets d->recorded. */
int machine_dso(struct machine *m, struct dso *d, uint32_t *id);

/* Add the record's mapping of *d to a space, unless it is empty. */
int machine_add_map(struct machine *m, uint32_t space, const struct pending *p, struct dso *d);

/*
 * Some programs copy their own code to anonymous memory or huge pages at the same place (BOLT's
 * hugify, iodlr, node --use-largepages). Note map `index` of a file if it is of the program
 * that the space began with; where the later map `index` of memory covers such code, map the
 * file again. Nothing else unmaps a program's own code, but a library's place may be used again
 * by a compiler.
 */
int machine_note_text(struct machine *m, uint32_t space, uint32_t index);
int machine_restore_text(struct machine *m, uint32_t space, uint32_t index);

/* A process is in another mount namespace from now on; `thread` is its first. */
int machine_set_mount(struct machine *m, uint32_t thread, const struct pending *p);

/* Decide where each DSO was mapped (dso.mount), as far as records have been applied. */
int machine_find_mounts(struct machine *m);

/* 1 when perf's own mount namespace and another one are known. */
int machine_has_mounts(const struct machine *m);

/* A mapping of `space` came or ended: machine_sort_spaces sorts the space later, once for many
 * changes. Sorting after each change would take quadratic time. */
int machine_note_change(struct machine *m, uint32_t space);

/* Sort the spaces with many changes; with `all` every one that changed. */
void machine_sort_spaces(struct machine *m, int all);

#endif
