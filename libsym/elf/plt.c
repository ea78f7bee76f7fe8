/*
 * The names of PLT stubs, by decoding them: stub → GOT slot → relocation → symbol. Counting
 * entries instead, as perf 6.1 does, breaks with .plt.sec, -z now and IRELATIVE slots.
 */
#include "libsym/elf/symtab.h"

#include "base/hash.h"

#include <string.h>

/* An indirect function, whose address is all that an IRELATIVE slot says. */
struct ifunc {
	const char *name;
	size_t under; /* leading underscores */
};

/* Where the names of GOT slots come from. */
struct slots {
	struct u64map name_of; /* GOT slot → index into names */
	VEC(const char *) names;
	VEC(uint32_t) jump; /* .rela.plt entry → index into names + 1, for push-index stubs */
	struct u64map ifunc_at; /* address → index into ifuncs */
	VEC(struct ifunc) ifuncs;
};

struct plt_section {
	const uint8_t *p;
	size_t n;
	uint64_t addr;
	size_t step;
};

/* The section's raw bytes by name; 0 when absent. */
static int section(struct elf_file *f, const char *name, GElf_Shdr *s, const uint8_t **p,
		   size_t *n)
{
	return elf_file_section(f, name, s, p, n, NULL) == 1;
}

/* Of the indirect functions among the symbols already collected, the best name of each address.
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

static int is_slot_type(uint16_t machine, uint32_t type, int *irelative)
{
	if (machine == EM_X86_64) {
		*irelative = type == R_X86_64_IRELATIVE;
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || *irelative;
	}
	*irelative = type == R_AARCH64_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || *irelative;
}

static int read_relocations(struct symtab_builder *b, struct elf_file *f, const char *name,
			    int is_plt, struct slots *slots)
{
	enum { RELA_SIZE = sizeof(Elf64_Rela) };
	GElf_Shdr s;
	const uint8_t *p;
	size_t n;
	if (!section(f, name, &s, &p, &n) || s.sh_type != SHT_RELA)
		return 0;
	for (; n >= RELA_SIZE; p += RELA_SIZE, n -= RELA_SIZE) {
		uint64_t offset = load_u64(p, f->swap), info = load_u64(p + 8, f->swap);
		const char *sym = NULL;
		int irelative;
		if (is_slot_type(f->ehdr.e_machine, (uint32_t)info, &irelative)) {
			sym = irelative ? ifunc_name(slots, load_u64(p + 16, f->swap))
					: dynsym_name(b, f, &s, info >> 32);
		}
		if (sym && (vec_push(&slots->names, sym) ||
			    u64map_put(&slots->name_of, offset, (uint32_t)slots->names.n - 1)))
			return ERR_NOMEM;
		if (is_plt && vec_push(&slots->jump, sym ? (uint32_t)slots->names.n : 0))
			return ERR_NOMEM;
	}
	return 0;
}

/* Machine code is little-endian, whoever reads it. */
static uint32_t code_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* --- x86-64 ----------------------------------------------------------------------------- */

static int is_endbr64(const uint8_t *p)
{
	return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa;
}

/* Of the slot at addr; NULL when unknown. */
static const char *slot_name(const struct slots *s, uint64_t addr)
{
	uint32_t i;
	return u64map_get(&s->name_of, addr, &i) && i < s->names.n ? s->names.v[i] : NULL;
}

/*
 * One stub of `n` bytes (8 or 16) at addr: [endbr64] [bnd] jmp *slot(%rip), or, where .plt.sec
 * has the jumps, [endbr64] push $index. The name, "" for the header, NULL when unknown.
 */
static const char *x86_stub(const struct slots *s, const uint8_t *p, size_t n, uint64_t addr)
{
	size_t at = n >= 10 && is_endbr64(p) ? 4 : 0;
	if (at + 5 <= n && p[at] == 0x68) {
		uint32_t index = code_u32(p + at + 1);
		return index < s->jump.n && s->jump.v[index] ? s->names.v[s->jump.v[index] - 1]
							     : NULL;
	}
	if (at + 7 <= n && p[at] == 0xf2)
		at++;
	if (at + 6 > n || p[at] != 0xff)
		return NULL;
	if (p[at + 1] == 0x35) /* push GOT[1](%rip) */
		return "";
	if (p[at + 1] != 0x25)
		return NULL;
	uint64_t slot = addr + at + 6 + (uint64_t)(int64_t)(int32_t)code_u32(p + at + 2);
	return slot_name(s, slot);
}

