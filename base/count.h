/*
 * count.h - sums and products that do not wrap; counted nouns in messages: "1 record".
 */
#ifndef BASE_COUNT_H
#define BASE_COUNT_H

#include <stdint.h>

enum { COUNT_TEXT = 96 };

/* The sum, or UINT64_MAX when it would be more. */
static inline uint64_t count_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a * b / c, rounded towards zero; the product may need 128 bits. Of a result that needs more
 * than 64, the low ones. c is not 0. */
int64_t count_mul_div(int64_t a, int64_t b, int64_t c);

/* "1,234,567" in `text`, which is returned. */
const char *count_digits(char text[COUNT_TEXT], uint64_t n);

/* The same with a noun: `one` for 1, else `many`, or `one` with an s if `many` is NULL. Long
 * nouns are cut. */
const char *count_of(char text[COUNT_TEXT], uint64_t n, const char *one, const char *many);

/* The text lives as long as the block that the macro is used in. */
#define DIGITS(n) count_digits((char[COUNT_TEXT]){0}, (n))
#define COUNT(n, one) count_of((char[COUNT_TEXT]){0}, (n), (one), (const char *)0)
#define COUNT_MANY(n, one, many) count_of((char[COUNT_TEXT]){0}, (n), (one), (many))

#endif
