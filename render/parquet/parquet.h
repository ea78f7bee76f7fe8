/*
 * parquet.h - one table as a Parquet file.
 *
 *	parquet_open(&p, f, columns, n, &e);
 *	parquet_group(p, rows, value_of, ctx, &e);    // again and again
 *	parquet_close(p, rc, &e);                     // the footer, which readers need
 *
 * A file is a series of row groups, and a group a series of columns: each column's levels
 * (which values are there) and values, in one page, compressed by zstd. Values are asked for
 * column by column, so that only one column of one group is held. Texts go through a dictionary
 * of the group; so do numbers that repeat; other numbers are stored as differences
 * (DELTA_BINARY_PACKED). Each column of a group records its least and greatest value and how
 * many are missing.
 *
 * Format: github.com/apache/parquet-format, README.md, Encodings.md and parquet.thrift; the
 * footer is written in Thrift's compact protocol. Nothing in it is newer than what Spark,
 * DuckDB, ClickHouse, Arrow and hyparquet read.
 */
#ifndef RENDER_PARQUET_PARQUET_H
#define RENDER_PARQUET_PARQUET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum parquet_type {
	PARQUET_BOOL,
	PARQUET_I32,
	PARQUET_I64,
	PARQUET_TIME, /* ns since 1970, UTC: TIMESTAMP(NANOS) */
	PARQUET_TEXT, /* UTF-8: STRING */
};

/* `list`: each row has any number of values, in order. Names are borrowed until the close. */
struct parquet_column {
	const char *name;
	uint8_t type; /* enum parquet_type */
	uint8_t optional;
	uint8_t list;   /* then not optional */
	uint8_t sorted; /* rows ascend by it, missing ones first; of one column at most */
};

/* One value; of a list, `list` has `n` of them. Texts and lists stay as they are until the
 * group is written. */
struct parquet_value {
	union {
		int64_t i;
		const char *s;
		const struct parquet_value *list;
	};
	uint32_t n; /* bytes of a text, values of a list */
	uint8_t missing;
};

/* A row's value in a column. 0, or what parquet_group is to fail with. */
typedef int parquet_value_of(void *ctx, size_t column, size_t row, struct parquet_value *out,
			     struct err *e);

struct parquet;

/* ERR_NOMEM; *out is NULL then. `f` is borrowed; its owner checks it for errors. */
int parquet_open(struct parquet **out, FILE *f, const struct parquet_column *columns, size_t n,
		 struct err *e);

/* How many rows a group should have: enough for dictionaries to pay, few enough for memory. */
enum { PARQUET_GROUP = 131072 };

/* Write a group of rows, each asked for once per column; texts that are no UTF-8 are written in
 * visible form (render/text/escape.h). Nothing for 0 rows. ERR_NOMEM, ERR_LIMIT for a column of
 * more than 2 GB, and what `value_of` fails with. */
int parquet_group(struct parquet *p, size_t rows, parquet_value_of *value_of, void *ctx,
		  struct err *e);

/* Write the footer if `rc` is 0, and give all back; NULL is accepted. rc, ERR_NOMEM, ERR_IO. */
int parquet_close(struct parquet *p, int rc, struct err *e);

#endif
