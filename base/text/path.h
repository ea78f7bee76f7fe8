/*
 * path.h - parts of paths.
 */
#ifndef BASE_TEXT_PATH_H
#define BASE_TEXT_PATH_H

#include <string.h>

/* The part after the last slash; all of it without one. Borrowed from `path`. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

#endif
