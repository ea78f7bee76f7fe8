/*
 * protobuf.h - messages in the wire format of Protocol Buffers, written front to back into a
 * buffer (https://protobuf.dev/programming-guides/encoding/).
 *
 *	size_t at = pb_open(&b, 2);          // field 2, a message
 *	pb_u64(&b, 1, 42);
 *	pb_text(&b, 3, name);
 *	pb_close(&b, at);
 *
 * The buffer's failure state is the only error. A library would bring generated code, or trees
 * of messages in memory, for what is six functions.
 */
#ifndef RENDER_EXPORT_PROTOBUF_H
#define RENDER_EXPORT_PROTOBUF_H

#include "base/text/buf.h"

/* A number; also a bool, an enum and a non-negative int64. Zeros are written, too. */
void pb_u64(struct buf *b, uint32_t field, uint64_t x);

/* An int64 or int32, a negative one in ten bytes. */
void pb_i64(struct buf *b, uint32_t field, int64_t x);

/* A fixed64. */
void pb_fixed64(struct buf *b, uint32_t field, uint64_t x);

/* One number, or several, of a packed field, between pb_open and pb_close. */
void pb_packed(struct buf *b, uint64_t x);
void pb_packed_u32(struct buf *b, const uint32_t *x, size_t n);

/* An untrusted string: it is made visible (render/text/escape.h), so that it is UTF-8,
 * and cut as names in all answers are (base/text/longname.h). */
void pb_text(struct buf *b, uint32_t field, const char *s);

/* Begin a message (or a packed field); what pb_close is to be given. */
size_t pb_open(struct buf *b, uint32_t field);
void pb_close(struct buf *b, size_t at);

#endif
