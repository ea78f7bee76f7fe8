/*
 * The names of PLT stubs, by decoding them: stub → GOT slot → relocation → symbol. Counting
 * entries instead, as perf 6.1 does, breaks with .plt.sec, -z now and IRELATIVE slots.
 */
#include "libsym/elf/symtab.h"

#include "base/hash.h"

#include <string.h>

/* An indirect function: an IRELATIVE slot only has its address. */
struct ifunc {
	const char *name;
	size_t under; /* leading underscores */
};

/* The names of GOT slots. */
struct slots {
	struct u64map name_of; /* GOT slot → index into names */
	VEC(const char *) names;
	VEC(uint32_t) jump; /* .rela.plt entry → index into names + 1, for push-index stubs */
	struct u64map ifunc_at; /* address → index into ifuncs */
	VEC(struct ifunc) ifuncs;
};

/* The section's raw bytes by name; 0 when absent. */
static int section(struct elf_file *f, const char *name, GElf_Shdr *s, const uint8_t **p,
		   size_t *n)
{
	return elf_file_section(f, name, s, p, n, NULL) == 1;
}

/* Collect the best name for each address of the indirect functions among the symbols.
 */
static int find_ifuncs(const struct symtab_builder *b, struct slots *slots)
{
	for (size_t i = 0; i < b->raw.n; i++) {
		const struct raw_symbol *s = &b->raw.v[i];
		uint32_t at;
		if (s->type != STT_GNU_IFUNC)
			continue;
		struct ifunc f = {s->name, strspn(s->name, "_")};
		if (u64map_get(&slots->ifunc_at, s->start, &at)) {
			if (f.under < slots->ifuncs.v[at].under)
				slots->ifuncs.v[at] = f;
		} else if (vec_push(&slots->ifuncs, f) ||
			   u64map_put(&slots->ifunc_at, s->start,
				      (uint32_t)slots->ifuncs.n - 1)) {
			return ERR_NOMEM;
		}
	}
	return 0;
}

static const char *ifunc_name(const struct slots *slots, uint64_t addr)
{
	uint32_t at;
	return u64map_get(&slots->ifunc_at, addr, &at) ? slots->ifuncs.v[at].name : NULL;
}

static const char *dynsym_name(struct symtab_builder *b, struct elf_file *f,
			       const GElf_Shdr *rela, uint64_t index)
{
	GElf_Shdr sym, str;
	Elf_Scn *scn = elf_getscn(f->elf, rela->sh_link);
	if (!scn || !gelf_getshdr(scn, &sym) || sym.sh_type != SHT_DYNSYM ||
	    sym.sh_offset > f->size || sym.sh_size > f->size - sym.sh_offset ||
	    index >= sym.sh_size / sizeof(Elf64_Sym))
		return NULL;
	uint32_t name = load_u32(f->data + sym.sh_offset + index * sizeof(Elf64_Sym), f->swap);
	scn = elf_getscn(f->elf, sym.sh_link);
	if (!scn || !gelf_getshdr(scn, &str) || str.sh_type != SHT_STRTAB ||
	    str.sh_offset > f->size || str.sh_size > f->size - str.sh_offset ||
	    name >= str.sh_size)
		return NULL;
	return symtab_builder_name(b, (const char *)f->data + str.sh_offset + name,
				   str.sh_size - name);
}

static int read_relocations(struct symtab_builder *b, struct elf_file *f,
			    const struct plt_shapes *shapes, const char *name, int is_plt,
			    struct slots *slots)
{
	enum { RELA_SIZE = sizeof(Elf64_Rela) };
	GElf_Shdr s;
	const uint8_t *p;
	size_t n;
	if (!section(f, name, &s, &p, &n) || s.sh_type != SHT_RELA)
		return 0;
	for (; n >= RELA_SIZE; p += RELA_SIZE, n -= RELA_SIZE) {
		uint64_t offset = load_u64(p, f->swap), info = load_u64(p + 8, f->swap);
		uint32_t type = (uint32_t)info;
		const char *sym = NULL;
		if (type == shapes->irelative)
			sym = ifunc_name(slots, load_u64(p + 16, f->swap));
		else if (type == shapes->jump_slot || type == shapes->glob_dat)
			sym = dynsym_name(b, f, &s, info >> 32);
		if (sym && (vec_push(&slots->names, sym) ||
			    u64map_put(&slots->name_of, offset, (uint32_t)slots->names.n - 1)))
			return ERR_NOMEM;
		if (is_plt && vec_push(&slots->jump, sym ? (uint32_t)slots->names.n : 0))
			return ERR_NOMEM;
	}
	return 0;
}

