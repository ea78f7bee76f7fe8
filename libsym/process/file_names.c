#include "libsym/process/file_names.h"
#include "base/mem.h"
#include "base/search.h"
#include "libsym/process/modules_internal.h"
#include "libsym/unwind/arch.h"

#include <limits.h>
#include <stdlib.h>

/* Names of a range. */
struct names_of {
	const char *v[MODULE_FRAMES_MAX];
	size_t n;
};

struct file_names {
	struct recording none; /* empty: nothing was recorded */
	struct strtab strings;
	struct machine machine;
	struct modules *modules;
	struct map map;      /* the file, as if it were mapped at 0 */
	VEC(uint64_t) edges; /* offsets at which names may change, ascending */
	size_t at;           /* index of the edge where the next range begins */
	struct names_of now, next;
};

/* --- what a file is ------------------------------------------------------------------- */

/* A debug file has the sections of its program without their bytes. */
static int has_code(const struct elf_file *f)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		GElf_Shdr s;
		if (gelf_getshdr(scn, &s) && s.sh_flags & SHF_EXECINSTR &&
		    s.sh_type != SHT_NOBITS)
			return 1;
	}
	return 0;
}

int named_file_look(const char *path, struct named_file *out, struct err *e)
{
	struct elf_file *f;
	int r = elf_file_open(path, &f, e);
	if (r)
		return r;
	*out = (struct named_file){.id = f->id, .is_debug = !has_code(f)};
	if (!f->id.len)
		r = err_set(e, ERR_UNSUPPORTED,
			    "%s: has no build-id, so no export refers to it", path);
	else if (!f->nsegments)
		r = err_set(e, ERR_UNSUPPORTED, "%s: not a program or library (no segments)",
			    path);
	elf_file_close(f);
	return r;
}

/* --- its files ------------------------------------------------------------------------ */

/* 1 when the debug file has the program's segments: elfutils' strip leaves them, that of
 * binutils does not.
 */
static int keeps_layout(const struct elf_file *f)
{
	for (size_t i = 0; i < f->nsegments; i++)
		if (f->segments[i].flags & PF_X && f->segments[i].filesz)
			return 1;
	return 0;
}

/* Use the given file instead of the one that was found. */
static int use_given_file(const char *path, struct elf_file **place, struct err *e)
{
	if (!path)
		return 0;
	elf_file_close(*place);
	*place = NULL;
	return elf_file_open(path, place, e);
}

/* The given program too; but a copy that was found and has names that the given one lacks, as
 * in a build-id cache, also serves for names, as it does where an export finds it. */
static int use_given_program(const char *path, struct dso_files *files, struct err *e)
{
	struct elf_file *found = files->runtime;
	if (!path)
		return 0;
	files->runtime = NULL;
	int r = elf_file_open(path, &files->runtime, e);
	if (!r && found && !files->debug && dso_names_in(found) > dso_names_in(files->runtime))
		files->debug = found;
	else
		elf_file_close(found);
	return r;
}

static int find_files(struct file_names *f, struct module *mod, const char *runtime,
		      const char *debug, struct err *e)
{
	const struct dso *d = &f->machine.dsos.v[f->map.dso];
	const char *path = strtab_get(&f->strings, d->path);
	int r = dso_find(&f->modules->opt.find, path, &d->id, NULL, &mod->files, e);
	mod->opened = 1;
	r = r ? r : use_given_program(runtime, &mod->files, e);
	r = r ? r : use_given_file(debug, &mod->files.debug, e);
	if (r || mod->files.runtime || keeps_layout(mod->files.debug))
		return r;
	return err_set(e, ERR_NOTFOUND,
		       "%s: a debug file that does not say where its program's code lies in "
		       "the file; name the program, too",
		       debug);
}

/* One file, mapped whole. Its path is that of the program: "/" has no file. */
static int make_machine(struct file_names *f, const char *runtime, const struct build_id *id,
			struct err *e)
{
	char path[PATH_MAX];
	struct dso d = {.kind = DSO_FILE, .id = *id, .pid = -1};
	int r = machine_init(&f->machine, &f->strings, e);
	if (r)
		return r;
	if (runtime && !realpath(runtime, path))
		return err_sys(e, "%s", runtime);
	f->map = (struct map){.end = UINT64_MAX, .until = TIME_END};
	if (strtab_intern(&f->strings, runtime ? path : "/", &d.path))
		return err_nomem(e);
	d.name = d.recorded = d.path;
	f->map.dso = (uint32_t)f->machine.dsos.n;
	return vec_push(&f->machine.dsos, d) ? err_nomem(e) : 0;
}

static int read_files(struct file_names *f, const char *runtime, const char *debug,
		      const struct modules_options *opt, struct err *e)
{
	struct named_file look;
	int r = named_file_look(runtime ? runtime : debug, &look, e);
	r = r ? r : make_machine(f, runtime, &look.id, e);
	r = r ? r : modules_new(&f->modules, &f->machine, &f->none, opt, e);
	if (r)
		return r;
	struct modules *ms = f->modules;
	ms->v = mem_zalloc(f->machine.dsos.n, sizeof(*ms->v));
	struct module *mod = ms->v ? mem_zalloc(1, sizeof(*mod)) : NULL;
	if (!mod)
		return err_nomem(e);
	ms->n = f->machine.dsos.n;
	ms->v[f->map.dso] = mod;
	r = find_files(f, mod, runtime, debug, e);
	if (r)
		return r;
	pthread_mutex_lock(&ms->lock);
	module_read(ms, mod);
	pthread_mutex_unlock(&ms->lock);
	return module_is_read(ms, mod) ? 0 : err_nomem(e);
}

