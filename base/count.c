#include "base/count.h"

#include <stdio.h>
#include <string.h>

static uint64_t magnitude(int64_t x)
{
	return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Multiplies in halves and divides by bits: 32-bit compilers have no __int128. */
int64_t count_mul_div(int64_t a, int64_t b, int64_t c)
{
	uint64_t x = magnitude(a), y = magnitude(b), by = magnitude(c);
	uint64_t low = (uint32_t)x * (y & UINT32_MAX);
	uint64_t mid = (uint32_t)x * (y >> 32) + (low >> 32);
	uint64_t more = (x >> 32) * (y & UINT32_MAX) + (uint32_t)mid;
	uint64_t rest = (x >> 32) * (y >> 32) + (mid >> 32) + (more >> 32), quotient = 0;
	low = more << 32 | (uint32_t)low;
	rest %= by;
	for (int bit = 63; bit >= 0; bit--) {
		int over = (int)(rest >> 63);
		rest = rest << 1 | (low >> bit & 1);
		over |= rest >= by;
		rest -= over ? by : 0;
		quotient = quotient << 1 | (uint64_t)over;
	}
	return (int64_t)((a < 0) ^ (b < 0) ^ (c < 0) ? -quotient : quotient);
}

const char *count_digits(char text[COUNT_TEXT], uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = text;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

const char *count_of(char text[COUNT_TEXT], uint64_t n, const char *one, const char *many)
{
	size_t used = strlen(count_digits(text, n));
	const char *word = n == 1 || !many ? one : many;
	snprintf(text + used, COUNT_TEXT - used, " %s%s", word, n != 1 && !many ? "s" : "");
	return text;
}
