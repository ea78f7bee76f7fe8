/*
 * parquet_bits.h - the encodings of numbers that parquet.h uses:
 * github.com/apache/parquet-format, Encodings.md. Failures stay in the buffer.
 */
#ifndef RENDER_PARQUET_PARQUET_BITS_H
#define RENDER_PARQUET_PARQUET_BITS_H

#include "base/text/buf.h"

#include <stddef.h>
#include <stdint.h>

/* The number of bits needed to write v; 0 for 0. */
static inline unsigned bits_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* n numbers of `width` bits, lowest bits first, up to a whole byte. */
void bits_pack(struct buf *b, const int64_t *v, size_t n, unsigned width);

/* RLE: runs of equal numbers, and between them groups of eight, packed. */
void bits_runs(struct buf *b, const int64_t *v, size_t n, unsigned width);

/* DELTA_BINARY_PACKED, in blocks of 128; narrow: of an INT32 column. */
void bits_delta(struct buf *b, const int64_t *v, size_t n, int narrow);

#endif
