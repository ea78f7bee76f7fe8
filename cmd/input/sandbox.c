#include "cmd/input/sandbox.h"
#include "base/outfile.h"
#include "cmd/input/bundle_cache.h"
#include "cmd/input/input.h"
#include "cmd/input/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/landlock.h, which older headers lack. The numbers are the same on all
 * architectures. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

struct ruleset_attr {
	uint64_t handled_access_fs;
};

struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#define WRITE_FILE (1ull << 1)
#define TRUNCATE (1ull << 14)
/* WRITE_FILE, REMOVE_DIR to MAKE_SYM: bits 4 to 12. */
#define CHANGES (WRITE_FILE | 0x1ff0)
#define REFER (1ull << 13)

/* What this kernel can forbid; 0: nothing. */
static uint64_t rights(void)
{
	long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	return version < 1   ? 0
	       : version < 2 ? CHANGES
	       : version < 3 ? CHANGES | REFER
			     : CHANGES | REFER | TRUNCATE;
}

struct sandbox {
	int rules, shortage; /* shortage: an errno, if descriptors or memory ran out */
	uint64_t rights;
};

static int is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* Allow writing below a path, if it exists. */
static void allow(struct sandbox *s, const char *path)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		if (is_shortage(errno))
			s->shortage = errno;
		if (fd >= 0)
			close(fd);
		return;
	}
	struct path_beneath rule = {.allowed_access = s->rights, .parent_fd = fd};
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= WRITE_FILE | TRUNCATE;
	if (syscall(ADD_RULE, s->rules, RULE_PATH_BENEATH, &rule, 0) && is_shortage(errno))
		s->shortage = errno;
	close(fd);
}

/* The target of a dangling link, in out[PATH_MAX]. */
static const char *dangling_target(const char *path, char *out)
{
	char leads[PATH_MAX];
	ssize_t n = readlink(path, leads, sizeof(leads) - 1);
	const char *slash = strrchr(path, '/');
	if (n <= 0)
		return path;
	leads[n] = '\0';
	int before = *leads == '/' || !slash ? 0 : (int)(slash - path) + 1;
	return snprintf(out, PATH_MAX, "%.*s%s", before, path, leads) < PATH_MAX ? out : path;
}

/* Allow the file's folder, because the file is created there under another name; of a device or
 * fifo the file itself. */
static void allow_output(struct sandbox *s, const char *path)
{
	char target[PATH_MAX], dir[PATH_MAX];
	struct stat st;
	path = outfile_target(path, target);
	path = dangling_target(path, target);
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode))) {
		allow(s, path);
		return;
	}
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) + (slash == path) : 1;
	snprintf(dir, sizeof(dir), "%.*s", n, slash ? path : ".");
	allow(s, dir);
}

/* Allow only $TMPDIR if files can be created there; else the usual places, because SQLite has
 * its own order; the current directory if there is none. */
static void allow_scratch(struct sandbox *s)
{
	const char *places[SCRATCH_PLACES];
	struct stat st;
	scratch_places(places);
	for (size_t i = 0, found = 0; i < SCRATCH_PLACES - !!found; i++) {
		if (stat(places[i], &st) || !S_ISDIR(st.st_mode) ||
		    access(places[i], W_OK | X_OK))
			continue;
		allow(s, places[i]);
		if (i == 0 && strcmp(places[0], places[1]) != 0)
			return;
		found++;
	}
}

static void allow_cache(struct sandbox *s)
{
	char path[BUNDLE_CACHE_PATH];
	if (bundle_cache_dir(path))
		allow(s, path);
}

static void allow_outputs(struct sandbox *s, const struct verb *v, const void *opts)
{
	for (size_t t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++) {
			const char *target = (const char *)opts + o->at;
			if (o->kind == OPT_OUTPUT && *(const char *const *)target)
				allow_output(s, *(const char *const *)target);
			/* svg --cp keeps palette.map here */
			if (o->kind == OPT_FLAG && !strcmp(o->name, "cp") &&
			    *(const int *)target)
				allow(s, ".");
		}
}

static const char no_sandbox[] = "cannot enter the sandbox (--no-sandbox runs without it)";

static int asks_debuginfod(const struct input_opts *o)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && *urls && !o->no_local;
}

int sandbox_enter(const struct verb *v, const void *opts, struct err *e)
{
	const struct input_opts *o = opts;
	struct ruleset_attr attr;
	if (!input_is_read_by(v) || o->no_sandbox || asks_debuginfod(o) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	struct sandbox s = {.rights = rights()};
	attr.handled_access_fs = s.rights;
	if (!s.rights)
		return 0;
	s.rules = (int)syscall(CREATE_RULESET, &attr, sizeof(attr), 0);
	if (s.rules < 0)
		return is_shortage(errno) ? err_sys(e, "%s", no_sandbox) : 0;
	allow_outputs(&s, v, opts);
	allow_scratch(&s);
	if (!o->no_cache)
		allow_cache(&s);
	if (!s.shortage)
		syscall(RESTRICT_SELF, s.rules, 0);
	close(s.rules);
	errno = s.shortage;
	return s.shortage ? err_sys(e, "%s", no_sandbox) : 0;
}
