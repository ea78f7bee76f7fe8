#include "libtime/causes/app_frame.h"

#include <string.h>

enum {
	MAX_NODES = 512, /* looked at per stack, from the leaf */
	NOT_APPLICATION = ROLE_RUNTIME | ROLE_OPAQUE,
};

static uint32_t frame_at(const struct timeline *tl, uint32_t path)
{
	return tl->stacks->paths.v[path].frame;
}

static unsigned roles_at(const struct timeline *tl, uint32_t path)
{
	return timeline_roles(tl, frame_at(tl, path));
}

static int is_kernel(const struct timeline *tl, uint32_t frame)
{
	return tl->stacks->frames.v[frame].kind == FRAME_KERNEL;
}

int appframe_is_outer(const struct timeline *tl, uint32_t frame)
{
	unsigned roles = timeline_roles(tl, frame);
	/* a libc without symbols: its outermost frames are the thread's start */
	return roles & ROLE_START ||
	       (roles & ROLE_RUNTIME && !tl->stacks->frames.v[frame].name);
}

uint32_t appframe_node(const struct timeline *tl, uint32_t path)
{
	uint32_t start = 0;
	for (int n = 0; path && n < MAX_NODES; n++, path = tl->stacks->paths.v[path].parent) {
		uint32_t frame = frame_at(tl, path);
		unsigned roles = timeline_roles(tl, frame);
		if (is_kernel(tl, frame))
			continue;
		if (!(roles & NOT_APPLICATION) || roles & ROLE_START)
			return path;
		start = appframe_is_outer(tl, frame) ? path : 0;
	}
	return path ? 0 : start;
}

/* The node of the application frame that called `node`; 0 if that is the thread's start or not
 * of the application. */
static uint32_t caller_of(const struct timeline *tl, uint32_t node)
{
	uint32_t parent = tl->stacks->paths.v[node].parent, up = appframe_node(tl, parent);
	return up != parent || !up || roles_at(tl, up) & ROLE_START ? 0 : up;
}

/* 1 if the caller's name says more about where a thread with this stack is. */
static int gives_way(const struct timeline *tl, uint32_t node, uint32_t path)
{
	unsigned roles = roles_at(tl, node);
	return roles & ROLE_WRAPPER || (roles & ROLE_SHARED_INLINE && node != path);
}

uint32_t appframe_reported_path(const struct timeline *tl, uint32_t path)
{
	enum { STEPS = 4 };
	uint32_t node = appframe_node(tl, path);
	for (int i = 0; node && i < STEPS && gives_way(tl, node, path); i++) {
		uint32_t up = caller_of(tl, node);
		if (!up)
			break;
		node = up;
	}
	return node;
}

int appframe_is_called(const struct timeline *tl, uint32_t path)
{
	uint32_t node = appframe_node(tl, path), up;
	if (!node || node != path)
		return 0;
	up = appframe_node(tl, tl->stacks->paths.v[path].parent);
	return up && !appframe_is_outer(tl, frame_at(tl, up));
}

uint32_t appframe_reported(const struct timeline *tl, uint32_t path)
{
	uint32_t node = appframe_reported_path(tl, path);
	return node ? frame_at(tl, node) : 0;
}

static int is_named(const struct stacks *s, uint32_t frame)
{
	return s->frames.v[frame].name && s->frames.v[frame].kind != FRAME_MARK;
}

uint32_t appframe_of_wait(const struct timeline *tl, uint32_t path)
{
	const struct stacks *s = tl->stacks;
	uint32_t kernel = 0, leaf = path ? frame_at(tl, path) : 0;
	uint32_t telling = appframe_reported(tl, path);
	if (telling && !appframe_is_outer(tl, telling) && is_named(s, telling))
		return telling;
	for (int n = 0; path && n < MAX_NODES; n++, path = s->paths.v[path].parent) {
		uint32_t at = frame_at(tl, path);
		if (!is_kernel(tl, at)) {
			if (!appframe_is_outer(tl, at) && is_named(s, at))
				return at;
		} else if (!kernel &&
			   !(timeline_roles(tl, at) & (ROLE_SCHEDULER | ROLE_HELPER))) {
			kernel = at;
		}
	}
	return kernel ? kernel : leaf;
}

uint32_t appframe_caller(const struct timeline *tl, uint32_t path)
{
	uint32_t node = appframe_reported_path(tl, path);
	uint32_t up = node ? caller_of(tl, node) : 0;
	return up ? frame_at(tl, up) : 0;
}

uint32_t appframe_named_caller(const struct timeline *tl, uint32_t path)
{
	const struct frame *frames = tl->stacks->frames.v;
	uint32_t node = appframe_reported_path(tl, path), up = node ? caller_of(tl, node) : 0;
	uint32_t name = up ? frames[frame_at(tl, up)].name : 0;
	return name && name != frames[frame_at(tl, node)].name && appframe_is_called(tl, up)
		       ? frame_at(tl, up)
		       : 0;
}

uint32_t appframe_of_sleep(const struct timeline *tl, uint32_t path)
{
	enum { STEPS = 4 };
	const struct stacks *s = tl->stacks;
	uint32_t node = appframe_reported_path(tl, path), first = node;
	for (int i = 0; node && i <= STEPS; i++, node = caller_of(tl, node)) {
		uint32_t name = s->frames.v[frame_at(tl, node)].name;
		if (name && !strcasestr(strtab_get(&s->strings, name), "sleep"))
			return frame_at(tl, node);
	}
	return first ? frame_at(tl, first) : 0;
}
