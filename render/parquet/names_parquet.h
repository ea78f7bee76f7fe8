/*
 * names_parquet.h - the names of one file's addresses (libsym/process/file_names.h) as a
 * Parquet file: what frames without a name, exported as offsets, are joined with.
 *
 *	build_id | start_offset | end_offset | names
 *	ab12…    |         4096 |       4242 | [inlined, function]
 *
 * Rows ascend by start_offset and follow each other without gaps: a frame's row is the last one
 * that starts at or below its offset. Where nothing has a name, the list is empty.
 */
#ifndef RENDER_PARQUET_NAMES_PARQUET_H
#define RENDER_PARQUET_NAMES_PARQUET_H

#include "libsym/process/file_names.h"

#include <stdio.h>

/* Write all that `names` has, of a file of build-id `hex`; *rows is how many that were.
 * ERR_NOMEM, ERR_IO, ERR_LIMIT. */
int names_parquet_write(struct file_names *names, const char *hex, FILE *out, size_t *rows,
			struct err *e);

#endif
