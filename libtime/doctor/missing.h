/*
 * missing.h - DSOs with unnamed frames: by share of weight, with build-id, reason and the
 * command that would fetch the file.
 */
#ifndef LIBTIME_DOCTOR_MISSING_H
#define LIBTIME_DOCTOR_MISSING_H

#include "base/text/buf.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"
#include "libtime/store/file_facts.h"

/* Find them in n rows of a folded profile, whose strings they share. The caller releases out->v
 * (vec_release), after a failure too. ERR_NOMEM. */
int missing_find(struct unnamed_files *out, struct profile *p, const struct folded *v, size_t n,
		 struct err *e);

/* Count anew, of other samples: count[i] with the stack i of `stacks` (0: without). Those with
 * none are left out. Names are ids of `own`. ERR_NOMEM. */
int missing_recount(struct unnamed_files *m, const struct strtab *own,
		    const struct stacks *stacks, const uint64_t *count);

/* Why the frames of `f` have no names, in a few words. */
const char *missing_reason(const struct unnamed_file *f);

/*
 * Append the command that would fetch the missing part of `f`, a file of `host` ("": not
 * known), in sh syntax and ready to paste: 1; or 0 and nothing if there is none (memory of no
 * file, a path that a terminal should not print).
 */
int missing_remedy(const struct strtab *s, const char *host, const struct unnamed_file *f,
		   struct buf *out);

/* The same for the file that a finding's line is about, if any. */
int missing_get(const struct statement *line, const char *host, struct buf *out);

/* 1 if debuginfod helps with more than one of them. */
int missing_by_debuginfod(const struct strtab *s, const struct unnamed_files *files);

#endif
