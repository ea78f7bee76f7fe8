#include "base/radix.h"

#include <string.h>

enum {
	BITS = 8,
	DIGITS = 1 << BITS,
};

/* Elements have `size` bytes and begin with their key; inlined for each size. */
#define INLINED static inline __attribute__((always_inline))

INLINED uint64_t key_at(const char *v, size_t i, size_t size)
{
	uint64_t key;
	memcpy(&key, v + i * size, sizeof(key));
	return key;
}

INLINED void pass(const char *from, char *to, size_t n, size_t size, int shift)
{
	size_t at[DIGITS + 1] = {0};
	for (size_t i = 0; i < n; i++)
		at[(key_at(from, i, size) >> shift & (DIGITS - 1)) + 1]++;
	for (int k = 0; k < DIGITS; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < n; i++)
		memcpy(to + at[key_at(from, i, size) >> shift & (DIGITS - 1)]++ * size,
		       from + i * size, size);
}

INLINED void *sort(void *v, void *other, size_t n, size_t size)
{
	uint64_t differ = 0;
	for (size_t i = 1; i < n; i++)
		differ |= key_at(v, i, size) ^ key_at(v, 0, size);
	for (int shift = 0; shift < 64; shift += BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		pass(v, other, n, size, shift);
		void *swap = v;
		v = other;
		other = swap;
	}
	return v;
}

struct radix_key *radix_sort(struct radix_key *v, struct radix_key *other, size_t n)
{
	return sort(v, other, n, sizeof(*v));
}

uint64_t *radix_sort_u64(uint64_t *v, uint64_t *other, size_t n)
{
	return sort(v, other, n, sizeof(*v));
}

int order_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}
