/*
 * Files of megabytes that are made to be slow: in each, few bytes name many, over and over.
 * What a fuzzer's inputs of some kilobytes never show. Before they were bounded, each of these
 * took between ten seconds and hours, or hundreds of megabytes.
 */
#include "tests/lib/large.h"

#include "libsym/unwind/cfi.h"
#include "libsym/unwind/cfi_expr.h"
#include "libsym/dwarf/debug_info.h"
#include "libsym/elf/symtab.h"
#include "libsym/unwind/arch.h"

enum { CODE = 0x1000, ALL_CODE = 1 << 30, HEAD = 64 + 56 };

static void set_u32(struct out *o, size_t at, uint64_t x)
{
	for (size_t i = 0; i < 4; i++)
		o->v[at + i] = (uint8_t)(x >> 8 * i);
}

/* --- an ELF file of such sections --------------------------------------------------------- */

struct image {
	struct out file, headers, names;
	unsigned nsections;
	unsigned nsegments; /* of which all but one lie above its code */
	int unended;        /* no NUL at the end of the names */
};

static void section(struct image *im, const char *name, uint32_t type, uint64_t offset,
		    uint64_t size)
{
	struct out *h = &im->headers;
	put(h, im->names.n, 4);
	put(h, type, 4);
	put(h, 0, 16); /* flags, address */
	put(h, offset, 8);
	put(h, size, 8);
	put(h, 0, 8); /* link, info */
	put(h, 4, 8); /* alignment */
	put(h, 0, 8);
	put_all(&im->names, name, strlen(name) + 1);
	im->nsections++;
}

static void begin(struct image *im)
{
	*im = (struct image){.nsegments = 1};
	fill(&im->file, 0, HEAD);
	section(im, "", 0, 0, 0);
}

/* Takes the section's bytes over. */
static void add(struct image *im, const char *name, struct out *o)
{
	section(im, name, 1, im->file.n, o->n);
	put_all(&im->file, o->v, o->n);
	free(o->v);
	*o = (struct out){0};
}

static void segment(struct out *o, uint64_t va, uint64_t size)
{
	put(o, 1, 4); /* PT_LOAD */
	put(o, 5, 4);
	put(o, 0, 8);
	put(o, va, 8);
	put(o, va, 8);
	put(o, HEAD, 8);
	put(o, size, 8);
	put(o, 4096, 8);
}

/* x86-64, with an executable segment from CODE on. */
static struct elf_file *finish(struct image *im)
{
	struct elf_file *f;
	struct err e = {0};
	uint64_t segments = im->nsegments > 1 ? im->file.n : 64;
	for (unsigned i = 1; i < im->nsegments; i++)
		segment(&im->file, ALL_CODE * 2u + 4096 * i, 4096);
	if (im->nsegments > 1)
		segment(&im->file, CODE, ALL_CODE);
	section(im, ".shstrtab", 3, im->file.n, im->names.n + (im->unended ? 0 : 10));
	put_all(&im->file, im->names.v, im->names.n);
	uint64_t headers = im->file.n;
	put_all(&im->file, im->headers.v, im->headers.n);
	struct out h = {0};
	put_all(&h, "\177ELF\2\1\1", 7);
	put(&h, 0, 9);
	put(&h, 3, 2);
	put(&h, 62, 2);
	put(&h, 1, 4);
	put(&h, 0, 8);
	put(&h, segments, 8);
	put(&h, headers, 8);
	put(&h, 0, 4);
	put(&h, 64, 2);
	put(&h, 56, 2);
	put(&h, im->nsegments, 2);
	put(&h, 64, 2);
	put(&h, im->nsections, 2);
	put(&h, im->nsections - 1, 2);
	segment(&h, CODE, ALL_CODE);
	assert_int_equal(h.n, HEAD);
	memcpy(im->file.v, h.v, h.n);
	free(h.v);
	if (elf_file_open_mem(im->file.v, im->file.n, "large", &f, &e))
		fail_msg("%s", e.msg);
	return f;
}

