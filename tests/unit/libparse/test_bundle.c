/* Bundles: what is written is read by tar(1) and by us; what a stranger wrote stays outside. */
#include "base/text/buf.h"
#include "base/mem.h"
#include "libparse/archive/bundle.h"
#include "libparse/archive/tar.h"
#include "libparse/archive/tree.h"
#include "tests/lib/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static char work[64];

static const char *in_work(const char *name)
{
	static char path[4][256];
	static int turn;
	char *p = path[turn++ % 4];
	snprintf(p, 256, "%s/%s", work, name);
	return p;
}

static int setup(void **state)
{
	(void)state;
	strcpy(work, "/tmp/test_bundle.XXXXXX");
	return mkdtemp(work) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", work);
	return system(command);
}

static int exists(const char *name)
{
	struct stat st;
	return !lstat(in_work(name), &st);
}

static int holds(const char *name, const char *text)
{
	char have[4096] = {0};
	FILE *f = fopen(in_work(name), "r");
	if (!f)
		return 0;
	size_t n = fread(have, 1, sizeof(have) - 1, f);
	fclose(f);
	return n == strlen(text) && !memcmp(have, text, n);
}

/* --- archives made by hand ---------------------------------------------------------------- */

static void add_raw(struct buf *b, const char *content, size_t n)
{
	static const char zeroes[TAR_BLOCK];
	buf_add(b, content, n);
	buf_add(b, zeroes, (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK);
}

static void add_file(struct buf *b, const char *name, const char *content)
{
	assert_int_equal(tar_header(b, name, strlen(content), 0, NULL), 0);
	add_raw(b, content, strlen(content));
}

/* A header as tar_header makes it with bytes replaced and the checksum made right again. */
static void add_odd(struct buf *b, size_t at, const void *bytes, size_t n, const char *content)
{
	size_t start = b->n;
	assert_int_equal(tar_header(b, "plain", strlen(content), 0, NULL), 0);
	memcpy(b->v + start + at, bytes, n);
	memset(b->v + start + 148, ' ', 8);
	unsigned sum = 0;
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (uint8_t)b->v[start + i];
	snprintf(b->v + start + 148, 8, "%06o", sum);
	add_raw(b, content, strlen(content));
}

static void begin(struct buf *b)
{
	*b = (struct buf){0};
	add_file(b, BUNDLE_MANIFEST, BUNDLE_MAGIC_LINE);
}

static void *zip(struct buf *b, size_t *n)
{
	size_t cap = ZSTD_compressBound(b->n);
	void *p = mem_alloc(cap);
	*n = ZSTD_compress(p, cap, b->v, b->n, 3);
	assert_false(ZSTD_isError(*n));
	return p;
}

static int unpack_bytes(const void *p, size_t n, const char *dir, int flags, struct err *e)
{
	struct source src;
	assert_int_equal(source_open_mem(&src, p, n, "test", e), 0);
	int rc = bundle_unpack(&src, in_work(dir), flags, NULL, e);
	source_close(&src);
	return rc;
}

/* End, compress, unpack into `dir`. */
static int unpack(struct buf *b, const char *dir, int flags, struct err *e)
{
	static const char zeroes[2 * TAR_BLOCK];
	size_t n;
	*e = (struct err){0};
	buf_add(b, zeroes, sizeof(zeroes));
	void *p = zip(b, &n);
	int rc = unpack_bytes(p, n, dir, flags, e);
	mem_free(p);
	buf_release(b);
	return rc;
}

/* --- what we write ------------------------------------------------------------------------ */

static void write_some(const char *path, const char *long_name)
{
	struct bundle_writer *w;
	struct err e = {0};
	uint64_t size;
	assert_int_equal(bundle_create(&w, path, 0, &e), 0);
	assert_int_equal(bundle_add(w, BUNDLE_MANIFEST, BUNDLE_MAGIC_LINE, 17, &e), 0);
	assert_int_equal(bundle_add(w, "perf.data", "PERFILE2", 8, &e), 0);
	assert_int_equal(bundle_add(w, "debug/empty", NULL, 0, &e), 0);
	assert_int_equal(bundle_add(w, long_name, "long", 4, &e), 0);
	assert_int_equal(bundle_add(w, "../out", "x", 1, &e), ERR_USAGE);
	assert_int_equal(bundle_commit(w, &size, &e), 0);
	assert_true(size > 0);
}

static void make_long_name(char *name, size_t n)
{
	memset(name, 'n', n);
	memcpy(name, "symfs/", 6);
	for (size_t i = 100; i < n - 1; i += 100)
		name[i] = '/';
	name[n] = '\0';
}

static void written_bundles_are_read_back_and_by_tar(void **state)
{
	static const size_t lengths[] = {20, 99, 100, 101, 150, 200, 255, 256, 257, 1000, 3999};
	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		char name[4001], dir[32], inside[4100], command[256];
		struct source src;
		struct bundle_counts c;
		struct err e = {0};
		make_long_name(name, lengths[i]);
		write_some(in_work("b.tar.zst"), name);
		snprintf(dir, sizeof(dir), "d%zu", i);
		assert_int_equal(source_open(&src, in_work("b.tar.zst"), &e), 0);
		assert_int_equal(bundle_unpack(&src, in_work(dir), 0, &c, &e), 0);
		source_close(&src);
		assert_int_equal(c.files, 4);
		assert_int_equal(c.bytes, 17 + 8 + 4);
		assert_true(bundle_is_dir(in_work(dir)));
		if (lengths[i] < 200) {
			snprintf(inside, sizeof(inside), "%s/%s", dir, name);
			assert_true(holds(inside, "long"));
		}
		snprintf(command, sizeof(command),
			 "cd %s && mkdir t && zstd -qdc b.tar.zst | tar xf - -C t && "
			 "diff -r t %s && rm -rf t",
			 work, dir);
		if (!system("command -v zstd >/dev/null"))
			assert_int_equal(system(command), 0);
	}
}

