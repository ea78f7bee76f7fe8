/* loadfile.h - a file's bytes, to be damaged. */
#ifndef TESTS_LIB_LOADFILE_H
#define TESTS_LIB_LOADFILE_H

#include "tests/lib/unit.h"

#include "base/text/buf.h"

static void load_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char piece[4096];
	size_t n;
	assert_non_null(f);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(out, piece, n);
	fclose(f);
	assert_int_equal(buf_failed(out), 0);
}

#endif
