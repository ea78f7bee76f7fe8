/* module_lookup.c - an address of a file: its demangled symbol, and the inlined frames that
 * DWARF has there. */
#include "libsym/process/modules_internal.h"
#include "base/check.h"
#include "base/text/path.h"
#include "libsym/elf/claimed_file.h"
#include "libsym/name/demangle.h"
#include "libsym/name/simplify.h"
#include "libsym/unwind/arch.h"

#include <stdio.h>
#include <unistd.h>

/*
 * A C++ constructor, distinguished by its argument: Foo::copy_construct, Foo::move_construct
 * into ms->text; 1 when the name is one of these.
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

/* Bytes of a name that are always read: demangled names are shorter, and normal ones much
 * shorter. Many frames may point into one endless text. */
enum { NAME_CUT = DEMANGLE_OUTPUT_MAX };

/* By how much demangled names may exceed the raw ones in total; after that names stay raw. Real
 * ones are shorter, but a hundred bytes can be made to demangle to 60,000. */
enum { NAMES_GROWTH = 64 << 20 };

/* The length of a name to use: once NAMES_GROWTH bytes of long names were read, only the first
 * NAME_CUT. */
static size_t name_length(struct modules *ms, const char *name)
{
	size_t n = strnlen(name, ms->names_growth < NAMES_GROWTH ? SIZE_MAX : NAME_CUT);
	if (n > NAME_CUT)
		ms->names_growth += n;
	return n;
}

int lookup_printable(struct modules *ms, const char *raw, int mangled, uint32_t *id)
{
	uint64_t key = (uint64_t)(uintptr_t)raw;
	if (u64map_get(&ms->names, key, id))
		return 0;
	if (ms->opt.no_demangle || ms->names_growth >= NAMES_GROWTH)
		mangled = 0;
	int rc = mangled && ms->opt.constructors && special_constructor(ms, raw);
	if (!rc) {
		buf_clear(&ms->text);
		rc = mangled ? demangle(raw, mangled & LOOKUP_NIM ? DEMANGLE_NIM : 0, &ms->text)
			     : 0;
	}
	if (rc == ERR_NOMEM)
		return rc;
	size_t len = rc == 1 ? strlen(raw) : 0;
	if (rc == 1 && ms->text.n > len)
		ms->names_growth += ms->text.n - len;
	const char *name = rc == 1 ? buf_cstr(&ms->text) : raw;
	if (strtab_intern_n(ms->machine->strings, name, name_length(ms, name), id))
		return ERR_NOMEM;
	return u64map_put(&ms->names, key, *id);
}

int modules_is_interrupt_entry(const char *name)
{
	size_t n = strlen(name);
	/* a retpoline pushes its target and "returns" to it */
	int thunk = n >= 12 && !strcmp(name + n - 12, "return_thunk");
	return thunk || !strncmp(name, "asm_", 4) || !strcmp(name, "__restore_rt") ||
	       !strncmp(name, "__kernel_rt_sigreturn", 21);
}

int modules_is_start(const struct modules *ms, const char *name)
{
	return !!(frame_roles(ms->frames, 0, name, "") & ROLE_START);
}

/* 1 for functions whose start is put on the stack as a return address without a call. */
static int is_planted(const char *name)
{
	return !strcmp(name, "__restore_rt") || !strncmp(name, "__kernel_rt_sigreturn", 21) ||
	       !strncmp(name, "ret_from_fork", 13) || !strcmp(name, "__start_context");
}

int lookup_symbol(const struct symtab *t, uint64_t *vaddr, int how, struct symbol_hit *hit)
{
	int found = symtab_find(t, *vaddr, hit);
	if (how == LOOKUP_EXACT || (found && *vaddr == hit->start && is_planted(hit->name)))
		return found;
	*vaddr -= 1;
	/* unless a nested symbol ends there */
	int nested =
		found && hit->index + 1 < t->n && t->symbols[hit->index + 1].start <= *vaddr;
	if (found && *vaddr >= hit->start && !nested)
		return 1;
	return symtab_find(t, *vaddr, hit);
}

