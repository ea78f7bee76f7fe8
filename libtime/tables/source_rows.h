/*
 * source_rows.h - the lines of one function (source_sums.h) as rows of an answer: file by file,
 * with what is inlined below its line; of one recording, or of two side by side.
 */
#ifndef LIBTIME_TABLES_SOURCE_ROWS_H
#define LIBTIME_TABLES_SOURCE_ROWS_H

#include "libtime/tables/compare.h"
#include "libtime/tables/source_sums.h"

struct source_row {
	uint32_t file, line; /* as in source_line, of AFTER where it has the line */
	uint32_t dso;
	uint32_t depth;    /* 0: the function's own line */
	uint32_t function; /* of an inlined call: the called one */
	uint32_t of;       /* index of source_sums.lines, of AFTER; NO_ID: only BEFORE has it */
	int gone;          /* only BEFORE has the line: file and line are its */
	struct source_weight w[COMPARE_SIDES]; /* of one recording: [AFTER] */
};

/* Zero-initialised: empty. */
struct source_rows {
	VEC(struct source_row) v;
	VEC(struct source_part { uint32_t file, first, n; }) files; /* heaviest first */
};

/* The rows of a function, with inlined calls if `inlines`. ERR_NOMEM. */
int source_rows_of(struct source_rows *out, const struct source_sums *s, uint32_t function,
		   int inlines);

/*
 * Add the lines of `before`, a function of another recording's sums, to those of its own, which
 * have no inlined calls. `where` tells where a line of `before` is now: 1 with *file (strings id
 * of the stacks of `out`) and *line, or 0 if it is gone. ERR_NOMEM.
 */
int source_rows_against(struct source_rows *out, const struct source_sums *before,
			uint32_t function,
			int (*where)(void *ctx, const struct source_line *was, uint32_t *file,
				     uint32_t *line),
			void *ctx);

/* Keep the lines at most ten from `line`, with what is inlined in them. ERR_NOMEM. */
int source_rows_near(struct source_rows *r, uint32_t line);

/* Free the memory. */
void source_rows_release(struct source_rows *r);

/*
 * Which line of one text is which of another: *at[i] (heap) is the line (from 1) of the n lines
 * `b` that equals line i + 1 of the m lines `a`, in order, 0: none. Lines are hashes. Texts too
 * different for their size only match where they begin and end alike. ERR_NOMEM.
 */
int source_match_lines(const uint64_t *a, size_t m, const uint64_t *b, size_t n, uint32_t **at);

#endif
