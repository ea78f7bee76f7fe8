#include "render/parquet/parquet_bits.h"
#include "base/os/endian.h"
#include "render/parquet/thrift.h"

enum {
	GROUP = 8,   /* RLE packs so many at once */
	BLOCK = 128, /* of differences, */
	MINI = 32,   /* of which so many share a width */
};

void bits_pack(struct buf *b, const int64_t *v, size_t n, unsigned width)
{
	uint64_t word = 0, out;
	unsigned have = 0;
	for (size_t i = 0; width && i < n; i++) {
		uint64_t x = (uint64_t)v[i];
		word |= x << have;
		have += width;
		if (have < 64)
			continue;
		out = htole64(word);
		buf_add(b, &out, sizeof(out));
		have -= 64;
		word = have ? x >> (width - have) : 0;
	}
	out = htole64(word);
	buf_add(b, &out, (have + 7) / 8);
}

static void add_run(struct buf *b, int64_t v, size_t n, unsigned width)
{
	uint64_t bytes = htole64((uint64_t)v);
	thrift_varint(b, (uint64_t)n << 1);
	buf_add(b, &bytes, (width + 7) / 8);
}

/* The last group is filled up with zeroes. */
static void add_groups(struct buf *b, const int64_t *v, size_t n, unsigned width)
{
	int64_t rest[GROUP] = {0};
	size_t whole = n / GROUP * GROUP;
	if (!n)
		return;
	thrift_varint(b, (n + GROUP - 1) / GROUP << 1 | 1);
	bits_pack(b, v, whole, width);
	for (size_t i = whole; i < n; i++)
		rest[i - whole] = v[i];
	if (whole < n)
		bits_pack(b, rest, GROUP, width);
}

void bits_runs(struct buf *b, const int64_t *v, size_t n, unsigned width)
{
	size_t packed = 0; /* from here on, up to i, in groups */
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && v[i + run] == v[i];)
			run++;
		size_t fill = (GROUP - (i - packed) % GROUP) % GROUP;
		if (run < GROUP + fill)
			continue;
		add_groups(b, v + packed, i - packed + fill, width);
		add_run(b, v[i], run - fill, width);
		packed = i + run;
	}
	add_groups(b, v + packed, n - packed, width);
}

static void add_block(struct buf *b, int64_t *d, size_t n, int narrow)
{
	uint8_t widths[BLOCK / MINI] = {0};
	int64_t min = d[0];
	for (size_t i = 1; i < n; i++)
		min = d[i] < min ? d[i] : min;
	for (size_t i = 0; i < BLOCK; i++) {
		uint64_t above = i < n ? (uint64_t)d[i] - (uint64_t)min : 0;
		d[i] = (int64_t)(narrow ? (uint32_t)above : above);
		unsigned width = bits_of((uint64_t)d[i]);
		if (width > widths[i / MINI])
			widths[i / MINI] = (uint8_t)width;
	}
	thrift_varint(b, thrift_zigzag(min));
	buf_add(b, widths, sizeof(widths));
	for (size_t i = 0; i < n; i += MINI)
		bits_pack(b, d + i, MINI, widths[i / MINI]);
}

void bits_delta(struct buf *b, const int64_t *v, size_t n, int narrow)
{
	int64_t d[BLOCK];
	thrift_varint(b, BLOCK);
	thrift_varint(b, BLOCK / MINI);
	thrift_varint(b, n);
	thrift_varint(b, thrift_zigzag(n ? v[0] : 0));
	for (size_t i = 1; i < n; i += BLOCK) {
		size_t k = n - i < BLOCK ? n - i : BLOCK;
		for (size_t j = 0; j < k; j++) { /* as added up again: modulo 2^64, or 2^32 */
			uint64_t step = (uint64_t)v[i + j] - (uint64_t)v[i + j - 1];
			d[j] = narrow ? (int32_t)(uint32_t)step : (int64_t)step;
		}
		add_block(b, d, k, narrow);
	}
}