int lookup_named(struct modules *ms, const struct symbol_hit *hit, int mangled,
		 struct module_lookup *out)
{
	out->n = 1;
	out->frames[0] = (struct module_frame){.start = hit->start};
	return lookup_printable(ms, hit->name, mangled, &out->frames[0].name);
}

/* 1 for a path in a folder that was given. */
static int is_given(const struct dso_options *f, const char *path)
{
	const char *below = path_below(path, f->symfs);
	below = below ? below : path_below(path, f->buildid_dir);
	return below && !path_has_parent(below);
}

static int open_claimed(const struct dso_options *f, const struct claim *k, const char *path,
			struct elf_file **out, struct err *e)
{
	struct claimed c;
	int rc = dso_open(f, path, k, &c, e);
	if (rc)
		return rc;
	rc = elf_file_open_fd(c.fd, path, out, e);
	close(c.fd);
	return rc;
}

/* Open a file that DWARF names (dwz, .dwo, .dwp): below symfs first, then at its path; if only
 * given files may be read, next to the file that names it. */
static int open_named(void *arg, const struct elf_file *of, const char *path,
		      struct elf_file **out, struct err *e)
{
	const struct dso_options *f = &((const struct modules *)arg)->opt.find;
	char below[4096];
	struct claim k = {.has_owner = of && of->has_owner, .owner = of ? of->owner : 0};
	if (f->symfs && *f->symfs &&
	    snprintf(below, sizeof(below), "%s/%s", f->symfs, path) < (int)sizeof(below)) {
		int rc = open_claimed(f, &k, below, out, e);
		if (!rc || rc == ERR_NOMEM)
			return rc;
	}
	if (f->no_local && !is_given(f, path))
		return err_set(e, ERR_NOTFOUND, "%s: not searched for on this machine", path);
	k.trusted = !f->handed_on || dso_is_trusted_path(f, path);
	return open_claimed(f, &k, path, out, e);
}

int module_debuginfo(struct modules *ms, const struct module *mod, struct debuginfo **out)
{
	struct debuginfo_options o = {.open = open_named,
				      .arg = ms,
				      .no_lines = ms->opt.no_lines && !ms->opt.lines,
				      .recorded = mod->recorded};
	/* of a debug file at other addresses, the lines and inlined calls are not believed, either */
	struct elf_file *debug = mod->symbols && mod->symbols->doubt ? NULL : mod->files.debug;
	int rc = debuginfo_open(mod->files.runtime, debug, &o, out, NULL);
	return rc == ERR_NOMEM ? rc : 0;
}

/* Nim's names look like C's: they are taken apart only where Nim's main program is. */
static int mangling_of(struct module *mod)
{
	struct symbol_hit hit;
	if (!mod->mangling)
		mod->mangling = mod->symbols && symtab_find_name(mod->symbols, "NimMain", &hit)
					? LOOKUP_MANGLED | LOOKUP_NIM
					: LOOKUP_MANGLED;
	return mod->mangling;
}

/* DWARF's name of a function: the linkage name demangled, else with its namespaces and classes,
 * as static functions have it in C++. perf leaves these out; of
 * templates, whose names may be long, so does this. */
static int lookup_scoped(struct modules *ms, const struct debuginfo_frame *f, int mangled,
			 uint32_t *id)
{
	struct buf full = {0};
	if (!f->name || !f->scope || ms->opt.no_demangle || strchr(f->name, '<') ||
	    strchr(f->scope, '<'))
		return lookup_printable(ms, f->name ? f->name : "", mangled, id);
	size_t n = strnlen(f->name, NAME_CUT);
	buf_str(&full, f->scope);
	buf_str(&full, "::");
	buf_add(&full, f->name, n);
	int rc = buf_failed(&full)
			 ? ERR_NOMEM
			 : strtab_intern_n(ms->machine->strings, buf_cstr(&full), full.n, id);
	buf_release(&full);
	return rc;
}

