#include "libsym/pack_list.h"
#include "base/text/buf.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "libparse/archive/tar.h"
#include "libparse/linux_mmap.h"
#include "libsym/process/jit_files.h"

#include <stdlib.h>
#include <string.h>

/* --- what was mapped -------------------------------------------------------------------- */

enum { FORK_DEPTH_MAX = 64 }; /* as deep as machine_map_at follows forks */

/* Up to which time the mappings of a space and of those it was forked from are needed. */
static void need_space(const struct machine *m, uint64_t *until, uint32_t space)
{
	uint64_t t = TIME_END;
	for (int depth = 0; depth < FORK_DEPTH_MAX && space != NO_ID; depth++) {
		const struct space *s = &m->spaces.v[space];
		if (until[space] >= t)
			return;
		until[space] = t;
		t = s->fork_time < t ? s->fork_time : t;
		space = s->parent;
	}
}

static int pids_with_samples(const struct profile *p, struct u64map *pids)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < p->folded.n; i++)
		if (p->folded.v[i].pid > 0)
			rc = u64map_put(pids, (uint64_t)p->folded.v[i].pid, 0);
	return rc;
}

/* Mark the DSOs mapped as code in the needed spaces. */
static void mark_mapped(const struct machine *m, const uint64_t *until, uint8_t *mapped)
{
	for (size_t i = SPACE_KERNEL + 1; i < m->spaces.n; i++) {
		const struct space *s = &m->spaces.v[i];
		for (size_t k = 0; until[i] && k < s->by_start.n; k++) {
			const struct map *map = &m->maps.v[s->by_start.v[k]];
			mapped[map->dso] |=
				map->prot & LINUX_PROT_EXEC && map->since <= until[i];
		}
	}
}

static int find_mapped(const struct profile *p, uint8_t *mapped)
{
	const struct machine *m = &p->machine;
	struct u64map pids = {0};
	uint64_t *until = mem_zalloc(m->spaces.n, sizeof(*until));
	int rc = until ? pids_with_samples(p, &pids) : ERR_NOMEM;
	for (size_t i = 0; !rc && i < m->processes.n; i++) {
		const struct process *x = &m->processes.v[i];
		uint32_t found;
		if (!u64map_get(&pids, (uint64_t)x->pid, &found))
			continue;
		for (size_t k = 0; k < x->images.n; k++)
			need_space(m, until, x->images.v[k].space);
	}
	if (!rc)
		mark_mapped(m, until, mapped);
	u64map_release(&pids);
	mem_free(until);
	return rc;
}

/* 1 when the DSO's path may be that of a file, but not of a jitdump. */
static int names_file(const struct profile *p, const struct dso *d)
{
	const char *path = strtab_get(&p->stacks.strings, d->path);
	return d->kind == DSO_FILE && path[0] == '/' && !dso_is_anonymous(path) &&
	       !jitfiles_is_jitdump(path);
}

int packlist_open_mapped(struct profile *p, packlist_dsos *lost, struct err *e)
{
	const struct machine *m = &p->machine;
	uint8_t *mapped = mem_zalloc(m->dsos.n ? m->dsos.n : 1, 1);
	int rc = mapped ? find_mapped(p, mapped) : ERR_NOMEM;
	for (uint32_t i = 0; !rc && i < m->dsos.n; i++) {
		const struct dso *d = &m->dsos.v[i];
		const char *detail;
		if (!mapped[i] || (d->kind != DSO_VDSO && !names_file(p, d)))
			continue;
		rc = modules_open_debuginfo(p->modules, i);
		enum dso_reason why = rc ? DSO_FOUND : modules_reason(p->modules, i, &detail);
		if (why != DSO_FOUND && why != DSO_NOT_A_FILE && why != DSO_SPECIAL_FILE)
			rc = vec_push(lost, i);
	}
	mem_free(mapped);
	return rc ? err_nomem(e) : 0;
}

/* --- samples by DSO --------------------------------------------------------------------- */

/* Samples with at least one frame in a DSO of this name: strings id → row of `of`. */
struct dso_counts {
	struct u64map index;
	VEC(struct dso_count {
		uint64_t samples;
		size_t last; /* index + 1 in profile.folded */
	})
	of;
};

