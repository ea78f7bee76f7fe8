/*
 * debuginfo: frames and lines from DWARF. The fixtures and what llvm-symbolizer says about
 * them come from testdata/lines/make.sh.
 */
#include "tests/lib/smallelf.h"
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/dwarf/debug_info.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define DIR "testdata/lines/"

static struct elf_file *elf(const char *name)
{
	struct elf_file *f = NULL;
	struct err e = {0};
	char path[256];
	snprintf(path, sizeof(path), DIR "%s", name);
	if (elf_file_open(path, &f, &e))
		fail_msg("%s", e.msg);
	return f;
}

static struct debuginfo *info(struct elf_file *f, const struct debuginfo_options *opt)
{
	struct debuginfo *d = NULL;
	struct err e = {0};
	if (debuginfo_open(f, NULL, opt, &d, &e))
		fail_msg("%s", e.msg);
	return d;
}

/* The frames of one address as the witness prints them. */
static void frames_text(struct debuginfo *d, uint64_t va, char *out, size_t size)
{
	struct debuginfo_frame f[16];
	int n = debuginfo_frames(d, va, NULL, f, 16);
	size_t at = 0;
	assert_in_range(n + 1, 1, 17);
	out[0] = 0;
	if (!n)
		snprintf(out, size, "??\n??:0\n");
	for (int i = 0; i < n; i++) {
		assert_int_equal(f[i].inlined, i < n - 1);
		at += (size_t)snprintf(out + at, size - at, "%s\n%s:%u\n",
				       f[i].name ? f[i].name : "??",
				       f[i].file ? f[i].file : "??", f[i].line);
	}
}

/* The next address and its frames from a .frames file: 1 or 0. */
static int witness_next(FILE *w, uint64_t *va, char *frames, size_t size)
{
	char line[512];
	size_t at = 0;
	if (!fgets(line, sizeof(line), w))
		return 0;
	*va = strtoull(line, NULL, 16);
	frames[0] = 0;
	while (fgets(line, sizeof(line), w) && line[0] != '\n')
		at += (size_t)snprintf(frames + at, size - at, "%s", line);
	return 1;
}

static FILE *witness(const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), DIR "%s.frames", name);
	FILE *w = fopen(path, "r");
	assert_non_null(w);
	return w;
}

static void compare(const char *file, const char *name)
{
	char want[4096], got[4096];
	struct elf_file *f = elf(file);
	struct debuginfo *d = info(f, NULL);
	FILE *w = witness(name);
	uint64_t va;
	int n = 0;
	while (witness_next(w, &va, want, sizeof(want))) {
		frames_text(d, va, got, sizeof(got));
		if (strcmp(got, want) != 0)
			fail_msg("%s at 0x%llx:\n%sinstead of\n%s", file,
				 (unsigned long long)va, got, want);
		n++;
	}
	assert_true(n > 100);
	if (debuginfo_note(d, 0))
		fail_msg("%s", debuginfo_note(d, 0));
	fclose(w);
	debuginfo_close(d);
	elf_file_close(f);
}

static void dwarf_4_and_5_of_two_compilers(void **state)
{
	(void)state;
	compare("gcc4.elf", "gcc4");
	compare("gcc5.elf", "gcc5");
	compare("clang4.elf", "clang4");
	compare("clang5.elf", "clang5");
}

/* -fdebug-types-section: classes lie in .debug_types (DWARF 4) or in type units (5). */
static void types_in_units_of_their_own(void **state)
{
	(void)state;
	compare("gcctypes4.elf", "gcctypes4");
	compare("gcctypes5.elf", "gcctypes5");
	compare("clangtypes4.elf", "clangtypes4");
}

static void sixty_four_bit_dwarf(void **state)
{
	(void)state;
	compare("gcc64.elf", "gcc64");
}

static void other_machines_and_byte_orders(void **state)
{
	(void)state;
	compare("aarch64.elf", "aarch64");
	compare("ppc64.elf", "ppc64");
	compare("i386.elf", "i386");
}

static void lto_names_come_from_other_units(void **state)
{
	(void)state;
	compare("gcclto.elf", "gcclto");
}

