/*
 * missing.h - which DSOs have frames without names: by share of weight, with build-id, reason
 * and the command that would fetch the file.
 */
#ifndef LIBTIME_DOCTOR_MISSING_H
#define LIBTIME_DOCTOR_MISSING_H

#include "base/text/buf.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"
#include "libtime/store/file_facts.h"

/* Look through a folded profile, whose strings the files share; out->v is released by
 * vec_release, after a failure too. ERR_NOMEM. */
int missing_find(struct unnamed_files *out, struct profile *p, struct err *e);

/* Why the frames of `f` have no names, in a few words. */
const char *missing_reason(const struct unnamed_file *f);

/*
 * Append the command that would fetch what `f`, a file of `host` ("": not known), lacks, in sh
 * syntax and ready to paste; 0 and nothing when there is none (memory of no file, a path no
 * terminal should see).
 */
int missing_remedy(const struct strtab *s, const char *host, const struct unnamed_file *f,
		   struct buf *out);

/* The same of the file that a finding's line is about, if it is about one. */
int missing_get(const struct statement *line, const char *host, struct buf *out);

/* 1 when debuginfod helps with more than one of them. */
int missing_by_debuginfod(const struct strtab *s, const struct unnamed_files *files);

#endif
