#include "render/flame/flame_match.h"
#include "render/flame/flame_runs.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "libsym/name/match.h"

#include <string.h>

/* Which profiles have each node. NULL: no memory. */
static uint8_t *sides_of(const struct flame *f)
{
	uint8_t *sides = mem_zalloc(f->nodes.n, 1);
	for (size_t i = f->nodes.n; sides && i-- > 0;) {
		const struct flame_node *n = &f->nodes.v[i];
		sides[i] |= (n->v[0] ? MATCH_AFTER : 0) | (n->v[1] ? MATCH_BEFORE : 0);
		sides[n->parent] |= sides[i];
	}
	return sides;
}

static enum match_group group_of(const struct flame_frame *fr, int thread)
{
	switch (fr->kind) {
	case FLAME_USER:
		return thread && !fr->dso ? MATCH_THREAD : MATCH_USER;
	case FLAME_INLINED:
	case FLAME_WAKER:
		return MATCH_USER;
	case FLAME_KERNEL:
		return MATCH_KERNEL;
	case FLAME_JIT:
		return MATCH_JIT;
	default:
		return MATCH_OTHER;
	}
}

/* 1 for a frame that has only its module's name. */
static int is_unnamed(const struct flame *f, const struct flame_frame *fr)
{
	const char *name = strtab_get(&f->strings, fr->name);
	const char *base = path_base(strtab_get(&f->strings, fr->dso));
	size_t n = strlen(base);
	return fr->dso && *name == '[' && !strncmp(name + 1, base, n) &&
	       !strcmp(name + 1 + n, "]");
}

static int add_frame(struct match *m, const struct flame *f, uint32_t frame, unsigned sides,
		     int thread, struct buf *text)
{
	const struct flame_frame *fr = &f->frames.v[frame];
	size_t n;
	const char *name = flame_name(f, fr, &n);
	buf_clear(text);
	buf_add(text, name, is_unnamed(f, fr) ? 0 : flame_label_len(name, n));
	struct match_frame mf = {.name = buf_cstr(text),
				 .dso = strtab_get(&f->strings, fr->dso),
				 .src = strtab_get(&f->strings, fr->src),
				 .addr = fr->addr,
				 .group = group_of(fr, thread),
				 .inlined = fr->kind == FLAME_INLINED,
				 .sides = sides};
	return buf_failed(text) || match_add(m, &mf) ? ERR_NOMEM : 0;
}

/* Each frame as an item of `m` with the same number. */
static int add_frames(struct match *m, const struct flame *f, const uint8_t *sides, int threads)
{
	uint8_t *of = mem_zalloc(f->frames.n, 1), *thread = mem_zalloc(f->frames.n, 1);
	struct buf text = {0};
	int rc = of && thread ? 0 : ERR_NOMEM;
	for (size_t i = 1; !rc && i < f->nodes.n; i++) {
		const struct flame_node *n = &f->nodes.v[i];
		of[n->frame] |= sides[i];
		thread[n->frame] |= threads && !n->parent;
	}
	for (uint32_t i = 0; !rc && i < f->frames.n; i++)
		rc = add_frame(m, f, i, of[i], thread[i], &text);
	buf_release(&text);
	mem_free(of);
	mem_free(thread);
	return rc;
}

/* The frame that is drawn for each. A waker's stays one, whatever else calls the function. */
static int frame_for(struct flame *f, const struct match *m, uint32_t frame, uint32_t *to)
{
	uint32_t same = match_of(m, frame);
	*to = same;
	if (same == UINT32_MAX || same == frame)
		return 0;
	struct flame_frame fr = f->frames.v[same];
	uint32_t kind = f->frames.v[frame].kind;
	if ((fr.kind == FLAME_WAKER) == (kind == FLAME_WAKER))
		return 0;
	fr.kind = kind;
	return flame_frame(f, &fr, to);
}

static int rebuild(struct flame *f, const struct match *m)
{
	size_t n = f->nodes.n;
	uint32_t *to = mem_zalloc(n, sizeof(*to)); /* by old node */
	struct flame_node *old = mem_alloc(n * sizeof(*old));
	uint64_t stacks = f->stacks, deep = f->deep;
	int rc = to && old ? 0 : ERR_NOMEM;
	if (!rc) {
		memcpy(old, f->nodes.v, n * sizeof(*old));
		rc = flame_restart(f);
	}
	if (!rc)
		memcpy(f->nodes.v[0].v, old[0].v, sizeof(old[0].v));
	for (size_t i = 1; i < n && !rc; i++) {
		uint32_t frame, parent = to[old[i].parent];
		rc = frame_for(f, m, old[i].frame, &frame);
		to[i] = parent;
		if (!rc && frame != UINT32_MAX)
			rc = flame_child(f, parent, frame, &to[i]);
		for (int s = 0; s < 2 && !rc && to[i]; s++)
			f->nodes.v[to[i]].v[s] += old[i].v[s];
	}
	rc = rc ? rc : flame_runs_moved(f, to, n);
	f->stacks = stacks;
	f->deep = deep;
	mem_free(to);
	mem_free(old);
	return rc;
}

int flame_match(struct flame *f, int threads, struct buf *notes, struct err *e)
{
	struct match m = {.text = {0}};
	uint8_t *sides = sides_of(f);
	int rc = sides ? add_frames(&m, f, sides, threads) : ERR_NOMEM;
	rc = rc ? rc : match_finish(&m);
	if (!rc)
		match_notes(&m, notes);
	rc = rc ? rc : rebuild(f, &m);
	match_release(&m);
	mem_free(sides);
	return rc ? err_nomem(e) : 0;
}
