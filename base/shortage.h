/*
 * shortage.h - what this process ran out of.
 *
 * An answer computed while memory or descriptors were short may lack names or lines, however
 * carefully each caller checks. So the allocator (mem.h) and the functions that open files
 * record every shortage here. After one, no output file is committed (outfile.h) and no command
 * exits with status 0. This is the libraries' only mutable global: a shortage belongs to the
 * process, not to any object in it. Any thread may call.
 */
#ifndef BASE_SHORTAGE_H
#define BASE_SHORTAGE_H

#include "base/err.h"

#include <stddef.h>

/* Note a shortage in one line of text, such as "libc.so.6: Too many open files". The first is
 * kept. errno is left alone. */
void shortage_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* 0 when nothing was short; else ERR_NOMEM with what was noted in `e` (may be NULL). */
int shortage(struct err *e);

/* Note that `bytes` could not be allocated, and whether a limit on this process's memory
 * (RLIMIT_DATA) was the reason. */
void shortage_note_memory(size_t bytes);

/* 1 if the noted shortage is such a limit. */
int shortage_is_limit(void);

/* Forget what was noted: for tests that fail allocations on purpose. */
void shortage_forget(void);

#endif
