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

const char *path_below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;
	if (!n)
		return NULL;
	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && path[n] == '/' ? path + n : NULL;
}

int path_has_parent(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return 1;
	return 0;
}
