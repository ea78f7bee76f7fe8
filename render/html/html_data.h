/*
 * html_data.h - a timeline as the columns of a report (html_column.h): threads, samples, waits,
 * running intervals, spans, losses, and their frames and stacks. The report's script sums them
 * up for any interval of time.
 *
 *	columns   one number for each ...
 *	frame.*   frame of the flame graphs: strings, kind, colours of three palettes,
 *	          1 for a runtime's or a start + 2 for the kernel's
 *	path.*    call path, from 1 on: how many before it its caller's is (the path
 *	          that is 0: none), frame
 *	row.*     stack with its thread's name: frame of the name, path since the
 *	          highest of the rows before
 *	thread.*  thread: frame of its name, pid + 1, tid + 1, first, life, flags, name;
 *	          strings: its process's cgroup and what its container is called (0: not known)
 *	sample.*  sample by CPU and time: how much more since the last one than that
 *	          took, row + 1 (0: the next one), weight, event, thread + 1, CPU + 1;
 *	          its stack of lines (html_source.h) + 1, 0: as the row's last one
 *	life.*    wait or time on a CPU, by thread and time: is it a wait, the thread
 *	          since the last one's, ns since its end
 *	wait.*    the waits of these, where shown: blocked or unknown time, the rest,
 *	          enum html_wait, row as above, cause; state, waker + 1, context
 *	          (timeline_data.h), its path, CPU out + 1 and in + 1; lines as above
 *	run.*     the times on a CPU: length, CPU + 1, name, 1 if the filters leave it out
 *	span.*, loss.*  span; stretch of lost records
 *
 * Labels stand beside these: html_labels.h. Times count from the first moment shown, in ns.
 */
#ifndef RENDER_HTML_HTML_DATA_H
#define RENDER_HTML_HTML_DATA_H

#include "libtime/population/sample_sums.h"
#include "render/flame/flame_input.h"
#include "render/html/html_column.h"
#include "render/html/html_labels.h"
#include "render/html/html_source.h"

/* Bits of a wait: enum offcpu_flag (as recorded), enum unknown_reason from HTML_REASON on,
 * and: */
enum html_wait {
	HTML_UNCLEAR = 1 << 8, /* for work, or for an answer */
	HTML_HIDDEN = 1 << 9,  /* its blocked part is hidden: idle, or --no-unclear */
	HTML_CUT_LEFT = 1 << 10,
	HTML_CUT_RIGHT = 1 << 11, /* by --time */
	HTML_OUT = 1 << 12,       /* filtered out, so only in pictures */
	HTML_REASON = 13,         /* the first bit */
};

struct html_data {
	const struct timeline *tl;
	struct population of;
	struct sample_selection samples;
	const struct html_source *lines;
	const uint8_t *drawn; /* by thread: it has a row in pictures; NULL: none has */
	uint64_t from_ns, to_ns;
	struct flame flame; /* only its frames */
	struct flame_input fi;
	struct u64map path_no, row_no;
	struct html_columns columns;
	struct html_labels labels;
	uint32_t marks[10]; /* frames: [open] ... [runnable] */
	uint32_t cause_frames[CAUSE_COUNT];
	/* indices of timeline.states in order of appearance, so independent of reading; 0 is ""
	 */
	uint8_t states[TL_MAX_STATES], state_no[TL_MAX_STATES], nstates;
};

/* Gather everything of a timeline that the filters leave: threads and waits by `of`; and what
 * pictures need beside: all of the threads `drawn`, and of the others when they had a CPU
 * (NULL: nothing); `lines`: of stacks. A label of `of` is chosen in the page, which has the rest,
 * too.
 * `merge_threads`: flame_input.h. What is given is borrowed. `d` is to be
 * released, after a failure too. ERR_NOMEM. */
int html_data_gather(struct html_data *d, const struct timeline *tl,
		     const struct population *of, const struct sample_selection *samples,
		     const uint8_t *drawn, const struct html_source *lines, int merge_threads,
		     struct err *e);

/* Add the columns of frames, after those of all graphs. ERR_NOMEM. */
int html_data_frames(struct html_data *d, struct err *e);

/* Put what the script needs to read them into an open JSON object. */
void html_data_head(const struct html_data *d, struct json *j);

/* Append the names, one per line, in visible form. */
void html_data_strings(const struct html_data *d, struct buf *b);
void html_data_release(struct html_data *d);

#endif
