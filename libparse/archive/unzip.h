/*
 * unzip.h - compressed data as a stream of plain bytes: what tar.h reads bundles and perf
 * archives from.
 *
 *	source ──► unzip (zstd, gzip, bzip2, xz) ──► tar ──► files
 *
 * Told by the first bytes. Several frames, members or streams one behind the other are one
 * text. What comes out is bounded by 1100 times what went in (deflate cannot do better, and
 * normal archives stay below 50).
 */
#ifndef LIBPARSE_ARCHIVE_UNZIP_H
#define LIBPARSE_ARCHIVE_UNZIP_H

#include "libparse/source.h"

struct unzip;

/* 1 when these are the first bytes of data compressed in one of the ways above; also of ways
 * that this build cannot read (bzip2 and xz are optional): unzip_open says so then. */
int unzip_detect(const uint8_t *head, size_t n);

/* Begin to read `src`, which is borrowed and advanced. ERR_FORMAT when it is not compressed,
 * ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM. */
int unzip_open(struct unzip **out, struct source *src, struct err *e);

/* What `src` holds came out of `outer`, and what comes out of u counts as that, too: else data
 * packed twice could grow by the square of the bound. `outer` has to live as long as u. */
void unzip_within(struct unzip *u, struct unzip *outer);

/*
 * All n bytes into `to`: 1; 0 at the end of the data before the first of them. ERR_TRUNCATED
 * when it ends earlier or is cut off, ERR_FORMAT when damaged, ERR_LIMIT beyond the ratio,
 * ERR_IO. `u` is a struct unzip: this is a tar_reader.read.
 */
int unzip_read(void *u, void *to, size_t n, struct err *e);

/* What is there next, up to n bytes: 1 and how many, 0 at the end of the data; errors as
 * unzip_read. */
int unzip_some(struct unzip *u, void *to, size_t n, size_t *got, struct err *e);

/* Read and forget what is left, a tar's padding and the checksum over everything. 0, or as
 * unzip_read. */
int unzip_drain(struct unzip *u, struct err *e);

/* NULL is accepted. */
void unzip_close(struct unzip *u);

#endif
