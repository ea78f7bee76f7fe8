/* dsofind: the right file or none. Truth: trees of files written here, and the build-id cache
 * that perf itself makes. */
#include "tests/lib/smallelf.h"
#include "tests/lib/temptree.h"

#include "libsym/elf/dso_find.h"
#include "libsym/elf/file_at.h"
#include "libsym/elf/kallsyms.h"

#include <endian.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

static const char id_hex[] = "0102030405060708090a0b0c0d0e0f1011121314";
static const struct build_id id = {.len = 20, .v = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
						    11, 12, 13, 14, 15, 16, 17, 18, 19, 20}};
static const struct build_id other = {.len = 20, .v = {9, 9, 9}};

/* A file with the id above (or one without any), and perhaps a debuglink. */
static size_t make_elf(struct smallelf *s, int with_id, const char *link, uint32_t crc)
{
	static const uint8_t code[64];
	smallelf_init(s, EM_X86_64);
	if (!with_id)
		s->image[0x200 + 8] = 7; /* another note type */
	smallelf_section(s, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			 sizeof(code));
	if (link) {
		uint8_t text[64] = {0};
		size_t n = (strlen(link) + 4) & ~(size_t)3;
		strcpy((char *)text, link);
		crc = htole32(crc);
		memcpy(text + n, &crc, 4);
		smallelf_section(s, ".gnu_debuglink", SHT_PROGBITS, 0, 0, text, n + 4);
	}
	smallelf_symbol(s, "f", STB_GLOBAL, STT_FUNC, 2, 0x1000, 16);
	return smallelf_finish(s);
}

static void put_elf(const char *path, int with_id)
{
	static struct smallelf s;
	size_t n = make_elf(&s, with_id, NULL, 0);
	put(path, s.image, n);
}

static struct dso_files find(const struct dso_options *opt, const char *path,
			     const struct build_id *want)
{
	struct dso_files f;
	struct err e = {0};
	assert_int_equal(dso_find(opt, path, want, NULL, &f, &e), 0);
	assert_true((f.reason == DSO_FOUND) == (f.runtime != NULL));
	return f;
}

static void expect(const struct dso_options *opt, const char *path, const struct build_id *want,
		   enum dso_reason reason, enum dso_source from)
{
	struct dso_files f = find(opt, path, want);
	assert_string_equal(dso_reason_text(f.reason), dso_reason_text(reason));
	assert_int_equal(f.runtime_from, from);
	dso_files_release(&f);
}

