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
 */
#include "libsym/elf/symtab.h"

#include "base/bytes.h"

#include <string.h>

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

struct go_table {
	const uint8_t *p;
	size_t n;
	int swap, ptr_size;
	int relative; /* entries are u32, relative to `text` */
	uint64_t text, nfunc, names, functab;
};

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
	uint64_t text = t->relative ? word(&b, t->ptr_size) : 0;
	t->names = word(&b, t->ptr_size);
	bytes_skip(&b, 3 * (size_t)t->ptr_size);
	t->functab = word(&b, t->ptr_size);
	/* 0 if it needs relocation (-buildmode=pie): then it is the start of .text */
	t->text = text ? text : t->text;
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

int symtab_builder_add_go(struct symtab_builder *b, struct elf_file *f)
{
	struct go_table t = {.swap = f->swap};
	GElf_Shdr s;
	const uint8_t *text;
	size_t n;
	if (elf_file_section(f, ".gopclntab", &s, &t.p, &t.n, NULL) != 1 &&
	    elf_file_section(f, ".data.rel.ro.gopclntab", &s, &t.p, &t.n, NULL) != 1)
		return 0;
	t.text = elf_file_section(f, ".text", &s, &text, &n, NULL) == 1 ? s.sh_addr : 0;
	return read_header(&t) ? add_functions(b, &t) : 0;
}
