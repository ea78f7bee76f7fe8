/* by_thread.c - how long each thread ran and waited. */
#include "libtime/tables/collect.h"
#include "base/parallel.h"
#include "libtime/explain/episodes.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/population/wall.h"
#include "libtime/sched/timeline_query.h"

/* The row of a thread, or of its group, in the window that contains `ns`. */
static int thread_row(struct collect *c, uint64_t ns, uint32_t thread, uint32_t *row)
{
	if (!c->group && rows_is_last(c->rows, collect_window(c, ns), thread)) {
		*row = c->rows->last; /* with the cells below */
		return 0;
	}
	if (collect_row(c, ns, c->group ? c->group[thread] : thread, row))
		return ERR_NOMEM;
	if (!c->group) {
		rows_set(c->rows, *row, COL_THREAD, thread);
		return 0;
	}
	rows_set(c->rows, *row, COL_CGROUP, c->group[thread]);
	rows_set(c->rows, *row, COL_PROGRAM, c->group[thread]);
	return rows_distinct(c->rows, *row, COL_THREADS, thread);
}

struct running {
	struct collect *c;
	uint32_t thread;
};

static int add_piece(void *ctx, const struct tl_sample *s, uint64_t from, uint64_t to)
{
	const struct running *x = ctx;
	uint32_t row;
	(void)s;
	if (thread_row(x->c, from, x->thread, &row))
		return ERR_NOMEM;
	rows_add(x->c->rows, row, COL_RUN, to - from);
	return 0;
}

/* Add [from, to) as running time of a thread. */
static int add_run(struct collect *c, uint32_t thread, uint32_t comm, uint16_t cpu,
		   uint64_t from, uint64_t to)
{
	const struct population *of = &c->q->of;
	struct running x = {c, thread};
	int cut, r = 0;
	if (from >= to || !population_has_cpu(of, c->tl, cpu, cpu) ||
	    !population_has_thread(of, c->tl, thread, comm))
		return 0;
	uint32_t last = collect_window(c, to - 1);
	for (uint32_t w = collect_window(c, from); w <= last && !r; w++) {
		struct population window;
		uint64_t start = from, end = to;
		if (!population_clip(collect_population(c, of, w, &window), &start, &end,
				     &cut) ||
		    start >= end)
			continue;
		r = of->label ? wall_running(c->tl, of, c->samples, thread, start, end,
					     add_piece, &x)
			      : add_piece(&x, NULL, start, end);
	}
	return r;
}

/* Most counts and times of a wait are 0, as these cells are at first. */
static void add_some(struct collect *c, uint32_t row, enum column column, uint64_t more)
{
	if (more)
		rows_add(c->rows, row, column, more);
}

/* The percentiles are of the same waits, with the same lengths, as `tail` ranks (episodes.h).
 * Those before *next were part of an earlier one: attempts to get the same lock. `rest` is the
 * wait without its separate part. */
static int add_length(struct collect *c, const struct population *of, const struct wait *rest,
		      uint32_t row, uint32_t *next)
{
	const struct offcpu *o = rest->offcpu;
	uint32_t at = (uint32_t)(o - c->tl->offcpu.v), last = at;
	struct wait longer;
	if (at < *next)
		return 0;
	if (!wait_ranks_alike(o) || lock_last_try(c->tl, at) != at) {
		struct population ranked = *of;
		ranked.ranked = 1;
		if (!episode_wait(c->tl, &ranked, at, &longer, &last))
			return 0;
		wait_split_off(&longer);
		rest = &longer;
	}
	*next = last + (last != at);
	if (rest->start == rest->end)
		return 0;
	if (last == at && offcpu_rest_ns(c->tl, o))
		*next = at + 2; /* which is part of its bounds */
	uint8_t flags = wait_flags(c->tl, rest);
	add_some(c, row, COL_OPEN, (flags & OFF_OPEN) != 0);
	add_some(c, row, COL_SUSPECT, (flags & OFF_SUSPECT) != 0);
	return flags ? 0 : rows_length(c->rows, row, rest->end - rest->start, 0);
}

/* Add the time of one wait, in the row of its window: its separate part and the rest. */
static void add_parts(struct collect *c, uint32_t row, uint64_t idle, const struct wait *rest)
{
	add_some(c, row, COL_IDLE, idle);
	if (rest->start == rest->end)
		return;
	add_some(c, row, rest->unclear ? COL_UNCLEAR : COL_BLOCKED, rest->blocked);
	add_some(c, row, COL_RUNNABLE, rest->runnable);
	add_some(c, row, COL_PREEMPTED, rest->preempted);
	add_some(c, row, COL_UNKNOWN, rest->unknown);
	add_some(c, row, COL_WAITING, rest->blocked + rest->runnable);
}

/* The same for its windows, the first and the last of which are given. */
static int add_windows(struct collect *c, const struct population *of, const struct offcpu *o,
		       uint32_t first, uint32_t last)
{
	for (uint32_t k = first; k <= last; k++) {
		struct population window;
		struct wait w;
		uint32_t row;
		if (!population_wait(collect_population(c, of, k, &window), c->tl, o, &w))
			continue;
		if (thread_row(c, w.start, o->thread, &row))
			return ERR_NOMEM;
		uint64_t idle = wait_split_off(&w);
		add_parts(c, row, idle, &w);
	}
	return 0;
}

