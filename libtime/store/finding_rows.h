/*
 * finding_rows.h - what `perfkit doctor` found in a recording, as rows of a store: which
 * findings there are, and the facts that their sentences are made of. libtime/doctor/forms.h
 * has these sentences; a store has none.
 */
#ifndef LIBTIME_STORE_FINDING_ROWS_H
#define LIBTIME_STORE_FINDING_ROWS_H

#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

/* What a fact's number or text is. */
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
	FACT_MESSAGE, /* what a reader of damaged data said */
	FACT_UNITS
};

/* The words of enum dso_kind + 1 and of enum dso_reason in a store; "" for others. */
const char *store_kind_word(unsigned int kind);
const char *store_reason_word(unsigned int reason);

enum finding_part { PART_TITLE, PART_DETAIL, PART_REMEDY, FINDING_PARTS };

/* Texts are ids of finding_rows.stacks.strings. */
struct finding_row {
	uint32_t question, finding, harm, command;
};

/* A fact, of the finding with this index; `line` counts the sentences of a part. */
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
	VEC(struct finding_fact) facts; /* sentence by sentence, in order */
};

/* Give all back; the rows are empty then. */
void finding_rows_release(struct finding_rows *f);

/* Write the findings of the recording that was added last. Errors as of store_writer_add. */
int store_write_finding_rows(struct store_writer *w, struct finding_rows *f, struct err *e);

/* Read those of a recording. The caller releases *out, after a failure, too. ERR_IO,
 * ERR_FORMAT, ERR_NOMEM. */
int store_read_finding_rows(struct store *s, int64_t recording, struct finding_rows *out,
			    struct err *e);

#endif
