/*
 * html_column.h - columns of numbers in a report, one number for each row. A column has the
 * lowest byte of all numbers, then the second byte of all, and so on, since deflate compresses
 * similar bytes best. html_data.js reads them.
 *
 *	struct html_columns c = {0};
 *	struct html_column *t = html_column(&c, "sample.t");
 *	html_put(t, 7183);                             // any number of times
 *	html_columns_head(&c, &json);                  // name, rows, bytes a number
 *	html_columns_write(&c, blob, &e);              // one after another
 *	html_columns_release(&c);
 */
#ifndef RENDER_HTML_HTML_COLUMN_H
#define RENDER_HTML_HTML_COLUMN_H

#include "render/html/html_blob.h"
#include "render/text/json.h"

enum { HTML_COLUMNS = 128 };

struct html_column {
	const char *name; /* borrowed */
	uint64_t n;       /* numbers in it */
	uint64_t bits;    /* the bitwise or of all */
	struct buf b; /* seven bits a byte, low ones first; keeps the only possible failure */
};

/* Zero-initialised is empty. */
struct html_columns {
	struct html_column v[HTML_COLUMNS];
	size_t n;
};

/* Add a column, which lives as long as the columns. NULL past HTML_COLUMNS: a programming
 * error. */
struct html_column *html_column(struct html_columns *c, const char *name);

/* Append a number; a signed one doubled, less one if negative. */
void html_put(struct html_column *c, uint64_t x);
void html_put_signed(struct html_column *c, int64_t x);

/* "columns": [[name, rows, bytes a number], ...]. */
void html_columns_head(const struct html_columns *c, struct json *j);

/* The bytes, in the order of the head. ERR_NOMEM, ERR_IO. */
int html_columns_write(struct html_columns *c, struct html_blob *to, struct err *e);
void html_columns_release(struct html_columns *c);

#endif
