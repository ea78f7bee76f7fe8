#include "libsym/process/jit_files.h"

#include "base/text/buf.h"
#include "base/text/path.h"
#include "base/mem.h"
#include "base/search.h"
#include "libsym/elf/claimed_file.h"
#include "libparse/source.h"
#include "libsym/elf/read_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- perf maps ---------------------------------------------------------------------------- */

struct map_search {
	const struct dso_options *opt;
	const struct jit_process *of;
	struct perfmap *out;
	char **path;
	struct err *why;
	int rc;
};

/* The number after `key` in a text of procfs, the `nth` of its line; -1: none. */
static long long number_in(const char *text, const char *key, int nth)
{
	const char *p = strstr(text, key);
	char *end;
	long long x = -1;
	for (p = p ? p + strlen(key) : ""; nth >= 0; nth--, p = end) {
		x = strtoll(p, &end, 10);
		if (end == p)
			return -1;
	}
	return x;
}

/* When the process began, in ns since 1970; INT64_MAX: not known. */
static int64_t began_ns(int32_t pid)
{
	enum { STATE_TO_START = 18 }; /* fields 4 to 22, proc(5) */
	struct timespec wall, boot;
	char path[64], *text;
	size_t n;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, 1 << 20, &text, &n, NULL))
		return INT64_MAX;
	const char *state = strrchr(text, ')'); /* the name before it may hold anything */
	long long ticks =
		state && strlen(state) > 3 ? number_in(state + 3, "", STATE_TO_START) : -1;
	mem_free(text);
	if (ticks < 0 || clock_gettime(CLOCK_REALTIME, &wall) ||
	    clock_gettime(CLOCK_BOOTTIME, &boot))
		return INT64_MAX;
	return (wall.tv_sec - boot.tv_sec) * INT64_C(1000000000) + wall.tv_nsec - boot.tv_nsec +
	       ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

/* 1 when the process that has the pid here may be the recorded one. */
static int is_running(const struct map_search *s)
{
	return !s->of->ended &&
	       (!s->opt->written_ns || began_ns(s->of->pid) <= s->opt->written_ns);
}

/* The user as whom the recorded process makes files, while it runs. 0 if that is not known. */
static int process_owner(const struct map_search *s, uid_t *uid)
{
	enum { FSUID = 3 }; /* real, effective, saved, file system */
	char path[64], *text;
	size_t n;
	snprintf(path, sizeof(path), "/proc/%d/status", s->of->pid);
	if (!is_running(s) || read_file(path, 1 << 20, &text, &n, NULL))
		return 0;
	long long x = number_in(text, "\nUid:", FSUID);
	mem_free(text);
	*uid = (uid_t)x;
	return x >= 0;
}

/* Anybody may write to /tmp: a map counts if the process's user made it, or, as for perf, root
 * or the caller did. When the process has ended, the caller's own file must be a map in every
 * line (*whole). */
static int check_map(const struct map_search *s, const struct claimed *c, const char *path,
		     int *whole, struct err *e)
{
	struct claim k = {.trusted = dso_is_trusted_path(s->opt, path)};
	uid_t by = c->st.st_uid;
	k.has_owner = process_owner(s, &k.owner);
	if (by && by != geteuid() && !k.trusted && !(k.has_owner && k.owner == by))
		return err_set(e, ERR_REFUSED, "%s: belongs to user %u, %s", path, (unsigned)by,
			       k.has_owner ? "the process to another one"
					   : "and the process, which would tell whose it "
					     "must be, has ended (--trust-paths)");
	k.trusted |= !s->opt->handed_on;
	*whole = !k.has_owner && !k.trusted && !c->shown;
	if (!k.has_owner)
		k.owner = geteuid();
	k.has_owner = 1;
	return claimed_check(c, &k, path, e);
}

/* What the caller put beside a recording is his own. */
static struct claim jitfiles_beside(const struct dso_options *opt, const char *path)
{
	return (struct claim){.trusted = !opt->handed_on || dso_is_trusted_path(opt, path),
			      .has_owner = 1,
			      .owner = geteuid()};
}

/* Between the clocks of files and processes, and for one that was set meanwhile. */
#define CLOCK_SLACK_NS INT64_C(2000000000)

/* What is to be read where: of the caller's own folders, any owner's. */
struct map_place {
	const char *root; /* of claimed_open */
	unsigned flags;
	int any_owner;
};

