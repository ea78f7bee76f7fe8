#include "base/md5.h"

#include <string.h>

/* RFC 1321, 3.4: floor(2^32 * abs(sin(i + 1))). */
static const uint32_t sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
	0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
	0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
	0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
	0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
	0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
	0xeb86d391};

static const uint8_t turns[4][4] = {
	{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t turn(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static uint32_t mix(unsigned round, const uint32_t s[4])
{
	switch (round) {
	case 0:
		return (s[1] & s[2]) | (~s[1] & s[3]);
	case 1:
		return (s[1] & s[3]) | (s[2] & ~s[3]);
	case 2:
		return s[1] ^ s[2] ^ s[3];
	default:
		return s[2] ^ (s[1] | ~s[3]);
	}
}

static void add_block(uint32_t state[4], const uint8_t *p)
{
	static const uint8_t step[4] = {1, 5, 3, 7}, first[4] = {0, 1, 5, 0};
	uint32_t word[16], s[4];
	for (unsigned i = 0; i < 16; i++)
		word[i] = (uint32_t)p[i * 4] | (uint32_t)p[i * 4 + 1] << 8 |
			  (uint32_t)p[i * 4 + 2] << 16 | (uint32_t)p[i * 4 + 3] << 24;
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < 64; i++) {
		unsigned round = i / 16;
		uint32_t sum = s[0] + mix(round, s) + sines[i] +
			       word[(first[round] + step[round] * i) % 16];
		s[0] = s[3];
		s[3] = s[2];
		s[2] = s[1];
		s[1] += turn(sum, turns[round][i % 4]);
	}
	for (unsigned i = 0; i < 4; i++)
		state[i] += s[i];
}

void md5_of(const void *data, size_t n, uint8_t sum[MD5_BYTES])
{
	uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
	const uint8_t *p = data;
	uint8_t last[128] = {0};
	size_t left = n % 64, end = left < 56 ? 64 : 128;
	for (size_t i = 0; i + 64 <= n; i += 64)
		add_block(state, p + i);
	if (left)
		memcpy(last, p + n - left, left);
	last[left] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[end - 8 + i] = (uint8_t)((uint64_t)n << 3 >> (8 * i));
	for (size_t i = 0; i < end; i += 64)
		add_block(state, last + i);
	for (unsigned i = 0; i < MD5_BYTES; i++)
		sum[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}
