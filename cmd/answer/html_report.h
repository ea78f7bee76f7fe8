/*
 * html_report.h - a report of an open recording: what `perfkit html` and `perfkit tail --html`
 * write.
 */
#ifndef CMD_ANSWER_HTML_REPORT_H
#define CMD_ANSWER_HTML_REPORT_H

#include "cmd/answer/tail_out.h"

enum { HTML_EPISODES = 20, HTML_MB = 50 }; /* explained in it; its size, where none is asked */

struct html_request {
	const char *output;  /* NULL: stdout */
	const char *title;   /* NULL: one by the file's name */
	const char *why_not; /* why there are no waits to show; for t == NULL */
	double max_size;     /* MB; 0: of any size */
	int merge_threads;   /* those of a pool are one: see flame_input.h, tl_pick_options */
};

/* Write the report; what had to be summed up for its size is warned of. ERR_IO, ERR_NOMEM;
 * ERR_REFUSED where that does not make it small enough. */
int html_report(struct tail_run *r, struct tail *t, const struct html_request *o,
		struct err *e);

#endif
