/*
 * app_frame.h - which frame of a stack tells a person where in the program it is.
 *
 *	start_thread ── worker ── get_job ── pthread_cond_wait ── [kernel] futex_wait ── ...
 *	                             └ the innermost application frame
 *
 * The kernel's frames and those of the C and C++ runtimes and of event-loop libraries say how
 * a thread waits, not where.
 */
#ifndef LIBTIME_EXPLAIN_APP_FRAME_H
#define LIBTIME_EXPLAIN_APP_FRAME_H

#include "libsym/stacks.h"

/* Answers remembered for one `struct stacks`, which is borrowed. */
struct appframes {
	const struct stacks *s;
	VEC(uint8_t) runtime;   /* by dso strings id: 1 no, 2 yes */
	struct u64map app_node; /* call path → its node */
};

/* Nothing is remembered yet; released by its owner. */
void appframes_init(struct appframes *a, const struct stacks *s);
void appframes_release(struct appframes *a);

/*
 * The call path that ends in the innermost application frame of `path`, or in the thread's
 * start (start_thread, clone) when no frame of the application is there; 0 when there is
 * neither. 0 or ERR_NOMEM.
 */
int appframe_node(struct appframes *a, uint32_t path, uint32_t *node);

/* 1 when the frame is one of those that a thread begins with (start_thread, clone, _start), as
 * far as it can be told without its place in a stack; 0 when not; ERR_NOMEM. */
int appframe_is_outer(struct appframes *a, uint32_t frame);

/* The frame that says most: that of the node, or of its callers where it is a helper named
 * after the waiting (sleep_ms, Mutex::lock). 0 for none. ERR_NOMEM. */
int appframe_telling(struct appframes *a, uint32_t path, uint32_t *frame);

/* The same for one column of a table, with a name wherever there is one: where the
 * application's frame is missing or has none, the innermost user frame that has, else the
 * innermost kernel frame above the scheduler's own. 0 only for no path. ERR_NOMEM. */
int appframe_of_wait(struct appframes *a, uint32_t path, uint32_t *frame);

/* 1 when the path ends in a function of the application that another one of it called, directly
 * or through the runtime; ERR_NOMEM. */
int appframe_is_called(struct appframes *a, uint32_t path);

/* The path that ends in the telling frame; 0 where there is none. ERR_NOMEM. */
int appframe_telling_path(struct appframes *a, uint32_t path, uint32_t *node);

/* The application function that called that one; 0 when the thread's start did. ERR_NOMEM. */
int appframe_caller(struct appframes *a, uint32_t path, uint32_t *frame);

#endif
