/*
 * btree.h - rows in order → the pages of an SQLite table or index, straight into its file.
 *
 * SQLite inserts a row by a program of some sixty steps. Rows that come in the order of their
 * ids, into a table that is empty, need none of that: records are put into leaf pages one after
 * the other, full pages go to the end of the file, the pages above them are made at the end.
 * The tables are declared by SQLite, which has the file closed meanwhile and opens it as any
 * other afterwards.
 *
 *	sqlite3_close(db);                          // "CREATE TABLE t(...)" is in the file
 *	pagefile_open(&f, "run.db", "run.db", &e);
 *	btree_init(&t, BTREE_TABLE, root_page_of_t, page_size, &e);
 *	for (...) btree_add(&t, f, id, cells, n, &e);
 *	btree_finish(&t, f, &e);                    // or more, after another pagefile_open
 *	pagefile_close(f, &e);
 *	btree_release(&t);
 *
 * Equal rows give equal pages at equal places.
 * Source: https://sqlite.org/fileformat2.html, sections 1.6 (b-tree pages), 2.1 (records).
 */
#ifndef LIBTIME_STORE_BTREE_H
#define LIBTIME_STORE_BTREE_H

#include "base/vec.h"
#include "libtime/store/cell.h"
#include "libtime/store/page_file.h"

enum {
	BTREE_COLUMNS = 32, /* of the widest row */
	BTREE_ENTRY = 40,   /* bytes of the longest entry of an index */
};

enum btree_kind { BTREE_TABLE, BTREE_INDEX };

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
	uint8_t *page;                /* the leaf being filled, and room for one row's record */
	size_t cells, content;        /* of it: how many, where they begin */
	size_t last_cell;             /* where the one before begins */
	int64_t last_id;              /* of a table */
};

/* An empty tree of the empty table or index whose root is page `root` (see sqlite_schema).
 * ERR_NOMEM. */
int btree_init(struct btree *t, enum btree_kind kind, uint32_t root, size_t page_size,
	       struct err *e);

/* One that is all zero is accepted. */
void btree_release(struct btree *t);

/* The next row of a table, texts copied. Ids grow; the column that is the id has to be NULL.
 * ERR_LIMIT for a row that is too long for a page or has too many columns; ERR_IO, ERR_NOMEM.
 */
int btree_add(struct btree *t, struct pagefile *f, int64_t id, const struct cell *row, size_t n,
	      struct err *e);

/* The next entry of an index, in its order: some integers or NULLs, then the row's id. As
 * btree_add. */
int btree_add_entry(struct btree *t, struct pagefile *f, const struct cell *row, size_t n,
		    struct err *e);

/* The last leaf and all pages above; the tree is in its place. Only btree_release may follow.
 * ERR_IO, ERR_NOMEM. */
int btree_finish(struct btree *t, struct pagefile *f, struct err *e);

#endif
