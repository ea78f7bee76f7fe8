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

/* The part of a path below the folder `dir`, with its slash, judged by their texts; NULL if it is
 * not below it, or `dir` is NULL or empty. It may still lead out of the folder by "..". */
const char *path_below(const char *path, const char *dir);

/* 1 for a path with "..", which may leave the folder it is joined to. */
int path_has_parent(const char *path);

/* 1 and *n when the name is HEAD, a number from 0 up, as "%d" writes it, and TAIL. */
int path_number(const char *name, const char *head, const char *tail, int32_t *n);

#endif
