#include "base/text/longname.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum { TAIL = 64 };

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
	size_t keep = between_characters(s, LONG_NAME - TAIL);
	uint64_t hash = hash_bytes(s + keep, *n - keep, 0);
	memcpy(out, s, keep);
	int tail = snprintf(out + keep, TAIL, "...[%zu bytes, %016llx]", *n - keep,
			    (unsigned long long)hash);
	*n = keep + (size_t)tail;
	return out;
}