static void release(struct image *im, struct elf_file *f)
{
	elf_file_close(f);
	free(im->file.v);
	free(im->headers.v);
	free(im->names.v);
}

/* --- ELF ---------------------------------------------------------------------------------- */

static void notes_that_overlap_are_not_read_without_end(void **state)
{
	struct image im;
	(void)state;
	begin(&im);
	uint64_t at = im.file.n;
	fill(&im.file, 0, 6 * MB);
	for (int i = 0; i < 20000; i++)
		section(&im, "", 7, at, im.file.n - at);
	double start = seconds();
	struct elf_file *f = finish(&im);
	in_time(start);
	release(&im, f);
}

static void endless_names_of_sections_are_not_searched_for_each(void **state)
{
	GElf_Shdr shdr;
	const uint8_t *data;
	size_t size;
	struct image im;
	struct symtab *t;
	(void)state;
	begin(&im);
	for (int i = 0; i < 20000; i++)
		section(&im, "", 1, 0, 0);
	fill(&im.names, 't', 8 * MB);
	im.unended = 1;
	struct elf_file *f = finish(&im);
	double start = seconds();
	assert_int_equal(elf_file_section(f, ".debug_info", &shdr, &data, &size, NULL), 0);
	assert_int_equal(symtab_from_elf(f, NULL, arch_plt(f), &t, NULL), 0);
	in_time(start);
	symtab_free(t);
	release(&im, f);
}

/* Set flags and link of the section added last. */
static void set_section(struct image *im, uint64_t flags, unsigned link)
{
	size_t at = im->headers.n - 64;
	set_u32(&im->headers, at + 8, flags);
	set_u32(&im->headers, at + 40, link);
}

static void indirect_functions_are_not_searched_for_each_slot(void **state)
{
	enum { SYMBOLS = 32000, NAME = 1000, SLOTS = 1000, TEXT = 1, STRTAB = 2 };
	struct image im;
	struct out text = {0}, strs = {0}, syms = {0}, rela = {0};
	struct symtab *t;
	(void)state;
	begin(&im);
	fill(&text, 0, 16);
	add(&im, ".text", &text);
	set_section(&im, 6, 0);
	fill(&strs, '_', 4 * MB);
	put(&strs, 0, 1);
	uint64_t name = strs.n - NAME;
	add(&im, ".strtab", &strs);
	set_u32(&im.headers, im.headers.n - 60, 3);
	fill(&syms, 0, 24);
	for (int i = 0; i < SYMBOLS; i++) {
		put(&syms, name, 4);
		put(&syms, 0x1a, 1); /* a global indirect function */
		put(&syms, 0, 1);
		put(&syms, TEXT, 2);
		put(&syms, CODE, 8);
		put(&syms, 1, 8);
	}
	add(&im, ".symtab", &syms);
	set_u32(&im.headers, im.headers.n - 60, 2);
	set_section(&im, 0, STRTAB);
	for (uint64_t i = 0; i < SLOTS; i++) {
		put(&rela, 0x3000 + 8 * i, 8);
		put(&rela, 37, 8); /* R_X86_64_IRELATIVE */
		put(&rela, CODE, 8);
	}
	add(&im, ".rela.plt", &rela);
	set_u32(&im.headers, im.headers.n - 60, 4);
	struct elf_file *f = finish(&im);
	double start = seconds();
	assert_int_equal(symtab_from_elf(f, NULL, arch_plt(f), &t, NULL), 0);
	in_time(start);
	symtab_free(t);
	release(&im, f);
}

