#include "libtime/join/ranges.h"
#include "base/mem.h"
#include "base/search.h"
#include "libtime/join/code_at.h"

#include <stdlib.h>

/* When each trampoline was first bound, on the recording's clock; UINT64_MAX: never. */
static uint64_t *first_bound(const struct side *side, const struct side_clock_map *map)
{
	uint64_t *v = mem_zalloc(side->trampolines.n + 1, sizeof(*v)), ns;
	for (size_t i = 0; i < side->trampolines.n && v; i++)
		v[i] = UINT64_MAX;
	for (size_t i = 0; i < side->bindings.n && v; i++) {
		const struct side_binding *b = &side->bindings.v[i];
		if (!side_clock_apply(map, b->at_ns, &ns) && ns < v[b->trampoline])
			v[b->trampoline] = ns;
	}
	return v;
}

/* Frames have the name of the symbol, or none where its file was not to be read. */
static int add(struct ranges *out, const struct code_at *c, const struct side_trampoline *t,
	       uint32_t at)
{
	struct frame_range x = {.low = c->place,
				.high = c->place + (t->high - t->low),
				.file = c->file,
				.pid = t->pid,
				.trampoline = at};
	if (vec_push(&out->v, x))
		return ERR_NOMEM;
	x.name = c->symbol;
	x.low = c->symbol_at;
	x.high = x.low + 1;
	return x.name ? vec_push(&out->v, x) : 0;
}

static int range_order(const void *a, const void *b)
{
	const struct frame_range *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->trampoline > y->trampoline) - (x->trampoline < y->trampoline);
}

static int is_same(const struct frame_range *x, const struct frame_range *y)
{
	return x->file == y->file && x->name == y->name && x->low == y->low && x->pid == y->pid;
}

/* Several trampolines of a process in one function: none of them is known by its name. */
static void drop_shared(struct ranges *r)
{
	struct frame_range *v = r->v.v;
	size_t n = 0, end;
	for (size_t i = 0; i < r->v.n; i = end) {
		for (end = i + 1; end < r->v.n && is_same(&v[i], &v[end]);)
			end++;
		if (end == i + 1 || !v[i].name)
			for (size_t k = i; k < end; k++)
				v[n++] = v[k];
		else
			r->shared += end - i;
	}
	r->v.n = n;
}

int ranges_find(struct ranges *out, struct profile *p, const struct side *side,
		const struct side_clock_map *map)
{
	uint64_t *when = first_bound(side, map);
	int r = when ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; i < side->trampolines.n && r >= 0; i++) {
		const struct side_trampoline *t = &side->trampolines.v[i];
		struct code_at code;
		if (!t->high || when[i] == UINT64_MAX)
			continue;
		r = code_at(p, side, t->pid, when[i], t->low, &code);
		r = r > 0 ? add(out, &code, t, i) : r;
	}
	mem_free(when);
	if (r < 0)
		return r;
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof(*out->v.v), range_order);
	drop_shared(out);
	return 0;
}

void ranges_release(struct ranges *r)
{
	vec_release(&r->v);
}

static int is_before(const struct frame_range *x, const struct frame *f)
{
	if (x->file != f->dso)
		return x->file < f->dso;
	if (x->name != f->name)
		return x->name < f->name;
	return x->high <= f->addr;
}

const struct frame_range *ranges_of(const struct ranges *r, const struct frame *f, size_t *n)
{
	const struct frame_range *v = r->v.v;
	size_t at = PARTITION_POINT(i, 0, r->v.n, is_before(&v[i], f)), end = at;
	while (end < r->v.n && v[end].file == f->dso && v[end].name == f->name &&
	       v[end].low <= f->addr && f->addr < v[end].high)
		end++;
	*n = end - at;
	return v + at;
}
