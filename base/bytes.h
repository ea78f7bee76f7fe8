/*
 * bytes.h - the one way to read values from untrusted bytes.
 *
 * A cursor over a byte range with a byte order and a sticky error: reading past the end gives
 * zeroes and sets `bad`; callers check bytes_ok before using a value as a length, count or
 * index. Unaligned data is fine on every host.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The number in the host's order. A branch that is not taken, since the empty asm keeps
 * compilers from computing both and choosing one: WebAssembly has no instruction that swaps
 * bytes.
 */
#define BYTES_SWAPPED(bits)                                                      \
	static inline uint##bits##_t swapped_u##bits(uint##bits##_t x, int swap) \
	{                                                                        \
		if (__builtin_expect(swap, 0)) {                                 \
			__asm__ volatile("");                                    \
			x = __builtin_bswap##bits(x);                            \
		}                                                                \
		return x;                                                        \
	}
BYTES_SWAPPED(16)
BYTES_SWAPPED(32)
BYTES_SWAPPED(64)
#undef BYTES_SWAPPED

struct bytes {
	const uint8_t *p, *end;
	uint8_t swap; /* the data has the other byte order than this host */
	uint8_t bad;  /* a read went past the end */
};

/* A cursor over n bytes at p, borrowed. */
static inline struct bytes bytes_init(const void *p, size_t n, int swap)
{
	/* p may be NULL when n is 0, and then nothing may be added to it */
	return (struct bytes){.p = p, .end = n ? (const uint8_t *)p + n : p, .swap = swap != 0};
}

/* 0 once any read went past the end. */
static inline int bytes_ok(const struct bytes *b)
{
	return !b->bad;
}

/* Bytes not yet read. */
static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->p);
}

/* A view of the next n bytes, or NULL and `bad`. */
static inline const void *bytes_take(struct bytes *b, size_t n)
{
	if (n > bytes_left(b)) {
		b->bad = 1;
		b->p = b->end;
		return NULL;
	}
	const void *p = b->p;
	b->p += n;
	return p;
}

/* Skip n bytes, or skip to the end and set `bad`. */
static inline void bytes_skip(struct bytes *b, size_t n)
{
	(void)bytes_take(b, n);
}

/* The next number, of the data's byte order, at any alignment; 0 and `bad` past the end. */
static inline uint8_t bytes_u8(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 1);
	return p ? *p : 0;
}

static inline uint16_t bytes_u16(struct bytes *b)
{
	uint16_t x = 0;
	const void *p = bytes_take(b, sizeof(x));
	if (p)
		memcpy(&x, p, sizeof(x));
	return swapped_u16(x, b->swap);
}

static inline uint32_t bytes_u32(struct bytes *b)
{
	uint32_t x = 0;
	const void *p = bytes_take(b, sizeof(x));
	if (p)
		memcpy(&x, p, sizeof(x));
	return swapped_u32(x, b->swap);
}

static inline uint64_t bytes_u64(struct bytes *b)
{
	uint64_t x = 0;
	const void *p = bytes_take(b, sizeof(x));
	if (p)
		memcpy(&x, p, sizeof(x));
	return swapped_u64(x, b->swap);
}

/* A view of the text up to a NUL, which is consumed, too; NULL and `bad` without one. */
static inline const char *bytes_string(struct bytes *b)
{
	const void *nul = bytes_left(b) ? memchr(b->p, 0, bytes_left(b)) : NULL;
	if (nul)
		return (const char *)bytes_take(b, (size_t)((const uint8_t *)nul - b->p) + 1);
	b->bad = 1;
	b->p = b->end;
	return NULL;
}

/* ULEB128 and SLEB128 (DWARF 5, 7.6). Bits past 64 are dropped; more than 16 bytes are `bad`: a
 * number that is read many times must be short. */
static inline uint64_t bytes_uleb(struct bytes *b)
{
	uint64_t x = 0;
	for (unsigned shift = 0; shift < 112; shift += 7) {
		uint8_t c = bytes_u8(b);
		if (shift < 64)
			x |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return x;
	}
	b->bad = 1;
	return 0;
}

static inline int64_t bytes_sleb(struct bytes *b)
{
	uint64_t x = 0;
	for (unsigned shift = 0; shift < 112; shift += 7) {
		uint8_t c = bytes_u8(b);
		if (shift < 64)
			x |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			if (c & 0x40 && shift + 7 < 64)
				x |= ~(uint64_t)0 << (shift + 7);
			return (int64_t)x;
		}
	}
	b->bad = 1;
	return 0;
}

/* One word at p, which must have 8 (4, 2) readable (writable) bytes. */
static inline uint64_t load_u64(const void *p, int swap)
{
	uint64_t x;
	memcpy(&x, p, sizeof(x));
	return swapped_u64(x, swap);
}

static inline void store_u64(void *p, uint64_t x, int swap)
{
	x = swapped_u64(x, swap);
	memcpy(p, &x, sizeof(x));
}

static inline uint32_t load_u32(const void *p, int swap)
{
	uint32_t x;
	memcpy(&x, p, sizeof(x));
	return swapped_u32(x, swap);
}

static inline uint16_t load_u16(const void *p, int swap)
{
	uint16_t x;
	memcpy(&x, p, sizeof(x));
	return swapped_u16(x, swap);
}

#endif
