#include "libsym/modules.h"
#include "base/buf.h"
#include "base/mem.h"
#include "libsym/demangle.h"
#include "libsym/symtab.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* One DSO's names, as far as they could be found. */
struct module {
	int opened;
	struct elf_file *runtime, *debug; /* debug may be NULL or equal runtime */
	struct symtab *symbols;
	struct u64map names; /* offset into symbols->names → strings id of the printable name */
};

struct modules {
	struct machine *machine;
	const struct recording *rec;
	struct modules_options opt;
	struct module *v;
	size_t n;
	struct buf text;
};

int modules_new(struct modules **out, struct machine *m, const struct recording *rec,
		const struct modules_options *opt, struct err *e)
{
	struct modules *ms = mem_zalloc(1, sizeof(*ms));
	*out = ms;
	if (!ms)
		return err_nomem(e);
	ms->machine = m;
	ms->rec = rec;
	ms->opt = *opt;
	return 0;
}

static void module_release(struct module *mod)
{
	symtab_free(mod->symbols);
	if (mod->debug != mod->runtime)
		elf_file_close(mod->debug);
	elf_file_close(mod->runtime);
	u64map_release(&mod->names);
}

void modules_free(struct modules *ms)
{
	if (!ms)
		return;
	for (size_t i = 0; i < ms->n; i++)
		module_release(&ms->v[i]);
	mem_free(ms->v);
	buf_release(&ms->text);
	mem_free(ms);
}

static struct module *module_of(struct modules *ms, uint32_t dso)
{
	if (dso >= ms->n) {
		size_t want = ms->machine->dsos.n;
		struct module *v = mem_resize(ms->v, want, sizeof(*v));
		if (!v)
			return NULL;
		memset(v + ms->n, 0, (want - ms->n) * sizeof(*v));
		ms->v = v;
		ms->n = want;
	}
	return &ms->v[dso];
}

static int open_module(struct modules *ms, uint32_t dso, struct module *mod)
{
	const struct dso *d = &ms->machine->dsos.v[dso];
	mod->opened = 1;
	if (d->kind != DSO_FILE)
		return 0;
	char path[4096];
	snprintf(path, sizeof(path), "%s%s", ms->opt.symfs ? ms->opt.symfs : "",
		 strtab_get(ms->machine->strings, d->path));
	if (elf_file_open(path, &mod->runtime, NULL))
		return 0;
	return symtab_from_elf(mod->runtime, NULL, &mod->symbols, NULL) == ERR_NOMEM ? ERR_NOMEM : 0;
}

/* The printable form of a symbol's name, made once. */
static int printable(struct modules *ms, struct module *mod, const struct symbol_hit *hit, uint32_t *id)
{
	uint64_t key = (uint64_t)(hit->name - mod->symbols->names);
	if (u64map_get(&mod->names, key, id))
		return 0;
	buf_clear(&ms->text);
	int rc = ms->opt.no_demangle ? 0 : demangle(hit->name, 0, &ms->text);
	if (rc == ERR_NOMEM)
		return rc;
	const char *s = rc == 1 ? buf_cstr(&ms->text) : hit->name;
	if (strtab_intern(ms->machine->strings, s, id))
		return ERR_NOMEM;
	return u64map_put(&mod->names, key, *id);
}

int modules_interrupts_caller(const char *name)
{
	return !strncmp(name, "asm_", 4) || !strcmp(name, "__restore_rt") ||
	       !strncmp(name, "__kernel_rt_sigreturn", 21);
}

/* Functions whose first byte is put on the stack as a return address that nobody called from. */
static int is_planted(const char *name)
{
	return !strcmp(name, "__restore_rt") || !strncmp(name, "__kernel_rt_sigreturn", 21) ||
	       !strncmp(name, "ret_from_fork", 13) || !strcmp(name, "__start_context");
}

static int find_symbol(const struct module *mod, uint64_t vaddr, int how, struct symbol_hit *hit)
{
	int found = symtab_find(mod->symbols, vaddr, hit);
	if (how == LOOKUP_EXACT || (found && (vaddr > hit->start || is_planted(hit->name))))
		return found;
	return symtab_find(mod->symbols, vaddr - 1, hit);
}

int modules_lookup(struct modules *ms, uint32_t dso, uint64_t at, uint64_t pgoff, int how,
		   struct module_lookup *out)
{
	struct module *mod = module_of(ms, dso);
	(void)pgoff;
	out->n = 0;
	if (!mod)
		return ERR_NOMEM;
	if (!mod->opened && open_module(ms, dso, mod))
		return ERR_NOMEM;
	const struct dso *d = &ms->machine->dsos.v[dso];
	if (d->kind == DSO_BPF) { /* one program, one symbol: both have the recorded name */
		out->frames[0] = (struct module_frame){.name = d->name};
		out->n = 1;
		return 0;
	}
	uint64_t vaddr;
	struct symbol_hit hit;
	if (!mod->symbols || !elf_file_vaddr(mod->runtime, at, &vaddr) ||
	    !find_symbol(mod, vaddr, how, &hit))
		return 0;
	out->frames[0] = (struct module_frame){.start = hit.start};
	out->n = 1;
	return printable(ms, mod, &hit, &out->frames[0].name);
}
