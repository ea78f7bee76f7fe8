#include "libtime/sched/thin.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct thinner {
	const struct timeline *tl;
	uint64_t grain;
	const struct thin_keep *keep;
	size_t nkeep;
	struct timeline *out;
	struct err *e;
};

static uint64_t cell_of(const struct thinner *t, uint64_t ns)
{
	return ns / t->grain;
}

/* --- intervals --------------------------------------------------------------------------- */

static int is_kept(const struct thinner *t, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < t->nkeep; i++)
		if (from < t->keep[i].to_ns && to >= t->keep[i].from_ns)
			return 1;
	return 0;
}

/* Is it in one cell, with the thread on one CPU before and after? */
static int may_merge(const struct thinner *t, const struct offcpu *o)
{
	return o->cpu_in == o->cpu_out && !(o->flags & OFF_OPEN) &&
	       cell_of(t, o->start_ns) == cell_of(t, o->end_ns) &&
	       !is_kept(t, o->start_ns, o->end_ns);
}

static int same_group(const struct thinner *t, const struct offcpu *a, const struct offcpu *b)
{
	return may_merge(t, b) && a->cpu_out == b->cpu_out && a->comm == b->comm &&
	       cell_of(t, a->start_ns) == cell_of(t, b->start_ns);
}

static int is_equal(const struct offcpu *a, const struct offcpu *b)
{
	return a->path == b->path && a->cause == b->cause && a->flags == b->flags &&
	       a->unknown == b->unknown && a->site == b->site;
}

/* Add the length of `b` to `a`. */
static void merge(struct offcpu *a, const struct offcpu *b)
{
	a->end_ns += b->end_ns - b->start_ns;
	a->blocked_ns += b->blocked_ns;
	a->waker = TL_NONE;
	a->waker_context = WAKER_NONE;
	a->waker_path = 0;
	a->cpu_wake = a->cpu_queue = TL_NOCPU;
	a->arg = a->arg_kind = 0;
}

/* The intervals [i, end) of one cell: the running time between them first, then each kind. */
static int put_group(struct thinner *t, uint32_t i, uint32_t end)
{
	const struct offcpu *v = t->tl->offcpu.v;
	size_t first = t->out->offcpu.n;
	uint64_t at = v[i].start_ns;
	for (uint32_t k = i; k < end; k++) {
		size_t same = first;
		while (same < t->out->offcpu.n && !is_equal(&t->out->offcpu.v[same], &v[k]))
			same++;
		if (same < t->out->offcpu.n)
			merge(&t->out->offcpu.v[same], &v[k]);
		else if (bigvec_push(&t->out->offcpu, v[k], t->e))
			return t->e->code;
		at += k > i ? v[k].start_ns - v[k - 1].end_ns : 0;
	}
	for (size_t k = first; k < t->out->offcpu.n; k++) {
		struct offcpu *o = &t->out->offcpu.v[k];
		uint64_t ns = o->end_ns - o->start_ns;
		o->start_ns = at;
		o->end_ns = at += ns;
	}
	return 0;
}

static int put_thread(struct thinner *t, struct tl_thread *thread)
{
	uint32_t i = thread->offcpu_first, last = i + thread->offcpu_n;
	const struct offcpu *v = t->tl->offcpu.v;
	thread->offcpu_first = (uint32_t)t->out->offcpu.n;
	while (i < last) {
		uint32_t end = i + 1;
		while (end < last && may_merge(t, &v[i]) && same_group(t, &v[i], &v[end]))
			end++;
		int rc = put_group(t, i, end);
		if (rc)
			return rc;
		i = end;
	}
	thread->offcpu_n = (uint32_t)t->out->offcpu.n - thread->offcpu_first;
	return 0;
}

/* --- samples ----------------------------------------------------------------------------- */

static int by_kind(const void *pa, const void *pb)
{
	const struct tl_sample *a = pa, *b = pb;
	const uint64_t keys[][2] = {{a->thread, b->thread}, {a->event, b->event},
				    {a->path, b->path},     {a->comm, b->comm},
				    {a->cpu, b->cpu},       {a->time_ns, b->time_ns}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct tl_sample *a = pa, *b = pb;
	return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns ? -1 : 1) : by_kind(pa, pb);
}

/* Merge equal samples of one cell, v[0..n), into the first of them; sorted by time. Returns how
 * many are left. */
static size_t merge_cell(struct tl_sample *v, size_t n)
{
	size_t left = 0;
	if (n < 2)
		return n;
	qsort(v, n, sizeof(*v), by_kind);
	for (size_t i = 0; i < n; i++) {
		struct tl_sample *last = left ? &v[left - 1] : NULL;
		if (last && last->thread == v[i].thread && last->event == v[i].event &&
		    last->path == v[i].path && last->comm == v[i].comm && last->cpu == v[i].cpu)
			last->period += v[i].period;
		else
			v[left++] = v[i];
	}
	qsort(v, left, sizeof(*v), by_time);
	return left;
}

static int put_samples(struct thinner *t)
{
	const struct timeline *tl = t->tl;
	size_t first = 0;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (bigvec_push(&t->out->samples, *s, t->e))
			return t->e->code;
		if (i + 1 < tl->samples.n && cell_of(t, s[1].time_ns) == cell_of(t, s->time_ns))
			continue;
		struct tl_sample *cell = t->out->samples.v + first;
		size_t n = t->out->samples.n - first;
		first += is_kept(t, cell->time_ns, s->time_ns) ? n : merge_cell(cell, n);
		t->out->samples.n = first;
	}
	return 0;
}

/* --- all of it --------------------------------------------------------------------------- */

int timeline_thin(const struct timeline *tl, uint64_t grain_ns, const struct thin_keep *keep,
		  size_t nkeep, struct timeline *out, struct err *e)
{
	struct thinner t = {
		.tl = tl, .grain = grain_ns, .out = out, .e = e, .keep = keep, .nkeep = nkeep};
	struct tl_thread *threads = mem_zalloc(tl->threads.n + 1, sizeof(*threads));
	int rc = 0;
	*out = *tl;
	memset(&out->offcpu, 0, sizeof(out->offcpu));
	memset(&out->samples, 0, sizeof(out->samples));
	out->threads.v = threads;
	out->flags |= TL_THINNED;
	if (!threads)
		return err_nomem(e);
	memcpy(threads, tl->threads.v, tl->threads.n * sizeof(*threads));
	for (size_t i = 0; i < tl->threads.n && !rc; i++)
		rc = put_thread(&t, &threads[i]);
	return rc ? rc : put_samples(&t);
}

void timeline_thin_release(struct timeline *out)
{
	bigvec_release(&out->offcpu);
	bigvec_release(&out->samples);
	mem_free(out->threads.v);
	*out = (struct timeline){0};
}
