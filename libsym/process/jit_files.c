#include "libsym/process/jit_files.h"

#include "base/text/buf.h"
#include "base/mem.h"
#include "base/search.h"
#include "libsym/elf/read_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- perf maps ---------------------------------------------------------------------------- */

struct map_search {
	struct perfmap *out;
	char **path;
	struct err *why;
	int rc;
};

/* Try a path; 1 when the search is over. */
static int try_map(struct map_search *s, int any_owner, const char *path)
{
	struct err e = {0};
	int rc = perfmap_load(path, any_owner, s->out, &e);
	if (rc && rc != ERR_NOTFOUND && !s->why->code)
		*s->why = e;
	if (rc != ERR_NOMEM && !s->out->pieces.n) {
		perfmap_release(s->out);
		return 0;
	}
	*s->path = rc ? NULL : mem_strdup(path);
	s->rc = *s->path ? 0 : ERR_NOMEM;
	return 1;
}

static int try_dir(struct map_search *s, int any_owner, const char *dir, const char *below,
		   int32_t pid)
{
	char path[4096];
	return snprintf(path, sizeof(path), "%s%s/perf-%d.map", dir, below, pid) <
		       (int)sizeof(path) &&
	       try_map(s, any_owner, path);
}

/* The pid of a process in its innermost namespace, from ROOT/proc/PID/status; 0: not found. */
static int32_t inner_pid(const char *root, int32_t pid)
{
	char path[4096], *text;
	size_t n;
	long inner = 0;
	if (snprintf(path, sizeof(path), "%s/proc/%d/status", root, pid) >= (int)sizeof(path) ||
	    read_file(path, 1 << 20, &text, &n, NULL))
		return 0;
	char *line = strstr(text, "\nNSpid:");
	char *p = line ? line + 7 : NULL, *end;
	for (; p; p = end) {
		long x = strtol(p, &end, 10);
		if (end == p || *p == '\n')
			break;
		inner = x;
		if (*end == '\n')
			break;
	}
	mem_free(text);
	return inner > 0 && inner < INT32_MAX ? (int32_t)inner : 0;
}

/* The pid of a folder's only perf-*.map, or 0. */
static int32_t only_map(const char *dir)
{
	DIR *d = opendir(dir);
	int32_t pid = 0;
	int found = 0, end;
	if (!d)
		file_failed(dir, NULL); /* notes a shortage */
	for (struct dirent *f; d && (f = readdir(d));) {
		int x;
		end = 0;
		if (sscanf(f->d_name, "perf-%9d.map%n", &x, &end) == 1 && end &&
		    !f->d_name[end]) {
			found++;
			pid = x;
		}
	}
	if (d)
		closedir(d);
	return found == 1 ? pid : 0;
}

/* The first line of PROC/mountinfo, whose mount id is unique to the namespace. */
static void first_mount(const char *proc, char *line, size_t n)
{
	char path[64], *text;
	size_t len;
	snprintf(path, sizeof(path), "%s/mountinfo", proc);
	*line = '\0';
	if (read_file(path, 1 << 20, &text, &len, NULL))
		return;
	snprintf(line, n, "%.*s", (int)strcspn(text, "\n"), text);
	mem_free(text);
}

/* 1 when the process, which runs here, has another root folder than this one. */
static int has_other_root(int32_t pid)
{
	char proc[32], own[256], other[256];
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	first_mount("/proc/self", own, sizeof(own));
	first_mount(proc, other, sizeof(other));
	return *other && strcmp(own, other) != 0;
}

static int try_container(struct map_search *s, int any_owner, const char *root, int32_t pid)
{
	char dir[4096];
	if (snprintf(dir, sizeof(dir), "%s/proc/%d/root/tmp", root, pid) >= (int)sizeof(dir))
		return 0;
	int32_t inner = inner_pid(root, pid);
	if (!inner)
		inner = only_map(dir);
	return (inner && inner != pid && try_dir(s, any_owner, dir, "", inner)) ||
	       try_dir(s, any_owner, dir, "", pid);
}

int jitfiles_perfmap(const struct dso_options *opt, const char *map_dir, int32_t pid,
		     struct perfmap *out, char **path, struct err *why)
{
	struct map_search s = {.out = out, .path = path, .why = why};
	const char *symfs = opt->symfs && *opt->symfs ? opt->symfs : NULL;
	int here = opt->host_is_ours && !opt->no_local;
	*path = NULL;
	*out = (struct perfmap){0};
	(void)((symfs && try_dir(&s, 1, symfs, "/tmp", pid)) ||
	       (symfs && try_container(&s, 1, symfs, pid)) ||
	       (map_dir && try_dir(&s, 1, map_dir, "", pid)) ||
	       (here && try_dir(&s, 0, "", "/tmp", pid)) ||
	       (here && has_other_root(pid) && try_container(&s, 0, "", pid)));
	return s.rc;
}

