/*
 * readfile.h - a whole small file into memory: text that other programs write for us
 * (kallsyms, perf-PID.map, kernel notes).
 */
#ifndef LIBSYM_READFILE_H
#define LIBSYM_READFILE_H

#include "base/err.h"

#include <stddef.h>

/*
 * Read `path` up to its end into *data (heap, mem_free; a NUL follows the *size bytes). Only
 * regular files, procfs ones included, whose size is not known beforehand. ERR_LIMIT when it
 * has more than `max` bytes, ERR_NOTFOUND, ERR_UNSUPPORTED for other kinds, ERR_IO, ERR_NOMEM.
 */
int read_file(const char *path, size_t max, char **data, size_t *size, struct err *e);

#endif
