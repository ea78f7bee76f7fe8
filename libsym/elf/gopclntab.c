/*
 * Names of Go functions without a symbol table (`go build -ldflags=-s`): .gopclntab, which the
 * Go runtime needs and no strip removes. Layouts of Go 1.16, 1.18 and 1.20, after
 * src/runtime/symtab.go (pcHeader, functab, _func).
 *
 *	pcHeader  magic u32, 0, 0, minLC, ptrSize; then words: nfunc, nfiles,
 *		  textStart (1.18 on), offsets of function names, cu table, files,
 *		  pc table, functab
 *	functab   { entry, offset of _func } * nfunc, end: 1.18 on u32 relative to
 *		  textStart, before that words
 *	_func     entry (as above), i32 offset of the name
 *
 * textStart needs a relocation in position-independent programs, and is 0 since Go 1.26. Then the
 * start is moduledata.text, in section .go.module. With cgo, and whenever the C linker links, it
 * is not the start of .text, where C's start-up code is.
 */
#include "libsym/elf/symtab.h"

#include "base/bytes.h"
#include "libsym/elf/plausible.h"

#include <limits.h>
#include <string.h>

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

struct go_table {
	const uint8_t *p;
	size_t n;
	int swap, ptr_size;
	int relative; /* entries are u32, relative to `text` */
	uint64_t text, nfunc, names, functab;
	uint64_t text_word; /* where textStart is in the table */
};

/* Words of moduledata (src/runtime/symtab.go, Go 1.16 to 1.26). */
enum { MODULE_TEXT = 22 };

static uint64_t word(struct bytes *b, int size)
{
	return size == 8 ? bytes_u64(b) : bytes_u32(b);
}

static uint64_t entry(const struct go_table *t, struct bytes *b)
{
	return t->relative ? t->text + bytes_u32(b) : word(b, t->ptr_size);
}

static int read_header(struct go_table *t)
{
	struct bytes b = bytes_init(t->p, t->n, t->swap);
	uint32_t magic = bytes_u32(&b);
	uint16_t zero = bytes_u16(&b);
	bytes_skip(&b, 1);
	t->ptr_size = bytes_u8(&b);
	if (!bytes_ok(&b) || zero || (t->ptr_size != 4 && t->ptr_size != 8) ||
	    (magic != GO_1_16 && magic != GO_1_18 && magic != GO_1_20))
		return 0;
	t->relative = magic != GO_1_16;
	t->nfunc = word(&b, t->ptr_size);
	word(&b, t->ptr_size); /* files */
	t->text_word = (uint64_t)(b.p - t->p);
	t->text = t->relative ? word(&b, t->ptr_size) : 0;
	t->names = word(&b, t->ptr_size);
	bytes_skip(&b, 3 * (size_t)t->ptr_size);
	t->functab = word(&b, t->ptr_size);
	size_t row = t->relative ? 8 : 2 * (size_t)t->ptr_size;
	return bytes_ok(&b) && t->names < t->n && t->functab < t->n &&
	       t->nfunc < (t->n - t->functab) / row;
}

/* The name of the function whose _func is at `at`; NULL if it points outside. */
static const char *name_of(struct symtab_builder *sb, const struct go_table *t, uint64_t at)
{
	if (at > t->n - t->functab)
		return NULL;
	struct bytes b =
		bytes_init(t->p + t->functab + at, t->n - t->functab - (size_t)at, t->swap);
	entry(t, &b);
	uint64_t offset = bytes_u32(&b);
	if (!bytes_ok(&b) || offset >= t->n - t->names)
		return NULL;
	return symtab_builder_name(sb, (const char *)t->p + t->names + offset,
				   t->n - (size_t)t->names - (size_t)offset);
}

static int add_functions(struct symtab_builder *b, const struct go_table *t)
{
	struct bytes rows = bytes_init(t->p + t->functab, t->n - (size_t)t->functab, t->swap);
	uint64_t start = entry(t, &rows);
	b->room += SYMTAB_SHARED_NAMES * t->n;
	for (uint64_t i = 0; i < t->nfunc; i++) {
		uint64_t at = t->relative ? bytes_u32(&rows) : word(&rows, t->ptr_size);
		uint64_t end = entry(t, &rows);
		const char *name = name_of(b, t, at);
		struct raw_symbol r = {.start = start,
				       .end = end,
				       .limit = end,
				       .name = name,
				       .bind = STB_LOCAL,
				       .type = STT_FUNC};
		if (!bytes_ok(&rows))
			return 0;
		if (name && end > start && vec_push(&b->raw, r))
			return ERR_NOMEM;
		start = end;
	}
	return 0;
}

