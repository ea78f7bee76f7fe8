/*
 * flat_parquet.h - a flat table (libtime/store/flat.h) of one recording as a Parquet file.
 *
 * Before the table's own columns stand `recording`, the id of the recording in the fleet, and,
 * where rows have a time, `time`, which is that on the wall clock. Columns that refer to
 * another table do so within the recording.
 */
#ifndef RENDER_PARQUET_FLAT_PARQUET_H
#define RENDER_PARQUET_FLAT_PARQUET_H

#include "libtime/store/flat.h"

#include <stdio.h>

struct flat_origin {
	int64_t recording;  /* its id */
	uint64_t origin_ns; /* a time of its clock, */
	uint64_t wall_ns;   /* and of the wall clock, since 1970; 0: not known */
};

/* Write a table to `out`; *rows is how many it has. ERR_NOMEM, ERR_IO, ERR_LIMIT. */
int flat_parquet_write(struct flat *f, enum flat_table_id table, const struct flat_origin *o,
		       FILE *out, size_t *rows, struct err *e);

#endif