static void compressed_sections(void **state)
{
	(void)state;
	compare("zlib.elf", "gcc5");
	compare("zstd.elf", "gcc5");
}

static void dwz_file_is_found_beside_the_module(void **state)
{
	(void)state;
	compare("dwz.elf", "gcc5");
	compare("dwz2.elf", "gcclto");
}

static void split_dwarf_in_dwo_files(void **state)
{
	(void)state;
	compare("splitgcc5.elf", "splitgcc5");
	compare("splitclang4.elf", "splitclang4");
}

static void split_dwarf_in_packages(void **state)
{
	(void)state;
	compare("splitgcc4.elf", "splitgcc4");
	compare("splitclang5.elf", "splitclang5");
}

/* --- what is missing is said ------------------------------------------------------------ */

static int open_nothing(void *arg, const struct elf_file *of, const char *path,
			struct elf_file **out, struct err *e)
{
	(void)of;
	(void)arg;
	(void)out;
	return err_set(e, ERR_NOTFOUND, "%s", path);
}

static int open_another(void *arg, const struct elf_file *of, const char *path,
			struct elf_file **out, struct err *e)
{
	(void)of;
	(void)path;
	return elf_file_open(arg, out, e);
}

/* An address of the fixture with an inlined frame. */
static uint64_t inlined_va(const char *name)
{
	char want[4096];
	uint64_t va = 0;
	FILE *w = witness(name);
	while (witness_next(w, &va, want, sizeof(want)) && !strstr(want, "leaf"))
		;
	fclose(w);
	return va;
}

static void note_contains(const char *file, const struct debuginfo_options *opt,
			  const char *text, int named)
{
	struct debuginfo_frame fr[16];
	struct elf_file *f = elf(file);
	struct debuginfo *d = info(f, opt);
	int n = debuginfo_frames(d, inlined_va("gcc5"), NULL, fr, 16);
	assert_true(n >= 1);
	assert_string_equal(strrchr(fr[0].file, '/'), "/inline.cc");
	if (named)
		assert_true(n > 1);
	else
		assert_null(fr[n - 1].name);
	int said = 0;
	for (size_t i = 0; debuginfo_note(d, i); i++)
		said |= strstr(debuginfo_note(d, i), text) != NULL;
	assert_true(said);
	debuginfo_close(d);
	elf_file_close(f);
}

