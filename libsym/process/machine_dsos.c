/* machine_dsos.c - what was mapped: DSOs by name, file and build-id; see machine_internal.h. */
#include "libsym/process/machine_internal.h"
#include "base/text/path.h"

#include <stdio.h>
#include <sys/mman.h>

static int starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* perf's is_anon_memory() and is_no_dso_memory(): executable memory that no file backs. */
static int is_anon(const char *name, uint32_t flags)
{
	return !strcmp(name, "//anon") || starts(name, "/dev/zero") ||
	       starts(name, "/anon_hugepage") || flags & MAP_HUGETLB ||
	       starts(name, "[stack") || starts(name, "/SYSV") || starts(name, "[heap]") ||
	       starts(name, "[anon:");
}

/* ".so" at the end of a path, or before a version. */
static int is_library(const char *name)
{
	const char *so = strstr(path_base(name), ".so");
	return so && (!so[3] || so[3] == '.' || so[3] == ' ');
}

/* .NET writes its code through a second mapping of an in-memory file; other compilers do so in
 * /dev/shm. Such a file with a build-id is a program. perf prints the file's name, too. */
static int is_jit(const char *name, const struct pending *p)
{
	return !p->id.len &&
	       (starts(name, "/memfd:") || (starts(name, "/dev/shm/") && !is_library(name)));
}

/* 1 when `known` and the new `d` are the same file. */
static int same_dso(const struct dso *known, const struct dso *d)
{
	uint8_t len = known->id_given ? 0 : known->id.len;
	if (known->recorded != d->recorded || known->kind != d->kind ||
	    known->file.ino != d->file.ino || known->pid != d->pid)
		return 0;
	return len == d->id.len && !memcmp(known->id.v, d->id.v, len);
}

int machine_dso(struct machine *m, struct dso *d, uint32_t *id)
{
	d->recorded = d->kind == DSO_VDSO ? d->path : d->name;
	uint64_t h = hash_u64(hash_seed() ^ ((uint64_t)d->recorded << 8 | d->kind));
	h = hash_u64(h ^ d->file.ino) ^ hash_u64((uint32_t)d->pid);
	h = hash_u64(h ^ hash_bytes(d->id.v, d->id.len, h));
	size_t at = 0;
	while (idmap_next(&m->dso_index, h, &at, id))
		if (same_dso(&m->dsos.v[*id], d))
			return 0;
	if (vec_push(&m->dsos, *d))
		return ERR_NOMEM;
	*id = (uint32_t)(m->dsos.n - 1);
	return idmap_put(&m->dso_index, h, *id);
}

/* Where the name of a module ends in its file's name; NULL if it is not a module. */
static const char *module_suffix(const char *base)
{
	const char *ko = NULL;
	for (const char *p = strstr(base, ".ko"); p; p = strstr(p + 1, ".ko"))
		ko = p;
	return ko && (!ko[3] || ko[3] == '.') ? ko : NULL;
}

/* "/lib/modules/…/snd-pcm.ko.xz" → "[snd_pcm]", as the kernel and perf call it. */
static int module_name(struct machine *m, const char *path, uint32_t *id)
{
	char name[256];
	const char *base = path_base(path);
	const char *end = module_suffix(base);
	size_t n = end ? (size_t)(end - base) : 0;
	if (!end || n + 3 > sizeof(name))
		return strtab_intern(m->strings, path, id);
	name[0] = '[';
	for (size_t i = 0; i < n; i++)
		name[i + 1] = base[i] == '-' ? '_' : base[i];
	name[n + 1] = ']';
	return strtab_intern_n(m->strings, name, n + 2, id);
}

/* Kernel code that Linux 4.19 maps again for each CPU (page table isolation); perf records
 * these mappings like those of modules. */
static int is_entry_trampoline(const char *name)
{
	return !strcmp(name, "__entry_SYSCALL_64_trampoline");
}

int machine_classify(struct machine *m, const struct pending *p, struct dso *d)
{
	const char *name = strtab_get(m->strings, p->name);
	*d = (struct dso){.name = p->name,
			  .path = p->name,
			  .kind = DSO_FILE,
			  .id = p->id,
			  .file = p->file,
			  .pid = -1};
	if (p->pid == -1 && p->exec) {
		int kernel = starts(name, "[kernel.kallsyms]") || starts(name, "[kernel]");
		d->kind = kernel ? DSO_KERNEL : DSO_MODULE;
		if (kernel || is_entry_trampoline(name))
			return strtab_intern(m->strings, "[kernel.kallsyms]", &d->name);
		return module_name(m, name, &d->name);
	} else if (starts(name, "[vdso")) {
		d->kind = DSO_VDSO;
		d->file.ino = 0;
		if (!strcmp(name, "[vdso32]"))
			return strtab_intern(m->strings, "[vdso]", &d->name);
	} else if (p->map.prot & PROT_EXEC && (is_anon(name, p->flags) || is_jit(name, p))) {
		char perf_map[64];
		snprintf(perf_map, sizeof(perf_map), "/tmp/perf-%d.map", p->pid);
		d->kind = DSO_ANON;
		d->pid = p->pid;
		d->file.ino = 0;
		return is_anon(name, p->flags) ? strtab_intern(m->strings, perf_map, &d->name)
					       : 0;
	} else if (*name == '[' || !*name || is_anon(name, p->flags)) {
		d->kind = DSO_SPECIAL;
		d->file.ino = 0;
	}
	return 0;
}

