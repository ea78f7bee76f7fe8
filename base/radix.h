/*
 * radix.h - a stable sort of many 64-bit keys without comparisons, and a comparison for qsort.
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
	uint64_t at; /* the caller's */
};

/* Sort v by key, stably. Returns v or `other`, whichever has the result. A byte that is the
 * same in all keys costs no pass. */
struct radix_key *radix_sort(struct radix_key *v, struct radix_key *other, size_t n);
uint64_t *radix_sort_u64(uint64_t *v, uint64_t *other, size_t n);

/* Compares two uint64_t for qsort. */
int order_u64(const void *a, const void *b);

#endif
