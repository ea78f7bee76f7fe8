/*
 * gallop.h - search an array sorted by one of its fields, starting near the likely place: a
 * series of questions in order of time costs the distance between the answers, not the array's
 * size.
 *
 *	struct by_key k = BY_KEY(v, time_ns);
 *	i = gallop_after(k, 0, n, last, from);      // the first with v[i].time_ns > from
 */
#ifndef BASE_GALLOP_H
#define BASE_GALLOP_H

#include "base/search.h"

#include <stddef.h>
#include <stdint.h>

/* An array of structs, sorted by one of their uint64_t fields. */
struct by_key {
	const void *v; /* NULL: no elements */
	size_t size, key_at;
};

#define BY_KEY(array, field) \
	((struct by_key){(array), sizeof(*(array)), offsetof(__typeof__(*(array)), field)})

static inline uint64_t by_key_at_(struct by_key k, size_t i)
{
	return *(const uint64_t *)(const void *)((const char *)k.v + i * k.size + k.key_at);
}

/* The first of lo..hi whose key is above x; or hi. */
static inline size_t search_after(struct by_key k, size_t lo, size_t hi, uint64_t x)
{
	return PARTITION_POINT(i, lo, hi, by_key_at_(k, i) <= x);
}

/* The same, fastest if the answer is near `near`, which may be any number. */
static inline size_t gallop_after(struct by_key k, size_t lo, size_t hi, size_t near,
				  uint64_t x)
{
	size_t step = 1;
	near = near < lo ? lo : near;
	if (near < hi && by_key_at_(k, near) <= x) {
		lo = near + 1;
		for (; step < hi - lo && by_key_at_(k, lo + step - 1) <= x; step *= 2)
			lo += step;
		hi = step < hi - lo ? lo + step : hi;
	} else {
		hi = near < hi ? near : hi;
		for (; step < hi - lo && by_key_at_(k, hi - step) > x; step *= 2)
			hi -= step;
		lo = step < hi - lo ? hi - step : lo;
	}
	return search_after(k, lo, hi, x);
}

#endif
