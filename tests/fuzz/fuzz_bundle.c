/*
 * fuzz_bundle - any tar, as the content of a bundle and as the tarball of perf archive.
 *
 * Input: the tar itself; it is compressed here, as no fuzzer gets past zstd's checksum. What
 * comes out must be files and folders below the folder it was unpacked into.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libparse/archive/bundle.h"
#include "libparse/archive/perf_archive.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* The folder that is unpacked into; what leaves it lies beside it. */
static char inner[128];

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Whatever came out is a file or a folder. */
static int plain(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)kind;
	(void)at;
	fuzz_must(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode),
		  "only files and folders come out");
	fuzz_must(S_ISDIR(st->st_mode) || st->st_nlink == 1, "no hard links come out");
	fuzz_must(!(st->st_mode & 06000), "nothing set-uid comes out");
	return 0;
}

static void nothing_beside(void)
{
	DIR *d = opendir(fuzz_dir());
	for (struct dirent *f; d && (f = readdir(d));)
		fuzz_must(f->d_name[0] == '.' || !strcmp(f->d_name, "in"),
			  "nothing leaves the folder");
	if (d)
		closedir(d);
}

static int as_bundle(struct source *src, struct err *e)
{
	return bundle_unpack(src, inner, BUNDLE_OVERWRITE, NULL, e);
}

static int as_archive(struct source *src, struct err *e)
{
	return perf_archive_unpack(src, inner, NULL, e);
}

static void unpack(const void *z, size_t size, int (*how)(struct source *, struct err *))
{
	struct source src;
	struct err e = {0};
	if (source_open_mem(&src, z, size, "fuzz", &e))
		return;
	int rc = how(&src, &e);
	if (rc)
		fuzz_failed(rc, &e);
	source_close(&src);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	snprintf(inner, sizeof(inner), "%s/in", fuzz_dir());
	size_t cap = ZSTD_compressBound(n);
	void *z = mem_alloc(cap);
	size_t size = z ? ZSTD_compress(z, cap, p, n, 1) : 0;
	if (z && !ZSTD_isError(size)) {
		unpack(z, size, as_bundle);
		unpack(z, size, as_bundle); /* over what is there */
		unpack(z, size, as_archive);
		nothing_beside();
		nftw(inner, plain, 8, FTW_PHYS);
		nftw(inner, drop, 8, FTW_DEPTH | FTW_PHYS);
	}
	mem_free(z);
	return 0;
}
