/*
 * lines.h - the lines of a side file, wherever its bytes come from: a file, a pipe, or either
 * of them compressed (libparse/archive/unzip.h).
 */
#ifndef LIBTIME_SIDE_LINES_H
#define LIBTIME_SIDE_LINES_H

#include "libparse/source.h"

struct side_lines;

enum { SIDE_LINE_MAX = 1 << 30 }; /* bytes; a line is held in memory */

/* Begin to read `src`, which is borrowed and taken from. ERR_IO, ERR_FORMAT (compressed, and
 * damaged), ERR_NOMEM. */
int side_lines_open(struct side_lines **out, struct source *src, struct err *e);

/* NULL is accepted. */
void side_lines_close(struct side_lines *l);

/*
 * The next line without its end ("\n" or "\r\n"): 1, borrowed until the next call; 0 at the
 * end. ERR_IO, ERR_FORMAT, ERR_TRUNCATED (compressed data is cut off), ERR_LIMIT past
 * SIDE_LINE_MAX, ERR_NOMEM.
 */
int side_lines_next(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* The same, the line behind the last one added to it, the line end between them: for texts in
 * quotes. 0: there is none. */
int side_lines_join(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* Forget what was joined: the next line is the one behind the first. */
void side_lines_unjoin(struct side_lines *l);

/* Everything that is left, as one text. As side_lines_next. */
int side_lines_rest(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* What comes next, up to SOURCE_HEAD bytes, without taking it. As side_lines_next. */
int side_lines_peek(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* The number, from 1, of the line given last, of joined ones the first. */
uint64_t side_lines_number(const struct side_lines *l);

#endif
