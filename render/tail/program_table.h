/*
 * program_table.h - whose the worst episodes of a whole machine are: by program, with the
 * option that asks about it alone. A program is all processes of one name.
 */
#ifndef RENDER_TAIL_PROGRAM_TABLE_H
#define RENDER_TAIL_PROGRAM_TABLE_H

#include "base/text/buf.h"
#include "libtime/explain/tail_model.h"

/* Append the table of the programs with most of the shown episodes, as wide as `width`; nothing
 * if there is only one. ERR_NOMEM. */
int program_table(struct buf *b, const struct tail *t, size_t width);

/* Append the same as a sentence: "Of the worst, 3 are of sh (--comm sh), 1 of app (--pid 12). ".
 * ERR_NOMEM. */
int program_words(struct buf *b, const struct tail *t);

#endif
