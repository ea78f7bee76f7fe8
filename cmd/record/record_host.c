#include "cmd/record/record_host.h"
#include "base/text/path.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	PATH_SIZE = 512,
	FOLDER_SIZE = 640,
	FILE_SIZE = 768,
	TEXT_SIZE = 1024,
	CONTAINER_ID = 64
};

/* --- writing and reading -------------------------------------------------------------- */

static void put_text(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_char(out, (unsigned char)*s < ' ' ? '?' : *s);
}

static void put_fact(struct buf *out, const char *kind, const char *subject, const char *key,
		     const char *value)
{
	buf_fmt(out, "fact %s\t", kind);
	put_text(out, subject);
	buf_char(out, '\t');
	put_text(out, key);
	buf_char(out, '\t');
	put_text(out, value);
	buf_char(out, '\n');
}

static void put_number(struct buf *out, const char *kind, const char *subject, const char *key,
		       uint64_t value)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_fact(out, kind, subject, key, text);
}

/* The first line of a file, or "". */
static const char *first_line(const char *path, char text[TEXT_SIZE])
{
	FILE *f = fopen(path, "re");
	if (!f || !fgets(text, TEXT_SIZE, f))
		*text = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* The number after "NAME " in a file of such lines. */
static int number_in(const char *path, const char *name, uint64_t *value)
{
	char line[TEXT_SIZE];
	size_t n = strlen(name);
	int found = 0;
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, name, n) && line[n] == ' ' &&
			sscanf(line + n, "%" SCNu64, value) == 1;
	if (f)
		fclose(f);
	return found;
}

/* Put a text of /sys as a fact, unless it is empty. */
static void put_file(struct buf *out, const char *kind, const char *subject, const char *key,
		     const char *path)
{
	char text[TEXT_SIZE];
	if (*first_line(path, text))
		put_fact(out, kind, subject, key, text);
}

/* --- the machine ---------------------------------------------------------------------- */

static void add_cpus(struct buf *out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char path[PATH_SIZE], name[24];
	for (long i = 0; i < cpus; i++) {
		snprintf(name, sizeof(name), "%ld", i);
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", i);
		put_file(out, "cpu", name, "siblings", path);
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", i);
		put_file(out, "cpu", name, "governor", path);
	}
	put_file(out, "host", "cpus", "online", "/sys/devices/system/cpu/online");
	put_file(out, "host", "cpus", "isolated", "/sys/devices/system/cpu/isolated");
	put_file(out, "host", "cpus", "nohz_full", "/sys/devices/system/cpu/nohz_full");
	put_file(out, "host", "cpus", "smt", "/sys/devices/system/cpu/smt/control");
}

static void add_nodes(struct buf *out)
{
	char path[PATH_SIZE];
	DIR *d = opendir("/sys/devices/system/node");
	for (const struct dirent *x; d && (x = readdir(d));) {
		if (strncmp(x->d_name, "node", 4) != 0 || !isdigit((unsigned char)x->d_name[4]))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/node/%.32s/cpulist",
			 x->d_name);
		put_file(out, "node", x->d_name + 4, "cpus", path);
	}
	if (d)
		closedir(d);
}

/* /proc/stat counts ticks of sysconf(_SC_CLK_TCK). */
static void add_steal(struct buf *out)
{
	char line[TEXT_SIZE], cpu[24];
	uint64_t steal, hz = (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu%23[0-9] %*u %*u %*u %*u %*u %*u %*u %" SCNu64, cpu,
			   &steal) == 2)
			put_number(out, "cpu", cpu, "steal_ms", steal * 1000 / hz);
	if (f)
		fclose(f);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" in microseconds. */
static void add_pressure(struct buf *out, const char *of)
{
	char path[PATH_SIZE], line[TEXT_SIZE], word[8];
	snprintf(path, sizeof(path), "/proc/pressure/%s", of);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, "total=");
		if (total && sscanf(line, "%7s", word) == 1)
			put_number(out, "pressure", of, word, strtoull(total + 6, NULL, 10));
	}
	if (f)
		fclose(f);
}