static int add_stub(struct symtab_builder *b, const struct plt_section *s, size_t at, size_t n,
		    const char *name)
{
	struct raw_symbol r = {.start = s->addr + at,
			       .end = s->addr + at + n,
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

static int add_x86(struct symtab_builder *b, const struct plt_section *s, struct slots *slots)
{
	for (size_t at = 0; at + s->step <= s->n; at += s->step) {
		const char *name = x86_stub(slots, s->p + at, s->step, s->addr + at);
		if (name && add_stub(b, s, at, s->step, name))
			return ERR_NOMEM;
	}
	return 0;
}

/* --- arm64 ------------------------------------------------------------------------------ */

static uint32_t insn(const struct plt_section *s, size_t at)
{
	return code_u32(s->p + at);
}

/* adrp x16, page; ldr x17, [x16, #low] at `at`: the slot they load. */
static int arm64_slot(const struct plt_section *s, size_t at, uint64_t *slot)
{
	if (at + 8 > s->n)
		return 0;
	uint32_t adrp = insn(s, at), ldr = insn(s, at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	uint64_t imm = (uint64_t)(adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	uint64_t pages = (imm ^ 0x100000) - 0x100000; /* sign of 21 bits */
	*slot = ((s->addr + at) & ~(uint64_t)4095) + (pages << 12) + ((ldr >> 10 & 0xfff) << 3);
	return 1;
}

/* A stub begins at its adrp, or at the `bti c` before it, and ends where the next one begins;
 * the last one ends after its br x17. What is in front of the first one is the header. */
static int add_arm64(struct symtab_builder *b, const struct plt_section *s, struct slots *slots)
{
	const uint32_t bti_c = 0xd503245f, br_x17 = 0xd61f0220;
	size_t header_end = 0;
	for (size_t at = 0; at + 8 <= s->n; at += 4) {
		uint64_t slot;
		const char *name = arm64_slot(s, at, &slot) ? slot_name(slots, slot) : NULL;
		if (!name)
			continue;
		size_t start = at >= 4 && insn(s, at - 4) == bti_c ? at - 4 : at;
		size_t end = at + 8;
		while (end + 4 <= s->n && end < at + 32 && insn(s, end - 4) != br_x17)
			end += 4;
		while (end + 4 <= s->n && insn(s, end) == 0xd503201f) /* nop */
			end += 4;
		if (!header_end && start && add_stub(b, s, 0, start, ""))
			return ERR_NOMEM;
		header_end = 1;
		if (add_stub(b, s, start, end - start, name))
			return ERR_NOMEM;
		at = end - 4;
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------- */

static int add_sections(struct symtab_builder *b, struct elf_file *f, struct slots *slots)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	int rc = 0;
	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		GElf_Shdr h;
		struct plt_section s;
		if (!section(f, names[i], &h, &s.p, &s.n) || !(h.sh_flags & SHF_EXECINSTR))
			continue;
		s.addr = h.sh_addr;
		s.step = h.sh_entsize == 8 ? 8 : 16;
		rc = f->ehdr.e_machine == EM_X86_64 ? add_x86(b, &s, slots)
						    : add_arm64(b, &s, slots);
	}
	return rc;
}

int symtab_builder_add_plt(struct symtab_builder *b, struct elf_file *f, struct err *e)
{
	struct slots slots = {0};
	int is64 = f->data[EI_CLASS] == ELFCLASS64;
	if (!is64 || (f->ehdr.e_machine != EM_X86_64 && f->ehdr.e_machine != EM_AARCH64))
		return 0;
	b->room += SYMTAB_SHARED_NAMES * f->size;
	int rc = find_ifuncs(b, &slots);
	if (!rc)
		rc = read_relocations(b, f, ".rela.plt", 1, &slots);
	if (!rc)
		rc = read_relocations(b, f, ".rela.dyn", 0, &slots);
	if (!rc)
		rc = add_sections(b, f, &slots);
	u64map_release(&slots.name_of);
	vec_release(&slots.names);
	vec_release(&slots.jump);
	u64map_release(&slots.ifunc_at);
	vec_release(&slots.ifuncs);
	return rc ? err_nomem(e) : 0;
}
