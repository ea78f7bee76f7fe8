/*
 * module_data.c - an address of data: which variable is there.
 *
 * perf records only mappings of code by default. In memory, a file's data has the same distance
 * from its code as in the file's own addresses:
 *
 *	file     │ code │ constants │ data, bss │
 *	memory   ├──────┤ recorded    ├─────────┤ not recorded: start of the code + difference
 *
 * The variable belongs to the file of the nearest code below it: a file's segments are mapped
 * together, data after code.
 */
#include "libsym/process/modules_internal.h"
#include "base/text/path.h"
#include "libparse/linux_mmap.h"

#include <inttypes.h>
#include <string.h>

enum {
	LOOKED_BELOW = 64, /* mappings to skip: of generated code, or replaced since */
	FORKS = 16,
};

/* 1 for code of a file, mapped at `time`. */
static int is_code(const struct machine *m, const struct map *x, uint64_t time)
{
	return x->prot & LINUX_PROT_EXEC && x->since <= time && x->until > time &&
	       m->dsos.v[x->dso].kind == DSO_FILE;
}

static const struct map *later(const struct map *a, const struct map *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->start > a->start || (b->start == a->start && b->since >= a->since) ? b : a;
}

/* The mapping of a file with the highest start at or below the address, at `time`. */
static const struct map *nearest_below(const struct machine *m, const struct space *s,
				       uint64_t address, uint64_t time)
{
	const struct map *best = NULL;
	size_t from = 0, to = s->sorted;
	while (from < to) {
		size_t at = from + (to - from) / 2;
		if (m->maps.v[s->by_start.v[at]].start <= address)
			from = at + 1;
		else
			to = at;
	}
	to = from > LOOKED_BELOW ? from - LOOKED_BELOW : 0;
	for (size_t i = from; i-- > to;) {
		const struct map *x = &m->maps.v[s->by_start.v[i]];
		if (best && x->start < best->start)
			break;
		if (is_code(m, x, time))
			best = later(best, x);
	}
	for (size_t i = s->sorted; i < s->by_start.n; i++) { /* the few that came since */
		const struct map *x = &m->maps.v[s->by_start.v[i]];
		if (x->start <= address && is_code(m, x, time))
			best = later(best, x);
	}
	return best;
}

/* The same, following forks: a process has its parent's mappings at the time of the fork. */
static const struct map *file_below(const struct machine *m, uint32_t space, uint64_t address,
				    uint64_t time)
{
	const struct map *best = NULL;
	for (int i = 0; i < FORKS && space < m->spaces.n; i++) {
		const struct space *s = &m->spaces.v[space];
		best = later(nearest_below(m, s, address, time), best);
		time = s->fork_time < time ? s->fork_time : time;
		space = s->parent;
	}
	return best;
}

static int is_writable(const struct elf_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nsegments; i++)
		if (f->segments[i].flags & PF_W && vaddr >= f->segments[i].vaddr &&
		    vaddr - f->segments[i].vaddr < f->segments[i].memsz)
			return 1;
	return 0;
}

/* The symbol of a file's variable at `distance` after a mapping's start. */
static int find_variable(struct modules *ms, const struct map *map, uint64_t distance,
			 struct symbol_hit *hit, uint64_t *offset)
{
	struct module *mod = module_of(ms, map->dso);
	uint64_t vaddr;
	if (!mod)
		return ERR_NOMEM;
	const struct dso_files *f = &mod->files;
	if (!f->runtime || !elf_file_vaddr(f->runtime, map->pgoff, &vaddr))
		return 0;
	vaddr += distance;
	if (!is_writable(f->runtime, vaddr))
		return 0;
	if (!mod->variables_tried &&
	    symtab_of_variables(f->runtime, f->debug, &mod->variables, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	mod->variables_tried = 1;
	if (!mod->variables || !symtab_find(mod->variables, vaddr, hit))
		return 0;
	*offset = vaddr - hit->start;
	return 1;
}

static int intern_variable(struct modules *ms, uint32_t dso, const struct symbol_hit *hit,
			   uint64_t offset, uint32_t *name)
{
	struct strtab *s = ms->machine->strings;
	struct buf b = {0};
	uint32_t symbol;
	int r = lookup_printable(ms, hit->name, 1, &symbol);
	if (!r) {
		const char *path = strtab_get(s, ms->machine->dsos.v[dso].name);
		buf_fmt(&b, "%s: %s", path_base(path), strtab_get(s, symbol));
		if (offset)
			buf_fmt(&b, "+0x%" PRIx64, offset);
		r = buf_failed(&b) ? ERR_NOMEM : strtab_intern(s, buf_cstr(&b), name);
	}
	buf_release(&b);
	return r ? r : 1;
}

int modules_variable_at(struct modules *ms, uint32_t space, uint64_t address, uint64_t time,
			uint32_t *name)
{
	const struct map *map = file_below(ms->machine, space, address, time);
	struct symbol_hit hit;
	uint64_t offset;
	if (!map || ms->opt.offsets)
		return 0;
	pthread_mutex_lock(&ms->lock);
	int r = find_variable(ms, map, address - map->start, &hit, &offset);
	if (r == 1)
		r = intern_variable(ms, map->dso, &hit, offset, name);
	pthread_mutex_unlock(&ms->lock);
	return r;
}
