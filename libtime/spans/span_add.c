#include "libtime/spans/span_add.h"
#include "base/mem.h"
#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

/* --- order ---------------------------------------------------------------------------- */

struct place {
	uint64_t start;
	uint32_t was;
};

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->was < y->was ? -1 : x->was > y->was;
}

static int label_order(const void *a, const void *b)
{
	const struct tl_label *x = a, *y = b;
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void move_spans(struct timeline *tl, const struct place *p, const uint32_t *now,
		       struct tl_span *v)
{
	size_t n = tl->spans.n;
	for (size_t i = 0; i < n; i++) {
		v[i] = tl->spans.v[p[i].was];
		if (v[i].parent != TL_NONE)
			v[i].parent = now[v[i].parent];
	}
	memcpy(tl->spans.v, v, n * sizeof(*v));
	for (size_t i = 0; i < tl->labels.n; i++)
		tl->labels.v[i].span = now[tl->labels.v[i].span];
	if (tl->labels.n)
		qsort(tl->labels.v, tl->labels.n, sizeof(*tl->labels.v), label_order);
	for (size_t i = 0; i < tl->counters.n; i++)
		tl->counters.v[i].span = now[tl->counters.v[i].span];
	timeline_sort_counters(tl);
}

int spans_sort(struct timeline *tl)
{
	size_t n = tl->spans.n, i = 1;
	while (i < n && tl->spans.v[i - 1].start_ns <= tl->spans.v[i].start_ns)
		i++;
	if (i >= n)
		return 0;
	struct place *p = mem_zalloc(n, sizeof(*p));
	uint32_t *now = mem_zalloc(n, sizeof(*now));
	struct tl_span *v = mem_zalloc(n, sizeof(*v));
	int r = p && now && v ? 0 : ERR_NOMEM;
	for (i = 0; !r && i < n; i++)
		p[i] = (struct place){tl->spans.v[i].start_ns, (uint32_t)i};
	if (!r)
		qsort(p, n, sizeof(*p), place_order);
	for (i = 0; !r && i < n; i++)
		now[p[i].was] = (uint32_t)i;
	if (!r)
		move_spans(tl, p, now, v);
	mem_free(p);
	mem_free(now);
	mem_free(v);
	return r;
}

/* --- adding --------------------------------------------------------------------------- */

void span_set_parts(const struct part_sums *parts, struct tl_span *x)
{
	struct tl_sums sum = {0};
	uint64_t at = x->handed_ns ? x->handed_ns : x->end_ns;
	part_sums_add(parts, x->thread, x->start_ns, at, &sum);
	if (x->handed_ns)
		part_sums_add(parts, x->end_thread, at, x->end_ns, &sum);
	x->run_ns = sum.run;
	x->blocked_ns = sum.blocked;
	x->runnable_ns = sum.runnable;
	x->preempted_ns = sum.preempted;
	x->unknown_ns = sum.unknown;
	x->interrupted_ns = sum.interrupted;
	x->flags |= sum.suspect ? OFF_SUSPECT : 0;
}

int spans_added(struct timeline *tl, size_t base, struct err *e)
{
	struct part_sums parts = {0};
	int r = part_sums_init(&parts, tl);
	for (size_t i = base; i < tl->spans.n && !r; i++)
		span_set_parts(&parts, &tl->spans.v[i]);
	r = r ? r : spans_sort(tl);
	part_sums_release(&parts);
	return r ? err_nomem(e) : 0;
}
