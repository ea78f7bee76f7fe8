/*
 * html_column.h - columns of numbers as a report carries them: of each row one number a column.
 * First the lowest byte of each, then the second of each, up to the highest that any needs:
 * what is alike stands together, which deflate shortens best. html_data.js reads them.
 *
 *	struct html_columns c = {0};
 *	struct html_column *t = html_column(&c, "sample.t");
 *	html_put(t, 7183);                             // any number of times
 *	html_columns_head(&c, &json);                  // name, rows, bytes a number
 *	html_columns_write(&c, blob, &e);              // one behind the other
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
	uint64_t bits;    /* that any of them has set */
	struct buf b; /* seven bits a byte, little end first; its failure is the only error */
};

/* Zero-initialised is empty. */
struct html_columns {
	struct html_column v[HTML_COLUMNS];
	size_t n;
};

/* One more column, valid as long as the columns. NULL beyond HTML_COLUMNS, which is a fault of
 * the program. */
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