/* Add the counts of a line of /proc/interrupts or /proc/softirqs, a column for each CPU; in the
 * first file the interrupt's name follows. */
static void add_counts(struct buf *out, const char *kind, const char *number, const char *at,
		       const long *cpu, int ncpus)
{
	char name[TEXT_SIZE], key[24], *end;
	const char *rest = at;
	for (int i = 0; i < ncpus; i++, rest = end)
		strtoull(rest, &end, 10);
	rest += strspn(rest, " ");
	snprintf(name, sizeof(name), "%.64s%s%.200s", number, *rest > '\n' ? " " : "", rest);
	name[strcspn(name, "\n")] = '\0';
	for (int i = 0; i < ncpus; i++, at = end) {
		uint64_t n = strtoull(at, &end, 10);
		snprintf(key, sizeof(key), "%ld", cpu[i]);
		if (n && end != at)
			put_number(out, kind, name, key, n);
	}
}

/* "           CPU0       CPU1", then "  25:   1   2  PCI-MSI 1-edge  virtio0-input". */
static void add_interrupts(struct buf *out, const char *kind, const char *path)
{
	enum { CPUS = 1024 };
	static char line[1 << 15];
	long cpu[CPUS];
	int n = 0;
	FILE *f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		for (char *p = line; n < CPUS && (p = strstr(p, "CPU")); n++)
			cpu[n] = strtol(p + 3, &p, 10);
	while (f && n && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':'), *number = line + strspn(line, " ");
		if (!colon || !strchr(line, '\n'))
			continue;
		*colon = '\0';
		add_counts(out, kind, number, colon + 1, cpu, n);
	}
	if (f)
		fclose(f);
}

/* " 254       0 vda 12 ..." */
static void add_disks(struct buf *out)
{
	char line[TEXT_SIZE], name[64], subject[24];
	unsigned major, minor;
	FILE *f = fopen("/proc/diskstats", "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %u %63s", &major, &minor, name) != 3)
			continue;
		snprintf(subject, sizeof(subject), "%u:%u", major, minor);
		put_fact(out, "disk", subject, "name", name);
	}
	if (f)
		fclose(f);
}

/* "36 35 98:0 /root /point opts shared:1 - ext4 /dev/root rw", as in proc(5); blanks in names
 * are "\040". */
static void add_mounts(struct buf *out)
{
	char line[4096], device[24], point[PATH_SIZE], type[64], source[PATH_SIZE];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*s %*s %23s %*s %511s", device, point) != 2 ||
		    sscanf(dash, " - %63s %511s", type, source) != 2)
			continue;
		put_fact(out, "mount", point, "device", device);
		put_fact(out, "mount", point, "type", type);
		put_fact(out, "mount", point, "source", source);
	}
	if (f)
		fclose(f);
}

