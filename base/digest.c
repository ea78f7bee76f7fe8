#include "base/digest.h"

#include <string.h>

static const uint64_t iv[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
			       UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
			       UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
			       UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

enum { ROUNDS = 12 };

/* RFC 7693, section 2.7; rounds 10 and 11 are as 0 and 1. */
static const uint8_t sigma[ROUNDS][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

static inline uint64_t turn(uint64_t x, int by)
{
	return x >> by | x << (64 - by);
}

static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = turn(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = turn(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = turn(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = turn(v[b] ^ v[c], 63);
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t x;
	memcpy(&x, p, sizeof(x));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/* Take a block; d->n has its bytes already. */
static void compress(struct digest *d, const uint8_t *block, int last)
{
	uint64_t v[16], m[16];
	for (int i = 0; i < 8; i++) {
		v[i] = d->h[i];
		v[i + 8] = iv[i];
	}
	v[12] ^= d->n;
	if (last)
		v[14] = ~v[14];
	for (int i = 0; i < 16; i++)
		m[i] = word_at(block + 8 * i);
	for (int r = 0; r < ROUNDS; r++) {
		const uint8_t *s = sigma[r];
		mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
		mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
		mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
		mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
		mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
		mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
		mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
		mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
	}
	for (int i = 0; i < 8; i++)
		d->h[i] ^= v[i] ^ v[i + 8];
}

void digest_init(struct digest *d)
{
	memset(d, 0, sizeof(*d));
	memcpy(d->h, iv, sizeof(iv));
	d->h[0] ^= UINT64_C(0x01010000) ^ DIGEST_BYTES; /* no key, fanout and depth 1 */
}

void digest_add(struct digest *d, const void *p, size_t n)
{
	const uint8_t *from = p;
	while (n) {
		if (d->used == DIGEST_BLOCK) { /* more follows, so it is not the last */
			d->n += DIGEST_BLOCK;
			compress(d, d->block, 0);
			d->used = 0;
		}
		size_t k = DIGEST_BLOCK - d->used < n ? DIGEST_BLOCK - d->used : n;
		memcpy(d->block + d->used, from, k);
		d->used += k;
		from += k;
		n -= k;
	}
}

void digest_end(struct digest *d, uint8_t sum[DIGEST_BYTES])
{
	d->n += d->used;
	memset(d->block + d->used, 0, DIGEST_BLOCK - d->used);
	compress(d, d->block, 1);
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		sum[i] = (uint8_t)(d->h[i / 8] >> 8 * (i % 8));
}
