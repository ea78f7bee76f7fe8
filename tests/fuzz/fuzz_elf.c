/*
 * fuzz_elf - an ELF file as symbolizer's input: headers, segments, sections (compressed ones
 * too), build-id, symbol tables, MiniDebugInfo, PLT stubs, kernel modules.
 *
 * Input: an ELF file; where there is a second part, that is its separate debug file.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libsym/elf/symtab.h"
#include "libsym/unwind/arch.h"

#include <string.h>

enum { SYMBOLS_MAX = 512 };

static void touch_symbols(const struct symtab *t)
{
	struct symbol_hit hit;
	for (size_t i = 0; i < t->n; i++) {
		const struct symbol *s = &t->symbols[i];
		fuzz_must(s->name < t->names_size, "a name lies in the table");
		fuzz_must(s->parent <= t->n, "a parent is a symbol");
		fuzz_must(!i || t->symbols[i - 1].start <= s->start, "symbols are sorted");
		if (i >= SYMBOLS_MAX)
			continue;
		fuzz_text(t->names + s->name);
		if (symtab_find(t, s->start + s->size / 2, &hit))
			fuzz_text(hit.name);
	}
	symtab_find_name(t, "_text", &hit);
}

static void take_symbols(struct elf_file *f, struct elf_file *debug)
{
	struct symtab *t = NULL;
	struct err e = {0};
	int rc = f->ehdr.e_type == ET_REL ? symtab_from_module(f, &t, &e)
					  : symtab_from_elf(f, debug, arch_plt(f), &t, &e);
	if (rc)
		fuzz_failed(rc, &e);
	else
		touch_symbols(t);
	symtab_free(t);
}

static void take_places(const struct elf_file *f)
{
	uint64_t va;
	for (size_t i = 0; i < f->nsegments; i++)
		elf_file_vaddr(f, f->segments[i].offset + 1, &va);
	elf_file_vaddr(f, 0x1000, &va);
}

static void take_sections(struct elf_file *f)
{
	static const char *const names[] = {".text",   ".debug_info",    ".debug_str",
					    ".symtab", ".gnu_debugdata", ".note.gnu.build-id",
					    ".bss"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		GElf_Shdr sh;
		const uint8_t *data;
		size_t size;
		struct err e = {0};
		int got = elf_file_section(f, names[i], &sh, &data, &size, &e);
		if (got < 0)
			fuzz_failed(got, &e);
		else if (got)
			fuzz_touch(data, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct elf_file *f = NULL, *debug = NULL;
	struct err e = {0};
	size_t runtime_n, debug_n = 0;
	uint8_t *runtime = fuzz_part(&p, &n, &runtime_n), *other = fuzz_part(&p, &n, &debug_n);
	int rc = elf_file_open_mem(runtime, runtime_n, "fuzz", &f, &e);
	if (rc)
		fuzz_failed(rc, &e);
	if (other)
		elf_file_open_mem(other, debug_n, "fuzz.debug", &debug, NULL);
	if (f) {
		char hex[2 * BUILD_ID_MAX + 1];
		fuzz_text(build_id_hex(&f->id, hex));
		take_places(f);
		take_sections(f);
		take_symbols(f, debug);
	}
	elf_file_close(debug);
	elf_file_close(f);
	mem_free(other);
	mem_free(runtime);
	return 0;
}
