/* segments.c - the sweep over overlapping ranges. */
#include "libsym/dwarf/segments.h"

#include "base/mem.h"

#include <stdlib.h>

static int by_start(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* A binary heap of the spans open at the sweep's position; the highest id on top. */
struct open_spans {
	struct span *v;
	size_t n;
};

static void heap_push(struct open_spans *h, struct span s)
{
	size_t i = h->n++;
	for (; i && h->v[(i - 1) / 2].id < s.id; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = s;
}

static void heap_pop(struct open_spans *h)
{
	struct span s = h->v[--h->n];
	size_t i = 0, child;
	for (; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && h->v[child + 1].id > h->v[child].id)
			child++;
		if (s.id >= h->v[child].id)
			break;
		h->v[i] = h->v[child];
	}
	h->v[i] = s;
}

static int seg_add(span_segs_vec *segs, uint64_t va, uint32_t id)
{
	if (segs->n && segs->v[segs->n - 1].id == id)
		return 0;
	return vec_push(segs, ((struct span_seg){va, id}));
}

/* Sweep by address: at each place the open span with the highest id wins. */
int segments_build(spans_vec *spans, span_segs_vec *segs)
{
	size_t n = spans->n, i = 0;
	if (!n)
		return 0;
	struct open_spans open = {.v = mem_zalloc(n, sizeof(*open.v))};
	if (!open.v)
		return ERR_NOMEM;
	qsort(spans->v, n, sizeof(*spans->v), by_start);
	uint64_t pos = spans->v[0].lo;
	int r = 0;
	while (!r) {
		while (i < n && spans->v[i].lo <= pos)
			heap_push(&open, spans->v[i++]);
		while (open.n && open.v[0].hi <= pos)
			heap_pop(&open);
		r = seg_add(segs, pos, open.n ? open.v[0].id : SPAN_NONE);
		if (!open.n && i == n)
			break;
		uint64_t next = open.n ? open.v[0].hi : UINT64_MAX;
		if (i < n && spans->v[i].lo < next)
			next = spans->v[i].lo;
		pos = next;
	}
	mem_free(open.v);
	return r;
}
