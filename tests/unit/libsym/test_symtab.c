/* symtab: address → name. Truth: what smallelf wrote, objdump's stub names, perf's rules. */
#include "tests/lib/smallelf.h"
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/elf/symtab.h"
#include "libsym/unwind/arch.h"

#include <endian.h>
#include <stdio.h>
#include <time.h>

#if HAVE_LZMA
#include <lzma.h>
#endif

static struct smallelf s;
static unsigned text;

/* An x86-64 file with .text at 0x1000..0x2000. */
static void start_elf(uint16_t machine)
{
	static const uint8_t code[0x1000];
	smallelf_init(&s, machine);
	text = smallelf_section(&s, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
				code, sizeof(code));
}

static void add(const char *name, int bind, int type, uint64_t value, uint64_t size)
{
	smallelf_symbol(&s, name, bind, type, (uint16_t)text, value, size);
}

static struct symtab *build(void)
{
	struct elf_file *f = NULL;
	struct symtab *t = NULL;
	size_t n = smallelf_finish(&s);
	assert_int_equal(elf_file_open_mem(s.image, n, "small", &f, NULL), 0);
	assert_int_equal(symtab_from_elf(f, NULL, arch_plt(f), &t, NULL), 0);
	elf_file_close(f);
	return t;
}

static void expect(const struct symtab *t, uint64_t addr, const char *name)
{
	struct symbol_hit h = {0};
	int found = symtab_find(t, addr, &h);
	if (name)
		assert_string_equal(found ? h.name : "(none)", name);
	else
		assert_string_equal(found ? h.name : "(none)", "(none)");
}

static void sized_symbols_cover_exactly_their_bytes(void **state)
{
	(void)state;
	start_elf(EM_X86_64);
	add("b", STB_GLOBAL, STT_FUNC, 0x1040, 0x10);
	add("a", STB_LOCAL, STT_FUNC, 0x1010, 0x20);
	struct symtab *t = build();
	expect(t, 0x100f, NULL);
	expect(t, 0x1010, "a");
	expect(t, 0x102f, "a");
	expect(t, 0x1030, NULL);
	expect(t, 0x104f, "b");
	expect(t, 0x1050, NULL);
	expect(t, 0, NULL);
	expect(t, UINT64_MAX, NULL);
	symtab_free(t);
}

static void sizeless_symbols_reach_to_the_next_or_the_section_end(void **state)
{
	(void)state;
	start_elf(EM_X86_64);
	add("_start", STB_GLOBAL, STT_NOTYPE, 0x1000, 0);
	add("f", STB_GLOBAL, STT_FUNC, 0x1100, 0);
	add("g", STB_GLOBAL, STT_FUNC, 0x1200, 0);
	struct symtab *t = build();
	expect(t, 0x10ff, "_start");
	expect(t, 0x11ff, "f");
	expect(t, 0x1fff, "g");
	expect(t, 0x2000, NULL);
	symtab_free(t);
}

static void the_innermost_sized_symbol_wins_and_the_outer_one_resumes(void **state)
{
	(void)state;
	start_elf(EM_X86_64);
	add("outer", STB_GLOBAL, STT_FUNC, 0x1000, 0x100);
	add("label", STB_LOCAL, STT_NOTYPE, 0x1010, 0);
	add("inner", STB_LOCAL, STT_FUNC, 0x1040, 0x10);
	add("innermost", STB_LOCAL, STT_FUNC, 0x1044, 0x4);
	struct symtab *t = build();
	expect(t, 0x1018, "outer");
	expect(t, 0x1043, "inner");
	expect(t, 0x1045, "innermost");
	expect(t, 0x1048, "inner");
	expect(t, 0x1050, "outer");
	expect(t, 0x10ff, "outer");
	expect(t, 0x1100, NULL);
	symtab_free(t);
}

