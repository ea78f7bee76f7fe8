/*
 * count.h - how many of something, in messages: "1 record", "1,234 records".
 */
#ifndef BASE_COUNT_H
#define BASE_COUNT_H

#include <stdint.h>

enum { COUNT_TEXT = 96 };

/* "1,234,567" in `text`, which is returned. */
const char *count_digits(char text[COUNT_TEXT], uint64_t n);

/* The same and what it is a number of: `one` for 1, else `many`, or `one` with an s where that
 * is NULL. Longer words are cut. */
const char *count_of(char text[COUNT_TEXT], uint64_t n, const char *one, const char *many);

/* For one call: the text lives as long as the block it is written in. */
#define DIGITS(n) count_digits((char[COUNT_TEXT]){0}, (n))
#define COUNT(n, one) count_of((char[COUNT_TEXT]){0}, (n), (one), (const char *)0)
#define COUNT_MANY(n, one, many) count_of((char[COUNT_TEXT]){0}, (n), (one), (many))

#endif
