#include "libtime/sched/timeline.h"
#include "libtime/sched/timeline_query.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

int timeline_init(struct timeline *tl, struct stacks *stacks)
{
	uint8_t none;
	uint16_t no_call;
	*tl = (struct timeline){.stacks = stacks};
	return timeline_state(tl, "", &none) || timeline_syscall(tl, "", &no_call) ? ERR_NOMEM
										   : 0;
}

void timeline_release(struct timeline *tl)
{
	if (!tl)
		return;
	vec_release(&tl->roles);
	vec_release(&tl->threads);
	bigvec_release(&tl->offcpu);
	bigvec_release(&tl->samples);
	bigvec_release(&tl->event_samples);
	bigvec_release(&tl->sums);
	vec_release(&tl->events);
	vec_release(&tl->spans);
	vec_release(&tl->labels);
	vec_release(&tl->counters);
	vec_release(&tl->trampolines);
	vec_release(&tl->bindings);
	vec_release(&tl->facts);
	vec_release(&tl->marks);
	vec_release(&tl->interrupts);
	vec_release(&tl->gaps);
	vec_release(&tl->losses);
	vec_release(&tl->totals);
	vec_release(&tl->sites);
	vec_release(&tl->parts);
	vec_release(&tl->syscalls);
	u64map_release(&tl->syscall_of);
	vec_release(&tl->args);
	idmap_release(&tl->arg_of);
	*tl = (struct timeline){0};
}

/* Inlined functions that stacks have in several functions: what waits there is one of these. */
static int mark_shared_inlines(struct timeline *tl)
{
	enum { SEVERAL = UINT32_MAX };
	const struct stacks *s = tl->stacks;
	const struct frame *f = s->frames.v;
	uint32_t *in = mem_zalloc(strtab_count(&s->strings) + 1, sizeof(*in));
	if (!in)
		return ERR_NOMEM;
	for (size_t i = 1; i < s->paths.n; i++) {
		const struct call_path *c = &s->paths.v[i];
		uint32_t name = f[c->frame].name;
		uint32_t caller = f[s->paths.v[c->parent].frame].name;
		if (f[c->frame].flags & FRAME_INLINED && c->parent)
			in[name] = !in[name] || in[name] == caller ? caller : SEVERAL;
	}
	for (size_t i = 1; i < tl->roles.n; i++)
		if (f[i].flags & FRAME_INLINED && in[f[i].name] == SEVERAL)
			tl->roles.v[i] |= ROLE_SHARED_INLINE;
	mem_free(in);
	return 0;
}

int timeline_set_roles(struct timeline *tl, const struct frame_table *t, struct err *e)
{
	const struct stacks *s = tl->stacks;
	tl->roles.n = 0;
	if (vec_reserve(&tl->roles, s->frames.n))
		return err_nomem(e);
	for (; tl->roles.n < s->frames.n; tl->roles.n++) {
		const struct frame *f = &s->frames.v[tl->roles.n];
		unsigned roles = frame_roles(t, f->kind == FRAME_KERNEL,
					     strtab_get(&s->strings, f->name),
					     strtab_get(&s->strings, f->dso));
		tl->roles.v[tl->roles.n] = f->kind == FRAME_MARK ? 0 : roles;
	}
	return mark_shared_inlines(tl) ? err_nomem(e) : 0;
}

int timeline_state(struct timeline *tl, const char *text, uint8_t *index)
{
	uint32_t id;
	if (strtab_intern(&tl->stacks->strings, text, &id))
		return ERR_NOMEM;
	for (*index = 0; *index < tl->nstates; (*index)++)
		if (tl->states[*index] == id)
			return 0;
	if (tl->nstates == TL_MAX_STATES) {
		*index = 0;
		return 0;
	}
	tl->states[tl->nstates++] = id;
	return 0;
}

int timeline_syscall(struct timeline *tl, const char *text, uint16_t *index)
{
	uint32_t id, known;
	*index = 0;
	if (strtab_intern(&tl->stacks->strings, text, &id))
		return ERR_NOMEM;
	if (u64map_get(&tl->syscall_of, id, &known)) {
		*index = (uint16_t)known;
		return 0;
	}
	if (tl->syscalls.n > UINT16_MAX)
		return 0;
	*index = (uint16_t)tl->syscalls.n;
	return vec_push(&tl->syscalls, id) || u64map_put(&tl->syscall_of, id, *index)
		       ? ERR_NOMEM
		       : 0;
}

