/*
 * machine_internal.h - what the parts of machine share.
 *
 *	machine.c         records taken, and applied in time order; threads and processes
 *	machine_spaces.c  address spaces: mappings put in, and found by address and time
 *	machine_dsos.c    what a mapping's name stands for; build-ids from the table
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
};

/* All of these: 0 or ERR_NOMEM. */

/* A space as `parent` (NO_ID: empty) was at `time`. */
int machine_new_space(struct machine *m, uint32_t parent, uint64_t time, uint32_t *id);

/* What the mapping of an MMAP record maps, into *d: not yet a DSO of the machine. */
int machine_classify(struct machine *m, const struct pending *p, struct dso *d);

/* The DSO equal to *d, made if it does not exist. d->recorded is filled in. */
int machine_dso(struct machine *m, struct dso *d, uint32_t *id);

/* Put the record's mapping, of *d, into a space; an empty one is left out. */
int machine_add_map(struct machine *m, uint32_t space, const struct pending *p, struct dso *d);

/* A mapping of `space` came or ended: have it sorted by machine_sort_spaces, later, once for
 * many changes. For each that comes alone, between samples, it would cost the square of their
 * number. */
int machine_note_change(struct machine *m, uint32_t space);

/* Sort the spaces with many changes; with `all` every one that changed. */
void machine_sort_spaces(struct machine *m, int all);

#endif
