#include "libtime/explain/app_frame.h"

#include <fnmatch.h>
#include <string.h>

enum { MAX_DEPTH = 512 }; /* nodes looked at above a stack's leaf */

void appframes_init(struct appframes *a, const struct stacks *s)
{
	*a = (struct appframes){.s = s};
}

void appframes_release(struct appframes *a)
{
	vec_release(&a->runtime);
	u64map_release(&a->app_node);
}

/* The libraries whose frames at the leaf say how a thread waits, not where. */
static int is_runtime(struct appframes *a, uint32_t dso)
{
	static const char *const globs[] = {"libc.so*",    "libc-*.so*",    "libpthread*.so*",
					    "ld-linux*",   "ld-*.so*",      "libstdc++.so*",
					    "libc++*.so*", "libuv.so*",     "libevent*.so*",
					    "libev.so*",   "libglib-*.so*", "ld-musl-*.so*",
					    "\\[vdso*\\]", "libgomp.so*",   "libm.so*"};
	while (a->runtime.n <= dso)
		if (vec_push(&a->runtime, 0))
			return ERR_NOMEM;
	if (!a->runtime.v[dso]) {
		const char *name = strtab_get(&a->s->strings, dso), *base = strrchr(name, '/');
		base = base ? base + 1 : name;
		a->runtime.v[dso] = 1;
		for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
			if (!fnmatch(globs[i], base, 0))
				a->runtime.v[dso] = 2;
	}
	return a->runtime.v[dso] == 2;
}

/* The C++ runtime is often a header, and a static libc has the program's own DSO. */
static int is_runtime_name(const char *name)
{
	static const char *const globs[] = {"std::*",
					    "__gnu_cxx::*",
					    "*pthread_cond_*wait*",
					    "*nanosleep*",
					    "*epoll_*wait*",
					    "*futex*wait*",
					    "__poll",
					    "poll",
					    "__select",
					    "usleep",
					    "sleep",
					    "*libc_read",
					    "*libc_recv*",
					    "*lll_lock_wait*",
					    "*syscall_cancel*",
					    "__wait4",
					    "__vdso_*",
					    "*pthread_*lock*",
					    "*pthread_barrier_*",
					    "*pthread_join*",
					    "*lll_lock*",
					    "*sem_wait*",
					    "__libc_*",
					    "__GI_*",
					    "fsync",
					    "fdatasync"};
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
		if (!fnmatch(globs[i], name, 0))
			return 1;
	return 0;
}

/* Where a thread begins: with frame pointers a leaf function of libc hides its caller, which
 * may leave nothing else of a base loop. */
static int is_start(const char *name)
{
	static const char *const globs[] = {"start_thread", "*clone*", "_start",
					    "*libc_start_*", "thread_start"};
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
		if (!fnmatch(globs[i], name, 0))
			return 1;
	return 0;
}

int appframe_is_outer(struct appframes *a, uint32_t id)
{
	const struct frame *f = &a->s->frames.v[id];
	if (f->kind == FRAME_KERNEL)
		return 0;
	/* a libc without symbols: its outermost frames are the thread's start */
	return f->name ? is_start(strtab_get(&a->s->strings, f->name)) : is_runtime(a, f->dso);
}

int appframe_node(struct appframes *a, uint32_t path, uint32_t *out)
{
	uint32_t p = path, start = 0;
	if (!path || u64map_get(&a->app_node, path, out))
		return path ? 0 : (*out = 0, 0);
	for (int n = 0; p && n < MAX_DEPTH; n++, p = a->s->paths.v[p].parent) {
		const struct frame *f = &a->s->frames.v[a->s->paths.v[p].frame];
		if (f->kind == FRAME_KERNEL)
			continue;
		const char *name = strtab_get(&a->s->strings, f->name);
		int runtime = is_runtime(a, f->dso);
		if (runtime < 0)
			return runtime;
		if ((!runtime && !is_runtime_name(name)) || is_start(name))
			break;
		/* a libc without symbols: its outermost frame is the thread's start */
		start = runtime && !f->name ? p : 0;
	}
	*out = p ? p : start;
	return u64map_put(&a->app_node, path, *out);
}

