#include "render/export/export_rows.h"
#include "base/mem.h"
#include "base/text/path.h"

#include <stdlib.h>
#include <string.h>

int export_rows_column(struct export_rows *r, const struct export_column *c)
{
	return vec_push(&r->columns, *c);
}

int export_rows_same_thread(const struct export_row *a, const struct export_row *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid;
}

static int same_cause(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

int export_rows_same_stack(const struct export_row *a, const struct export_row *b)
{
	return export_rows_same_thread(a, b) && a->path == b->path && a->cgroup == b->cgroup &&
	       a->labels == b->labels && same_cause(a->cause, b->cause);
}

static uint64_t hash_row(const struct export_row *r)
{
	uint64_t h = hash_u64((uint64_t)r->comm << 32 | r->path);
	h = hash_u64(h ^ ((uint64_t)(uint32_t)r->pid << 32 | (uint32_t)r->tid));
	h = hash_u64(h ^ ((uint64_t)r->cgroup << 32 | r->column));
	return r->labels ? hash_u64(h ^ r->labels) : h;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static int add_row(struct export_rows *r, const struct export_row *row)
{
	uint64_t h = hash_row(row);
	size_t at = 0;
	for (uint32_t id; idmap_next(&r->index, h, &at, &id);) {
		struct export_row *x = &r->v.v[id];
		if (x->column != row->column || !export_rows_same_stack(x, row))
			continue;
		x->value = sum(x->value, row->value);
		x->count = sum(x->count, row->count);
		return 0;
	}
	if (vec_push(&r->v, *row))
		return ERR_NOMEM;
	return idmap_put(&r->index, h, (uint32_t)(r->v.n - 1));
}

/* The frames of `from` below *path: root first, or the other way round. */
static int push_frames(struct stacks *s, uint32_t from, int reverse, uint32_t *path)
{
	size_t n = stacks_depth(s, from);
	uint32_t *frames = mem_alloc((n + 1) * sizeof(*frames));
	int rc = frames ? 0 : ERR_NOMEM;
	if (!rc)
		stacks_frames(s, from, frames, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = stacks_push(s, *path, frames[reverse ? n - 1 - i : i], path);
	mem_free(frames);
	return rc;
}

/* "--", the waker's stack from leaf to root, its name; or the interrupt it was. */
static int push_waker(struct stacks *s, const struct row_waker *w, uint32_t *path)
{
	if (stacks_mark(s, "--", path) || push_frames(s, w->path, 1, path))
		return ERR_NOMEM;
	return stacks_mark(s, w->name, path);
}

static int push_marks(struct stacks *s, const struct stack_row *row, uint32_t *path)
{
	*path = row->of.path;
	if (row->below) {
		*path = 0;
		if (stacks_mark(s, row->below, path) || push_frames(s, row->of.path, 0, path))
			return ERR_NOMEM;
	}
	if (row->above && stacks_mark(s, row->above, path))
		return ERR_NOMEM;
	for (size_t i = 0; i < row->nwakers; i++)
		if (push_waker(s, &row->wakers[i], path))
			return ERR_NOMEM;
	return 0;
}

int export_rows_stack(struct export_rows *r, struct stacks *stacks, const struct stack_row *row,
		      uint32_t column)
{
	const struct folded *f = &row->of;
	struct export_row x = {.comm = f->comm,
			       .cgroup = f->cgroup == NO_ID ? 0 : f->cgroup,
			       .labels = f->label,
			       .pid = f->pid,
			       .tid = f->tid,
			       .cause = row->cause,
			       .column = column,
			       .value = f->weight,
			       .count = f->samples};
	return push_marks(stacks, row, &x.path) ? ERR_NOMEM : add_row(r, &x);
}

/* --- the order ------------------------------------------------------------------------ */

/* Frames and paths that the rows use, and their places among them; by id. */
struct ranks {
	const struct export_rows *rows;
	uint32_t *frame, *path;
};

enum { UNUSED, USED }; /* until the rank takes that place */

#define NO_PLACE UINT32_MAX

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_text(const struct stacks *s, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(strtab_get(&s->strings, a), strtab_get(&s->strings, b));
}

static int compare_frames(const void *a, const void *b, void *stacks)
{
	const struct stacks *s = stacks;
	const struct frame *x = &s->frames.v[*(const uint32_t *)a];
	const struct frame *y = &s->frames.v[*(const uint32_t *)b];
	int c = compare_text(s, x->name, y->name);
	c = c ? c : compare_text(s, x->dso, y->dso);
	c = c ? c : compare_text(s, x->srcfile, y->srcfile);
	c = c ? c : compare(x->line, y->line);
	c = c ? c : compare(x->addr, y->addr);
	return c ? c
		 : compare((uint64_t)x->kind << 8 | x->flags,
			   (uint64_t)y->kind << 8 | y->flags);
}

/* Children of one path next to each other. */
static int compare_paths(const void *a, const void *b, void *ranks)
{
	const struct ranks *k = ranks;
	const struct call_path *x = &k->rows->stacks->paths.v[*(const uint32_t *)a];
	const struct call_path *y = &k->rows->stacks->paths.v[*(const uint32_t *)b];
	int c = compare(x->parent, y->parent);
	return c ? c : compare(k->frame[x->frame], k->frame[y->frame]);
}

static int compare_labels(const struct export_rows *r, uint32_t a, uint32_t b)
{
	int c = 0;
	for (size_t i = 0; a != b && i < r->labels->lanes.n && !c; i++)
		c = compare_text(r->stacks, label_sets_value(r->labels, a, i),
				 label_sets_value(r->labels, b, i));
	return c;
}

static int compare_rows(const void *a, const void *b, void *ranks)
{
	const struct ranks *k = ranks;
	const struct stacks *s = k->rows->stacks;
	const struct export_row *x = a, *y = b;
	int c = compare_text(s, x->comm, y->comm);
	c = c ? c : compare((uint32_t)x->pid, (uint32_t)y->pid);
	c = c ? c : compare((uint32_t)x->tid, (uint32_t)y->tid);
	c = c ? c : compare(k->path[x->path], k->path[y->path]);
	c = c ? c : compare_text(s, x->cgroup, y->cgroup);
	c = c ? c : compare_labels(k->rows, x->labels, y->labels);
	c = c ? c : strcmp(x->cause ? x->cause : "", y->cause ? y->cause : "");
	return c ? c : compare(x->column, y->column);
}

static void mark_used(struct ranks *k)
{
	const struct stacks *s = k->rows->stacks;
	for (size_t i = 0; i < k->rows->v.n; i++)
		for (uint32_t p = k->rows->v.v[i].path; p && k->path[p] == UNUSED;
		     p = s->paths.v[p].parent) {
			k->path[p] = USED;
			k->frame[s->paths.v[p].frame] = USED;
		}
}

/* The ids that are used, in the order of `by`. *out is the caller's to free. */
static int list_used(const uint32_t *used, size_t n, uint32_t **out, size_t *count,
		     int (*by)(const void *, const void *, void *), void *ctx)
{
	uint32_t *v = mem_alloc((n + 1) * sizeof(*v));
	*count = 0;
	*out = v;
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (used[i] == USED)
			v[(*count)++] = (uint32_t)i;
	qsort_r(v, *count, sizeof(*v), by, ctx);
	return 0;
}

static int rank_frames(struct ranks *k)
{
	uint32_t *order;
	size_t n;
	const struct stacks *s = k->rows->stacks;
	if (list_used(k->frame, s->frames.n, &order, &n, compare_frames, (void *)s))
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		k->frame[order[i]] = (uint32_t)i;
	mem_free(order);
	return 0;
}

/* Parents before their children, which are in the order of their frames: a walk of the tree.
 * The stack holds places in `order`: the next sibling of each path on the way. */
static int walk(struct ranks *k, const uint32_t *order, size_t n, uint32_t *first)
{
	const struct stacks *s = k->rows->stacks;
	VEC(uint32_t) todo = {0};
	uint32_t next = 1;
	int rc = n ? vec_push(&todo, 0) : 0;
	for (size_t i = n; i-- > 0;)
		first[s->paths.v[order[i]].parent] = (uint32_t)i;
	while (todo.n && !rc) {
		uint32_t at = todo.v[--todo.n], path = order[at];
		k->path[path] = next++;
		if (at + 1 < n && s->paths.v[order[at + 1]].parent == s->paths.v[path].parent)
			rc = vec_push(&todo, at + 1);
		if (!rc && first[path] != NO_PLACE)
			rc = vec_push(&todo, first[path]);
	}
	vec_release(&todo);
	return rc;
}

static int rank_paths(struct ranks *k)
{
	size_t n, all = k->rows->stacks->paths.n + 1;
	uint32_t *order, *first = mem_alloc(all * sizeof(*first));
	int rc = first ? list_used(k->path, all - 1, &order, &n, compare_paths, k) : ERR_NOMEM;
	if (!rc) {
		memset(first, 0xff, all * sizeof(*first));
		rc = walk(k, order, n, first);
		mem_free(order);
	}
	mem_free(first);
	return rc;
}

int export_rows_sort(struct export_rows *r, struct err *e)
{
	struct ranks k = {.rows = r,
			  .frame = mem_zalloc(r->stacks->frames.n + 1, sizeof(*k.frame)),
			  .path = mem_zalloc(r->stacks->paths.n + 1, sizeof(*k.path))};
	int rc = k.frame && k.path ? 0 : ERR_NOMEM;
	if (!rc)
		mark_used(&k);
	rc = rc ? rc : rank_frames(&k);
	rc = rc ? rc : rank_paths(&k);
	if (!rc && r->v.n)
		qsort_r(r->v.v, r->v.n, sizeof(*r->v.v), compare_rows, &k);
	idmap_release(&r->index);
	mem_free(k.frame);
	mem_free(k.path);
	return rc ? err_nomem(e) : 0;
}

void export_rows_release(struct export_rows *r)
{
	vec_release(&r->columns);
	vec_release(&r->v);
	idmap_release(&r->index);
}

void export_frame_name(struct buf *b, const struct stacks *s, const struct frame *f)
{
	const char *dso = f->dso ? strtab_get(&s->strings, f->dso) : "unknown";
	if (f->name)
		buf_str(b, strtab_get(&s->strings, f->name));
	else
		buf_fmt(b, "[%s]", path_base(dso));
}
