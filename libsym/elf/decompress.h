/*
 * decompress.h - inflates whole buffers of zlib, gzip, zstd and xz, for ELF sections and
 * modules.
 *
 * The input is untrusted: memory grows with the actual output, never with a size in a header,
 * and stops at a ceiling of `max` bytes and of 1100 times the input (deflate cannot exceed
 * 1032; debug sections stay below 50).
 */
#ifndef LIBSYM_ELF_DECOMPRESS_H
#define LIBSYM_ELF_DECOMPRESS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum decompress_kind {
	DECOMPRESS_ZLIB, /* a zlib or gzip stream, distinguished by its header */
	DECOMPRESS_ZSTD, /* zstd frames */
	DECOMPRESS_XZ,   /* an .xz stream; ERR_UNSUPPORTED when built without liblzma */
};

/*
 * Inflate n bytes at src. *out is heap memory that the caller frees (mem_free), *out_size its
 * length. `name` is for messages. ERR_FORMAT for damaged data, ERR_TRUNCATED when the stream
 * does not end within n bytes, ERR_LIMIT past the ceiling, ERR_NOMEM, ERR_UNSUPPORTED.
 */
int decompress(enum decompress_kind kind, const void *src, size_t n, size_t max,
	       const char *name, uint8_t **out, size_t *out_size, struct err *e);

#endif
