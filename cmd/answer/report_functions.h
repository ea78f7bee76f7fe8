/*
 * report_functions.h - `report --by function`, and the functions that `report` begins with.
 */
#ifndef CMD_ANSWER_REPORT_FUNCTIONS_H
#define CMD_ANSWER_REPORT_FUNCTIONS_H

#include "cmd/answer/report_tables.h"

/* Rows of a table for one screen. */
enum { REPORT_PROGRAMS = 5, REPORT_THREADS = 5 };

/* The kind of table for --by function: of calls if they were recorded and nothing else is asked
 * for, else of samples or, with --offcpu, of waits. */
const struct table_kind *report_functions_kind(const struct tlinput *ti,
					       const struct report_opts *o,
					       const struct table_query *q);

/* "CPU time by function: 3.0 s in 3,012 samples of cpu-clock", and a line for what is left
 * out. */
void report_functions_title(struct buf *b, const struct timeline *tl,
			    const struct report_opts *o, const struct rows *r,
			    const char *event);
void report_functions_rest(struct buf *b, const struct rows *r);

/* Append the first `top` functions of CPU time, of a timeline or of samples that were folded; if
 * only waits were recorded, of their time. 0, or the exit status. */
int report_first_functions(struct tlinput *ti, const struct report_opts *o, uint64_t top,
			   struct buf *out);
int report_folded_functions(struct input *in, const struct report_opts *o,
			    const struct folded *v, size_t n, uint64_t top, struct buf *out);

/* Append the first programs of sorted rows, and a blank line. ERR_NOMEM. */
int report_programs(struct buf *out, const struct timeline *tl, const struct report_opts *o,
		    struct rows *r);

/* The same of a timeline, by what they did or (without `sched`) by their samples; nothing if
 * there is only one: *several 0. 0, or the exit status. */
int report_timeline_programs(struct tlinput *ti, const struct report_opts *o, int sched,
			     struct buf *out, int *several);

/* 1 unless -v or --top asks for everything. */
int report_is_brief(const struct report_opts *o);

/* The first words of a title. */
const char *report_event_of(const struct timeline *tl, const struct table_query *q);

#endif