static void the_build_id_decides(void **state)
{
	(void)state;
	put_elf("/usr/bin/prog", 1);
	put_elf("/usr/bin/noid", 0);
	struct dso_options o = {.buildid_dir = ""};
	char deleted[512];
	snprintf(deleted, sizeof(deleted), "%s (deleted)", in_root("/usr/bin/prog"));
	expect(&o, in_root("/usr/bin/prog"), &id, DSO_FOUND, DSO_FROM_LOCAL);
	expect(&o, deleted, &id, DSO_FOUND, DSO_FROM_LOCAL);
	expect(&o, in_root("/usr/bin/prog"), &other, DSO_MISMATCH, DSO_FROM_NOWHERE);
	expect(&o, in_root("/usr/bin/noid"), &id, DSO_MISMATCH, DSO_FROM_NOWHERE);
	expect(&o, in_root("/usr/bin/gone"), &id, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	o.no_local = 1;
	expect(&o, in_root("/usr/bin/prog"), &id, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	struct dso_files f = find(&(struct dso_options){.buildid_dir = ""},
				  in_root("/usr/bin/prog"), &other);
	assert_non_null(strstr(f.detail, id_hex));
	dso_files_release(&f);
}

static void without_an_id_only_trusted_places_count(void **state)
{
	(void)state;
	const char *trust[] = {in_root("/usr/")};
	put_elf("/usr/bin/prog", 1);
	put_elf("/usrlocal/prog", 1);
	struct dso_options o = {.buildid_dir = ""};
	const char *path = in_root("/usr/bin/prog");
	expect(&o, path, NULL, DSO_UNTRUSTED, DSO_FROM_NOWHERE);
	o.host_is_ours = 1;
	expect(&o, path, NULL, DSO_FOUND, DSO_FROM_LOCAL);
	o = (struct dso_options){
		.buildid_dir = "", .no_local = 1, .trust_paths = trust, .ntrust_paths = 1};
	expect(&o, path, NULL, DSO_FOUND, DSO_FROM_TRUSTED_PATH);
	expect(&o, in_root("/usrlocal/prog"), NULL, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	expect(&o, in_root("/usr/../usrlocal/prog"), NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	o = (struct dso_options){.buildid_dir = "", .no_local = 1, .symfs = root};
	expect(&o, "/usr/bin/prog", NULL, DSO_FOUND, DSO_FROM_SYMFS);
	expect(&o, "/usr/bin/../bin/prog", NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
}

static enum dso_reason find_mapped(const struct dso_options *opt, const char *path,
				   const struct build_id *want, const struct file_id *mapped)
{
	struct dso_files f;
	assert_int_equal(dso_find(opt, path, want, mapped, &f, NULL), 0);
	enum dso_reason reason = f.reason;
	assert_true((reason == DSO_FOUND) == (f.runtime != NULL));
	dso_files_release(&f);
	return reason;
}

static void without_an_id_a_file_put_in_the_place_is_not_taken(void **state)
{
	(void)state;
	put_elf("/usr/bin/prog", 1);
	const char *path = in_root("/usr/bin/prog");
	struct dso_options o = {.buildid_dir = "", .host_is_ours = 1};
	struct file_id is, was, elsewhere;
	assert_int_equal(file_at(path, &is, NULL), 1);
	was = elsewhere = is;
	was.ino++;
	elsewhere.ino++, elsewhere.dev_minor++;
	assert_int_equal(find_mapped(&o, path, NULL, &is), DSO_FOUND);
	assert_int_equal(find_mapped(&o, path, NULL, &was), DSO_UNTRUSTED);
	assert_int_equal(find_mapped(&o, path, NULL, &elsewhere), DSO_UNTRUSTED);
	/* An id says more than a number. */
	assert_int_equal(find_mapped(&o, path, &id, &was), DSO_FOUND);
	/* Others had this path. */
	is.shared_path = elsewhere.shared_path = 1;
	assert_int_equal(find_mapped(&o, path, NULL, &is), DSO_FOUND);
	assert_int_equal(find_mapped(&o, path, &id, &elsewhere), DSO_FOUND);
	assert_int_equal(find_mapped(&o, path, NULL, &elsewhere), DSO_SHARED_PATH);
	o.host_is_ours = 0;
	assert_int_equal(find_mapped(&o, path, NULL, &is), DSO_SHARED_PATH);
	o.symfs = root;
	assert_int_equal(find_mapped(&o, "/usr/bin/prog", NULL, &is), DSO_SHARED_PATH);
}

static void without_an_id_a_file_written_after_the_recording_is_not_taken(void **state)
{
	(void)state;
	put_elf("/usr/bin/rebuilt", 1);
	const char *path = in_root("/usr/bin/rebuilt");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	int64_t ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	struct dso_options o = {.buildid_dir = "", .host_is_ours = 1, .written_ns = ns - 1};
	/* the same inode: its number was free again */
	struct file_id is;
	assert_int_equal(file_at(path, &is, NULL), 1);
	assert_int_equal(find_mapped(&o, path, NULL, &is), DSO_UNTRUSTED);
	assert_int_equal(find_mapped(&o, path, NULL, NULL), DSO_UNTRUSTED);
	assert_int_equal(find_mapped(&o, path, &id, &is), DSO_FOUND);
	o.written_ns = ns;
	assert_int_equal(find_mapped(&o, path, NULL, &is), DSO_FOUND);
}

/* perf took the path's build-id when it ended; the file there has been another since before. */
static void an_id_of_another_file_is_not_the_mapped_ones(void **state)
{
	(void)state;
	put_elf("/usr/bin/outside", 1);
	const char *path = in_root("/usr/bin/outside");
	struct dso_options o = {.buildid_dir = "", .host_is_ours = 1, .written_ns = INT64_MAX};
	struct file_id is;
	int64_t born;
	assert_int_equal(file_at(path, &is, &born), 1);
	is.id_of_path = 1;
	assert_int_equal(find_mapped(&o, path, &id, &is), DSO_FOUND);
	struct file_id in_a_chroot = is;
	in_a_chroot.ino++;
	assert_int_equal(find_mapped(&o, path, &id, &in_a_chroot), DSO_SHARED_PATH);
	if (is.generation) { /* the same number, used again */
		struct file_id before = is;
		before.generation++;
		assert_int_equal(find_mapped(&o, path, &id, &before), DSO_SHARED_PATH);
	}
	/* perf's cache made a link of it as the recording ended, which is a change */
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	o.written_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
	assert_int_equal(find_mapped(&o, path, &id, &in_a_chroot), DSO_SHARED_PATH);
	/* the mapping's own; or the file came later */
	in_a_chroot.id_of_path = 0;
	assert_int_equal(find_mapped(&o, path, &id, &in_a_chroot), DSO_FOUND);
	in_a_chroot.id_of_path = 1;
	o.written_ns = 1;
	assert_int_equal(find_mapped(&o, path, &id, &in_a_chroot),
			 born ? DSO_FOUND : DSO_SHARED_PATH);
	o.written_ns = INT64_MAX;
	o.host_is_ours = 0;
	assert_int_equal(find_mapped(&o, path, &id, &in_a_chroot), DSO_FOUND);
}

static void symfs_may_be_flat_when_the_id_says_so(void **state)
{
	(void)state;
	put_elf("/flat/prog", 1);
	struct dso_options o = {.buildid_dir = "", .no_local = 1, .symfs = in_root("/flat")};
	expect(&o, "/opt/app/bin/prog", &id, DSO_FOUND, DSO_FROM_SYMFS);
	expect(&o, "/opt/app/bin/prog", NULL, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	expect(&o, "/opt/app/bin/prog", &other, DSO_MISMATCH, DSO_FROM_NOWHERE);
}

static void both_layouts_of_the_build_id_cache_are_read(void **state)
{
	(void)state;
	struct dso_options o = {.no_local = 1, .buildid_dir = in_root("/cache")};
	char entry[128], link[128];
	snprintf(entry, sizeof(entry), "/cache/opt/app/%s/elf", id_hex);
	put_elf(entry, 1);
	put("/cache/.build-id/01/x", "", 0);
	snprintf(link, sizeof(link), "/cache/.build-id/01/%s", id_hex + 2);
	snprintf(entry, sizeof(entry), "../../opt/app/%s", id_hex);
	assert_int_equal(symlink(entry, in_root(link)), 0);
	expect(&o, "/opt/app", &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
	expect(&o, "/memfd:jit (deleted)", &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
	/* The older layout: the link is the file. */
	snprintf(entry, sizeof(entry), "../../opt/app/%s/elf", id_hex);
	assert_int_equal(unlink(in_root(link)), 0);
	assert_int_equal(symlink(entry, in_root(link)), 0);
	expect(&o, "/opt/app", &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
	expect(&o, "/opt/app", &other, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	assert_int_equal(setenv("PERF_BUILDID_DIR", in_root("/cache"), 1), 0);
	o.buildid_dir = NULL;
	expect(&o, "/opt/app", &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
	unsetenv("PERF_BUILDID_DIR");
}

static void perfs_own_cache_is_read(void **state)
{
	(void)state;
	char cmd[1024];
	put_elf("/bin/cached", 1);
	/* put_elf's file has no PT_INTERP, perf does not mind. */
	snprintf(cmd, sizeof(cmd),
		 "perf --buildid-dir '%s' buildid-cache -a '%s' >/dev/null 2>&1",
		 in_root("/perfcache"), in_root("/bin/cached"));
	if (system(cmd))
		skip_because("no perf buildid-cache here");
	struct dso_options o = {.no_local = 1, .buildid_dir = in_root("/perfcache")};
	expect(&o, in_root("/bin/cached"), &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
}

static void special_files_are_never_opened(void **state)
{
	(void)state;
	struct dso_options o = {.buildid_dir = "", .host_is_ours = 1};
	mkdir(in_root("/bin"), 0700);
	assert_int_equal(mkfifo(in_root("/bin/fifo"), 0600), 0);
	expect(&o, in_root("/bin/fifo"), NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	expect(&o, in_root("/bin"), &id, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	expect(&o, "/proc/self/exe", NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	expect(&o, "/dev/mem", NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	expect(&o, "/dev/shm/../mem", NULL, DSO_SPECIAL_FILE, DSO_FROM_NOWHERE);
	put("/bin/text", "hello, this is not an ELF file", 30);
	expect(&o, in_root("/bin/text"), NULL, DSO_UNREADABLE, DSO_FROM_NOWHERE);
	static const char *const anon[] = {"//anon",
					   "[heap]",
					   "[stack]",
					   "/dev/zero (deleted)",
					   "/SYSV00000000 (deleted)",
					   "/memfd:x (deleted)",
					   ""};
	for (size_t i = 0; i < sizeof(anon) / sizeof(anon[0]); i++)
		expect(&o, anon[i], NULL, DSO_NOT_A_FILE, DSO_FROM_NOWHERE);
}

static void debug_files_are_found_by_id(void **state)
{
	(void)state;
	char path[256];
	put_elf("/usr/bin/prog", 1);
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/01/%s.debug", id_hex + 2);
	put_elf(path, 1);
	struct dso_options o = {.buildid_dir = "", .no_local = 1, .symfs = root};
	struct dso_files f = find(&o, "/usr/bin/prog", &id);
	assert_non_null(f.debug);
	assert_int_equal(f.debug_from, DSO_FROM_SYMFS);
	dso_files_release(&f);
	/* The debug file alone still names functions. */
	unlink(in_root("/usr/bin/prog"));
	f = find(&o, "/usr/bin/prog", &id);
	assert_int_equal(f.reason, DSO_NOT_FOUND);
	assert_non_null(f.debug);
	dso_files_release(&f);
}

static void debuglinks_are_followed_by_crc_when_there_is_no_id(void **state)
{
	(void)state;
	static struct smallelf s;
	size_t n = make_elf(&s, 0, NULL, 0);
	uint32_t crc = (uint32_t)crc32(0, s.image, (uInt)n);
	put("/opt/.debug/prog.debug", s.image, n);
	n = make_elf(&s, 0, "prog.debug", crc);
	put("/opt/prog", s.image, n);
	n = make_elf(&s, 0, "prog.debug", crc ^ 1);
	put("/opt/wrong", s.image, n);
	struct dso_options o = {.buildid_dir = "", .no_local = 1, .symfs = root};
	struct dso_files f = find(&o, "/opt/prog", NULL);
	assert_non_null(f.debug);
	assert_int_equal(f.debug_from, DSO_FROM_DEBUGLINK);
	dso_files_release(&f);
	f = find(&o, "/opt/wrong", NULL);
	assert_non_null(f.runtime);
	assert_null(f.debug);
	assert_non_null(strstr(f.detail, "CRC"));
	dso_files_release(&f);
}

static void the_vdso_is_ours_only_if_its_id_is(void **state)
{
	(void)state;
	struct dso_options o = {.buildid_dir = ""};
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	if (!base)
		skip_because("no vdso here");
	struct elf_file *v = NULL;
	assert_int_equal(elf_file_open_mem(base, 4096, "vdso", &v, NULL) == 0 ||
				 elf_file_open_mem(base, 8192, "vdso", &v, NULL) == 0,
			 1);
	expect(&o, "[vdso]", &v->id, DSO_FOUND, DSO_FROM_VDSO);
	expect(&o, "[vdso]", &other, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	expect(&o, "[vdso]", NULL, DSO_UNTRUSTED, DSO_FROM_NOWHERE);
	o.no_local = 1;
	expect(&o, "[vdso]", &v->id, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	elf_file_close(v);
}

/* --- the kernel ------------------------------------------------------------------------- */

static void expect_kernel(const struct dso_options *o, const struct build_id *want,
			  enum dso_reason reason, enum dso_source from)
{
	struct kernel_files k;
	struct kernel_place place = {.path = "[kernel.kallsyms]_text"};
	if (want)
		place.id = *want;
	assert_int_equal(dso_find_kernel(o, &place, "6.1.0-test", 0, &k, NULL), 0);
	assert_string_equal(dso_reason_text(k.reason), dso_reason_text(reason));
	assert_int_equal(k.from, from);
	assert_true((k.kallsyms || k.vmlinux) == (reason == DSO_FOUND));
	kernel_files_release(&k);
}

/* The address of _text in this boot's list; 0: we may not see it. */
static uint64_t own_text(void)
{
	char line[512], name[64];
	unsigned long long addr, text = 0;
	FILE *f = fopen("/proc/kallsyms", "re");
	while (f && !text && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %63s", &addr, name) == 2 && !strcmp(name, "_text"))
			text = addr;
	if (f)
		fclose(f);
	return text;
}

/* Whoever wrote the cache's list, modules lay elsewhere when the machine had booted anew. */
static void the_list_of_the_very_boot_comes_before_the_caches(void **state)
{
	(void)state;
	struct dso_options o = {.buildid_dir = in_root("/cache")};
	struct kernel_place place = {.path = "[kernel.kallsyms]_text", .pgoff = own_text()};
	struct kernel_files k;
	char path[256], hex[2 * BUILD_ID_MAX + 1];
	if (!place.pgoff || kernel_notes_build_id("/sys/kernel/notes", &place.id, NULL))
		skip_because("the kernel's addresses or build-id are not ours to see");
	build_id_hex(&place.id, hex);
	snprintf(path, sizeof(path), "/cache/.build-id/%.2s/%s/kallsyms", hex, hex + 2);
	put(path, "ffffffff81000000 T _text\n", 25);
	for (int other_boot = 0; other_boot < 2; other_boot++) {
		place.pgoff += (uint64_t)other_boot << 21;
		assert_int_equal(dso_find_kernel(&o, &place, NULL, 0, &k, NULL), 0);
		assert_int_equal(k.from, other_boot ? DSO_FROM_BUILDID_DIR : DSO_FROM_LOCAL);
		kernel_files_release(&k);
	}
	o.no_local = 1;
	place.pgoff = own_text();
	assert_int_equal(dso_find_kernel(&o, &place, NULL, 0, &k, NULL), 0);
	assert_int_equal(k.from, DSO_FROM_BUILDID_DIR);
	kernel_files_release(&k);
}

static void kernel_symbols_come_from_the_recorded_kernel_only(void **state)
{
	(void)state;
	char path[256];
	struct dso_options o = {.buildid_dir = in_root("/cache2"), .no_local = 1};
	expect_kernel(&o, &id, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	snprintf(path, sizeof(path), "/cache2/.build-id/01/%s/kallsyms", id_hex + 2);
	put(path, "ffffffff81000000 T _text\n", 25);
	expect_kernel(&o, &id, DSO_FOUND, DSO_FROM_BUILDID_DIR);
	expect_kernel(&o, &other, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	put_elf("/boot/vmlinux-6.1.0-test", 1);
	o = (struct dso_options){.buildid_dir = "", .no_local = 1, .symfs = root};
	expect_kernel(&o, &id, DSO_FOUND, DSO_FROM_SYMFS);
	expect_kernel(&o, &other, DSO_MISMATCH, DSO_FROM_NOWHERE);
	o = (struct dso_options){.buildid_dir = "",
				 .no_local = 1,
				 .vmlinux = in_root("/boot/vmlinux-6.1.0-test")};
	expect_kernel(&o, &id, DSO_FOUND, DSO_FROM_OPTION);
	expect_kernel(&o, &other, DSO_MISMATCH, DSO_FROM_NOWHERE);
	o.kallsyms = in_root(path);
	expect_kernel(&o, &other, DSO_FOUND, DSO_FROM_OPTION);
	o = (struct dso_options){.buildid_dir = ""};
	expect_kernel(&o, &other, DSO_NOT_FOUND, DSO_FROM_NOWHERE);
	expect_kernel(&o, NULL, DSO_UNTRUSTED, DSO_FROM_NOWHERE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(the_build_id_decides),
		ON_A_TREE(without_an_id_only_trusted_places_count),
		ON_A_TREE(without_an_id_a_file_put_in_the_place_is_not_taken),
		ON_A_TREE(without_an_id_a_file_written_after_the_recording_is_not_taken),
		ON_A_TREE(symfs_may_be_flat_when_the_id_says_so),
		ON_A_TREE(an_id_of_another_file_is_not_the_mapped_ones),
		ON_A_TREE(both_layouts_of_the_build_id_cache_are_read),
		ON_A_TREE(perfs_own_cache_is_read),
		ON_A_TREE(special_files_are_never_opened),
		ON_A_TREE(debug_files_are_found_by_id),
		ON_A_TREE(debuglinks_are_followed_by_crc_when_there_is_no_id),
		ON_A_TREE(the_vdso_is_ours_only_if_its_id_is),
		ON_A_TREE(kernel_symbols_come_from_the_recorded_kernel_only),
		ON_A_TREE(the_list_of_the_very_boot_comes_before_the_caches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
