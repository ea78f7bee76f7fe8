#include "base/text/path.h"

#include <stdio.h>
#include <stdlib.h>

int path_number(const char *name, const char *head, const char *tail, int32_t *n)
{
	char own[12];
	size_t k = strlen(head);
	if (strncmp(name, head, k) != 0 || name[k] < '0' || name[k] > '9')
		return 0;
	*n = (int32_t)strtol(name + k, NULL, 10);
	int digits =
		snprintf(own, sizeof(own), "%d", *n); /* not one too large, no zeroes before */
	return !strncmp(name + k, own, (size_t)digits) && !strcmp(name + k + digits, tail);
}
