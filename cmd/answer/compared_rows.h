/*
 * compared_rows.h - what the rows of several recordings have in common: for --against and
 * `compare`.
 */
#ifndef CMD_ANSWER_COMPARED_ROWS_H
#define CMD_ANSWER_COMPARED_ROWS_H

#include "base/text/buf.h"
#include "libsym/name/match.h"
#include "libtime/population/population.h"
#include "libtime/tables/rows.h"

/* The part of the recording that the question is about, on its clock. */
void compared_stretch(const struct timeline *tl, const struct population *of, uint64_t *from,
		      uint64_t *to);

/* The time column of the table, summed over windows. 0: it has none. */
enum column compared_time_column(const struct rows *r);

/* The column that counts what the time is of. 0: it has none. */
enum column compared_count_column(const struct rows *r);

/* Replace the content of `b` by the name of a row without what differs between runs: thread ids,
 * addresses. */
void compared_row_name(struct buf *b, const struct timeline *tl, const struct rows *r,
		       uint32_t row);

/* What a module's name says of its functions. */
enum match_group compared_group_of(const char *module);

#endif
