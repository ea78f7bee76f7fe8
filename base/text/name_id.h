/*
 * name_id.h - short ids of names that may be long or cut: "site:5f0c9a3b".
 *
 * An id is made of the name alone, so it is the same in every command, file and run. It may be
 * given wherever the name may.
 */
#ifndef BASE_TEXT_NAME_ID_H
#define BASE_TEXT_NAME_ID_H

#include "base/text/buf.h"

/* Append a function's name as rows have it: "hot, slower"; without its module if it is unknown
 * or the name is of a module: "[libc.so.6]". */
void name_of_function(struct buf *b, const char *function, const char *module);

/* Append the id of a name of n bytes; kind is "function" or "site". */
void name_id(struct buf *b, const char *kind, const char *name, size_t n);

/* 1 if `given` looks like an id of that kind. */
int name_is_id(const char *kind, const char *given);

/* 1 if `given` is the id of that name. */
int name_has_id(const char *kind, const char *given, const char *name);

#endif
