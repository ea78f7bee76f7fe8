#include "render/export/export_rows.h"
#include "base/mem.h"
#include "base/radix.h"
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

static void add_values(struct export_row *x, const struct export_row *row)
{
	x->value = sum(x->value, row->value);
	x->count = sum(x->count, row->count);
}

static int add_row(struct export_rows *r, const struct export_row *row)
{
	if (r->distinct)
		return vec_push(&r->v, *row);
	uint64_t h = hash_row(row);
	size_t at = 0;
	for (uint32_t id; idmap_next(&r->index, h, &at, &id);) {
		struct export_row *x = &r->v.v[id];
		if (x->column != row->column || !export_rows_same_stack(x, row))
			continue;
		add_values(x, row);
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

/* Comms, frames and paths that the rows use, and their places among them; by id. */
struct ranks {
	const struct export_rows *rows;
	uint32_t *comm, *frame, *path;
};

enum { UNUSED, USED }; /* until the rank takes that place */

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

static int compare_labels(const struct export_rows *r, uint32_t a, uint32_t b)
{
	int c = 0;
	for (size_t i = 0; a != b && i < r->labels->lanes.n && !c; i++)
		c = compare_text(r->stacks, label_sets_value(r->labels, a, i),
				 label_sets_value(r->labels, b, i));
	return c;
}

/* The order of rows of one thread and path. */
static int compare_rest(const void *a, const void *b, void *rows)
{
	const struct export_rows *r = rows;
	const struct export_row *x = &r->v.v[((const struct radix_key *)a)->at];
	const struct export_row *y = &r->v.v[((const struct radix_key *)b)->at];
	int c = compare_text(r->stacks, x->cgroup, y->cgroup);
	c = c ? c : compare_labels(r, x->labels, y->labels);
	c = c ? c : strcmp(x->cause ? x->cause : "", y->cause ? y->cause : "");
	return c ? c : compare(x->column, y->column);
}

static void mark_used(struct ranks *k)
{
	const struct stacks *s = k->rows->stacks;
	for (size_t i = 0; i < k->rows->v.n; i++) {
		k->comm[k->rows->v.v[i].comm] = USED;
		for (uint32_t p = k->rows->v.v[i].path; p && k->path[p] == UNUSED;
		     p = s->paths.v[p].parent) {
			k->path[p] = USED;
			k->frame[s->paths.v[p].frame] = USED;
		}
	}
}

static int compare_names(const void *a, const void *b, void *stacks)
{
	return compare_text(stacks, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Replace USED, of n ids, by the rank in the order of `by`. *ranks: how many there are. */
static int rank(uint32_t *used, size_t n, int (*by)(const void *, const void *, void *),
		const struct stacks *s, size_t *ranks)
{
	uint32_t *v = mem_alloc((n + 1) * sizeof(*v));
	*ranks = 0;
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (used[i] == USED)
			v[(*ranks)++] = (uint32_t)i;
	qsort_r(v, *ranks, sizeof(*v), by, (void *)(uintptr_t)s);
	for (size_t i = 0; i < *ranks; i++)
		used[v[i]] = (uint32_t)i;
	mem_free(v);
	return 0;
}

/* Turn n counts into the index where each group begins. */
static void counts_to_places(uint32_t *counts, size_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t own = counts[i];
		counts[i] = at;
		at += own;
	}
}

/* The used paths, sorted by the rank of their frame; *count: how many. */
static int list_by_frame(const struct ranks *k, size_t frames, uint32_t *out, size_t *count)
{
	const struct stacks *s = k->rows->stacks;
	uint32_t *place = mem_zalloc(frames + 1, sizeof(*place));
	*count = 0;
	if (!place)
		return ERR_NOMEM;
	for (size_t i = 0; i < s->paths.n; i++)
		if (k->path[i] == USED) {
			place[k->frame[s->paths.v[i].frame]]++;
			++*count;
		}
	counts_to_places(place, frames);
	for (size_t i = 0; i < s->paths.n; i++)
		if (k->path[i] == USED)
			out[place[k->frame[s->paths.v[i].frame]]++] = (uint32_t)i;
	mem_free(place);
	return 0;
}

/* Group what is in `from` by parent, stably. next[parent] becomes where its group ends. */
static void group_by_parent(const struct stacks *s, const uint32_t *from, size_t n,
			    uint32_t *next, uint32_t *out)
{
	for (size_t i = 0; i < n; i++)
		next[s->paths.v[from[i]].parent]++;
	counts_to_places(next, s->paths.n);
	for (size_t i = 0; i < n; i++)
		out[next[s->paths.v[from[i]].parent]++] = from[i];
}

/* Parents before their children, which are in the order of their frames: a walk of the tree.
 * The stack holds places in `order`: the next sibling of each path on the way. */
static int walk(struct ranks *k, const uint32_t *order, size_t n, const uint32_t *end)
{
	const struct stacks *s = k->rows->stacks;
	VEC(uint32_t) todo = {0};
	uint32_t next = 1;
	int rc = n ? vec_push(&todo, 0) : 0;
	while (todo.n && !rc) {
		uint32_t at = todo.v[--todo.n], path = order[at];
		uint32_t first = path ? end[path - 1] : 0;
		k->path[path] = next++;
		if (at + 1 < n && s->paths.v[order[at + 1]].parent == s->paths.v[path].parent)
			rc = vec_push(&todo, at + 1);
		if (!rc && first < end[path])
			rc = vec_push(&todo, first);
	}
	vec_release(&todo);
	return rc;
}

static int rank_paths(struct ranks *k, size_t frames)
{
	const struct stacks *s = k->rows->stacks;
	size_t n, all = s->paths.n + 1;
	uint32_t *by_frame = mem_alloc(all * sizeof(*by_frame));
	uint32_t *order = mem_alloc(all * sizeof(*order));
	uint32_t *end = mem_zalloc(all, sizeof(*end));
	int rc = by_frame && order && end ? list_by_frame(k, frames, by_frame, &n) : ERR_NOMEM;
	if (!rc)
		group_by_parent(s, by_frame, n, end, order);
	mem_free(by_frame);
	rc = rc ? rc : walk(k, order, n, end);
	mem_free(order);
	mem_free(end);
	return rc;
}

static int rank_all(struct ranks *k)
{
	const struct stacks *s = k->rows->stacks;
	size_t comms, frames;
	k->comm = mem_zalloc(strtab_count(&s->strings) + 1, sizeof(*k->comm));
	k->frame = mem_zalloc(s->frames.n + 1, sizeof(*k->frame));
	k->path = mem_zalloc(s->paths.n + 1, sizeof(*k->path));
	if (!k->comm || !k->frame || !k->path)
		return ERR_NOMEM;
	mark_used(k);
	int rc = rank(k->comm, strtab_count(&s->strings), compare_names, s, &comms);
	rc = rc ? rc : rank(k->frame, s->frames.n, compare_frames, s, &frames);
	return rc ? rc : rank_paths(k, frames);
}

/* Sort by thread and path, without comparisons: by the second half of the key, then, stably, by
 * the first. The result is a or b. */
static struct radix_key *order_rows(const struct ranks *k, struct radix_key *a,
				    struct radix_key *b)
{
	const struct export_row *v = k->rows->v.v;
	size_t n = k->rows->v.n;
	for (size_t i = 0; i < n; i++)
		a[i] = (struct radix_key){
			(uint64_t)(uint32_t)v[i].tid << 32 | k->path[v[i].path], i};
	struct radix_key *sorted = radix_sort(a, b, n), *other = sorted == a ? b : a;
	for (size_t i = 0; i < n; i++) {
		const struct export_row *x = &v[sorted[i].at];
		sorted[i].key = (uint64_t)k->comm[x->comm] << 32 | (uint32_t)x->pid;
	}
	return radix_sort(sorted, other, n);
}

static void order_equal(struct export_rows *r, struct radix_key *order)
{
	for (size_t i = 0, n; i < r->v.n; i += n) {
		const struct export_row *x = &r->v.v[order[i].at];
		for (n = 1; i + n < r->v.n; n++) {
			const struct export_row *y = &r->v.v[order[i + n].at];
			if (x->path != y->path || !export_rows_same_thread(x, y))
				break;
		}
		if (n > 1)
			qsort_r(order + i, n, sizeof(*order), compare_rest, r);
	}
}

/* Put each row where it was sorted to, around each cycle, and sum up equal ones. */
static void place_rows(struct export_rows *r, struct radix_key *order)
{
	struct export_row *v = r->v.v;
	for (size_t i = 0; i < r->v.n; i++) {
		struct export_row first = v[i];
		size_t to = i, from = order[i].at;
		for (; from != i; from = order[to].at) {
			v[to] = v[from];
			order[to].at = to;
			to = from;
		}
		v[to] = first;
		order[to].at = to;
	}
	size_t n = r->v.n;
	r->v.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct export_row *last = r->v.n ? &v[r->v.n - 1] : NULL;
		if (!last || last->column != v[i].column ||
		    !export_rows_same_stack(last, &v[i]))
			v[r->v.n++] = v[i];
		else
			add_values(last, &v[i]);
	}
}

int export_rows_sort(struct export_rows *r, struct err *e)
{
	struct ranks k = {.rows = r};
	idmap_release(&r->index);
	int rc = rank_all(&k);
	mem_free(k.frame);
	struct radix_key *a = rc ? NULL : mem_alloc((r->v.n + 1) * sizeof(*a));
	struct radix_key *b = rc ? NULL : mem_alloc((r->v.n + 1) * sizeof(*b));
	if (a && b) {
		struct radix_key *order = order_rows(&k, a, b);
		order_equal(r, order);
		place_rows(r, order);
	}
	rc = a && b ? 0 : err_nomem(e);
	mem_free(a);
	mem_free(b);
	mem_free(k.comm);
	mem_free(k.path);
	return rc;
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
