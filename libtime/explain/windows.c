#include "libtime/explain/windows.h"
#include "base/search.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>
#include <string.h>

static void add_sums(struct tl_sums *to, const struct tl_sums *x)
{
	to->run += x->run;
	to->blocked += x->blocked;
	to->runnable += x->runnable;
	to->preempted += x->preempted;
	to->unknown += x->unknown;
}

/* Add a thread's part of the window. */
static int add_thread(const struct part_sums *parts, uint32_t thread, const struct episode *ep,
		      struct window_activity *out)
{
	const struct tl_thread *t = &parts->tl->threads.v[thread];
	struct window_thread x = {.thread = thread};
	uint64_t from = t->first_ns > ep->start_ns ? t->first_ns : ep->start_ns;
	uint64_t to = t->last_ns < ep->end_ns ? t->last_ns : ep->end_ns;
	if (from >= to)
		return 0;
	part_sums_add(parts, thread, from, to, &x.sums);
	add_sums(&out->sums, &x.sums);
	if (x.sums.run || x.sums.runnable)
		return vec_push(&out->v, x);
	out->asleep++;
	return 0;
}

static int more_running(const void *a, const void *b)
{
	const struct window_thread *x = a, *y = b;
	if (x->sums.run != y->sums.run)
		return x->sums.run > y->sums.run ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

enum { LOOK_BACK = 4096 }; /* spans that begin before the window's end */

/* How many spans begin before `ns`. */
static size_t spans_before(const struct timeline *tl, uint64_t ns)
{
	return PARTITION_POINT(i, 0, tl->spans.n, tl->spans.v[i].start_ns < ns);
}

/* Spans are sorted by start, so the stretches in which another one is open come in order. */
static void add_others(const struct part_sums *parts, const struct episode *ep,
		       struct window_activity *out)
{
	const struct timeline *tl = parts->tl;
	struct tl_sums in = {0};
	uint64_t done = ep->start_ns;
	size_t to_span = spans_before(tl, ep->end_ns);
	for (size_t i = to_span > LOOK_BACK ? to_span - LOOK_BACK : 0; i < to_span; i++) {
		const struct tl_span *s = &tl->spans.v[i];
		if (s->thread != ep->thread || i == ep->at || s->end_ns <= ep->start_ns)
			continue;
		out->others++;
		uint64_t from = s->start_ns > done ? s->start_ns : done;
		uint64_t to = s->end_ns < ep->end_ns ? s->end_ns : ep->end_ns;
		part_sums_add(parts, ep->thread, from, to, &in);
		done = to > done ? to : done;
	}
	out->shared_run_ns = in.run;
}

int window_of(const struct part_sums *parts, const struct episode_query *q,
	      const struct episode *ep, struct window_activity *out, struct err *e)
{
	const struct timeline *tl = parts->tl;
	int32_t pid = tl->spans.v[ep->at].pid;
	int r = 0;
	out->v.n = 0;
	out->asleep = out->others = out->shared_run_ns = 0;
	out->sums = (struct tl_sums){0};
	if (ep->thread != TL_NONE) {
		r = add_thread(parts, ep->thread, ep, out);
		add_others(parts, ep, out);
		return r ? err_nomem(e) : 0;
	}
	for (uint32_t i = 0; i < tl->threads.n && !r; i++)
		if ((pid < 0 || tl->threads.v[i].pid == pid) &&
		    episodes_include_thread(tl, q, i))
			r = add_thread(parts, i, ep, out);
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof(*out->v.v), more_running);
	return r ? err_nomem(e) : 0;
}

void window_release(struct window_activity *w)
{
	vec_release(&w->v);
}
