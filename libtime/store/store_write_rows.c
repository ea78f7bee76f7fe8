/* store_write_rows.c - the two large tables: what many rows share is written once, and the rows
 * refer to it. See store_encode.h. */
#include "libtime/store/store_encode.h"
#include "base/mem.h"
#include "libparse/sample.h"
#include "libtime/causes/app_frame.h"

#include <string.h>

/* --- off-CPU intervals --------------------------------------------------------------- */

struct kinds {
	VEC(struct offcpu_kind) v;
	struct idmap index;
};

static struct offcpu_kind kind_of(const struct offcpu *o)
{
	return (struct offcpu_kind){.state = o->state,
				    .cause = o->cause,
				    .waker_context = o->waker_context,
				    .unknown = o->unknown,
				    .flags = (uint8_t)(o->flags & ~OFF_SITE),
				    .arg_kind = o->arg_kind,
				    .syscall = o->syscall,
				    .arg = o->arg_kind == ARG_NONE ? 0 : o->arg};
}

/* The number of a kind, which is written when first used. */
static int put_kind(struct writing *l, struct kinds *k, const struct offcpu *o, uint32_t *id)
{
	const struct offcpu_kind x = kind_of(o);
	uint64_t h = hash_bytes(&x, sizeof(x), 0);
	size_t at = 0;
	while (idmap_next(&k->index, h, &at, id))
		if (!memcmp(&k->v.v[*id], &x, sizeof(x)))
			return 0;
	*id = (uint32_t)k->v.n;
	if (vec_push(&k->v, x) || idmap_put(&k->index, h, *id))
		return err_nomem(l->e);
	return writing_row(l, TABLE_KINDS, &x);
}

/* Intervals must be ordered by thread and time: searches rely on it. */
static int check_order(const struct writing *l, size_t i)
{
	const struct offcpu *o = &l->tl->offcpu.v[i], *before = i ? o - 1 : o;
	if (o->thread > before->thread ||
	    (o->thread == before->thread && o->start_ns >= before->start_ns))
		return 0;
	return err_set(l->e, ERR_FORMAT,
		       "cannot write the store: the off-CPU intervals of a thread are not in "
		       "the order of time");
}

/* For each stack that waits began with, in order: the frame to report. */
static int write_wait_frames(struct writing *l)
{
	size_t n = l->tl->stacks->paths.n;
	uint8_t *seen = mem_zalloc(n + 1, 1);
	int r = seen ? 0 : err_nomem(l->e);
	for (size_t i = 0; !r && i < l->tl->offcpu.n; i++)
		seen[l->tl->offcpu.v[i].path] = 1;
	for (uint32_t path = 1; !r && path < n; path++) {
		struct wait_frame row = {path, seen[path] ? appframe_of_wait(l->tl, path) : 0};
		r = row.frame ? writing_row(l, TABLE_WAIT_FRAMES, &row) : 0;
	}
	mem_free(seen);
	return r;
}

int write_offcpu(struct writing *l)
{
	struct kinds k = {.index = {0}};
	int r = write_wait_frames(l);
	for (size_t i = 0; !r && i < l->tl->offcpu.n; i++) {
		struct offcpu_row row = {.offcpu = l->tl->offcpu.v[i]};
		r = check_order(l, i);
		r = r ? r : put_kind(l, &k, &row.offcpu, &row.kind);
		r = r ? r : writing_row(l, TABLE_OFFCPU, &row);
	}
	vec_release(&k.v);
	idmap_release(&k.index);
	return r;
}

/* --- samples ------------------------------------------------------------------------- */

enum { AT_ONCE = 32 }; /* samples that are looked up together */

/* The tasks and sums of samples of both kinds. */
struct sums {
	VEC(struct sample_task) tasks;
	VEC(struct sample_sum) v;
	struct idmap index;
	struct u64map sum_of; /* task << 32 | path */
};

static int same_task(const struct sample_task *a, const struct sample_task *b)
{
	return a->thread == b->thread && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->event == b->event && a->tracepoint == b->tracepoint;
}

static int task_of(struct sums *s, const struct sample_task *x, uint32_t *id)
{
	uint64_t h = hash_u64((uint64_t)x->thread << 32 | x->comm) ^
		     hash_u64((uint64_t)(uint32_t)x->tid << 17 | (uint64_t)x->event << 1 |
			      x->tracepoint);
	size_t at = 0;
	while (idmap_next(&s->index, h, &at, id))
		if (same_task(&s->tasks.v[*id], x))
			return 0;
	*id = (uint32_t)s->tasks.n;
	return vec_push(&s->tasks, *x) ? ERR_NOMEM : idmap_put(&s->index, h, *id);
}

static uint64_t sum_key(uint32_t task, uint32_t path)
{
	return (uint64_t)task << 32 | path;
}

static int sum_of(struct sums *s, uint32_t task, uint32_t path, uint32_t *id)
{
	uint64_t key = sum_key(task, path);
	struct sample_sum fresh = {.task = task, .path = path};
	if (u64map_get(&s->sum_of, key, id))
		return 0;
	*id = (uint32_t)s->v.n;
	return vec_push(&s->v, fresh) ? ERR_NOMEM : u64map_put(&s->sum_of, key, *id);
}

