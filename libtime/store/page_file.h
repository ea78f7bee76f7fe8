/*
 * page_file.h - an SQLite database file that grows at its end by whole pages, while SQLite has it
 * closed. btree.h says what is on them.
 *
 *	page_file_open(&f, "run.db.tmp", NULL, "run.db", &e);
 *	page_file_add(f, page, &number, &e);
 *	page_file_close(f, &e);              // SQLite may open it again
 *
 * Source: https://sqlite.org/fileformat2.html, sections 1.3 (header) and 1.4 (lock-byte page).
 */
#ifndef LIBTIME_STORE_PAGE_FILE_H
#define LIBTIME_STORE_PAGE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct page_file;

/* A file that SQLite has closed and that has no journal; messages call it `name`. Both are
 * borrowed. If `is` is not NULL, any other file of that name is ERR_IO. ERR_IO, ERR_NOMEM;
 * ERR_FORMAT for one that is not whole pages, used up to their ends. *out is NULL then. */
int page_file_open(struct page_file **out, const char *path, const struct stat *is,
		   const char *name, struct err *e);

/* The bytes of a page. */
size_t page_file_page_size(const struct page_file *f);

/* A new page behind the others, and its number. ERR_IO; ERR_LIMIT past the last number. */
int page_file_add(struct page_file *f, const void *page, uint32_t *number, struct err *e);

/* Overwrite a page that is there. ERR_IO. */
int page_file_replace(struct page_file *f, const void *page, uint32_t number, struct err *e);

/* Write what is gathered, and how many pages there are into the header. ERR_IO; `f` is gone in
 * any case. NULL is accepted. */
int page_file_close(struct page_file *f, struct err *e);

/* Give up: the file is of no use then. NULL is accepted. */
void page_file_abort(struct page_file *f);

#endif