static void segments_are_not_searched_for_each_range(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0}, ranges = {0};
	struct debuginfo *d;
	(void)state;
	begin(&im);
	im.nsegments = 60000;
	put_all(&abbrev, BYTES(1, 0x11, 0, 0x55, 0x17, 0, 0, 0));
	for (uint64_t i = 0; i < 300000; i++) {
		put(&ranges, CODE + 16 * i, 8);
		put(&ranges, CODE + 16 * i + 8, 8);
	}
	put(&ranges, 0, 16);
	put(&info, 4 + 7, 4);
	put(&info, 4, 2);
	put(&info, 0, 4);
	put_all(&info, BYTES(8, 1, 0, 0, 0, 0));
	set_u32(&info, 0, info.n - 4);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	add(&im, ".debug_ranges", &ranges);
	struct elf_file *f = finish(&im);
	double start = seconds();
	assert_int_equal(debuginfo_open(f, NULL, NULL, &d, NULL), 0);
	in_time(start);
	debuginfo_close(d);
	release(&im, f);
}

/* --- call-frame information --------------------------------------------------------------- */

static void long_cie_is_not_read_for_each_fde(void **state)
{
	enum { FDES = 20000 };
	struct out o = {0};
	struct cfi *c;
	struct cfi_hit hit;
	(void)state;
	put(&o, 0, 4);
	put(&o, 0, 4);
	put_all(&o, BYTES(1, 'z'));
	fill(&o, 'G', 2 * MB);
	put_all(&o, BYTES(0, 1, 0x78, 16, 0));
	fill(&o, 0, 400);
	set_u32(&o, 0, o.n - 4);
	for (uint64_t i = 0; i < FDES; i++) {
		put(&o, 24, 4);
		put(&o, o.n, 4);
		put(&o, CODE + 16 * i, 8);
		put(&o, 16, 8);
		put(&o, 0, 4);
	}
	struct cfi_bytes b = {
		.machine = 62, .eh_frame = o.v, .eh_frame_size = o.n, .eh_frame_va = 0x100000};
	assert_int_equal(cfi_open_bytes(&b, &c, NULL), 0);
	double start = seconds();
	assert_int_equal(cfi_find(c, CODE + 1, &hit, NULL), 0);
	in_time(start);
	assert_non_null(cfi_damage(c));
	cfi_close(c);
	free(o.v);
}

static void long_number_is_not_read_at_each_step(void **state)
{
	struct out o = {0};
	struct cfi_expr_env env = {0};
	uint64_t v;
	(void)state;
	put_all(&o, BYTES(0x10)); /* constu */
	fill(&o, 0x80, 30000);
	put_all(&o, BYTES(0, 0x13, 0x2f)); /* drop, skip back */
	put(&o, (uint64_t) - (int64_t)(o.n + 2), 2);
	double start = seconds();
	for (int i = 0; i < 2000; i++)
		assert_true(cfi_expr_eval(o.v, o.n, &env, NULL, &v) < 0);
	in_time(start);
	free(o.v);
}

/* --- DWARF -------------------------------------------------------------------------------- */

/* A unit of DWARF `version` over [CODE, CODE + 0x1000) in abbreviation 1, which has children.
 * Returns where it begins, for unit_end. */
static size_t unit_begin(struct out *info, unsigned version, uint64_t low)
{
	size_t at = info->n;
	put(info, 0, 4);
	put(info, version, 2);
	if (version >= 5)
		put(info, 0x0801, 2); /* DW_UT_compile, 8 */
	put(info, 0, 4);              /* abbreviations */
	if (version < 5)
		put(info, 8, 1);
	put_all(info, BYTES(1));
	put(info, low, 8);
	put(info, 0x1000, 4);
	return at;
}

static void unit_end(struct out *info, size_t at)
{
	put(info, 0, 1);
	set_u32(info, at, info->n - at - 4);
}

/* low_pc, high_pc, and for units with lines stmt_list. */
static void abbrev_unit(struct out *abbrev, int lines)
{
	put_all(abbrev, BYTES(1, 0x11, 1, 0x11, 0x01, 0x12, 0x06));
	if (lines)
		put_all(abbrev, BYTES(0x10, 0x17));
	put(abbrev, 0, 2);
}

/* Look up `n` addresses, a page apart, within SECONDS_MAX; that some are too much for the file
 * is said. */
