/*
 * store_findings.h - what doctor finds in a recording, kept in its store: the store has neither
 * the recording's attributes nor the files that name its frames, so import gathers them
 * (findings.h) and a store repeats them.
 *
 * Harm depends on the question, so findings are kept once for each, and once for what the
 * recording was made for. The store has facts; titles and remedies are made of them as those
 * of a recording are.
 */
#ifndef LIBTIME_DOCTOR_STORE_FINDINGS_H
#define LIBTIME_DOCTOR_STORE_FINDINGS_H

#include "libtime/doctor/findings.h"
#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

enum { ABOUT_ALL = ABOUT_CPU | ABOUT_OFFCPU | ABOUT_TAIL | ABOUT_NAMES | ABOUT_COUNTS };

/* One way to ask for findings: `asked` as in findings_input; ends with a name of NULL. */
struct finding_question {
	const char *name;
	unsigned asked;
};
extern const struct finding_question finding_questions[];

/* Beside topics: what the folded samples alone show, without the timeline. For those who
 * fold a recording, and so for their answers from its store. */
enum { ASKED_OF_SAMPLES = 1 << 8 };

/* Append what was found when asked so, as rows: what touches any of `topics`. ERR_NOMEM. */
int finding_rows_add(struct finding_rows *out, const struct finding_question *q,
		     const struct findings *f, unsigned topics);

/*
 * Read what was found in a recording; `asked` as in findings_input. *intended_for: the topics
 * it was evidently made for. *out is the caller's to release, after a failure too. ERR_IO,
 * ERR_FORMAT, ERR_NOMEM.
 */
int store_findings(struct store *s, int64_t recording, unsigned asked, struct findings *out,
		   unsigned *intended_for, struct err *e);

#endif
