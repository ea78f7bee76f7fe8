#include "base/count.h"

#include <stdio.h>
#include <string.h>

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