/* --- where names change --------------------------------------------------------------- */

static int push_edges_of_symbols(debuginfo_edges_vec *out, const struct symtab *t)
{
	for (size_t i = 0; t && i < t->n; i++) {
		uint64_t start = t->symbols[i].start, va = start;
		struct symbol_hit hit;
		/* an address planted on the stack is looked up unchanged */
		int planted = lookup_symbol(t, &va, LOOKUP_RETURN, &hit) && va == start;
		if (vec_push(out, start - (planted && start)) || vec_push(out, start) ||
		    vec_push(out, start + t->symbols[i].size))
			return ERR_NOMEM;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Add the edges of a segment of code, and its ends, as offsets. *seen: the end of the previous
 * segments; segments must ascend without overlap (ELF, "Program Header"). */
static int push_segment(struct file_names *f, const struct elf_segment *s,
			const debuginfo_edges_vec *va, uint64_t *seen)
{
	if (!(s->flags & PF_X) || !s->filesz || s->filesz > UINT64_MAX - s->offset ||
	    s->filesz > UINT64_MAX - s->vaddr || s->vaddr < *seen)
		return 0;
	*seen = s->vaddr + s->filesz;
	if (vec_push(&f->edges, s->offset) || vec_push(&f->edges, s->offset + s->filesz))
		return ERR_NOMEM;
	for (size_t i = PARTITION_POINT(k, 0, va->n, va->v[k] < s->vaddr);
	     i < va->n && va->v[i] - s->vaddr < s->filesz; i++)
		if (vec_push(&f->edges, va->v[i] - s->vaddr + s->offset))
			return ERR_NOMEM;
	return 0;
}

static void sort_once(struct file_names *f)
{
	size_t n = 0;
	if (f->edges.n)
		qsort(f->edges.v, f->edges.n, sizeof(*f->edges.v), compare);
	for (size_t i = 0; i < f->edges.n; i++)
		if (!n || f->edges.v[i] != f->edges.v[n - 1])
			f->edges.v[n++] = f->edges.v[i];
	f->edges.n = n;
}

static int find_edges(struct file_names *f, struct err *e)
{
	const struct module *mod = f->modules->v[f->map.dso];
	const struct elf_file *elf = mod->files.runtime ? mod->files.runtime : mod->files.debug;
	debuginfo_edges_vec va = {0};
	uint64_t seen = 0;
	int r = push_edges_of_symbols(&va, mod->symbols);
	if (!r && mod->debuginfo && f->modules->opt.inlines)
		r = debuginfo_edges(mod->debuginfo, &va);
	if (!r && va.n)
		qsort(va.v, va.n, sizeof(*va.v), compare);
	for (size_t i = 0; !r && i < elf->nsegments; i++)
		r = push_segment(f, &elf->segments[i], &va, &seen);
	vec_release(&va);
	sort_once(f);
	return r ? err_nomem(e) : 0;
}

int file_names_open(struct file_names **out, const char *runtime, const char *debug,
		    const struct modules_options *opt, struct err *e)
{
	struct modules_options o = *opt;
	struct file_names *f = mem_zalloc(1, sizeof(*f));
	*out = NULL;
	if (!f)
		return err_nomem(e);
	o.no_lines = 1;
	o.lines = o.offsets = 0;
	int r = read_files(f, runtime, debug, &o, e);
	r = r ? r : find_edges(f, e);
	if (r)
		file_names_close(f);
	else
		*out = f;
	return r;
}

/* --- the names ------------------------------------------------------------------------ */

/* The names at an offset; a caller's offset is its return address − 1. */
static int look_up(struct file_names *f, uint64_t offset, struct names_of *to)
{
	struct module_lookup l;
	int r = modules_lookup(f->modules, &f->map, offset + 1, 0, LOOKUP_RETURN, &l);
	to->n = r ? 0 : l.n;
	for (size_t i = 0; i < to->n; i++)
		to->v[i] = strtab_get(&f->strings, l.frames[i].name);
	return r;
}

/* Names are interned: equal texts are equal pointers. */
static int same(const struct names_of *a, const struct names_of *b)
{
	return a->n == b->n && !memcmp(a->v, b->v, a->n * sizeof(*a->v));
}

int file_names_next(struct file_names *f, struct named_range *r, struct err *e)
{
	if (f->at >= f->edges.n)
		return 0;
	if (!f->at && look_up(f, f->edges.v[0], &f->next))
		return err_nomem(e);
	r->start = f->edges.v[f->at];
	f->now = f->next;
	while (++f->at < f->edges.n) {
		if (look_up(f, f->edges.v[f->at], &f->next))
			return err_nomem(e);
		if (!same(&f->now, &f->next))
			break;
	}
	r->end = f->at < f->edges.n ? f->edges.v[f->at] : UINT64_MAX;
	r->n = f->now.n;
	r->names = f->now.v;
	return 1;
}

void file_names_close(struct file_names *f)
{
	if (!f)
		return;
	modules_free(f->modules);
	machine_release(&f->machine);
	strtab_release(&f->strings);
	vec_release(&f->edges);
	mem_free(f);
}
