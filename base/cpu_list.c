#include "base/cpu_list.h"

#include <ctype.h>
#include <stdlib.h>

static const char *number(const char *s, int max, int *out)
{
	char *end;
	long n = isdigit((unsigned char)*s) ? strtol(s, &end, 10) : -1;
	*out = (int)n;
	return n < 0 || n > max ? NULL : end;
}

int cpu_list_next(const char **text, int max, int *from, int *to)
{
	const char *s = *text;
	if (!*s)
		return 0;
	s = number(s, max, from);
	*to = *from;
	if (s && *s == '-')
		s = number(s + 1, max, to);
	if (!s || *to < *from || (*s && (*s != ',' || !s[1])))
		return -1;
	*text = s + (*s == ',');
	return 1;
}
