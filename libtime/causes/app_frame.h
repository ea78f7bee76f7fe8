/*
 * app_frame.h - which frame of a stack shows where in the program it is.
 *
 *	start_thread ── worker ── get_job ── pthread_cond_wait ── [kernel] futex_wait ── ...
 *	                             └ the innermost application frame
 *
 * The kernel's frames and those of runtimes and event libraries say how a thread waits, not
 * where. Which those are is frames.rules' to say: the timeline's roles (timeline_set_roles).
 */
#ifndef LIBTIME_CAUSES_APP_FRAME_H
#define LIBTIME_CAUSES_APP_FRAME_H

#include "libtime/sched/timeline.h"

/* The call path that ends in the innermost application frame of `path`, or in the thread's
 * start (start_thread, clone) when no frame of the application is there; 0 when there is
 * neither. */
uint32_t appframe_node(const struct timeline *tl, uint32_t path);

/* 1 when the frame is one of those that a thread begins with (start_thread, clone, _start), as
 * far as its name alone shows it. */
int appframe_is_outer(const struct timeline *tl, uint32_t frame);

/* The frame that says most: that of the node, or of its callers where it is a wrapper named
 * after the waiting (std::mutex::lock, WaitLatch). 0 for none. */
uint32_t appframe_reported(const struct timeline *tl, uint32_t path);

/* The same for one column of a table, with a name wherever there is one: where the
 * application's frame is missing or has none, the innermost user frame that has, else the
 * innermost kernel frame above the scheduler's own. 0 only for no path. */
uint32_t appframe_of_wait(const struct timeline *tl, uint32_t path);

/* 1 when the path ends in a function of the application that another one of it called, directly
 * or through the runtime. */
int appframe_is_called(const struct timeline *tl, uint32_t path);

/* The path that ends in the reported frame; 0 if there is none. */
uint32_t appframe_reported_path(const struct timeline *tl, uint32_t path);

/* The application function that called that one; 0 when the thread's start did. */
uint32_t appframe_caller(const struct timeline *tl, uint32_t path);

#endif
