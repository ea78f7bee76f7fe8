/*
 * table.h - tables as text: columns as wide as their widest cell, two blanks between them.
 *
 * If a line is wider than the terminal, columns marked `drop` are omitted first, then those
 * marked `cut` are shortened, with a mark. The last column is not cut: it continues in the
 * next line, below its beginning; unless it is `code`.
 */
#ifndef RENDER_TEXT_TABLE_H
#define RENDER_TEXT_TABLE_H

#include "base/text/buf.h"
#include "base/vec.h"

#include <stdint.h>

enum table_cut {
	TABLE_WHOLE,    /* never cut */
	TABLE_CUT,      /* "long na~" */
	TABLE_CUT_NAME, /* a function's: "OrderB…::insert" (simplify.h, name_fit) */
	TABLE_CUT_ID,   /* "long na~/4711": the last slash and all after it stay */
	TABLE_CUT_KEY,  /* "worker-7: lock i~_append()": a row's key, cut after all others;
			  columns are omitted for it, too */
};

struct table_column {
	const char *head;
	int right; /* aligned */
	enum table_cut cut;
	unsigned drop; /* 1 is omitted first, then 2 ...; 0 never */
};

enum { TABLE_COLUMNS = 24 };

/*
 * A width that asks for data: lines of cells, whole and not aligned, for parts.h. A head is a
 * line of TABLE_HEAD and cells, each TABLE_MARKS characters (table_column_marks) and a name; a
 * row is a line of TABLE_ROW and cells. TABLE_CELL stands between cells. A part that begins with
 * a line of TABLE_FOLD and a title is collapsed where that is possible. No text has these
 * characters.
 */
enum { TABLE_DATA = 1 << 20 };
#define TABLE_HEAD '\x1d'
#define TABLE_ROW '\x1e'
#define TABLE_CELL '\x1f'
#define TABLE_FOLD '\x1c'
enum { TABLE_MARKS = 3, TABLE_CODE = 'c' - '0' }; /* TABLE_CODE: `drop` of a code column */

/* What the marks of a head's cell of n bytes say; the name is not set. */
struct table_column table_column_marks(const char *cell, size_t n);

/* Zero-initialised, except for the columns, whose array must outlive it. */
struct table {
	const struct table_column *columns;
	size_t ncolumns; /* at most TABLE_COLUMNS */
	int code;        /* the last column keeps its blanks and is cut where the line ends */
	struct buf text; /* of all cells, one after the other; append the next cell here */
	VEC(size_t) ends;
};

/* End a cell: what was appended to t->text since the last call, in visible form (escape.h).
 * Rows are filled from the left. Failures are kept for table_write. */
void table_next(struct table *t);

/* The same of a duration, of a count, and of a text. */
void table_duration(struct table *t, uint64_t ns);
void table_count(struct table *t, uint64_t n);
void table_text(struct table *t, const char *text);

/* Append the head and all rows, at most `width` characters wide except for longer words.
 * Failures are those of the buffer. */
void table_write(struct buf *out, struct table *t, size_t width);

/* Free the memory. */
void table_release(struct table *t);

/*
 * Append `text` to a line that has `column` characters, broken at blanks before `width`; later
 * lines are indented by `indent`. Ends the line.
 */
void text_wrapped(struct buf *out, const char *text, size_t column, size_t indent,
		  size_t width);

#endif
