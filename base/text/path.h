/*
 * path.h - parts of paths.
 */
#ifndef BASE_TEXT_PATH_H
#define BASE_TEXT_PATH_H

#include <stdint.h>
#include <string.h>

/* The part after the last slash; all of it without one. Borrowed from `path`. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* 1 and *n when the name is HEAD, a number from 0 up, as "%d" writes it, and TAIL. */
int path_number(const char *name, const char *head, const char *tail, int32_t *n);

#endif