/* Add DWARF's frames at va, inlined ones and the symbol; `out` stays as it is if there are
 * none. */
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
	int mangled = mangling_of(mod);
	int n = debuginfo_frames(mod->debuginfo, va, symbol, f, MODULE_FRAMES_MAX);
	if (n < 0)
		return n == ERR_NOMEM ? n : 0;
	if (n > MODULE_FRAMES_MAX)
		n = MODULE_FRAMES_MAX;
	int first = ms->opt.inlines || n == 0 ? 0 : n - 1;
	size_t k = 0;
	uint64_t start = out->frames[0].start;
	for (int i = first; i < n; i++) {
		struct module_frame *to = &out->frames[k];
		int outer = i == n - 1;
		if (!outer && !f[i].name)
			continue;
		*to = (struct module_frame){.start = outer ? start : f[i].entry,
					    .inlined = f[i].inlined,
					    .line = f[i].line};
		if (outer && symbol ? lookup_printable(ms, symbol, mangled, &to->name)
				    : lookup_scoped(ms, &f[i], mangled, &to->name))
			return ERR_NOMEM;
		if (f[i].file && strtab_intern(ms->machine->strings, f[i].file, &to->file))
			return ERR_NOMEM;
		k++;
	}
	if (k)
		out->n = k;
	return 0;
}

/* The address of an offset in a file. A return address may be the first one after a segment; the
 * call before it is inside. */
static int code_vaddr(const struct elf_file *f, uint64_t offset, int how, uint64_t *vaddr)
{
	uint64_t back = how == LOOKUP_RETURN && offset;
	int found = elf_file_vaddr(f, offset - back, vaddr);
	*vaddr += found ? back : 0;
	return found;
}

int module_symbol_at(const struct module_symbols *s, const struct map *map, uint64_t ip,
		     int how, struct symbol_hit *hit)
{
	uint64_t addr = s->carried ? carried_vaddr(s->carried, map, ip) : ip - s->slide;
	if (s->file && !code_vaddr(s->file, ip - map->start + map->pgoff, how, &addr))
		return 0;
	/* In a kallsyms of another boot only the kernel itself is the same, moved as a whole;
	 * modules are elsewhere. */
	return lookup_symbol(s->table, &addr, how, hit) && !(hit->module && s->slide);
}

/* The table of a DSO without names. */
static const struct symtab nothing;

static int read_file_of(struct modules *ms, uint32_t dso, uint64_t offset,
			struct module_symbols *out)
{
	struct module *mod = module_of(ms, dso);
	while (mod && mod->busy && !ms->preparer)
		pthread_cond_wait(&ms->unbusy, &ms->lock);
	if (mod && !module_is_read(ms, mod)) {
		if (ms->preparer) {
			pthread_mutex_unlock(&ms->lock);
			modules_prefetch(ms, dso, offset);
			pthread_mutex_lock(&ms->lock);
			return 0;
		}
		module_read(ms, mod);
	}
	if (!mod || !module_is_read(ms, mod))
		return ERR_NOMEM;
	if (mod->debuginfo && (ms->opt.inlines || ms->opt.lines))
		return 1;
	out->table = mod->symbols ? mod->symbols : &nothing;
	out->file = mod->files.runtime ? mod->files.runtime : mod->files.debug;
	out->carried = mod->is_carried ? &mod->carried : NULL;
	return 1;
}

static int read_jit_of(struct modules *ms, uint32_t dso, struct module_symbols *out)
{
	struct module *mod;
	if (jit_read(ms, dso, &mod))
		return ERR_NOMEM;
	out->timed = mod->jitdump != NULL;
	out->table = mod->jitdump || mod->perfmap_path ? NULL : &nothing;
	return 1;
}

