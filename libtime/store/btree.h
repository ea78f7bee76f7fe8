/*
 * btree.h - rows in order → the pages of an SQLite table, straight into its file.
 *
 * SQLite inserts a row by a program of some sixty steps. Rows that come in the order of their
 * keys, into a table that is empty, need none of that: records are put into leaf pages one after
 * the other, full pages go to the end of the file, and the pages above them are made at the end.
 * SQLite declares the tables, has the file closed meanwhile, and afterwards opens it as any
 * other.
 *
 *	sqlite3_close(db);                          // "CREATE TABLE t(...)" is in the file
 *	page_file_open(&f, "run.db", NULL, "run.db", &e);
 *	btree_init(&t, BTREE_ROWID, root_page_of_t, page_file_page_size(f), &e);
 *	for (...) btree_add(&t, f, row, n, &e);
 *	btree_finish(&t, f, &e);                    // or more, after another page_file_open
 *	page_file_close(f, &e);
 *	btree_release(&t);
 *
 * Equal rows give equal pages at equal places.
 * Source: https://sqlite.org/fileformat2.html, sections 1.6 (b-tree pages), 1.7 (overflow pages),
 * 2.1 (records), 2.4 (WITHOUT ROWID tables).
 */
#ifndef LIBTIME_STORE_BTREE_H
#define LIBTIME_STORE_BTREE_H

#include "base/vec.h"
#include "libtime/store/cell.h"
#include "libtime/store/page_file.h"

enum {
	BTREE_COLUMNS = 32, /* of the widest row */
	BTREE_ENTRY = 56,   /* bytes of the longest row of BTREE_KEYED */
};

enum btree_kind {
	BTREE_ROWID, /* the first column is the INTEGER PRIMARY KEY */
	BTREE_KEYED, /* WITHOUT ROWID: the first one or two columns are the key; no texts. With
		      * a key of one column, the caller sees to it that keys differ */
};

/* A page, and the cell that stands for it in the page above. */
struct btree_child {
	uint32_t page;
	uint8_t n; /* bytes of the cell behind the page's number */
	uint8_t cell[BTREE_ENTRY];
};

struct btree {
	enum btree_kind kind;
	uint32_t root;
	size_t page_size;
	VEC(struct btree_child) full; /* leaves that are in the file */
	uint8_t *page;                /* the leaf being filled */
	size_t cells, content;        /* of it: how many, where they begin */
	size_t last_cell;             /* where the one before begins */
	int64_t last[2];              /* the first two columns of the last row */
	VEC(uint8_t) body;            /* of a row's record */
};

/* An empty tree of the empty table whose root is page `root` (see sqlite_schema). ERR_NOMEM. */
int btree_init(struct btree *t, enum btree_kind kind, uint32_t root, size_t page_size,
	       struct err *e);

/* One that is all zero is accepted. */
void btree_release(struct btree *t);

/* May the row be added: does its key come after those of all others? */
int btree_ascends(const struct btree *t, const struct cell *row);

/* Add a row that ascends; texts are copied. ERR_IO, ERR_NOMEM. */
int btree_add(struct btree *t, struct page_file *f, const struct cell *row, size_t n,
	      struct err *e);

/* Write the last leaf and all pages above: the table is whole. Only btree_release may follow.
 * ERR_IO, ERR_NOMEM. */
int btree_finish(struct btree *t, struct page_file *f, struct err *e);

#endif
