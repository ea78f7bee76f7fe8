/*
 * by_thread.h - groups samples, marks, spans and the like by thread.
 */
#ifndef LIBTIME_SCHED_BY_THREAD_H
#define LIBTIME_SCHED_BY_THREAD_H

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* Indexes of the elements: thread t has id[first[t]] .. id[first[t + 1] - 1], in their order.
 * Zero-initialised is not built: first.n is 0. */
struct by_thread {
	VEC(uint32_t) id, first;
};

/*
 * Group n elements of `size` bytes, each with its thread (uint32_t) at offset `thread_at`,
 * unless that is done already. Elements of other than the `threads` threads are left out.
 * ERR_NOMEM; ERR_LIMIT for 2^32 - 1 elements or more.
 */
int by_thread_build(struct by_thread *g, size_t threads, const void *v, size_t n, size_t size,
		    size_t thread_at);

/* by_thread_build for a vector of structs with a member `thread`. */
#define BY_THREAD_BUILD(g, threads, vec)                                    \
	by_thread_build((g), (threads), (vec).v, (vec).n, sizeof(*(vec).v), \
			offsetof(__typeof__(*(vec).v), thread))

/* Release everything; it is then not built. */
void by_thread_release(struct by_thread *g);

#endif
