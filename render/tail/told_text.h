/*
 * told_text.h - sentences (told.h) in words, by the table of their forms. HOW a number is
 * written:
 *
 *	(nothing)  ,        1234; 1,234
 *	one|many            "1 other", "2 others"
 *	@time @part         "6.4 ms"; in the unit that fits the whole (units.h)
 *	@bytes @share       "64 KiB"; thousandths of a percent: "1.2 %", "12 %"
 */
#ifndef RENDER_TAIL_TOLD_TEXT_H
#define RENDER_TAIL_TOLD_TEXT_H

#include "base/text/buf.h"
#include "libtime/explain/told.h"
#include "render/text/json.h"

/* Append clauses from .. until - 1 in words, at a level of brevity. */
void told_text(struct buf *b, const struct timeline *tl, const struct told *x, size_t from,
	       size_t until, enum told_brief level);

/* Append all clauses of an answer, whose sentence begins at the clause `sentence`, as briefly as
 * needed. The level that was needed. */
enum told_brief told_answer_text(struct buf *b, const struct timeline *tl, const struct told *x,
				 size_t sentence);

/* The member `key`: a list of the clauses that are said at that level, {"form", arguments...}, in
 * which all but numbers are words as in the text. A part of a sum has a second member with the
 * whole, "_of" at the end of its name. */
void told_json(struct json *j, const char *key, const struct timeline *tl, const struct told *x,
	       enum told_brief level);

#endif
