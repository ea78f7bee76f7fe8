/*
 * search.h - binary search.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/*
 * The first number in [from, to) for which `before` is false, or `to`; `before`, an expression
 * of the number `i`, must be true up to there and false from there on:
 *
 *	n = PARTITION_POINT(i, 0, v.n, v.v[i].time <= t);     // how many are not after t
 */
#define PARTITION_POINT(i, from, to, before)                    \
	__extension__({                                         \
		size_t lo_ = (from), hi_ = (to);                \
		while (lo_ < hi_) {                             \
			const size_t i = lo_ + (hi_ - lo_) / 2; \
			if (before)                             \
				lo_ = i + 1;                    \
			else                                    \
				hi_ = i;                        \
		}                                               \
		lo_;                                            \
	})

#endif
