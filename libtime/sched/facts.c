#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 1024 };

static const char *text(const struct timeline *tl, uint32_t id)
{
	return strtab_get(&tl->stacks->strings, id);
}

/* The fact under `key` in the thread's recording, or NULL. */
static const struct tl_fact *find(const struct timeline *tl, uint32_t thread, const char *kind,
				  const char *subject, const char *key)
{
	const struct strtab *s = &tl->stacks->strings;
	const struct tl_part *p = timeline_part_of(tl, thread);
	size_t i = p ? p->fact_first : 0;
	size_t end = p && p + 1 < tl->parts.v + tl->parts.n ? p[1].fact_first : tl->facts.n;
	uint32_t k, su, ke;
	if (i == end || !strtab_find(s, kind, &k) || !strtab_find(s, subject, &su) ||
	    !strtab_find(s, key, &ke))
		return NULL;
	for (; i < end; i++) {
		const struct tl_fact *f = &tl->facts.v[i];
		if (f->subject == su && f->kind == k && f->key == ke)
			return f;
	}
	return NULL;
}

static uint32_t value_of(const struct tl_fact *f)
{
	return !f ? 0 : f->before ? f->before : f->after;
}

/* By how much a counter grew during the recording. */
static uint64_t growth(const struct timeline *tl, const struct tl_fact *f)
{
	if (!f || !f->after)
		return 0;
	uint64_t before = strtoull(text(tl, f->before), NULL, 10);
	uint64_t after = strtoull(text(tl, f->after), NULL, 10);
	return after > before ? after - before : 0;
}

/* --- cgroups -------------------------------------------------------------------------- */

uint32_t fact_cgroup(const struct timeline *tl, uint32_t thread)
{
	char pid[16];
	if (!tl->facts.n || tl->threads.v[thread].pid <= 0)
		return 0;
	snprintf(pid, sizeof(pid), "%d", tl->threads.v[thread].pid);
	return value_of(find(tl, thread, "process", pid, "cgroup"));
}

/* "/a/b/c" becomes "/a/b", then "/a"; then 0. */
static int next_above(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return 0;
	*slash = '\0';
	return 1;
}

static int path_of(const struct timeline *tl, uint32_t cgroup, char path[PATH_MOST])
{
	snprintf(path, PATH_MOST, "%s", text(tl, cgroup));
	return cgroup && strtab_len(&tl->stacks->strings, cgroup) < PATH_MOST;
}

uint32_t fact_container(const struct timeline *tl, uint32_t thread, uint32_t cgroup)
{
	char path[PATH_MOST];
	uint32_t name = 0;
	if (!path_of(tl, cgroup, path))
		return 0;
	do
		name = value_of(find(tl, thread, "cgroup", path, "name"));
	while (!name && next_above(path));
	return name;
}

static int quota_at(const struct timeline *tl, uint32_t thread, const char *path,
		    struct fact_quota *q)
{
	unsigned long long quota, period;
	uint32_t max = value_of(find(tl, thread, "cgroup", path, "cpu.max"));
	if (!max || sscanf(text(tl, max), "%llu %llu", &quota, &period) != 2 || !quota ||
	    !period || quota > UINT64_MAX / 1000 || period > UINT64_MAX / 1000 ||
	    !strtab_find(&tl->stacks->strings, path, &q->cgroup))
		return 0;
	q->quota_ns = quota * 1000;
	q->period_ns = period * 1000;
	q->throttled = growth(tl, find(tl, thread, "cgroup", path, "nr_throttled"));
	q->periods = growth(tl, find(tl, thread, "cgroup", path, "nr_periods"));
	return 1;
}

static double share(const struct fact_quota *q)
{
	return (double)q->quota_ns / (double)q->period_ns;
}

int fact_quota_of(const struct timeline *tl, uint32_t thread, uint32_t cgroup,
		  struct fact_quota *out)
{
	struct fact_quota q;
	char path[PATH_MOST];
	int found = 0;
	if (!tl->facts.n || !path_of(tl, cgroup, path))
		return 0;
	do {
		if (!quota_at(tl, thread, path, &q))
			continue;
		if (!found || q.throttled > out->throttled ||
		    (q.throttled == out->throttled && share(&q) < share(out)))
			*out = q;
		found = 1;
	} while (next_above(path));
	return found;
}

int fact_quota(const struct timeline *tl, uint32_t thread, struct fact_quota *out)
{
	return fact_quota_of(tl, thread, fact_cgroup(tl, thread), out);
}

/* --- the machine ---------------------------------------------------------------------- */

