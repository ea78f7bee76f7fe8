/*
 * flat.h - the rows of one timeline's flat tables (schema.h), for writers of formats other than
 * SQLite.
 *
 *	flat_open(&f, &tl, &file, &findings, &e);
 *	flat_begin(f, FLAT_OFFCPU, &rows, &e);
 *	flat_gather(f, first, n, &e);        // n rows from `first` on, ordered by time
 *	flat_cell(f, column, i, &cell, &e);  // a cell of the i-th of them
 *	flat_close(f);
 *
 * Rows are gathered in groups, and cells are read column by column: it holds one group of rows
 * and, for a table ordered by time, 32 bytes per row.
 */
#ifndef LIBTIME_STORE_FLAT_H
#define LIBTIME_STORE_FLAT_H

#include "libtime/store/cell.h"
#include "libtime/store/schema.h"

struct file_facts;
struct finding_rows;
struct flat;

/* The rows of a finished timeline of one recording with its causes, of its facts as a file and
 * of its findings, all borrowed. Of its episodes these are those of worst.h. ERR_NOMEM; *out is
 * NULL then. */
int flat_open(struct flat **out, struct timeline *tl, const struct file_facts *file,
	      struct finding_rows *findings, struct err *e);

/* Begin with a table: how many rows it has. ERR_NOMEM. */
int flat_begin(struct flat *f, enum flat_table_id table, size_t *rows, struct err *e);

/* Have n rows from `first` on at hand. ERR_NOMEM. */
int flat_gather(struct flat *f, size_t first, size_t n, struct err *e);

/* The value of the table's column in the i-th row at hand. Texts live as long as what was
 * borrowed. */
int flat_cell(struct flat *f, size_t column, size_t i, struct cell *to, struct err *e);

/* NULL is accepted. */
void flat_close(struct flat *f);

#endif
