/*
 * source_table.h - functions, their lines and their instructions as text.
 */
#ifndef RENDER_TEXT_SOURCE_TABLE_H
#define RENDER_TEXT_SOURCE_TABLE_H

#include "libsym/source/disassemble.h"
#include "libsym/source/source_text.h"
#include "libtime/tables/source_rows.h"

/* What the samples' group counted beside the weights (source_sums.counts). */
struct source_counters {
	const char *names[SOURCE_COUNTERS];
	size_t n;
	int cycles, instructions; /* which counter; SOURCE_WEIGHTS: the weights themselves */
};

enum { SOURCE_WEIGHTS = -1, SOURCE_NO_COUNTER = -2 };

struct source_style {
	size_t width;
	int colour;                  /* hot lines in red and yellow */
	int two;                     /* shares of BEFORE and AFTER instead of one recording's */
	uint64_t all[COMPARE_SIDES]; /* the weights that shares are of */
	struct source_counters counters;
	const uint64_t *counted; /* what shares of counters are of */
};

/* A line each for the first `shown` of n functions: their shares, and their hottest line. */
void source_table_functions(struct buf *out, const struct source_sums *s, const uint32_t *picks,
			    size_t n, size_t shown, const struct source_style *style);

/* The lines of one file that have weight, with two lines around each if there is a text. `text`
 * may be absent. */
void source_table_lines(struct buf *out, const struct source_sums *s,
			const struct source_rows *rows, const struct source_part *part,
			const struct source_text *text, const struct source_style *style);

/* The copies of a function: symbols and the lines it is inlined in; nothing for one symbol. */
void source_table_places(struct buf *out, const struct source_sums *s, uint32_t function,
			 const struct source_style *style);

/* An instruction and its weight. */
struct code_row {
	uint64_t va, target; /* target 0: no jump */
	uint64_t self, total;
	uint32_t line; /* 0: not known */
	uint32_t text; /* strings id of code_rows.texts */
	/* Of a jump, by branch records: times it was taken, of these not as predicted; cycles since
	 * the jump before, in so many of these times. */
	uint64_t taken, mispredicted, cycles, timed;
};

/* Instructions that ran one after the other, from where a branch led to the next one taken. */
struct code_run {
	size_t first, last; /* rows */
	uint64_t times;
	uint64_t cycles, timed; /* in so many of these times; not every processor counts them */
};

/* All instructions of a place, in order. Zero-initialised: empty. */
struct code_rows {
	VEC(struct code_row) v;
	VEC(struct code_run) runs; /* the most cycles first, or the most times */
	struct strtab texts;
	uint32_t place;               /* index of source_sums.places */
	int has_branches, has_cycles; /* of any row */
};

/* 1 and the row of the instruction at `va`, or 0. */
int code_row_at(const struct code_rows *c, uint64_t va, size_t *row);

/* The instructions that have weight and those around them, with jumps between those shown as
 * arrows. */
void source_table_code(struct buf *out, const struct code_rows *c,
		       const struct source_style *style);

/* The runs with a share of the function's cycles (or times); nothing without branch records. */
void source_table_runs(struct buf *out, const struct code_rows *c,
		       const struct source_style *style);

#endif
