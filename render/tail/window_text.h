/*
 * window_text.h - the answer of `tail` about windows (libtime/explain/windows.h), spans that no
 * single thread worked on, as text and JSON.
 */
#ifndef RENDER_TAIL_WINDOW_TEXT_H
#define RENDER_TAIL_WINDOW_TEXT_H

#include "libtime/explain/windows.h"
#include "render/tail/episodes_answer.h"

/* A table of the selected windows and the first ones in full. ERR_NOMEM. */
int windows_text(struct buf *b, const struct episodes_answer *a, struct err *e);

/*
 * {"schema":1,"by":"window","span","population":{"count","open","p50_ns" ... "max_ns"},
 * "episodes":[{"rank","key","labels":[],"start_ns","end_ns","duration_ns","open","others",
 * "shared_run_ns","asleep","threads":[{"tid","pid","comm","run_ns","blocked_ns","runnable_ns",
 * "preempted_ns","unknown_ns"}]}]}; start_ns, end_ns count from the recording's first record.
 * ERR_NOMEM.
 */
int windows_json(struct buf *b, const struct episodes_answer *a, struct err *e);

#endif
