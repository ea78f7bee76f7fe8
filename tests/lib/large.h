/*
 * large.h - for tests that make files of megabytes: bytes written one behind the other, without
 * a limit, and what it took to read them.
 */
#ifndef TESTS_LIB_LARGE_H
#define TESTS_LIB_LARGE_H

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MB = 1 << 20 };

/* --- a writer without limits, little-endian ----------------------------------------------- */

struct out {
	uint8_t *v;
	size_t n, cap;
};

static inline void room(struct out *o, size_t n)
{
	if (o->cap - o->n >= n)
		return;
	o->cap = (o->n + n) * 2;
	o->v = realloc(o->v, o->cap);
	assert_non_null(o->v);
}

static inline void put(struct out *o, uint64_t x, size_t size)
{
	room(o, size);
	for (size_t i = 0; i < size; i++)
		o->v[o->n++] = i < 8 ? (uint8_t)(x >> 8 * i) : 0;
}

static inline void put_all(struct out *o, const void *p, size_t n)
{
	room(o, n);
	memcpy(o->v + o->n, p, n);
	o->n += n;
}

static inline void fill(struct out *o, int byte, size_t n)
{
	room(o, n);
	memset(o->v + o->n, byte, n);
	o->n += n;
}

/* The bytes and their number, as two arguments. */
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* --- measures ----------------------------------------------------------------------------- */

/* Processor time; what is bounded takes some tenths of it, also under a sanitizer. */
static inline double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

#ifdef __SANITIZE_THREAD__ /* a memory access takes ten times as long */
enum { SECONDS_MAX = 100 };
#else
enum { SECONDS_MAX = 5 };
#endif

static inline long peak_mb(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

static inline void in_time(double start)
{
	double took = seconds() - start;
	if (took > SECONDS_MAX)
		fail_msg("%.1f s", took);
}

#endif
