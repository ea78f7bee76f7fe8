/* module_carried.c - an address of a file that is not here, but of which the recording has the
 * symbols that were hit (simpleperf). */
#include "libsym/process/modules_internal.h"

static int take(void *ctx, const struct carried_symbol *s)
{
	struct symtab_builder *b = ctx;
	const char *name = arena_strndup(&b->text, s->name, s->n);
	struct raw_symbol raw = {.start = s->start,
				 .end = s->start + s->size,
				 .limit = s->start + s->size,
				 .name = name,
				 .bind = STB_GLOBAL,
				 .type = STT_FUNC};
	if (s->size > UINT64_MAX - s->start || !s->n)
		return 0;
	return !name || vec_push(&b->raw, raw) ? ERR_NOMEM : 0;
}

static int read_symbols(const struct modules *ms, const char *path, struct carried_file *file,
			struct symtab **out)
{
	struct symtab_builder b = {0};
	int r = simpleperf_symbols(ms->rec, path, file, take, &b);
	*out = NULL;
	b.plain_names = r > 0 && file->is_kernel;
	if (r > 0 && b.raw.n)
		r = symtab_builder_finish(&b, out, NULL);
	symtab_builder_release(&b);
	return r < 0 ? r : 0;
}

int carried_open(struct modules *ms, const char *path, struct module *mod)
{
	int r = read_symbols(ms, path, &mod->carried, &mod->symbols);
	mod->is_carried = mod->symbols_tried = mod->symbols != NULL;
	return r;
}

int carried_kernel(const struct modules *ms, struct symtab **out)
{
	struct carried_file file;
	return read_symbols(ms, "[kernel.kallsyms]", &file, out);
}

/* simpleperf marks the mappings of generated code; their symbols have absolute addresses. */
enum { PROT_JIT_SYMFILE = 0x4000 };

uint64_t carried_vaddr(const struct carried_file *c, const struct map *map, uint64_t ip)
{
	if (map->prot & PROT_JIT_SYMFILE)
		return ip;
	/* a file has one segment with code: where its place is not known, it is the mapping's */
	uint64_t offset = c->has_offset ? map->pgoff - c->min_offset : 0;
	return ip - map->start + offset + c->min_vaddr;
}
