/*
 * Files by build-id from debuginfod servers. libdebuginfod is loaded on first use, so that
 * perfkit runs without it; no server is asked unless DEBUGINFOD_URLS is set. The library
 * handles the cache and its negative answers (DEBUGINFOD_CACHE_PATH), and gives up on a server
 * that is silent or very slow (DEBUGINFOD_TIMEOUT). It has no bound on the bytes that a server
 * sends, nor on how often it is silent: those are here.
 */
#include "libsym/elf/dso_find_internal.h"

#include "base/mem.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef void *(*begin_fn)(void);
typedef void (*end_fn)(void *);
typedef int (*find_fn)(void *, const unsigned char *, int, char **);
typedef int (*find_source_fn)(void *, const unsigned char *, int, const char *, char **);
typedef int (*progress_fn)(void *, long, long);
typedef void (*set_progress_fn)(void *, progress_fn);
typedef void (*set_data_fn)(void *, void *);
typedef void *(*get_data_fn)(void *);
typedef const char *(*get_url_fn)(void *);

/* A server that goes beyond these is not asked again in this run. */
enum {
	PATIENCE_S = 90, /* for an answer, as the library's own DEBUGINFOD_TIMEOUT */
	SLOWEST = 10000, /* bytes a second, after that */
	LONGEST_S = 3600,
};
static const int64_t LARGEST = (int64_t)4 << 30; /* bytes of a file, as it is unpacked */
static atomic_int given_up;

struct client {
	void *handle;
	end_fn end;
	find_fn find;
	find_source_fn find_source; /* of source texts, instead of `find` */
	get_url_fn get_url;         /* NULL if this libdebuginfod is older */
	const struct dso_options *opt;
	struct dso_fetch fetch;
	int asked; /* a server was */
	int64_t begun, patience, largest;
	int64_t looked, written; /* when its file was looked at, and how large that was */
	char folder[2 * BUILD_ID_MAX + 3]; /* of its file in the cache: "/ID/" */
};

/* The client of a handle: callbacks get only the handle. */
static struct client *client_of(void *handle)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NOLOAD);
	get_data_fn get = lib ? (get_data_fn)dlsym(lib, "debuginfod_get_user_data") : NULL;
	struct client *c = get ? get(handle) : NULL;
	if (lib)
		dlclose(lib);
	return c;
}

static int64_t now_s(void)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int64_t patience_s(void)
{
	const char *own = getenv("DEBUGINFOD_TIMEOUT");
	long s = own ? strtol(own, NULL, 10) : 0;
	return s > 0 && s < LONGEST_S ? s : PATIENCE_S;
}

static int64_t largest(void)
{
	const char *own =
		getenv("DEBUGINFOD_MAXSIZE"); /* which the library asks of what is announced */
	long long n = own ? strtoll(own, NULL, 10) : 0;
	return n > 0 && n < LARGEST ? n : LARGEST;
}

/* Look how large the file is that the library writes: it unpacks what a server has compressed,
 * and tells how much came. It opens the file itself; nothing else is open in that folder. */
