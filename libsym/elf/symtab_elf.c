/* The symbols of ELF files: which entries of which tables are used. */
#include "libsym/elf/symtab.h"

#include "base/mem.h"
#include "base/search.h"
#include "libsym/elf/decompress.h"
#include "libsym/elf/plausible.h"

#include <limits.h>
#include <string.h>

/* --- sections --------------------------------------------------------------------------- */

/* What the filter needs to know of a section, read once. */
struct section {
	uint64_t addr, size, align;
	uint64_t place; /* .ko: where the kernel puts it in the module, UINT64_MAX = nowhere */
	uint8_t alloc, exec, write, text_name;
};

enum what { FUNCTIONS, MODULE_FUNCTIONS, VARIABLES };

struct sections {
	VEC(struct section) of; /* by section index */
};

static int read_sections(struct elf_file *f, struct sections *out)
{
	size_t n;
	if (elf_getshdrnum(f->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Shdr s;
		Elf_Scn *scn = elf_getscn(f->elf, i);
		struct section x = {.place = UINT64_MAX};
		if (scn && gelf_getshdr(scn, &s)) {
			const char *name = elf_file_section_name(f, &s);
			x.addr = s.sh_addr;
			x.size = s.sh_size;
			x.align = s.sh_addralign;
			x.alloc = (s.sh_flags & SHF_ALLOC) != 0;
			x.exec = (s.sh_flags & SHF_EXECINSTR) != 0;
			x.write = (s.sh_flags & SHF_WRITE) != 0;
			x.text_name = memmem(name, strnlen(name, NAME_MAX), "text", 4) != NULL;
			if (x.alloc && x.exec && strncmp(name, ".init", 5) != 0)
				x.place = 0;
		}
		if (vec_push(&out->of, x))
			return ERR_NOMEM;
	}
	return 0;
}

/* Executable sections of a module are adjacent in memory, in file order. */
static void lay_out_module(struct sections *s)
{
	uint64_t at = 0;
	for (size_t i = 0; i < s->of.n; i++) {
		struct section *x = &s->of.v[i];
		if (x->place)
			continue;
		uint64_t align = x->align && !(x->align & (x->align - 1)) ? x->align : 1;
		at = (at + align - 1) & ~(align - 1);
		x->place = at;
		if (__builtin_add_overflow(at, x->size, &at))
			at = UINT64_MAX / 2;
	}
}

/* --- one symbol table ------------------------------------------------------------------- */

/* A table as bytes: entries in the file's class and byte order, and its strings. */
struct sym_view {
	const uint8_t *p;
	size_t n, entsize;
	const char *strs;
	size_t strs_size;
	int swap, is64;
	uint16_t machine;
};

static int bytes_of_section(const struct elf_file *f, const GElf_Shdr *s, const uint8_t **p)
{
	if (s->sh_type == SHT_NOBITS || s->sh_offset > f->size ||
	    s->sh_size > f->size - s->sh_offset)
		return 0;
	*p = f->data + s->sh_offset;
	return 1;
}

static int view_of(struct elf_file *f, uint32_t type, struct sym_view *v)
{
	GElf_Shdr s, link;
	const uint8_t *strs;
	*v = (struct sym_view){.swap = f->swap,
			       .is64 = f->data[EI_CLASS] == ELFCLASS64,
			       .machine = f->ehdr.e_machine};
	v->entsize = v->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		if (!gelf_getshdr(scn, &s) || s.sh_type != type ||
		    !bytes_of_section(f, &s, &v->p))
			continue;
		Elf_Scn *str = elf_getscn(f->elf, s.sh_link);
		if (!str || !gelf_getshdr(str, &link) || link.sh_type != SHT_STRTAB ||
		    !bytes_of_section(f, &link, &strs))
			return 0;
		v->n = s.sh_size / v->entsize;
		v->strs = (const char *)strs;
		/* Only terminated text may be returned as strings. */
		v->strs_size = link.sh_size;
		while (v->strs_size && strs[v->strs_size - 1])
			v->strs_size--;
		return 1;
	}
	return 0;
}

static GElf_Sym symbol_at(const struct sym_view *v, size_t i)
{
	const uint8_t *p = v->p + i * v->entsize;
	if (v->is64)
		return (GElf_Sym){.st_name = load_u32(p, v->swap),
				  .st_info = p[4],
				  .st_other = p[5],
				  .st_shndx = load_u16(p + 6, v->swap),
				  .st_value = load_u64(p + 8, v->swap),
				  .st_size = load_u64(p + 16, v->swap)};
	return (GElf_Sym){.st_name = load_u32(p, v->swap),
			  .st_info = p[12],
			  .st_other = p[13],
			  .st_shndx = load_u16(p + 14, v->swap),
			  .st_value = load_u32(p + 4, v->swap),
			  .st_size = load_u32(p + 8, v->swap)};
}