/* --- jitdumps ----------------------------------------------------------------------------- */

/* The number in ".../jit-NUMBER.dump", or -1. */
static int32_t dump_pid(const char *path)
{
	const char *slash = strrchr(path, '/');
	int pid, end = 0;
	if (!slash || sscanf(slash, "/jit-%9d.dump%n", &pid, &end) != 1 || !end || slash[end])
		return -1;
	return pid;
}

int jitfiles_is_jitdump(const char *path)
{
	return dump_pid(path) >= 0;
}

int jitfiles_is_injected(const char *path)
{
	const char *slash = strrchr(path, '/');
	int end = 0;
	return slash && sscanf(slash, "/jitted-%*9d-%*u.so%n", &end) == 0 && end && !slash[end];
}

/* Find jitdumps among the mappings of one process image. In a container the pid in the file's
 * name differs from the recorded one. */
static int find_in_space(struct jit_mappings *j, const struct machine *m,
			 const uint8_t *is_dump, const struct process *p, const struct space *s)
{
	for (size_t i = 0; i < s->by_start.n; i++) {
		uint32_t dso = m->maps.v[s->by_start.v[i]].dso;
		if (is_dump[dso] && vec_push(&j->of, ((struct jit_mapping){p->pid, dso})))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct jit_mapping *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->dso < y->dso ? -1 : x->dso > y->dso;
}

static void sort_unique(struct jit_mappings *j)
{
	size_t n = 0;
	if (j->of.n)
		qsort(j->of.v, j->of.n, sizeof(*j->of.v), by_pid);
	for (size_t i = 0; i < j->of.n; i++)
		if (!n || by_pid(&j->of.v[n - 1], &j->of.v[i]) != 0)
			j->of.v[n++] = j->of.v[i];
	j->of.n = n;
}

int jit_mappings_find(struct jit_mappings *j, const struct machine *m)
{
	uint8_t *is_dump = mem_zalloc(m->dsos.n, 1);
	int rc = is_dump ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !rc && i < m->dsos.n; i++) {
		int32_t pid = dump_pid(strtab_get(m->strings, m->dsos.v[i].path));
		is_dump[i] = pid >= 0;
		if (pid >= 0)
			rc = vec_push(&j->of, ((struct jit_mapping){pid, i}));
	}
	for (size_t i = 0; !rc && j->of.n && i < m->processes.n; i++) {
		const struct process *p = &m->processes.v[i];
		for (size_t k = 0; !rc && k < p->images.n; k++)
			rc = find_in_space(j, m, is_dump, p,
					   &m->spaces.v[p->images.v[k].space]);
	}
	mem_free(is_dump);
	sort_unique(j);
	return rc;
}

void jit_mappings_release(struct jit_mappings *j)
{
	vec_release(&j->of);
}

/* A place to look for a recorded path: below symfs or here (0), or next to the recording
 * (1). */
static int candidate_path(const struct dso_options *opt, const char *map_dir,
			  const char *recorded, int beside, char **path)
{
	struct buf b = {0};
	const char *symfs = opt->symfs ? opt->symfs : "";
	if (beside ? !map_dir : !*symfs && (!opt->host_is_ours || opt->no_local))
		return 0;
	if (beside)
		buf_fmt(&b, "%s%s", map_dir, strrchr(recorded, '/'));
	else
		buf_fmt(&b, "%s%s", symfs, recorded);
	*path = buf_failed(&b) ? NULL : mem_strdup(buf_cstr(&b));
	buf_release(&b);
	return *path ? 1 : ERR_NOMEM;
}

/* The first mapping of a process in the table. */
static size_t first_of(const struct jit_mappings *j, int32_t pid)
{
	return PARTITION_POINT(i, 0, j->of.n, j->of.v[i].pid < pid);
}

int jitfiles_jitdump(const struct dso_options *opt, const char *map_dir,
		     const struct machine *m, const struct jit_mappings *j, int32_t pid,
		     size_t *skip, const char **recorded, char **path)
{
	size_t first = first_of(j, pid);
	*recorded = NULL;
	*path = NULL;
	for (; first + *skip / 2 < j->of.n; ++*skip) {
		const struct jit_mapping *at = &j->of.v[first + *skip / 2];
		if (at->pid != pid)
			break;
		const char *p = strtab_get(m->strings, m->dsos.v[at->dso].path);
		int rc = candidate_path(opt, map_dir, p, *skip % 2, path);
		if (!rc)
			continue;
		*recorded = p;
		++*skip;
		return rc;
	}
	return 0;
}
