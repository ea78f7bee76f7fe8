/*
 * lines.h - reads a side file line by line from a file or pipe, compressed or not
 * (libparse/archive/unzip.h).
 */
#ifndef LIBTIME_SIDE_LINES_H
#define LIBTIME_SIDE_LINES_H

#include "libparse/source.h"

struct side_lines;

enum { SIDE_LINE_MAX = 1 << 30 }; /* bytes; a line is kept in memory */

/* Start reading `src`, which is borrowed and consumed. ERR_IO, ERR_FORMAT (damaged compressed
 * data), ERR_NOMEM. */
int side_lines_open(struct side_lines **out, struct source *src, struct err *e);

/* NULL is accepted. */
void side_lines_close(struct side_lines *l);

/*
 * The next line without its end ("\n" or "\r\n"), borrowed until the next call: 1; 0 at the
 * end. ERR_IO, ERR_FORMAT, ERR_TRUNCATED (compressed data), ERR_LIMIT past SIDE_LINE_MAX,
 * ERR_NOMEM.
 */
int side_lines_next(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* Append the next line to the last one, with the line end between them, for quoted texts that
 * span lines. 0 at the end. */
int side_lines_join(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* Undo joins: the next line is again the one after the first. */
void side_lines_unjoin(struct side_lines *l);

/* The rest of the file as one text. Returns as side_lines_next. */
int side_lines_rest(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* Up to SOURCE_HEAD of the next bytes, without consuming them, but for a byte order mark at the
 * start of the file. Returns as side_lines_next. */
int side_lines_peek(struct side_lines *l, const char **text, size_t *n, struct err *e);

/* Number, from 1, of the last line returned; of joined lines, that of the first. */
uint64_t side_lines_number(const struct side_lines *l);

#endif
