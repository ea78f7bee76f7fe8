#include "libsym/elf/plausible.h"

#include "base/search.h"

void code_ranges_add(struct code_ranges *c, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	if (c->n < sizeof(c->v) / sizeof(*c->v)) {
		c->v[c->n++] = (struct code_range){start, end};
		return;
	}
	struct code_range *last = &c->v[c->n - 1];
	last->start = start < last->start ? start : last->start;
	last->end = end > last->end ? end : last->end;
}

void code_ranges_of(struct code_ranges *c, const struct elf_file *f)
{
	GElf_Shdr s;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));)
		if (gelf_getshdr(scn, &s) && s.sh_flags & SHF_EXECINSTR &&
		    s.sh_flags & SHF_ALLOC)
			code_ranges_add(c, s.sh_addr, s.sh_addr + s.sh_size);
	for (size_t i = 0; !c->n && i < f->nsegments; i++)
		if (f->segments[i].flags & PF_X)
			code_ranges_add(c, f->segments[i].vaddr,
					f->segments[i].vaddr + f->segments[i].memsz);
}

/* 1 when a function's entry and end are in one range, in this order. */
static int code_ranges_hold(const struct code_ranges *c, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].start <= start && start <= end && end <= c->v[i].end &&
		    start < c->v[i].end)
			return 1;
	return 0;
}

int functions_fit(const struct code_ranges *c, const struct raw_symbol *v, size_t n,
		  size_t spared)
{
	size_t outside = 0;
	for (size_t i = 0; i < n; i++)
		outside += !code_ranges_hold(c, v[i].start, v[i].end);
	return outside <= n / spared;
}

int table_fits(const struct code_ranges *c, const struct symtab *t, uint64_t slide,
	       size_t spared)
{
	size_t n = 0, outside = 0;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t start = t->symbols[i].start + slide;
		if (t->symbols[i].module)
			continue;
		n++;
		outside += !code_ranges_hold(c, start, start); /* ends may be guessed */
	}
	return outside <= n / spared;
}

void generated_fit_add(struct generated_fit *f, uint64_t start, uint64_t end)
{
	size_t i = PARTITION_POINT(k, 0, f->n, f->memory[k].end <= start);
	if (i == f->n || f->memory[i].start >= end)
		return;
	if (f->memory[i].start <= start && end <= f->memory[i].end)
		f->inside++;
	else
		f->cut++;
}

int generated_fits(const struct generated_fit *f)
{
	enum { SPARED = 8 };
	return f->inside && f->cut <= (f->inside + f->cut) / SPARED;
}
