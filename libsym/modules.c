#include "libsym/modules_priv.h"
#include "base/mem.h"
#include "libsym/cfi.h"
#include "libsym/demangle.h"
#include "libsym/jitfiles.h"
#include "libsym/simplify.h"
#include "libsym/unwind.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* 1 when the recording was made on this host and kernel: then local files are its files. */
static int host_is_ours(const struct features *f)
{
	struct utsname u;
	return f->hostname && f->osrelease && !uname(&u) && !strcmp(u.nodename, f->hostname) &&
	       !strcmp(u.release, f->osrelease);
}

static int is_link(const char *path)
{
	struct stat st;
	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* perf record --kcore keeps the kernel's list as it was, and its memory, beside the data. A
 * link, which perf never makes, could lead anywhere. */
static int find_recorded_kallsyms(struct modules *ms)
{
	struct buf path = {0};
	if (!ms->rec->directory)
		return 0;
	buf_fmt(&path, "%s/kcore_dir", ms->rec->name);
	int astray = is_link(buf_cstr(&path));
	buf_str(&path, "/kallsyms");
	int rc = buf_failed(&path) ? ERR_NOMEM : 0;
	if (!rc && !astray && !is_link(buf_cstr(&path))) {
		ms->recorded_kallsyms = mem_strdup(buf_cstr(&path));
		rc = ms->recorded_kallsyms ? 0 : ERR_NOMEM;
	}
	buf_release(&path);
	return rc;
}

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
	ms->opt.find.host_is_ours = host_is_ours(&rec->features);
	ms->opt.find.written_ns = rec->written_ns;
	pthread_mutex_init(&ms->lock, NULL);
	pthread_cond_init(&ms->unbusy, NULL);
	modules_tell_changes(ms);
	return find_recorded_kallsyms(ms) ? err_nomem(e) : 0;
}

static void module_free(struct module *mod)
{
	if (!mod)
		return;
	cfi_close(mod->cfi);
	debuginfo_close(mod->debuginfo);
	symtab_free(mod->symbols);
	perfmap_release(&mod->perfmap);
	mem_free(mod->perfmap_path);
	mem_free(mod->recorded);
	dso_files_release(&mod->files);
	mem_free(mod);
}

static void kernel_close(struct kernel_names *k)
{
	symtab_free(k->vmlinux);
	kallsyms_release(&k->kallsyms);
	kernel_files_release(&k->files);
	*k = (struct kernel_names){0};
}

void modules_forget(struct modules *ms)
{
	modules_prepare_end(ms, 0);
	for (size_t i = 0; i < ms->n; i++)
		module_free(ms->v[i]);
	mem_free(ms->v);
	ms->v = NULL;
	ms->n = 0;
	for (size_t i = 0; i < ms->jitdumps.n; i++) {
		jitdump_close(ms->jitdumps.v[i].dump);
		mem_free(ms->jitdumps.v[i].path);
	}
	vec_release(&ms->jitdumps);
	u64map_release(&ms->jitdump_at);
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
	buf_release(&ms->text);
	mem_free(ms->recorded_kallsyms);
	pthread_cond_destroy(&ms->unbusy);
	pthread_mutex_destroy(&ms->lock);
	mem_free(ms);
}

static int module_open(struct modules *ms, uint32_t dso, struct module *mod)
{
	const struct dso *d = &ms->machine->dsos.v[dso];
	const char *path = strtab_get(ms->machine->strings, d->path);
	mod->opened = 1;
	mod->files.reason = DSO_NOT_A_FILE;
	if (d->kind != DSO_FILE && d->kind != DSO_VDSO && d->kind != DSO_MODULE)
		return 0;
	if (*path == '/' && !strstr(path, "/../")) {
		mod->recorded = mem_strdup(path);
		if (!mod->recorded)
			return ERR_NOMEM;
	}
	return dso_find(&ms->opt.find, path, &d->id, &d->file, &mod->files, NULL) == ERR_NOMEM
		       ? ERR_NOMEM
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
	if (!mod)
		mod = ms->v[dso] = mem_zalloc(1, sizeof(*mod));
	if (mod && !mod->opened && module_open(ms, dso, mod))
		return NULL;
	return mod;
}

/* --- unwinding -----------------------------------------------------------------------------
 */

int modules_cfi(struct modules *ms, uint32_t dso, struct cfi **cfi, enum dso_reason *reason)
{
	int rc = 0;
	*cfi = NULL;
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
		*cfi = mod->cfi;
		*reason = mod->files.reason;
	}
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

