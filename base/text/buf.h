/*
 * buf.h - a growing byte buffer with a ceiling and a sticky failure.
 *
 * Writers append without checking; callers check buf_failed once at the end.
 */
#ifndef BASE_TEXT_BUF_H
#define BASE_TEXT_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: empty, no ceiling. The owner sets `max` (bytes, 0 = none) before the first
 * append. */
struct buf {
	char *v;
	size_t n, cap, max;
	int failed; /* 0, ERR_NOMEM or ERR_LIMIT; later appends are ignored */
};

/* Append n bytes. */
void buf_add(struct buf *b, const void *p, size_t n);

/* Room for n bytes behind the content: the caller writes there and adds what it wrote to b->n.
 * NULL after a failure. */
void *buf_room(struct buf *b, size_t n);

/* Append a NUL-terminated string, one byte, a decimal number. */
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_u64(struct buf *b, uint64_t x);

/* Append formatted text. */
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* The content as a NUL-terminated string (the NUL is not counted in n); "" if an append failed;
 * n is 0 then. */
const char *buf_cstr(struct buf *b);

/* 0, or the first failure of any append. */
int buf_failed(const struct buf *b);

/* Forget the content, keep the memory and clear the failure. */
void buf_clear(struct buf *b);

/* Free the memory. */
void buf_release(struct buf *b);

#endif
