#include "libsym/jitfiles.h"

#include "base/buf.h"
#include "base/mem.h"
#include "libsym/readfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- perf maps ---------------------------------------------------------------------------- */

struct map_search {
	struct perfmap *out;
	char **path;
	int rc;
};

/* 1 when the search is over. */
static int try_map(struct map_search *s, int any_owner, const char *path)
{
	int rc = perfmap_load(path, any_owner, s->out, NULL);
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

/* The innermost number of a process, from ROOT/proc/PID/status; 0 when that does not tell. */
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

/* The only perf-*.map of a folder: its number, or 0. */
static int32_t only_map(const char *dir)
{
	DIR *d = opendir(dir);
	int32_t pid = 0;
	int found = 0, end;
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
		     struct perfmap *out, char **path)
{
	struct map_search s = {.out = out, .path = path};
	const char *symfs = opt->symfs && *opt->symfs ? opt->symfs : NULL;
	int here = opt->host_is_ours && !opt->no_local;
	*path = NULL;
	*out = (struct perfmap){0};
	(void)((symfs && try_dir(&s, 1, symfs, "/tmp", pid)) ||
	       (symfs && try_container(&s, 1, symfs, pid)) ||
	       (map_dir && try_dir(&s, 1, map_dir, "", pid)) ||
	       (here && try_dir(&s, 0, "", "/tmp", pid)) ||
	       (here && try_container(&s, 0, "", pid)));
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

/* Did a process with this pid map the DSO? In a container it is called by another number. */
static int mapped_by(const struct machine *m, int32_t pid, uint32_t dso)
{
	for (size_t i = 0; i < m->processes.n; i++) {
		const struct process *p = &m->processes.v[i];
		for (size_t k = 0; p->pid == pid && k < p->images.n; k++) {
			const struct space *s = &m->spaces.v[p->images.v[k].space];
			for (size_t j = 0; j < s->by_start.n; j++)
				if (m->maps.v[s->by_start.v[j]].dso == dso)
					return 1;
		}
	}
	return 0;
}

/* The place of a recorded path: below symfs or here (0), or beside the recording (1). */
static int place(const struct dso_options *opt, const char *map_dir, const char *recorded,
		 int beside, char **path)
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

int jitfiles_jitdump(const struct dso_options *opt, const char *map_dir,
		     const struct machine *m, int32_t pid, size_t *skip, const char **recorded,
		     char **path)
{
	*recorded = NULL;
	*path = NULL;
	for (; *skip < 2 * m->dsos.n; ++*skip) {
		uint32_t dso = (uint32_t)(*skip / 2);
		const char *p = strtab_get(m->strings, m->dsos.v[dso].path);
		int32_t of = dump_pid(p);
		if (of < 0 || (of != pid && !mapped_by(m, pid, dso)))
			continue;
		int rc = place(opt, map_dir, p, *skip % 2, path);
		if (!rc)
			continue;
		*recorded = p;
		++*skip;
		return rc;
	}
	return 0;
}
