/*
 * finding_text.h - findings in words: the sentences of libtime/doctor/forms.h with their facts,
 * the same of a recording and of its store.
 */
#ifndef RENDER_TEXT_FINDING_TEXT_H
#define RENDER_TEXT_FINDING_TEXT_H

#include "base/text/buf.h"
#include "libtime/doctor/findings.h"

/* Append a sentence. Texts of facts are not escaped: use escape_visible for a terminal. A
 * missing fact, as in a damaged store, is "?". */
void finding_statement(struct buf *out, const struct statement *s);

/* Append the title; then the options that would help and why, or a sentence, or nothing. */
void finding_title(struct buf *out, const struct finding *f);
void finding_remedy(struct buf *out, const struct finding *f);

#endif