int timeline_arg(struct timeline *tl, uint64_t value, uint32_t variable, uint16_t *index)
{
	uint64_t hash = hash_u64(hash_u64(value) ^ variable);
	size_t at = 0;
	*index = 0;
	for (uint32_t id; idmap_next(&tl->arg_of, hash, &at, &id);)
		if (tl->args.v[id].value == value && tl->args.v[id].variable == variable) {
			*index = (uint16_t)id;
			return 0;
		}
	if (!tl->args.n && vec_push(&tl->args, (struct tl_arg){0}))
		return ERR_NOMEM;
	if (tl->args.n > UINT16_MAX)
		return 0;
	if (vec_push(&tl->args, ((struct tl_arg){value, variable})))
		return ERR_NOMEM;
	*index = (uint16_t)(tl->args.n - 1);
	return idmap_put(&tl->arg_of, hash, *index);
}

enum { DROP_EVERY = 1 << 17 /* intervals */ };

void offcpu_may_end_at(struct offcpu *o, uint64_t lo)
{
	uint64_t slack = lo < o->start_ns ? offcpu_ns(o) : lo < o->end_ns ? o->end_ns - lo : 0;
	if (slack > o->slack_ns)
		o->slack_ns = slack < SLACK_ALL ? (uint32_t)slack : SLACK_ALL;
	if (!is_length_known(offcpu_ns(o), o->slack_ns))
		o->flags |= OFF_SUSPECT;
}

uint64_t offcpu_rest_ns(const struct timeline *tl, const struct offcpu *o)
{
	const struct offcpu *next = o + 1;
	int has = next < tl->offcpu.v + tl->offcpu.n && next->flags & OFF_REST &&
		  next->thread == o->thread;
	return has ? offcpu_ns(next) : 0;
}

uint64_t offcpu_low_ns(const struct timeline *tl, const struct offcpu *o)
{
	int bounds = o->slack_ns || !(o->flags & OFF_SUSPECT) || offcpu_rest_ns(tl, o);
	return bounds && o->slack_ns < offcpu_ns(o) ? offcpu_ns(o) - o->slack_ns : 0;
}

/* --- finishing ------------------------------------------------------------------------- */

/* Set each thread's slice. 1 if the intervals are in order of threads already. */
static int set_slices(struct timeline *tl)
{
	uint32_t at = 0;
	int sorted = 1;
	for (size_t i = 0; i < tl->threads.n; i++)
		tl->threads.v[i].offcpu_n = 0;
	for (size_t i = 0; i < tl->offcpu.n; i++) {
		tl->threads.v[tl->offcpu.v[i].thread].offcpu_n++;
		sorted &= !i || tl->offcpu.v[i - 1].thread <= tl->offcpu.v[i].thread;
	}
	for (size_t i = 0; i < tl->threads.n; i++) {
		tl->threads.v[i].offcpu_first = at;
		at += tl->threads.v[i].offcpu_n;
	}
	return sorted;
}

/* The intervals from..to, which the parts copy to their places, each those of its threads. */
struct sorting {
	struct timeline *tl;
	struct offcpu *sorted;
	size_t from, to;
	unsigned parts;
};

static void copy_part(void *sorting, unsigned part)
{
	const struct sorting *s = sorting;
	uint32_t first = timeline_part_begin(s->tl, part, s->parts);
	uint32_t end = timeline_part_begin(s->tl, part + 1, s->parts);
	for (size_t i = s->from; i < s->to; i++) {
		const struct offcpu *o = &s->tl->offcpu.v[i];
		struct tl_thread *t = &s->tl->threads.v[o->thread];
		if (o->thread >= first && o->thread < end)
			s->sorted[t->offcpu_first + t->offcpu_n++] = *o;
	}
}

/* Intervals of one thread are pushed in the order of time, so a stable counting sort by thread
 * is enough; those of a store are in order already. */
