/*
 * html_data.h - what happened in a recording as the columns of a report (html_column.h):
 * threads, samples, waits, running intervals, spans, losses, and the frames and stacks they
 * name. The script of the report sums them up for any stretch of time.
 *
 *	columns              one number for each ...
 *	frame.*              frame of the flame graphs: strings, kind, colours of three palettes
 *	path.*               call path, from 1 on: how many before it its caller's is (the path
 *	                     that is 0: none), frame
 *	row.*                stack with its thread's name: frame of the name, path since the
 *	                     highest of the rows before
 *	thread.*             thread: name, pid + 1, tid + 1, first, life, flags
 *	sample.*             sample by CPU and time: how much more since the last one than
 *	                     that took, row + 1 (0: the next one), weight, event,
 *	                     thread + 1, CPU + 1
 *	life.*               wait or time on a CPU, by thread and time: is it a wait, the
 *	                     thread since the last one's, ns since its end
 *	wait.*               the waits of these, where shown: blocked or unknown time, the
 *	                     rest, enum html_wait, row as above, cause
 *	run.*                the times on a CPU: length, CPU + 1, name
 *	span.*, loss.*       span; stretch of lost records
 *
 * Times count from the first moment shown, in ns.
 */
#ifndef RENDER_HTML_HTML_DATA_H
#define RENDER_HTML_HTML_DATA_H

#include "libtime/population/sample_sums.h"
#include "render/flame/flame_input.h"
#include "render/html/html_column.h"

enum html_wait {
	HTML_OPEN = 1,     /* of the recording itself: see OFF_OPEN */
	HTML_SUSPECT = 2,  /* next to missing records */
	HTML_UNKNOWN = 4,  /* blocked or runnable is not known */
	HTML_RUNNING = 8,  /* left the CPU running: the rest is preempted */
	HTML_UNCLEAR = 16, /* for work, or for an answer */
	HTML_HIDDEN = 32,  /* its blocked part is: idle, or unclear with --no-unclear */
	HTML_CUT_LEFT = 64,
	HTML_CUT_RIGHT = 128, /* by --time */
};

struct html_data {
	const struct timeline *tl;
	struct population of;
	struct sample_selection samples;
	uint64_t from_ns, to_ns;
	struct flame flame; /* its frames alone */
	struct flame_input fi;
	struct u64map path_no, row_no;
	struct html_columns columns;
	uint32_t marks[9]; /* frames: [open] ... [running, no sample] */
	uint32_t cause_frames[CAUSE_COUNT];
};

/* Gather everything of a timeline that the filters leave: threads and waits by `of`. What is
 * given is borrowed. `d` is to be released, after a failure too. ERR_NOMEM. */
int html_data_gather(struct html_data *d, const struct timeline *tl,
		     const struct population *of, const struct sample_selection *samples,
		     struct err *e);

/* Add the columns of the frames, when all graphs have theirs. */
void html_data_frames(struct html_data *d);

/* What the script must know to read them, into an open JSON object. */
void html_data_head(const struct html_data *d, struct json *j);

/* The names, one a line, in visible form. */
void html_data_strings(const struct html_data *d, struct buf *b);
void html_data_release(struct html_data *d);

#endif
