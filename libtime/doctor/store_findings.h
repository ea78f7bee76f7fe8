/*
 * store_findings.h - writes a recording's findings to a store and reads them back. A store has
 * neither the recording's attributes nor the files that name its frames, so import gathers the
 * findings (findings.h).
 *
 * Severity depends on the question, so findings are stored once for each question, and once for
 * what the recording was made for. The store has facts; titles and remedies are made from them,
 * as for a recording.
 */
#ifndef LIBTIME_DOCTOR_STORE_FINDINGS_H
#define LIBTIME_DOCTOR_STORE_FINDINGS_H

#include "libtime/doctor/findings.h"
#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

enum { ABOUT_ALL = ABOUT_CPU | ABOUT_OFFCPU | ABOUT_TAIL | ABOUT_NAMES | ABOUT_COUNTS };

/* A question: `asked` as in findings_input. Those about waits find what the others find and more,
 * so they come later: their line is for questions before, too. The list ends with a NULL name. */
struct finding_question {
	const char *name;
	unsigned asked;
};
extern const struct finding_question finding_questions[];

/* In addition to topics: what the folded samples show without a timeline, for commands that
 * fold a recording or its store. */
enum { ASKED_OF_SAMPLES = 1 << 8 };

/* Append the findings for a question, as rows: those about any of `topics`. ERR_NOMEM. */
int finding_rows_add(struct finding_rows *out, const struct finding_question *q,
		     const struct findings *f, unsigned topics);

/*
 * Read the findings of a recording; `asked` as in findings_input. *intended_for: the topics
 * that it was made for. The caller releases *out, after a failure too. ERR_IO, ERR_FORMAT,
 * ERR_NOMEM.
 */
int store_findings(struct store *s, int64_t recording, unsigned asked, struct findings *out,
		   unsigned *intended_for, struct err *e);

#endif
