/* hex.h - one hexadecimal digit. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

/* The value of a digit in either case, or -1. (Not hex_value: libiberty.h has a macro of that
 * name, under which no character is bad.) */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
