/* store_write_rows.c - the large tables: what many rows share is written once, and the rows refer
 * to it. See store_encode.h. */
#include "libtime/store/store_encode.h"
#include "base/mem.h"
#include "libtime/causes/app_frame.h"
#include "libtime/store/store_sums.h"

#include <string.h>

/* --- off-CPU intervals --------------------------------------------------------------- */

struct kinds {
	VEC(struct offcpu_kind) v;
	struct idmap index;
	uint32_t last; /* that of the interval before, which is mostly the same */
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

static int find_kind(const struct kinds *k, const struct offcpu_kind *x, uint64_t hash,
		     uint32_t *id)
{
	size_t at = 0;
	while (idmap_next(&k->index, hash, &at, id))
		if (!memcmp(&k->v.v[*id], x, sizeof(*x)))
			return 1;
	return 0;
}

/* The number of a kind, which is written when first used. */
static int put_kind(struct writing *l, struct kinds *k, const struct offcpu *o, uint32_t *id)
{
	const struct offcpu_kind x = kind_of(o);
	*id = k->last;
	if (k->last < k->v.n && !memcmp(&k->v.v[k->last], &x, sizeof(x)))
		return 0;
	uint64_t h = hash_bytes(&x, sizeof(x), 0);
	int r = 0;
	if (!find_kind(k, &x, h, id)) {
		*id = (uint32_t)k->v.n;
		if (vec_push(&k->v, x) || idmap_put(&k->index, h, *id))
			return err_nomem(l->e);
		r = writing_row(l, TABLE_KINDS, &x);
	}
	k->last = *id;
	return r;
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

/* The sum of the next sample, and its period for the row: most samples of a task have the same
 * one. */
static int put_sum(struct writing *l, struct store_sums *s, uint64_t period,
		   struct sample_row *row)
{
	int same;
	int r = store_sums_next(s, &row->sum, &same, l->e);
	row->period = same ? UINT64_MAX : period;
	return r;
}

/* In order of time. Recordings share the table, with ranges of their own. */
static int write_cpu_samples(struct writing *l, struct store_sums *s)
{
	uint64_t base = (uint64_t)(l->rows[TABLE_RECORDINGS] - 1) << 32;
	struct sample_row row = {.time_ns = UINT64_MAX};
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->samples.n; i++) {
		const struct tl_sample *x = &l->tl->samples.v[i];
		row.nth = x->time_ns == row.time_ns ? row.nth + 1 : base;
		row.time_ns = x->time_ns;
		row.cpu = x->cpu;
		r = put_sum(l, s, x->period, &row);
		r = r ? r : writing_row(l, TABLE_SAMPLES, &row);
	}
	return r;
}

static int write_hits(struct writing *l, struct store_sums *s)
{
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->event_samples.n; i++) {
		const struct tl_event_sample *x = &l->tl->event_samples.v[i];
		struct sample_row row = {.time_ns = x->time_ns, .cpu = x->cpu};
		r = put_sum(l, s, x->period, &row);
		r = r ? r : writing_row(l, TABLE_EVENT_SAMPLES, &row);
	}
	return r;
}

int write_samples(struct writing *l, struct store_sums *s)
{
	const struct folding *folded;
	int r = write_cpu_samples(l, s);
	r = r ? r : write_hits(l, s);
	r = r ? r : store_sums_end(s, &folded, l->e);
	for (size_t i = 0; !r && i < s->tasks.n; i++)
		r = writing_row(l, TABLE_TASKS, &s->tasks.v[i]);
	for (size_t i = 0; !r && i < s->v.n; i++)
		r = writing_row(l, TABLE_SUMS, &s->v.v[i]);
	return r ? r : write_folded(l, folded);
}