static int load_map(const struct map_search *s, const struct map_place *at, const char *below,
		    const char *path, struct err *e)
{
	const struct claim k = jitfiles_beside(s->opt, path);
	struct claimed c;
	int whole = 0, rc = claimed_open(at->root, at->flags, below, &c, e);
	if (!rc && !at->any_owner)
		rc = check_map(s, &c, path, &whole, e);
	else if (!rc && !(at->flags & CLAIMED_INSIDE))
		rc = claimed_check(&c, &k, path, e);
	if (!rc && source_mtime_ns(&c.st) + CLOCK_SLACK_NS < s->of->began_ns)
		rc = err_set(e, ERR_REFUSED, "%s: was written before the process began", path);
	if (!rc)
		rc = perfmap_read(c.fd, path, s->out, e);
	if (!rc && whole && s->out->others) {
		perfmap_release(s->out);
		rc = err_set(e, ERR_REFUSED,
			     "%s: has lines that are not of a perf map (--trust-paths)", path);
	}
	if (c.fd >= 0)
		close(c.fd);
	return rc;
}

/* Try a path; 1 when the search is over. */
static int try_map(struct map_search *s, const struct map_place *at, const char *below)
{
	struct err e = {0};
	char path[2 * PATH_MAX];
	snprintf(path, sizeof(path), "%s%s", at->root, below);
	int rc = load_map(s, at, below, path, &e);
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

static int try_dir(struct map_search *s, const struct map_place *at, const char *dir,
		   int32_t pid)
{
	char path[PATH_MAX];
	return snprintf(path, sizeof(path), "%s/perf-%d.map", dir, pid) < (int)sizeof(path) &&
	       try_map(s, at, path);
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
	int found = 0;
	if (!d)
		file_failed(dir, NULL); /* notes a shortage */
	for (struct dirent *f; d && (f = readdir(d));) {
		int32_t x;
		if (path_number(f->d_name, "perf-", ".map", &x)) {
			found++;
			pid = x;
		}
	}
	if (d)
		closedir(d);
	return found == 1 ? pid : 0;
}

/* The first line of PROC/mountinfo, whose mount id is unique to the namespace; "" after chroot(2)
 * to a plain folder. 0 if there is no such process. */
static int first_mount(const char *proc, char *line, size_t n)
{
	char path[64], *text;
	size_t len;
	snprintf(path, sizeof(path), "%s/mountinfo", proc);
	*line = '\0';
	if (read_file(path, 1 << 20, &text, &len, NULL))
		return 0;
	snprintf(line, n, "%.*s", (int)strcspn(text, "\n"), text);
	mem_free(text);
	return 1;
}

/* 1 when the process, which runs here, has another root folder than this one. */
static int has_other_root(int32_t pid)
{
	char proc[32], own[256], other[256];
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	return first_mount("/proc/self", own, sizeof(own)) &&
	       first_mount(proc, other, sizeof(other)) && strcmp(own, other) != 0;
}

/* The process's own files, below symfs or ("") here: as it sees them, and never what a link of
 * the container means outside. */
static int try_container(struct map_search *s, const char *symfs, int32_t pid)
{
	char root[PATH_MAX], dir[PATH_MAX + 8];
	if (snprintf(root, sizeof(root), "%s/proc/%d/root", symfs, pid) >= (int)sizeof(root))
		return 0;
	struct map_place at = {root, CLAIMED_INSIDE, *symfs != '\0'};
	snprintf(dir, sizeof(dir), "%s/tmp", root);
	int32_t inner = inner_pid(symfs, pid);
	if (!inner)
		inner = only_map(dir);
	return (inner && inner != pid && try_dir(s, &at, "/tmp", inner)) ||
	       try_dir(s, &at, "/tmp", pid);
}

int jitfiles_perfmap(const struct dso_options *opt, const char *map_dir,
		     const struct jit_process *p, struct perfmap *out, char **path,
		     struct err *why)
{
	struct map_search s = {.opt = opt, .of = p, .out = out, .path = path, .why = why};
	int32_t pid = p->pid;
	const char *symfs = opt->symfs && *opt->symfs ? opt->symfs : NULL;
	int here = opt->host_is_ours && !opt->no_local;
	*path = NULL;
	*out = (struct perfmap){0};
	unsigned flags = opt->handed_on ? 0 : CLAIMED_FOR_SELF;
	const struct map_place given = {symfs, CLAIMED_INSIDE, 1}, beside = {map_dir, flags, 1},
			       local = {"", flags, 0};
	(void)((symfs && try_dir(&s, &given, "/tmp", pid)) ||
	       (symfs && try_container(&s, symfs, pid)) ||
	       (map_dir && try_dir(&s, &beside, "", pid)) ||
	       (here && try_dir(&s, &local, "/tmp", pid)) ||
	       (here && is_running(&s) && has_other_root(pid) && try_container(&s, "", pid)));
	return s.rc;
}

/* --- jitdumps ----------------------------------------------------------------------------- */

/* The number in ".../jit-NUMBER.dump", or -1. */
static int32_t dump_pid(const char *path)
{
	const char *slash = strrchr(path, '/');
	int32_t pid;
	return slash && path_number(slash, "/jit-", ".dump", &pid) ? pid : -1;
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
			 const uint8_t *is_dump, const struct space *s)
{
	for (size_t i = 0; i < s->by_start.n; i++) {
		uint32_t dso = m->maps.v[s->by_start.v[i]].dso;
		if (is_dump[dso] && vec_push(&j->of, ((struct jit_mapping){s->process, dso})))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_process(const void *a, const void *b)
{
	const struct jit_mapping *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->dso < y->dso ? -1 : x->dso > y->dso;
}

static void sort_unique(struct jit_mappings *j)
{
	size_t n = 0;
	if (j->of.n)
		qsort(j->of.v, j->of.n, sizeof(*j->of.v), by_process);
	for (size_t i = 0; i < j->of.n; i++)
		if (!n || by_process(&j->of.v[n - 1], &j->of.v[i]) != 0)
			j->of.v[n++] = j->of.v[i];
	j->of.n = n;
}

int jit_mappings_find(struct jit_mappings *j, const struct machine *m)
{
	uint8_t *is_dump = mem_zalloc(m->dsos.n, 1);
	int rc = is_dump ? 0 : ERR_NOMEM, any = 0;
	for (uint32_t i = 0; !rc && i < m->dsos.n; i++) {
		is_dump[i] = jitfiles_is_jitdump(strtab_get(m->strings, m->dsos.v[i].path));
		any |= is_dump[i];
	}
	for (size_t i = SPACE_KERNEL + 1; !rc && any && i < m->spaces.n; i++)
		rc = find_in_space(j, m, is_dump, &m->spaces.v[i]);
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
static size_t first_of(const struct jit_mappings *j, uint32_t process)
{
	return PARTITION_POINT(i, 0, j->of.n, j->of.v[i].process < process);
}

int jitfiles_jitdump(const struct dso_options *opt, const char *map_dir,
		     const struct machine *m, const struct jit_mappings *j, uint32_t process,
		     size_t *skip, struct jit_found *found)
{
	size_t first = first_of(j, process);
	*found = (struct jit_found){.path = NULL};
	for (; first + *skip / 2 < j->of.n; ++*skip) {
		const struct jit_mapping *at = &j->of.v[first + *skip / 2];
		if (at->process != process)
			break;
		const char *p = strtab_get(m->strings, m->dsos.v[at->dso].path);
		int beside = *skip % 2,
		    rc = candidate_path(opt, map_dir, p, beside, &found->path);
		if (!rc)
			continue;
		found->recorded = p;
		found->dir = beside ? map_dir : NULL;
		found->mapped = &m->dsos.v[at->dso].file;
		++*skip;
		return rc;
	}
	return 0;
}

int jitfiles_open_jitdump(const struct dso_options *opt, const struct jit_found *found,
			  struct jitdump **out, struct err *e)
{
	struct claim k = {.trusted =
				  !opt->handed_on || dso_is_trusted_path(opt, found->recorded),
			  .mapped = found->mapped};
	struct claimed c;
	int rc;
	*out = NULL;
	if (found->dir) {
		k = jitfiles_beside(opt, found->path);
		unsigned flags = opt->handed_on ? 0 : CLAIMED_FOR_SELF;
		rc = claimed_open(found->dir, flags, strrchr(found->path, '/'), &c, e);
		rc = rc ? rc : claimed_check(&c, &k, found->path, e);
	} else
		rc = dso_open(opt, found->path, &k, &c, e);
	rc = rc ? rc : jitdump_open_fd(c.fd, found->path, out, e);
	if (c.fd >= 0)
		close(c.fd);
	return rc;
}
