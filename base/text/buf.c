#include "base/text/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static int fail(struct buf *b, int why)
{
	b->n = 0;
	return b->failed = why;
}

/* Make room for n more bytes and a NUL, or set the sticky failure. */
static int reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return b->failed;
	if (n >= SIZE_MAX / 2 - b->n)
		return fail(b, ERR_NOMEM);
	if (b->max && b->n + n > b->max)
		return fail(b, ERR_LIMIT);
	if (b->cap - b->n > n)
		return 0;
	size_t want = b->cap ? b->cap * 2 : 256;
	if (want < b->n + n + 1)
		want = b->n + n + 1;
	char *p = mem_resize(b->v, want, 1);
	if (!p)
		return fail(b, ERR_NOMEM);
	b->v = p;
	b->cap = want;
	return 0;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!n || reserve(b, n))
		return;
	memcpy(b->v + b->n, p, n);
	b->n += n;
}

void *buf_room(struct buf *b, size_t n)
{
	return reserve(b, n) ? NULL : b->v + b->n;
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	if (!reserve(b, 1))
		b->v[b->n++] = c;
}

void buf_u64(struct buf *b, uint64_t x)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + x % 10);
		x /= 10;
	} while (x);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	size_t room = b->v ? b->cap - b->n : 0;
	int n = vsnprintf(room ? b->v + b->n : NULL, room, fmt, ap);
	if (n >= 0 && !reserve(b, (size_t)n)) {
		if ((size_t)n >= room)
			vsnprintf(b->v + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

const char *buf_cstr(struct buf *b)
{
	if (reserve(b, 0))
		return "";
	b->v[b->n] = '\0';
	return b->v;
}

int buf_failed(const struct buf *b)
{
	return b->failed;
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = 0;
}

void buf_release(struct buf *b)
{
	mem_free(b->v);
	*b = (struct buf){.max = b->max};
}
