#include "libtime/sched/timeline_spans.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

static int trampoline_order(const void *a, const void *b)
{
	const struct tl_trampoline *x = a, *y = b;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->history < y->history ? -1 : x->history > y->history;
}

void timeline_sort_trampolines(struct timeline *tl)
{
	if (tl->trampolines.n)
		qsort(tl->trampolines.v, tl->trampolines.n, sizeof(*tl->trampolines.v),
		      trampoline_order);
}

uint32_t timeline_next_history(const struct timeline *tl)
{
	uint32_t next = tl->bindings.n ? tl->bindings.v[tl->bindings.n - 1].history + 1 : 0;
	for (size_t i = 0; i < tl->trampolines.n; i++)
		if (tl->trampolines.v[i].history >= next)
			next = tl->trampolines.v[i].history + 1;
	return next;
}

size_t timeline_labels_of(const struct timeline *tl, uint32_t span, size_t *first)
{
	size_t lo = PARTITION_POINT(i, 0, tl->labels.n, tl->labels.v[i].span < span);
	size_t end = lo;
	*first = lo;
	while (end < tl->labels.n && tl->labels.v[end].span == span)
		end++;
	return end - lo;
}

uint32_t timeline_label(const struct timeline *tl, uint32_t span, uint32_t key)
{
	size_t first, n = timeline_labels_of(tl, span, &first);
	for (size_t i = first; i < first + n; i++)
		if (tl->labels.v[i].key == key)
			return tl->labels.v[i].value;
	return 0;
}

/* Spans are sorted by their start. */
uint32_t timeline_span_thread(const struct timeline *tl, uint32_t span)
{
	enum { AT_ONCE = 64 };
	const struct tl_span *v = tl->spans.v, *s = &v[span];
	if (s->thread != TL_NONE || !s->key_text)
		return s->thread;
	size_t first = PARTITION_POINT(i, 0, tl->spans.n, v[i].start_ns < s->end_ns);
	for (size_t i = first; i < tl->spans.n && i < first + AT_ONCE; i++) {
		if (v[i].start_ns != s->end_ns)
			break;
		if (v[i].key_text == s->key_text && v[i].thread != TL_NONE)
			return v[i].thread;
	}
	return TL_NONE;
}

static int counter_order(const void *a, const void *b)
{
	const struct tl_counter *x = a, *y = b;
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

void timeline_sort_counters(struct timeline *tl)
{
	if (tl->counters.n)
		qsort(tl->counters.v, tl->counters.n, sizeof(*tl->counters.v), counter_order);
}

size_t timeline_counters_of(const struct timeline *tl, uint32_t span, size_t *first)
{
	size_t lo = PARTITION_POINT(i, 0, tl->counters.n, tl->counters.v[i].span < span);
	size_t end = lo;
	*first = lo;
	while (end < tl->counters.n && tl->counters.v[end].span == span)
		end++;
	return end - lo;
}

int counter_is_time(const char *event)
{
	return !strncmp(event, "task-clock", 10) || !strncmp(event, "cpu-clock", 9) ||
	       !strcmp(event, PROBE_COST);
}

const struct tl_counter *timeline_counter(const struct timeline *tl, uint32_t span,
					  uint32_t event)
{
	size_t first, n = timeline_counters_of(tl, span, &first);
	for (size_t i = first; i < first + n; i++)
		if (tl->counters.v[i].event == event)
			return &tl->counters.v[i];
	return NULL;
}
