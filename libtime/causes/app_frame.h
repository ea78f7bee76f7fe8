/*
 * app_frame.h - which frame of a stack shows where in the program the thread is.
 *
 *	start_thread ── worker ── get_job ── pthread_cond_wait ── [kernel] futex_wait ── ...
 *	                             └ the innermost application frame
 *
 * Frames of the kernel, of runtimes and of event libraries show how a thread waits, not where.
 * frames.rules lists them; they are the timeline's roles (timeline_set_roles).
 */
#ifndef LIBTIME_CAUSES_APP_FRAME_H
#define LIBTIME_CAUSES_APP_FRAME_H

#include "libtime/sched/timeline.h"

/* The call path that ends in the innermost application frame of `path`, or, without one, in the
 * thread's start (start_thread, clone); 0 if there is neither. */
uint32_t appframe_node(const struct timeline *tl, uint32_t path);

/* 1 if the frame's name is one that a thread begins with (start_thread, clone, _start). */
int appframe_is_outer(const struct timeline *tl, uint32_t frame);

/* The frame to report: that of the node, or its caller if it is a wrapper named after the
 * waiting (std::mutex::lock, WaitLatch), or calls what waits and is inlined into several
 * functions: which of these it is says where. 0: none. */
uint32_t appframe_reported(const struct timeline *tl, uint32_t path);

/* The same for a column of a table, with a name if possible: if there is no named application
 * frame, the innermost named user frame, else the innermost kernel frame above the scheduler's
 * own. 0 only for path 0. */
uint32_t appframe_of_wait(const struct timeline *tl, uint32_t path);

/* 1 if the path ends in a function of the application that another such function called,
 * directly or through the runtime. */
int appframe_is_called(const struct timeline *tl, uint32_t path);

/* The path that ends in the reported frame; 0 if there is none. */
uint32_t appframe_reported_path(const struct timeline *tl, uint32_t path);

/* The application function that called the node's; 0 if the thread's start did. */
uint32_t appframe_caller(const struct timeline *tl, uint32_t path);

/* The same if it has a name, another than the node's, and is not the thread's outermost one; else
 * 0. */
uint32_t appframe_named_caller(const struct timeline *tl, uint32_t path);

/* The reported frame of a wait that is a sleep; its nearest caller whose name does not say so,
 * too ("sleep_ms"), if there is one. */
uint32_t appframe_of_sleep(const struct timeline *tl, uint32_t path);

#endif