static void look_up(struct image *im, unsigned n)
{
	struct elf_file *f = finish(im);
	struct debuginfo *d;
	struct debuginfo_frame fr[4];
	struct err e = {0};
	double start = seconds();
	if (debuginfo_open(f, NULL, NULL, &d, &e))
		fail_msg("%s", e.msg);
	for (unsigned i = 0; i < n; i++)
		debuginfo_frames(d, CODE + 0x1000 * i + 1, NULL, fr, 4);
	in_time(start);
	if (!debuginfo_note(d, 0) || !strstr(debuginfo_note(d, 0), "too much work"))
		fail_msg("note: %s", debuginfo_note(d, 0));
	debuginfo_close(d);
	release(im, f);
}

static void attributes_without_bytes_cannot_multiply(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0};
	(void)state;
	begin(&im);
	abbrev_unit(&abbrev, 0);
	put_all(&abbrev, BYTES(2, 0x1d, 0));
	for (int i = 0; i < 30000; i++)
		put_all(&abbrev, BYTES(0x3f, 0x19)); /* external, flag_present */
	put_all(&abbrev, BYTES(0x3b, 0x0f, 0, 0, 0));
	size_t at = unit_begin(&info, 4, CODE);
	for (int i = 0; i < 200000; i++)
		put_all(&info, BYTES(2, 7));
	unit_end(&info, at);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	look_up(&im, 1);
}

static void base_addresses_of_shared_range_lists_cannot_multiply(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0}, ranges = {0};
	(void)state;
	begin(&im);
	abbrev_unit(&abbrev, 0);
	put_all(&abbrev, BYTES(2, 0x2e, 0, 0x55, 0x17, 0, 0, 0));
	for (int i = 0; i < 50000; i++) {
		put(&ranges, UINT64_MAX, 8);
		put(&ranges, CODE, 8);
	}
	put(&ranges, 0, 16);
	size_t at = unit_begin(&info, 4, CODE);
	for (int i = 0; i < 200000; i++)
		put_all(&info, BYTES(2, 0, 0, 0, 0));
	unit_end(&info, at);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	add(&im, ".debug_ranges", &ranges);
	look_up(&im, 1);
}

static void endless_namespace_is_not_measured_for_each_function(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0}, str = {0};
	(void)state;
	begin(&im);
	abbrev_unit(&abbrev, 0);
	put_all(&abbrev, BYTES(2, 0x39, 1, 0x03, 0x0e, 0, 0));    /* namespace: name strp */
	put_all(&abbrev, BYTES(3, 0x1d, 0, 0x03, 0x08, 0, 0, 0)); /* name string */
	fill(&str, 'n', 4 * MB);
	put(&str, 0, 1);
	size_t at = unit_begin(&info, 4, CODE);
	put_all(&info, BYTES(2, 0, 0, 0, 0));
	for (int i = 0; i < 200000; i++)
		put_all(&info, BYTES(3, 'f', 0));
	put(&info, 0, 1);
	unit_end(&info, at);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	add(&im, ".debug_str", &str);
	look_up(&im, 1);
}

static void endless_text_in_a_shared_origin_is_not_measured_for_each_function(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0};
	(void)state;
	begin(&im);
	abbrev_unit(&abbrev, 0);
	put_all(&abbrev, BYTES(2, 0x2e, 0, 0x03, 0x08, 0, 0));                /* name string */
	put_all(&abbrev, BYTES(3, 0x1d, 0, 0x03, 0x08, 0x31, 0x13, 0, 0, 0)); /* and origin */
	size_t at = unit_begin(&info, 4, CODE);
	size_t origin = info.n - at;
	put(&info, 2, 1);
	fill(&info, 'n', 4 * MB);
	put(&info, 0, 1);
	for (int i = 0; i < 300000; i++) {
		put_all(&info, BYTES(3, 'f', 0));
		put(&info, origin, 4);
	}
	unit_end(&info, at);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	look_up(&im, 1);
}

