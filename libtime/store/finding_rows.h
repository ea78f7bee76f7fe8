/*
 * finding_rows.h - the findings of `perfkit doctor` as rows of a store: the findings, and the
 * facts that their sentences are made of. The sentences are in libtime/doctor/forms.h, not in a
 * store.
 */
#ifndef LIBTIME_STORE_FINDING_ROWS_H
#define LIBTIME_STORE_FINDING_ROWS_H

#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

/* What a fact's number or text means. */
enum fact_unit {
	FACT_NOTHING, /* a sentence without facts */
	FACT_COUNT,
	FACT_SHARE, /* number of whole */
	FACT_TIME,  /* ns */
	FACT_SIZE,  /* bytes */
	FACT_CPU,
	FACT_PID,
	FACT_THREAD, /* a tid, and the thread's name */
	FACT_COUNTS, /* a JSON array of numbers */
	FACT_EVENT,
	FACT_COMM,
	FACT_FILE, /* as dsos.name */
	FACT_PATH,
	FACT_BUILD_ID,
	FACT_KIND,    /* as unnamed_files.kind */
	FACT_REASON,  /* as unnamed_files.reason */
	FACT_OPTION,  /* of perf record */
	FACT_MESSAGE, /* the message of a reader of damaged data */
	FACT_UNITS
};

/* The words of enum dso_kind + 1 and of enum dso_reason in a store, or "". */
const char *store_kind_word(unsigned int kind);
const char *store_reason_word(unsigned int reason);

enum finding_part { PART_TITLE, PART_DETAIL, PART_REMEDY, FINDING_PARTS };

/* Texts are ids of finding_rows.stacks.strings. */
struct finding_row {
	uint32_t question, finding, harm, command;
};

/* A fact of the finding with this index; `line` is the number of its sentence in the part. */
struct finding_fact {
	uint64_t number, whole; /* number: UINT64_MAX for texts */
	uint32_t finding, line;
	uint32_t form, name, text;
	uint8_t part, unit;
};

/* Zero-initialised is empty. */
struct finding_rows {
	struct stacks stacks;
	VEC(struct finding_row) findings;
	VEC(struct finding_fact) facts; /* in order of sentences */
};

/* Release everything; the rows are then empty. */
void finding_rows_release(struct finding_rows *f);

/* Write the findings of the recording that was added last. Errors as for store_writer_add. */
int store_write_finding_rows(struct store_writer *w, struct finding_rows *f, struct err *e);

/* Read the findings of a recording. The caller releases *out, after a failure, too. ERR_IO,
 * ERR_FORMAT, ERR_NOMEM. */
int store_read_finding_rows(struct store *s, int64_t recording, struct finding_rows *out,
			    struct err *e);

#endif
