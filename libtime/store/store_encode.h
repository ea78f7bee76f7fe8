/*
 * store_encode.h - writes one timeline to the store: its structs → cells, by the declarations
 * of schema.h.
 */
#ifndef LIBTIME_STORE_STORE_ENCODE_H
#define LIBTIME_STORE_STORE_ENCODE_H

#include "libtime/store/store_feed.h"

struct store_writer;

struct writing {
	struct store_writer *w;
	const struct timeline *tl;
	struct err *e;
	const int64_t *rows;         /* of each table: how many so far */
	int64_t first[STORE_TABLES]; /* rows before this timeline's, which are added to its
					indexes */
	/* row ids by strings id; 0 = not written yet */
	uint32_t *comm_id, *dso_id, *file_id;
	struct u64map symbol_id; /* name << 32 | DSO → row id */
	int flat; /* rows contain their texts: apart from this, only `tl` and `e` are set */
};

/* Write one more row: `row` is the struct that the table's columns are declared for. Its id is
 * the number of the table's rows, including it. ERR_NOMEM, ERR_IO. */
int writing_row(struct writing *l, enum store_table table, const void *row);

/* One cell of such a row. COLUMN_ID is `id`. */
int encode_cell(struct writing *l, const struct column *c, int64_t id, const void *row,
		struct cell *to);

/* Fill the cells of a row with this id. Names it refers to become rows when first used. Errors
 * as for writing_row. */
int encode_row(struct writing *l, enum store_table table, int64_t id, const void *row,
	       struct cell *cells);

/* Write the off-CPU intervals and their kinds. ERR_FORMAT: not ordered by thread and time. */
int write_offcpu(struct writing *l);

/* Write the samples of both kinds and their sums, which are complete then (store_sums.h). */
struct store_sums;
int write_samples(struct writing *l, struct store_sums *s);

/* Fold the n sums, of these tasks, as collapse and svg show them. Release it with folding_free,
 * which accepts NULL. ERR_NOMEM: *out is NULL. */
struct folding;
int folding_make(struct folding **out, const struct timeline *tl,
		 const struct sample_task *tasks, const struct sample_sum *sums, size_t n);
void folding_free(struct folding *f);

/* Write what is folded. */
int write_folded(struct writing *l, const struct folding *f);

#endif