int modules_read(struct modules *ms, uint32_t dso, uint64_t offset, struct module_symbols *out)
{
	uint8_t kind = ms->machine->dsos.v[dso].kind;
	int rc = kind == DSO_KERNEL || kind == DSO_MODULE ? kernel_read(ms) : 1;
	*out = (struct module_symbols){0};
	pthread_mutex_lock(&ms->lock);
	if (kind == DSO_KERNEL && rc == 1) {
		out->table = kernel_table(ms) ? kernel_table(ms) : &nothing;
		out->slide = ms->kernel.slide;
	} else if (kind == DSO_FILE || kind == DSO_VDSO) {
		rc = read_file_of(ms, dso, offset, out);
	} else if (kind == DSO_ANON) {
		rc = read_jit_of(ms, dso, out);
	} else if (kind == DSO_SPECIAL) {
		out->table = &nothing;
	}
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

static int lookup_file(struct modules *ms, const struct map *map, uint64_t ip, int how,
		       struct module_lookup *out)
{
	struct module *mod = module_of(ms, map->dso);
	if (!mod)
		return ERR_NOMEM;
	CHECK(!ms->preparer || module_is_read(ms, mod)); /* modules_prepare_end comes first */
	struct dso_files *f = &mod->files;
	if (!f->runtime && !f->debug && !mod->is_carried)
		return 0;
	if (!mod->symbols_tried && symtab_from_elf(f->runtime, f->debug, arch_plt(f->runtime),
						   &mod->symbols, NULL) == ERR_NOMEM)
		return ERR_NOMEM;
	mod->symbols_tried = 1;
	uint64_t vaddr, offset = ip - map->start + map->pgoff;
	struct symbol_hit hit;
	if (mod->is_carried)
		vaddr = carried_vaddr(&mod->carried, map, ip);
	else if (!code_vaddr(f->runtime ? f->runtime : f->debug, offset, how, &vaddr))
		return 0;
	if (!mod->symbols || !lookup_symbol(mod->symbols, &vaddr, how, &hit))
		return 0;
	int rc = lookup_named(ms, &hit, mangling_of(mod), out);
	out->at = vaddr - hit.start <= UINT32_MAX ? (uint32_t)(vaddr - hit.start) : 0;
	if (!rc && (ms->opt.inlines || ms->opt.lines))
		rc = add_inlines(ms, mod, vaddr, hit.name, out);
	return rc;
}

static int lookup(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time,
		  int how, struct module_lookup *out)
{
	const struct dso *d = &ms->machine->dsos.v[map->dso];
	switch (d->kind) {
	case DSO_BPF: /* one program is one symbol: both have the recorded name */
		out->frames[0] = (struct module_frame){.name = d->name};
		out->n = 1;
		return 0;
	case DSO_KERNEL:
		return lookup_kernel(ms, ip, how, out);
	case DSO_MODULE:
		return lookup_module(ms, map, ip, how, out);
	case DSO_ANON:
		return lookup_jit(ms, map, ip, time, how, out);
	case DSO_FILE:
	case DSO_VDSO:
		return lookup_file(ms, map, ip, how, out);
	case DSO_SPECIAL:
		if (machine_is_uprobes(ms->machine, d)) { /* one page is one symbol */
			out->frames[0] = (struct module_frame){.name = d->name};
			out->n = 1;
		}
		return 0;
	default:
		return 0;
	}
}

int modules_lookup(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time,
		   int how, struct module_lookup *out)
{
	uint8_t kind = ms->machine->dsos.v[map->dso].kind;
	out->n = out->at = 0;
	if ((kind == DSO_KERNEL || kind == DSO_MODULE) && kernel_read(ms) < 0)
		return ERR_NOMEM;
	pthread_mutex_lock(&ms->lock);
	int rc = lookup(ms, map, ip, time, how, out);
	pthread_mutex_unlock(&ms->lock);
	return rc;
}
