/*
 * glob.h - lists of names that may be patterns (POSIX fnmatch: `*`, `?`, `[...]`).
 */
#ifndef BASE_TEXT_GLOB_H
#define BASE_TEXT_GLOB_H

#include <fnmatch.h>
#include <string.h>

/* 1 if `name` is one of the n names or matches one as a pattern: a name with brackets, such as
 * "[main]", can be given as it is. */
static inline int glob_any(const char *const *globs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(globs[i], name) || !fnmatch(globs[i], name, 0))
			return 1;
	return 0;
}

#endif
