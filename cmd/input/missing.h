/*
 * missing.h - which DSOs have frames without names: by share of weight, with build-id, reason
 * and the command that would fetch the file. `report` and `pack` print the same list.
 */
#ifndef CMD_INPUT_MISSING_H
#define CMD_INPUT_MISSING_H

#include "base/buf.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"

#include <stdio.h>

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

/* What is printed around the list. */
#define MISSING_TITLE "unnamed frames (share of samples affected):\n"
#define MISSING_MORE "  %zu more (show all with --top 0)\n"

/* Append the lines about one of them. Commands are not broken: they are to be pasted. */
void missing_text(struct buf *out, const struct profile *p, const struct missing *m,
		  const struct missing_dso *d);

/* 1 when debuginfod helps with more than one of them; then this hint is worth printing (which
 * it is not where DEBUGINFOD_URLS is set). */
int missing_by_debuginfod(const struct profile *p, const struct missing *m);
void missing_print_hint(FILE *f);

/* Print the first `top` of the list (0: all), some lines for each, nothing when it is empty. */
void missing_print(FILE *f, const struct profile *p, const struct missing *m, int top);

#endif
