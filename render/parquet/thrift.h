/*
 * thrift.h - structs of Thrift's compact protocol, as parquet.c needs them.
 *
 *	struct thrift t = {.b = &buf};
 *	thrift_i32(&t, 1, version);          // field 1
 *	thrift_begin(&t, 5);                 // field 5 is a struct
 *	thrift_i64(&t, 1, n);
 *	thrift_end(&t);
 *	thrift_end(&t);                      // the outermost
 *
 * Format: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
#ifndef RENDER_PARQUET_THRIFT_H
#define RENDER_PARQUET_THRIFT_H

#include "base/text/buf.h"

enum { THRIFT_DEPTH = 8 };

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/* Fields ascend within a struct. Zero-initialised but for `b`: in the outermost struct. */
struct thrift {
	struct buf *b;
	int last[THRIFT_DEPTH]; /* the last field of each struct that is open */
	int depth;
};

/* A field of the struct that is open. */
void thrift_bool(struct thrift *t, int field, int v);
void thrift_i32(struct thrift *t, int field, int32_t v);
void thrift_i64(struct thrift *t, int field, int64_t v);
void thrift_binary(struct thrift *t, int field, const void *p, size_t n);

/* A list of n elements, which follow: structs by thrift_element … thrift_end, others by
 * thrift_varint (numbers, zigzagged) and thrift_text. */
void thrift_list(struct thrift *t, int field, enum thrift_type of, size_t n);
void thrift_element(struct thrift *t);

/* A struct as a field, and the end of any struct. */
void thrift_begin(struct thrift *t, int field);
void thrift_end(struct thrift *t);

/* As they stand, without a field: 7 bits a byte; a length and its bytes. */
void thrift_varint(struct buf *b, uint64_t v);
void thrift_text(struct buf *b, const void *p, size_t n);

static inline uint64_t thrift_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

#endif
