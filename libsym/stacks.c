#include "libsym/stacks.h"

#include <string.h>

static uint64_t frame_hash(const struct frame *f)
{
	uint64_t h = hash_u64(hash_seed() ^ ((uint64_t)f->name << 32 | f->dso));
	h = hash_u64(h ^ ((uint64_t)f->srcfile << 32 | f->line));
	h = hash_u64(h ^ f->addr ^ (uint64_t)f->kind << 56 ^ (uint64_t)f->flags << 48);
	return f->at ? hash_u64(h ^ f->at) : h;
}

static int frame_equal(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->dso == b->dso && a->srcfile == b->srcfile &&
	       a->line == b->line && a->addr == b->addr && a->kind == b->kind &&
	       a->flags == b->flags && a->at == b->at;
}

int stacks_frame(struct stacks *s, const struct frame *f, uint32_t *id)
{
	if (!s->frames.n && vec_push(&s->frames, (struct frame){0}))
		return ERR_NOMEM;
	uint64_t h = frame_hash(f);
	size_t at = 0;
	while (idmap_next(&s->frame_index, h, &at, id))
		if (frame_equal(&s->frames.v[*id], f))
			return 0;
	if (vec_push(&s->frames, *f))
		return ERR_NOMEM;
	*id = (uint32_t)(s->frames.n - 1);
	if (idmap_put(&s->frame_index, h, *id)) {
		s->frames.n--;
		return ERR_NOMEM;
	}
	return 0;
}

int stacks_append(struct stacks *s, uint32_t parent, uint32_t frame, uint32_t *path)
{
	struct call_path p = {.parent = parent, .frame = frame};
	if ((!s->paths.n && vec_push(&s->paths, (struct call_path){0})) ||
	    s->paths.n >= UINT32_MAX || vec_push(&s->paths, p))
		return ERR_NOMEM;
	*path = (uint32_t)(s->paths.n - 1);
	return 0;
}

static uint64_t path_key(uint32_t parent, uint32_t frame)
{
	return (uint64_t)parent << 32 | frame;
}

static int index_paths(struct stacks *s)
{
	for (s->indexed += !s->indexed; s->indexed < s->paths.n; s->indexed++) {
		const struct call_path *p = &s->paths.v[s->indexed];
		if (u64map_put(&s->path_index, path_key(p->parent, p->frame),
			       (uint32_t)s->indexed))
			return ERR_NOMEM;
	}
	return 0;
}

int stacks_push(struct stacks *s, uint32_t parent, uint32_t frame, uint32_t *path)
{
	if (index_paths(s))
		return ERR_NOMEM;
	if (u64map_get(&s->path_index, path_key(parent, frame), path))
		return 0;
	return stacks_append(s, parent, frame, path) ? ERR_NOMEM : index_paths(s);
}

int stacks_path(struct stacks *s, struct last_stack *last, const uint32_t *frames, size_t n,
		uint32_t *path)
{
	size_t i = 0;
	while (i < n && i < last->v.n && last->v.v[i].frame == frames[i])
		i++;
	*path = i ? last->v.v[i - 1].path : 0;
	last->v.n = i;
	for (; i < n; i++)
		if (stacks_push(s, *path, frames[i], path) ||
		    vec_push(&last->v, ((struct last_frame){frames[i], *path})))
			return ERR_NOMEM;
	return 0;
}

int stacks_mark(struct stacks *s, const char *text, uint32_t *path)
{
	struct frame f = {.kind = FRAME_MARK};
	uint32_t id;
	if (strtab_intern(&s->strings, text, &f.name) || stacks_frame(s, &f, &id))
		return ERR_NOMEM;
	return stacks_push(s, *path, id, path);
}

int stacks_note_build_id(struct stacks *s, uint32_t dso, const char *hex)
{
	uint32_t id, known;
	if (strtab_intern(&s->strings, hex, &id))
		return ERR_NOMEM;
	if (u64map_get(&s->build_ids, dso, &known) && known != id)
		id = 0;
	return u64map_put(&s->build_ids, dso, id);
}

const char *stacks_build_id(const struct stacks *s, uint32_t dso)
{
	uint32_t id;
	return strtab_get(&s->strings, u64map_get(&s->build_ids, dso, &id) ? id : 0);
}

size_t stacks_depth(const struct stacks *s, uint32_t path)
{
	size_t n = 0;
	for (; path && path < s->paths.n; path = s->paths.v[path].parent)
		n++;
	return n;
}

size_t stacks_frames(const struct stacks *s, uint32_t path, uint32_t *out, size_t max)
{
	size_t depth = stacks_depth(s, path), i = depth;
	for (; path && path < s->paths.n; path = s->paths.v[path].parent) {
		i--;
		if (i < max)
			out[i] = s->paths.v[path].frame;
	}
	return depth;
}

void stacks_release(struct stacks *s)
{
	strtab_release(&s->strings);
	vec_release(&s->frames);
	vec_release(&s->paths);
	idmap_release(&s->frame_index);
	u64map_release(&s->build_ids);
	u64map_release(&s->path_index);
	s->indexed = 0;
}