int modules_open(struct modules *ms, uint32_t dso)
{
	pthread_mutex_lock(&ms->lock);
	int rc = module_of(ms, dso) ? 0 : ERR_NOMEM;
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

int modules_vaddr(struct modules *ms, uint32_t dso, uint64_t offset, uint64_t *vaddr)
{
	pthread_mutex_lock(&ms->lock);
	const struct elf_file *f = dso < ms->n && ms->v[dso] ? ms->v[dso]->files.runtime : NULL;
	pthread_mutex_unlock(&ms->lock);
	return f && elf_file_vaddr(f, offset, vaddr);
}

/* --- names ---------------------------------------------------------------------------------
 */

/*
 * A C++ constructor told apart by its argument: Foo::copy_construct, Foo::move_construct into
 * ms->text; 1 when the name is one of these.
 */
static int special_constructor(struct modules *ms, const char *raw)
{
	struct buf full = {0};
	int made = 0;
	buf_clear(&ms->text);
	if (strstr(raw, "C1E") || strstr(raw, "C2E")) {
		if (demangle(raw, DEMANGLE_PARAMS, &full) == 1)
			simplify(&ms->text, buf_cstr(&full), full.n, SIMPLIFY_CONSTRUCTORS);
		made = ms->text.n && (strstr(buf_cstr(&ms->text), "::copy_construct") ||
				      strstr(buf_cstr(&ms->text), "::move_construct"));
	}
	buf_release(&full);
	return made;
}

/* Bytes of a name that are kept: demangled ones are shorter, and honest ones much. Many frames
 * may point into one endless text. */
enum { NAME_CUT = DEMANGLE_OUTPUT_MAX };

/* Bytes by which demangled names may be longer than the raw ones, all together; then they stay
 * raw. Honest ones are shorter, but a hundred bytes can be made to stand for 60,000. */
enum { NAMES_GROWTH = 64 << 20 };

/* The printable form of a raw name, made once. */
static int printable(struct modules *ms, const char *raw, int mangled, uint32_t *id)
{
	uint64_t key = (uint64_t)(uintptr_t)raw;
	if (u64map_get(&ms->names, key, id))
		return 0;
	mangled &= !ms->opt.no_demangle && ms->names_growth < NAMES_GROWTH;
	int rc = mangled && ms->opt.constructors && special_constructor(ms, raw);
	if (!rc) {
		buf_clear(&ms->text);
		rc = mangled ? demangle(raw, 0, &ms->text) : 0;
	}
	if (rc == ERR_NOMEM)
		return rc;
	size_t len = rc == 1 ? strlen(raw) : 0;
	if (rc == 1 && ms->text.n > len)
		ms->names_growth += ms->text.n - len;
	const char *name = rc == 1 ? buf_cstr(&ms->text) : raw;
	if (strtab_intern_n(ms->machine->strings, name, strnlen(name, NAME_CUT), id))
		return ERR_NOMEM;
	return u64map_put(&ms->names, key, *id);
}

int modules_interrupts_caller(const char *name)
{
	size_t n = strlen(name);
	/* a retpoline puts its target on the stack and "returns" to it */
	int thunk = n >= 12 && !strcmp(name + n - 12, "return_thunk");
	return thunk || !strncmp(name, "asm_", 4) || !strcmp(name, "__restore_rt") ||
	       !strncmp(name, "__kernel_rt_sigreturn", 21);
}

/* Functions whose first byte is put on the stack as a return address that nobody called from.
 */
static int is_planted(const char *name)
{
	return !strcmp(name, "__restore_rt") || !strncmp(name, "__kernel_rt_sigreturn", 21) ||
	       !strncmp(name, "ret_from_fork", 13) || !strcmp(name, "__start_context");
}

/*
 * The symbol of *vaddr, which moves to the address that stands for the call when it is a return
 * address: inside the symbol, one back; at its very start, into the one before.
 */
static int find_symbol(const struct symtab *t, uint64_t *vaddr, int how, struct symbol_hit *hit)
{
	int found = symtab_find(t, *vaddr, hit);
	if (how == LOOKUP_EXACT || (found && *vaddr == hit->start && is_planted(hit->name)))
		return found;
	*vaddr -= 1;
	if (found && *vaddr >= hit->start)
		return 1;
	return symtab_find(t, *vaddr, hit);
}

static int single(struct modules *ms, const struct symbol_hit *hit, int mangled,
		  struct module_lookup *out)
{
	out->n = 1;
	out->frames[0] = (struct module_frame){.start = hit->start};
	return printable(ms, hit->name, mangled, &out->frames[0].name);
}

static int kernel_load(struct modules *ms, const struct kernel_place *place)
{
	struct kernel_names *k = &ms->kernel;
	/* files are looked for by one thread at a time: debuginfod, and what it says */
	pthread_mutex_lock(&ms->lock);
	int rc = dso_find_kernel(&ms->opt.find, place, ms->rec->features.osrelease, &k->files,
				 NULL);
	pthread_mutex_unlock(&ms->lock);
	if (rc == ERR_NOMEM)
		return ERR_NOMEM;
	if (k->files.kallsyms &&
	    kallsyms_load(k->files.kallsyms, &k->kallsyms, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	if (k->files.vmlinux &&
	    symtab_from_elf(k->files.vmlinux, NULL, &k->vmlinux, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	return 0;
}

int kernel_open(struct modules *ms, const struct kernel_place *place)
{
	struct kernel_names *k = &ms->kernel;
	struct symbol_hit hit;
	uint64_t text = 0;
	k->tried = 1;
	if (kernel_load(ms, place)) {
		kernel_close(k);
		return ERR_NOMEM;
	}
	const char *symbol = kernel_located_by(place);
	if (k->kallsyms.table)
		text = strcmp(symbol, "_stext") ? k->kallsyms.text : k->kallsyms.stext;
	else if (k->vmlinux && symtab_find_name(k->vmlinux, symbol, &hit))
		text = hit.start;
	if (text && place->pgoff)
		k->slide = place->pgoff - text;
	return 0;
}

/* The mapping of the kernel itself; modules are located by it too. */
static const struct map *kernel_map(const struct modules *ms)
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
				       .kallsyms = ms->recorded_kallsyms};
	return 1;
}

/* 1 and what vmlinux or kallsyms has at `ip`, 0 or ERR_NOMEM. In a kallsyms of another boot
 * only the kernel itself is as it was, moved as a whole: each module lies elsewhere. */
static int kernel_symbol(struct modules *ms, uint64_t ip, int how, struct symbol_hit *hit)
{
	struct kernel_names *k = &ms->kernel;
	struct kernel_place place;
	if (!k->tried && kernel_place(ms, &place) && kernel_open(ms, &place))
		return ERR_NOMEM;
	const struct symtab *t = k->kallsyms.table ? k->kallsyms.table : k->vmlinux;
	uint64_t addr = ip - k->slide;
	return t && find_symbol(t, &addr, how, hit) && !(hit->module && k->slide);
}

static int lookup_kernel(struct modules *ms, uint64_t ip, int how, struct module_lookup *out)
{
	struct symbol_hit hit;
	int rc = kernel_symbol(ms, ip, how, &hit);
	return rc == 1 ? single(ms, &hit, 0, out) : rc;
}

/* Is what kallsyms has there a symbol of the module that was mapped there? */
static int is_of_module(const struct modules *ms, const struct symbol_hit *hit,
			const char *mapped)
{
	const char *name = strtab_get(&ms->kernel.kallsyms.modules, hit->module);
	size_t n = strlen(name);
	return n && *mapped == '[' && !strncmp(mapped + 1, name, n) &&
	       !strcmp(mapped + 1 + n, "]");
}

/* Modules: kallsyms has their symbols at their addresses; else the .ko counts from its start.
 * The entry trampoline's code is the kernel's own at pgoff. */
static int lookup_module(struct modules *ms, const struct map *map, uint64_t ip, int how,
			 struct module_lookup *out)
{
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	const char *mapped = strtab_get(ms->machine->strings, d->recorded);
	struct symbol_hit hit;
	if (!strcmp(mapped, "[kernel.kallsyms]"))
		return lookup_kernel(ms, ip - map->start + map->pgoff, how, out);
	int rc = kernel_symbol(ms, ip, how, &hit);
	if (rc == 1 && is_of_module(ms, &hit, mapped))
		return single(ms, &hit, 0, out);
	if (rc < 0)
		return rc;
	struct module *mod = module_of(ms, map->dso);
	if (!mod)
		return ERR_NOMEM;
	if (!mod->symbols_tried && mod->files.runtime &&
	    symtab_from_module(mod->files.runtime, &mod->symbols, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	mod->symbols_tried = 1;
	uint64_t addr = ip - map->start + map->pgoff;
	if (!mod->symbols || !find_symbol(mod->symbols, &addr, how, &hit))
		return 0;
	return single(ms, &hit, 0, out);
}

/* The jitdump at `path`, which is taken over; NULL when out of memory. */
static const struct open_jitdump *jitdump_shared(struct modules *ms, char *path)
{
	struct open_jitdump j = {.path = path};
	uint32_t name, at;
	int rc = strtab_intern(ms->machine->strings, path, &name);
	if (!rc && u64map_get(&ms->jitdump_at, name, &at)) {
		mem_free(path);
		return &ms->jitdumps.v[at];
	}
	if (!rc && jitdump_open(path, &j.dump, NULL) == ERR_NOMEM)
		rc = ERR_NOMEM;
	j.cycles = j.dump && jitdump_info(j.dump).arch_timestamp;
	if (j.cycles) {
		jitdump_close(j.dump);
		j.dump = NULL;
	}
	if (rc || vec_push(&ms->jitdumps, j)) {
		jitdump_close(j.dump);
		mem_free(path);
		return NULL;
	}
	at = (uint32_t)ms->jitdumps.n - 1;
	return u64map_put(&ms->jitdump_at, name, at) ? NULL : &ms->jitdumps.v[at];
}

/* See machine.h. */
static int code_changes(void *modules, uint32_t dso, const uint64_t **times, size_t *n)
{
	struct modules *ms = modules;
	const struct machine *m = ms->machine;
	struct jit_mapping mapped = {.dso = dso};
	struct jit_mappings only = {.of = {.v = &mapped, .n = 1}};
	const char *recorded;
	size_t skip = 0;
	char *path;
	int rc = 1;
	if (!jitfiles_is_jitdump(strtab_get(m->strings, m->dsos.v[dso].path)))
		return 0;
	while (rc == 1) {
		rc = jitfiles_jitdump(&ms->opt.find, ms->opt.map_dir, m, &only, 0, &skip,
				      &recorded, &path);
		const struct open_jitdump *j = rc == 1 ? jitdump_shared(ms, path) : NULL;
		if (rc == 1 && !j)
			return ERR_NOMEM;
		if (j && j->dump) {
			*times = jitdump_changes(j->dump, n);
			return 0;
		}
	}
	return rc;
}

void modules_tell_changes(struct modules *ms)
{
	ms->machine->code_changes = code_changes;
	ms->machine->code_changes_ctx = ms;
}

/* Load what names JIT code of process `pid`: a jitdump it mapped, and its perf map. */
static int maps_open(struct modules *ms, const struct dso *d, struct module *mod)
{
	const struct dso_options *f = &ms->opt.find;
	size_t skip = 0;
	int rc = 1;
	mod->maps_tried = 1;
	if (!ms->jit_tried && jit_mappings_find(&ms->jit_mappings, ms->machine))
		return ERR_NOMEM;
	ms->jit_tried = 1;
	while (!mod->jitdump && rc == 1) {
		char *path;
		rc = jitfiles_jitdump(f, ms->opt.map_dir, ms->machine, &ms->jit_mappings,
				      d->pid, &skip, &mod->jitdump_name, &path);
		const struct open_jitdump *j = rc == 1 ? jitdump_shared(ms, path) : NULL;
		if (rc == 1 && !j)
			return ERR_NOMEM;
		if (j && j->cycles)
			mod->files.reason = DSO_CYCLES;
		mod->jitdump = j ? j->dump : NULL;
		mod->jitdump_path = mod->jitdump ? j->path : NULL;
	}
	return rc < 0 ? rc
		      : jitfiles_perfmap(f, ms->opt.map_dir, d->pid, &mod->perfmap,
					 &mod->perfmap_path);
}

static int lookup_anon(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time,
		       int how, struct module_lookup *out)
{
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	struct module *mod = module_of(ms, map->dso);
	const struct jit_code *code;
	struct symbol_hit hit;
	if (!mod || (!mod->maps_tried && maps_open(ms, d, mod)))
		return ERR_NOMEM;
	ip -= how == LOOKUP_RETURN;
	if (mod->jitdump && jitdump_find(mod->jitdump, ip, time, &code)) {
		const char *file = NULL;
		uint32_t line = 0;
		hit = (struct symbol_hit){.name = code->name, .start = code->start};
		if (single(ms, &hit, 1, out))
			return ERR_NOMEM;
		if (!ms->opt.lines || !jitdump_line(mod->jitdump, code, ip, &file, &line))
			return 0;
		out->frames[0].line = line;
		return strtab_intern(ms->machine->strings, file, &out->frames[0].file);
	}
	if (!perfmap_find(&mod->perfmap, ip, &hit))
		return 0;
	return single(ms, &hit, 1, out);
}

int modules_timed(struct modules *ms, uint32_t dso)
{
	return dso < ms->n && ms->v[dso] && ms->v[dso]->jitdump;
}

static int lies_below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;
	return n && !strncmp(path, dir, n) && (path[n] == '/' || dir[n - 1] == '/') &&
	       !strstr(path + n, "/../");
}

/* Files that DWARF names (dwz, .dwo, .dwp): below symfs first, then where they say; when only
 * given files may be read, beside the file that names them. */
static int open_named(void *arg, const char *path, struct elf_file **out, struct err *e)
{
	const struct dso_options *f = &((const struct modules *)arg)->opt.find;
	char below[4096];
	if (f->symfs && *f->symfs &&
	    snprintf(below, sizeof(below), "%s/%s", f->symfs, path) < (int)sizeof(below) &&
	    !elf_file_open(below, out, e))
		return 0;
	if (f->no_local && !lies_below(path, f->symfs) && !lies_below(path, f->buildid_dir))
		return err_set(e, ERR_NOTFOUND, "%s: not looked for on this machine", path);
	return elf_file_open(path, out, e);
}

int module_debuginfo(struct modules *ms, const struct module *mod, struct debuginfo **out)
{
	struct debuginfo_options o = {.open = open_named,
				      .arg = ms,
				      .no_lines = ms->opt.no_lines && !ms->opt.lines,
				      .recorded = mod->recorded};
	int rc = debuginfo_open(mod->files.runtime, mod->files.debug, &o, out, NULL);
	return rc == ERR_NOMEM ? rc : 0;
}

/* The frames DWARF sees at va, around the symbol; leaves `out` alone when it sees none. */
static int add_inlines(struct modules *ms, struct module *mod, uint64_t va, const char *symbol,
		       struct module_lookup *out)
{
	struct debuginfo_frame f[MODULE_FRAMES_MAX];
	if (!mod->debuginfo_tried) {
		mod->debuginfo_tried = 1;
		if (module_debuginfo(ms, mod, &mod->debuginfo))
			return ERR_NOMEM;
	}
	if (!mod->debuginfo)
		return 0;
	int n = debuginfo_frames(mod->debuginfo, va, symbol, f, MODULE_FRAMES_MAX);
	if (n < 0)
		return n == ERR_NOMEM ? n : 0;
	if (n > MODULE_FRAMES_MAX)
		n = MODULE_FRAMES_MAX;
	int first = ms->opt.inlines || n == 0 ? 0 : n - 1;
	size_t k = 0;
	for (int i = first; i < n; i++) {
		struct module_frame *to = &out->frames[k];
		uint64_t start = out->frames[0].start;
		int outer = i == n - 1;
		if (!outer && !f[i].name)
			continue;
		*to = (struct module_frame){.start = outer ? start : f[i].entry,
					    .inlined = f[i].inlined,
					    .line = f[i].line};
		if (printable(ms,
			      outer && symbol ? symbol
			      : f[i].name     ? f[i].name
					      : "",
			      1, &to->name))
			return ERR_NOMEM;
		if (f[i].file && strtab_intern(ms->machine->strings, f[i].file, &to->file))
			return ERR_NOMEM;
		k++;
	}
	if (k)
		out->n = k;
	return 0;
}

static int lookup_file(struct modules *ms, const struct map *map, uint64_t ip, int how,
		       struct module_lookup *out)
{
	struct module *mod = module_of(ms, map->dso);
	if (!mod)
		return ERR_NOMEM;
	struct dso_files *f = &mod->files;
	if (!f->runtime && !f->debug)
		return 0;
	if (!mod->symbols_tried &&
	    symtab_from_elf(f->runtime, f->debug, &mod->symbols, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	mod->symbols_tried = 1;
	uint64_t vaddr, offset = ip - map->start + map->pgoff;
	struct symbol_hit hit;
	if (!elf_file_vaddr(f->runtime ? f->runtime : f->debug, offset, &vaddr) ||
	    !mod->symbols || !find_symbol(mod->symbols, &vaddr, how, &hit))
		return 0;
	int rc = single(ms, &hit, 1, out);
	if (!rc && (ms->opt.inlines || ms->opt.lines))
		rc = add_inlines(ms, mod, vaddr, hit.name, out);
	return rc;
}

/* The symbol at `ip` of a file that ran, and its distance. For the unwinder's threads. */
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
			symtab_from_elf(f->runtime, f->debug, &mod->symbols, NULL);
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
	return unwind_root_name(hit.name)  ? UNWIND_ROOT
	       : !strcmp(hit.name, "main") ? UNWIND_MAIN
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

int modules_lookup(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time,
		   int how, struct module_lookup *out)
{
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	out->n = 0;
	switch (d->kind) {
	case DSO_BPF: /* one program, one symbol: both have the recorded name */
		out->frames[0] = (struct module_frame){.name = d->name};
		out->n = 1;
		return 0;
	case DSO_KERNEL:
		return lookup_kernel(ms, ip, how, out);
	case DSO_MODULE:
		return lookup_module(ms, map, ip, how, out);
	case DSO_ANON:
		return lookup_anon(ms, map, ip, time, how, out);
	case DSO_FILE:
	case DSO_VDSO:
		return lookup_file(ms, map, ip, how, out);
	default:
		return 0;
	}
}

/* --- the files in use ----------------------------------------------------------------------
 */

struct file_walk {
	int (*take)(void *ctx, const struct module_file *f);
	void *ctx;
	struct module_file file;
	const struct module *mod;
};

static int take_file(struct file_walk *w, enum module_role role, const char *path,
		     const struct elf_file *elf)
{
	if (!path)
		return 0;
	w->file.role = role;
	w->file.path = path;
	w->file.elf = elf;
	return w->take(w->ctx, &w->file);
}

static int take_beside(void *ctx, const struct elf_file *of, const char *path, const char *name)
{
	struct file_walk *w = ctx;
	w->file.name = name;
	w->file.beside = of == w->mod->files.debug ? MODULE_DEBUG : MODULE_RUNTIME;
	return take_file(w, MODULE_BESIDE, path, NULL);
}

static int take_module(struct file_walk *w, const struct module *mod)
{
	const struct dso_files *f = &mod->files;
	w->mod = mod;
	w->file.id = &f->id;
	int rc = f->runtime ? take_file(w, MODULE_RUNTIME, f->runtime->path, f->runtime) : 0;
	if (!rc && f->debug)
		rc = take_file(w, MODULE_DEBUG, f->debug->path, f->debug);
	if (!rc && mod->debuginfo)
		rc = debuginfo_each_file(mod->debuginfo, take_beside, w);
	w->file.name = mod->jitdump_name;
	if (!rc)
		rc = take_file(w, MODULE_JITDUMP, mod->jitdump_path, NULL);
	return rc ? rc : take_file(w, MODULE_PERFMAP, mod->perfmap_path, NULL);
}

static int take_kernel(struct file_walk *w, const struct modules *ms)
{
	const struct map *map = kernel_map(ms);
	const struct elf_file *vmlinux = ms->kernel.files.vmlinux;
	if (!map)
		return 0;
	w->file.dso = map->dso;
	w->file.id = &ms->machine->dsos.v[map->dso].id;
	int rc = take_file(w, MODULE_KALLSYMS, ms->kernel.files.kallsyms, NULL);
	return rc || !vmlinux ? rc : take_file(w, MODULE_VMLINUX, vmlinux->path, vmlinux);
}

int modules_each_file(const struct modules *ms,
		      int (*take)(void *ctx, const struct module_file *f), void *ctx)
{
	struct file_walk w = {.take = take, .ctx = ctx};
	int rc = take_kernel(&w, ms);
	for (size_t i = 0; !rc && i < ms->n; i++) {
		if (!ms->v[i])
			continue;
		w.file = (struct module_file){.dso = (uint32_t)i};
		rc = take_module(&w, ms->v[i]);
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
	*detail = ms->v[dso]->files.detail;
	return ms->v[dso]->files.reason;
}

/* Is DSO i a better answer for the name than *found or, when it was not looked for, *first? */
static void consider_dso(const struct modules *ms, uint32_t name, uint32_t i, uint32_t *found,
			 uint32_t *first)
{
	const char *detail;
	if (ms->machine->dsos.v[i].name != name)
		return;
	if (i < *first)
		*first = i;
	if (i < *found && modules_reason(ms, i, &detail) != DSO_NOT_A_FILE)
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
	     i++) /* what memory did not suffice for */
		consider_dso(ms, name, i, &found, &first);
	return found != NO_ID ? found : first;
}
