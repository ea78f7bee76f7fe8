/*
 * Files by build-id from debuginfod servers. libdebuginfod is loaded when first needed, so that
 * perfkit runs without it; nothing is asked unless DEBUGINFOD_URLS is set. Timeouts, the cache
 * and its negative answers are the library's (DEBUGINFOD_TIMEOUT, DEBUGINFOD_CACHE_PATH).
 */
#include "libsym/dsofind_impl.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*begin_fn)(void);
typedef void (*end_fn)(void *);
typedef int (*find_fn)(void *, const unsigned char *, int, char **);

struct client {
	void *handle;
	end_fn end;
	find_fn find;
};

static int client_open(struct client *c, const char *what)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return 0;
	begin_fn begin = (begin_fn)dlsym(lib, "debuginfod_begin");
	c->end = (end_fn)dlsym(lib, "debuginfod_end");
	c->find =
		(find_fn)dlsym(lib, !strcmp(what, "executable") ? "debuginfod_find_executable"
								: "debuginfod_find_debuginfo");
	c->handle = begin && c->end && c->find ? begin() : NULL;
	return c->handle != NULL;
}

struct elf_file *dso_try_debuginfod(struct dso_search *s, const char *what)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct client c = {0};
	struct elf_file *f = NULL;
	char *path = NULL;
	if (!urls || !*urls || !s->want.len || !client_open(&c, what))
		return NULL;
	int fd = c.find(c.handle, s->want.v, s->want.len, &path);
	if (fd >= 0) {
		close(fd);
		dso_path(s, "%s", path ? path : "");
		f = dso_try(s, 0);
	}
	mem_free(path);
	c.end(c.handle); /* the library stays loaded: libcurl does not like to go */
	return f;
}
