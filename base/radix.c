#include "base/radix.h"

enum {
	BITS = 8,
	DIGITS = 1 << BITS,
};

static void pass(const struct radix_key *from, struct radix_key *to, size_t n, int shift)
{
	size_t at[DIGITS + 1] = {0};
	for (size_t i = 0; i < n; i++)
		at[(from[i].key >> shift & (DIGITS - 1)) + 1]++;
	for (int k = 0; k < DIGITS; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

struct radix_key *radix_sort(struct radix_key *v, struct radix_key *other, size_t n)
{
	uint64_t differ = 0;
	for (size_t i = 1; i < n; i++)
		differ |= v[i].key ^ v[0].key;
	for (int shift = 0; shift < 64; shift += BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		pass(v, other, n, shift);
		struct radix_key *swap = v;
		v = other;
		other = swap;
	}
	return v;
}
