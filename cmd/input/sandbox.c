#include "cmd/input/sandbox.h"
#include "base/os/landlock.h"
#include "base/os/os.h"
#include "base/os/syscall_filter.h"
#include "base/outfile.h"
#include "cmd/input/bundle_cache.h"
#include "cmd/input/scratch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The places below which a verb may make, change and remove files. */
enum place {
	OUTPUTS = 1 << 0, /* the folders of its options of kind OPT_OUTPUT */
	HERE = 1 << 1,    /* the current folder, if no such option was given */
	SCRATCH = 1 << 2, /* $TMPDIR and the like */
	CACHE = 1 << 3,   /* of unpacked bundles */
	/* These if a server is asked; the verb may connect then, too. */
	FETCHED = 1 << 4,    /* of debuginfod's client */
	EXTENSIONS = 1 << 5, /* of DuckDB, for tables at a URL */
	PRIVATE = 1 << 6,    /* a new folder in $TMPDIR, which is $TMPDIR then */
};

#define READS (OUTPUTS | SCRATCH | CACHE | FETCHED)

/* For each verb, or for one option of it: the sandbox, which is all that holds if a file of a
 * stranger takes the process over. `record` runs perf, and only with --like reads recordings. */
static const struct row {
	const char *verb, *option;
	unsigned may, writes;
} rows[] = {
	{"collapse", NULL, MAY_READ, READS},
	{"compare", NULL, MAY_READ, READS},
	{"doctor", NULL, MAY_READ, READS},
	{"export", NULL, MAY_READ, READS},
	{"fleet", NULL, MAY_READ | MAY_EXECUTE | MAY_FORK, SCRATCH | EXTENSIONS},
	{"html", NULL, MAY_READ, READS},
	{"import", NULL, MAY_READ, READS},
	{"mcp", NULL, MAY_FORK, PRIVATE | CACHE},
	{"pack", NULL, MAY_READ | MAY_SEE_PROCESSES, FETCHED},
	{"record", "like", MAY_READ, READS},
	{"report", NULL, MAY_READ, READS},
	{"source", NULL, MAY_READ, READS},
	{"svg", NULL, MAY_READ, READS},
	{"symbols", NULL, MAY_READ, OUTPUTS | SCRATCH | FETCHED},
	{"tail", NULL, MAY_READ, READS},
	{"timeline", NULL, MAY_READ, READS},
	{"unpack", NULL, 0, OUTPUTS | HERE},
	{"watch", NULL, MAY_READ | MAY_FORK, OUTPUTS | SCRATCH | FETCHED},
};

/* --- options ---------------------------------------------------------------------------- */

/* The option, or NULL; *target is its place in opts. */
static const struct opt *option_of(const struct verb *v, const void *opts, const char *name,
				   const void **target)
{
	for (size_t t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (!strcmp(o->name, name)) {
				*target = (const char *)opts + o->at;
				return o;
			}
	return NULL;
}

/* 1 if a flag, or an option with text, was given. */
static int is_given(const struct verb *v, const void *opts, const char *name)
{
	const void *target;
	const struct opt *o = option_of(v, opts, name, &target);
	return o && (o->kind == OPT_FLAG ? *(const int *)target
					 : *(const char *const *)target != NULL);
}

static const struct row *row_of(const struct verb *v, const void *opts)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].verb, v->name) &&
		    (!rows[i].option || is_given(v, opts, rows[i].option)))
			return &rows[i];
	return NULL;
}

/* FETCHED, EXTENSIONS, or 0 if no server is asked. */
static unsigned asked_server(const struct row *r, const struct verb *v, const void *opts,
			     const char *const *files, size_t nfiles)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	if (r->writes & FETCHED && urls && *urls && !is_given(v, opts, "no-local"))
		return FETCHED;
	for (size_t i = 0; r->writes & EXTENSIONS && i < nfiles; i++)
		if (strstr(files[i], "://"))
			return EXTENSIONS;
	return 0;
}

/* --- places ----------------------------------------------------------------------------- */

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

/* The folder of a path, in dir[PATH_MAX]; of one without a slash ".". */
static void folder_of(const char *path, char *dir)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) + (slash == path) : 1;
	snprintf(dir, PATH_MAX, "%.*s", n, slash ? path : ".");
}

/* Allow the file's folder, because the file is created there under another name; of a device or
 * fifo the file itself, and of a folder the folder. */
static void allow_output(struct landlock *s, const char *path)
{
	char target[PATH_MAX], dir[PATH_MAX];
	struct stat st;
	path = outfile_target(path, target);
	path = dangling_target(path, target);
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode))) {
		landlock_allow_writing(s, path);
		return;
	}
	folder_of(path, dir);
	/* folders that are to be made */
	while (stat(dir, &st) && errno == ENOENT && strcmp(dir, ".") != 0) {
		char below[PATH_MAX];
		memcpy(below, dir, sizeof(below));
		folder_of(below, dir);
	}
	landlock_allow_writing(s, dir);
}