static void same_content_gives_same_bytes(void **state)
{
	char command[160];
	(void)state;
	write_some(in_work("one"), "symfs/a");
	write_some(in_work("two"), "symfs/a");
	snprintf(command, sizeof(command), "cmp %s/one %s/two", work, work);
	assert_int_equal(system(command), 0);
}

static void an_aborted_bundle_leaves_nothing(void **state)
{
	struct bundle_writer *w;
	struct err e = {0};
	(void)state;
	assert_int_equal(bundle_create(&w, in_work("gone"), 0, &e), 0);
	assert_int_equal(bundle_add(w, BUNDLE_MANIFEST, "x", 1, &e), 0);
	assert_int_equal(bundle_add_fd(w, "f", -1, "f", &e), ERR_IO);
	bundle_abort(w);
	DIR *d = opendir(work);
	int entries = 0;
	while (readdir(d))
		entries++;
	closedir(d);
	assert_int_equal(entries, 2);
}

/* --- what others write -------------------------------------------------------------------- */

static void tar_and_gzip_of_the_shell_are_read(void **state)
{
	static const char *const formats[] = {"gnu", "ustar", "pax", "v7", "oldgnu"};
	char command[512], dir[16];
	(void)state;
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p s/debug/x s/symfs && cd s && printf 'perfkit-bundle 1\\n' "
		 ">MANIFEST && echo data >perf.data && "
		 "echo deep >debug/x/$(printf %%090d 1)",
		 work);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct source src;
		struct err e = {0};
		snprintf(command, sizeof(command),
			 "cd %s/s && tar --format=%s -cf - MANIFEST perf.data ./debug symfs | "
			 "gzip -c >../g.tgz",
			 work, formats[i]);
		assert_int_equal(system(command), 0);
		snprintf(dir, sizeof(dir), "g%zu", i);
		assert_int_equal(source_open(&src, in_work("g.tgz"), &e), 0);
		assert_int_equal(bundle_unpack(&src, in_work(dir), 0, NULL, &e), 0);
		source_close(&src);
		snprintf(command, sizeof(command), "diff -r %s/s %s/%s", work, work, dir);
		assert_int_equal(system(command), 0);
	}
}

static void names_that_lead_out_are_refused(void **state)
{
	static const char *const names[] = {"../evil", "/evil", "a/../../evil",    "a/..",
					    "..",      "a//b",  "./../x",          "a/./b",
					    "",        "a/../", "debug/../../evil"};
	struct buf b;
	struct err e;
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char field[100] = {0};
		strcpy(field, names[i]);
		begin(&b);
		add_odd(&b, 0, field, sizeof(field), "evil");
		assert_int_equal(unpack(&b, "d/e", 0, &e), ERR_IO); /* no parent: not made */
		begin(&b);
		add_odd(&b, 0, field, sizeof(field), "evil");
		char dir[64];
		snprintf(dir, sizeof(dir), "n%zu", i);
		int rc = unpack(&b, dir, 0, &e);
		/* a slash at the end makes it a folder, which has no content */
		assert_true(rc == ERR_REFUSED || (rc == ERR_FORMAT && i == 9));
		assert_false(exists("evil"));
		assert_false(bundle_is_dir(in_work(dir)));
		strcat(dir, "/MANIFEST.partial");
		assert_true(exists(dir));
	}
	assert_int_not_equal(access("/evil", F_OK), 0);
}

