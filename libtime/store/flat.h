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
 * Rows are gathered in groups, and cells are read column by column, so memory is needed for one
 * group and, in a table ordered by time, for 32 bytes per row.
 */
#ifndef LIBTIME_STORE_FLAT_H
#define LIBTIME_STORE_FLAT_H

#include "libtime/store/cell.h"
#include "libtime/store/schema.h"

struct file_facts;
struct finding_rows;
struct flat;

/* The rows of a recording's finished timeline with its causes, of its file facts and of its
 * findings, all borrowed; and of the episodes of worst.h. ERR_NOMEM; *out is NULL then. */
int flat_open(struct flat **out, struct timeline *tl, const struct file_facts *file,
	      struct finding_rows *findings, struct err *e);

/* Begin a table; *rows is how many rows it has. ERR_NOMEM. */
int flat_begin(struct flat *f, enum flat_table_id table, size_t *rows, struct err *e);

/* Gather n rows from `first` on. ERR_NOMEM. */
int flat_gather(struct flat *f, size_t first, size_t n, struct err *e);

/* The value of a column in the i-th gathered row. Texts live as long as what was borrowed. */
int flat_cell(struct flat *f, size_t column, size_t i, struct cell *to, struct err *e);

/* NULL is accepted. */
void flat_close(struct flat *f);

#endif
