#include "libtime/sched/timeline.h"
#include "base/check.h"
#include "base/gallop.h"
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
	return 0;
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

uint32_t timeline_part_begin(const struct timeline *tl, unsigned part, unsigned parts)
{
	const struct tl_thread *v = tl->threads.v;
	size_t n = tl->threads.n, want = tl->offcpu.n / parts * part;
	size_t i = part == parts ? n : PARTITION_POINT(k, 0, n, v[k].offcpu_first < want);
	int nearer = i && i < n && want - v[i - 1].offcpu_first < v[i].offcpu_first - want;
	return (uint32_t)(nearer ? i - 1 : i);
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

/* Does a scheduler loss of that CPU overlap [from, to)? */
static int loss_touches(const struct timeline *tl, const struct loss_index *x, uint16_t cpu,
			uint64_t from, uint64_t to)
{
	if ((size_t)cpu + 1 >= x->first.n)
		return 0;
	size_t begin = x->first.v[cpu];
	size_t lo =
		PARTITION_POINT(i, begin, x->first.v[cpu + 1], tl->losses.v[i].from_ns < to);
	return lo > begin && x->reach.v[lo - 1] > from;
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
		if (!loss_touches(tl, &x, o->cpu_out, o->start_ns, o->end_ns) &&
		    !loss_touches(tl, &x, o->cpu_in, o->start_ns, o->end_ns) &&
		    !loss_touches(tl, &x, o->cpu_wake, o->start_ns, o->end_ns) &&
		    !loss_touches(tl, &x, TL_NOCPU, o->start_ns, o->end_ns))
			continue;
		o->flags |= OFF_SUSPECT;
		if (o->unknown == UNKNOWN_NO_WAKE)
			o->unknown = UNKNOWN_LOST;
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

int timeline_has_switches(const struct timeline *tl)
{
	for (size_t i = 0; i < tl->events.n; i++)
		if (!strcmp(strtab_get(&tl->stacks->strings, tl->events.v[i].name),
			    "sched:sched_switch"))
			return 1;
	return (tl->flags & TL_HAS_RECORDS) != 0;
}

void timeline_thread_sums(const struct timeline *tl, uint32_t thread, struct tl_sums *out)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	*out = (struct tl_sums){.offs = t->offcpu_n, .run = t->last_ns - t->first_ns};
	for (uint32_t i = 0; i < t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[t->offcpu_first + i];
		out->run -= offcpu_ns(o);
		out->blocked += o->blocked_ns;
		out->runnable += offcpu_runnable_ns(o);
		out->preempted += offcpu_preempted_ns(o);
		out->unknown += offcpu_unknown_ns(o);
		out->open += (o->flags & OFF_OPEN) != 0;
		out->suspect += (o->flags & OFF_SUSPECT) != 0;
	}
}

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

uint32_t timeline_offcpu_after(const struct timeline *tl, uint32_t thread, uint64_t from)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return (uint32_t)search_after(BY_KEY(tl->offcpu.v, end_ns), t->offcpu_first,
				      t->offcpu_first + t->offcpu_n, from);
}

uint32_t timeline_offcpu_after_near(const struct timeline *tl, uint32_t thread, uint64_t from,
				    uint32_t near)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return (uint32_t)gallop_after(BY_KEY(tl->offcpu.v, end_ns), t->offcpu_first,
				      t->offcpu_first + t->offcpu_n, near, from);
}

uint16_t timeline_cpu_at(const struct timeline *tl, uint32_t thread, uint64_t ns)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, ns), end = t->offcpu_first + t->offcpu_n;
	if (i < end)
		return tl->offcpu.v[i].start_ns <= ns ? tl->offcpu.v[i].cpu_in
						      : tl->offcpu.v[i].cpu_out;
	return t->offcpu_n ? tl->offcpu.v[end - 1].cpu_in : t->first_cpu;
}

static int run_order(const void *a, const void *b)
{
	const struct tl_run *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/*
 * Sorts runs by start: each CPU's time is cut into slots of a few runs, a first walk counts the
 * runs of each slot, a second one puts each into its slot, then each slot is sorted.
 */
struct run_sorter {
	uint64_t from_ns, slot_ns;
	uint32_t slots; /* of a CPU */
	VEC(uint32_t) at;
	struct tl_run *v; /* NULL: count only */
};

static void put_run(struct run_sorter *s, const struct tl_run *run)
{
	uint64_t slot = (run->start_ns - s->from_ns) / s->slot_ns;
	if (slot >= s->slots) /* an unchecked timeline */
		slot = s->slots - 1;
	uint32_t *at = &s->at.v[(size_t)run->cpu * s->slots + (size_t)slot];
	if (s->v)
		s->v[*at] = *run;
	++*at;
}

static void thread_runs(const struct timeline *tl, uint32_t thread, struct run_sorter *s)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	struct tl_run run = {.thread = thread,
			     .start_ns = t->first_ns,
			     .cpu = t->first_cpu,
			     .prio = t->first_prio};
	for (uint32_t i = 0; i <= t->offcpu_n; i++) {
		const struct offcpu *o =
			i < t->offcpu_n ? &tl->offcpu.v[t->offcpu_first + i] : NULL;
		run.end_ns = o ? o->start_ns : t->last_ns;
		if (run.end_ns > run.start_ns && run.cpu != TL_NOCPU)
			put_run(s, &run);
		if (o) {
			run.start_ns = o->end_ns;
			run.cpu = o->cpu_in;
			run.prio = o->prio_in;
		}
	}
}