/* The addend of the relocation that is applied to the word at `address`, of the kind that adds
 * where the program was loaded: 1 and *value, or 0. */
static int relocated(struct elf_file *f, uint64_t address, uint64_t *value)
{
	GElf_Shdr s;
	GElf_Rela r;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		Elf_Data *d;
		if (!gelf_getshdr(scn, &s) || s.sh_type != SHT_RELA ||
		    !(s.sh_flags & SHF_ALLOC) || s.sh_offset > f->size ||
		    s.sh_size > f->size - s.sh_offset || !(d = elf_getdata(scn, NULL)))
			continue;
		for (size_t i = 0; i < s.sh_size / sizeof(Elf32_Rela) && i <= INT_MAX; i++)
			if (!gelf_getrela(d, (int)i, &r))
				break;
			else if (r.r_offset == address && !GELF_R_SYM(r.r_info)) {
				*value = (uint64_t)r.r_addend;
				return 1;
			}
	}
	return 0;
}

/* A word of a section, as the loader leaves it: 0 if it cannot be known. */
static uint64_t loaded_word(struct elf_file *f, const GElf_Shdr *s, const uint8_t *p, size_t n,
			    uint64_t at, const struct go_table *t)
{
	uint64_t value = 0;
	if (at > n || n - at < (size_t)t->ptr_size || relocated(f, s->sh_addr + at, &value))
		return value;
	struct bytes b = bytes_init(p + at, (size_t)t->ptr_size, t->swap);
	return word(&b, t->ptr_size);
}

/* Where functions begin to count; 0: not known. */
static uint64_t text_start(struct elf_file *f, const GElf_Shdr *pclntab,
			   const struct go_table *t)
{
	GElf_Shdr s;
	const uint8_t *p;
	size_t n;
	if (!t->relative || t->text)
		return t->text;
	if (elf_file_section(f, ".go.module", &s, &p, &n, NULL) == 1)
		return loaded_word(f, &s, p, n, MODULE_TEXT * (uint64_t)t->ptr_size, t);
	return loaded_word(f, pclntab, t->p, t->n, t->text_word, t);
}

static int doubt(struct symtab_builder *b)
{
	b->doubt = "where the functions of its Go table begin is unknown";
	return 0;
}

/* Find the table in a section: 1 with its header read, and *s beginning there. With the C linker
 * it is inside .data.rel.ro (-buildmode=pie before Go 1.26). */
static int find_table(struct elf_file *f, GElf_Shdr *s, struct go_table *t)
{
	static const char *const own[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	enum { ALIGN = 8 };
	const uint8_t *p;
	size_t n;
	GElf_Shdr note;
	for (size_t i = 0; i < 2; i++)
		if (elf_file_section(f, own[i], s, &t->p, &t->n, NULL) == 1)
			return read_header(t);
	if (elf_file_section(f, ".note.go.buildid", &note, &p, &n, NULL) != 1 ||
	    elf_file_section(f, ".data.rel.ro", s, &p, &n, NULL) != 1)
		return 0;
	for (size_t at = 0; at + ALIGN <= n; at += ALIGN) {
		t->p = p + at;
		t->n = n - at;
		if (read_header(t) && t->nfunc) {
			s->sh_addr += at;
			return 1;
		}
	}
	return 0;
}

int symtab_builder_add_go(struct symtab_builder *b, struct elf_file *f)
{
	struct go_table t = {.swap = f->swap};
	struct code_ranges code = {0};
	GElf_Shdr s;
	size_t before = b->raw.n;
	if (!find_table(f, &s, &t))
		return 0;
	t.text = text_start(f, &s, &t);
	code_ranges_of(&code, f);
	if (t.relative && !t.text)
		return doubt(b);
	if (add_functions(b, &t))
		return ERR_NOMEM;
	if (functions_fit(&code, b->raw.v + before, b->raw.n - before, SIZE_MAX))
		return 0;
	b->raw.n = before;
	return doubt(b);
}
