/*
 * parallel.h - parts of one task, each on a thread of its own.
 *
 *	struct part parts[PARALLEL_MAX];
 *	unsigned n = parallel_parts(items, 10000);
 *	...                                     // part i is to do its share of the items
 *	parallel_run(n, do_part, parts);        // do_part(parts, i) for each i < n
 *
 * A part writes only what is its own, its result included.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 16 };

/* How many parts: as many as CPUs, at most PARALLEL_MAX, at least 1, none with fewer than
 * `least` of the items. */
unsigned parallel_parts(size_t items, size_t least);

/* Call job(ctx, i) for each i < n, n <= PARALLEL_MAX, on threads as far as they can be created.
 * Returns when all have returned. */
void parallel_run(unsigned n, void (*job)(void *ctx, unsigned i), void *ctx);

#endif