static int count_frame(struct dso_counts *c, uint32_t name, size_t i, uint64_t samples)
{
	uint32_t row;
	if (!u64map_get(&c->index, name, &row)) {
		row = (uint32_t)c->of.n;
		if (vec_push(&c->of, (struct dso_count){0}) || u64map_put(&c->index, name, row))
			return ERR_NOMEM;
	}
	struct dso_count *x = &c->of.v[row];
	x->samples += x->last == i + 1 ? 0 : samples;
	x->last = i + 1;
	return 0;
}

static int count_samples(struct dso_counts *c, const struct profile *p)
{
	const struct stacks *s = &p->stacks;
	int rc = 0;
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct folded *f = &p->folded.v[i];
		for (uint32_t at = f->path; !rc && at; at = s->paths.v[at].parent)
			rc = count_frame(c, s->frames.v[s->paths.v[at].frame].dso, i,
					 f->samples);
	}
	return rc;
}

static uint64_t samples_of(const struct dso_counts *c, uint32_t name)
{
	uint32_t row;
	return u64map_get(&c->index, name, &row) ? c->of.v[row].samples : 0;
}

/* --- names in the bundle ----------------------------------------------------------------- */

struct lister {
	struct packlist *list;
	const struct profile *profile;
	struct dso_counts counts;
	struct buf name;
};

/* debug/.build-id/xx/yyyy/LEAF */
static void cache_name(struct buf *b, const struct build_id *id, const char *leaf)
{
	char hex[2 * BUILD_ID_MAX + 1];
	build_id_hex(id, hex);
	buf_fmt(b, "debug/.build-id/%.2s/%s/%s", hex, hex + 2, leaf);
}

/* The length of a recorded path without " (deleted)". */
static size_t plain_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), k = sizeof(deleted) - 1;
	return n > k && !strcmp(path + n - k, deleted) ? n - k : n;
}

static void symfs_name(struct buf *b, const char *path)
{
	buf_str(b, "symfs");
	buf_add(b, path, plain_length(path));
}

/* Where dso_find.c will look for it: by the recorded id, else below symfs. */
static void runtime_name(struct lister *l, uint32_t dso, struct buf *b)
{
	const struct dso *d = &l->profile->machine.dsos.v[dso];
	const char *path = strtab_get(&l->profile->stacks.strings, d->path);
	if (d->id.len)
		cache_name(b, &d->id, d->kind == DSO_VDSO ? "vdso" : "elf");
	else if (d->file.shared_path)
		buf_fmt(b, "symfs" DSO_BY_INODE, DSO_INODE_ARGS(&d->file), path);
	else
		symfs_name(b, path);
}

/* By the recorded id, or the runtime file's own; without any, in the debuglink's folder next to
 * it. */
static void debug_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	if (f->id->len) {
		cache_name(b, f->id, "debug");
		return;
	}
	runtime_name(l, f->dso, b);
	while (b->n && b->v[b->n - 1] != '/')
		b->n--;
	buf_fmt(b, ".debug/%s", path_base(f->path));
}

static void supplementary_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	if (f->relative_to == MODULE_DEBUG)
		debug_name(l, f, b);
	else
		runtime_name(l, f->dso, b);
	if (strcmp(f->name, ".dwp") != 0)
		while (b->n && b->v[b->n - 1] != '/')
			b->n--;
	buf_str(b, f->name);
}

static void kernel_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	const char *release = l->profile->rec->features.osrelease;
	int text = f->role == MODULE_KALLSYMS;
	if (f->id->len)
		cache_name(b, f->id, text ? "kallsyms" : "elf");
	else if (text)
		buf_str(b, "symfs/proc/kallsyms");
	else
		buf_fmt(b, "symfs/boot/vmlinux-%s", release ? release : "unknown");
}