/* perf keeps copies of both below ~/.debug, where the relative name leads nowhere. */
static void dwz_file_is_found_in_the_same_build_id_cache(void **state)
{
	static const char *const leaves[] = {"/debug", "/elf", ".debug"};
	char dir[] = "/tmp/test_debuginfo.XXXXXX", command[512], path[128];
	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		struct elf_file *f;
		struct debuginfo_frame fr[16];
		snprintf(command, sizeof(command),
			 "rm -rf %s/.build-id && mkdir -p %s/.build-id/11/22 && "
			 "cp " DIR "dwz.elf %s/.build-id/11/22/debug && "
			 "alt=%s/.build-id/5c/690a62cee54f0142b665b801297f2800f61a47%s && "
			 "mkdir -p ${alt%%/*} && cp " DIR "alt.debug $alt",
			 dir, dir, dir, dir, leaves[i]);
		assert_int_equal(system(command), 0);
		snprintf(path, sizeof(path), "%s/.build-id/11/22/debug", dir);
		assert_int_equal(elf_file_open(path, &f, NULL), 0);
		struct debuginfo *d = info(f, NULL);
		assert_true(debuginfo_frames(d, inlined_va("gcc5"), NULL, fr, 16) > 0);
		assert_null(debuginfo_note(d, 0));
		debuginfo_close(d);
		elf_file_close(f);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* perf record copies a program into ~/.debug, but not the package beside it. Lines are left out
 * as collapse does: a package of gcc's has its own .debug_line.dwo. */
static void dwp_is_found_beside_the_recorded_path(void **state)
{
	static const char *const kinds[] = {"splitgcc4", "splitclang5"};
	char dir[] = "/tmp/test_debuginfo.XXXXXX", command[512], path[128];
	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct elf_file *f;
		struct debuginfo_frame fr[16];
		snprintf(path, sizeof(path), DIR "%s.elf", kinds[i]);
		struct debuginfo_options opt = {.no_lines = 1, .recorded = path};
		snprintf(command, sizeof(command), "cp %s %s/elf", path, dir);
		assert_int_equal(system(command), 0);
		snprintf(command, sizeof(command), "%s/elf", dir);
		assert_int_equal(elf_file_open(command, &f, NULL), 0);
		struct debuginfo *d = info(f, &opt);
		assert_true(debuginfo_frames(d, inlined_va(kinds[i]), NULL, fr, 16) > 1);
		assert_null(debuginfo_note(d, 0));
		debuginfo_close(d);
		elf_file_close(f);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void missing_dwz_file_leaves_ranges_and_a_note(void **state)
{
	(void)state;
	struct debuginfo_options opt = {.open = open_nothing};
	note_contains("dwz.elf", &opt, "not found: some names are missing", 1);
}

static void dwz_file_of_another_build_is_refused(void **state)
{
	(void)state;
	struct debuginfo_options opt = {.open = open_another, .arg = (void *)DIR "gcc4.elf"};
	note_contains("dwz.elf", &opt, "found only with another build-id", 1);
}

static void missing_dwo_leaves_lines_and_a_note(void **state)
{
	(void)state;
	struct debuginfo_options opt = {.open = open_nothing};
	note_contains("splitgcc5.elf", &opt, "lines only", 0);
	opt = (struct debuginfo_options){open_another, (void *)DIR "splitgcc5-other.dwo"};
	note_contains("splitgcc5.elf", &opt, "lines only", 0);
}

static void refuses_what_has_no_dwarf(void **state)
{
	(void)state;
	struct debuginfo *d;
	struct err e = {0};
	struct elf_file *f = elf("splitgcc5-other.dwo");
	assert_int_equal(debuginfo_open(f, NULL, NULL, &d, &e), ERR_UNSUPPORTED);
	elf_file_close(f);
	assert_int_equal(debuginfo_open(NULL, NULL, NULL, &d, &e), ERR_NOTFOUND);
	assert_null(d);
}

/* --- the interface's promises ----------------------------------------------------------- */

static void symbol_names_the_outermost_frame_only(void **state)
{
	(void)state;
	struct debuginfo_frame with[16], without[16];
	struct elf_file *f = elf("gcc5.elf");
	struct debuginfo *d = info(f, NULL);
	uint64_t va = inlined_va("gcc5");
	int n = debuginfo_frames(d, va, "f.cold", with, 16);
	assert_int_equal(debuginfo_frames(d, va, NULL, without, 16), n);
	assert_string_equal(with[n - 1].name, "f.cold");
	assert_string_equal(with[0].name, without[0].name);
	assert_int_equal(debuginfo_frames(d, va, "f.cold", with, 1), n);
	assert_string_equal(with[0].name, "f.cold");
	assert_int_equal(debuginfo_frames(d, va, NULL, NULL, 0), n);
	debuginfo_close(d);
	elf_file_close(f);
}

static void names_without_linkage_carry_their_scope(void **state)
{
	(void)state;
	struct debuginfo_frame fr[16];
	struct elf_file *f = elf("gcc5.elf");
	struct debuginfo *d = info(f, NULL);
	int n = debuginfo_frames(d, inlined_va("gcc5"), NULL, fr, 16), found = 0;
	for (int i = 0; i < n; i++)
		if (!strcmp(fr[i].name, "leaf")) {
			assert_string_equal(fr[i].scope, "app");
			found = 1;
		}
	assert_true(found);
	debuginfo_close(d);
	elf_file_close(f);
}

static void line_agrees_with_the_innermost_frame(void **state)
{
	(void)state;
	struct debuginfo_frame fr[16];
	const char *file;
	uint32_t line;
	struct elf_file *f = elf("clang5.elf");
	struct debuginfo *d = info(f, NULL);
	uint64_t va = inlined_va("clang5");
	assert_true(debuginfo_frames(d, va, NULL, fr, 16) > 1);
	assert_int_equal(debuginfo_line(d, va, &file, &line), 1);
	assert_ptr_equal(file, fr[0].file);
	assert_int_equal(line, fr[0].line);
	assert_int_equal(debuginfo_line(d, 1, &file, &line), 0);
	assert_int_equal(debuginfo_frames(d, UINT64_MAX, NULL, fr, 16), 0);
	debuginfo_close(d);
	elf_file_close(f);
}

static void *look_up_all(void *arg)
{
	struct debuginfo *d = arg;
	char want[4096], got[4096];
	FILE *w = witness("splitgcc5");
	uint64_t va, bad = 0;
	while (witness_next(w, &va, want, sizeof(want))) {
		frames_text(d, va, got, sizeof(got));
		bad += strcmp(got, want) != 0;
	}
	fclose(w);
	return (void *)(uintptr_t)bad;
}

static void threads_may_look_up_at_once(void **state)
{
	(void)state;
	struct elf_file *f = elf("splitgcc5.elf");
	for (int round = 0; round < 8; round++) {
		struct debuginfo *d = info(f, NULL);
		pthread_t t[4];
		void *bad;
		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&t[i], NULL, look_up_all, d), 0);
		for (int i = 0; i < 4; i++) {
			pthread_join(t[i], &bad);
			assert_null(bad);
		}
		debuginfo_close(d);
	}
	elf_file_close(f);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct elf_file *f = elf("dwz.elf");
	uint64_t va = inlined_va("gcc5");
	int r = ERR_NOMEM;
	for (long n = 0; r == ERR_NOMEM && n < 2000; n++) {
		struct debuginfo *d = NULL;
		struct debuginfo_frame fr[16];
		mem_fail_after(n);
		r = debuginfo_open(f, NULL, NULL, &d, NULL);
		if (!r)
			r = debuginfo_frames(d, va, NULL, fr, 16);
		mem_fail_after(-1);
		debuginfo_close(d);
		assert_true(r == ERR_NOMEM || r > 0 || n < 2000);
	}
	assert_true(r > 0);
	elf_file_close(f);
}

