/*
 * flat_parquet.h - a flat table (libtime/store/flat.h) of one recording as a Parquet file.
 *
 * The table's columns follow `recording`, the id of the recording in the fleet, and, for rows
 * with a time, `time`, the wall-clock time. Columns that refer to another table refer to rows
 * of the same recording.
 */
#ifndef RENDER_PARQUET_FLAT_PARQUET_H
#define RENDER_PARQUET_FLAT_PARQUET_H

#include "libtime/store/flat.h"

#include <stdio.h>

struct flat_origin {
	int64_t recording;  /* its id */
	uint64_t origin_ns; /* a moment on its clock ... */
	uint64_t wall_ns;   /* ... and on the wall clock, since 1970; 0: unknown */
};

/* Write a table to `out`; *rows is set to its number of rows. ERR_NOMEM, ERR_IO, ERR_LIMIT. */
int flat_parquet_write(struct flat *f, enum flat_table_id table, const struct flat_origin *o,
		       FILE *out, size_t *rows, struct err *e);

#endif
