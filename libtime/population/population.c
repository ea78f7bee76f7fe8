#include "libtime/population/population.h"
#include "libtime/causes/sites.h"
#include "base/mem.h"
#include "base/text/glob.h"
#include "libtime/sched/timeline_parts.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_ONES = 4 }; /* last intervals of a thread that may be part of its exit */

static int has_id(const int32_t *v, size_t n, int32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return !n;
}

static int has_comm(const struct population *p, const struct timeline *tl, uint32_t comm)
{
	return !p->ncomms ||
	       glob_any(p->comms, p->ncomms, strtab_get(&tl->stacks->strings, comm));
}

int population_has_task(const struct population *p, const struct timeline *tl, int32_t pid,
			int32_t tid, uint32_t comm)
{
	return has_id(p->pids, p->npids, pid) && has_id(p->tids, p->ntids, tid) &&
	       has_comm(p, tl, comm);
}

int population_lists_cpu(const struct population *p, const struct timeline *tl, uint16_t a,
			 uint16_t b)
{
	a = timeline_cpu(tl, a);
	b = timeline_cpu(tl, b);
	for (size_t i = 0; i < p->ncpus; i++)
		if (p->cpus[i] == a || p->cpus[i] == b)
			return 1;
	return 0;
}

static int has_place(const struct population *p, const struct timeline *tl, uint64_t time_ns,
		     uint16_t cpu)
{
	return time_ns >= p->start_ns && !(p->stop_ns && time_ns > p->stop_ns) &&
	       population_has_cpu(p, tl, cpu, cpu);
}

int population_has_sample(const struct population *p, const struct timeline *tl,
			  const struct tl_sample *s)
{
	const struct tl_thread *t = s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
	if (!has_place(p, tl, s->time_ns, s->cpu) ||
	    !population_has_label(p, s->thread, s->path, s->time_ns))
		return 0;
	/* stores of an older perfkit have the idle task's samples without a thread */
	if (p->meant && !(t && t->flags & THREAD_MEANT))
		return 0;
	return t ? population_has_task(p, tl, t->pid, t->tid, s->comm)
		 : !p->npids && !p->ntids && !p->ncomms;
}

int population_has_event_sample(const struct population *p, const struct timeline *tl,
				const struct tl_event_sample *s)
{
	return has_place(p, tl, s->time_ns, s->cpu) && (!p->meant || s->meant) &&
	       population_has_task(p, tl, s->pid, s->tid, s->comm) &&
	       (!p->label || population_has_label(p, label_lanes_thread(p->label, tl, s),
						  s->path, s->time_ns));
}

/* --- labels --------------------------------------------------------------------------- */

int population_has_label(const struct population *p, uint32_t thread, uint32_t path,
			 uint64_t ns)
{
	uint64_t until;
	return !p->label ||
	       label_lanes_at(p->label, thread, path, ns, &until) == p->label_value;
}

int population_has_span(const struct population *p, const struct timeline *tl, uint32_t span)
{
	const struct tl_span *s = &tl->spans.v[span];
	uint32_t own = p->label ? label_lanes_of_span(p->label, tl, span) : 0;
	return own ? own == p->label_value : population_has_label(p, s->thread, 0, s->start_ns);
}

int population_part(const struct population *p, uint32_t thread, uint32_t path, uint64_t *at,
		    uint64_t to, struct population *part)
{
	uint64_t from = *at, until;
	*part = *p;
	*at = UINT64_MAX;
	if (!p->label)
		return from != UINT64_MAX;
	while (from < to &&
	       label_lanes_at(p->label, thread, path, from, &until) != p->label_value)
		from = until;
	if (from >= to)
		return 0;
	for (until = from; until < to && population_has_label(p, thread, path, until);)
		label_lanes_at(p->label, thread, path, until, &until);
	part->from_ns = from;
	part->to_ns = *at = until;
	return 1;
}

int population_hides_thread(const struct population *p, const struct timeline *tl,
			    uint32_t thread)
{
	return !p->system && tl->threads.v[thread].flags & THREAD_SYSTEM;
}

int population_cut(const struct population *p, uint64_t *start, uint64_t *end, int *cut)
{
	uint64_t stop = p->stop_ns ? p->stop_ns : UINT64_MAX;
	if (*end <= p->start_ns || *start >= stop)
		return 0;
	if (*start < p->start_ns || *end > stop)
		*cut = 1;
	if (*start < p->start_ns)
		*start = p->start_ns;
	if (*end > stop)
		*end = stop;
	if (p->to_ns) {
		*start = *start < p->from_ns ? p->from_ns : *start;
		*end = *end > p->to_ns ? p->to_ns : *end;
	}
	return *end > *start;
}

