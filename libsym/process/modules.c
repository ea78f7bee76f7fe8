#include "libsym/process/modules_internal.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "libparse/listed_files.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

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
	ms->opt.find.host_is_ours = features_are_ours(&rec->features);
	ms->opt.find.written_ns = rec->written_ns;
	pthread_mutex_init(&ms->lock, NULL);
	pthread_mutex_init(&ms->lookups, NULL);
	pthread_cond_init(&ms->unbusy, NULL);
	modules_on_code_change(ms);
	return frame_table_new(&ms->frames, e);
}

static void module_free(struct module *mod)
{
	if (!mod)
		return;
	cfi_close(mod->cfi);
	debuginfo_close(mod->debuginfo);
	symtab_free(mod->symbols);
	symtab_free(mod->variables);
	perfmap_release(&mod->perfmap);
	mem_free(mod->perfmap_path);
	mem_free(mod->recorded);
	dso_files_release(&mod->files);
	mem_free(mod);
}

void modules_forget(struct modules *ms)
{
	modules_prepare_end(ms, 0);
	for (size_t i = 0; i < ms->n; i++)
		module_free(ms->v[i]);
	for (size_t i = 0; i < ms->forked.n; i++)
		module_free(ms->forked.v[i].mod);
	vec_release(&ms->forked);
	u64map_release(&ms->forked_at);
	for (size_t i = 0; i < ms->retired.n; i++)
		module_free(ms->retired.v[i]);
	vec_release(&ms->retired);
	mem_free(ms->v);
	ms->v = NULL;
	ms->n = 0;
	for (size_t i = 0; i < ms->jitdumps.n; i++)
		open_jitdump_release(&ms->jitdumps.v[i]);
	vec_release(&ms->jitdumps);
	u64map_release(&ms->jitdump_at);
	u64map_release(&ms->jitdump_of);
	jit_mappings_release(&ms->jit_mappings);
	idmap_release(&ms->dso_named);
	ms->ndso_named = 0;
	ms->jit_tried = 0;
	kernel_close(&ms->kernel);
	u64map_release(&ms->names);
}

void modules_free(struct modules *ms)
{
	if (!ms)
		return;
	modules_forget(ms);
	frame_table_free(ms->frames);
	buf_release(&ms->text);
	pthread_cond_destroy(&ms->unbusy);
	pthread_mutex_destroy(&ms->lock);
	pthread_mutex_destroy(&ms->lookups);
	mem_free(ms);
}

const struct frame_table *modules_frames(const struct modules *ms)
{
	return ms->frames;
}

/* The mapped file, and since when. */
static struct file_id file_of(const struct modules *ms, const struct dso *d)
{
	struct file_id file = d->file;
	if (d->at_start | d->later)
		file.mapped_ns = features_wall_ns(&ms->rec->features, d->first);
	return file;
}