/* --- damage ----------------------------------------------------------------------------- */

/* Open and ask everywhere; only a crash, a hang or a leak can fail. */
static void poke(const uint8_t *image, size_t size)
{
	struct elf_file *f = NULL;
	struct debuginfo *d = NULL;
	struct debuginfo_options opt = {.open = open_nothing};
	struct debuginfo_frame fr[8];
	if (!elf_file_open_mem(image, size, "damaged", &f, NULL) &&
	    !debuginfo_open(f, NULL, &opt, &d, NULL))
		for (uint64_t va = f->ehdr.e_entry - 512; va < f->ehdr.e_entry + 512; va += 16)
			debuginfo_frames(d, va, NULL, fr, 8);
	debuginfo_close(d);
	elf_file_close(f);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void damage(const char *name)
{
	static const uint8_t flips[] = {0xff, 0x80, 0x01};
	struct elf_file *f = elf(name);
	uint8_t *image = malloc(f->size);
	assert_non_null(image);
	memcpy(image, f->data, f->size);
	double worst = 0;
	for (size_t at = 0; at < f->size; at += 5) {
		uint8_t was = image[at];
		double from = seconds();
		image[at] = was ^ flips[at % 3];
		poke(image, f->size);
		image[at] = was;
		if (seconds() - from > worst)
			worst = seconds() - from;
	}
	for (size_t n = 0; n < f->size; n += 61)
		poke(image, n);
	assert_true(worst < 1.0);
	free(image);
	elf_file_close(f);
}

static void flipped_and_cut_files_are_survived(void **state)
{
	(void)state;
	damage("gcc4.elf");
	damage("clang5.elf");
	damage("dwz2.elf");
}

static void random_damage_is_survived(void **state)
{
	(void)state;
	static const char *const names[] = {"gcc4.elf", "gcc5.elf", "gcclto.elf", "dwz.elf",
					    "clang4.elf"};
	uint32_t seed = 4711;
	for (int run = 0; run < 3000; run++) {
		struct elf_file *f = elf(names[run % 5]);
		uint8_t *image = malloc(f->size);
		assert_non_null(image);
		memcpy(image, f->data, f->size);
		for (int i = 0; i < 1 + run % 6; i++) {
			seed = seed * 1664525 + 1013904223;
			image[512 + (seed >> 8) % (f->size - 512)] = (uint8_t)(seed >> 3);
		}
		poke(image, f->size);
		free(image);
		elf_file_close(f);
	}
}

/* --- DWARF written to hurt -------------------------------------------------------------- */

/* One 64-bit DWARF 5 unit over [0x1000, 0x2000), its DIEs appended by the test. */
struct crafted {
	struct smallelf elf;
	uint8_t info[12000], rnglists[6000];
	size_t ninfo, nrnglists;
};

enum {
	CU = 1,     /* low_pc addr, high_pc data4 */
	RANGED = 2, /* subprogram: ranges sec_offset */
	PLAIN = 3,  /* subprogram: low_pc addr, high_pc data4, abstract_origin ref4 */
	BLOCK = 4,  /* lexical block with children */
};

static void put(struct crafted *c, uint64_t x, size_t size)
{
	assert_true(c->ninfo + size <= sizeof(c->info));
	x = htole64(x);
	memcpy(c->info + c->ninfo, &x, size);
	c->ninfo += size;
}

static void craft_begin(struct crafted *c)
{
	smallelf_init(&c->elf, 62 /* EM_X86_64 */);
	c->ninfo = c->nrnglists = 0;
	put(c, 0, 4); /* unit length, set at the end */
	put(c, 5, 2);
	put(c, 1, 1); /* DW_UT_compile */
	put(c, 8, 1);
	put(c, 0, 4);
	put(c, CU, 1);
	put(c, 0x1000, 8);
	put(c, 0x1000, 4);
}

static struct debuginfo *craft_open(struct crafted *c, struct elf_file **f)
{
	static const uint8_t text[0x1000];
	static const uint8_t abbrev[] = {
		CU,   0x11, 1,    0x11, 0x01, 0x12,  0x06, 0, 0,    RANGED, 0x2e,
		0,    0x55, 0x17, 0,    0,    PLAIN, 0x2e, 0, 0x11, 0x01,   0x12,
		0x06, 0x31, 0x13, 0,    0,    BLOCK, 0x0b, 1, 0,    0,      0,
	};
	uint32_t len = htole32((uint32_t)c->ninfo - 4);
	memcpy(c->info, &len, 4);
	smallelf_section(&c->elf, ".text", 1, 6, 0x1000, text, sizeof(text));
	smallelf_section(&c->elf, ".debug_info", 1, 0, 0, c->info, c->ninfo);
	smallelf_section(&c->elf, ".debug_abbrev", 1, 0, 0, abbrev, sizeof(abbrev));
	smallelf_section(&c->elf, ".debug_rnglists", 1, 0, 0, c->rnglists, c->nrnglists);
	size_t size = smallelf_finish(&c->elf);
	struct err e = {0};
	if (elf_file_open_mem(c->elf.image, size, "crafted", f, &e))
		fail_msg("%s", e.msg);
	return info(*f, NULL);
}

static void shared_range_lists_cannot_multiply(void **state)
{
	(void)state;
	struct crafted *c = calloc(1, sizeof(*c));
	struct debuginfo_frame fr[4];
	struct elf_file *f;
	assert_non_null(c);
	craft_begin(c);
	while (c->nrnglists + 4 < sizeof(c->rnglists)) { /* offset_pair 1..2 */
		memcpy(c->rnglists + c->nrnglists, "\4\1\2", 3);
		c->nrnglists += 3;
	}
	c->nrnglists++;
	while (c->ninfo + 8 < sizeof(c->info)) {
		put(c, RANGED, 1);
		put(c, 0, 4);
	}
	put(c, 0, 1);
	struct debuginfo *d = craft_open(c, &f);
	double from = seconds();
	debuginfo_frames(d, 0x1001, NULL, fr, 4);
	assert_true(seconds() - from < 1.0);
	assert_non_null(debuginfo_note(d, 0));
	assert_non_null(strstr(debuginfo_note(d, 0), "too much work"));
	debuginfo_close(d);
	elf_file_close(f);
	free(c);
}

static void origin_that_is_itself_has_no_name(void **state)
{
	(void)state;
	struct crafted *c = calloc(1, sizeof(*c));
	struct debuginfo_frame fr[4];
	struct elf_file *f;
	assert_non_null(c);
	craft_begin(c);
	size_t at = c->ninfo;
	put(c, PLAIN, 1);
	put(c, 0x1100, 8);
	put(c, 0x10, 4);
	put(c, at, 4);
	put(c, 0, 1);
	struct debuginfo *d = craft_open(c, &f);
	assert_int_equal(debuginfo_frames(d, 0x1105, NULL, fr, 4), 1);
	assert_null(fr[0].name);
	assert_int_equal(fr[0].entry, 0x1100);
	assert_int_equal(debuginfo_frames(d, 0x1110, NULL, fr, 4), 0);
	debuginfo_close(d);
	elf_file_close(f);
	free(c);
}

static void endless_nesting_stops_with_a_note(void **state)
{
	(void)state;
	struct crafted *c = calloc(1, sizeof(*c));
	struct debuginfo_frame fr[4];
	struct elf_file *f;
	assert_non_null(c);
	craft_begin(c);
	for (int i = 0; i < 10000; i++)
		put(c, BLOCK, 1);
	struct debuginfo *d = craft_open(c, &f);
	assert_int_equal(debuginfo_frames(d, 0x1105, NULL, fr, 4), 0);
	assert_non_null(debuginfo_note(d, 0));
	debuginfo_close(d);
	elf_file_close(f);
	free(c);
}

static void frames_without_lines_are_the_same_frames(void **state)
{
	static const struct debuginfo_options bare = {.no_lines = 1};
	(void)state;
	struct elf_file *f = elf("gcc5.elf");
	struct debuginfo *with = info(f, NULL), *without = info(f, &bare);
	struct debuginfo_frame a[16], b[16];
	int n = debuginfo_frames(with, inlined_va("gcc5"), NULL, a, 16);
	assert_in_range(n, 2, 16);
	assert_int_equal(debuginfo_frames(without, inlined_va("gcc5"), NULL, b, 16), n);
	for (int i = 0; i < n; i++) {
		assert_string_equal(a[i].name, b[i].name);
		assert_int_equal(a[i].entry, b[i].entry);
		assert_int_equal(a[i].inlined, b[i].inlined);
		assert_true(a[i].file && a[i].line);
		assert_true(!b[i].file && !b[i].line);
	}
	debuginfo_close(with);
	debuginfo_close(without);
	elf_file_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwarf_4_and_5_of_two_compilers),
		cmocka_unit_test(frames_without_lines_are_the_same_frames),
		cmocka_unit_test(types_in_units_of_their_own),
		cmocka_unit_test(sixty_four_bit_dwarf),
		cmocka_unit_test(other_machines_and_byte_orders),
		cmocka_unit_test(lto_names_come_from_other_units),
		cmocka_unit_test(compressed_sections),
		cmocka_unit_test(dwz_file_is_found_beside_the_module),
		cmocka_unit_test(split_dwarf_in_dwo_files),
		cmocka_unit_test(split_dwarf_in_packages),
		cmocka_unit_test(dwz_file_is_found_in_the_same_build_id_cache),
		cmocka_unit_test(dwp_is_found_beside_the_recorded_path),
		cmocka_unit_test(missing_dwz_file_leaves_ranges_and_a_note),
		cmocka_unit_test(dwz_file_of_another_build_is_refused),
		cmocka_unit_test(missing_dwo_leaves_lines_and_a_note),
		cmocka_unit_test(refuses_what_has_no_dwarf),
		cmocka_unit_test(symbol_names_the_outermost_frame_only),
		cmocka_unit_test(names_without_linkage_carry_their_scope),
		cmocka_unit_test(line_agrees_with_the_innermost_frame),
		cmocka_unit_test(threads_may_look_up_at_once),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(flipped_and_cut_files_are_survived),
		cmocka_unit_test(random_damage_is_survived),
		cmocka_unit_test(shared_range_lists_cannot_multiply),
		cmocka_unit_test(origin_that_is_itself_has_no_name),
		cmocka_unit_test(endless_nesting_stops_with_a_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