int population_gap(const struct population *p, const struct timeline *tl, struct tl_gap *g)
{
	uint64_t start = g->end_ns - g->lost_ns, end = g->end_ns;
	int cut = 0;
	if (!population_has_cpu(p, tl, g->cpu, g->cpu) ||
	    !population_clip(p, &start, &end, &cut))
		return 0;
	if (!cut)
		return 1;
	if (g->end_ns - g->start_ns > g->lost_ns) {
		g->thread = TL_NONE; /* without a spinner, it cannot be placed */
	} else {
		g->start_ns = start;
		g->end_ns = end;
	}
	g->lost_ns = end - start;
	g->flags |= OFF_OPEN;
	return 1;
}

/* --- one wait ------------------------------------------------------------------------- */

/* The first part of an interval, to which its site's verdict applies: up to the wakeup. If that
 * is unknown, all of it. */
static uint64_t waiting_ns(const struct offcpu *o)
{
	return o->unknown ? offcpu_ns(o) : o->blocked_ns;
}

/* A futex of an unknown kind may be where a thread rests until there is work. */
static int is_unended(const struct timeline *tl, const struct offcpu *o)
{
	const struct tl_thread *t = &tl->threads.v[o->thread];
	return o->flags & OFF_OPEN && o->cause != CAUSE_FUTEX && o->end_ns == t->last_ns &&
	       o->start_ns > t->first_ns && o->unknown != UNKNOWN_EDGE &&
	       !(t->flags & THREAD_EXITED) && waiting_ns(o) == offcpu_ns(o);
}

/* Did an exit wake it: exit_group in a thread of the process, or a signal? */
static int ended_by_exit(const struct timeline *tl, const struct offcpu *o)
{
	const struct stacks *s = tl->stacks;
	const struct tl_thread *t = &tl->threads.v[o->thread];
	size_t after = t->offcpu_first + t->offcpu_n - (size_t)(o - tl->offcpu.v);
	if (!(t->flags & THREAD_EXITED) || !o->waker_path || after > LAST_ONES)
		return 0;
	for (uint32_t p = o->waker_path; p; p = s->paths.v[p].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[p].frame];
		const char *name = strtab_get(&s->strings, f->name);
		if (f->kind == FRAME_KERNEL &&
		    (!strcmp(name, "do_group_exit") || !strcmp(name, "complete_signal")))
			return 1;
	}
	return 0;
}

static int is_whole_life(const struct timeline *tl, const struct offcpu *o)
{
	const struct tl_thread *t = &tl->threads.v[o->thread];
	const struct tl_recording *rec = timeline_recording_of(tl, o->thread);
	uint64_t life = t->last_ns - t->first_ns, ns = waiting_ns(o);
	if (wait_ranks_alike(o))
		return 0;
	if (ended_by_exit(tl, o))
		return 1;
	return life / 20 * 19 <= ns && life >= (rec->end_ns - rec->origin_ns) / 2 &&
	       !is_unended(tl, o);
}

static enum apart apart_of(const struct population *p, const struct timeline *tl,
			   const struct offcpu *o)
{
	if (p->idle || !waiting_ns(o))
		return APART_NOT;
	if (p->ranked && is_whole_life(tl, o))
		return APART_LIFE;
	if (o->flags & OFF_IDLE)
		return APART_IDLE;
	if (!(o->flags & OFF_UNCLEAR))
		return APART_NOT;
	if (p->no_unclear)
		return APART_LEFT_OUT;
	return p->ranked && !likely_waited_for(p->likely, o) ? APART_UNCLEAR : APART_NOT;
}

/* Is it still open without its waiting time? */
static int is_late_open(const struct population *p, const struct offcpu *o)
{
	return o->flags & OFF_OPEN || p->start_ns > o->start_ns + waiting_ns(o) ||
	       (p->stop_ns && p->stop_ns < o->end_ns);
}

