#include "cmd/record/record_context.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text/strtab.h"
#include "cmd/record/record_host.h"
#include "libtime/build/fd_context.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	PROC_PATH = 96,
	INET_INODE = 9, /* columns of /proc/net/tcp and its like, from 0 */
	INET_STATE = 3,
	UNIX_FLAGS = 3, /* and of /proc/net/unix */
	UNIX_INODE = 6,
	COLUMNS = 10,
	IS_UNIX = 1, /* families of sockets */
	IS_OTHER = 2,
};

/* A network namespace, and a process in it. */
struct space {
	char name[64];
	long pid;
};

struct snapshot {
	struct buf *out;
	struct u64map wanted; /* inodes of sockets that a process has open → families */
	VEC(struct space) spaces;
	struct host_cgroups cgroups;
};

static int read_link(const char *path, char *out, size_t size)
{
	ssize_t n = readlink(path, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	/* a name may contain a line break, which would begin another line */
	return n > 0 && !strpbrk(out, "\n\r");
}

static void note_space(struct snapshot *s, const char *name, long pid)
{
	struct space x = {.pid = pid};
	for (size_t i = 0; i < s->spaces.n; i++)
		if (!strcmp(s->spaces.v[i].name, name))
			return;
	snprintf(x.name, sizeof(x.name), "%s", name);
	if (vec_push(&s->spaces, x))
		s->out->failed = ERR_NOMEM;
}

/* Add the descriptors that an epoll watches. */
static void add_epoll(struct snapshot *s, long pid, const char *number)
{
	char path[PROC_PATH], line[256];
	long fd;
	snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%.16s", pid, number);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "tfd: %ld", &fd) == 1)
			buf_fmt(s->out, "tfd %.16s %ld\n", number, fd);
	if (f)
		fclose(f);
}

/* The family that the socket itself says, as bits: a row of /proc/net/unix may be written by
 * whoever has a line break in a path. */
static uint32_t family_of(const char *path)
{
	char protocol[32] = "";
	ssize_t n = getxattr(path, "system.sockprotoname", protocol, sizeof(protocol) - 1);
	return n <= 0 ? IS_UNIX | IS_OTHER : !strncmp(protocol, "UNIX", 4) ? IS_UNIX : IS_OTHER;
}

static void add_descriptor(struct snapshot *s, long pid, const char *number)
{
	char path[PROC_PATH], target[256];
	uint64_t inode;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%.16s", pid, number);
	if (!read_link(path, target, sizeof(target)))
		return;
	buf_fmt(s->out, "fd %.16s %s\n", number, target);
	if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1 &&
	    u64map_put(&s->wanted, inode, family_of(path)))
		s->out->failed = ERR_NOMEM;
	if (!strcmp(target, "anon_inode:[eventpoll]"))
		add_epoll(s, pid, number);
}

/* The name of a process, without line breaks. */
static void process_name(long pid, char name[64])
{
	char path[PROC_PATH];
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(name, 64, f))
		*name = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n\r")] = '\0';
}

static void add_process(struct snapshot *s, long pid)
{
	char path[PROC_PATH], space[64], name[64];
	int any = 0;
	snprintf(path, sizeof(path), "/proc/%ld/ns/net", pid);
	if (!read_link(path, space, sizeof(space)))
		return;
	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	DIR *d = opendir(path);
	if (!d)
		return;
	for (const struct dirent *x; (x = readdir(d)) && !buf_failed(s->out);) {
		if (!isdigit((unsigned char)*x->d_name))
			continue;
		if (!any++) { /* kernel threads have none */
			process_name(pid, name);
			record_host_cgroup(s->out, &s->cgroups, pid);
			buf_fmt(s->out, "process %ld %s %s\n", pid, space, name);
		}
		add_descriptor(s, pid, x->d_name);
	}
	if (any)
		note_space(s, space, pid);
	closedir(d);
}

/* Split a line into columns; "" after the last. */
static void split(const char *line, char column[COLUMNS][32])
{
	for (int i = 0; i < COLUMNS; i++) {
		size_t n;
		line += strspn(line, " \t");
		n = strcspn(line, " \t\n");
		snprintf(column[i], sizeof(column[i]), "%.*s", (int)(n < 31 ? n : 31), line);
		line += n;
	}
}

/* 1 for a socket that a process has open, or that listens. */
static int is_wanted(const struct snapshot *s, const char *line, int is_unix)
{
	char column[COLUMNS][32];
	uint32_t family;
	split(line, column);
	const char *inode = column[is_unix ? UNIX_INODE : INET_INODE];
	if (!isdigit((unsigned char)*inode))
		return 0; /* the heading */
	if (u64map_get(&s->wanted, strtoull(inode, NULL, 10), &family))
		return (family & (is_unix ? IS_UNIX : IS_OTHER)) != 0;
	return is_unix ? (strtoul(column[UNIX_FLAGS], NULL, 16) & 0x10000) != 0
		       : !strcmp(column[INET_STATE], "0A");
}

static void add_net(struct snapshot *s, const struct space *space, const char *file)
{
	char path[PROC_PATH], line[512];
	int is_unix = !strcmp(file, "unix");
	snprintf(path, sizeof(path), "/proc/%ld/net/%s", space->pid, file);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	buf_fmt(s->out, "net %s %s\n", space->name, file);
	while (fgets(line, sizeof(line), f) && !buf_failed(s->out))
		if (strchr(line, '\n') && is_wanted(s, line, is_unix))
			buf_fmt(s->out, "\t%s", line + strspn(line, " "));
	fclose(f);
}

static void add_all(struct snapshot *s)
{
	DIR *d = opendir("/proc");
	for (const struct dirent *x; d && (x = readdir(d)) && !buf_failed(s->out);)
		if (isdigit((unsigned char)*x->d_name))
			add_process(s, atol(x->d_name));
	if (d)
		closedir(d);
}

void record_context_add(struct buf *out, const char *pids)
{
	static const char *const files[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
	struct snapshot s = {.out = out};
	buf_str(out, "snapshot\n");
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		buf_str(out, "order big\n");
	record_host_add(out);
	if (!pids)
		add_all(&s);
	for (const char *p = pids; p && *p; p += strcspn(p, ","), p += *p == ',')
		add_process(&s, atol(p));
	for (size_t i = 0; i < s.spaces.n; i++)
		for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++)
			add_net(&s, &s.spaces.v[i], files[k]);
	u64map_release(&s.wanted);
	host_cgroups_release(&s.cgroups);
	vec_release(&s.spaces);
}

int record_context_write(const struct buf *snapshots, const char *recording, struct err *e)
{
	struct buf path = {0};
	struct stat st;
	struct outfile out;
	if (stat(recording, &st) || !S_ISREG(st.st_mode))
		return 0;
	buf_fmt(&path, "%s.context", recording);
	int r = buf_failed(&path) || buf_failed(snapshots) ? err_nomem(e) : 0;
	if (!r)
		r = outfile_open_derived(&out, buf_cstr(&path), 0600, e);
	if (!r) {
		fprintf(out.f, FD_CONTEXT_HEAD, (long long)st.st_size);
		fwrite(snapshots->v, 1, snapshots->n, out.f);
		r = outfile_end(&out, 0, e);
	}
	buf_release(&path);
	return r;
}
