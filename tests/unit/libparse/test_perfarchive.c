/* Tarballs of perf archive, and the four compressions they may come in. */
#include "base/text/buf.h"
#include "base/mem.h"
#include "libparse/archive/perf_archive.h"
#include "libparse/archive/unzip.h"
#include "tests/lib/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ID "48dc540c8b76393804ca8088dbfa7d42911a9444"
#define CACHED(leaf) "c/.build-id/48/dc540c8b76393804ca8088dbfa7d42911a9444/" leaf

static char work[64], before[4096];

static int setup(void **state)
{
	(void)state;
	strcpy(work, "/tmp/test_perfarchive.XXXXXX");
	return mkdtemp(work) && getcwd(before, sizeof(before)) ? chdir(work) : -1;
}

static int teardown(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", work);
	return chdir(before) || system(command);
}

static int holds(const char *path, const char *text)
{
	char have[256] = {0};
	FILE *f = fopen(path, "r");
	if (!f)
		return 0;
	size_t n = fread(have, 1, sizeof(have) - 1, f);
	fclose(f);
	return n == strlen(text) && !memcmp(have, text, n);
}

static void add(struct buf *b, const char *name, char type, const char *content)
{
	static const char zeroes[TAR_BLOCK];
	size_t n = strlen(content), at = b->n, pad = (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK;
	unsigned sum = 0;
	assert_int_equal(tar_header(b, "x", n, 0, NULL), 0);
	strncpy(b->v + at, name, 100);
	b->v[at + 156] = type;
	memset(b->v + at + 148, ' ', 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (uint8_t)b->v[at + (size_t)i];
	snprintf(b->v + at + 148, 8, "%06o", sum);
	buf_add(b, content, n);
	buf_add(b, zeroes, pad);
}

/* End the archive, compress it, unpack it into c/. */
static int unpack(struct buf *b, struct err *e)
{
	struct source src;
	*e = (struct err){0};
	buf_add(b, (char[2 * TAR_BLOCK]){0}, 2 * TAR_BLOCK);
	size_t cap = ZSTD_compressBound(b->n);
	void *p = mem_alloc(cap);
	size_t n = ZSTD_compress(p, cap, b->v, b->n, 1);
	assert_int_equal(source_open_mem(&src, p, n, "test", e), 0);
	int rc = perf_archive_unpack(&src, "c", NULL, e);
	source_close(&src);
	mem_free(p);
	buf_release(b);
	*b = (struct buf){0};
	return rc;
}

static void files_get_the_place_their_id_says(void **state)
{
	struct buf b = {0};
	struct err e;
	(void)state;
	add(&b, ".build-id/48/dc540c8b76393804ca8088dbfa7d42911a9444", '2', "");
	add(&b, "[kernel.kallsyms]/" ID "/", '5', "");
	add(&b, "[kernel.kallsyms]/" ID "/kallsyms", '0', "symbols");
	add(&b, "[kernel.kallsyms]/" ID "/probes", '0', "");
	add(&b, "usr/bin/a b/00112233445566778899aabbccddeeff/elf", '0', "binary");
	add(&b, "usr/bin/a b/00112233445566778899aabbccddeeff/debug", '0', "dwarf");
	add(&b, "[vdso]/0011223344556677/vdso", '0', "vdso");
	add(&b, "usr/bin/old/1122334455667788990011223344556677889900", '0', "old");
	add(&b, "[kernel.kallsyms]/2122334455667788990011223344556677889900", '0', "olds");
	add(&b, "README", '0', "not ours");
	assert_int_equal(unpack(&b, &e), 0);
	assert_true(holds(CACHED("kallsyms"), "symbols"));
	assert_true(access(CACHED("probes"), F_OK));
	assert_true(holds("c/.build-id/00/112233445566778899aabbccddeeff/elf", "binary"));
	assert_true(holds("c/.build-id/00/112233445566778899aabbccddeeff/debug", "dwarf"));
	assert_true(holds("c/.build-id/00/11223344556677/vdso", "vdso"));
	assert_true(holds("c/.build-id/11/22334455667788990011223344556677889900/elf", "old"));
	assert_true(holds("c/.build-id/21/22334455667788990011223344556677889900/kallsyms",
			  "olds"));
	assert_true(access("c/README", F_OK));
}

static void the_same_file_twice_is_no_fault(void **state)
{
	struct buf b = {0};
	struct err e;
	(void)state;
	add(&b, "bin/x/" ID "/elf", '0', "one");
	add(&b, "bin/x/" ID "/elf", '1', ""); /* how tar stores it again */
	add(&b, "bin/y/" ID "/elf", '0', "two");
	assert_int_equal(unpack(&b, &e), 0);
	assert_true(holds(CACHED("elf"), "two"));
}

static void nothing_leaves_the_folder(void **state)
{
	static const char *const names[] = {"../" ID "/elf", "/tmp/" ID "/elf",
					    "a/../../" ID "/elf", "./../" ID "/elf"};
	struct buf b = {0};
	struct err e;
	struct stat st;
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		add(&b, names[i], '0', "evil");
		assert_int_equal(unpack(&b, &e), ERR_REFUSED);
	}
	for (const char *type = "346SD"; *type; type++) {
		add(&b, "bin/x/" ID "/elf", *type, "");
		assert_int_equal(unpack(&b, &e), ERR_REFUSED);
	}
	/* a link that would lead out is not made, and what follows is no file "below" it */
	assert_int_equal(mkdir("out", 0777), 0);
	add(&b, ".build-id/48/dc540c8b76393804ca8088dbfa7d42911a9444", '2', "");
	add(&b, "bin/x/" ID "/elf", '0', "good");
	assert_int_equal(unpack(&b, &e), 0);
	assert_int_equal(lstat("c/.build-id/48/dc540c8b76393804ca8088dbfa7d42911a9444", &st),
			 0);
	assert_true(S_ISDIR(st.st_mode));
}

static void other_tars_are_none(void **state)
{
	static const char *const names[] = {"perf.data", "bin/x/elf", "x/48dc54zz/elf",
					    "x/48dc5/elf", "x/48DC540c8b/elf"};
	struct buf b = {0};
	struct err e;
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		add(&b, names[i], '0', "x");
		assert_int_equal(unpack(&b, &e), ERR_FORMAT);
		assert_non_null(strstr(e.msg, "not a perf archive"));
	}
}

