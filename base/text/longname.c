#include "base/text/longname.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum { MARK = 64, END = 1024 };

/* The last boundary between characters at or before `n`. */
static size_t between_characters(const char *s, size_t n)
{
	enum { LONGEST_CHARACTER = 4 };
	size_t at = n;
	while (n - at < LONGEST_CHARACTER && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	return n - at < LONGEST_CHARACTER ? at : n;
}

const char *long_name(const char *s, size_t *n, char out[LONG_NAME])
{
	if (*n <= LONG_NAME)
		return s;
	size_t from = between_characters(s, LONG_NAME - MARK - END);
	size_t to = between_characters(s, *n - END);
	uint64_t hash = hash_bytes(s + from, to - from, 0);
	memcpy(out, s, from);
	int mark = snprintf(out + from, MARK, "...[%zu bytes, %016llx]...", to - from,
			    (unsigned long long)hash);
	size_t end = from + (size_t)mark, rest = *n - to;
	memcpy(out + end, s + to, rest);
	*n = end + rest;
	return out;
}