static int module_open(struct modules *ms, uint32_t dso, struct module *mod)
{
	const struct dso *d = &ms->machine->dsos.v[dso];
	const char *path = strtab_get(ms->machine->strings, d->path);
	mod->opened = 1;
	mod->shared = d->file.shared_path;
	mod->files.reason = DSO_NOT_A_FILE;
	if (d->kind != DSO_FILE && d->kind != DSO_VDSO && d->kind != DSO_MODULE)
		return 0;
	if (*path == '/' && !path_has_parent(path)) {
		mod->recorded = mem_strdup(path);
		if (!mod->recorded)
			return ERR_NOMEM;
	}
	struct file_id file = file_of(ms, d);
	if (dso_find(&ms->opt.find, path, &d->id, &file, &mod->files, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	/* symbols of a path are believed of none of several files that had it */
	return d->kind == DSO_FILE && !mod->shared && !mod->files.runtime && !mod->files.debug
		       ? carried_open(ms, strtab_get(ms->machine->strings, d->recorded), mod)
		       : 0;
}

struct module *module_of(struct modules *ms, uint32_t dso)
{
	if (dso >= ms->n) {
		size_t want = ms->machine->dsos.n;
		struct module **v = mem_resize(ms->v, want, sizeof(*v));
		if (!v)
			return NULL;
		memset(v + ms->n, 0, (want - ms->n) * sizeof(*v));
		ms->v = v;
		ms->n = want;
	}
	struct module *mod = ms->v[dso];
	/* a second file of the path was mapped after the file was opened for the first */
	if (mod && !ms->preparer && !mod->busy &&
	    mod->shared != ms->machine->dsos.v[dso].file.shared_path) {
		if (vec_push(&ms->retired, mod))
			return NULL;
		mod = ms->v[dso] = NULL;
	}
	if (!mod)
		mod = ms->v[dso] = mem_zalloc(1, sizeof(*mod));
	if (mod && !mod->opened && module_open(ms, dso, mod))
		return NULL;
	return mod;
}

int modules_code(struct modules *ms, uint32_t dso, uint64_t start, struct module_code *out)
{
	struct symbol_hit hit;
	*out = (struct module_code){.reason = DSO_NOT_A_FILE, .start = start, .end = start};
	int is_kernel = ms->machine->dsos.v[dso].kind == DSO_KERNEL;
	pthread_mutex_lock(&ms->lock);
	struct module *mod = module_of(ms, dso);
	if (is_kernel && ms->kernel.vmlinux && symtab_find(ms->kernel.vmlinux, start, &hit) &&
	    hit.start == start) {
		out->file = ms->kernel.files.vmlinux;
		out->end = hit.end;
	}
	if (mod && !is_kernel) {
		out->file = mod->files.runtime;
		out->from = mod->files.runtime_from;
		out->reason = mod->files.reason;
		if (mod->symbols && symtab_find(mod->symbols, start, &hit) &&
		    hit.start == start)
			out->end = hit.end;
	}
	pthread_mutex_unlock(&ms->lock);
	return mod ? 0 : ERR_NOMEM;
}

int modules_line(struct modules *ms, uint32_t dso, uint64_t va, uint32_t *line)
{
	struct debuginfo_frame outer = {0};
	pthread_mutex_lock(&ms->lock);
	struct module *mod = dso < ms->n ? ms->v[dso] : NULL;
	int n = mod && mod->debuginfo ? debuginfo_frames(mod->debuginfo, va, NULL, &outer, 1)
				      : 0;
	pthread_mutex_unlock(&ms->lock);
	*line = outer.line;
	return n == ERR_NOMEM ? n : n > 0 && outer.line;
}

int modules_source(struct modules *ms, uint32_t dso, const char *path, struct source_name *out)
{
	struct debuginfo_text said = {0};
	struct module_code code;
	*out = (struct source_name){.path = path};
	if (dso == NO_ID)
		return 0;
	if (modules_code(ms, dso, 0, &code))
		return ERR_NOMEM;
	if (code.file && code.from == DSO_FROM_LOCAL)
		out->program = code.file->path;
	out->id = &ms->v[dso]->files.id;
	out->find = &ms->opt.find;
	pthread_mutex_lock(&ms->lock);
	if (ms->v[dso]->debuginfo && debuginfo_text(ms->v[dso]->debuginfo, path, &said)) {
		out->md5 = said.md5;
		out->text = said.text;
	}
	pthread_mutex_unlock(&ms->lock);
	return 0;
}

void modules_lock(struct modules *ms)
{
	pthread_mutex_lock(&ms->lookups);
}

void modules_unlock(struct modules *ms)
{
	pthread_mutex_unlock(&ms->lookups);
}

/* --- unwinding ------------------------------------------------------------------------ */

int modules_cfi(struct modules *ms, uint32_t dso, struct module_cfi *out)
{
	int rc = 0;
	*out = (struct module_cfi){0};
	pthread_mutex_lock(&ms->lock);
	struct module *mod = module_of(ms, dso);
	if (!mod) {
		rc = ERR_NOMEM;
	} else {
		while (!mod->cfi_tried && mod->busy)
			pthread_cond_wait(&ms->unbusy, &ms->lock);
		if (!mod->cfi_tried && mod->files.runtime &&
		    cfi_open(mod->files.runtime, mod->files.debug, &mod->cfi, NULL) ==
			    ERR_NOMEM)
			rc = ERR_NOMEM;
		mod->cfi_tried = 1;
		*out = (struct module_cfi){mod->cfi, mod->files.runtime};
	}
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

int modules_open(struct modules *ms, uint32_t dso)
{
	if (ms->opt.offsets)
		return 0;
	pthread_mutex_lock(&ms->lock);
	int rc = module_of(ms, dso) ? 0 : ERR_NOMEM;
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

int modules_open_debuginfo(struct modules *ms, uint32_t dso)
{
	struct module *mod = module_of(ms, dso);
	if (!mod || mod->debuginfo_tried || !(mod->files.runtime || mod->files.debug))
		return mod ? 0 : ERR_NOMEM;
	mod->debuginfo_tried = 1;
	return module_debuginfo(ms, mod, &mod->debuginfo);
}

/* The symbol at `ip` of a runtime file, and its distance. For the unwinder's threads. */
static int symbol_at(struct modules *ms, const struct map *map, uint64_t ip,
		     struct symbol_hit *hit, uint64_t *distance)
{
	int found = 0;
	uint64_t vaddr;
	pthread_mutex_lock(&ms->lock);
	struct module *mod = module_of(ms, map->dso);
	struct dso_files *f = mod ? &mod->files : NULL;
	if (f && f->runtime) {
		while (!mod->symbols_tried && mod->busy)
			pthread_cond_wait(&ms->unbusy, &ms->lock);
		if (!mod->symbols_tried)
			symtab_from_elf(f->runtime, f->debug, arch_plt(f->runtime),
					&mod->symbols, NULL);
		mod->symbols_tried = 1;
		found = mod->symbols &&
			elf_file_vaddr(f->runtime, ip - map->start + map->pgoff, &vaddr) &&
			symtab_find(mod->symbols, vaddr, hit);
		*distance = found ? vaddr - hit->start : 0;
	}
	pthread_mutex_unlock(&ms->lock);
	return found;
}

int modules_root_at(struct modules *ms, const struct map *map, uint64_t ip)
{
	struct symbol_hit hit;
	uint64_t distance;
	if (!symbol_at(ms, map, ip, &hit, &distance))
		return 0;
	if (!strcmp(hit.name, "main"))
		return UNWIND_MAIN;
	const char *dso = strtab_get(ms->machine->strings, ms->machine->dsos.v[map->dso].path);
	return frame_roles(ms->frames, 0, hit.name, dso) & (ROLE_START | ROLE_ROOT_START)
		       ? UNWIND_ROOT
		       : 0;
}

int modules_function_at(struct modules *ms, const struct map *map, uint64_t ip, uint64_t *start)
{
	struct symbol_hit hit;
	uint64_t distance;
	if (!symbol_at(ms, map, ip, &hit, &distance))
		return 0;
	*start = ip - distance;
	return 1;
}

/* --- the files in use ----------------------------------------------------------------- */

struct file_walk {
	int (*take)(void *ctx, const struct module_file *f);
	void *ctx;
	struct module_file file;
	const struct module *mod;
};

static int visit_file(struct file_walk *w, enum module_role role, const char *path,
		      const struct elf_file *elf)
{
	if (!path)
		return 0;
	w->file.role = role;
	w->file.path = path;
	w->file.elf = elf;
	return w->take(w->ctx, &w->file);
}

static int visit_supplementary(void *ctx, const struct elf_file *of,
			       const struct elf_file *file, const char *name)
{
	struct file_walk *w = ctx;
	w->file.name = name;
	w->file.relative_to = of == w->mod->files.debug ? MODULE_DEBUG : MODULE_RUNTIME;
	return visit_file(w, MODULE_SUPPLEMENTARY, file->path, file);
}

static int visit_module(struct file_walk *w, const struct module *mod)
{
	const struct dso_files *f = &mod->files;
	w->mod = mod;
	w->file.id = &f->id;
	int rc = f->runtime ? visit_file(w, MODULE_RUNTIME, f->runtime->path, f->runtime) : 0;
	if (!rc && f->debug)
		rc = visit_file(w, MODULE_DEBUG, f->debug->path, f->debug);
	if (!rc && mod->debuginfo)
		rc = debuginfo_each_file(mod->debuginfo, visit_supplementary, w);
	w->file.name = mod->jitdump_name;
	w->file.jitdump = mod->jitdump;
	w->file.perfmap = &mod->perfmap;
	if (!rc)
		rc = visit_file(w, MODULE_JITDUMP, mod->jitdump_path, NULL);
	return rc ? rc : visit_file(w, MODULE_PERFMAP, mod->perfmap_path, NULL);
}

static int visit_kernel(struct file_walk *w, const struct modules *ms)
{
	const struct map *map = kernel_map(ms);
	const struct elf_file *vmlinux = ms->kernel.files.vmlinux;
	if (!map)
		return 0;
	w->file.dso = map->dso;
	w->file.id = &ms->machine->dsos.v[map->dso].id;
	w->file.fd = ms->kernel.files.kallsyms_fd;
	int rc = visit_file(w, MODULE_KALLSYMS, ms->kernel.files.kallsyms, NULL);
	return rc || !vmlinux ? rc : visit_file(w, MODULE_VMLINUX, vmlinux->path, vmlinux);
}

int modules_each_file(const struct modules *ms,
		      int (*take)(void *ctx, const struct module_file *f), void *ctx)
{
	struct file_walk w = {.take = take, .ctx = ctx};
	int rc = visit_kernel(&w, ms);
	for (size_t i = 0; !rc && i < ms->n; i++) {
		if (!ms->v[i])
			continue;
		w.file = (struct module_file){.dso = (uint32_t)i,
					      .pid = ms->machine->dsos.v[i].pid};
		rc = visit_module(&w, ms->v[i]);
	}
	for (size_t i = 0; !rc && i < ms->forked.n; i++) {
		const struct forked_code *f = &ms->forked.v[i];
		w.file = (struct module_file){.dso = f->dso, .pid = f->pid};
		rc = visit_module(&w, f->mod);
	}
	return rc;
}

int modules_each_note(const struct modules *ms, int (*take)(void *ctx, const char *note),
		      void *ctx)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < ms->n; i++) {
		const struct module *mod = ms->v[i];
		const char *note;
		for (size_t k = 0; !rc && mod && mod->debuginfo; k++) {
			note = debuginfo_note(mod->debuginfo, k);
			if (!note)
				break;
			rc = take(ctx, note);
		}
	}
	return rc;
}

void modules_list_others(const struct modules *ms, struct buf *out)
{
	const struct machine *m = ms->machine;
	char hex[2 * BUILD_ID_MAX + 1];
	struct file_id here;
	for (size_t i = 0; i < m->dsos.n; i++) {
		const struct dso *d = &m->dsos.v[i];
		const char *path = strtab_get(m->strings, d->path);
		struct file_id file = file_of(ms, d);
		if (d->kind == DSO_FILE && !strpbrk(path, "\n\r") &&
		    dso_id_is_others(&ms->opt.find, path, &d->id, &file, &here))
			buf_fmt(out, LISTED_FILE, here.dev_major, here.dev_minor, here.ino,
				here.generation, build_id_hex(&d->id, hex), path);
	}
}

enum dso_reason modules_reason(const struct modules *ms, uint32_t dso, const char **detail)
{
	const struct dso *d = &ms->machine->dsos.v[dso];
	*detail = "";
	if (d->kind == DSO_KERNEL) {
		*detail = ms->kernel.files.detail;
		return ms->kernel.files.reason;
	}
	if (dso >= ms->n || !ms->v[dso])
		return DSO_NOT_A_FILE;
	const struct symtab *names = ms->v[dso]->symbols;
	*detail = ms->v[dso]->files.detail;
	if (!**detail && names && names->doubt)
		*detail = names->doubt;
	return ms->v[dso]->files.reason;
}

/* How well a DSO explains what its name lacks: of several files of one path, those that cannot
 * be named do; 0: its files were not searched. */
static int explains(const struct modules *ms, uint32_t dso)
{
	const char *detail;
	enum dso_reason reason = modules_reason(ms, dso, &detail);
	return reason == DSO_SHARED_PATH ? 2 : reason != DSO_NOT_A_FILE;
}

/* Note DSO i of the name: in *found if its files were searched, else in *first. */
static void consider_dso(const struct modules *ms, uint32_t name, uint32_t i, uint32_t *found,
			 uint32_t *first)
{
	if (ms->machine->dsos.v[i].name != name)
		return;
	if (i < *first)
		*first = i;
	int how = explains(ms, i), before = *found == NO_ID ? 0 : explains(ms, *found);
	if (how > before || (how && how == before && i < *found))
		*found = i;
}

uint32_t modules_dso_named(struct modules *ms, uint32_t name)
{
	const struct machine *m = ms->machine;
	uint32_t found = NO_ID, first = NO_ID, i;
	size_t at = 0;
	while (ms->ndso_named < m->dsos.n &&
	       !idmap_put(&ms->dso_named, hash_u64(m->dsos.v[ms->ndso_named].name),
			  ms->ndso_named))
		ms->ndso_named++;
	while (name && idmap_next(&ms->dso_named, hash_u64(name), &at, &i))
		consider_dso(ms, name, i, &found, &first);
	for (i = ms->ndso_named; name && i < m->dsos.n;
	     i++) /* those not done for lack of memory */
		consider_dso(ms, name, i, &found, &first);
	return found != NO_ID ? found : first;
}
