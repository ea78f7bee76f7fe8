#include "libtime/population/wall.h"
#include "base/search.h"

struct wall {
	const struct timeline *tl;
	struct population of;
	int (*row)(void *ctx, const struct wall_row *r);
	void *ctx;
	struct set_apart *hidden;
	struct by_thread samples;
};

/* Add the row with its thread, unless it is empty. */
static int emit(const struct wall *w, uint32_t thread, struct wall_row r)
{
	r.thread = thread;
	r.pid = w->tl->threads.v[thread].pid;
	r.tid = w->tl->threads.v[thread].tid;
	return r.ns ? w->row(w->ctx, &r) : 0;
}

/* The first sample of a thread at `ns` or later. */
static uint32_t sample_from(const struct timeline *tl, const struct by_thread *s,
			    uint32_t thread, uint64_t ns)
{
	return (uint32_t)PARTITION_POINT(i, s->first.v[thread], s->first.v[thread + 1],
					 tl->samples.v[s->id.v[i]].time_ns < ns);
}

int wall_running(const struct timeline *tl, const struct population *of,
		 const struct by_thread *samples, uint32_t thread, uint64_t from, uint64_t to,
		 int (*piece)(void *ctx, const struct tl_sample *s, uint64_t from, uint64_t to),
		 void *ctx)
{
	uint64_t until = to;
	int rc = 0;
	for (; from < to && !rc; from = until) {
		uint32_t value =
			of->label ? label_lanes_at(of->label, thread, 0, from, &until) : 0;
		until = until < to ? until : to;
		uint32_t next = sample_from(tl, samples, thread, from);
		uint32_t n = sample_from(tl, samples, thread, until) - next;
		uint64_t each = n ? (until - from) / n : 0;
		if (!n && (!of->label || value == of->label_value))
			rc = piece(ctx, NULL, from, until);
		for (uint32_t i = 0; i < n && !rc; i++) {
			const struct tl_sample *s = &tl->samples.v[samples->id.v[next + i]];
			uint64_t at = from + each * i;
			if (population_has_label(of, thread, s->path, s->time_ns))
				rc = piece(ctx, s, at, i + 1 == n ? until : at + each);
		}
	}
	return rc;
}

struct running {
	const struct wall *w;
	uint32_t thread, comm;
};

static int add_piece(void *ctx, const struct tl_sample *s, uint64_t from, uint64_t to)
{
	const struct running *r = ctx;
	return emit(r->w, r->thread,
		    (struct wall_row){.comm = s ? s->comm : r->comm,
				      .path = s ? s->path : 0,
				      .what = s ? NULL : "[running, no sample]",
				      .start_ns = from,
				      .ns = to - from});
}

/* A running interval [from, to): its samples share its time, the last takes the remainder. */
static int add_running(const struct wall *w, uint32_t thread, uint32_t comm, uint64_t from,
		       uint64_t to)
{
	struct running r = {w, thread, comm};
	int cut;
	return population_clip(&w->of, &from, &to, &cut)
		       ? wall_running(w->tl, &w->of, &w->samples, thread, from, to, add_piece,
				      &r)
		       : 0;
}

/* Add the part of a wait that begins at r->start_ns and is called `what`, and move r->start_ns
 * to its end. */
static int add_part(const struct wall *w, uint32_t thread, struct wall_row *r, const char *what,
		    uint64_t ns)
{
	r->what = what;
	r->ns = ns;
	int rc = emit(w, thread, *r);
	r->start_ns += ns;
	return rc;
}

static int add_wait(const struct wall *w, const struct population *of, uint32_t thread,
		    const struct offcpu *o)
{
	struct wait x;
	if (!population_wait(of, w->tl, o, &x))
		return 0;
	enum apart apart = x.apart;
	int open = x.open;
	uint64_t ns = wait_split_off(&x);
	int rc = ns ? site_sums_add(&w->hidden->by[apart], w->tl, o, ns, open) : 0;
	struct wall_row r = {
		.comm = o->comm, .path = o->path, .waiting = 1, .start_ns = x.start};
	const char *what = x.unclear ? "[unclear]" : cause_name(o->cause);
	rc = rc ? rc : add_part(w, thread, &r, what, x.blocked);
	rc = rc ? rc : add_part(w, thread, &r, "runnable", x.runnable - x.preempted);
	rc = rc ? rc : add_part(w, thread, &r, "preempted", x.preempted);
	return rc ? rc : add_part(w, thread, &r, "state unknown", x.unknown);
}

static int add_waiting(const struct wall *w, uint32_t thread, const struct offcpu *o)
{
	struct population part;
	uint64_t at = o->start_ns;
	int rc = 0;
	while (!rc && population_part(&w->of, thread, o->path, &at, o->end_ns, &part))
		rc = add_wait(w, &part, thread, o);
	return rc;
}

/* Count the waits of a system thread as --offcpu does. */
static void hide_system(const struct wall *w, uint32_t thread)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		struct wait x;
		struct population part;
		uint64_t at = o->start_ns;
		while (population_has_thread(&w->of, tl, thread, o->comm) &&
		       population_part(&w->of, thread, o->path, &at, o->end_ns, &part)) {
			if (!population_wait(&part, tl, o, &x))
				continue;
			w->hidden->system++;
			w->hidden->system_ns += x.end - x.start;
		}
	}
}

static int add_thread(const struct wall *w, uint32_t thread)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t at = t->first_ns;
	uint32_t comm = t->comm;
	uint16_t cpu = t->first_cpu; /* it runs there from `at` on */
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		int rc = 0;
		comm = o->comm;
		if (population_has_thread(&w->of, tl, thread, comm)) {
			if (population_has_cpu(&w->of, tl, o->cpu_out, o->cpu_out))
				rc = add_running(w, thread, comm, at, o->start_ns);
			rc = rc ? rc : add_waiting(w, thread, o);
		}
		if (rc)
			return rc;
		at = o->end_ns;
		cpu = o->cpu_in;
	}
	return population_has_thread(&w->of, tl, thread, comm) &&
			       population_has_cpu(&w->of, tl, cpu, cpu)
		       ? add_running(w, thread, comm, at, t->last_ns)
		       : 0;
}

int wall_collect(const struct timeline *tl, const struct population *of,
		 int (*row)(void *ctx, const struct wall_row *r), void *ctx,
		 struct set_apart *hidden, struct err *e)
{
	struct wall w = {.tl = tl, .of = *of, .row = row, .ctx = ctx, .hidden = hidden};
	*hidden = (struct set_apart){0};
	int rc = BY_THREAD_BUILD(&w.samples, tl->threads.n, tl->samples) ? err_nomem(e) : 0;
	for (uint32_t t = 0; t < tl->threads.n && !rc; t++) {
		if (tl->threads.v[t].flags & THREAD_IDLE_TASK)
			continue;
		if (population_hides_thread(of, tl, t))
			hide_system(&w, t);
		else
			rc = add_thread(&w, t);
	}
	by_thread_release(&w.samples);
	return rc ? rc : set_apart_finish(hidden) ? err_nomem(e) : 0;
}
