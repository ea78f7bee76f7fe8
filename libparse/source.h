/*
 * source.h - where bytes come from: a file, memory, or a pipe, with the same few functions.
 *
 * Files are mapped, so that records are decoded in place, or read in pieces where the system
 * can map only a copy or has no room for them; memory is borrowed; a pipe (or any file that
 * cannot be mapped) is read forward only. First in the data flow: source → header → record →
 * sample.
 */
#ifndef LIBPARSE_SOURCE_H
#define LIBPARSE_SOURCE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { SOURCE_HEAD = 4096 };

struct source {
	char *name;          /* for messages: the path, "stdin" */
	const uint8_t *data; /* whole content of a file or memory; else NULL */
	uint64_t size;       /* of the content; of a stream: bytes read so far */
	int fd;              /* of a stream or a file read in pieces, else -1 */
	int mapped;
	int pieces;        /* a file that is read in pieces */
	uint64_t at;       /* … of which source_read returns the bytes from here on */
	struct arena kept; /* … and what source_bytes returned */
	uint64_t origin;   /* size of the outermost file that this came from; 0: this one */
	int unbounded;     /* inflate without limit (--force) */
	int64_t mtime_ns;  /* of a mapped file, its last write; else 0 */
	uint8_t head[SOURCE_HEAD]; /* of a stream: bytes read ahead to detect its kind */
	size_t head_n;
};

/*
 * Open `path` for reading: a regular file is mapped whole, anything else that reads (a fifo, a
 * character device) becomes a stream; "-" is stdin, mapped too when it is a regular file at
 * offset 0. ERR_IO (no such file, is a directory), ERR_NOMEM.
 */
int source_open(struct source *s, const char *path, struct err *e);

/* The same for a file that the caller did not name: a regular one; 1 when it is empty, and *s
 * closed. ERR_NOTFOUND, ERR_UNSUPPORTED for anything else. */
int source_open_regular(struct source *s, const char *path, struct err *e);

/* When a file was last written, ns since 1970, clamped to the range.
 */
struct stat;
int64_t source_mtime_ns(const struct stat *st);

/* Open a regular file that is read in pieces, as source_open does where mapping would copy it. */
int source_open_pieces(struct source *s, const char *path, struct err *e);

/* The n bytes at `p`, borrowed until source_close; `name` is for messages. */
int source_open_mem(struct source *s, const void *p, size_t n, const char *name, struct err *e);

/* 1 when the content can be addressed (s->data). */
static inline int source_is_mapped(const struct source *s)
{
	return s->data != NULL;
}

/* 1 when it can be read anywhere and more than once, 0 for a stream. */
static inline int source_is_file(const struct source *s)
{
	return s->data || s->pieces;
}

/* The n bytes of a file from `offset` on, until source_close; NULL when they are not inside it,
 * or are, with what was asked before, far more than the file: for what describes its content. */
const uint8_t *source_bytes(struct source *s, uint64_t offset, uint64_t n);

/* Read up to n bytes of a file from `offset` on: how many came (0 = end), or ERR_IO. */
int64_t source_read_at(const struct source *s, uint64_t offset, void *buf, size_t n,
		       struct err *e);

/* The size of the file that this was read from (the bundle, the compressed file, or the file
 * itself), which bounds its expansion. */
static inline uint64_t source_origin(const struct source *s)
{
	return s->origin ? s->origin : s->size;
}

/*
 * What is not mapped: read the next bytes, up to n. Returns how many came (0 = end) or ERR_IO.
 * Waits for at least one byte, retries interrupted reads.
 */
int64_t source_read(struct source *s, void *buf, size_t n, struct err *e);

/*
 * The first bytes of the content, without consuming them: *p is borrowed, *n at most
 * SOURCE_HEAD, and less only at the end. source_read returns them again.
 */
int source_peek(struct source *s, const uint8_t **p, size_t *n, struct err *e);

/*
 * Turn a stream into a mapping: its bytes go to an unlinked temporary file in $TMPDIR (or /tmp)
 * first. For formats that must be read from the end. ERR_IO, ERR_NOMEM.
 */
int source_spool(struct source *s, struct err *e);

/* Unmap, close. A zeroed or closed source is accepted. */
void source_close(struct source *s);

#endif