static void links_and_devices_are_refused(void **state)
{
	struct buf b;
	struct err e;
	(void)state;
	for (const char *type = "123467SDKVZ"; *type; type++) {
		char dir[8] = {'t', *type, 0};
		begin(&b);
		add_odd(&b, 156, type, 1, "");
		assert_int_equal(unpack(&b, dir, 0, &e), ERR_REFUSED);
	}
}

static void a_second_file_of_a_name_is_refused(void **state)
{
	struct buf b;
	struct err e;
	(void)state;
	begin(&b);
	add_file(&b, "perf.data", "one");
	add_file(&b, "perf.data", "two");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "'perf.data' is in it twice"));
	begin(&b);
	add_file(&b, BUNDLE_MANIFEST, "two");
	assert_int_equal(unpack(&b, "d2", 0, &e), ERR_REFUSED);
	begin(&b);
	add_file(&b, BUNDLE_MANIFEST ".partial", "x");
	assert_int_equal(unpack(&b, "d3", 0, &e), ERR_REFUSED);
	/* a file where a folder would have to be */
	begin(&b);
	add_file(&b, "debug", "x");
	add_file(&b, "debug/x", "x");
	assert_int_equal(unpack(&b, "d4", 0, &e), ERR_IO);
}

static void absurd_sizes_are_refused(void **state)
{
	struct buf b;
	struct err e;
	static const uint8_t huge[12] = {0x80, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t big[12] = {0x80, 0,    0,    0,    0x7f, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	(void)state;
	begin(&b);
	add_odd(&b, 124, huge, 12, "");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_FORMAT);
	begin(&b);
	add_odd(&b, 124, big, 12, "");
	assert_int_equal(unpack(&b, "d2", 0, &e), ERR_TRUNCATED);
	begin(&b);
	add_odd(&b, 124, "77777777777", 12, "");
	assert_int_equal(unpack(&b, "d3", 0, &e), ERR_TRUNCATED);
	/* a pax header that announces more than it has */
	begin(&b);
	add_odd(&b, 156, "x", 1, "999 path=abc\n");
	assert_int_equal(unpack(&b, "d4", 0, &e), ERR_FORMAT);
	begin(&b);
	add_odd(&b, 156, "x", 1, "21 path=/etc/absolute\n");
	add_file(&b, "x", "y");
	assert_int_not_equal(unpack(&b, "d5", 0, &e), 0);
	assert_false(exists("d5/x"));
}

static void a_bomb_is_cut_short(void **state)
{
	struct buf b;
	struct err e = {0};
	uint64_t want = (uint64_t)400 << 20;
	static char zeroes[1 << 20];
	(void)state;
	begin(&b);
	assert_int_equal(tar_header(&b, "perf.data", want, 0, NULL), 0);
	ZSTD_CStream *z = ZSTD_createCStream();
	size_t cap = 1 << 20;
	char *p = mem_alloc(cap);
	ZSTD_outBuffer out = {p, cap, 0};
	ZSTD_inBuffer in = {b.v, b.n, 0};
	ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue);
	for (uint64_t left = want; left; left -= sizeof(zeroes)) {
		in = (ZSTD_inBuffer){zeroes, sizeof(zeroes), 0};
		while (in.pos < in.size)
			ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue);
	}
	in.size = in.pos = 0;
	assert_int_equal(ZSTD_compressStream2(z, &out, &in, ZSTD_e_end), 0);
	assert_true(out.pos * 5000 < want);
	assert_int_equal(unpack_bytes(p, out.pos, "d", 0, &e), ERR_LIMIT);
	struct stat st;
	assert_int_equal(stat(in_work("d/perf.data"), &st), 0);
	assert_true((uint64_t)st.st_size < want / 2);
	ZSTD_freeCStream(z);
	mem_free(p);
	buf_release(&b);
}

/* perf archive --all: 50 MB of zeroes, compressed, in a tarball that is compressed again. */
static void a_bomb_in_a_bomb_is_cut_short(void **state)
{
	enum { SIZE = 50 << 20 };
	static const char elf[] = "bin/x/48dc543d52ea89f3c9e8a9b5c4d2c7a5bd5e8d4c/elf";
	struct buf inner = {0}, b = {0};
	struct err e = {0};
	size_t n;
	(void)state;
	char *zeroes = mem_zalloc(1, SIZE + 2 * TAR_BLOCK);
	assert_int_equal(tar_header(&inner, elf, SIZE, 0, NULL), 0);
	buf_add(&inner, zeroes, SIZE + 2 * TAR_BLOCK);
	char *p = zip(&inner, &n);
	add_file(&b, "perf.data", "PERFILE2");
	for (int i = 0; i < 2; i++) { /* 64 MB are free */
		static const char *const name[] = {"perf.symbols.tar.bz2",
						   "again/perf.symbols.tar.bz2"};
		assert_int_equal(tar_header(&b, name[i], n, 0, NULL), 0);
		add_raw(&b, p, n);
	}
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_LIMIT);
	assert_false(bundle_is_dir(in_work("d")));
	mem_free(p);
	mem_free(zeroes);
	buf_release(&inner);
}

