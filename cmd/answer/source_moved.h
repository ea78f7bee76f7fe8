/*
 * source_moved.h - where the lines of a function of an earlier recording are in a later one.
 */
#ifndef CMD_ANSWER_SOURCE_MOVED_H
#define CMD_ANSWER_SOURCE_MOVED_H

#include "cmd/answer/source_side.h"

/*
 * Add to `rows`, which are of `function` of `after`, the lines of the same function in `before`:
 * that of the same name, or of a name that differs by versions or what compilers append; if the
 * same program has none, of that name in any. Lines are the same by their text, if both texts are
 * there, else by number. *found: how many functions of `before` that is. ERR_NOMEM;
 * of a store ERR_IO, ERR_FORMAT.
 */
int source_moved(struct source_rows *rows, const struct source_side *before,
		 const struct source_side *after, uint32_t function, size_t *found,
		 struct err *e);

#endif
