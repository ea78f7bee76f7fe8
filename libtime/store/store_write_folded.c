/* store_write_folded.c - the sums of samples by event, thread name and folded path: what collapse
 * and svg show of a store, and v_folded_oncpu. See store_encode.h. */
#include "base/mem.h"
#include "base/text/path.h"
#include "libtime/store/store_encode.h"

/* Two trees with the stacks of samples: one has folded paths, the other their texts. */
struct folding {
	const struct timeline *tl;
	struct stacks tree, texts;
	uint32_t *path;  /* of each call path: its folded path, 0: samples do not have it */
	uint32_t *frame; /* of each frame: the tree's, 0: not yet */
	VEC(uint32_t)
	first; /* of each of the tree's frames: the first frame that it stands for, */
	VEC(uint32_t) shown;   /* and the frame of `texts` */
	VEC(uint32_t) text_of; /* of each folded path: its path in `texts`, */
	VEC(uint32_t) same;    /* and of each of those: the first folded path */
	VEC(struct folded_sum) sums;
	struct u64map group;  /* event << 32 | name → their number */
	struct u64map sum_of; /* group << 32 | folded path → sum */
};

/* --- frames ---------------------------------------------------------------------------- */

/* A frame that is equal for all frames with this one's text. */
static int text_frame(struct folding *f, const struct frame *x, uint32_t *id)
{
	struct frame t = {.name = x->name};
	const char *dso = strtab_get(&f->tl->stacks->strings, x->dso);
	if (!x->name && x->dso && strtab_intern(&f->texts.strings, path_base(dso), &t.dso))
		return ERR_NOMEM;
	return stacks_frame(&f->texts, &t, id);
}

/* The tree's frame for one of the timeline. */
static int fold_frame(struct folding *f, uint32_t frame, uint32_t *id)
{
	struct frame x = f->tl->stacks->frames.v[frame];
	uint32_t shown;
	if ((*id = f->frame[frame]) != 0)
		return 0;
	if (!frame_is_named(&x))
		x.addr = 0;
	if (stacks_frame(&f->tree, &x, id))
		return ERR_NOMEM;
	f->frame[frame] = *id;
	while (f->first.n < *id) /* the tree's frame 0 is a dummy */
		if (vec_push(&f->first, 0) || vec_push(&f->shown, 0))
			return ERR_NOMEM;
	if (f->first.n > *id)
		return 0;
	return text_frame(f, &x, &shown) || vec_push(&f->first, frame) ||
	       vec_push(&f->shown, shown);
}

/* --- paths ----------------------------------------------------------------------------- */

/* Note the text of a path that is new in the tree. */
static int note_text(struct folding *f, uint32_t path, uint32_t parent, uint32_t frame)
{
	uint32_t text;
	if (stacks_push(&f->texts, f->text_of.v[parent], f->shown.v[frame], &text) ||
	    vec_push(&f->text_of, text))
		return ERR_NOMEM;
	return text == f->same.n ? vec_push(&f->same, path) : 0;
}

static int fold_path(struct folding *f, uint32_t path)
{
	const struct call_path *p = &f->tl->stacks->paths.v[path];
	uint32_t parent = f->path[p->parent], frame, id;
	if (fold_frame(f, p->frame, &frame) || stacks_push(&f->tree, parent, frame, &id))
		return ERR_NOMEM;
	f->path[path] = id;
	return id == f->text_of.n ? note_text(f, id, parent, frame) : 0;
}

/* Fold all paths of the sums. Parents have smaller numbers than their children. */
static int fold_paths(struct folding *f, const struct sample_sum *sums, size_t n)
{
	const struct stacks *s = f->tl->stacks;
	f->path = mem_zalloc(s->paths.n + 1, sizeof(*f->path));
	f->frame = mem_zalloc(s->frames.n + 1, sizeof(*f->frame));
	if (!f->path || !f->frame || vec_push(&f->text_of, 0) || vec_push(&f->same, 0))
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		f->path[sums[i].path] = 1;
	for (size_t i = s->paths.n; i-- > 1;)
		if (f->path[i])
			f->path[s->paths.v[i].parent] = 1;
	f->path[0] = 0;
	for (size_t i = 1; i < s->paths.n; i++)
		if (f->path[i] && fold_path(f, (uint32_t)i))
			return ERR_NOMEM;
	return 0;
}

static int write_paths(struct writing *l, const struct folding *f)
{
	int r = 0;
	for (size_t i = 1; !r && i < f->tree.paths.n; i++) {
		const struct call_path *p = &f->tree.paths.v[i];
		uint32_t first = f->same.v[f->text_of.v[i]];
		struct folded_path row = {.path = {p->parent, f->first.v[p->frame]},
					  .first = first == i ? 0 : first};
		r = writing_row(l, TABLE_FOLDED_PATHS, &row);
	}
	return r;
}

/* --- sums ------------------------------------------------------------------------------ */

/* The number of a key, which is n if it is new. */
static int number_of(struct u64map *m, uint64_t key, size_t n, uint32_t *number)
{
	if (u64map_get(m, key, number))
		return 0;
	*number = (uint32_t)n;
	return u64map_put(m, key, *number);
}

static int add_sum(struct folding *f, const struct sample_task *t, const struct sample_sum *x)
{
	struct folded_sum sum = {.comm = t->comm, .path = f->path[x->path], .event = t->event};
	uint32_t group, at;
	if (number_of(&f->group, (uint64_t)t->event << 32 | t->comm, f->group.n, &group) ||
	    number_of(&f->sum_of, (uint64_t)group << 32 | sum.path, f->sums.n, &at) ||
	    (at == f->sums.n && vec_push(&f->sums, sum)))
		return ERR_NOMEM;
	f->sums.v[at].samples += x->samples;
	f->sums.v[at].weight += x->weight;
	return 0;
}

static int fold_sums(struct folding *f, const struct sample_task *tasks,
		     const struct sample_sum *sums, size_t n)
{
	int r = fold_paths(f, sums, n);
	for (size_t i = 0; !r && i < n; i++)
		r = add_sum(f, &tasks[sums[i].task], &sums[i]);
	return r;
}

int folding_make(struct folding **out, const struct timeline *tl,
		 const struct sample_task *tasks, const struct sample_sum *sums, size_t n)
{
	struct folding *f = mem_zalloc(1, sizeof(*f));
	*out = NULL;
	if (!f)
		return ERR_NOMEM;
	f->tl = tl;
	if (n && fold_sums(f, tasks, sums, n)) {
		folding_free(f);
		return ERR_NOMEM;
	}
	*out = f;
	return 0;
}

void folding_free(struct folding *f)
{
	if (!f)
		return;
	stacks_release(&f->tree);
	stacks_release(&f->texts);
	mem_free(f->path);
	mem_free(f->frame);
	vec_release(&f->first);
	vec_release(&f->shown);
	vec_release(&f->text_of);
	vec_release(&f->same);
	vec_release(&f->sums);
	u64map_release(&f->group);
	u64map_release(&f->sum_of);
	mem_free(f);
}

int write_folded(struct writing *l, const struct folding *f)
{
	int r = write_paths(l, f);
	for (size_t i = 0; !r && i < f->sums.n; i++)
		r = writing_row(l, TABLE_FOLDED_SUMS, &f->sums.v[i]);
	return r;
}