/* --- stubs ------------------------------------------------------------------------------ */

/* "" for the header; NULL when unknown. */
static const char *stub_name(const struct slots *s, const struct plt_stub *stub)
{
	uint32_t i;
	switch (stub->kind) {
	case PLT_SLOT:
		return u64map_get(&s->name_of, stub->value, &i) ? s->names.v[i] : NULL;
	case PLT_INDEX:
		return stub->value < s->jump.n && s->jump.v[stub->value]
			       ? s->names.v[s->jump.v[stub->value] - 1]
			       : NULL;
	default:
		return "";
	}
}

static int add_stub(struct symtab_builder *b, const struct plt_bytes *s, size_t start,
		    size_t end, const char *name)
{
	struct raw_symbol r = {.start = s->addr + start,
			       .end = s->addr + end,
			       .limit = s->addr + s->n,
			       .name = ".plt",
			       .bind = STB_GLOBAL,
			       .type = STT_FUNC};
	if (*name) {
		size_t len = strnlen(name, b->room);
		if (len == b->room)
			return 0;
		b->room -= len;
		char *text = arena_bytes(&b->text, len + sizeof("@plt"));
		if (!text)
			return ERR_NOMEM;
		memcpy(text, name, len);
		memcpy(text + len, "@plt", sizeof("@plt"));
		r.name = text;
	}
	return vec_push(&b->raw, r);
}

static int add_stubs(struct symtab_builder *b, const struct plt_bytes *s,
		     const struct plt_shapes *shapes, const struct slots *slots)
{
	size_t step = shapes->step ? shapes->step : s->step, next, first = 1;
	for (size_t at = 0; at < s->n; at = next) {
		struct plt_stub stub;
		const char *name = shapes->stub(s, at, &stub) ? stub_name(slots, &stub) : NULL;
		next = at + step;
		if (!name)
			continue;
		if (shapes->step && first && stub.start && add_stub(b, s, 0, stub.start, ""))
			return ERR_NOMEM;
		first = 0;
		if (add_stub(b, s, stub.start, stub.end, name))
			return ERR_NOMEM;
		next = stub.end;
	}
	return 0;
}

static int add_sections(struct symtab_builder *b, struct elf_file *f,
			const struct plt_shapes *shapes, const struct slots *slots)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	int rc = 0;
	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		GElf_Shdr h;
		struct plt_bytes s;
		if (!section(f, names[i], &h, &s.p, &s.n) || !(h.sh_flags & SHF_EXECINSTR))
			continue;
		s.addr = h.sh_addr;
		s.step = h.sh_entsize == 8 ? 8 : 16;
		rc = add_stubs(b, &s, shapes, slots);
	}
	return rc;
}

int symtab_builder_add_plt(struct symtab_builder *b, struct elf_file *f,
			   const struct plt_shapes *shapes, struct err *e)
{
	struct slots slots = {0};
	if (f->data[EI_CLASS] != ELFCLASS64 || !shapes)
		return 0;
	b->room += SYMTAB_SHARED_NAMES * f->size;
	int rc = find_ifuncs(b, &slots);
	if (!rc)
		rc = read_relocations(b, f, shapes, ".rela.plt", 1, &slots);
	if (!rc)
		rc = read_relocations(b, f, shapes, ".rela.dyn", 0, &slots);
	if (!rc)
		rc = add_sections(b, f, shapes, &slots);
	u64map_release(&slots.name_of);
	vec_release(&slots.names);
	vec_release(&slots.jump);
	u64map_release(&slots.ifunc_at);
	vec_release(&slots.ifuncs);
	return rc ? err_nomem(e) : 0;
}
