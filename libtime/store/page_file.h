/*
 * page_file.h - a database file of SQLite's that grows at its end by whole pages, while SQLite
 * has it closed. What is on them is btree.h's.
 *
 *	pagefile_open(&f, "run.db.tmp", "run.db", &e);
 *	pagefile_add(f, page, &number, &e);
 *	pagefile_close(f, &e);              // SQLite may open it again
 *
 * Source: https://sqlite.org/fileformat2.html, sections 1.3 (header) and 1.4 (lock-byte page).
 */
#ifndef LIBTIME_STORE_PAGE_FILE_H
#define LIBTIME_STORE_PAGE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { PAGE_MAX = 65536 /* bytes of the format's largest page */ };

struct pagefile;

/* A file that SQLite has closed and that has no journal; messages call it `name`. Both are
 * borrowed. ERR_IO, ERR_NOMEM; ERR_FORMAT for one that is not whole pages, used up to their
 * ends. *out is NULL then. */
int pagefile_open(struct pagefile **out, const char *path, const char *name, struct err *e);

/* What messages call it. */
const char *pagefile_name(const struct pagefile *f);

/* A new page behind the others, and its number. ERR_IO; ERR_LIMIT past the last number. */
int pagefile_add(struct pagefile *f, const void *page, uint32_t *number, struct err *e);

/* A page that is there already. ERR_IO. */
int pagefile_replace(struct pagefile *f, const void *page, uint32_t number, struct err *e);

/* All is in the file, and its header says how many pages there are. ERR_IO; `f` is gone in any
 * case. NULL is accepted. */
int pagefile_close(struct pagefile *f, struct err *e);

/* Give up: the file is of no use then. NULL is accepted. */
void pagefile_abort(struct pagefile *f);

#endif
