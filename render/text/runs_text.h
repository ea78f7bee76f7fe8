/*
 * runs_text.h - compared runs (runs.h) and conditions on them (gate.h) as text, of which parts.h
 * makes Markdown, and as JSON and JUnit's XML.
 */
#ifndef RENDER_TEXT_RUNS_TEXT_H
#define RENDER_TEXT_RUNS_TEXT_H

#include "base/text/buf.h"
#include "libtime/tables/gate.h"

/* What is written. All is borrowed. */
struct runs_answer {
	const struct runs *runs;
	const struct gate *gates;
	size_t ngates;
	int per_recording; /* sums are of a recording, not of a second of one */
	const char *clock; /* what the order is known by; NULL: it is not */
	const char *notes; /* more sentences, each on a line; "": none */
	size_t rows;       /* of each table; 0: all */
	int comment;       /* the changes are a table of their own, all others collapsed */
};

/* Tables, `width` characters wide (table.h). */
void runs_text(struct buf *b, const struct runs_answer *a, size_t width);
/* {"schema":1,"per","order","clock","before":[{"file","began_ns","recorded_ns"}],"after","least",
 * "notes","gates":[{"condition","answer","figure"}],"figures":[{"kind","what","name","unit",
 * "before","after","difference","low","high","chance","verdict","runs":[]}]}; null: unknown or
 * unbounded. */
void runs_json(struct buf *b, const struct runs_answer *a);
/* The same for a page: paragraphs, the conditions, tables whose rows show their runs. */
void runs_html(struct buf *b, const struct runs_answer *a);
/* One test case for each condition; one that the runs cannot answer is skipped. */
void runs_junit(struct buf *b, const struct runs_answer *a);

#endif
