/*
 * html_source.h - the source lines of a report: of which functions, from where.
 */
#ifndef CMD_ANSWER_HTML_SOURCE_H
#define CMD_ANSWER_HTML_SOURCE_H

#include "cmd/query/timeline_input.h"
#include "libtime/population/sample_sums.h"

/* What the user names; a report is handed on, so the current folder is not a root. */
struct html_source_opts {
	struct opt_list functions; /* as `perfkit source FUNCTION`; none: of at least 0.1 % */
	struct opt_list dirs, maps;
};

/* Write the lines of the timeline's samples of the event that has most of them as JSON into *out;
 * nothing if no function has known lines. ERR_NOMEM. */
int html_source_make(const struct tlinput *ti, const struct sample_selection *samples,
		     const struct html_source_opts *o, struct buf *out);

#endif
