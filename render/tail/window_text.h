/*
 * window_text.h - windows (libtime/explain/windows.h) as text and as JSON: what `tail` says of
 * spans that no single thread worked on.
 */
#ifndef RENDER_TAIL_WINDOW_TEXT_H
#define RENDER_TAIL_WINDOW_TEXT_H

#include "base/buf.h"
#include "libtime/explain/windows.h"

struct windows_answer {
	const struct timeline *tl;
	const struct episodes *episodes;
	const struct episode_selection *selection;
	size_t rows, details; /* windows in the table, or in JSON; in full */
	size_t width;         /* columns of the terminal */
};

/* A table of the selected windows and the first ones in full. ERR_NOMEM. */
int windows_text(struct buf *b, const struct windows_answer *a, struct err *e);

/*
 * {"schema":1,"by":"window","span","population":{"count","open","p50_ns" ... "max_ns"},
 * "episodes":[{"rank","key","labels":[],"start_ns","end_ns","duration_ns","open","others",
 * "shared_run_ns","asleep","threads":[{"tid","pid","comm","run_ns","blocked_ns","runnable_ns",
 * "preempted_ns","unknown_ns"}]}]}; start_ns, end_ns count from the recording's first record.
 * ERR_NOMEM.
 */
int windows_json(struct buf *b, const struct windows_answer *a, struct err *e);

#endif