static void add_clock(struct buf *out)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	put_number(out, "host", "clock", "monotonic_ms",
		   (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

void record_host_add(struct buf *out)
{
	add_clock(out);
	add_cpus(out);
	add_nodes(out);
	add_steal(out);
	add_pressure(out, "cpu");
	add_pressure(out, "memory");
	add_pressure(out, "io");
	add_interrupts(out, "irq", "/proc/interrupts");
	add_interrupts(out, "softirq", "/proc/softirqs");
	add_disks(out);
	add_mounts(out);
}

/* --- cgroups -------------------------------------------------------------------------- */

/* The container's id, which is in the last part of a cgroup's path: docker-ID.scope,
 * cri-containerd-ID.scope, /docker/ID. */
static int container_id(const char *path, char id[CONTAINER_ID + 1])
{
	for (const char *p = path_base(path); *p; p++) {
		size_t n = strspn(p, "0123456789abcdef");
		if (n == CONTAINER_ID) {
			snprintf(id, CONTAINER_ID + 1, "%.*s", CONTAINER_ID, p);
			return 1;
		}
		p += n ? n - 1 : 0;
	}
	return 0;
}

/* The kubelet names a container's log POD_NAMESPACE_CONTAINER-ID.log. */
static int kube_name(const char *id, char name[TEXT_SIZE])
{
	char pod[256], space[256], container[256], found[CONTAINER_ID + 8];
	int got = 0;
	DIR *d = opendir("/var/log/containers");
	for (const struct dirent *x; d && !got && (x = readdir(d));) {
		const char *dash = strrchr(x->d_name, '-');
		if (!dash || sscanf(dash, "-%70[0-9a-f].log", found) != 1 ||
		    strcmp(found, id) != 0 ||
		    sscanf(x->d_name, "%255[^_]_%255[^_]_%255[^_]", pod, space, container) !=
			    3 ||
		    strlen(container) <= strlen(dash))
			continue;
		container[strlen(container) - strlen(dash)] = '\0';
		snprintf(name, TEXT_SIZE, "%s/%s/%s", space, pod, container);
		got = 1;
	}
	if (d)
		closedir(d);
	return got;
}

/* The name in Docker's own description, if this machine's Docker runs it. */
static int docker_name(const char *id, char name[TEXT_SIZE])
{
	char path[PATH_SIZE];
	struct buf text = {.max = 1 << 20};
	char piece[4096];
	size_t n;
	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
	FILE *f = fopen(path, "re");
	while (f && (n = fread(piece, 1, sizeof(piece), f)) && !buf_failed(&text))
		buf_add(&text, piece, n);
	if (f)
		fclose(f);
	const char *is = buf_failed(&text) ? NULL : strstr(buf_cstr(&text), "\"Name\":\"/");
	int got = is && sscanf(is, "\"Name\":\"/%255[^\"]", name) == 1;
	buf_release(&text);
	return got;
}

static void add_name(struct buf *out, const char *path)
{
	char id[CONTAINER_ID + 1], name[TEXT_SIZE];
	if (container_id(path, id) && (kube_name(id, name) || docker_name(id, name)))
		put_fact(out, "cgroup", path, "name", name);
}

/* "20000 100000" in microseconds, as in version 2; for version 1 from two files. */
static int quota_of(const char *folder, char text[TEXT_SIZE])
{
	char path[FILE_SIZE], period[TEXT_SIZE];
	snprintf(path, sizeof(path), "%.639s/cpu.max", folder);
	if (*first_line(path, text))
		return strncmp(text, "max", 3) != 0;
	snprintf(path, sizeof(path), "%.639s/cpu.cfs_period_us", folder);
	first_line(path, period);
	snprintf(path, sizeof(path), "%.639s/cpu.cfs_quota_us", folder);
	if (!*first_line(path, text) || *text == '-')
		return 0;
	snprintf(text + strlen(text), TEXT_SIZE - strlen(text), " %.24s", period);
	return 1;
}

static void add_quota(struct buf *out, const char *cgroup, const char *folder)
{
	static const char *const counts[] = {"nr_periods", "nr_throttled"};
	char text[TEXT_SIZE], path[FILE_SIZE];
	uint64_t n;
	if (!quota_of(folder, text))
		return;
	put_fact(out, "cgroup", cgroup, "cpu.max", text);
	snprintf(path, sizeof(path), "%.639s/cpu.stat", folder);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (number_in(path, counts[i], &n))
			put_number(out, "cgroup", cgroup, counts[i], n);
	if (number_in(path, "throttled_usec", &n))
		put_number(out, "cgroup", cgroup, "throttled_us", n);
	else if (number_in(path, "throttled_time", &n))
		put_number(out, "cgroup", cgroup, "throttled_us", n / 1000);
}

/* Add limits of memory; version 1 has a number above 2^62 for no limit. */
static void add_memory(struct buf *out, const char *cgroup, const char *folder)
{
	static const struct {
		const char *file, *key;
	} limits[] = {{"memory.max", "memory.max"},
		      {"memory.limit_in_bytes", "memory.max"},
		      {"memory.high", "memory.high"}};
	char path[FILE_SIZE], text[TEXT_SIZE];
	uint64_t n;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		snprintf(path, sizeof(path), "%.639s/%s", folder, limits[i].file);
		if (isdigit((unsigned char)*first_line(path, text)) &&
		    strtoull(text, NULL, 10) < 1ull << 62)
			put_fact(out, "cgroup", cgroup, limits[i].key, text);
	}
	snprintf(path, sizeof(path), "%.639s/memory.events", folder);
	if (number_in(path, "max", &n) && n)
		put_number(out, "cgroup", cgroup, "memory.max_hits", n);
	if (number_in(path, "high", &n) && n)
		put_number(out, "cgroup", cgroup, "memory.high_hits", n);
	snprintf(path, sizeof(path), "%.639s/memory.failcnt", folder);
	if (isdigit((unsigned char)*first_line(path, text)) && *text != '0')
		put_fact(out, "cgroup", cgroup, "memory.max_hits", text);
}

/* Version 2 has one hierarchy, version 1 one for each controller. */
static const char *hierarchy(const char *controller)
{
	static const char two[] = "/sys/fs/cgroup";
	if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		return two;
	return !strcmp(controller, "cpu") ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup/memory";
}

/* Add a cgroup and those above it, except the root. */
static void add_cgroups(struct buf *out, struct host_cgroups *seen, const char *path)
{
	char at[PATH_SIZE], folder[FOLDER_SIZE];
	uint32_t id;
	snprintf(at, sizeof(at), "%s", path);
	while (strlen(at) > 1 && !strtab_find(&seen->paths, at, &id)) {
		if (strtab_intern(&seen->paths, at, &id))
			out->failed = ERR_NOMEM;
		add_name(out, at);
		snprintf(folder, sizeof(folder), "%s%s", hierarchy("cpu"), at);
		add_quota(out, at, folder);
		snprintf(folder, sizeof(folder), "%s%s", hierarchy("memory"), at);
		add_memory(out, at, folder);
		*strrchr(at, '/') = '\0';
	}
}

/* "4:cpu,cpuacct:/path"; the hierarchy of the CPU controller comes first, then the one of
 * version 2, then systemd's and memory's, if they know more than the root. */
static int rank_of(const char *line)
{
	static const char *const names[] = {"memory", "name=systemd", "", "cpu"};
	const char *list = strchr(line, ':');
	const char *path = list ? strchr(list + 1, ':') : NULL;
	int best = 0;
	if (!path || path[1] != '/' || path[2] <= ' ')
		return 0;
	for (const char *p = list + 1; p <= path; p += strcspn(p, ",:") + 1)
		for (int i = 0; i < 4; i++)
			if (strcspn(p, ",:") == strlen(names[i]) &&
			    !strncmp(p, names[i], strlen(names[i])) && i + 1 > best)
				best = i + 1;
	return best;
}

void record_host_cgroup(struct buf *out, struct host_cgroups *seen, long pid)
{
	char file[64], line[TEXT_SIZE], path[PATH_SIZE] = "/", subject[24];
	int best = 0;
	snprintf(file, sizeof(file), "/proc/%ld/cgroup", pid);
	FILE *f = fopen(file, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		int rank = rank_of(line);
		line[strcspn(line, "\n")] = '\0';
		if (rank > best && strlen(line) < PATH_SIZE) {
			best = rank;
			snprintf(path, sizeof(path), "%s",
				 strchr(strchr(line, ':') + 1, ':') + 1);
		}
	}
	fclose(f);
	snprintf(subject, sizeof(subject), "%ld", pid);
	put_fact(out, "process", subject, "cgroup", path);
	add_cgroups(out, seen, path);
}

void host_cgroups_release(struct host_cgroups *seen)
{
	strtab_release(&seen->paths);
}
