#include "base/text/name_id.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 8 };

void name_of_function(struct buf *b, const char *function, const char *module)
{
	buf_str(b, function);
	if (*module && *function != '[')
		buf_fmt(b, ", %s", module);
}

/* Without a seed: ids outlive the process. Two names of one id are both meant by it. */
static unsigned number_of(const char *name, size_t n)
{
	return (unsigned)(hash_bytes(n ? name : "", n, 0) >> 32);
}

void name_id(struct buf *b, const char *kind, const char *name, size_t n)
{
	buf_fmt(b, "%s:%08x", kind, number_of(name, n));
}

int name_is_id(const char *kind, const char *given)
{
	size_t n = strlen(kind);
	return !strncmp(given, kind, n) && given[n] == ':' &&
	       strspn(given + n + 1, "0123456789abcdef") == DIGITS &&
	       strlen(given + n + 1) == DIGITS;
}

int name_has_id(const char *kind, const char *given, const char *name)
{
	char digits[DIGITS + 1];
	if (!name_is_id(kind, given))
		return 0;
	snprintf(digits, sizeof(digits), "%08x", number_of(name, strlen(name)));
	return !strcmp(given + strlen(kind) + 1, digits);
}
