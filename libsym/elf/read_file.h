/*
 * read_file.h - how libsym opens files whose names come from a recording: regular files only,
 * never a fifo, device or directory, for opening those may already act on them.
 */
#ifndef LIBSYM_ELF_READ_FILE_H
#define LIBSYM_ELF_READ_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum open_flag {
	OPEN_PROCFS = 1, /* procfs and its like are allowed: for names of our own */
};

/*
 * What errno says of a file that could not be opened or mapped: ERR_NOTFOUND where none is
 * there; ERR_NOMEM, noted as a shortage (base/shortage.h), where memory or descriptors are
 * short; else ERR_IO, such as a file that may not be read. The one place that decides.
 */
int file_failed(const char *path, struct err *e);

/*
 * Map a regular file read-only; *data NULL when it is empty. Given back with unmap_file. A file
 * that shrinks meanwhile raises SIGBUS, which is the program's to handle. Errors as above.
 */
int map_file(const char *path, const uint8_t **data, size_t *size, struct err *e);
void unmap_file(const uint8_t *data, size_t size);

/*
 * Read a file up to its end into *data (heap, mem_free; a NUL follows the *size bytes), procfs
 * included, where sizes are not known beforehand. ERR_LIMIT beyond `max` bytes, ERR_NOMEM.
 */
int read_file(const char *path, size_t max, char **data, size_t *size, struct err *e);

#endif
