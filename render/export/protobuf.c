#include "render/export/protobuf.h"
#include "base/os/endian.h"
#include "base/text/longname.h"
#include "render/text/escape.h"

#include <string.h>

/* Wire types. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

enum { VARINT_MAX = 10 };

static size_t varint(uint8_t out[VARINT_MAX], uint64_t x)
{
	size_t n = 0;
	for (; x >= 0x80; x >>= 7)
		out[n++] = (uint8_t)(x | 0x80);
	out[n++] = (uint8_t)x;
	return n;
}

void pb_packed(struct buf *b, uint64_t x)
{
	uint8_t *v = buf_room(b, VARINT_MAX);
	if (v)
		b->n += varint(v, x);
}

void pb_packed_u32(struct buf *b, const uint32_t *x, size_t n)
{
	uint8_t *v = buf_room(b, n * VARINT_MAX);
	for (size_t i = 0; v && i < n; i++)
		b->n += varint((uint8_t *)b->v + b->n, x[i]);
}

void pb_u64(struct buf *b, uint32_t field, uint64_t x)
{
	pb_packed(b, (uint64_t)field << 3 | VARINT);
	pb_packed(b, x);
}

void pb_i64(struct buf *b, uint32_t field, int64_t x)
{
	pb_u64(b, field, (uint64_t)x);
}

void pb_fixed64(struct buf *b, uint32_t field, uint64_t x)
{
	uint64_t le = htole64(x);
	pb_packed(b, (uint64_t)field << 3 | FIXED64);
	buf_add(b, &le, sizeof(le));
}

void pb_text(struct buf *b, uint32_t field, const char *s)
{
	char cut[LONG_NAME];
	size_t n = strlen(s);
	s = long_name(s, &n, cut);
	size_t at = pb_open(b, field);
	escape_visible(b, s, n);
	pb_close(b, at);
}

size_t pb_open(struct buf *b, uint32_t field)
{
	pb_packed(b, (uint64_t)field << 3 | LENGTH);
	buf_char(b, 0); /* the length, where it is below 128 */
	return b->n;
}

void pb_close(struct buf *b, size_t at)
{
	uint8_t length[VARINT_MAX];
	if (buf_failed(b))
		return;
	size_t n = b->n - at, bytes = varint(length, n);
	buf_add(b, length, bytes - 1); /* room for the rest of it */
	if (buf_failed(b))
		return;
	memmove(b->v + at + bytes - 1, b->v + at, n);
	memcpy(b->v + at - 1, length, bytes);
}
