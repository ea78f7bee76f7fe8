#include "libsym/packlist.h"
#include "base/buf.h"
#include "base/mem.h"
#include "libparse/tar.h"

#include <stdlib.h>
#include <string.h>

struct lister {
	struct packlist *list;
	const struct profile *profile;
	struct buf name;
};

/* debug/.build-id/xx/yyyy/LEAF */
static void cache_name(struct buf *b, const struct build_id *id, const char *leaf)
{
	char hex[2 * BUILD_ID_MAX + 1];
	build_id_hex(id, hex);
	buf_fmt(b, "debug/.build-id/%.2s/%s/%s", hex, hex + 2, leaf);
}

/* Bytes of a recorded path without " (deleted)". */
static size_t plain_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), k = sizeof(deleted) - 1;
	return n > k && !strcmp(path + n - k, deleted) ? n - k : n;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void symfs_name(struct buf *b, const char *path)
{
	buf_str(b, "symfs");
	buf_add(b, path, plain_length(path));
}

/* As dsofind.c looks for it: by the recorded id, else below symfs. */
static void runtime_name(struct lister *l, uint32_t dso, struct buf *b)
{
	const struct dso *d = &l->profile->machine.dsos.v[dso];
	const char *path = strtab_get(&l->profile->stacks.strings, d->path);
	if (d->id.len)
		cache_name(b, &d->id, d->kind == DSO_VDSO ? "vdso" : "elf");
	else if (d->file.shared_path)
		buf_fmt(b, "symfs" DSO_BY_INODE, d->file.dev_major, d->file.dev_minor,
			(unsigned long long)d->file.ino, path);
	else
		symfs_name(b, path);
}

/* Once the runtime file is known, its own id serves where none was recorded; without any, the
 * debuglink's folder beside it. */
static void debug_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	if (f->id->len) {
		cache_name(b, f->id, "debug");
		return;
	}
	runtime_name(l, f->dso, b);
	while (b->n && b->v[b->n - 1] != '/')
		b->n--;
	buf_fmt(b, ".debug/%s", base_name(f->path));
}

static void beside_name(struct lister *l, const struct module_file *f, struct buf *b)
{
	if (f->beside == MODULE_DEBUG)
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
	case MODULE_BESIDE:
		beside_name(l, f, b);
		break;
	case MODULE_PERFMAP:
		buf_fmt(b, "symfs/tmp/perf-%d.map", l->profile->machine.dsos.v[f->dso].pid);
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

/* What was mapped is what is packed; a compressed module found by its path stays compressed. */
static int is_copied_from_memory(const struct module_file *f, const char *name)
{
	return f->elf && !(f->elf->writable_copy && !strncmp(name, "symfs/", 6));
}

static int take(void *ctx, const struct module_file *f)
{
	struct lister *l = ctx;
	buf_clear(&l->name);
	make_name(l, f, &l->name);
	const char *name = buf_cstr(&l->name);
	if (buf_failed(&l->name))
		return ERR_NOMEM;
	if (!tar_name_is_safe(name))
		return 0;
	struct pack_file file = {.name = mem_strdup(name),
				 .path = mem_strdup(f->path),
				 .dso = f->dso,
				 .order = l->list->files.n};
	if (f->role != MODULE_BESIDE && f->role != MODULE_JITDUMP && f->role != MODULE_PERFMAP)
		file.id = *f->id;
	if (is_copied_from_memory(f, name)) {
		file.data = f->elf->data;
		file.size = f->elf->size;
	}
	if (!file.name || !file.path || vec_push(&l->list->files, file)) {
		mem_free(file.name);
		mem_free(file.path);
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

static void free_file(struct pack_file *f)
{
	mem_free(f->name);
	mem_free(f->path);
}

static void sort_unique(struct packlist *l)
{
	size_t n = 0;
	if (l->files.n)
		qsort(l->files.v, l->files.n, sizeof(*l->files.v), by_name);
	for (size_t i = 0; i < l->files.n; i++) {
		if (n && !strcmp(l->files.v[n - 1].name, l->files.v[i].name))
			free_file(&l->files.v[i]);
		else
			l->files.v[n++] = l->files.v[i];
	}
	l->files.n = n;
}

int packlist_make(struct packlist *l, const struct profile *p, struct err *e)
{
	struct lister lister = {.list = l, .profile = p};
	int rc = modules_each_file(p->modules, take, &lister);
	buf_release(&lister.name);
	sort_unique(l);
	return rc ? err_nomem(e) : 0;
}

void packlist_release(struct packlist *l)
{
	for (size_t i = 0; i < l->files.n; i++)
		free_file(&l->files.v[i]);
	vec_release(&l->files);
}