static void look_at_file(struct client *c)
{
	int64_t now = now_s();
	DIR *d = now > c->looked ? opendir("/proc/self/fd") : NULL;
	for (const struct dirent *x; d && (x = readdir(d));) {
		char path[PATH_MAX];
		struct stat st;
		ssize_t n = readlinkat(dirfd(d), x->d_name, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		if (strstr(path, c->folder) && !fstat(atoi(x->d_name), &st))
			c->written = st.st_size;
	}
	if (d)
		closedir(d);
	c->looked = now;
}

/* 1 if it is too much or takes too long. `done` is a small number while nothing is known. */
static int is_beyond(struct client *c, int64_t done, int64_t total)
{
	int64_t took = now_s() - c->begun;
	look_at_file(c);
	return done > c->largest || total > c->largest || c->written > c->largest ||
	       took > LONGEST_S || (took > c->patience && done / took < SLOWEST);
}

static int on_progress(void *handle, long done, long total)
{
	struct client *c = client_of(handle);
	if (!c)
		return 0;
	if (is_beyond(c, done, total)) {
		given_up = 1;
		return 1;
	}
	if (!c->opt->fetching)
		return 0;
	const char *url = c->get_url ? c->get_url(handle) : NULL;
	c->asked = 1;
	/* without a total `done` is not in bytes */
	c->fetch.total = total > 0 ? (uint64_t)total : 0;
	c->fetch.done = total > 0 && done > 0 ? (uint64_t)done : 0;
	if (url)
		c->fetch.url = url;
	c->opt->fetching(c->opt->fetching_ctx, &c->fetch);
	return 0;
}

static void watch(struct client *c, void *lib)
{
	set_progress_fn set = (set_progress_fn)dlsym(lib, "debuginfod_set_progressfn");
	set_data_fn set_data = (set_data_fn)dlsym(lib, "debuginfod_set_user_data");
	if (!set || !set_data)
		return;
	c->get_url = (get_url_fn)dlsym(lib, "debuginfod_get_url");
	set_data(c->handle, c);
	set(c->handle, on_progress);
}

/* Load the library's function for fetch.what. */
static int client_open(struct client *c)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return 0;
	begin_fn begin = (begin_fn)dlsym(lib, "debuginfod_begin");
	c->end = (end_fn)dlsym(lib, "debuginfod_end");
	if (!strcmp(c->fetch.what, "source"))
		c->find_source = (find_source_fn)dlsym(lib, "debuginfod_find_source");
	else
		c->find = (find_fn)dlsym(lib, !strcmp(c->fetch.what, "executable")
						      ? "debuginfod_find_executable"
						      : "debuginfod_find_debuginfo");
	c->handle = begin && c->end && (c->find || c->find_source) ? begin() : NULL;
	if (c->handle)
		watch(c, lib);
	return c->handle != NULL;
}

/* The open file, with its path (heap), or -1. Only client_close follows. */
static int fetch(struct client *c, const struct build_id *id, char **path)
{
	char hex[2 * BUILD_ID_MAX + 1];
	c->fetch.url = getenv("DEBUGINFOD_URLS");
	if (!c->fetch.url || !*c->fetch.url || !id->len || given_up || !client_open(c))
		return -1;
	c->patience = patience_s();
	c->largest = largest();
	snprintf(c->folder, sizeof(c->folder), "/%s/", build_id_hex(id, hex));
	c->begun = now_s();
	int fd = c->find_source ? c->find_source(c->handle, id->v, id->len, c->fetch.path, path)
				: c->find(c->handle, id->v, id->len, path);
	if (fd < 0 && now_s() - c->begun >= c->patience)
		given_up = 1;
	return fd;
}

/* Say how it ended; `size` of what was found, 0: nothing. */
static void client_close(struct client *c, uint64_t size)
{
	if (!c->handle)
		return;
	c->fetch.gave_up = given_up;
	if (c->opt->fetching && (c->asked || given_up)) {
		c->fetch.ended = 1;
		c->fetch.found = size > 0;
		if (size)
			c->fetch.done = c->fetch.total = size;
		c->opt->fetching(c->opt->fetching_ctx, &c->fetch);
	}
	c->end(c->handle); /* the library stays loaded: unloading libcurl is not safe */
}

struct elf_file *dso_try_debuginfod(struct dso_search *s, const char *what)
{
	struct client c = {.opt = s->opt,
			   .fetch = {.what = what, .path = s->name ? s->name : ""}};
	struct elf_file *f = NULL;
	char *path = NULL;
	int fd = fetch(&c, &s->want, &path);
	if (fd >= 0) {
		close(fd);
		dso_path(s, "%s", path ? path : "");
		s->by_caller = 1;
		f = dso_try(s, 0);
	}
	client_close(&c, f ? f->size : 0);
	mem_free(path);
	return f;
}

int debuginfod_source(const struct dso_options *opt, const struct build_id *id,
		      const char *path)
{
	struct client c = {.opt = opt, .fetch = {.what = "source", .path = path}};
	struct stat st;
	char *cached = NULL;
	int fd = opt->debuginfod ? fetch(&c, id, &cached) : -1;
	client_close(&c, fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0);
	mem_free(cached);
	return fd;
}