/* Functions that are named after the waiting itself tell less than whoever calls them. */
static int is_helper(const char *name)
{
	static const char *const globs[] = {
		"*sleep",    "*sleep_[mun]s", "*sleep_for*", "*sleep_until*", "[mun]s",
		"[mu]sec",   "nap",           "*_[mun]s",    "*delay",        "lock",
		"unlock",    "*::lock",       "*::unlock",   "*mutex_lock*",  "*mutex_unlock*",
		"spin_lock", "spin_unlock",   "futex_lock",  "futex_unlock",  "futex_wake*"};
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
		if (!fnmatch(globs[i], name, 0))
			return 1;
	return 0;
}

static const char *name_at(const struct appframes *a, uint32_t path)
{
	return strtab_get(&a->s->strings, a->s->frames.v[a->s->paths.v[path].frame].name);
}

/* The application frame that called `node`; 0 when that is the thread's start or no application
 * frame. */
static int caller_of(struct appframes *a, uint32_t node, uint32_t *up)
{
	uint32_t parent = a->s->paths.v[node].parent;
	int r = appframe_node(a, parent, up);
	if (!r && (*up != parent || !*up || is_start(name_at(a, *up))))
		*up = 0;
	return r;
}

int appframe_telling_path(struct appframes *a, uint32_t path, uint32_t *node)
{
	enum { STEPS = 4 };
	uint32_t up;
	int r = appframe_node(a, path, node);
	for (int i = 0; !r && *node && i < STEPS && is_helper(name_at(a, *node)); i++) {
		r = caller_of(a, *node, &up);
		if (r || !up)
			break;
		*node = up;
	}
	return r;
}

int appframe_is_called(struct appframes *a, uint32_t path)
{
	uint32_t node, up;
	int r = appframe_node(a, path, &node);
	if (r || !node || node != path)
		return r;
	r = appframe_node(a, a->s->paths.v[path].parent, &up);
	if (r || !up)
		return r;
	r = appframe_is_outer(a, a->s->paths.v[up].frame);
	return r < 0 ? r : !r;
}

int appframe_telling(struct appframes *a, uint32_t path, uint32_t *frame)
{
	uint32_t node;
	int r = appframe_telling_path(a, path, &node);
	*frame = r || !node ? 0 : a->s->paths.v[node].frame;
	return r;
}

/* How the kernel puts any thread off, whatever it waits for. */
static int is_scheduler(const char *name)
{
	static const char *const globs[] = {"*schedule*", "*cond_resched*", "__wait_for_common",
					    "wait_for_completion*", "*exit_to_user_mode*"};
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
		if (!fnmatch(globs[i], name, 0))
			return 1;
	return 0;
}

static int is_named(const struct stacks *s, uint32_t frame)
{
	return s->frames.v[frame].name && s->frames.v[frame].kind != FRAME_MARK;
}

int appframe_of_wait(struct appframes *a, uint32_t path, uint32_t *frame)
{
	const struct stacks *s = a->s;
	uint32_t best = 0, leaf = path ? s->paths.v[path].frame : 0;
	int r = appframe_telling(a, path, frame);
	int outer = r || !*frame ? r : appframe_is_outer(a, *frame);
	if (outer < 0 || (*frame && !outer && is_named(s, *frame)))
		return outer;
	for (int n = 0; path && n < MAX_DEPTH; n++, path = s->paths.v[path].parent) {
		uint32_t at = s->paths.v[path].frame;
		if (s->frames.v[at].kind == FRAME_KERNEL) {
			if (!best && !is_scheduler(name_at(a, path)))
				best = at;
			continue;
		}
		outer = appframe_is_outer(a, at);
		if (outer < 0)
			return outer;
		if (outer || !is_named(s, at))
			continue;
		best = at;
		break;
	}
	*frame = best ? best : leaf;
	return 0;
}

int appframe_caller(struct appframes *a, uint32_t path, uint32_t *frame)
{
	uint32_t node, up = 0;
	int r = appframe_telling_path(a, path, &node);
	if (!r && node)
		r = caller_of(a, node, &up);
	*frame = r || !up ? 0 : a->s->paths.v[up].frame;
	return r;
}
