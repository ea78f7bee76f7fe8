/*
 * html_source.h - the lines of functions inside a report, as JSON that its script reads when a
 * function is chosen (html_source.js), and through which of them each stack passes, so that any
 * stretch's samples and waits give the lines their weights.
 *
 *	{"functions": [{"name", "module", "files": [{"file", "text", "lines": [LINE, ...]}],
 *		"code": [CODE, ...], "no_code"}],
 *	 "groups": [[row, ...], ...], "up": [stack, ...], "group": [group, ...]}
 *	LINE	[line, text] of one without weight
 *		[line, text, 0]; line 0 is not known, the text null without a file
 *		[line, null, depth, function, file] of a call inlined in the one above
 *
 *	CODE	[address, text, line, to] of an instruction; line 0 is not known; a jump goes to
 *		the CODE with number `to`, -1: none of these
 *		[address, text, line, to, 0] of one with weight
 *		null where some are left out
 *
 * Code is that of the copy with the most weight, near instructions with weight; "no_code" says
 * why there is none. Rows are the LINEs and CODEs with weight, numbered from 0 through all
 * functions. A group is those of one symbol's code in a stack. A stack, numbered from 1, is a
 * group and the stack that called it (0: none); groups without rows are left out.
 */
#ifndef RENDER_HTML_HTML_SOURCE_H
#define RENDER_HTML_HTML_SOURCE_H

#include "base/hash.h"
#include "libsym/source/source_text.h"
#include "libtime/tables/source_rows.h"
#include "render/text/json.h"
#include "render/text/source_table.h"

/* Zero-initialised: no lines. */
struct html_source {
	/* By call path of samples, and of waits: stack * 2, and 1 if it ends in that stack's
	 * group; NULL: no lines. */
	uint32_t *of_sample, *of_wait;
	size_t npaths; /* in both */
	uint32_t *row; /* by line of the sums: row + 1; 0: not in the page */
	size_t nlines;
	uint32_t *code_row; /* the same by instruction of the sums */
	size_t ncodes;
	uint32_t rows;
	VEC(size_t) groups; /* where each begins in group_rows: n, rows */
	VEC(uint32_t) group_rows;
	VEC(struct html_source_stack { uint32_t up, group; }) stacks;
	struct idmap group_index;
	struct u64map stack_index; /* up << 32 | group */
	VEC(uint32_t) now;         /* the group that is being made … */
	uint32_t at;               /* … and the stack so far */
	int ends;
};

/* What is known of a function. */
struct html_source_function {
	uint32_t function;
	const struct source_rows *rows;  /* with inlined calls */
	const struct source_text *texts; /* of rows->files */
	const struct code_rows *code;    /* NULL: none, and why: */
	const char *no_code;
};

/* Begin, when the sums have all lines. ERR_NOMEM. */
int html_source_begin(struct html_source *x, const struct source_sums *s);

/* Add a function to the open array "functions"; of texts and code what is around that with
 * weight. ERR_NOMEM. */
int html_source_add(struct html_source *x, struct json *j, const struct source_sums *s,
		    const struct html_source_function *f);

/* What stands in of_sample or of_wait for a path. ERR_NOMEM. */
int html_source_stack(struct html_source *x, struct source_sums *s, uint32_t path,
		      uint32_t *out);

/* Put the groups and stacks. */
void html_source_end(const struct html_source *x, struct json *j);

/* Free the memory. */
void html_source_release(struct html_source *x);

#endif
