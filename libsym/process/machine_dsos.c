/* machine_dsos.c - what was mapped: DSOs by name, file and build-id; see machine_internal.h. */
#include "libsym/process/machine_internal.h"
#include "base/text/path.h"
#include "libparse/linux_mmap.h"
#include "libsym/elf/file_at.h"
#include "libsym/process/jit_files.h"

#include <stdio.h>

static int starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* perf's is_anon_memory() and is_no_dso_memory(): executable memory that no file backs. */
static int is_anon(const char *name, uint32_t flags)
{
	return !strcmp(name, "//anon") || starts(name, "/dev/zero") ||
	       starts(name, "/anon_hugepage") || flags & LINUX_MAP_HUGETLB ||
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

/* 1 when `known` and the new `d` may be the same file. */
static int same_dso(const struct dso *known, const struct dso *d)
{
	uint8_t len = known->id_given ? 0 : known->id.len;
	if (known->recorded != d->recorded || known->kind != d->kind ||
	    !file_id_fits(&known->file, &d->file) || known->process != d->process)
		return 0;
	return len == d->id.len && !memcmp(known->id.v, d->id.v, len);
}

/* perf reads mappings that exist when it starts from /proc, which has no generations. */
static void note_generation(struct dso *known, const struct dso *d)
{
	known->mixed |= known->file.generation != d->file.generation;
	if (!known->file.generation)
		known->file.generation = d->file.generation;
}

static int is_same_inode(const struct dso *a, const struct dso *b)
{
	return a->file.ino == b->file.ino && a->file.dev_major == b->file.dev_major &&
	       a->file.dev_minor == b->file.dev_minor;
}

/* Add a new DSO to the files of its path. */
static void note_file(struct machine *m, struct path_files *f, uint32_t dso)
{
	const struct dso *d = &m->dsos.v[dso];
	if (d->id.len) {
		f->more |= f->with_id != NO_ID;
		f->with_id = f->with_id == NO_ID ? dso : f->with_id;
		return;
	}
	for (size_t i = 0; d->file.ino && i < 2; i++) {
		if (f->dso[i] == NO_ID) {
			f->dso[i] = dso;
			return;
		}
		f->reused |= is_same_inode(&m->dsos.v[f->dso[i]], d);
	}
	f->more |= d->file.ino != 0;
}

static int add_to_path(struct machine *m, uint32_t dso)
{
	static const struct path_files none = {{NO_ID, NO_ID}, NO_ID, NO_ID, 0, 0, 0};
	struct dso *d = &m->dsos.v[dso];
	uint32_t at;
	if (!u64map_get(&m->by_path, d->path, &at)) {
		at = (uint32_t)m->paths.n;
		if (vec_push(&m->paths, none) || u64map_put(&m->by_path, d->path, at))
			return ERR_NOMEM;
	}
	struct path_files *f = &m->paths.v[at];
	d->same_path = f->newest;
	f->newest = dso;
	note_file(m, f, dso);
	return 0;
}

int machine_dso(struct machine *m, struct dso *d, uint32_t *id)
{
	d->recorded = d->kind == DSO_VDSO ? d->path : d->name;
	uint64_t h = hash_u64(hash_seed() ^ ((uint64_t)d->recorded << 8 | d->kind));
	h = hash_u64(h ^ d->file.ino) ^ hash_u64(d->process);
	h = hash_u64(h ^ hash_bytes(d->id.v, d->id.len, h));
	size_t at = 0;
	while (idmap_next(&m->dso_index, h, &at, id))
		if (same_dso(&m->dsos.v[*id], d)) {
			note_generation(&m->dsos.v[*id], d);
			return 0;
		}
	d->same_path = NO_ID;
	if (vec_push(&m->dsos, *d))
		return ERR_NOMEM;
	*id = (uint32_t)(m->dsos.n - 1);
	if (d->kind == DSO_FILE && add_to_path(m, *id))
		return ERR_NOMEM;
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
			  .pid = -1,
			  .process = NO_ID};
	d->file.id_read = p->id.len != 0;
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
	} else if (p->map.prot & LINUX_PROT_EXEC &&
		   (is_anon(name, p->flags) || is_jit(name, p))) {
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
	} else if (jitfiles_is_injected(name)) {
		d->file.generation = 0; /* perf inject writes 1 */
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
	d->id_given = d->file.id_of_path = 1;
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
	const struct recording *rec;
	struct idmap listed;    /* path, device and inode → rec->files … */
	struct idmap listed_id; /* path and build-id → the first of these */
	struct u64map twice;    /* names with several entries of one build-id */
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

/* --- which file of a path ----------------------------------------------------------------- */

static uint64_t inode_hash(uint32_t path, uint32_t major, uint32_t minor, uint64_t ino)
{
	return hash_u64(hash_u64(hash_seed() ^ ((uint64_t)path << 32 | major)) ^
			((uint64_t)minor << 40) ^ ino);
}

static uint64_t id_hash(uint32_t path, const uint8_t *id, size_t n)
{
	return hash_bytes(id, n, hash_u64(hash_seed() ^ path));
}

static int index_listed(struct id_giver *g)
{
	for (size_t i = 0; i < g->rec->files.n; i++) {
		const struct listed_file *f = &g->rec->files.v[i];
		uint32_t path;
		if (strtab_intern(g->m->strings, f->path, &path) ||
		    idmap_put(&g->listed, inode_hash(path, f->dev_major, f->dev_minor, f->ino),
			      (uint32_t)i) ||
		    idmap_put(&g->listed_id, id_hash(path, f->id, f->size), (uint32_t)i))
			return ERR_NOMEM;
	}
	return 0;
}

/* 1 when the list has this build-id of this path: then for the very files that had it. */
static int is_listed(const struct id_giver *g, uint32_t path, const struct recorded_build_id *b)
{
	uint32_t i;
	size_t at = 0;
	while (idmap_next(&g->listed_id, id_hash(path, b->id, b->size), &at, &i)) {
		const struct listed_file *f = &g->rec->files.v[i];
		if (f->size == b->size && !memcmp(f->id, b->id, b->size) &&
		    !strcmp(f->path, strtab_get(g->m->strings, path)))
			return 1;
	}
	return 0;
}

static int is_listed_file(const struct id_giver *g, const struct listed_file *f,
			  const struct dso *d)
{
	return f->ino == d->file.ino && f->dev_major == d->file.dev_major &&
	       f->dev_minor == d->file.dev_minor &&
	       (!d->file.generation || f->generation == d->file.generation) &&
	       !strcmp(f->path, strtab_get(g->m->strings, d->path));
}

static struct path_files *path_files_of(struct machine *m, const struct dso *d)
{
	uint32_t at;
	return d->kind == DSO_FILE && u64map_get(&m->by_path, d->path, &at) ? &m->paths.v[at]
									    : NULL;
}

/* Take a file's build-id from the list, unless it has one, or two that differ. */
static void take_listed(struct id_giver *g, struct dso *d)
{
	const struct listed_file *found = NULL;
	const struct path_files *pf = path_files_of(g->m, d);
	uint32_t i;
	size_t at = 0;
	if (d->id.len || !d->file.ino || !pf || (d->mixed && pf->reused))
		return;
	uint64_t h = inode_hash(d->path, d->file.dev_major, d->file.dev_minor, d->file.ino);
	while (idmap_next(&g->listed, h, &at, &i)) {
		const struct listed_file *f = &g->rec->files.v[i];
		if (!is_listed_file(g, f, d))
			continue;
		if (found && (found->size != f->size || memcmp(found->id, f->id, f->size)))
			return;
		found = f;
	}
	if (!found)
		return;
	d->id.len = found->size;
	d->id_given = 1;
	memcpy(d->id.v, found->id, sizeof(d->id.v));
}

/* 1 for one file of an overlay, whose device has no number, that may look like two. */
static int is_backing_pair(const struct recording *rec, const struct dso *a,
			   const struct dso *b)
{
	const struct dso *overlay = a->file.dev_major ? b : a, *below = overlay == a ? b : a;
	return file_has_two_identities(rec->features.osrelease) && !overlay->file.dev_major &&
	       overlay->at_start && !overlay->later && below->later && !below->at_start;
}

static int has_several(const struct machine *m, const struct recording *rec,
		       const struct path_files *f)
{
	return f->more || (f->dso[1] != NO_ID &&
			   !is_backing_pair(rec, &m->dsos.v[f->dso[0]], &m->dsos.v[f->dso[1]]));
}

/* The file that the table's build-id was read from may be any of its path, or none. */
static void set_shared(struct dso *d)
{
	if (!d->file.id_of_path && d->id.len)
		return;
	d->id.len = d->id_given = d->file.id_of_path = 0;
	d->file.shared_path = 1;
}

/*
 * 1 when one file of the path was mapped in perf's own mount namespace and all others elsewhere
 * only. The table has an entry for each file with samples; equal ones were read at one place, so
 * they are of the first.
 */
static int is_settled(const struct id_giver *g, const struct path_files *f)
{
	const struct machine *m = g->m;
	uint32_t own = NO_ID, twice;
	if (!machine_has_mounts(m))
		return 0;
	for (uint32_t i = f->newest; i != NO_ID; i = m->dsos.v[i].same_path) {
		const struct dso *d = &m->dsos.v[i];
		if (d->mount == MOUNT_UNKNOWN || (d->mount == MOUNT_OWN && own != NO_ID) ||
		    !d->file.ino)
			return 0;
		own = d->mount == MOUNT_OWN ? i : own;
	}
	return own != NO_ID && u64map_get(&g->twice, m->dsos.v[own].path, &twice);
}

/* The table's build-id is of the file in perf's own mount namespace. */
static void share_others(struct machine *m, const struct path_files *f)
{
	for (uint32_t i = f->newest; i != NO_ID; i = m->dsos.v[i].same_path)
		if (m->dsos.v[i].mount != MOUNT_OWN)
			set_shared(&m->dsos.v[i]);
}

/* Which DSO of the path has which of its build-ids is not recorded: none gets one. */
static void share_path(struct machine *m, struct path_files *f)
{
	f->several = 1;
	for (uint32_t i = f->newest; i != NO_ID; i = m->dsos.v[i].same_path)
		set_shared(&m->dsos.v[i]);
}

static void share_paths(struct id_giver *g)
{
	struct machine *m = g->m;
	for (size_t i = g->first; i < m->dsos.n; i++) {
		struct path_files *f = path_files_of(m, &m->dsos.v[i]);
		if (f && f->several)
			set_shared(&m->dsos.v[i]);
		else if (f && has_several(m, g->rec, f) && !is_settled(g, f))
			share_path(m, f);
		else if (f && has_several(m, g->rec, f))
			share_others(m, f);
	}
	/* perf could no longer enter their namespace: what it read is another file of the path */
	for (size_t i = 0; machine_has_mounts(m) && i < m->dsos.n; i++)
		if (m->dsos.v[i].mount == MOUNT_GONE)
			set_shared(&m->dsos.v[i]);
}

/* 1 when a mapping has another build-id than the table has for its path. */
static int is_other_mapped(const struct machine *m, const struct path_files *f,
			   const struct recorded_build_id *b)
{
	const struct build_id *id = f && f->with_id != NO_ID ? &m->dsos.v[f->with_id].id : NULL;
	return id && (id->len != b->size || memcmp(id->v, b->id, b->size) != 0);
}

/* Give a DSO the build-id that the table has for its path, if it is surely its own. */
static void give_id(struct id_giver *g, struct dso *d, const struct recorded_build_id *b)
{
	struct path_files *f = path_files_of(g->m, d);
	if (f && !d->id.len && d->file.ino && is_listed(g, d->path, b)) {
		d->file.shared_path = 1;
		return;
	}
	set_build_id(d, b);
	if (is_other_mapped(g->m, f, b))
		share_path(g->m, f);
}

/* The table has two build-ids of one path. */
static void share_name(struct id_giver *g, uint32_t name)
{
	uint32_t at;
	if (u64map_get(&g->m->by_path, name, &at))
		share_path(g->m, &g->m->paths.v[at]);
	for (at = links_of(g, name); at != NO_ID; at = g->links.v[at].next) {
		struct dso *d = &g->m->dsos.v[g->links.v[at].dso];
		if (d->path == name && d->id_given)
			set_shared(d);
	}
}

/* --- the table ---------------------------------------------------------------------------- */

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
		if (i && is_same_id(b, &g->table[i - 1]))
			return u64map_put(&g->twice, name, 1);
		if (!i)
			return 0;
		share_name(g, name);
		return u64map_put(&g->given, name, 0);
	}
	for (uint32_t at = links_of(g, name); at != NO_ID; at = g->links.v[at].next) {
		struct dso *d = &g->m->dsos.v[g->links.v[at].dso];
		if ((d->path != name && d->name != name) || (kernel && d->kind == DSO_KERNEL))
			continue;
		give_id(g, d, b);
		if (d->kind == DSO_ANON && d->path == name) { /* a program in /dev/shm */
			d->kind = DSO_FILE;
			d->pid = -1;
			d->process = NO_ID;
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

/* The first DSO to look at: all of them when the table has grown, and once, when all records are
 * known, if it matters in which namespaces they were mapped. */
static size_t first_without_id(struct machine *m, size_t n)
{
	int mounts = m->applied == TIME_END && m->mounts.n > 1;
	size_t first =
		m->ids_taken == n && (!mounts || m->mounts_decided) ? m->dsos_with_ids : 0;
	m->mounts_decided = (uint8_t)mounts;
	m->ids_taken = n;
	m->dsos_with_ids = m->dsos.n;
	return first;
}

int machine_set_build_ids(struct machine *m, const struct recording *rec, struct err *e)
{
	size_t n = rec->features.build_ids.n;
	struct id_giver g = {.m = m,
			     .first = first_without_id(m, n),
			     .rec = rec,
			     .table = rec->features.build_ids.v};
	if (g.first == m->dsos.n)
		return 0;
	int rc = machine_find_mounts(m);
	if (!rc && n)
		rc = index_names(&g);
	if (!rc)
		rc = index_listed(&g);
	for (size_t i = g.first; !rc && i < m->dsos.n; i++)
		take_listed(&g, &m->dsos.v[i]);
	for (size_t k = 0; !rc && k < n; k++)
		rc = set_id(&g, &rec->features.build_ids.v[k]);
	if (!rc) {
		share_paths(&g);
		set_kernel_id(&g);
	}
	idmap_release(&g.listed);
	idmap_release(&g.listed_id);
	u64map_release(&g.twice);
	u64map_release(&g.named);
	vec_release(&g.links);
	u64map_release(&g.given);
	return rc ? err_nomem(e) : 0;
}