int population_wait(const struct population *p, const struct timeline *tl,
		    const struct offcpu *o, struct wait *out)
{
	uint64_t wake = o->start_ns + o->blocked_ns;
	*out = (struct wait){.offcpu = o, .start = o->start_ns, .end = o->end_ns};
	if ((p->sites && !p->sites[timeline_site(tl, o->site) - tl->sites.v]) ||
	    !population_has_cpu(p, tl, o->cpu_out, o->cpu_in) ||
	    !population_clip(p, &out->start, &out->end, &out->open))
		return 0;
	out->open |= o->flags & OFF_OPEN;
	out->late_open = is_late_open(p, o);
	out->apart = apart_of(p, tl, o);
	out->unclear = o->flags & OFF_UNCLEAR && out->apart == APART_NOT;
	out->ongoing = is_unended(tl, o) && out->start == o->start_ns && out->end == o->end_ns;
	if (o->unknown) {
		out->unknown = out->end - out->start;
		return 1;
	}
	uint64_t split = wake < out->start ? out->start : wake > out->end ? out->end : wake;
	out->blocked = split - out->start;
	out->runnable = out->end - split;
	out->preempted = o->flags & OFF_RUNNING ? out->runnable : 0;
	return 1;
}

uint8_t wait_flags(const struct timeline *tl, const struct wait *w)
{
	uint64_t rest = offcpu_rest_ns(tl, w->offcpu);
	uint8_t flags = w->offcpu->flags & OFF_SUSPECT;
	if (w->open || (rest && w->offcpu[1].flags & OFF_OPEN))
		flags |= OFF_OPEN;
	if (!is_length_known(w->end - w->start + rest, rest))
		flags |= OFF_SUSPECT;
	return flags;
}

uint64_t wait_split_off(struct wait *w)
{
	uint64_t ns = w->blocked + w->unknown;
	if (w->apart == APART_NOT)
		return 0;
	w->blocked = w->unknown = 0;
	w->start = w->end - w->runnable;
	w->open = w->late_open;
	w->ongoing = 0;
	return ns;
}

/* --- sums by site --------------------------------------------------------------------- */

int site_sums_add(struct site_sums *s, const struct timeline *tl, const struct offcpu *o,
		  uint64_t ns, int open)
{
	uint64_t told = sites_told(tl, o);
	uint32_t i = (uint32_t)s->v.n;
	if (!u64map_get(&s->index, told, &i) &&
	    (vec_push(&s->v, ((struct site_sum){.site = o->site})) ||
	     u64map_put(&s->index, told, i)))
		return ERR_NOMEM;
	struct site_sum *x = &s->v.v[i];
	x->count++;
	x->ns += ns;
	s->count++;
	s->ns += ns;
	if (ns > x->max_ns) {
		x->max_ns = ns;
		x->path = o->path;
		x->comm = o->comm;
		x->open = (uint8_t)(open != 0);
	}
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	return vec_push(&s->times, ((struct radix_key){ns, i})) ? ERR_NOMEM : 0;
}

static int sum_order(const void *a, const void *b)
{
	const struct site_sum *x = a, *y = b;
	if (x->max_ns != y->max_ns)
		return x->max_ns > y->max_ns ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

/* The median of each site: the ⌈n/2⌉-th shortest wait. */
static int find_medians(struct site_sums *s)
{
	size_t n = s->times.n;
	struct radix_key *other = mem_alloc((n + 1) * sizeof(*other));
	uint64_t *seen = mem_zalloc(s->v.n + 1, sizeof(*seen));
	int r = other && seen ? 0 : ERR_NOMEM;
	const struct radix_key *t = r || !n ? NULL : radix_sort(s->times.v, other, n);
	for (size_t i = 0; t && i < n; i++) {
		struct site_sum *x = &s->v.v[t[i].at];
		if (seen[t[i].at]++ == (x->count - 1) / 2)
			x->p50_ns = t[i].key;
	}
	mem_free(other);
	mem_free(seen);
	return r;
}

int site_sums_finish(struct site_sums *s)
{
	int r = find_medians(s);
	if (s->v.n)
		qsort(s->v.v, s->v.n, sizeof(*s->v.v), sum_order);
	vec_release(&s->times);
	u64map_release(&s->index);
	return r;
}

void site_sums_release(struct site_sums *s)
{
	vec_release(&s->v);
	vec_release(&s->times);
	u64map_release(&s->index);
}

int set_apart_any(const struct set_apart *x)
{
	uint64_t n = x->system;
	for (int i = 0; i < APART_KINDS; i++)
		n += x->by[i].count;
	return n != 0;
}

int set_apart_finish(struct set_apart *x)
{
	for (int i = 0; i < APART_KINDS; i++)
		if (site_sums_finish(&x->by[i]))
			return ERR_NOMEM;
	return 0;
}

void set_apart_release(struct set_apart *x)
{
	for (int i = 0; i < APART_KINDS; i++)
		site_sums_release(&x->by[i]);
}
