#include "libtime/tables/nest.h"
#include "base/mem.h"

#include <stdlib.h>

/* By thread, then in time, the longer one of two first. */
static int lane_order(const void *a, const void *b, void *ctx)
{
	const struct tl_span *v = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct tl_span *x = &v[i], *y = &v[k];
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Is a span the work of one thread from begin to end? */
static int has_lane(const struct tl_span *s)
{
	return s->thread != TL_NONE && s->end_thread == s->thread &&
	       !(s->flags & SPAN_OVERLAPPED);
}

static int find_around(const struct timeline *tl, const uint32_t *v, size_t n, uint32_t *parent)
{
	VEC(uint32_t) open = {0};
	int r = 0;
	for (size_t i = 0; i < n && !r; i++) {
		const struct tl_span *s = &tl->spans.v[v[i]];
		while (open.n && (tl->spans.v[open.v[open.n - 1]].thread != s->thread ||
				  tl->spans.v[open.v[open.n - 1]].end_ns < s->end_ns ||
				  tl->spans.v[open.v[open.n - 1]].end_ns <= s->start_ns))
			open.n--;
		if (parent[v[i]] == TL_NONE && open.n && open.v[open.n - 1] < v[i])
			parent[v[i]] = open.v[open.n - 1];
		r = vec_push(&open, v[i]);
	}
	vec_release(&open);
	return r;
}

int spans_nest(const struct timeline *tl, uint32_t **parent)
{
	size_t n = tl->spans.n, lanes = 0;
	uint32_t *v = mem_resize(NULL, n + 1, sizeof(*v));
	*parent = mem_resize(NULL, n + 1, sizeof(**parent));
	int r = v && *parent ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; i < n && !r; i++) {
		uint32_t p = tl->spans.v[i].parent;
		(*parent)[i] = p < i ? p : TL_NONE;
		if (has_lane(&tl->spans.v[i]))
			v[lanes++] = i;
	}
	if (!r && lanes)
		qsort_r(v, lanes, sizeof(*v), lane_order, tl->spans.v);
	r = r ? r : find_around(tl, v, lanes, *parent);
	mem_free(v);
	return r;
}
