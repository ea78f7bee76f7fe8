/*
 * radix.h - a stable sort of many 64-bit keys, without comparing.
 *
 *	struct radix_key *a = ..., *b = ...;        // n each; b is for the sort alone
 *	a[i] = (struct radix_key){key of i, i};
 *	struct radix_key *sorted = radix_sort(a, b, n);    // one of the two
 */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_key {
	uint64_t key;
	uint64_t at; /* what the key is of: the caller's */
};

/* v in ascending order of keys, equal ones as they were: in v or in `other`, which is returned.
 * Digits that are equal everywhere cost nothing. */
struct radix_key *radix_sort(struct radix_key *v, struct radix_key *other, size_t n);

#endif
