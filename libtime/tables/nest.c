#include "libtime/tables/nest.h"
#include "base/mem.h"

#include <stdlib.h>

/* Is a span one thread's work from begin to end? */
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

/* Of spans that begin together, longer ones first. */
static int longer_first(const void *a, const void *b, void *ctx)
{
	const struct tl_span *v = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].end_ns != v[k].end_ns)
		return v[i].end_ns > v[k].end_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void order_equal_starts(const struct timeline *tl, uint32_t *v, size_t n)
{
	const struct tl_span *s = tl->spans.v;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && s[v[to]].start_ns == s[v[from]].start_ns &&
				    s[v[to]].thread == s[v[from]].thread;)
			to++;
		if (to - from > 1)
			qsort_r(v + from, to - from, sizeof(*v), longer_first, tl->spans.v);
	}
}

/* All lanes, each in order of time, in which the timeline's spans are. */
static int find_lanes(const struct timeline *tl, uint32_t *v, size_t *lanes)
{
	size_t threads = tl->threads.n;
	uint32_t *first = mem_zalloc(threads + 2, sizeof(*first));
	if (!first)
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->spans.n; i++)
		if (has_lane(&tl->spans.v[i]))
			first[tl->spans.v[i].thread + 1]++;
	for (size_t t = 1; t <= threads; t++)
		first[t] += first[t - 1];
	*lanes = first[threads];
	for (uint32_t i = 0; i < tl->spans.n; i++)
		if (has_lane(&tl->spans.v[i]))
			v[first[tl->spans.v[i].thread]++] = i;
	order_equal_starts(tl, v, *lanes);
	mem_free(first);
	return 0;
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
	}
	r = r ? r : find_lanes(tl, v, &lanes);
	r = r ? r : find_around(tl, v, lanes, *parent);
	mem_free(v);
	return r;
}
