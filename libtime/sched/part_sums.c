#include "libtime/sched/part_sums.h"
#include "base/search.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

enum { STRIDE = 64 /* intervals */ };

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	a = a > from ? a : from;
	b = b < to ? b : to;
	return b > a ? b - a : 0;
}

/* Add the part of an interval that is in [from, to). */
static void add_offcpu(struct tl_sums *s, const struct offcpu *o, uint64_t from, uint64_t to)
{
	uint64_t all = overlap(o->start_ns, o->end_ns, from, to);
	uint64_t runnable = overlap(o->start_ns + o->blocked_ns, o->end_ns, from, to);
	s->suspect += (o->flags & OFF_SUSPECT) != 0;
	if (o->unknown) {
		s->unknown += all;
		return;
	}
	s->blocked += all - runnable;
	s->runnable += runnable;
	s->preempted += o->flags & OFF_RUNNING ? runnable : 0;
}

static int interrupted_order(const void *a, const void *b)
{
	const struct interrupted *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Of nested interrupts the outer one counts. */
static int find_interrupted(struct part_sums *x)
{
	const struct timeline *tl = x->tl;
	struct interrupted *v;
	size_t n = 0;
	if (vec_reserve(&x->interrupted, tl->interrupts.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->interrupts.n; i++) {
		const struct tl_interrupt *t = &tl->interrupts.v[i];
		if (t->thread != TL_NONE && t->start_ns < t->end_ns)
			x->interrupted.v[x->interrupted.n++] =
				(struct interrupted){t->start_ns, t->end_ns, 0, t->thread};
	}
	v = x->interrupted.v;
	if (x->interrupted.n)
		qsort(v, x->interrupted.n, sizeof(*v), interrupted_order);
	for (size_t i = 0; i < x->interrupted.n; i++) {
		struct interrupted t = v[i], *last = &v[n ? n - 1 : 0];
		if (n && last->thread == t.thread && t.from_ns < last->to_ns) {
			last->to_ns = t.to_ns > last->to_ns ? t.to_ns : last->to_ns;
			continue;
		}
		t.before_ns = n ? last->before_ns + last->to_ns - last->from_ns : 0;
		v[n++] = t;
	}
	x->interrupted.n = n;
	return 0;
}

/* What interrupts took from all threads before this one, and from it before `ns`. */
static uint64_t interrupted_before(const struct part_sums *x, uint32_t thread, uint64_t ns)
{
	const struct interrupted *v = x->interrupted.v;
	size_t n = PARTITION_POINT(i, 0, x->interrupted.n,
				   v[i].thread < thread ||
					   (v[i].thread == thread && v[i].from_ns < ns));
	if (!n)
		return 0;
	const struct interrupted *last = &v[n - 1];
	uint64_t to = last->thread == thread && ns < last->to_ns ? ns : last->to_ns;
	return last->before_ns + to - last->from_ns;
}

int part_sums_init(struct part_sums *x, const struct timeline *tl)
{
	struct tl_sums sum = {0};
	*x = (struct part_sums){.tl = tl};
	if (vec_reserve(&x->before, tl->offcpu.n / STRIDE + 1) || find_interrupted(x))
		return ERR_NOMEM;
	for (size_t i = 0; i <= tl->offcpu.n; i++) {
		if (i % STRIDE == 0)
			x->before.v[x->before.n++] = sum;
		if (i < tl->offcpu.n)
			add_offcpu(&sum, &tl->offcpu.v[i], 0, UINT64_MAX);
	}
	return 0;
}

void part_sums_release(struct part_sums *x)
{
	vec_release(&x->before);
	vec_release(&x->interrupted);
}

/* The sums of all intervals before number i, whatever their threads. */
static struct tl_sums sum_before(const struct part_sums *x, uint32_t i)
{
	struct tl_sums s = x->before.v[i / STRIDE];
	for (uint32_t k = i / STRIDE * STRIDE; k < i; k++)
		add_offcpu(&s, &x->tl->offcpu.v[k], 0, UINT64_MAX);
	return s;
}

/* Add the intervals [first, end), each in full. */
static void add_whole(const struct part_sums *x, uint32_t first, uint32_t end,
		      struct tl_sums *out)
{
	struct tl_sums a = sum_before(x, first), b = sum_before(x, end);
	out->blocked += b.blocked - a.blocked;
	out->runnable += b.runnable - a.runnable;
	out->preempted += b.preempted - a.preempted;
	out->unknown += b.unknown - a.unknown;
	out->suspect += b.suspect - a.suspect;
}

void part_sums_add(const struct part_sums *x, uint32_t thread, uint64_t from, uint64_t to,
		   struct tl_sums *out)
{
	const struct timeline *tl = x->tl;
	struct tl_sums in = {0};
	if (to <= from)
		return;
	if (thread == TL_NONE || !(tl->flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))) {
		out->unknown += to - from;
		return;
	}
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t life = overlap(t->first_ns, t->last_ns, from, to);
	uint32_t first = timeline_offcpu_after(tl, thread, from);
	uint32_t last = timeline_offcpu_after(tl, thread, to);
	if (first < last) { /* it may have begun before */
		add_offcpu(&in, &tl->offcpu.v[first], from, to);
		add_whole(x, first + 1, last, &in);
	}
	if (last < t->offcpu_first + t->offcpu_n && tl->offcpu.v[last].start_ns < to)
		add_offcpu(&in, &tl->offcpu.v[last], from, to);
	uint64_t run = life - in.blocked - in.runnable - in.unknown;
	uint64_t taken =
		interrupted_before(x, thread, to) - interrupted_before(x, thread, from);
	out->run += run;
	out->interrupted += taken < run ? taken : run;
	out->blocked += in.blocked;
	out->runnable += in.runnable;
	out->preempted += in.preempted;
	out->unknown += in.unknown + (to - from - life);
	out->suspect += in.suspect;
}
