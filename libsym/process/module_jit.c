/* module_jit.c - an address of generated code: jitdumps, perf-PID.map, and when code was
 * replaced. */
#include "libsym/process/modules_internal.h"
#include "base/mem.h"
#include "libsym/unwind/cfi.h"

#include <stdio.h>
#include <string.h>

/* The jitdump at found->path, which is freed or kept; NULL when out of memory. `why` (or NULL)
 * is set if it cannot be read. */
static const struct open_jitdump *jitdump_shared(struct modules *ms,
						 const struct jit_found *found, struct err *why)
{
	char *path = found->path;
	struct open_jitdump j = {.path = path};
	uint32_t name, at;
	int rc = strtab_intern(ms->machine->strings, path, &name);
	if (!rc && u64map_get(&ms->jitdump_at, name, &at)) {
		mem_free(path);
		return &ms->jitdumps.v[at];
	}
	if (!rc && jitfiles_open_jitdump(&ms->opt.find, found, &j.dump, why) == ERR_NOMEM)
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
	struct jit_found found;
	size_t skip = 0;
	int rc = 1;
	while (rc == 1) {
		rc = jitfiles_jitdump(&ms->opt.find, ms->opt.map_dir, m, &only, 0, &skip,
				      &found);
		const struct open_jitdump *j =
			rc == 1 ? jitdump_shared(ms, &found, NULL) : NULL;
		if (rc == 1 && !j)
			return ERR_NOMEM;
		if (j && j->dump) {
			*times = jitdump_changes(j->dump, n);
			return u64map_put(&ms->jitdump_of, dso, (uint32_t)(j - ms->jitdumps.v));
		}
	}
	return rc;
}

void modules_on_code_change(struct modules *ms)
{
	ms->machine->code_changes = code_changes;
	ms->machine->code_changes_ctx = ms;
}

void open_jitdump_release(struct open_jitdump *j)
{
	for (size_t i = 0; i < j->cfis.n; i++)
		cfi_close(j->cfis.v[i]);
	vec_release(&j->cfis);
	u64map_release(&j->cfi_of);
	jitdump_close(j->dump);
	mem_free(j->path);
}

/* --- unwinding ------------------------------------------------------------------------ */

/* 1 when an FDE is not about the code of its record, with what aligns its end. */
static int is_elsewhere(void *code, const struct cfi_section *s, const struct cfi_cie *cie,
			const struct cfi_fde *fde)
{
	const struct jit_code *c = code;
	(void)s, (void)cie;
	return fde->start < c->origin || fde->end - c->origin > (c->size | 15) + 1;
}

/* The unwinding information of a piece of code, in the addresses where it was loaded; NULL if it
 * has none, or that of other code. */
static int open_code(const struct jitdump *j, const struct jit_code *c, uint16_t machine,
		     struct cfi **out)
{
	uint32_t own = jitdump_info(j).elf_machine;
	struct cfi_bytes b = {.machine = own ? (uint16_t)own : machine,
			      .eh_frame = c->eh_frame,
			      .eh_frame_size = c->eh_frame_size,
			      .eh_frame_va = c->origin + ((c->size + 7) & ~UINT64_C(7)),
			      .code = c->code,
			      .code_size = c->code ? c->size : 0,
			      .code_va = c->origin};
	*out = NULL;
	int rc = cfi_open_bytes(&b, out, NULL);
	if (!rc && cfi_each_fde(*out, is_elsewhere, (void *)c)) {
		cfi_close(*out);
		*out = NULL;
	}
	return rc == ERR_NOMEM ? rc : 0;
}

/* The same, made once. Under the lock. */
static int cfi_of_code(struct open_jitdump *j, const struct jit_code *c, uint16_t machine,
		       struct cfi **out)
{
	uint64_t key = (uint64_t)(uintptr_t)c;
	uint32_t at;
	*out = NULL;
	if (!c->eh_frame_size)
		return 0;
	if (u64map_get(&j->cfi_of, key, &at)) {
		*out = j->cfis.v[at];
		return 0;
	}
	if (open_code(j->dump, c, machine, out))
		return ERR_NOMEM;
	if (vec_push(&j->cfis, *out)) {
		cfi_close(*out);
		return ERR_NOMEM;
	}
	return u64map_put(&j->cfi_of, key, (uint32_t)(j->cfis.n - 1));
}

