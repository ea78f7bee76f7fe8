#include "libtime/population/wall.h"
#include "libtime/population/thread_samples.h"

struct wall {
	const struct timeline *tl;
	struct population of;
	int (*row)(void *ctx, const struct wall_row *r);
	void *ctx;
	struct set_apart *hidden;
	struct thread_samples samples;
};

/* Fill in who it was, unless nothing was. */
static int emit(const struct wall *w, uint32_t thread, struct wall_row r)
{
	r.thread = thread;
	r.pid = w->tl->threads.v[thread].pid;
	r.tid = w->tl->threads.v[thread].tid;
	return r.ns ? w->row(w->ctx, &r) : 0;
}

/* A running interval [from, to): its samples share its time, the last takes the remainder. */
static int add_running(const struct wall *w, uint32_t thread, uint32_t comm, uint64_t from,
		       uint64_t to, uint32_t *next)
{
	const struct timeline *tl = w->tl;
	uint32_t end = w->samples.first[thread + 1], begin, n = 0;
	int cut;
	if (!population_clip(&w->of, &from, &to, &cut))
		return 0;
	while (*next < end && tl->samples.v[w->samples.at[*next]].time_ns < from)
		++*next;
	begin = *next;
	while (*next < end && tl->samples.v[w->samples.at[*next]].time_ns < to) {
		++*next;
		n++;
	}
	if (!n)
		return emit(w, thread,
			    (struct wall_row){.comm = comm,
					      .what = "[running, no sample]",
					      .start_ns = from,
					      .ns = to - from});
	uint64_t each = (to - from) / n, left = (to - from) - each * n;
	for (uint32_t i = 0; i < n; i++) {
		const struct tl_sample *s = &tl->samples.v[w->samples.at[begin + i]];
		int rc = emit(w, thread,
			      (struct wall_row){.comm = s->comm,
						.path = s->path,
						.start_ns = from + each * i,
						.ns = each + (i + 1 == n ? left : 0)});
		if (rc)
			return rc;
	}
	return 0;
}

/* The part of a wait that begins at r->start_ns and is called `what`; the next begins where it
 * ends. */
static int add_part(const struct wall *w, uint32_t thread, struct wall_row *r, const char *what,
		    uint64_t ns)
{
	r->what = what;
	r->ns = ns;
	int rc = emit(w, thread, *r);
	r->start_ns += ns;
	return rc;
}

static int add_waiting(const struct wall *w, uint32_t thread, const struct off *o)
{
	struct wait x;
	if (!population_wait(&w->of, w->tl, o, &x))
		return 0;
	enum apart apart = x.apart;
	int open = x.open;
	uint64_t ns = wait_take_apart(&x);
	int rc = ns ? site_sums_add(&w->hidden->by[apart], o, ns, open) : 0;
	struct wall_row r = {
		.comm = o->comm, .path = o->path, .waiting = 1, .start_ns = x.start};
	const char *what = x.unclear ? "[unclear]" : cause_name(o->cause);
	rc = rc ? rc : add_part(w, thread, &r, what, x.blocked);
	rc = rc ? rc : add_part(w, thread, &r, "runnable", x.runnable - x.preempted);
	rc = rc ? rc : add_part(w, thread, &r, "preempted", x.preempted);
	return rc ? rc : add_part(w, thread, &r, "state unknown", x.unknown);
}

/* The waits of a thread that is not shown, counted as --offcpu counts them. */
static void hide_system(const struct wall *w, uint32_t thread)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	for (uint32_t i = t->off_first; i < t->off_first + t->off_n; i++) {
		const struct off *o = &tl->off.v[i];
		struct wait x;
		if (!population_has_thread(&w->of, tl, thread, o->comm) ||
		    !population_wait(&w->of, tl, o, &x))
			continue;
		w->hidden->system++;
		w->hidden->system_ns += x.end - x.start;
	}
}

static int add_thread(const struct wall *w, uint32_t thread)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t at = t->first_ns;
	uint32_t next = w->samples.first[thread], comm = t->comm;
	uint16_t cpu = t->first_cpu; /* where it runs from `at` on */
	for (uint32_t i = t->off_first; i < t->off_first + t->off_n; i++) {
		const struct off *o = &tl->off.v[i];
		int rc = 0;
		comm = o->comm;
		if (population_has_thread(&w->of, tl, thread, comm)) {
			if (population_has_cpu(&w->of, tl, o->cpu_out, o->cpu_out))
				rc = add_running(w, thread, comm, at, o->start_ns, &next);
			rc = rc ? rc : add_waiting(w, thread, o);
		}
		if (rc)
			return rc;
		at = o->end_ns;
		cpu = o->cpu_in;
	}
	return population_has_thread(&w->of, tl, thread, comm) &&
			       population_has_cpu(&w->of, tl, cpu, cpu)
		       ? add_running(w, thread, comm, at, t->last_ns, &next)
		       : 0;
}

int wall_collect(const struct timeline *tl, const struct population *of,
		 int (*row)(void *ctx, const struct wall_row *r), void *ctx,
		 struct set_apart *hidden, struct err *e)
{
	struct wall w = {.tl = tl, .of = *of, .row = row, .ctx = ctx, .hidden = hidden};
	*hidden = (struct set_apart){0};
	int rc = thread_samples_make(&w.samples, tl) ? err_nomem(e) : 0;
	for (uint32_t t = 0; t < tl->threads.n && !rc; t++) {
		if (tl->threads.v[t].flags & THREAD_IDLE_TASK)
			continue;
		if (population_hides_thread(of, tl, t))
			hide_system(&w, t);
		else
			rc = add_thread(&w, t);
	}
	thread_samples_release(&w.samples);
	return rc ? rc : set_apart_finish(hidden) ? err_nomem(e) : 0;
}