/* A counter's growth in ns as a share of the time in which it grew. */
static int64_t share_of_time(const struct timeline *tl, uint32_t thread,
			     const struct tl_fact *f, uint64_t unit_ns)
{
	enum { MOST = 1000000 }; /* a thousand percent: the counter is not what it should be */
	const struct tl_recording *rec = timeline_recording_of(tl, thread);
	uint64_t ms = growth(tl, find(tl, thread, "host", "clock", "monotonic_ms"));
	double ns = ms ? (double)ms * 1e6 : (double)(rec->end_ns - rec->origin_ns);
	if (!f || !f->before || !f->after || ns <= 0)
		return -1;
	double share = (double)growth(tl, f) * (double)unit_ns / ns * 1e5;
	return share < MOST ? (int64_t)(share + 0.5) : -1;
}

int64_t fact_steal(const struct timeline *tl, uint32_t thread, uint16_t cpu)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", timeline_cpu(tl, cpu));
	return share_of_time(tl, thread, find(tl, thread, "cpu", number, "steal_ms"), 1000000);
}

int64_t fact_pressure(const struct timeline *tl, uint32_t thread, const char *of)
{
	return share_of_time(tl, thread, find(tl, thread, "pressure", of, "some"), 1000);
}

/* Is a CPU in "0-3,8-11"? */
static int in_list(const char *list, long cpu)
{
	for (char *end; *list; list = end + (*end == ',')) {
		long from = strtol(list, &end, 10), to = from;
		if (end == list)
			return 0;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from <= cpu && cpu <= to)
			return 1;
	}
	return 0;
}

int fact_node(const struct timeline *tl, uint32_t thread, uint16_t cpu, int *nodes)
{
	enum { MOST = 1024 };
	const struct tl_fact *f;
	char number[16] = "0";
	int found = -1;
	*nodes = 0;
	for (int i = 0; i < MOST && cpu != TL_NOCPU; i++) {
		snprintf(number, sizeof(number), "%d", i);
		f = find(tl, thread, "node", number, "cpus");
		if (!f && i > *nodes + 1) /* numbers may be left out */
			break;
		*nodes += f != NULL;
		if (f && in_list(text(tl, value_of(f)), timeline_cpu(tl, cpu)))
			found = i;
	}
	return *nodes > 1 ? found : -1;
}

/* --- descriptors and devices ---------------------------------------------------------- */

const char *fact_target(const struct timeline *tl, const struct offcpu *o)
{
	char subject[48];
	if (!tl->facts.n || o->arg_kind < ARG_FD)
		return NULL;
	snprintf(subject, sizeof(subject), "%d/%llu", tl->threads.v[o->thread].pid,
		 (unsigned long long)offcpu_arg(tl, o));
	uint32_t id = value_of(find(tl, o->thread, "fd", subject, "target"));
	return id ? text(tl, id) : NULL;
}

const char *fact_disk(const struct timeline *tl, uint32_t thread, const char *numbers)
{
	uint32_t name = value_of(find(tl, thread, "disk", numbers, "name"));
	return name ? text(tl, name) : NULL;
}

/* A mount's source: the name of the disk with its number, if that is known (the source may be
 * /dev/root or a mapper's), else the source without "/dev/". */
static const char *source_of(const struct timeline *tl, uint32_t thread, const char *mount)
{
	const char *device = text(tl, value_of(find(tl, thread, "mount", mount, "device")));
	const char *source = text(tl, value_of(find(tl, thread, "mount", mount, "source")));
	const char *disk = fact_disk(tl, thread, device);
	if (disk)
		return disk;
	return *source ? source + (strncmp(source, "/dev/", 5) ? 0 : 5) : NULL;
}

const char *fact_device(const struct timeline *tl, uint32_t thread, const char *path)
{
	char at[PATH_MOST];
	if (*path != '/' || strlen(path) >= sizeof(at))
		return NULL;
	snprintf(at, sizeof(at), "%s", path);
	do
		if (find(tl, thread, "mount", at, "device"))
			return source_of(tl, thread, at);
	while (next_above(at));
	return find(tl, thread, "mount", "/", "device") ? source_of(tl, thread, "/") : NULL;
}

int fact_own_recorder(const struct timeline *tl, uint64_t *over)
{
	uint32_t kind;
	int found = 0;
	uint64_t most = 0;
	if (!tl->facts.n || !strtab_find(&tl->stacks->strings, "recorder", &kind))
		return 0;
	for (size_t i = 0; i < tl->facts.n; i++) {
		const struct tl_fact *f = &tl->facts.v[i];
		uint64_t ns = f->kind == kind ? strtoull(text(tl, value_of(f)), NULL, 10) : 0;
		found |= f->kind == kind;
		most = ns > most ? ns : most;
	}
	if (over)
		*over = most;
	return found;
}
