/* hex.h - hexadecimal digits. */
#ifndef BASE_TEXT_HEX_H
#define BASE_TEXT_HEX_H

#include "base/os/endian.h"

#include <stdint.h>
#include <string.h>

/* The value of a digit in either case, or -1. (libiberty.h has a macro hex_value, which accepts
 * every character.) */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The eight digits at p, the first the highest: 1 and *x, or 0 if one is not a digit. All eight
 * at once, because symbol lists have millions of them: for a byte below 0x80, the top bit of
 * byte + 0x80 - k says whether it is at least k. */
static inline int hex_eight(const char *p, uint32_t *x)
{
	const uint64_t each = 0x0101010101010101, top = each << 7;
	uint64_t c, lower, digit, letter;
	memcpy(&c, p, sizeof(c));
	c = le64toh(c);
	lower = c | each * 0x20;
	digit = (c + each * (0x80 - '0')) & ~(c + each * (0x80 - '9' - 1)) & top;
	letter = (lower + each * (0x80 - 'a')) & ~(lower + each * (0x80 - 'f' - 1)) & top;
	if (c & top || (digit | letter) != top)
		return 0;
	c = (c & each * 0x0f) + (letter >> 7) * 9;
	c = (c << 4 | c >> 8) & 0x00ff00ff00ff00ff;
	c = (c << 8 | c >> 16) & 0x0000ffff0000ffff;
	*x = (uint32_t)(c << 16 | c >> 32);
	return 1;
}

#endif