/* OCaml begins each module with camlFoo__code_begin, C programs have assembler labels. */
static void a_label_at_a_functions_address_is_not_its_name(void **state)
{
	(void)state;
	for (int label_first = 0; label_first < 2; label_first++) {
		start_elf(EM_X86_64);
		if (label_first)
			add("camlFoo__code_begin", STB_GLOBAL, STT_NOTYPE, 0x1000, 0);
		add("camlFoo__leaf_81", STB_GLOBAL, STT_FUNC, 0x1000, 60);
		if (!label_first)
			add("camlFoo__code_begin", STB_GLOBAL, STT_NOTYPE, 0x1000, 0);
		add("global_label_of_local", STB_GLOBAL, STT_NOTYPE, 0x1100, 0);
		add("local", STB_LOCAL, STT_FUNC, 0x1100, 16);
		add("next", STB_GLOBAL, STT_FUNC, 0x1200, 16);
		struct symtab *t = build();
		expect(t, 0x1000, "camlFoo__leaf_81");
		expect(t, 0x1050, NULL); /* padding */
		expect(t, 0x1100, "local");
		expect(t, 0x1150, NULL);
		symtab_free(t);
	}
}

static void aliases_are_chosen_as_perf_does(void **state)
{
	(void)state;
	start_elf(EM_X86_64);
	add("sizeless_but_long", STB_GLOBAL, STT_FUNC, 0x1000, 0);
	add("sized", STB_LOCAL, STT_FUNC, 0x1000, 16);
	add("weak", STB_WEAK, STT_FUNC, 0x1020, 16);
	add("local", STB_LOCAL, STT_FUNC, 0x1020, 16);
	add("a_global", STB_GLOBAL, STT_FUNC, 0x1040, 16);
	add("local_and_longer", STB_LOCAL, STT_FUNC, 0x1040, 16);
	add("__libc_read", STB_GLOBAL, STT_FUNC, 0x1060, 16);
	add("read", STB_GLOBAL, STT_FUNC, 0x1060, 16);
	add("first", STB_GLOBAL, STT_FUNC, 0x1080, 16);
	add("other", STB_GLOBAL, STT_FUNC, 0x1080, 16);
	add("longer", STB_GLOBAL, STT_FUNC, 0x1080, 16);
	add("zone", STB_GLOBAL, STT_FUNC, 0x10a0, 16);
	add("fish", STB_GLOBAL, STT_FUNC, 0x10a0, 16);
	/* Compared as "foo::bar" and "plain_function": no underscore, 8 and 14 long. */
	add("_ZN3foo3barEi", STB_GLOBAL, STT_FUNC, 0x10c0, 16);
	add("plain_function", STB_GLOBAL, STT_FUNC, 0x10c0, 16);
	struct symtab *t = build();
	expect(t, 0x1000, "sized");
	expect(t, 0x1020, "local");
	expect(t, 0x1040, "a_global");
	expect(t, 0x1060, "read");
	expect(t, 0x1080, "longer");
	expect(t, 0x10a0, "zone");
	expect(t, 0x10c0, "plain_function");
	symtab_free(t);
}

static void what_is_no_code_is_left_out(void **state)
{
	(void)state;
	start_elf(EM_AARCH64);
	unsigned data =
		smallelf_section(&s, ".rodata", SHT_PROGBITS, SHF_ALLOC, 0x3000, "x", 1);
	unsigned stub = smallelf_section(&s, ".stub", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
					 0x4000, "0123456789abcdef", 16);
	add("$x", STB_LOCAL, STT_NOTYPE, 0x1000, 0);
	add("$d.12", STB_LOCAL, STT_NOTYPE, 0x1010, 0);
	add("$xyz", STB_LOCAL, STT_FUNC, 0x1020, 16);
	add("file.c", STB_LOCAL, STT_FILE, 0x1040, 16);
	add("tls", STB_LOCAL, STT_TLS, 0x1050, 16);
	add("", STB_LOCAL, STT_FUNC, 0x1060, 16);
	smallelf_symbol(&s, "abs", STB_GLOBAL, STT_FUNC, SHN_ABS, 0x1070, 16);
	smallelf_symbol(&s, "undef", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0x1080, 16);
	smallelf_symbol(&s, "datum", STB_GLOBAL, STT_OBJECT, (uint16_t)data, 0x3000, 1);
	smallelf_symbol(&s, "label", STB_GLOBAL, STT_NOTYPE, (uint16_t)stub, 0x4000, 0);
	struct symtab *t = build();
	assert_int_equal(t->n, 1);
	expect(t, 0x1020, "$xyz");
	symtab_free(t);
}