/* --- compressions ------------------------------------------------------------------------- */

static void each_compression_reads_and_tears(void **state)
{
	static const struct {
		const char *tool;
		int there;
	} zips[] = {
		{"zstd -qc", 1}, {"gzip -c", 1}, {"bzip2 -c", HAVE_BZ2}, {"xz -c", HAVE_LZMA}};
	char text[3000], back[3000], command[128];
	static char zipped[8192];
	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i >> 3);
	FILE *f = fopen("text", "w");
	fwrite(text, 1, sizeof(text), f);
	fclose(f);
	for (size_t z = 0; z < sizeof(zips) / sizeof(*zips); z++) {
		/* two streams, one behind the other */
		snprintf(command, sizeof(command),
			 "{ head -c 1000 text | %s; tail -c 2000 text | %s; } >zipped 2>err",
			 zips[z].tool, zips[z].tool);
		if (system(command) || !(f = fopen("zipped", "r")))
			continue;
		size_t n = fread(zipped, 1, sizeof(zipped), f);
		fclose(f);
		for (size_t cut = 0; cut <= n; cut += cut + 200 < n ? 13 : 1) {
			struct source src;
			struct unzip *u = NULL;
			struct err e = {0};
			char *own = mem_alloc(cut ? cut : 1);
			memcpy(own, zipped, cut);
			assert_int_equal(source_open_mem(&src, own, cut, "test", &e), 0);
			int rc = unzip_open(&u, &src, &e);
			if (!rc)
				rc = unzip_read(u, back, sizeof(text), &e);
			if (rc == 1 && cut < n) /* only the checksum is torn */
				rc = unzip_drain(u, &e);
			if (cut < n) {
				assert_true(rc < 0 && e.msg[0]);
			} else if (!zips[z].there) {
				assert_int_equal(rc, ERR_UNSUPPORTED);
			} else {
				assert_int_equal(rc, 1);
				assert_memory_equal(text, back, sizeof(text));
				assert_int_equal(unzip_drain(u, &e), 0);
			}
			unzip_close(u);
			source_close(&src);
			mem_free(own);
		}
		for (size_t k = 0; k < n; k++) {
			struct source src;
			struct unzip *u = NULL;
			struct err e = {0};
			zipped[k] ^= 0x41;
			assert_int_equal(source_open_mem(&src, zipped, n, "test", &e), 0);
			int rc = unzip_open(&u, &src, &e);
			if (!rc)
				rc = unzip_read(u, back, sizeof(text), &e);
			if (rc == 1)
				rc = unzip_drain(u, &e);
			if (rc) /* else a byte that means nothing, as gzip's time */
				assert_true(rc < 0 && e.msg[0]);
			else
				assert_memory_equal(text, back, sizeof(text));
			unzip_close(u);
			source_close(&src);
			zipped[k] ^= 0x41;
		}
	}
}

static void no_memory_is_an_error(void **state)
{
	struct buf b = {0};
	struct err e;
	int rc = ERR_NOMEM;
	(void)state;
	for (long k = 8; rc && k < 200; k++) {
		add(&b, "bin/x/" ID "/elf", '0', "one");
		struct source src;
		size_t cap = ZSTD_compressBound(b.n + 2 * TAR_BLOCK);
		void *p = mem_alloc(cap);
		buf_add(&b, (char[2 * TAR_BLOCK]){0}, 2 * TAR_BLOCK);
		size_t n = ZSTD_compress(p, cap, b.v, b.n, 1);
		e = (struct err){0};
		assert_int_equal(source_open_mem(&src, p, n, "test", &e), 0);
		mem_fail_after(k - 8);
		rc = perf_archive_unpack(&src, "c", NULL, &e);
		mem_fail_after(-1);
		assert_true(!rc || rc == ERR_NOMEM);
		source_close(&src);
		mem_free(p);
		buf_release(&b);
		b = (struct buf){0};
	}
	assert_int_equal(rc, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(files_get_the_place_their_id_says), T(the_same_file_twice_is_no_fault),
		T(nothing_leaves_the_folder),         T(other_tars_are_none),
		T(each_compression_reads_and_tears),  T(no_memory_is_an_error),
	};
	return cmocka_run_group_tests_name("perfarchive", tests, NULL, NULL);
}