/* One more than the highest CPU that a thread ran on. */
static uint32_t count_cpus(const struct timeline *tl)
{
	uint32_t n = 0;
	for (size_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].first_cpu != TL_NOCPU && tl->threads.v[i].first_cpu >= n)
			n = tl->threads.v[i].first_cpu + 1u;
	for (size_t i = 0; i < tl->offcpu.n; i++)
		if (tl->offcpu.v[i].cpu_in != TL_NOCPU && tl->offcpu.v[i].cpu_in >= n)
			n = tl->offcpu.v[i].cpu_in + 1u;
	return n;
}

static int sorter_init(struct run_sorter *s, const struct timeline *tl, uint32_t ncpu)
{
	enum { RUNS_PER_SLOT = 8 };
	uint64_t from = UINT64_MAX, to = 0;
	for (size_t i = 0; i < tl->threads.n; i++) {
		from = tl->threads.v[i].first_ns < from ? tl->threads.v[i].first_ns : from;
		to = tl->threads.v[i].last_ns > to ? tl->threads.v[i].last_ns : to;
	}
	size_t slots = (tl->offcpu.n + tl->threads.n) / RUNS_PER_SLOT / (ncpu ? ncpu : 1) + 1;
	*s = (struct run_sorter){.from_ns = from, .slots = (uint32_t)slots};
	s->slot_ns = to > from ? (to - from) / slots + 1 : 1;
	if (vec_reserve(&s->at, slots * ncpu + 1))
		return ERR_NOMEM;
	s->at.n = slots * ncpu + 1;
	memset(s->at.v, 0, s->at.n * sizeof(*s->at.v));
	return 0;
}

/* Turn counts into the index where each slot begins. */
static uint32_t sum_slots(struct run_sorter *s)
{
	uint32_t at = 0;
	for (size_t i = 0; i < s->at.n; i++) {
		uint32_t n = s->at.v[i];
		s->at.v[i] = at;
		at += n;
	}
	return at;
}

/* Most slots hold a few runs: insertion sort is fastest. */
static void sort_slot(struct tl_run *v, size_t n)
{
	enum { FEW = 32 };
	if (n > FEW) {
		qsort(v, n, sizeof(*v), run_order);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct tl_run run = v[i];
		size_t k = i;
		for (; k && run_order(&run, &v[k - 1]) < 0; k--)
			v[k] = v[k - 1];
		v[k] = run;
	}
}

int timeline_runs(const struct timeline *tl, struct tl_runs *out, struct err *e)
{
	struct run_sorter s;
	uint32_t ncpu = count_cpus(tl), n = 0;
	*out = (struct tl_runs){0};
	int r = sorter_init(&s, tl, ncpu);
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		thread_runs(tl, i, &s);
	if (!r)
		n = sum_slots(&s);
	if (!r)
		r = vec_reserve(&out->v, n + 1) || vec_reserve(&out->first, ncpu + 1)
			    ? ERR_NOMEM
			    : 0;
	for (uint32_t i = 0; !r && i < ncpu; i++)
		out->first.v[out->first.n++] = s.at.v[(size_t)i * s.slots];
	s.v = out->v.v;
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		thread_runs(tl, i, &s);
	for (size_t i = 0; !r && i < s.at.n; i++) /* each is now where the next one begins */
		sort_slot(s.v + (i ? s.at.v[i - 1] : 0), s.at.v[i] - (i ? s.at.v[i - 1] : 0));
	if (!r) {
		out->v.n = n;
		out->first.v[out->first.n++] = n;
	}
	vec_release(&s.at);
	if (r) {
		tl_runs_release(out);
		return err_nomem(e);
	}
	return 0;
}

void tl_runs_release(struct tl_runs *r)
{
	vec_release(&r->v);
	vec_release(&r->first);
}