/* 1 for marks of where code and data begin: $x, $d, $a, $t and $x.foo (ELF for the Arm ABI),
 * for RISC-V also $xrv64gc and the like (its psABI). */
static int is_mapping_symbol(uint16_t machine, const char *name)
{
	if (name[0] != '$' || !name[1])
		return 0;
	if (machine == EM_RISCV)
		return name[1] == 'd' || name[1] == 'x';
	return (machine == EM_ARM || machine == EM_AARCH64) && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static int wanted(const GElf_Sym *s, const struct section *x, enum what what)
{
	if (what == VARIABLES)
		return x->alloc && x->write && s->st_size &&
		       GELF_ST_TYPE(s->st_info) == STT_OBJECT;
	if (!x->alloc || !x->exec)
		return 0;
	switch (GELF_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return 1;
	case STT_NOTYPE:
		return x->text_name && GELF_ST_VISIBILITY(s->st_other) != STV_HIDDEN &&
		       GELF_ST_VISIBILITY(s->st_other) != STV_INTERNAL;
	default:
		return 0;
	}
}

static int add_symbol(struct symtab_builder *b, const struct sym_view *v, const GElf_Sym *s,
		      const struct section *x, enum what what)
{
	const char *name = v->strs + s->st_name;
	if (is_mapping_symbol(v->machine, name))
		return 0;
	name = symtab_builder_name(b, name, v->strs_size - s->st_name);
	if (!name)
		return 0;
	struct raw_symbol r = {.start = s->st_value,
			       .name = name,
			       .bind = GELF_ST_BIND(s->st_info),
			       .type = GELF_ST_TYPE(s->st_info)};
	if (v->machine == EM_ARM && r.type == STT_FUNC)
		r.start &= ~(uint64_t)1; /* the Thumb bit */
	uint64_t base = x->addr;
	if (what == MODULE_FUNCTIONS) {
		if (x->place == UINT64_MAX)
			return 0;
		base = x->place;
		r.start += x->place;
	}
	if (__builtin_add_overflow(r.start, s->st_size, &r.end))
		r.end = UINT64_MAX;
	if (__builtin_add_overflow(base, x->size, &r.limit))
		r.limit = UINT64_MAX;
	return vec_push(&b->raw, r);
}

static int add_table(struct symtab_builder *b, struct elf_file *f, uint32_t type,
		     enum what what)
{
	struct sym_view v;
	struct sections secs = {0};
	if (!view_of(f, type, &v))
		return 0;
	int rc = read_sections(f, &secs) || vec_reserve(&b->raw, v.n) ? ERR_NOMEM : 0;
	b->room += SYMTAB_SHARED_NAMES * v.strs_size;
	if (what == MODULE_FUNCTIONS)
		lay_out_module(&secs);
	for (size_t i = 1; !rc && i < v.n; i++) {
		GElf_Sym s = symbol_at(&v, i);
		if (s.st_shndx == SHN_UNDEF || s.st_shndx >= secs.of.n ||
		    s.st_name >= v.strs_size)
			continue;
		const struct section *x = &secs.of.v[s.st_shndx];
		if (wanted(&s, x, what))
			rc = add_symbol(b, &v, &s, x, what);
	}
	vec_release(&secs.of);
	return rc;
}

static int has_table(struct elf_file *f, uint32_t type)
{
	struct sym_view v;
	return f && view_of(f, type, &v);
}

/* --- MiniDebugInfo ---------------------------------------------------------------------- */

/* .gnu_debugdata: an xz-compressed ELF file with the symbols that .dynsym lacks. */
static int open_minidebug(struct elf_file *f, uint8_t **image, struct elf_file **mini)
{
	GElf_Shdr s;
	const uint8_t *p;
	size_t n, size;
	*image = NULL;
	*mini = NULL;
	if (elf_file_section(f, ".gnu_debugdata", &s, &p, &n, NULL) != 1 ||
	    decompress(DECOMPRESS_XZ, p, n, (size_t)1 << 30, f->path, image, &size, NULL))
		return 0;
	return elf_file_open_mem(*image, size, f->path, mini, NULL) == 0;
}

/* --- all of a module -------------------------------------------------------------------- */

/*
 * Keep the symbols from `from` on, of a file that is not the one that ran, if they are in its
 * code: prelink moves a program, but not its debug file, and keeps its build-id.
 */
static void keep_if_plausible(struct symtab_builder *b, size_t from,
			      const struct elf_file *runtime)
{
	enum { SPARED = 8 }; /* labels, and functions that strip left without a section */
	struct code_ranges code = {0};
	if (!runtime)
		return;
	code_ranges_of(&code, runtime);
	if (functions_fit(&code, b->raw.v + from, b->raw.n - from, SPARED))
		return;
	b->raw.n = from;
	b->doubt = "its debug file has other addresses (prelink?)";
}

/* The functions that .eh_frame_hdr lists, by address; n 0 unless its table has the only form that
 * linkers write: signed 32-bit words, relative to the section. */
struct fde_starts {
	const uint8_t *p;
	size_t n;
	uint64_t base;
	int swap;
};

static uint64_t fde_start(const struct fde_starts *t, size_t i)
{
	return t->base + (uint64_t)(int64_t)(int32_t)load_u32(t->p + i * 8, t->swap);
}

static void fde_starts_of(struct fde_starts *t, struct elf_file *f)
{
	enum { HEAD = 12, VERSION = 1, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
	GElf_Shdr s;
	const uint8_t *p;
	size_t n;
	*t = (struct fde_starts){.swap = f->swap};
	if (elf_file_section(f, ".eh_frame_hdr", &s, &p, &n, NULL) != 1 || n < HEAD ||
	    p[0] != VERSION || p[2] != UDATA4 || p[3] != DATAREL_SDATA4)
		return;
	uint32_t listed = load_u32(p + 8, f->swap);
	t->p = p + HEAD;
	t->n = listed < (n - HEAD) / 8 ? listed : (n - HEAD) / 8;
	t->base = s.sh_addr;
}

/* strip may have removed the next symbol: one without a size ends where unwinding information
 * says that another function begins. */
static void limit_sizeless(struct symtab_builder *b, struct elf_file *runtime)
{
	struct fde_starts t;
	fde_starts_of(&t, runtime);
	for (size_t i = 0; i < b->raw.n && t.n; i++) {
		struct raw_symbol *s = &b->raw.v[i];
		size_t next = PARTITION_POINT(k, 0, t.n, fde_start(&t, k) <= s->start);
		if (s->start == s->end && next < t.n && fde_start(&t, next) < s->limit)
			s->limit = fde_start(&t, next);
	}
}

static int collect(struct symtab_builder *b, struct elf_file *runtime, struct elf_file *debug,
		   const struct plt_shapes *plt, uint8_t **image, struct elf_file **mini)
{
	struct elf_file *full = has_table(debug, SHT_SYMTAB)     ? debug
				: has_table(runtime, SHT_SYMTAB) ? runtime
								 : NULL;
	int rc = full ? add_table(b, full, SHT_SYMTAB, FUNCTIONS) : 0;
	if (!rc && !full && runtime && open_minidebug(runtime, image, mini))
		rc = add_table(b, *mini, SHT_SYMTAB, FUNCTIONS);
	if (!rc && full != runtime)
		keep_if_plausible(b, 0, runtime);
	if (!rc && !full && runtime)
		rc = symtab_builder_add_go(b, runtime);
	if (!rc && runtime)
		rc = add_table(b, runtime, SHT_DYNSYM, FUNCTIONS);
	if (!rc && runtime)
		limit_sizeless(b, runtime);
	if (!rc && !runtime)
		rc = add_table(b, debug, SHT_DYNSYM, FUNCTIONS);
	if (!rc && runtime)
		rc = symtab_builder_add_plt(b, runtime, plt, NULL);
	return rc;
}

int symtab_from_elf(struct elf_file *runtime, struct elf_file *debug,
		    const struct plt_shapes *plt, struct symtab **out, struct err *e)
{
	struct symtab_builder b = {0};
	struct elf_file *mini = NULL;
	uint8_t *image = NULL;
	*out = NULL;
	int rc = collect(&b, runtime, debug, plt, &image, &mini);
	rc = rc ? err_nomem(e) : symtab_builder_finish(&b, out, e);
	symtab_builder_release(&b);
	elf_file_close(mini);
	mem_free(image);
	elf_file_drop_pages(runtime);
	elf_file_drop_pages(debug);
	return rc;
}

int symtab_of_variables(struct elf_file *runtime, struct elf_file *debug, struct symtab **out,
			struct err *e)
{
	struct symtab_builder b = {0};
	struct elf_file *full = has_table(debug, SHT_SYMTAB) ? debug : runtime;
	*out = NULL;
	int rc = add_table(&b, full, has_table(full, SHT_SYMTAB) ? SHT_SYMTAB : SHT_DYNSYM,
			   VARIABLES);
	rc = rc ? err_nomem(e) : symtab_builder_finish(&b, out, e);
	symtab_builder_release(&b);
	return rc;
}

int symtab_from_module(struct elf_file *ko, struct symtab **out, struct err *e)
{
	struct symtab_builder b = {.plain_names = 1};
	*out = NULL;
	int rc = add_table(&b, ko, SHT_SYMTAB, MODULE_FUNCTIONS);
	rc = rc ? err_nomem(e) : symtab_builder_finish(&b, out, e);
	symtab_builder_release(&b);
	return rc;
}