int modules_jit_cfi(struct modules *ms, uint16_t machine, uint32_t space, uint64_t pc,
		    uint64_t time, struct cfi **out, uint64_t *bias)
{
	enum { MAX_FORK_DEPTH = 64 };
	const struct machine *m = ms->machine;
	const struct jit_code *code;
	uint32_t at;
	int rc = 0, found = 0;
	*out = NULL;
	pthread_mutex_lock(&ms->lock);
	for (int i = 0; !found && space < m->spaces.n && i < MAX_FORK_DEPTH; i++) {
		const struct space *s = &m->spaces.v[space];
		if (s->jitdump != NO_ID && u64map_get(&ms->jitdump_of, s->jitdump, &at) &&
		    jitdump_find(ms->jitdumps.v[at].dump, pc, time, &code)) {
			found = 1;
			rc = cfi_of_code(&ms->jitdumps.v[at], code, machine, out);
			*bias = code->start - code->origin;
		}
		time = s->fork_time < time ? s->fork_time : time;
		space = s->parent;
	}
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

/* --- names ---------------------------------------------------------------------------- */

static void refuse(struct err *why, const char *path)
{
	if (!why->code)
		err_set(why, ERR_REFUSED,
			"%s: its functions are not where the process had code", path);
}

/* The perf map of a process; whose of several with its pid it is, the file does not tell. */
static int perfmap_open(struct modules *ms, uint32_t process, struct module *mod,
			struct err *why)
{
	const struct machine *m = ms->machine;
	uint64_t began = m->processes.v[process].life.start;
	struct jit_process p = {.pid = m->processes.v[process].pid,
				.ended = machine_has_ended(m, process),
				.began_ns = began ? features_wall_ns(&ms->rec->features, began)
						  : 0};
	if (machine_is_pid_reused(m, process)) {
		if (!why->code)
			err_set(why, ERR_REFUSED,
				"/tmp/perf-%d.map: several processes had this pid", p.pid);
		return 0;
	}
	int fits = 1, rc = jitfiles_perfmap(&ms->opt.find, ms->opt.map_dir, &p, &mod->perfmap,
					    &mod->perfmap_path, why);
	if (!rc && mod->perfmap_path)
		rc = jitfiles_map_fits(m, process, &mod->perfmap, &fits);
	if (!rc && !fits) {
		refuse(why, mod->perfmap_path);
		perfmap_release(&mod->perfmap);
		mem_free(mod->perfmap_path);
		mod->perfmap_path = NULL;
	}
	return rc;
}

/* A jitdump that the process mapped; *e says why it is not used. */
static int take_jitdump(struct modules *ms, uint32_t process, const struct open_jitdump *j,
			struct module *mod, struct err *e)
{
	int fits = 1, rc = 0;
	if (j && j->cycles)
		mod->files.reason = DSO_CYCLES;
	if (j && j->dump)
		rc = jitfiles_jitdump_fits(ms->machine, process, j->dump, &fits);
	if (!fits)
		refuse(e, j->path);
	mod->jitdump = j && fits ? j->dump : NULL;
	mod->jitdump_path = mod->jitdump ? j->path : NULL;
	return rc;
}

/* Load what names JIT code of a process: a jitdump it mapped, and its perf map. */
static int maps_open(struct modules *ms, uint32_t process, struct module *mod)
{
	const struct dso_options *f = &ms->opt.find;
	struct err why = {0};
	size_t skip = 0;
	int rc = 1;
	mod->maps_tried = 1;
	if (!ms->jit_tried && jit_mappings_find(&ms->jit_mappings, ms->machine))
		return ERR_NOMEM;
	ms->jit_tried = 1;
	while (!mod->jitdump && rc == 1) {
		struct jit_found found;
		struct err e = {0};
		rc = jitfiles_jitdump(f, ms->opt.map_dir, ms->machine, &ms->jit_mappings,
				      process, &skip, &found);
		mod->jitdump_name = found.recorded;
		const struct open_jitdump *j = rc == 1 ? jitdump_shared(ms, &found, &e) : NULL;
		if (rc == 1 && !j)
			return ERR_NOMEM;
		if (take_jitdump(ms, process, j, mod, &e))
			return ERR_NOMEM;
		if (e.code && e.code != ERR_NOTFOUND && !why.code)
			why = e;
	}
	if (mod->jitdump)
		why = (struct err){0};
	if (!rc || rc == 1)
		rc = perfmap_open(ms, process, mod, &why);
	if (!mod->perfmap_path && why.code && mod->files.reason == DSO_NOT_A_FILE) {
		mod->files.reason = DSO_UNREADABLE;
		snprintf(mod->files.detail, DSO_DETAIL_MAX, "%s", why.msg);
	}
	return rc;
}

int jit_read(struct modules *ms, uint32_t dso, struct module **mod)
{
	*mod = module_of(ms, dso);
	if (!*mod)
		return ERR_NOMEM;
	return (*mod)->maps_tried ? 0 : maps_open(ms, ms->machine->dsos.v[dso].process, *mod);
}

/* Say why code of its map has no name. */
static void note_reused(struct module *mod)
{
	mod->files.reason = DSO_UNREADABLE;
	snprintf(mod->files.detail, DSO_DETAIL_MAX, "%s: " MODULES_REUSED, mod->perfmap_path);
}

/* 0, 1 if several functions had the address, or ERR_NOMEM. */
static int lookup_code(struct modules *ms, struct module *mod, uint64_t ip, uint64_t time,
		       struct module_lookup *out)
{
	const struct jit_code *code;
	struct symbol_hit hit;
	if (mod->jitdump && jitdump_find(mod->jitdump, ip, time, &code)) {
		const char *file = NULL;
		uint32_t line = 0;
		hit = (struct symbol_hit){.name = code->name, .start = code->start};
		if (lookup_named(ms, &hit, 1, out))
			return ERR_NOMEM;
		out->at = ip - code->start <= UINT32_MAX ? (uint32_t)(ip - code->start) : 0;
		if (!ms->opt.lines || !jitdump_line(mod->jitdump, code, ip, &file, &line))
			return 0;
		out->frames[0].line = line;
		return strtab_intern(ms->machine->strings, file, &out->frames[0].file);
	}
	int got = perfmap_find(&mod->perfmap, ip, &hit);
	if (got == 2)
		note_reused(mod);
	return got == 1 ? lookup_named(ms, &hit, 1, out) : got == 2;
}

int lookup_jit(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time, int how,
	       struct module_lookup *out)
{
	struct module *mod;
	if (jit_read(ms, map->dso, &mod))
		return ERR_NOMEM;
	int rc = lookup_code(ms, mod, ip - (how == LOOKUP_RETURN), time, out);
	return rc > 0 ? 0 : rc;
}

/* --- of forked processes -------------------------------------------------------------- */

/* What the process of a space wrote, searched on first use. Under the lock. */
static int own_code(struct modules *ms, uint32_t space, uint32_t dso, struct module **mod)
{
	uint32_t at, process = ms->machine->spaces.v[space].process;
	int32_t pid = ms->machine->processes.v[process].pid;
	if (u64map_get(&ms->forked_at, process, &at)) {
		*mod = ms->forked.v[at].mod;
		return 0;
	}
	*mod = mem_zalloc(1, sizeof(**mod));
	if (!*mod || vec_push(&ms->forked,
			      ((struct forked_code){.mod = *mod, .pid = pid, .dso = dso}))) {
		mem_free(*mod);
		return ERR_NOMEM;
	}
	return maps_open(ms, process, *mod) ||
			       u64map_put(&ms->forked_at, process, (uint32_t)(ms->forked.n - 1))
		       ? ERR_NOMEM
		       : 0;
}

int modules_own_code(struct modules *ms, uint32_t space, uint32_t dso)
{
	struct module *mod;
	pthread_mutex_lock(&ms->lock);
	int rc = own_code(ms, space, dso, &mod);
	if (!rc)
		rc = mod->jitdump ? 2 : mod->perfmap_path != NULL;
	pthread_mutex_unlock(&ms->lock);
	return rc;
}

int modules_lookup_inherited(struct modules *ms, const struct map *map, uint32_t space,
			     uint64_t ip, uint64_t time, uint64_t forked, int how,
			     struct module_lookup *out)
{
	struct module *mod;
	out->n = out->at = 0;
	pthread_mutex_lock(&ms->lock);
	int rc = own_code(ms, space, map->dso, &mod);
	if (!rc)
		rc = lookup_code(ms, mod, ip - (how == LOOKUP_RETURN), time, out);
	if (!rc && !out->n)
		rc = lookup_jit(ms, map, ip, forked, how, out);
	pthread_mutex_unlock(&ms->lock);
	return rc > 0 ? 0 : rc;
}

/* --- code ----------------------------------------------------------------------------- */

/* 1 if the jitdump has bytes for `addr` under this name, at any time. */
static int has_code(struct modules *ms, const struct jitdump *j, uint64_t addr, uint32_t name,
		    const struct jit_code **code)
{
	size_t n;
	const uint64_t *times = jitdump_changes(j, &n);
	for (size_t i = n + 1; i-- > 0;) {
		struct module_lookup l = {0};
		uint64_t at = i < n ? times[i] - 1 : UINT64_MAX;
		struct symbol_hit hit;
		if (!jitdump_find(j, addr, at, code) || (*code)->start != addr ||
		    !(*code)->code)
			continue;
		hit = (struct symbol_hit){.name = (*code)->name, .start = addr};
		if (lookup_named(ms, &hit, 1, &l))
			return ERR_NOMEM;
		if (l.n && l.frames[0].name == name)
			return 1;
	}
	return 0;
}

int modules_jit_code(struct modules *ms, uint64_t addr, uint32_t name, struct code_bytes *out)
{
	const struct jit_code *found = NULL, *code;
	int rc = 0, n = 0;
	pthread_mutex_lock(&ms->lock);
	for (size_t i = 0; i < ms->jitdumps.n && rc >= 0; i++) {
		const struct jitdump *j = ms->jitdumps.v[i].dump;
		rc = j ? has_code(ms, j, addr, name, &code) : 0;
		if (rc != 1 || (found && found->size == code->size &&
				!memcmp(found->code, code->code, code->size)))
			continue;
		found = code;
		n++;
		*out = (struct code_bytes){.v = code->code,
					   .n = code->size,
					   .va = addr,
					   .machine = (uint16_t)jitdump_info(j).elf_machine};
	}
	pthread_mutex_unlock(&ms->lock);
	return rc < 0 ? rc : n;
}
