/*
 * missing.h - which DSOs have frames without names: by share of weight, with build-id, reason
 * and the command that would fetch the file.
 */
#ifndef LIBTIME_DOCTOR_MISSING_H
#define LIBTIME_DOCTOR_MISSING_H

#include "base/buf.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"

struct missing_dso {
	uint32_t name; /* strings id; 0: no mapping holds the addresses */
	uint32_t dso;  /* of the machine, or NO_ID */
	enum dso_reason reason;
	int is_jit;          /* memory of no file: code made at run time */
	const char *detail;  /* the candidate that was refused, or "" */
	uint64_t samples;    /* with at least one such frame */
	size_t last_counted; /* index + 1 in profile.folded */
};

struct missing {
	VEC(struct missing_dso) dsos; /* most samples first */
	uint64_t samples;             /* all */
	uint64_t named_leaf;          /* those whose innermost frame has a name */
};

/* Look through a folded profile, which must outlive `m`. ERR_NOMEM. */
int missing_find(struct missing *m, const struct profile *p, struct err *e);
void missing_release(struct missing *m);

/* In a few words why the frames of `d` have no names. */
const char *missing_reason(const struct missing_dso *d);

/* Set the `get` of each line that is about a file one could fetch. ERR_NOMEM. */
int missing_get_files(const struct profile *p, struct findings *f, struct err *e);

/*
 * Append the command that would fetch what `d` lacks, in sh syntax and ready to paste; 0 and
 * nothing when there is none (memory of no file, a path no terminal should see).
 */
int missing_remedy(const struct profile *p, const struct missing_dso *d, struct buf *out);

/* 1 when debuginfod helps with more than one of them. */
int missing_by_debuginfod(const struct profile *p, const struct missing *m);

#endif