static void risc_v_mapping_symbols_are_no_names(void **state)
{
	(void)state;
	start_elf(EM_RISCV);
	add("$xrv64i2p1_m2p0_c2p0", STB_LOCAL, STT_NOTYPE, 0x1000, 0);
	add("_start", STB_GLOBAL, STT_NOTYPE, 0x1000, 0);
	add("static_one", STB_LOCAL, STT_FUNC, 0x1020, 16);
	add("$x", STB_LOCAL, STT_NOTYPE, 0x1020, 0);
	add("$d", STB_LOCAL, STT_NOTYPE, 0x1040, 0);
	struct symtab *t = build();
	assert_int_equal(t->n, 2);
	expect(t, 0x1000, "_start");
	expect(t, 0x1020, "static_one");
	expect(t, 0x1048, NULL);
	symtab_free(t);
}

static void debug_file_wins_and_dynsym_is_added(void **state)
{
	(void)state;
	static struct smallelf stripped;
	start_elf(EM_X86_64);
	smallelf_dynsym(&s, "exported", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0x1000, 16);
	smallelf_dynsym(&s, "only_dynamic", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0x1040, 16);
	stripped = s;
	struct elf_file *runtime = NULL, *debug = NULL;
	struct symtab *t = NULL;
	assert_int_equal(elf_file_open_mem(stripped.image, smallelf_finish(&stripped),
					   "runtime", &runtime, NULL),
			 0);
	start_elf(EM_X86_64);
	add("exported", STB_GLOBAL, STT_FUNC, 0x1000, 16);
	add("hidden_function", STB_LOCAL, STT_FUNC, 0x1020, 16);
	assert_int_equal(elf_file_open_mem(s.image, smallelf_finish(&s), "debug", &debug, NULL),
			 0);
	assert_int_equal(symtab_from_elf(runtime, debug, arch_plt(runtime), &t, NULL), 0);
	expect(t, 0x1000, "exported");
	expect(t, 0x1020, "hidden_function");
	expect(t, 0x1040, "only_dynamic");
	symtab_free(t);
	elf_file_close(runtime);
	elf_file_close(debug);
}

static void variables_are_objects_in_writable_sections(void **state)
{
	(void)state;
	static const uint8_t bytes[0x100];
	struct elf_file *f = NULL;
	struct symtab *t = NULL;
	start_elf(EM_X86_64);
	unsigned fixed = smallelf_section(&s, ".rodata", SHT_PROGBITS, SHF_ALLOC, 0x2000, bytes,
					  sizeof(bytes));
	unsigned data = smallelf_section(&s, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE,
					 0x3000, bytes, sizeof(bytes));
	add("function", STB_GLOBAL, STT_FUNC, 0x1000, 16);
	smallelf_symbol(&s, "constant", STB_GLOBAL, STT_OBJECT, (uint16_t)fixed, 0x2000, 8);
	smallelf_symbol(&s, "book", STB_LOCAL, STT_OBJECT, (uint16_t)data, 0x3020, 40);
	smallelf_symbol(&s, "label", STB_LOCAL, STT_NOTYPE, (uint16_t)data, 0x3060, 0);
	smallelf_symbol(&s, "sizeless", STB_LOCAL, STT_OBJECT, (uint16_t)data, 0x3070, 0);
	size_t n = smallelf_finish(&s);
	assert_int_equal(elf_file_open_mem(s.image, n, "small", &f, NULL), 0);
	assert_int_equal(symtab_of_variables(f, NULL, &t, NULL), 0);
	expect(t, 0x301f, NULL);
	expect(t, 0x3020, "book");
	expect(t, 0x3047, "book");
	expect(t, 0x3048, NULL);
	expect(t, 0x3060, NULL);
	expect(t, 0x3070, NULL);
	expect(t, 0x1000, NULL);
	expect(t, 0x2000, NULL);
	symtab_free(t);
	elf_file_close(f);
}

