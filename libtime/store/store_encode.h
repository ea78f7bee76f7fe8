/*
 * store_encode.h - one timeline on its way into the store: its structs → cells, by the
 * declarations of schema.h.
 */
#ifndef LIBTIME_STORE_STORE_ENCODE_H
#define LIBTIME_STORE_STORE_ENCODE_H

#include "libtime/store/store_feed.h"

struct store_writer;

struct writing {
	struct store_writer *w;
	const struct timeline *tl;
	struct err *e;
	const int64_t *rows;         /* of each table, so far */
	int64_t first[STORE_TABLES]; /* rows before this timeline's: what is added to its
					indexes */
	/* row ids by strings id; 0 = not written yet */
	uint32_t *comm_id, *dso_id, *file_id;
	struct u64map symbol_id; /* name << 32 | DSO → row id */
	int flat;                /* texts stand in the rows: only `tl` and `e` are set, too */
};

/* Write one more row: `row` is the struct that the table's columns are declared of. It is
 * counted, and has the number of the table's rows as its id. ERR_NOMEM, ERR_IO. */
int writing_row(struct writing *l, enum store_table table, const void *row);

/* One cell of such a row. COLUMN_ID is `id`. */
int encode_cell(struct writing *l, const struct column *c, int64_t id, const void *row,
		struct cell *to);

/* Fill the cells of a row that has this id. Names it refers to become rows when first met. As
 * writing_row. */
int encode_row(struct writing *l, enum store_table table, int64_t id, const void *row,
	       struct cell *cells);

/* The off-CPU intervals, and what they have in common. ERR_FORMAT: not by thread and time. */
int write_offcpu(struct writing *l);

/* The samples of both kinds and their sums. */
int write_samples(struct writing *l);

#endif
