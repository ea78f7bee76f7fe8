/*
 * parts.h - a text answer as data, written again as text, Markdown or JSON, of bounded length.
 *
 * Verbs that are asked for another form than text print the same text with TABLE_DATA as its
 * width (table.h): tables are then lines of marked cells, not yet cut or aligned. A *part* is
 * what stands between two blank lines: a paragraph, or a table with its title. Parts are in the
 * order of their importance, and so are the rows of a table.
 */
#ifndef RENDER_TEXT_PARTS_H
#define RENDER_TEXT_PARTS_H

#include "base/text/buf.h"

enum parts_form { PARTS_TEXT, PARTS_MARKDOWN, PARTS_JSON };

struct parts_style {
	enum parts_form form;
	size_t width;        /* of text */
	uint64_t most;       /* bytes; 0: no bound */
	const char *command; /* prints all of it */
};

/*
 * Append the n bytes of text at s in the form. If they are longer than the bound, tables lose
 * their last rows, down to a few; then parts are left out, the later ones first. The end says
 * what is missing and the command that shows it. JSON is {"schema":1,"parts":[[ITEM]]}, each
 * ITEM {"text"} or {"columns":[],"rows":[[]]}, and {"left_out":{"rows","parts","command"}}.
 * ERR_NOMEM.
 */
int parts_write(struct buf *out, const char *s, size_t n, const struct parts_style *style);

/*
 * Append the JSON object at s; if longer than `most` (0: no bound), the outermost lists of
 * objects or lists lose their last elements, the largest list first. What is left out is the
 * member "left_out": {"rows","command"}. ERR_FORMAT: it is no object; ERR_NOMEM.
 */
int parts_json(struct buf *out, const char *s, size_t n, uint64_t most, const char *command);

#endif