/* A thousand names of a few kilobytes each could make millions of folders. */
static void folders_are_counted(void **state)
{
	struct tree t;
	struct err e = {0};
	char name[2 * TAR_DEPTH_MAX + 2] = "a";
	(void)state;
	for (int i = 1; i < TAR_DEPTH_MAX; i++)
		strcat(name, "/a");
	assert_true(tar_name_is_safe(name));
	strcat(name, "/a");
	assert_false(tar_name_is_safe(name));
	assert_int_equal(tree_open(&t, in_work("d"), 0, 1, &e), 0);
	t.dirs = TREE_DIRS_MAX - 3;
	assert_int_equal(tree_mkdir(&t, "a/b", &e), 0);
	assert_int_equal(tree_mkdir(&t, "a/b/c", &e), 0);
	assert_int_equal(tree_mkdir(&t, "a/b/c", &e), 0);
	assert_int_equal(tree_mkdir(&t, "a/b/d", &e), ERR_LIMIT);
	assert_non_null(strstr(e.msg, "folders"));
	tree_close(&t);
}

static void existing_files_stay_unless_forced(void **state)
{
	struct buf b;
	struct err e;
	(void)state;
	assert_int_equal(mkdir(in_work("d"), 0777), 0);
	FILE *f = fopen(in_work("d/perf.data"), "w");
	fputs("mine", f);
	fclose(f);
	begin(&b);
	add_file(&b, "perf.data", "theirs");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_IO);
	assert_non_null(strstr(e.msg, "exists already"));
	assert_true(holds("d/perf.data", "mine"));
	begin(&b);
	add_file(&b, "perf.data", "theirs");
	assert_int_equal(unpack(&b, "d", BUNDLE_OVERWRITE, &e), 0);
	assert_true(holds("d/perf.data", "theirs"));
	assert_false(exists("d/MANIFEST.partial"));
	/* a whole bundle is there now */
	begin(&b);
	add_file(&b, "other", "x");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_IO);
	assert_false(exists("d/other"));
	assert_true(bundle_is_dir(in_work("d")));
}

/* A link that lies in DIR already must not be written through. */
static void links_in_the_folder_are_not_followed(void **state)
{
	struct buf b;
	struct err e;
	(void)state;
	for (int force = 0; force < 2; force++) {
		char dir[16];
		snprintf(dir, sizeof(dir), "d%d", force);
		assert_int_equal(mkdir(in_work(dir), 0777), 0);
		mkdir(in_work("out"), 0777);
		char link[32];
		snprintf(link, sizeof(link), "%s/debug", dir);
		assert_int_equal(symlink("../out", in_work(link)), 0);
		begin(&b);
		add_file(&b, "debug/file", "evil");
		assert_int_equal(unpack(&b, dir, force, &e), ERR_IO);
		assert_false(exists("out/file"));
	}
	FILE *f = fopen(in_work("target"), "w");
	fputs("mine", f);
	fclose(f);
	mkdir(in_work("d3"), 0777);
	assert_int_equal(symlink("../target", in_work("d3/MANIFEST.partial")), 0);
	assert_int_equal(symlink("../target", in_work("d3/perf.data")), 0);
	begin(&b);
	add_file(&b, "perf.data", "theirs");
	assert_int_equal(unpack(&b, "d3", BUNDLE_OVERWRITE, &e), 0);
	assert_true(holds("target", "mine"));
	assert_true(holds("d3/perf.data", "theirs"));
}

static void other_archives_are_no_bundles(void **state)
{
	struct buf b = {0};
	struct err e;
	(void)state;
	add_file(&b, "perf.data", "x");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_FORMAT);
	b = (struct buf){0};
	add_file(&b, BUNDLE_MANIFEST, "Manifest-Version: 1.0\n");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_FORMAT);
	b = (struct buf){0};
	add_file(&b, BUNDLE_MANIFEST, "perfkit-bundle 2\n");
	assert_int_equal(unpack(&b, "d", 0, &e), ERR_UNSUPPORTED);
	assert_int_equal(unpack_bytes("no compressed data", 18, "d", 0, &e), ERR_FORMAT);
	assert_false(exists("d/MANIFEST"));
}

