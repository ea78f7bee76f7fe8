/*
 * fuzz_unzip - compressed data of every kind that bundles and perf archives come in. Input: the
 * compressed bytes.
 */
#include "tests/fuzz/fuzz.h"

#include "libparse/archive/unzip.h"

enum { PIECE = 700 };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct source src;
	struct unzip *u;
	struct err e = {0};
	uint8_t piece[PIECE];
	uint64_t got = 0;
	unzip_detect(p, n);
	if (source_open_mem(&src, p, n, "fuzz", &e))
		return 0;
	int rc = unzip_open(&u, &src, &e);
	while (!rc && (rc = unzip_read(u, piece, sizeof(piece), &e)) == 1) {
		fuzz_touch(piece, sizeof(piece));
		got += sizeof(piece);
		rc = got > 64 * PIECE ? unzip_drain(u, &e) : 0;
		if (got > 64 * PIECE)
			break;
	}
	if (rc < 0)
		fuzz_failed(rc, &e);
	unzip_close(u);
	source_close(&src);
	return 0;
}