/* Add a sample to its task and its sum. */
static void add(struct sums *s, uint32_t sum, uint64_t time_ns, uint64_t period)
{
	struct sample_sum *x = &s->v.v[sum];
	struct sample_task *t = &s->tasks.v[x->task];
	t->first_ns = time_ns < t->first_ns ? time_ns : t->first_ns;
	if (sample_is_time(time_ns) && time_ns > t->last_ns)
		t->last_ns = time_ns;
	x->samples++;
	x->weight += period;
}

/* The period for a sample's row: most samples of a task have the same one. */
static uint64_t period_in_row(const struct sums *s, uint32_t sum, uint64_t period)
{
	const struct sample_task *t = &s->tasks.v[s->v.v[sum].task];
	uint64_t most = period < INT64_MAX ? period : INT64_MAX;
	return period == t->period ? UINT64_MAX : most;
}

static struct sample_task task_of_sample(const struct timeline *tl, const struct tl_sample *s)
{
	const struct tl_thread *t = s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
	return (struct sample_task){.first_ns = UINT64_MAX,
				    .thread = s->thread,
				    .comm = s->comm,
				    .pid = t ? t->pid : -1,
				    .tid = t ? t->tid : -1,
				    .event = s->event,
				    .period = s->period};
}

static struct sample_task task_of_hit(const struct tl_event_sample *s)
{
	return (struct sample_task){.first_ns = UINT64_MAX,
				    .thread = TL_NONE,
				    .comm = s->comm,
				    .pid = s->pid,
				    .tid = s->tid,
				    .event = s->event,
				    .period = s->period,
				    .tracepoint = 1};
}

/* Find the sums of n samples. Their entries are spread over tables larger than the CPU's
 * caches: looking up several at once overlaps the cache misses. */
static int sums_of(struct sums *s, const struct timeline *tl, const struct tl_sample *x,
		   size_t n, uint32_t *sum)
{
	uint32_t task[AT_ONCE];
	for (size_t i = 0; i < n; i++) {
		const struct sample_task of = task_of_sample(tl, &x[i]);
		if (task_of(s, &of, &task[i]))
			return ERR_NOMEM;
		u64map_prefetch(&s->sum_of, sum_key(task[i], x[i].path));
	}
	for (size_t i = 0; i < n; i++) {
		if (sum_of(s, task[i], x[i].path, &sum[i]))
			return ERR_NOMEM;
		__builtin_prefetch(&s->v.v[sum[i]]);
	}
	return 0;
}

/* In order of time. Recordings share the table, with ranges of their own. */
static int write_cpu_samples(struct writing *l, struct sums *s)
{
	uint64_t base = (uint64_t)(l->rows[TABLE_RECORDINGS] - 1) << 32;
	struct sample_row row = {.time_ns = UINT64_MAX};
	const struct timeline *tl = l->tl;
	uint32_t sum[AT_ONCE];
	int r = 0;
	for (size_t i = 0; !r && i < tl->samples.n; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		size_t left = tl->samples.n - i;
		if (i % AT_ONCE == 0 && sums_of(s, tl, x, left < AT_ONCE ? left : AT_ONCE, sum))
			return err_nomem(l->e);
		row.nth = x->time_ns == row.time_ns ? row.nth + 1 : base;
		row.time_ns = x->time_ns;
		row.cpu = x->cpu;
		row.sum = sum[i % AT_ONCE];
		row.period = period_in_row(s, row.sum, x->period);
		add(s, row.sum, x->time_ns, x->period);
		r = writing_row(l, TABLE_SAMPLES, &row);
	}
	return r;
}

static int write_hits(struct writing *l, struct sums *s)
{
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->event_samples.n; i++) {
		const struct tl_event_sample *x = &l->tl->event_samples.v[i];
		const struct sample_task of = task_of_hit(x);
		struct sample_row row = {.time_ns = x->time_ns, .cpu = x->cpu};
		uint32_t task;
		if (task_of(s, &of, &task) || sum_of(s, task, x->path, &row.sum))
			return err_nomem(l->e);
		row.period = period_in_row(s, row.sum, x->period);
		add(s, row.sum, x->time_ns, x->period);
		r = writing_row(l, TABLE_EVENT_SAMPLES, &row);
	}
	return r;
}

static int write_sums(struct writing *l, const struct sums *s)
{
	int r = 0;
	for (size_t i = 0; !r && i < s->tasks.n; i++)
		r = writing_row(l, TABLE_TASKS, &s->tasks.v[i]);
	for (size_t i = 0; !r && i < s->v.n; i++)
		r = writing_row(l, TABLE_SUMS, &s->v.v[i]);
	return r;
}

int write_samples(struct writing *l)
{
	struct sums s = {.index = {0}};
	int r = write_cpu_samples(l, &s);
	r = r ? r : write_hits(l, &s);
	r = r ? r : write_sums(l, &s);
	r = r ? r : write_folded(l, s.tasks.v, s.v.v, s.v.n);
	vec_release(&s.tasks);
	vec_release(&s.v);
	idmap_release(&s.index);
	u64map_release(&s.sum_of);
	return r;
}
