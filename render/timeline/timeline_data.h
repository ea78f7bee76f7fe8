/*
 * timeline_data.h - the intervals of a picture's panels as compact text inside the picture.
 *
 * The script draws zoomed views from it. As in flame_data.h, elements hold text only, numbers
 * are packed (svg_text.h). Times count from the panel's start; (s) marks signed numbers.
 *
 *	<t-strings> one string a line, visible form; line 0 is empty
 *	<t-threads> per thread: comm (string), pid + 1, tid + 1, flags, colour number
 *	<t-frames>  per frame: name, dso (strings), kind, + 8 for a runtime's or a start
 *	<t-paths>   per call path, from 1 on: caller's path (0 = none), frame
 *	<t-events>  per event: name (string)
 *	<t-panel>   one a panel, its lists one after the other, each with its length in front:
 *	   window   start from the picture's base, length, axis zero from the base
 *	   rows     kind (3: heading of a pool), thread (by number here) or CPU, then for
 *	     threads: begin of its first piece (s), end of its last (s), 1 if the first is an
 *	              off-CPU interval, then the intervals: running time before, blocked,
 *	              runnable or unknown time, bits (5 of cause, 8 of flags, unknown),
 *	              path, state (string), waker (thread + 1), context (+ 8 times the CPU
 *	              it waited for + 1, if not the one it came back on), its path, cpu
 *	              out + 1, in + 1
 *	     CPUs:    pieces: time between (s for the first), length, thread
 *	   samples  row, time since the row's last, path, event
 *	   spans    row, start (s), length, name, key (strings), thread that ended it
 *	   marks    row, time, name, text (strings), path
 *	   losses   start (s), length, cpu + 1 (0 = all), kind, records
 *	   irqs     cpu, start (s), length, vector (string), of CPUs that have rows
 *	   gaps     cpu, start (s), length, time lost to the gap, 1 if all that is known is that
 *	              it is there, then what had the CPU, the most first: ns, enum
 *	              gap_part_kind, thread or vector (string); of CPUs that have rows
 *	   held     who held the lock of a wait: row, number of its interval there, thread,
 *	            start since the wait's, length
 *	   high-    row, start (s), length
 *	   lights
 *	   arrows   1 if they are given here, then: from row, to row, time
 *
 * If the page has the threads' intervals itself (tl_data.page_ns), a panel begins with its
 * start on the page's axis (s), and its rows are a kind and a thread or CPU, without samples
 * and losses. Threads have the timeline's numbers; <t-threads> has those with their own colour:
 * thread, colour.
 */
#ifndef RENDER_TIMELINE_TIMELINE_DATA_H
#define RENDER_TIMELINE_TIMELINE_DATA_H

#include "base/text/buf.h"
#include "libtime/sched/timeline_query.h"
#include "render/timeline/timeline_layout.h"

#include <stdio.h>

/* What the writer of the picture has already computed. */
struct tl_data {
	const struct timeline *tl;
	const struct tl_runs *runs;
	const uint8_t *colors; /* tl_cpu_colors */
	uint64_t base_ns;      /* not after any panel's start or zero */
	const uint64_t
		*page_ns; /* the page has the intervals, relative to this time; else NULL */
};

/* The number for a wakeup's context and the CPU waited for: see above. */
uint64_t tl_waker_context(const struct offcpu *o);

/* Write the elements. Flushes to `out` as it goes. 0, ERR_NOMEM, ERR_IO. */
int tl_data_write(const struct tl_data *d, const struct tl_panel *panels, size_t n,
		  struct buf *b, FILE *out, struct err *e);

#endif
