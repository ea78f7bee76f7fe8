/* module_kernel.c - an address of the kernel or of its modules: kallsyms, vmlinux, the .ko. */
#include "libsym/process/modules_internal.h"
#include "base/mem.h"
#include "libsym/elf/plausible.h"

#include <stdio.h>

/* Release all but the flag that others read. */
static void drop_files(struct kernel_names *k)
{
	symtab_free(k->vmlinux);
	kallsyms_release(&k->kallsyms);
	kernel_files_release(&k->files);
	k->vmlinux = NULL;
	k->slide = 0;
}

void kernel_close(struct kernel_names *k)
{
	drop_files(k);
	k->read = 0;
}

/* Load the kernel's files but the first `skip` that are found. */
static int kernel_load(struct modules *ms, const struct kernel_place *place, size_t skip)
{
	struct kernel_names *k = &ms->kernel;
	/* one thread at a time looks for files: debuginfod, and the reasons kept */
	pthread_mutex_lock(&ms->lock);
	int rc = dso_find_kernel(&ms->opt.find, place, ms->rec->features.osrelease, skip,
				 &k->files, NULL);
	pthread_mutex_unlock(&ms->lock);
	if (rc == ERR_NOMEM)
		return ERR_NOMEM;
	if (k->files.kallsyms && kallsyms_load(k->files.kallsyms_fd, k->files.kallsyms,
					       &k->kallsyms, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	if (k->files.vmlinux &&
	    symtab_from_elf(k->files.vmlinux, NULL, NULL, &k->vmlinux, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	return 0;
}

static const char elsewhere[] = "its functions are not where the recorded kernel had code";

/* How far the kernel was moved from the addresses of the table. 0: not known. */
static int locate(struct kernel_names *k, const struct kernel_place *place)
{
	const char *symbol = kernel_located_by(place);
	struct symbol_hit hit;
	uint64_t text = 0;
	if (k->kallsyms.table)
		text = strcmp(symbol, "_stext") ? k->kallsyms.text : k->kallsyms.stext;
	else if (k->vmlinux && symtab_find_name(k->vmlinux, symbol, &hit))
		text = hit.start;
	if (!text || !place->pgoff)
		return 0;
	k->slide = place->pgoff - text;
	return 1;
}

/* 0 for a table whose functions are not where the kernel was: the boot had another address. */
static int is_plausible(struct modules *ms, const struct kernel_place *place)
{
	/* .init.text, and in .ko files .exit.text, are not in the mapping */
	enum { SPARED = 2, SPARED_UNLOCATED = 6 };
	struct kernel_names *k = &ms->kernel;
	struct code_ranges code = {0};
	int located = locate(k, place);
	const struct symtab *t = kernel_table(ms);
	code_ranges_add(&code, place->start, place->end);
	return !t || table_fits(&code, t, k->slide, located ? SPARED : SPARED_UNLOCATED);
}

int kernel_open(struct modules *ms, const struct kernel_place *place)
{
	struct kernel_names *k = &ms->kernel;
	size_t refused = 0;
	for (;; refused++) {
		int rc = kernel_load(ms, place, refused);
		if (!rc && is_plausible(ms, place))
			break;
		drop_files(k);
		if (rc)
			return rc;
	}
	if (!kernel_table(ms) && carried_kernel(ms, &k->vmlinux))
		return ERR_NOMEM;
	if (refused && k->files.reason != DSO_FOUND) {
		k->files.reason = DSO_UNREADABLE;
		snprintf(k->files.detail, DSO_DETAIL_MAX, "%s", elsewhere);
	}
	__atomic_store_n(&k->read, 1, __ATOMIC_RELEASE);
	return 0;
}

int kernel_read(struct modules *ms)
{
	struct kernel_place place;
	if (__atomic_load_n(&ms->kernel.read, __ATOMIC_ACQUIRE))
		return 1;
	if (ms->preparer) {
		modules_prefetch_kernel(ms);
		return 0;
	}
	return kernel_place(ms, &place) && kernel_open(ms, &place) ? ERR_NOMEM : 1;
}

const struct symtab *kernel_table(const struct modules *ms)
{
	return ms->kernel.kallsyms.table ? ms->kernel.kallsyms.table : ms->kernel.vmlinux;
}

const struct map *kernel_map(const struct modules *ms)
{
	const struct machine *m = ms->machine;
	return m->kernel_map == NO_ID ? NULL : &m->maps.v[m->kernel_map];
}

int kernel_place(const struct modules *ms, struct kernel_place *place)
{
	const struct map *map = kernel_map(ms);
	if (!map)
		return 0;
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	*place = (struct kernel_place){.id = d->id,
				       .path = strtab_get(ms->machine->strings, d->path),
				       .pgoff = map->pgoff,
				       .start = map->start,
				       .end = map->end,
				       .folder = ms->rec->directory ? ms->rec->name : NULL};
	return 1;
}

/* 1 and the symbol of vmlinux or kallsyms at `ip`, or 0. */
static int kernel_symbol(struct modules *ms, uint64_t ip, int how, struct symbol_hit *hit)
{
	struct module_symbols s = {.table = kernel_table(ms), .slide = ms->kernel.slide};
	return s.table && module_symbol_at(&s, NULL, ip, how, hit);
}

int lookup_kernel(struct modules *ms, uint64_t ip, int how, struct module_lookup *out)
{
	struct symbol_hit hit;
	uint64_t addr = ip - ms->kernel.slide;
	if (!kernel_symbol(ms, ip, how, &hit))
		return 0;
	out->at = addr - hit.start <= UINT32_MAX ? (uint32_t)(addr - hit.start) : 0;
	return lookup_named(ms, &hit, 0, out);
}

/* 1 when the kallsyms symbol belongs to the module that was mapped there. */
static int is_of_module(const struct modules *ms, const struct symbol_hit *hit,
			const char *mapped)
{
	const char *name = strtab_get(&ms->kernel.kallsyms.modules, hit->module);
	size_t n = strlen(name);
	return n && *mapped == '[' && !strncmp(mapped + 1, name, n) &&
	       !strcmp(mapped + 1 + n, "]");
}

/* The symbols of a .ko, if they are inside the mapping. */
static int read_ko(struct module *mod, const struct map *map)
{
	enum { SPARED = 2 };
	struct code_ranges code = {0};
	int rc = symtab_from_module(mod->files.runtime, &mod->symbols, NULL);
	code_ranges_add(&code, map->pgoff, map->pgoff + (map->end - map->start));
	if (!rc && !table_fits(&code, mod->symbols, 0, SPARED)) {
		symtab_free(mod->symbols);
		mod->symbols = NULL;
		mod->files.reason = DSO_UNREADABLE;
		snprintf(mod->files.detail, DSO_DETAIL_MAX, "%s", elsewhere);
	}
	return rc;
}

/* Modules: kallsyms has their symbols by address; else the .ko, relative to its start. The
 * entry trampoline's code is the kernel's own at pgoff. */
int lookup_module(struct modules *ms, const struct map *map, uint64_t ip, int how,
		  struct module_lookup *out)
{
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	const char *mapped = strtab_get(ms->machine->strings, d->recorded);
	struct symbol_hit hit;
	if (!strcmp(mapped, "[kernel.kallsyms]"))
		return lookup_kernel(ms, ip - map->start + map->pgoff, how, out);
	if (kernel_symbol(ms, ip, how, &hit) && is_of_module(ms, &hit, mapped))
		return lookup_named(ms, &hit, 0, out);
	struct module *mod = module_of(ms, map->dso);
	if (!mod)
		return ERR_NOMEM;
	if (!mod->symbols_tried && mod->files.runtime && read_ko(mod, map) == ERR_NOMEM)
		return ERR_NOMEM;
	mod->symbols_tried = 1;
	uint64_t addr = ip - map->start + map->pgoff;
	if (!mod->symbols || !lookup_symbol(mod->symbols, &addr, how, &hit))
		return 0;
	return lookup_named(ms, &hit, 0, out);
}