/* Allow only $TMPDIR if files can be created there; else the usual places, because SQLite has
 * its own order; the current directory if there is none. */
static void allow_scratch(struct landlock *s)
{
	const char *places[SCRATCH_PLACES];
	struct stat st;
	scratch_places(places);
	for (size_t i = 0, found = 0; i < SCRATCH_PLACES - !!found; i++) {
		if (stat(places[i], &st) || !S_ISDIR(st.st_mode) ||
		    access(places[i], W_OK | X_OK))
			continue;
		landlock_allow_writing(s, places[i]);
		if (i == 0 && strcmp(places[0], places[1]) != 0)
			return;
		found++;
	}
}

/* What may not read all of $TMPDIR gets a folder there, which it removes when it ends. */
static void allow_private(struct landlock *s)
{
	const char *path;
	char place[PATH_MAX];
	if (scratch_dir(&path, NULL) || setenv("TMPDIR", path, 1))
		return;
	landlock_allow_writing(s, path);
	folder_of(path, place);
	landlock_allow_rmdir(s, place);
}

static void allow_cache(struct landlock *s)
{
	char path[BUNDLE_CACHE_PATH];
	if (bundle_cache_dir(path))
		landlock_allow_writing(s, path);
}

/* The folder of debuginfod's client, in path[PATH_MAX]. */
static void fetched_folder(char *path, const char *home)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	if (own && *own) {
		snprintf(path, PATH_MAX, "%s", own);
		return;
	}
	snprintf(path, PATH_MAX, "%s/.debuginfod_client_cache", home);
	if (!access(path, F_OK))
		return;
	if (xdg && *xdg)
		snprintf(path, PATH_MAX, "%s/debuginfod_client", xdg);
	else
		snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home);
}

/* Make and allow the folder that what asks a server would make. */
static void allow_download(struct landlock *s, unsigned place)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	if (place == FETCHED)
		fetched_folder(path, home ? home : "");
	else
		snprintf(path, sizeof(path), "%s/.duckdb", home ? home : "");
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0700);
			*p = '/';
		}
	mkdir(path, 0700);
	landlock_allow_writing(s, path);
}

/* Returns how many outputs were named. */
static int allow_outputs(struct landlock *s, const struct verb *v, const void *opts)
{
	int n = 0;
	for (size_t t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++) {
			const char *target = (const char *)opts + o->at;
			if (o->kind != OPT_OUTPUT || !*(const char *const *)target)
				continue;
			allow_output(s, *(const char *const *)target);
			n++;
		}
	if (is_given(v, opts, "cp")) /* svg --cp keeps palette.map here */
		landlock_allow_writing(s, ".");
	return n;
}

/* --- entering --------------------------------------------------------------------------- */

static void allow_places(struct landlock *s, unsigned writes, const struct verb *v,
			 const void *opts)
{
	int outputs = writes & OUTPUTS ? allow_outputs(s, v, opts) : 0;
	if (writes & HERE && !outputs)
		landlock_allow_writing(s, ".");
	if (writes & SCRATCH)
		allow_scratch(s);
	if (writes & PRIVATE)
		allow_private(s);
	if (writes & CACHE && !is_given(v, opts, "no-cache"))
		allow_cache(s);
	if (writes & (FETCHED | EXTENSIONS))
		allow_download(s, writes & (FETCHED | EXTENSIONS));
}

int sandbox_enter(const struct verb *v, const void *opts, const char *const *files,
		  size_t nfiles, struct err *e)
{
	enum { TRUNCATE_ABI = 3 };
	const struct row *r = row_of(v, opts);
	struct landlock s = {0};
	if (!r || is_given(v, opts, "no-sandbox") || os_no_new_privileges())
		return 0;
	unsigned server = asked_server(r, v, opts, files, nfiles);
	unsigned may = r->may | (server ? MAY_CONNECT : 0);
	if (!(may & MAY_SEE_PROCESSES) && landlock_begin(&s, may)) {
		allow_places(&s, (r->writes & ~(FETCHED | EXTENSIONS)) | server, v, opts);
		for (size_t i = 0; i < nfiles; i++)
			landlock_allow_reading(&s, files[i]);
		landlock_allow_reading(&s, "/proc/self"); /* a leak checker counts threads */
		if (landlock_enter(&s) && landlock_abi() >= TRUNCATE_ABI)
			may |= HELD_TRUNCATE;
	}
	if (s.shortage) {
		errno = s.shortage;
		return err_sys(e, "cannot enter the sandbox (--no-sandbox runs without it)");
	}
	syscall_filter_enter(may);
	return 0;
}

void sandbox_describe(struct buf *out)
{
	int abi = landlock_abi(), filter = syscall_filter_exists();
	if (os_without_processes())
		buf_fmt(out, "that of %s", os_without_processes());
	else if (abi)
		buf_fmt(out, "Landlock ABI %d%s", abi, filter ? " + seccomp" : ", no seccomp");
	else
		buf_str(out, filter ? "seccomp, no Landlock" : "none in this kernel");
}
