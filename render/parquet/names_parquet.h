/*
 * names_parquet.h - the names in one file (libsym/process/file_names.h) as a Parquet
 * file, to be joined with frames that were exported as offsets.
 *
 *	build_id | start_offset | end_offset | names
 *	ab12…    |         4096 |       4242 | [inlined, function]
 *
 * Rows ascend by start_offset and follow each other without gaps: a frame's row is the last one
 * that starts at or below its offset. A range without names has an empty list.
 */
#ifndef RENDER_PARQUET_NAMES_PARQUET_H
#define RENDER_PARQUET_NAMES_PARQUET_H

#include "libsym/process/file_names.h"

#include <stdio.h>

/* Write all of `names`, whose file has the build-id `hex`; *rows is the number of rows.
 * ERR_NOMEM, ERR_IO, ERR_LIMIT. */
int names_parquet_write(struct file_names *names, const char *hex, FILE *out, size_t *rows,
			struct err *e);

#endif