const struct tl_part *timeline_part_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = NULL;
	for (size_t i = 0; i < tl->parts.n && tl->parts.v[i].thread_first <= thread; i++)
		p = &tl->parts.v[i];
	return p;
}

const struct tl_part *timeline_part_of_cpu(const struct timeline *tl, uint16_t cpu)
{
	const struct tl_part *p = NULL;
	for (size_t i = 0;
	     cpu != TL_NOCPU && i < tl->parts.n && tl->parts.v[i].cpu_first <= cpu; i++)
		p = &tl->parts.v[i];
	return p;
}

const struct tl_recording *timeline_recording_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = timeline_part_of(tl, thread);
	return p ? &p->rec : &tl->rec;
}

uint32_t timeline_flags_of(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *p = timeline_part_of(tl, thread);
	return p ? p->flags : tl->flags;
}

uint16_t timeline_cpu(const struct timeline *tl, uint16_t cpu)
{
	const struct tl_part *p = timeline_part_of_cpu(tl, cpu);
	return p ? (uint16_t)(cpu - p->cpu_first) : cpu;
}

int timeline_has_event(const struct timeline *tl, const char *name)
{
	uint32_t id;
	if (!strtab_find(&tl->stacks->strings, name, &id))
		return 0;
	for (size_t i = 0; i < tl->events.n; i++)
		if (tl->events.v[i].name == id)
			return 1;
	return 0;
}

int timeline_one_clock(const struct timeline *tl)
{
	for (size_t i = 1; i < tl->parts.n; i++)
		if (tl->parts.v[i].rec.host != tl->parts.v[0].rec.host ||
		    tl->parts.v[i].rec.clock != tl->parts.v[0].rec.clock)
			return 0;
	return 1;
}

static uint64_t recorded_in(const struct tl_recording *r, uint64_t from, uint64_t to)
{
	from = from > r->origin_ns ? from : r->origin_ns;
	to = to && to < r->end_ns ? to : r->end_ns;
	return to > from ? to - from : 0;
}

uint64_t timeline_recorded_in(const struct timeline *tl, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < tl->parts.n; i++)
		ns += recorded_in(&tl->parts.v[i].rec, from_ns, to_ns);
	return tl->parts.n ? ns : recorded_in(&tl->rec, from_ns, to_ns);
}

uint64_t timeline_recorded_ns(const struct timeline *tl)
{
	return timeline_recorded_in(tl, 0, 0);
}

const char *timeline_unnamed_events(const struct timeline *tl)
{
	if (tl->flags & TL_HAS_SWITCH)
		return NULL;
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		const char *name = strtab_get(&tl->stacks->strings, ev->name);
		/* by its number only, or without the format of its records */
		if (ev->tracepoint &&
		    (!strncmp(name, "tracepoint ", 11) || !strcmp(name, "sched:sched_switch")))
			return TIMELINE_NAMELESS;
	}
	return NULL;
}

uint64_t timeline_unnamed_waits(const struct timeline *tl, uint64_t *all)
{
	uint64_t n = 0;
	*all = 0;
	for (size_t i = 0; i < tl->offcpu.n && tl->stacks->paths.n > 1; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (!o->path ||
		    tl->threads.v[o->thread].flags & (THREAD_SYSTEM | THREAD_IDLE_TASK))
			continue;
		const struct frame *f =
			&tl->stacks->frames.v[tl->stacks->paths.v[o->path].frame];
		++*all;
		n += !f->name && (f->kind == FRAME_KERNEL || f->addr >> 48 == 0xffff);
	}
	return n;
}

int timeline_stacks_of_some(const struct timeline *tl)
{
	int with = 0, without = 0;
	for (size_t i = 0; i < tl->parts.n; i++)
		if (tl->parts.v[i].chosen_stacks)
			return 1;
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		if (strcmp(strtab_get(&tl->stacks->strings, ev->name), "sched:sched_switch"))
			continue;
		with |= ev->stacks != STACKS_NONE;
		without |= ev->stacks == STACKS_NONE;
	}
	return with && without;
}

/* The process of a wait with a stack; -1 for a wait without. */
static int32_t stacked_pid(const struct timeline *tl, size_t i)
{
	const struct offcpu *o = &tl->offcpu.v[i];
	return o->path && !(o->flags & OFF_NO_STACK) ? tl->threads.v[o->thread].pid : -1;
}

/* The only process that can have most of the stacks: each other cancels one of its own. */
static int32_t most_stacked_pid(const struct timeline *tl)
{
	int32_t most = -1;
	size_t lead = 0;
	for (size_t i = 0; i < tl->offcpu.n && tl->stacks->paths.n > 1; i++) {
		int32_t pid = stacked_pid(tl, i);
		if (pid < 0)
			continue;
		most = lead ? most : pid;
		lead = pid == most ? lead + 1 : lead - 1;
	}
	return most;
}

