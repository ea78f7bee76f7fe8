/*
 * html_report.h - a report of an open recording, for `perfkit html` and `perfkit tail --html`.
 */
#ifndef CMD_ANSWER_HTML_REPORT_H
#define CMD_ANSWER_HTML_REPORT_H

#include "cmd/answer/html_source.h"
#include "cmd/answer/tail_out.h"

enum { HTML_EPISODES = 20, HTML_MB = 50 }; /* most episodes; its default size limit */

struct html_request {
	const char *output;   /* NULL: stdout */
	const char *title;    /* NULL: one by the file's name */
	const char *why_not;  /* why there are no waits to show; for t == NULL */
	struct tail *verdict; /* whose sentence opens the page; NULL: that of `t` */
	double max_size;      /* MB; 0: of any size */
	struct html_source_opts source;
	int merge_threads; /* merge the threads of a pool: see flame_input.h, tl_pick_options */
};

/* Write the report, with a warning if intervals are summed up for its size. ERR_IO, ERR_NOMEM;
 * ERR_REFUSED if it is still too large. */
int html_report(struct tail_run *r, struct tail *t, const struct html_request *o,
		struct err *e);

#endif
