/*
 * html_source.h - the lines of functions inside a report, as JSON that its script reads when a
 * function is chosen (html_source.js).
 *
 *	{"event", "weight", "functions": [{"name", "module", "self", "inlined", "total",
 *		"files": [{"file", "text", "lines": [ROW, ...]}]}]}
 *	ROW	[line, self, total, text]; line 0 is not known, the text null without a file
 *		[line, self, total, null, depth, function, file] of a call inlined in the row above
 *
 * A row's self is with what is inlined in the line.
 */
#ifndef RENDER_HTML_HTML_SOURCE_H
#define RENDER_HTML_HTML_SOURCE_H

#include "libsym/source/source_text.h"
#include "libtime/tables/source_rows.h"
#include "render/text/json.h"

/* Add a function, its rows with inlined calls, and the texts of rows->files, of which the lines
 * around those with weight are taken. */
void html_source_function(struct json *j, const struct source_sums *s, uint32_t function,
			  const struct source_rows *rows, const struct source_text *texts);

#endif