/* Its main thread, else another one. */
static uint32_t thread_of_process(const struct timeline *tl, int32_t pid)
{
	uint32_t any = TL_NONE;
	for (uint32_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].pid == pid &&
		    (any == TL_NONE || tl->threads.v[i].tid == pid))
			any = i;
	return any;
}

uint32_t timeline_stacked_process(const struct timeline *tl)
{
	int32_t most = most_stacked_pid(tl);
	size_t its = 0, all = 0;
	for (size_t i = 0; i < tl->offcpu.n && most >= 0; i++) {
		int32_t pid = stacked_pid(tl, i);
		all += pid >= 0;
		its += pid >= 0 && pid == most;
	}
	int sure = tl->parts.n < 2 && its && its >= all - all / 10; /* hosts may share a pid */
	return sure ? thread_of_process(tl, most) : TL_NONE;
}

int timeline_answerable(const struct timeline *tl, int need_time, struct err *e)
{
	static const char right[] =
		"perfkit record tail"; /* doctor and --dry-run: perf's line */
	uint32_t f = tl->flags;
	if (f & TL_SAMPLED)
		return err_set(e, ERR_REFUSED,
			       "sched_switch was sampled (as by -F), so waits are missing; "
			       "record with: %s",
			       right);
	if (f & TL_HAS_TOTALS && !need_time)
		return 0;
	if (f & TL_PER_TASK && f & TL_HAS_SWITCH && !(f & TL_HAS_RECORDS))
		return err_set(e, ERR_REFUSED,
			       "recorded per thread: it has switch-outs but no switch-ins; "
			       "record with: %s",
			       right);
	if (f & (TL_HAS_SWITCH | TL_HAS_RECORDS | TL_HAS_DIRECT))
		return 0;
	if (f & TL_HAS_TOTALS)
		return err_set(e, ERR_REFUSED,
			       "perf record --off-cpu kept sums per stack, not when they "
			       "happened; record with: %s",
			       right);
	const char *unnamed = timeline_unnamed_events(tl);
	if (unnamed)
		return err_set(e, ERR_REFUSED, "%s: %s",
			       strtab_get(&tl->stacks->strings, tl->rec.file), unnamed);
	return err_set(e, ERR_REFUSED, "no context switches were recorded; record with: %s",
		       right);
}

const char *waker_context_name(unsigned int context)
{
	static const char *const names[] = {"",        "task",    "softirq-inline",
					    "softirq", "hardirq", "idle"};
	ENTRIES(names, WAKER_IDLE + 1);
	return context < sizeof(names) / sizeof(*names) ? names[context] : "";
}

const char *unknown_reason_name(unsigned int reason)
{
	static const char *const names[] = {"", "hole", "lost", "open edge", "missing wakeup"};
	ENTRIES(names, UNKNOWN_NO_WAKE + 1);
	return reason < sizeof(names) / sizeof(*names) ? names[reason] : "";
}

const char *wait_arg_name(unsigned int kind)
{
	static const char *const names[] = {"",
					    "futex",
					    "fd",
					    "file",
					    "socket",
					    "accepted",
					    "listening",
					    "connected",
					    "pipe",
					    "eventfd",
					    "timerfd",
					    "epoll",
					    "epoll-accepted",
					    "epoll-connected"};
	ENTRIES(names, ARG_KINDS);
	return kind < ARG_KINDS ? names[kind] : "";
}

const char *loss_kind_name(unsigned int kind)
{
	static const char *const names[] = {"lost", "hole", "throttle", "disorder"};
	ENTRIES(names, LOSS_KINDS);
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

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

const char *site_verdict_name(unsigned int verdict)
{
	static const char *const names[] = {"work", "idle", "unclear"};
	ENTRIES(names, SITE_VERDICTS);
	return verdict < SITE_VERDICTS ? names[verdict] : "";
}

const char *site_reason_name(unsigned int reason)
{
	static const char *const names[] = {"cause",
					    "--work-frame",
					    "known work wait",
					    "inside work",
					    "connected socket",
					    "--idle-frame",
					    "takes work",
					    "program's loop",
					    "accepted socket",
					    "no frame",
					    "library's loop",
					    "frame pointers",
					    "asks, is answered",
					    "ended by packets",
					    "timer",
					    "few waits",
					    "no evidence"};
	ENTRIES(names, SITE_REASONS);
	return reason < SITE_REASONS ? names[reason] : "";
}

const char *stack_kind_name(unsigned int kind)
{
	static const char *const names[] = {"", "frame pointers", "dwarf", "lbr"};
	ENTRIES(names, STACK_KINDS);
	return kind < STACK_KINDS ? names[kind] : "";
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
