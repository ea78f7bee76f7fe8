/*
 * fuzz_bundle - any tar, as the content of a bundle.
 *
 * Input: the tar itself; it is compressed here, as no fuzzer gets past zstd's checksum. What
 * comes out must lie in the folder it was unpacked into.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libparse/bundle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* The folder, inside one of its own: what leaves it lies beside it. */
static char outer[64], inner[80];

static void clear(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", inner);
	if (system(command))
		abort();
}

static void nothing_beside(void)
{
	DIR *d = opendir(outer);
	for (struct dirent *f; d && (f = readdir(d));)
		if (f->d_name[0] != '.' && strcmp(f->d_name, "in"))
			abort();
	if (d)
		closedir(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static unsigned runs;
	struct source src;
	struct err e = {0};
	if (!*outer) {
		strcpy(outer, "/tmp/fuzz_bundle.XXXXXX");
		if (!mkdtemp(outer))
			abort();
		snprintf(inner, sizeof(inner), "%s/in", outer);
	}
	size_t cap = ZSTD_compressBound(n);
	void *z = mem_alloc(cap);
	size_t size = z ? ZSTD_compress(z, cap, p, n, 1) : 0;
	if (z && !ZSTD_isError(size) && !source_open_mem(&src, z, size, "fuzz", &e)) {
		int rc = bundle_unpack(&src, inner, BUNDLE_OVERWRITE, NULL, &e);
		if (rc && !e.msg[0])
			abort();
		source_close(&src);
		nothing_beside();
		if (++runs % 64 == 0)
			clear();
	}
	mem_free(z);
	return 0;
}
