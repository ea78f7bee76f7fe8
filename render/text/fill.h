/*
 * fill.h - text broken into lines of 80 columns, for report and help.
 */
#ifndef RENDER_TEXT_FILL_H
#define RENDER_TEXT_FILL_H

#include "base/text/buf.h"

enum { FILL_WIDTH = 80 };

/*
 * Append `text` to a line that has `used` columns already: broken at blanks (and after commas
 * in words too long for a line) before column 80, the next lines indented by `indent`; ends the
 * line. A line feed in the text is a blank.
 */
void fill_text(struct buf *out, size_t used, size_t indent, const char *text);

/* The length of the first paragraph of help text, and whether it is a table: one with an
 * indented line, which keeps its line breaks. Paragraphs are separated by blank lines. */
size_t fill_paragraph(const char *text, int *table);

#endif