static int sort_offcpu(struct timeline *tl, struct err *e)
{
	BIGVEC(struct offcpu) sorted = {0};
	size_t n = tl->offcpu.n;
	if (n >= UINT32_MAX)
		return err_set(e, ERR_LIMIT, "more than 2^32 off-CPU intervals");
	if (set_slices(tl))
		return 0;
	int r = bigvec_reserve(&sorted, n, e);
	if (r)
		return r;
	struct sorting s = {tl, sorted.v, 0, 0, parallel_parts(n, DROP_EVERY / 4)};
	for (size_t i = 0; i < tl->threads.n; i++)
		tl->threads.v[i].offcpu_n = 0;
	for (; s.from < n; s.from = s.to) {
		s.to = n - s.from < DROP_EVERY ? n : s.from + DROP_EVERY;
		parallel_run(s.parts, copy_part, &s);
		bigvec_drop(&tl->offcpu, s.to);
	}
	bigvec_release(&tl->offcpu);
	tl->offcpu.v = sorted.v;
	tl->offcpu.n = n;
	tl->offcpu.room = sorted.room;
	tl->offcpu.map_ = sorted.map_;
	return 0;
}

static int loss_order(const void *a, const void *b)
{
	const struct tl_loss *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	if (x->to_ns != y->to_ns)
		return x->to_ns < y->to_ns ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Losses sorted by CPU: CPU c has [first[c], first[c + 1]); reach[i] is the largest to_ns of
 * that CPU's scheduler losses up to i, since throttles and losses may overlap. */
struct loss_index {
	VEC(uint32_t) first;
	VEC(uint64_t) reach;
};

static int loss_index_build(const struct timeline *tl, struct loss_index *x)
{
	uint32_t ncpu = tl->losses.n ? tl->losses.v[tl->losses.n - 1].cpu + 1u : 0;
	if (vec_reserve(&x->first, ncpu + 1) || vec_reserve(&x->reach, tl->losses.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->losses.n; i++) {
		const struct tl_loss *l = &tl->losses.v[i];
		int same = i && tl->losses.v[i - 1].cpu == l->cpu;
		uint64_t reach = same ? x->reach.v[i - 1] : 0;
		if (l->sched && l->to_ns > reach)
			reach = l->to_ns;
		while (x->first.n <= l->cpu)
			x->first.v[x->first.n++] = (uint32_t)i;
		x->reach.v[x->reach.n++] = reach;
	}
	while (x->first.n <= ncpu)
		x->first.v[x->first.n++] = (uint32_t)tl->losses.n;
	return 0;
}

/* Where the first scheduler loss of that CPU begins that overlaps [from, to); else `from_or`. */
static uint64_t loss_from(const struct timeline *tl, const struct loss_index *x, uint16_t cpu,
			  const struct offcpu *o, uint64_t from_or)
{
	if ((size_t)cpu + 1 >= x->first.n)
		return from_or;
	size_t end = x->first.v[cpu + 1];
	size_t i = PARTITION_POINT(k, x->first.v[cpu], end, x->reach.v[k] <= o->start_ns);
	if (i == end || tl->losses.v[i].from_ns >= o->end_ns ||
	    tl->losses.v[i].from_ns >= from_or)
		return from_or;
	return tl->losses.v[i].from_ns;
}

/* What was lost may have ended it. */
static void apply_loss(const struct timeline *tl, const struct loss_index *x, struct offcpu *o)
{
	uint64_t from = loss_from(tl, x, o->cpu_out, o, UINT64_MAX);
	from = loss_from(tl, x, o->cpu_in, o, from);
	from = loss_from(tl, x, o->cpu_wake, o, from);
	from = loss_from(tl, x, TL_NOCPU, o, from);
	if (from == UINT64_MAX)
		return;
	offcpu_may_end_at(o, from);
	if (o->unknown == UNKNOWN_NO_WAKE)
		o->unknown = UNKNOWN_LOST;
}

static int apply_losses(struct timeline *tl)
{
	uint64_t from = UINT64_MAX, to = 0; /* of all that may miss scheduler records */
	if (!tl->losses.n)
		return 0;
	qsort(tl->losses.v, tl->losses.n, sizeof(*tl->losses.v), loss_order);
	for (size_t i = 0; i < tl->losses.n; i++)
		if (tl->losses.v[i].sched) {
			from = tl->losses.v[i].from_ns < from ? tl->losses.v[i].from_ns : from;
			to = tl->losses.v[i].to_ns > to ? tl->losses.v[i].to_ns : to;
		}
	if (!to)
		return 0;
	struct loss_index x = {0};
	int r = loss_index_build(tl, &x);
	for (size_t i = 0; !r && i < tl->offcpu.n; i++) {
		struct offcpu *o = &tl->offcpu.v[i];
		if (o->end_ns <= from || o->start_ns >= to)
			continue;
		apply_loss(tl, &x, o);
	}
	vec_release(&x.first);
	vec_release(&x.reach);
	return r;
}

static int sample_order(const void *a, const void *b)
{
	const struct tl_sample *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/* Samples come in the order of time, and only those of one time may have to change places: each
 * is inserted where it belongs, until that takes more steps than a sort. */
static void sort_samples(struct timeline *tl)
{
	enum { STEPS = 4 }; /* per sample */
	struct tl_sample *v = tl->samples.v;
	size_t left = STEPS * tl->samples.n;
	for (size_t i = 1; i < tl->samples.n && left; i++) {
		struct tl_sample x = v[i];
		size_t k = i;
		for (; k && left && sample_order(&x, &v[k - 1]) < 0; k--, left--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	if (!left && tl->samples.n)
		qsort(v, tl->samples.n, sizeof(*v), sample_order);
}

static int sample_is_stray(const struct timeline *tl, const struct tl_sample *s)
{
	if (s->thread == TL_NONE || !(tl->flags & (TL_HAS_SWITCH | TL_HAS_RECORDS)))
		return 0;
	const struct tl_thread *t = &tl->threads.v[s->thread];
	if (t->flags & THREAD_IDLE_TASK)
		return 0;
	if (s->time_ns < t->first_ns || s->time_ns > t->last_ns)
		return 1;
	uint32_t i = timeline_offcpu_after(tl, s->thread, s->time_ns);
	return i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < s->time_ns;
}

int timeline_finish(struct timeline *tl, struct err *e)
{
	int r = sort_offcpu(tl, e);
	if (r)
		return r;
	if (apply_losses(tl))
		return err_nomem(e);
	sort_samples(tl);
	tl->stray_samples = 0;
	for (size_t i = 0; i < tl->samples.n; i++)
		tl->stray_samples += sample_is_stray(tl, &tl->samples.v[i]);
	tl->finished = 1;
	return 0;
}

/* --- reading --------------------------------------------------------------------------- */

static int check_thread(const struct timeline *tl, uint32_t thread, struct err *e)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t at = t->first_ns, run = 0, offcpu = 0;
	for (uint32_t i = 0; i < t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[t->offcpu_first + i];
		if (o->thread != thread || o->start_ns < at || o->end_ns < o->start_ns ||
		    o->end_ns > t->last_ns)
			return err_set(
				e, ERR_FORMAT,
				"thread %d: interval %llu..%llu overlaps or leaves its life",
				t->tid, (unsigned long long)o->start_ns,
				(unsigned long long)o->end_ns);
		if (o->slack_ns != SLACK_ALL && o->slack_ns > offcpu_ns(o))
			return err_set(e, ERR_FORMAT, "thread %d: slack exceeds its interval",
				       t->tid);
		if (o->blocked_ns > offcpu_ns(o) || (o->unknown && o->blocked_ns))
			return err_set(e, ERR_FORMAT, "thread %d: blocked exceeds its interval",
				       t->tid);
		run += o->start_ns - at;
		offcpu += o->blocked_ns + offcpu_runnable_ns(o) + offcpu_unknown_ns(o);
		at = o->end_ns;
	}
	run += t->last_ns - at;
	if (t->last_ns < t->first_ns || run + offcpu != t->last_ns - t->first_ns)
		return err_set(e, ERR_FORMAT, "thread %d: parts do not sum up to its life",
			       t->tid);
	return 0;
}

int timeline_check(const struct timeline *tl, struct err *e)
{
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		int r = check_thread(tl, i, e);
		if (r)
			return r;
	}
	return 0;
}

const struct tl_site *timeline_site(const struct timeline *tl, uint32_t site)
{
	static const struct tl_site none = {0};
	return site < tl->sites.n ? &tl->sites.v[site] : &none;
}

uint8_t site_flags(const struct tl_site *site)
{
	if (site->verdict == SITE_IDLE)
		return OFF_IDLE;
	if (site->verdict != SITE_UNCLEAR)
		return 0;
	return (uint8_t)(OFF_UNCLEAR | (site->loop ? OFF_LOOP : 0));
}
