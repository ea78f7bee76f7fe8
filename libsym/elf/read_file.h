/*
 * read_file.h - opens files whose names come from a recording: only regular files, never a
 * fifo, device or directory, because opening those may already act on them.
 */
#ifndef LIBSYM_ELF_READ_FILE_H
#define LIBSYM_ELF_READ_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The error of a file that could not be opened or mapped, by errno: ERR_NOTFOUND if it does not
 * exist; ERR_UNSUPPORTED if it is no regular file (base/regular.h); ERR_NOMEM, noted as a
 * shortage (base/shortage.h), if memory or descriptors are short;
 * else ERR_IO, such as a file that may not be read.
 */
int file_failed(const char *path, struct err *e);

/* Open a regular file for reading, with flags of base/regular.h; the caller closes *fd. Errors as
 * above. */
int file_open(const char *path, unsigned flags, int *fd, struct err *e);

/*
 * Map a regular file read-only; *data NULL when it is empty. Free it with unmap_file. A file
 * that shrinks meanwhile raises SIGBUS, which the program handles. Errors as above.
 */
int map_file(const char *path, const uint8_t **data, size_t *size, struct err *e);

/* The same for an open file, which stays open; `name` is for messages. */
int map_fd(int fd, const char *name, const uint8_t **data, size_t *size, struct err *e);
void unmap_file(const uint8_t *data, size_t size);

/*
 * Read a file up to its end into *data (heap, mem_free; a NUL follows the *size bytes), also of
 * procfs, where sizes are not known beforehand. ERR_LIMIT beyond `max` bytes, ERR_NOMEM.
 */
int read_file(const char *path, size_t max, char **data, size_t *size, struct err *e);
/* The same for an open file, from its beginning; it stays open. */
int read_fd(int fd, const char *name, size_t max, char **data, size_t *size, struct err *e);

#endif