static char *file_bytes(const char *path, size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	char *p = mem_alloc((size_t)st.st_size + 1);
	*n = (size_t)st.st_size;
	assert_int_equal(read(fd, p, *n), (ssize_t)*n);
	close(fd);
	return p;
}

static void cut_at_any_length_it_is_torn(void **state)
{
	size_t n;
	(void)state;
	write_some(in_work("b.tar.zst"), "symfs/a");
	char *p = file_bytes(in_work("b.tar.zst"), &n);
	for (size_t k = 0; k < n; k++) {
		struct err e = {0};
		char *cut = mem_alloc(k); /* its own block, so that reading past it is seen */
		memcpy(cut, p, k);
		int rc = unpack_bytes(cut, k, "d", BUNDLE_OVERWRITE, &e);
		assert_true(rc == ERR_TRUNCATED || (rc == ERR_FORMAT && k < 4));
		assert_false(exists("d/MANIFEST"));
		mem_free(cut);
	}
	mem_free(p);
}

static void flipped_bytes_are_found(void **state)
{
	size_t n;
	(void)state;
	write_some(in_work("b.tar.zst"), "symfs/a");
	char *p = file_bytes(in_work("b.tar.zst"), &n);
	for (size_t k = 0; k < n; k++) {
		struct err e = {0};
		p[k] ^= 0x41;
		/* A larger window changes nothing; else the checksum, over all content, tells.
		 */
		if (unpack_bytes(p, n, "d", BUNDLE_OVERWRITE, &e))
			assert_true(e.msg[0]);
		else
			assert_true(holds("d/perf.data", "PERFILE2") &&
				    holds("d/symfs/a", "long"));
		p[k] ^= 0x41;
	}
	mem_free(p);
}

/* The same with a valid checksum around it: damage in the tar itself. */
static void flipped_tar_bytes_do_no_harm(void **state)
{
	struct buf b;
	(void)state;
	begin(&b);
	add_file(&b, "perf.data", "x");
	add_odd(&b, 156, "x", 1, "30 path=debug/a/b/c/d/e/f/g/h\n");
	add_file(&b, "other", "y");
	buf_add(&b, (char[1024]){0}, 1024);
	for (size_t k = 0; k < b.n; k += 3) {
		struct err e = {0};
		size_t n;
		b.v[k] ^= 0x21;
		void *p = zip(&b, &n);
		int rc = unpack_bytes(p, n, "d", BUNDLE_OVERWRITE, &e);
		assert_true(rc <= 0);
		mem_free(p);
		b.v[k] ^= 0x21;
	}
	buf_release(&b);
	DIR *d = opendir(work);
	for (struct dirent *f; (f = readdir(d));)
		assert_true(f->d_name[0] == '.' || !strcmp(f->d_name, "d"));
	closedir(d);
}

static void no_memory_is_an_error(void **state)
{
	size_t n;
	(void)state;
	write_some(in_work("b.tar.zst"), "symfs/a");
	char *p = file_bytes(in_work("b.tar.zst"), &n);
	int rc = ERR_NOMEM;
	for (long k = 0; rc && k < 1000; k++) {
		struct source src;
		struct err e = {0};
		assert_int_equal(source_open_mem(&src, p, n, "test", &e), 0);
		mem_fail_after(k);
		rc = bundle_unpack(&src, in_work("d"), BUNDLE_OVERWRITE, NULL, &e);
		mem_fail_after(-1);
		assert_true(!rc || rc == ERR_NOMEM);
		source_close(&src);
	}
	assert_int_equal(rc, 0);
	mem_free(p);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(written_bundles_are_read_back_and_by_tar),
		T(same_content_gives_same_bytes),
		T(an_aborted_bundle_leaves_nothing),
		T(tar_and_gzip_of_the_shell_are_read),
		T(names_that_lead_out_are_refused),
		T(links_and_devices_are_refused),
		T(a_second_file_of_a_name_is_refused),
		T(absurd_sizes_are_refused),
		T(a_bomb_is_cut_short),
		T(a_bomb_in_a_bomb_is_cut_short),
		T(folders_are_counted),
		T(existing_files_stay_unless_forced),
		T(links_in_the_folder_are_not_followed),
		T(other_archives_are_no_bundles),
		T(cut_at_any_length_it_is_torn),
		T(flipped_bytes_are_found),
		T(flipped_tar_bytes_do_no_harm),
		T(no_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