static void minidebuginfo_is_read(void **state)
{
	(void)state;
#include <endian.h>

#if HAVE_LZMA
	static uint8_t xz[8192];
	size_t n = 0;
	start_elf(EM_X86_64);
	add("hidden_function", STB_LOCAL, STT_FUNC, 0x1020, 16);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, s.image,
						 smallelf_finish(&s), xz, &n, sizeof(xz)),
			 LZMA_OK);
	start_elf(EM_X86_64);
	smallelf_dynsym(&s, "exported", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0x1000, 16);
	smallelf_section(&s, ".gnu_debugdata", SHT_PROGBITS, 0, 0, xz, n);
	struct symtab *t = build();
	expect(t, 0x1000, "exported");
	expect(t, 0x1020, "hidden_function");
	symtab_free(t);
#else
	skip_because("built without lzma");
#endif
}

/* --- PLT -------------------------------------------------------------------------------- */

static void put32(uint8_t *p, uint32_t x)
{
	x = htole32(x);
	memcpy(p, &x, 4);
}

/* Relocations for slots 0x6000 (puts), 0x6008 (exit), 0x6010 (malloc, GLOB_DAT). */
static void add_plt_relocations(uint32_t jump_slot, uint32_t glob_dat)
{
	smallelf_dynsym(&s, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	smallelf_dynsym(&s, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	smallelf_dynsym(&s, "malloc", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	Elf64_Rela plt[] = {{0x6000, ELF64_R_INFO(1, jump_slot), 0},
			    {0x6008, ELF64_R_INFO(2, jump_slot), 0}};
	Elf64_Rela dyn[] = {{0x6010, ELF64_R_INFO(3, glob_dat), 0}};
	smallelf_section(&s, ".rela.plt", SHT_RELA, 0, 0, plt, sizeof(plt));
	smallelf_section(&s, ".rela.dyn", SHT_RELA, 0, 0, dyn, sizeof(dyn));
}

static void x86_stubs_are_named_by_their_slot(void **state)
{
	(void)state;
	uint8_t plt[48] = {0xff, 0x35}, sec[32], got[8] = {0xff, 0x25};
	plt[6] = 0xff, plt[7] = 0x25;
	/* .plt with IBT: endbr64; push $1 / $0; jmp header. The order is not that of the slots.
	 */
	for (int i = 0; i < 2; i++) {
		uint8_t *p = plt + 16 + 16 * i;
		put32(p, 0xfa1e0ff3);
		p[4] = 0x68;
		put32(p + 5, (uint32_t)(1 - i));
		/* .plt.sec: endbr64; jmp *slot(%rip) */
		p = sec + 16 * i;
		memset(p, 0x90, 16);
		put32(p, 0xfa1e0ff3);
		p[4] = 0xff, p[5] = 0x25;
		put32(p + 6, (uint32_t)(0x6000 + 8 * i - (0x2100 + 16 * i + 10)));
	}
	put32(got + 2, 0x6010 - (0x2200 + 6));
	got[6] = 0x66, got[7] = 0x90;
	start_elf(EM_X86_64);
	smallelf_section(&s, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt,
			 sizeof(plt));
	smallelf_section(&s, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2100, sec,
			 sizeof(sec));
	unsigned g = smallelf_section(&s, ".plt.got", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				      0x2200, got, sizeof(got));
	s.sh[g].sh_entsize = 8;
	add_plt_relocations(R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT);
	struct symtab *t = build();
	expect(t, 0x2000, ".plt");
	expect(t, 0x2010, "exit@plt");
	expect(t, 0x202f, "puts@plt");
	expect(t, 0x2100, "puts@plt");
	expect(t, 0x211f, "exit@plt");
	expect(t, 0x2204, "malloc@plt");
	expect(t, 0x2208, NULL);
	symtab_free(t);
}

static void arm64_stubs_are_named_by_their_slot(void **state)
{
	(void)state;
	/* As aarch64-linux-gnu-ld -z force-bti writes it: header, then bti c; adrp x16; ldr
	 * x17; add x16; br x17; nop. Page of 0x6000 from 0x2000 is 4: immlo 0, immhi 1. */
	const uint32_t header[] = {0xd503245f, 0xa9bf7bf0, 0x90000030, 0xf947fe11,
				   0x913fe210, 0xd61f0220, 0xd503201f, 0xd503201f};
	uint8_t plt[32 + 48];
	memcpy(plt, header, sizeof(header));
	for (uint32_t i = 0; i < 2; i++) {
		uint8_t *p = plt + 32 + 24 * i;
		put32(p, 0xd503245f);
		put32(p + 4, 0x90000030);
		put32(p + 8, 0xf9400211 | i << 10);
		put32(p + 12, 0x91000210);
		put32(p + 16, 0xd61f0220);
		put32(p + 20, 0xd503201f);
	}
	start_elf(EM_AARCH64);
	smallelf_section(&s, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt,
			 sizeof(plt));
	add_plt_relocations(R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT);
	struct symtab *t = build();
	expect(t, 0x2000, ".plt");
	expect(t, 0x201f, ".plt");
	expect(t, 0x2020, "puts@plt");
	expect(t, 0x2037, "puts@plt");
	expect(t, 0x2038, "exit@plt");
	expect(t, 0x204f, "exit@plt");
	expect(t, 0x2050, NULL);
	symtab_free(t);
}

static void riscv64_stubs_are_named_by_their_slot(void **state)
{
	(void)state;
	/* As riscv64-linux-gnu-ld writes it: a header of 32 bytes, then auipc t3; ld t3; jalr
	 * t1, t3; nop. Page of 0x6000 from 0x2000 is 4. */
	const uint32_t code[] = {0x00002397, 0x41c30333, 0xa583be03, 0xfd430313,
				 0xa5838293, 0x00135313, 0x0082b283, 0x000e0067,
				 0x00004e17, 0xfe0e3e03, 0x000e0367, 0x00000013,
				 0x00004e17, 0xfd8e3e03, 0x000e0367, 0x00000013};
	uint8_t plt[sizeof(code)];
	for (size_t i = 0; i < sizeof(code) / 4; i++)
		put32(plt + 4 * i, code[i]);
	start_elf(EM_RISCV);
	smallelf_section(&s, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt,
			 sizeof(plt));
	add_plt_relocations(R_RISCV_JUMP_SLOT, R_RISCV_64);
	struct symtab *t = build();
	expect(t, 0x2010, ".plt");
	expect(t, 0x2020, "puts@plt");
	expect(t, 0x203f, "exit@plt");
	expect(t, 0x2040, NULL);
	symtab_free(t);
}

/* --- kernel modules --------------------------------------------------------------------- */

static void module_sections_are_laid_out_as_the_kernel_does(void **state)
{
	(void)state;
	smallelf_init(&s, EM_X86_64);
	struct {
		const char *name;
		uint64_t flags, size, align;
	} secs[] = {{".text", SHF_ALLOC | SHF_EXECINSTR, 0x24, 16},
		    {".init.text", SHF_ALLOC | SHF_EXECINSTR, 0x30, 16},
		    {".data", SHF_ALLOC, 0x10, 16},
		    {".text.unlikely", SHF_ALLOC | SHF_EXECINSTR, 0x20, 32}};
	unsigned at[4];
	for (int i = 0; i < 4; i++) {
		at[i] = smallelf_section(&s, secs[i].name, SHT_PROGBITS, 0, 0, s.image + 0x4000,
					 secs[i].size);
		s.sh[at[i]].sh_flags = secs[i].flags;
		s.sh[at[i]].sh_addralign = secs[i].align;
	}
	smallelf_symbol(&s, "start", STB_LOCAL, STT_FUNC, (uint16_t)at[0], 0, 0x10);
	smallelf_symbol(&s, "init", STB_LOCAL, STT_FUNC, (uint16_t)at[1], 0, 0x10);
	smallelf_symbol(&s, "rare", STB_LOCAL, STT_FUNC, (uint16_t)at[3], 4, 0x10);
	struct elf_file *f = NULL;
	struct symtab *t = NULL;
	size_t n = smallelf_finish(&s);
	assert_int_equal(elf_file_open_mem(s.image, n, "x.ko", &f, NULL), 0);
	assert_int_equal(symtab_from_module(f, &t, NULL), 0);
	assert_int_equal(t->n, 2);
	expect(t, 0x0, "start");
	expect(t, 0x44, "rare"); /* 0x24 rounded up to 0x40, + 4 */
	symtab_free(t);
	elf_file_close(f);
}

/* --- damage ----------------------------------------------------------------------------- */

static void poke(const uint8_t *image, size_t n)
{
	struct elf_file *f = NULL;
	struct symtab *t = NULL;
	struct symbol_hit h;
	if (elf_file_open_mem(image, n, "damaged", &f, NULL))
		return;
	assert_int_equal(symtab_from_elf(f, NULL, arch_plt(f), &t, NULL), 0);
	for (uint64_t a = 0xff0; a < 0x2300; a += 13)
		if (symtab_find(t, a, &h))
			assert_true(strlen(h.name) < n);
	symtab_free(t);
	t = NULL;
	assert_int_equal(symtab_from_module(f, &t, NULL), 0);
	symtab_free(t);
	elf_file_close(f);
}

static void damaged_files_never_crash(void **state)
{
	(void)state;
	uint8_t plt[32] = {0xff, 0x35};
	plt[16] = 0xff, plt[17] = 0x25;
	put32(plt + 18, 0x6000 - 0x2016);
	start_elf(EM_X86_64);
	smallelf_section(&s, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt,
			 sizeof(plt));
	add("f", STB_GLOBAL, STT_FUNC, 0x1000, 4);
	add("g", STB_WEAK, STT_FUNC, 0x1000, 0);
	smallelf_dynsym(&s, "h", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0x1010, 8);
	add_plt_relocations(R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT);
	size_t n = smallelf_finish(&s);
	uint8_t *copy = mem_alloc(n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0x300 && i < 0x2000)
			i = 0x2000; /* padding and empty code */
		if (i > 0x2020 && i < 0x8000)
			i = 0x8000;
		uint8_t *cut = mem_alloc(i);
		memcpy(cut, s.image, i);
		poke(cut, i);
		mem_free(cut);
		static const uint8_t flips[] = {0xff, 0x01, 0x80, 0x10};
		for (size_t k = 0; k < sizeof(flips); k++) {
			memcpy(copy, s.image, n);
			copy[i] ^= flips[k];
			poke(copy, n);
		}
	}
	mem_free(copy);
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	start_elf(EM_X86_64);
	add("f", STB_GLOBAL, STT_FUNC, 0x1010, 4);
	add("_ZN1aC1Ev", STB_GLOBAL, STT_FUNC, 0x1000, 4);
	add("_ZN1aC2Ev", STB_GLOBAL, STT_FUNC, 0x1000, 4);
	add_plt_relocations(R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT);
	struct elf_file *f = NULL;
	struct symtab *t = NULL;
	size_t n = smallelf_finish(&s);
	assert_int_equal(elf_file_open_mem(s.image, n, "small", &f, NULL), 0);
	for (long k = 0; k < 100; k++) {
		mem_fail_after(k);
		int rc = symtab_from_elf(f, NULL, arch_plt(f), &t, NULL);
		mem_fail_after(-1);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
		assert_null(t);
	}
	assert_non_null(t);
	symtab_free(t);
	elf_file_close(f);
}

/* --- Go --------------------------------------------------------------------------------- */

static void put(uint8_t *p, uint64_t x, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(x >> 8 * i);
}

/* .gopclntab of Go 1.20 (or 1.16) with main.f at 0x1010..0x1030 and main.g up to 0x1040. */
static size_t go_table(uint8_t *p, uint32_t magic)
{
	static const char names[] = "main.f\0main.g";
	int old = magic == 0xfffffffa;
	static const uint64_t words[] = {2, 0, 0x1000, 80, 0, 0, 0, 100};
	static const uint64_t at[] = {0x1010, 100, 0x1030, 120, 0x1040};
	size_t n = 8, wide = old ? 8 : 4;
	memset(p, 0, 300);
	put(p, magic, 4);
	p[6] = 1;
	p[7] = 8;
	for (size_t i = 0; i < 8; i++) {
		if (i == 2 && old)
			continue;
		put(p + n, words[i], 8);
		n += 8;
	}
	memcpy(p + 80, names, sizeof(names));
	for (size_t i = 0; i < 5; i++)
		put(p + 100 + i * wide, i % 2 || old ? at[i] : at[i] - 0x1000, wide);
	put(p + 100 + 120 + wide, 7, 4); /* main.g */
	return 250;
}

static struct symtab *build_go(const uint8_t *table, size_t n)
{
	start_elf(EM_X86_64);
	smallelf_section(&s, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0x2000, table, n);
	return build();
}

static void go_functions_without_a_symbol_table(void **state)
{
	static const uint32_t magics[] = {0xfffffff1, 0xfffffff0, 0xfffffffa};
	uint8_t table[300];
	(void)state;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		struct symtab *t = build_go(table, go_table(table, magics[i]));
		expect(t, 0x100f, NULL);
		expect(t, 0x1010, "main.f");
		expect(t, 0x102f, "main.f");
		expect(t, 0x1030, "main.g");
		expect(t, 0x1040, NULL);
		symtab_free(t);
	}
	struct symtab *t = build_go(table, go_table(table, 0xfffffffb)); /* Go 1.2 */
	expect(t, 0x1010, NULL);
	symtab_free(t);
}

/* Where a Go program's functions begin: in the table, in moduledata, or in a relocation of one of
 * them; `at` is not the start of .text, where C code is. */
static void go_functions_begin_where_the_program_says(void **state)
{
	enum { IN_TABLE, IN_MODULE, IN_MODULE_RELOCATED, IN_TABLE_RELOCATED, NOWHERE, WHERES };
	(void)state;
	for (int where = 0; where < WHERES; where++)
		for (uint64_t at = 0x1000; at <= 0x1fd0; at += 0xfd0) {
			uint8_t table[300], module[24 * 8] = {0}, rela[2 * 24] = {0};
			size_t n = go_table(table, 0xfffffff1);
			uint64_t word = where == IN_TABLE_RELOCATED ? 0x2018 : 0x3000 + 22 * 8;
			put(table + 24, where == IN_TABLE ? at : 0, 8);
			put(module + 22 * 8, where == IN_MODULE ? at : 0, 8);
			put(rela + 24, word, 8);
			put(rela + 32, 8, 8); /* R_X86_64_RELATIVE */
			put(rela + 40, at, 8);
			start_elf(EM_X86_64);
			smallelf_section(&s, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0x2000,
					 table, n);
			if (where == IN_MODULE || where == IN_MODULE_RELOCATED)
				smallelf_section(&s, ".go.module", SHT_PROGBITS, SHF_ALLOC,
						 0x3000, module, sizeof(module));
			if (where == IN_MODULE_RELOCATED || where == IN_TABLE_RELOCATED)
				smallelf_section(&s, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0x4000,
						 rela, sizeof(rela));
			struct symtab *t = build();
			/* from 0x1fd0 on they would pass the end of .text */
			int fits = at == 0x1000 && where != NOWHERE;
			expect(t, 0x1010, fits ? "main.f" : NULL);
			expect(t, at + 0x30, fits ? "main.g" : NULL);
			assert_int_equal(t->doubt != NULL, !fits);
			symtab_free(t);
		}
}

/* prelink moves a program and keeps its build-id; its debug file stays as it was. */
static void a_debug_file_of_other_addresses_names_nothing(void **state)
{
	(void)state;
	static struct smallelf moved;
	for (uint64_t by = 0; by <= 0x100000; by += 0x100000) {
		struct elf_file *runtime = NULL, *debug = NULL;
		struct symtab *t = NULL;
		start_elf(EM_X86_64);
		smallelf_dynsym(&s, "exported", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0x1040,
				16);
		moved = s;
		assert_int_equal(elf_file_open_mem(moved.image, smallelf_finish(&moved),
						   "runtime", &runtime, NULL),
				 0);
		start_elf(EM_X86_64);
		for (uint64_t i = 0; i < 16; i++)
			add("hidden", STB_LOCAL, STT_FUNC, 0x1100 + by + i * 16, 16);
		assert_int_equal(
			elf_file_open_mem(s.image, smallelf_finish(&s), "debug", &debug, NULL),
			0);
		assert_int_equal(symtab_from_elf(runtime, debug, NULL, &t, NULL), 0);
		expect(t, 0x1100, by ? NULL : "hidden");
		expect(t, 0x1100 + by, by ? NULL : "hidden");
		expect(t, 0x1040, "exported");
		assert_int_equal(t->doubt != NULL, by != 0);
		symtab_free(t);
		elf_file_close(runtime);
		elf_file_close(debug);
	}
}

static void damaged_go_tables_are_survived(void **state)
{
	uint8_t table[300];
	(void)state;
	size_t n = go_table(table, 0xfffffff1);
	for (size_t cut = 0; cut < n; cut++)
		symtab_free(build_go(table, cut));
	for (size_t k = 0; k < n; k++)
		for (int bit = 0; bit < 8; bit++) {
			table[k] ^= (uint8_t)(1 << bit);
			symtab_free(build_go(table, n));
			table[k] ^= (uint8_t)(1 << bit);
		}
}

/* A name of 300 bytes that demangles to more than anyone would print. */
static void exploding_name(char *out)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int at = sprintf(out, "_Z1fI1AIiiE");
	for (int k = 0; k < 35; k++)
		at += sprintf(out + at, "S_IS%c_S%c_E", digits[k], digits[k]);
	strcpy(out + at, "EvT_");
}