/* Add what is counted once, in the window where the wait begins. */
static int add_wait(struct collect *c, const struct population *of, const struct offcpu *o,
		    uint32_t *next)
{
	struct wait w;
	uint32_t row;
	if (!population_wait(of, c->tl, o, &w))
		return 0;
	uint32_t first = collect_window(c, w.start);
	uint32_t last = collect_window(c, w.end > w.start ? w.end - 1 : w.end);
	if ((first != last && add_windows(c, of, o, first, last)) ||
	    thread_row(c, w.start, o->thread, &row))
		return ERR_NOMEM;
	uint64_t idle = wait_split_off(&w);
	if (first == last)
		add_parts(c, row, idle, &w);
	if (add_length(c, of, &w, row, next))
		return ERR_NOMEM;
	add_some(c, row, COL_IDLE_WAITS, idle != 0);
	if (w.start == w.end)
		return 0;
	rows_add(c->rows, row, COL_WAITS, 1);
	add_some(c, row, COL_STACKS, o->path != 0);
	return 0;
}

/* Add the parts of a wait that have the label. */
static int add_labelled(struct collect *c, const struct offcpu *o, uint32_t *next)
{
	const struct population *of = &c->q->of;
	struct population part;
	uint64_t at = o->start_ns;
	int r = 0;
	if (!collect_wants(c, o->cause) ||
	    !population_has_thread(of, c->tl, o->thread, o->comm))
		return 0;
	if (!of->label)
		return add_wait(c, of, o, next);
	while (!r && population_part(of, o->thread, o->path, &at, o->end_ns, &part))
		r = add_wait(c, &part, o, next);
	return r;
}

/* Add the part of a thread's life that passes the filters. */
static int add_thread(struct collect *c, uint32_t thread)
{
	const struct tl_thread *t = &c->tl->threads.v[thread];
	uint64_t at = t->first_ns;
	uint16_t cpu = t->first_cpu;
	uint32_t next = 0;
	int r = 0;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n && !r; i++) {
		const struct offcpu *o = &c->tl->offcpu.v[i];
		r = add_run(c, thread, o->comm, cpu, at, o->start_ns);
		r = r ? r : add_labelled(c, o, &next);
		at = o->end_ns;
		cpu = o->cpu_in;
	}
	return r ? r : add_run(c, thread, t->comm, cpu, at, t->last_ns);
}

static void hide_from(struct rows *r, size_t first)
{
	r->hidden += r->keys.n > first;
	for (size_t i = first; i < r->keys.n; i++)
		r->keys.v[i].hidden = 1;
}

/* Add the threads from..to. */
static int add_threads(struct collect *c, uint32_t from, uint32_t to)
{
	int r = 0;
	for (uint32_t t = from; t < to && !r; t++) {
		size_t first = c->rows->keys.n;
		uint32_t row;
		int hidden = population_hides_thread(&c->q->of, c->tl, t);
		if (c->tl->threads.v[t].flags & THREAD_IDLE_TASK)
			continue;
		if (hidden && c->group) { /* it shares a row with others */
			c->rows->hidden++;
			continue;
		}
		if (!c->q->filtered && !c->q->every_ns) {
			r = thread_row(c, c->base_ns, t, &row);
		}
		r = r ? r : add_thread(c, t);
		if (!r && !c->group)
			r = rows_finish(c->rows);
		if (hidden)
			hide_from(c->rows, first);
	}
	return r;
}

/* Threads whose rows are made on a thread of its own. */
struct part {
	struct collect c;
	struct rows rows;
	uint32_t from, to;
	int r;
};

static void add_part(void *parts, unsigned i)
{
	struct part *p = (struct part *)parts + i;
	rows_init(&p->rows, p->c.rows->kind, p->c.q->every_ns != 0);
	p->c.rows = &p->rows;
	p->r = add_threads(&p->c, p->from, p->to);
}

/* Each row is of one thread: all CPUs make rows, of as many waits each. */
static int add_in_parts(struct collect *c)
{
	enum { WAITS = 1 << 14 };
	struct part parts[PARALLEL_MAX];
	unsigned n = parallel_parts(c->tl->offcpu.n, WAITS);
	int r = 0;
	for (unsigned k = 0; k < n; k++)
		parts[k] = (struct part){.c = *c,
					 .from = timeline_part_begin(c->tl, k, n),
					 .to = timeline_part_begin(c->tl, k + 1, n)};
	parallel_run(n, add_part, parts);
	for (unsigned k = 0; k < n; k++) {
		r = r ? r : parts[k].r ? parts[k].r : rows_append(c->rows, &parts[k].rows);
		rows_release(&parts[k].rows);
	}
	return r;
}

int collect_threads(struct collect *c)
{
	struct by_thread samples = {.id.n = 0};
	int r = 0;
	if (!c->q->of.label && !c->group)
		return add_in_parts(c);
	if (c->q->of.label)
		r = BY_THREAD_BUILD(&samples, c->tl->threads.n, c->tl->samples);
	c->samples = &samples;
	r = r ? r : add_threads(c, 0, (uint32_t)c->tl->threads.n);
	by_thread_release(&samples);
	c->samples = NULL;
	return r;
}
