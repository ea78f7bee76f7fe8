/*
 * unzip.h - compressed data as a stream of plain bytes, from which tar.h reads bundles and perf
 * archives.
 *
 *	source ──► unzip (zstd, gzip, bzip2, xz) ──► tar ──► files
 *
 * Recognized by the first bytes. Consecutive frames, members or streams are one text. Output is
 * at most 1100 times the input (deflate cannot do better, and normal archives stay below 50).
 */
#ifndef LIBPARSE_ARCHIVE_UNZIP_H
#define LIBPARSE_ARCHIVE_UNZIP_H

#include "libparse/source.h"

struct unzip;

/* 1 when data with these first bytes is compressed in one of the formats above, even in one
 * that this build cannot read (bzip2 and xz are optional): unzip_open refuses those. */
int unzip_detect(const uint8_t *head, size_t n);

/* Start reading `src`, which is borrowed and advanced. ERR_FORMAT when it is not compressed,
 * ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM. */
int unzip_open(struct unzip **out, struct source *src, struct err *e);

/* `src` came out of `outer`, so the output of u counts for `outer`, too: else data packed twice
 * could grow by the square of the bound. `outer` must outlive u. */
void unzip_within(struct unzip *u, struct unzip *outer);

/*
 * Read exactly n bytes: 1; 0 at the end of the data, before the first of them. ERR_TRUNCATED
 * when it ends earlier or is cut off, ERR_FORMAT when damaged, ERR_LIMIT beyond the ratio,
 * ERR_IO. `u` is a struct unzip; for tar_reader.read.
 */
int unzip_read(void *u, void *to, size_t n, struct err *e);

/* Read up to n bytes: 1 and how many, 0 at the end of the data; errors as unzip_read. */
int unzip_some(struct unzip *u, void *to, size_t n, size_t *got, struct err *e);

/* Read and drop the rest: a tar's padding, and the checksum. 0, or as unzip_read. */
int unzip_drain(struct unzip *u, struct err *e);

/* NULL is accepted. */
void unzip_close(struct unzip *u);

#endif