/* Each is given up after 64 KiB of output, which for a million of them would take a minute. */
static void very_many_aliases_are_chosen_from_in_bounded_time(void **state)
{
	enum { ALIASES = 1000000, SECONDS = 10 };
	struct symtab_builder b = {0};
	struct symtab *t = NULL;
	struct symbol_hit h = {0};
	char name[600];
	(void)state;
	exploding_name(name);
	struct raw_symbol alias = {
		.start = 0x1000, .end = 0x1010, .name = name, .bind = STB_GLOBAL};
	for (unsigned i = 0; i < ALIASES; i++)
		assert_int_equal(vec_push(&b.raw, alias), 0);
	clock_t begin = clock();
	assert_int_equal(symtab_builder_finish(&b, &t, NULL), 0);
	assert_true(clock() - begin < SECONDS * CLOCKS_PER_SEC);
	assert_int_equal(symtab_find(t, 0x1000, &h), 1);
	symtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sized_symbols_cover_exactly_their_bytes),
		cmocka_unit_test(sizeless_symbols_reach_to_the_next_or_the_section_end),
		cmocka_unit_test(the_innermost_sized_symbol_wins_and_the_outer_one_resumes),
		cmocka_unit_test(a_label_at_a_functions_address_is_not_its_name),
		cmocka_unit_test(aliases_are_chosen_as_perf_does),
		cmocka_unit_test(what_is_no_code_is_left_out),
		cmocka_unit_test(risc_v_mapping_symbols_are_no_names),
		cmocka_unit_test(debug_file_wins_and_dynsym_is_added),
		cmocka_unit_test(variables_are_objects_in_writable_sections),
		cmocka_unit_test(minidebuginfo_is_read),
		cmocka_unit_test(x86_stubs_are_named_by_their_slot),
		cmocka_unit_test(arm64_stubs_are_named_by_their_slot),
		cmocka_unit_test(riscv64_stubs_are_named_by_their_slot),
		cmocka_unit_test(module_sections_are_laid_out_as_the_kernel_does),
		cmocka_unit_test(damaged_files_never_crash),
		cmocka_unit_test(exhaustion_is_an_error),
		cmocka_unit_test(very_many_aliases_are_chosen_from_in_bounded_time),
		cmocka_unit_test(go_functions_without_a_symbol_table),
		cmocka_unit_test(go_functions_begin_where_the_program_says),
		cmocka_unit_test(a_debug_file_of_other_addresses_names_nothing),
		cmocka_unit_test(damaged_go_tables_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
