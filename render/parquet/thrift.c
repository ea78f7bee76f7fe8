#include "render/parquet/thrift.h"

#include <assert.h>

void thrift_varint(struct buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;
	for (; v > 0x7f; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	buf_add(b, bytes, n);
}

void thrift_text(struct buf *b, const void *p, size_t n)
{
	thrift_varint(b, n);
	buf_add(b, p, n);
}

/* A field's number is stored as its distance from the one before, which is small here. */
static void field_of(struct thrift *t, int field, enum thrift_type type)
{
	int step = field - t->last[t->depth];
	assert(step > 0 && step < 16);
	t->last[t->depth] = field;
	buf_char(t->b, (char)(step << 4 | (int)type));
}

void thrift_bool(struct thrift *t, int field, int v)
{
	field_of(t, field, v ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i32(struct thrift *t, int field, int32_t v)
{
	field_of(t, field, THRIFT_I32);
	thrift_varint(t->b, thrift_zigzag(v));
}

void thrift_i64(struct thrift *t, int field, int64_t v)
{
	field_of(t, field, THRIFT_I64);
	thrift_varint(t->b, thrift_zigzag(v));
}

void thrift_binary(struct thrift *t, int field, const void *p, size_t n)
{
	field_of(t, field, THRIFT_BINARY);
	thrift_text(t->b, p, n);
}

void thrift_list(struct thrift *t, int field, enum thrift_type of, size_t n)
{
	field_of(t, field, THRIFT_LIST);
	buf_char(t->b, (char)((n < 15 ? n : 15) << 4 | of));
	if (n >= 15)
		thrift_varint(t->b, n);
}

void thrift_element(struct thrift *t)
{
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void thrift_begin(struct thrift *t, int field)
{
	field_of(t, field, THRIFT_STRUCT);
	thrift_element(t);
}

void thrift_end(struct thrift *t)
{
	buf_char(t->b, 0);
	if (t->depth)
		t->depth--;
}