static void endless_path_is_not_measured_for_each_file(void **state)
{
	struct image im;
	struct out info = {0}, abbrev = {0}, line = {0}, str = {0};
	(void)state;
	begin(&im);
	abbrev_unit(&abbrev, 1);
	put(&abbrev, 0, 1);
	size_t at = unit_begin(&info, 5, CODE);
	put(&info, 0, 4);
	unit_end(&info, at);
	fill(&str, 'p', 4 * MB);
	put(&str, 0, 1);
	put(&line, 0, 4);
	put_all(&line, BYTES(5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1));
	put_all(&line, BYTES(1, 1, 0x1f, 1, 0, 0, 0, 0));    /* one directory: line_strp 0 */
	put_all(&line, BYTES(1, 1, 0x1f, 0xc0, 0x9a, 0x0c)); /* 200,000 files */
	fill(&line, 0, 200000 * 4);
	set_u32(&line, 8, line.n - 12);
	put_all(&line, BYTES(0, 1, 1));
	set_u32(&line, 0, line.n - 4);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	add(&im, ".debug_line", &line);
	add(&im, ".debug_line_str", &str);
	look_up(&im, 1);
}

static void abbreviations_read_from_each_place_on_stay_small(void **state)
{
	enum { ABBREVS = 200000, UNITS = 5000 };
	struct image im;
	struct out info = {0}, abbrev = {0};
	(void)state;
	long before = peak_mb();
	begin(&im);
	for (int i = 0; i < ABBREVS; i++)
		put_all(&abbrev, BYTES(1, 0x11, 0, 0, 0));
	for (int i = 0; i < UNITS; i++) {
		put(&info, 8, 4);
		put(&info, 4, 2);
		put(&info, (uint64_t)i * 5, 4);
		put(&info, 8, 1);
		put(&info, 1, 1);
	}
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	look_up(&im, 1);
	assert_true(peak_mb() - before < 200);
}

static void line_program_of_many_units_stays_small(void **state)
{
	enum { UNITS = 100 };
	struct image im;
	struct out info = {0}, abbrev = {0}, line = {0};
	(void)state;
	long before = peak_mb();
	begin(&im);
	abbrev_unit(&abbrev, 1);
	put(&abbrev, 0, 1);
	for (int i = 0; i < UNITS; i++) {
		size_t at = unit_begin(&info, 4, CODE + 0x1000 * (uint64_t)i);
		put(&info, 0, 4);
		unit_end(&info, at);
	}
	put(&line, 0, 4);
	put_all(&line, BYTES(4, 0, 8, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1, 0, 0));
	put_all(&line, BYTES(0, 9, 2, 0, 16, 0, 0, 0, 0, 0, 0));
	for (int i = 0; i < MB; i++)
		put(&line, 1 + 5 + 1 + 14, 1); /* one address and one line further */
	put_all(&line, BYTES(0, 1, 1));
	set_u32(&line, 0, line.n - 4);
	add(&im, ".debug_info", &info);
	add(&im, ".debug_abbrev", &abbrev);
	add(&im, ".debug_line", &line);
	look_up(&im, UNITS);
	assert_true(peak_mb() - before < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_that_overlap_are_not_read_without_end),
		cmocka_unit_test(endless_names_of_sections_are_not_searched_for_each),
		cmocka_unit_test(segments_are_not_searched_for_each_range),
		cmocka_unit_test(indirect_functions_are_not_searched_for_each_slot),
		cmocka_unit_test(long_cie_is_not_read_for_each_fde),
		cmocka_unit_test(long_number_is_not_read_at_each_step),
		cmocka_unit_test(abbreviations_read_from_each_place_on_stay_small),
		cmocka_unit_test(line_program_of_many_units_stays_small),
		cmocka_unit_test(attributes_without_bytes_cannot_multiply),
		cmocka_unit_test(base_addresses_of_shared_range_lists_cannot_multiply),
		cmocka_unit_test(endless_namespace_is_not_measured_for_each_function),
		cmocka_unit_test(
			endless_text_in_a_shared_origin_is_not_measured_for_each_function),
		cmocka_unit_test(endless_path_is_not_measured_for_each_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
