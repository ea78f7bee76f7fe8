/*
 * html_source.h - the source lines of a report: of which functions, from where.
 */
#ifndef CMD_ANSWER_HTML_SOURCE_H
#define CMD_ANSWER_HTML_SOURCE_H

#include "cmd/query/timeline_input.h"
#include "libtime/population/sample_sums.h"
#include "render/html/html_source.h"

/* What the user names; a report is handed on, so the current folder is not a root. */
struct html_source_opts {
	struct opt_list functions; /* as `perfkit source FUNCTION`; none: of at least 0.1 %
				     * of the samples or waits */
	struct opt_list dirs, maps;
	const char *git;
	struct git_texts *texts; /* of it, once they have begun */
};

/* Write the lines of the samples' and waits' functions as JSON into *b, and which of them each
 * stack passes through into *out, which is released by html_source_release; nothing if no
 * function has known lines. ERR_NOMEM; of a store ERR_IO, ERR_FORMAT. */
int html_source_make(struct tlinput *ti, const struct sample_selection *samples,
		     const struct population *waits, const struct html_source_opts *o,
		     struct html_source *out, struct buf *b, struct err *e);

#endif