int machine_is_uprobes(const struct machine *m, const struct dso *d)
{
	return !strcmp(strtab_get(m->strings, d->path), "[uprobes]");
}

static void set_build_id(struct dso *d, const struct recorded_build_id *b)
{
	if (d->id.len)
		return;
	d->id.len = b->size;
	d->id_given = 1;
	memcpy(d->id.v, b->id, sizeof(d->id.v));
}

/* The kernel's entry names [kernel.kallsyms] or the vmlinux that perf had read symbols from. */
static int is_kernel_entry(const struct recorded_build_id *b)
{
	if ((b->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL ||
	    b->pid != -1)
		return 0;
	return starts(b->filename, "[kernel.kallsyms]") ||
	       (*b->filename != '[' && !module_suffix(b->filename));
}

/* State while DSOs from `first` on get their build-ids. */
struct id_giver {
	struct machine *m;
	size_t first;
	struct u64map named; /* path and name, before they change → the last link … */
	VEC(struct link {
		uint32_t dso, next; /* … of the DSOs that have it; NO_ID: no more */
	})
	links;
	const struct recorded_build_id *table;
	struct u64map given; /* name → 1 + its first entry; 0: others follow */
	const struct recorded_build_id *kernel; /* the kernel's first entry … */
	uint32_t vmlinux; /* … and the last file named for it; 0: none */
};

/* The last link of a name, or NO_ID. */
static uint32_t links_of(const struct id_giver *g, uint32_t name)
{
	uint32_t at;
	return u64map_get(&g->named, name, &at) ? at : NO_ID;
}

static int index_name(struct id_giver *g, uint32_t name, uint32_t dso)
{
	struct link l = {.dso = dso, .next = links_of(g, name)};
	return vec_push(&g->links, l) || u64map_put(&g->named, name, (uint32_t)(g->links.n - 1))
		       ? ERR_NOMEM
		       : 0;
}

static int index_names(struct id_giver *g)
{
	int rc = 0;
	for (size_t i = g->first; !rc && i < g->m->dsos.n; i++) {
		const struct dso *d = &g->m->dsos.v[i];
		rc = index_name(g, d->path, (uint32_t)i);
		if (!rc && d->name != d->path && d->kind != DSO_VDSO)
			rc = index_name(g, d->name, (uint32_t)i);
	}
	return rc;
}

static int is_same_id(const struct recorded_build_id *a, const struct recorded_build_id *b)
{
	return a->size == b->size && !memcmp(a->id, b->id, a->size);
}

/* Files of one path with several build-ids, in containers: which DSO has which is not
 * recorded. */
static void remove_id(struct id_giver *g, uint32_t name)
{
	for (uint32_t at = links_of(g, name); at != NO_ID; at = g->links.v[at].next) {
		struct dso *d = &g->m->dsos.v[g->links.v[at].dso];
		if (d->path != name || !d->id_given)
			continue;
		d->id.len = 0;
		d->file.shared_path = 1;
	}
}

static int set_id(struct id_giver *g, const struct recorded_build_id *b)
{
	int kernel = is_kernel_entry(b);
	uint32_t name, i;
	if (!b->size)
		return 0;
	if (strtab_intern(g->m->strings, b->filename, &name))
		return ERR_NOMEM;
	if (kernel && !g->kernel)
		g->kernel = b;
	if (kernel && *b->filename != '[')
		g->vmlinux = name;
	if (u64map_get(&g->given, name, &i)) {
		if (!i || is_same_id(b, &g->table[i - 1]))
			return 0;
		remove_id(g, name);
		return u64map_put(&g->given, name, 0);
	}
	for (uint32_t at = links_of(g, name); at != NO_ID; at = g->links.v[at].next) {
		struct dso *d = &g->m->dsos.v[g->links.v[at].dso];
		if ((d->path != name && d->name != name) || (kernel && d->kind == DSO_KERNEL))
			continue;
		set_build_id(d, b);
		if (d->kind == DSO_ANON && d->path == name) { /* a program in /dev/shm */
			d->kind = DSO_FILE;
			d->pid = -1;
		}
		d->name = name; /* as perf prints modules that the table lists by path */
	}
	return u64map_put(&g->given, name, (uint32_t)(b - g->table) + 1);
}

static void set_kernel_id(struct id_giver *g)
{
	for (size_t i = g->first; i < g->m->dsos.n; i++) {
		struct dso *d = &g->m->dsos.v[i];
		if (d->kind != DSO_KERNEL)
			continue;
		if (g->kernel)
			set_build_id(d, g->kernel);
		if (g->vmlinux)
			d->name = g->vmlinux;
	}
}

int machine_set_build_ids(struct machine *m, const struct recording *rec, struct err *e)
{
	size_t n = rec->features.build_ids.n;
	struct id_giver g = {.m = m,
			     .first = m->ids_taken == n ? m->dsos_with_ids : 0,
			     .table = rec->features.build_ids.v};
	if (g.first == m->dsos.n)
		return 0;
	m->ids_taken = n;
	m->dsos_with_ids = m->dsos.n;
	int rc = n ? index_names(&g) : 0;
	for (size_t k = 0; !rc && k < n; k++)
		rc = set_id(&g, &rec->features.build_ids.v[k]);
	if (!rc)
		set_kernel_id(&g);
	u64map_release(&g.named);
	vec_release(&g.links);
	u64map_release(&g.given);
	return rc ? err_nomem(e) : 0;
}