static void make_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	switch (f->role) {
	case MODULE_RUNTIME:
		runtime_name(l, f->dso, b);
		break;
	case MODULE_DEBUG:
		debug_name(l, f, b);
		break;
	case MODULE_SUPPLEMENTARY:
		supplementary_name(l, f, b);
		break;
	case MODULE_PERFMAP:
		buf_fmt(b, "symfs/tmp/perf-%d.map", f->pid);
		break;
	case MODULE_JITDUMP:
		symfs_name(b, f->name);
		break;
	case MODULE_KALLSYMS:
	case MODULE_VMLINUX:
		kernel_name(l, f, b);
		break;
	}
}

/* 1 when the content is packed from memory; a compressed module found by its path stays
 * compressed. */
static int is_copied_from_memory(const struct module_file *f, const char *name)
{
	return f->elf && !(f->elf->writable_copy && !strncmp(name, "symfs/", 6));
}

/* What goes in: what was read when names were looked up, never what lies at the path by now. */
static int take_content(const struct module_file *f, struct pack_file *file)
{
	if (is_copied_from_memory(f, file->name)) {
		file->data = f->elf->data;
		file->size = f->elf->size;
	} else if (f->elf) {
		file->data = f->elf->packed;
		file->size = f->elf->packed_size;
	} else if (f->role == MODULE_JITDUMP) {
		file->data = jitdump_bytes(f->jitdump, &file->size);
	} else if (f->role == MODULE_PERFMAP) {
		struct buf b = {0};
		perfmap_write(f->perfmap, &b);
		if (buf_failed(&b)) {
			buf_release(&b);
			return ERR_NOMEM;
		}
		file->data = (const uint8_t *)b.v;
		file->made = b.v;
		file->size = b.n;
	}
	return 0;
}

void pack_file_free(struct pack_file *f)
{
	mem_free(f->name);
	mem_free(f->path);
	mem_free(f->made);
}

static int add_file(void *ctx, const struct module_file *f)
{
	struct lister *l = ctx;
	buf_clear(&l->name);
	make_name(l, f, &l->name);
	const char *name = buf_cstr(&l->name);
	if (buf_failed(&l->name))
		return ERR_NOMEM;
	if (!tar_name_is_safe(name))
		return 0;
	const struct dso *dso = &l->profile->machine.dsos.v[f->dso];
	struct pack_file file = {.name = mem_strdup(name),
				 .path = mem_strdup(f->path),
				 .fd = f->role == MODULE_KALLSYMS ? f->fd : -1,
				 .dso = f->dso,
				 .samples = samples_of(&l->counts, dso->name),
				 .order = l->list->files.n};
	if (f->role != MODULE_SUPPLEMENTARY && f->role != MODULE_JITDUMP &&
	    f->role != MODULE_PERFMAP)
		file.id = *f->id;
	if (!file.name || !file.path || take_content(f, &file) ||
	    vec_push(&l->list->files, file)) {
		pack_file_free(&file);
		return ERR_NOMEM;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct pack_file *x = a, *y = b;
	int c = strcmp(x->name, y->name);
	return c ? c : x->order < y->order ? -1 : 1;
}

static void sort_unique(struct packlist *l)
{
	size_t n = 0;
	if (l->files.n)
		qsort(l->files.v, l->files.n, sizeof(*l->files.v), by_name);
	for (size_t i = 0; i < l->files.n; i++) {
		if (n && !strcmp(l->files.v[n - 1].name, l->files.v[i].name))
			pack_file_free(&l->files.v[i]);
		else
			l->files.v[n++] = l->files.v[i];
	}
	l->files.n = n;
}

int packlist_make(struct packlist *l, const struct profile *p, struct err *e)
{
	struct lister lister = {.list = l, .profile = p};
	int rc = count_samples(&lister.counts, p);
	if (!rc)
		rc = modules_each_file(p->modules, add_file, &lister);
	u64map_release(&lister.counts.index);
	vec_release(&lister.counts.of);
	buf_release(&lister.name);
	sort_unique(l);
	return rc ? err_nomem(e) : 0;
}

void packlist_release(struct packlist *l)
{
	for (size_t i = 0; i < l->files.n; i++)
		pack_file_free(&l->files.v[i]);
	vec_release(&l->files);
}
