#include "cmd/report_waits.h"
#include "base/mem.h"
#include "cmd/input/output.h"
#include "cmd/query/waits.h"
#include "render/text/table.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread_row {
	uint32_t thread;
	struct tl_sums sums;
	uint64_t idle, idle_offs;     /* left out of all the other figures */
	uint64_t unclear;             /* of sums.blocked */
	uint64_t stacks;              /* of sums.offs, those with a stack */
	uint64_t n;                   /* waits neither open nor suspect */
	uint64_t p50, p99, p999, max; /* of their lengths, ns */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Nearest rank: the ⌈per_mille·n/1000⌉-th smallest of n sorted values. */
static uint64_t rank(const uint64_t *v, size_t n, uint64_t per_mille)
{
	size_t k = (n * per_mille + 999) / 1000;
	return n ? v[k ? k - 1 : 0] : 0;
}

/* [from, to) of --time and of the CPU and thread filters, as running time of the thread. */
static void add_run(const struct tlinput *ti, uint32_t thread, uint32_t comm, uint16_t cpu,
		    uint64_t from, uint64_t to, struct thread_row *out)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	if (from < f->start)
		from = f->start;
	if (f->stop && to > f->stop)
		to = f->stop;
	if (from < to && tl_cpu_passes(ti, cpu, cpu) && tl_thread_passes(ti, thread, comm))
		out->sums.run += to - from;
}

/* The percentiles are of the same waits, as long, as `tail` ranks (episodes.h). */
static void add_length(const struct tlinput *ti, struct population of, const struct off *o,
		       uint64_t *scratch, struct thread_row *out)
{
	struct wait w;
	of.ranked = 1;
	if (o->flags & OFF_SUSPECT || !population_wait(&of, &ti->tl, o, &w))
		return;
	wait_take_apart(&w);
	if (w.start < w.end && !w.open)
		scratch[out->n++] = w.end - w.start;
}

/* The sums are of all but the idle parts. */
static void add_wait(const struct tlinput *ti, const struct population *of, const struct off *o,
		     uint64_t *scratch, struct thread_row *out)
{
	struct tl_sums *s = &out->sums;
	struct wait w;
	if (!population_wait(of, &ti->tl, o, &w))
		return;
	add_length(ti, *of, o, scratch, out);
	uint64_t idle = wait_take_apart(&w);
	out->idle += idle;
	out->idle_offs += idle != 0;
	if (w.start == w.end)
		return;
	out->unclear += w.unclear ? w.blocked : 0;
	s->blocked += w.blocked;
	s->runnable += w.runnable;
	s->preempted += w.preempted;
	s->unknown += w.unknown;
	s->offs++;
	out->stacks += o->path != 0;
	s->open += !!w.open;
	s->suspect += (o->flags & OFF_SUSPECT) != 0;
}

/* What passes the filters of a thread's life. */
static void sum_thread(const struct tlinput *ti, uint32_t thread, uint64_t *scratch,
		       struct thread_row *out)
{
	const struct tl_thread *t = &ti->tl.threads.v[thread];
	uint64_t at = t->first_ns;
	uint16_t cpu = t->first_cpu;
	struct population of = waits_population(ti, NULL);
	*out = (struct thread_row){.thread = thread};
	for (uint32_t i = t->off_first; i < t->off_first + t->off_n; i++) {
		const struct off *o = &ti->tl.off.v[i];
		add_run(ti, thread, o->comm, cpu, at, o->start_ns, out);
		if (tl_thread_passes(ti, thread, o->comm))
			add_wait(ti, &of, o, scratch, out);
		at = o->end_ns;
		cpu = o->cpu_in;
	}
	add_run(ti, thread, t->comm, cpu, at, t->last_ns, out);
	qsort(scratch, out->n, sizeof(*scratch), by_value);
	out->p50 = rank(scratch, out->n, 500);
	out->p99 = rank(scratch, out->n, 990);
	out->p999 = rank(scratch, out->n, 999);
	out->max = out->n ? scratch[out->n - 1] : 0;
}

static int has_filters(const struct tlinput *ti)
{
	const struct input_opts *o = &ti->opt->in;
	return o->comms.n || o->pids.n || o->tids.n || o->cpus.n || o->time;
}

/* 1 when the thread belongs into the table: all do without filters, else those of which
 * something passes. */
static int is_asked(const struct tlinput *ti, const struct thread_row *r)
{
	return !has_filters(ti) || r->sums.run || r->sums.offs || r->idle;
}

static int by_wait(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;
	uint64_t wx = x->sums.blocked + x->sums.runnable,
		 wy = y->sums.blocked + y->sums.runnable;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	if (x->sums.run != y->sums.run)
		return x->sums.run > y->sums.run ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* How many of the first `top` rows to show: not those of which nothing was seen, the last ones.
 */
static size_t first_rows(const struct thread_row *v, size_t n, size_t top)
{
	while (n && !v[n - 1].sums.run && !v[n - 1].sums.offs && !v[n - 1].idle)
		n--;
	return n < top ? n : top;
}

/* What is above the table: sums of all threads, and what is missing from them. */
static struct thread_row sum_rows(const struct thread_row *v, size_t n)
{
	struct thread_row all = {0};
	for (size_t i = 0; i < n; i++) {
		all.sums.run += v[i].sums.run;
		all.sums.blocked += v[i].sums.blocked;
		all.sums.runnable += v[i].sums.runnable;
		all.sums.preempted += v[i].sums.preempted;
		all.sums.unknown += v[i].sums.unknown;
		all.sums.offs += v[i].sums.offs;
		all.sums.open += v[i].sums.open;
		all.sums.suspect += v[i].sums.suspect;
		all.idle += v[i].idle;
		all.unclear += v[i].unclear;
		all.stacks += v[i].stacks;
		all.idle_offs += v[i].idle_offs;
	}
	return all;
}

static void put_time(struct buf *b, uint64_t ns, const char *what)
{
	units_duration(b, ns);
	buf_str(b, what);
}

static void put_totals(struct buf *out, const struct tlinput *ti, const struct thread_row *v,
		       size_t n)
{
	enum { LABEL = 11, WIDTH = 80 };
	const struct thread_row all = sum_rows(v, n);
	struct buf b = {0};
	units_plural(&b, n, "thread, ", "threads, ");
	units_plural(&b, all.sums.offs, "wait", "waits");
	if (all.stacks && all.stacks < all.sums.offs) {
		buf_str(&b, ", ");
		units_count(&b, all.stacks);
		buf_str(&b, " of them with a stack");
	}
	buf_str(&b, ": ");
	put_time(&b, all.sums.run, " running, ");
	put_time(&b, all.sums.blocked, all.unclear ? " blocked (" : " blocked, ");
	if (all.unclear)
		put_time(&b, all.unclear, " of it unclear), ");
	put_time(&b, all.sums.runnable, " runnable (");
	put_time(&b, all.sums.preempted, " of it preempted), ");
	put_time(&b, all.sums.unknown, " in an unknown state");
	if (all.idle_offs) {
		buf_str(&b, "; ");
		put_time(&b, all.idle, " in ");
		units_plural(&b, all.idle_offs, "idle wait", "idle waits");
		buf_str(&b, " not counted");
	}
	if (all.sums.open || all.sums.suspect) {
		buf_str(&b, "; ");
		units_count(&b, all.sums.open);
		buf_str(&b, " open and ");
		units_plural(&b, all.sums.suspect, "suspect wait", "suspect waits");
		buf_str(&b, " not in the percentiles");
	}
	if (ti->tl.losses.n) {
		buf_str(&b, "; ");
		units_plural(&b, ti->tl.losses.n, "gap", "gaps");
		buf_str(&b, " in the scheduler records");
	}
	if (ti->tl.stray_samples) {
		buf_str(&b, "; ");
		units_plural(&b, ti->tl.stray_samples, "sample", "samples");
		buf_str(&b, " outside of any running interval (wrong clock?)");
	}
	buf_fmt(out, "\n%-*s", LABEL, "scheduler");
	text_wrapped(out, buf_cstr(&b), LABEL, LABEL, WIDTH);
	out->failed = buf_failed(&b) ? buf_failed(&b) : out->failed;
	buf_release(&b);
}

static void length_cell(struct table *t, const struct thread_row *r, uint64_t ns)
{
	if (r->n)
		table_duration(t, ns);
	else
		table_text(t, "-");
}

static void thread_row(struct table *t, const struct tlinput *ti, const struct thread_row *r)
{
	describe_thread(&t->text, &ti->tl, r->thread, ti->tl.threads.v[r->thread].comm);
	table_next(t);
	table_duration(t, r->sums.run);
	table_duration(t, r->idle);
	table_duration(t, r->unclear);
	table_duration(t, r->sums.blocked - r->unclear);
	table_duration(t, r->sums.runnable);
	table_count(t, r->sums.offs);
	length_cell(t, r, r->p50);
	length_cell(t, r, r->p99);
	length_cell(t, r, r->p999);
	length_cell(t, r, r->max);
}

static void put_threads(struct buf *out, const struct tlinput *ti, const struct thread_row *v,
			size_t n)
{
	static const struct table_column columns[] = {
		{"thread"},
		{"running", .right = 1},
		{"idle", .right = 1},
		{"?", .right = 1},
		{"blocked", .right = 1},
		{"runnable", .right = 1},
		{"waits", .right = 1},
		{"p50", .right = 1, .drop = 2},
		{"p99", .right = 1, .drop = 3},
		{"p99.9", .right = 1, .drop = 1},
		{"max", .right = 1},
	};
	struct table t = {columns, sizeof(columns) / sizeof(*columns)};
	for (size_t i = 0; i < n; i++)
		thread_row(&t, ti, &v[i]);
	buf_char(out, '\n');
	table_write(out, &t, output_width());
	table_release(&t);
}

/* The totals, and the first `shown` of n threads. ERR_NOMEM. */
static int print(const struct tlinput *ti, const struct thread_row *v, size_t n, size_t shown,
		 size_t hidden)
{
	struct buf out = {0};
	put_totals(&out, ti, v, n);
	put_threads(&out, ti, v, shown);
	if (shown < n) {
		units_plural(&out, n - shown, "more thread", "more threads");
		buf_str(&out, " (show all with --top 0)\n");
	}
	if (hidden) {
		units_plural(&out, hidden, "thread", "threads");
		buf_str(&out, " of the kernel and perf hidden (show with --system)\n");
	}
	fputs(buf_cstr(&out), stdout);
	int failed = buf_failed(&out);
	buf_release(&out);
	return failed;
}

int report_waits(const struct tlinput *ti, int top, int system)
{
	const struct timeline *tl = &ti->tl;
	struct thread_row *v = mem_zalloc(tl->threads.n + 1, sizeof(*v));
	uint64_t *scratch = mem_alloc((tl->off.n + 1) * sizeof(*scratch));
	size_t n = 0, hidden = 0;
	if (!v || !scratch) {
		mem_free(v);
		mem_free(scratch);
		return ERR_NOMEM;
	}
	for (uint32_t t = 0; t < tl->threads.n; t++) {
		if (tl->threads.v[t].flags & THREAD_IDLE_TASK)
			continue;
		sum_thread(ti, t, scratch, &v[n]);
		if (!is_asked(ti, &v[n]))
			continue;
		if (!system && tl->threads.v[t].flags & THREAD_SYSTEM)
			hidden++;
		else
			n++;
	}
	qsort(v, n, sizeof(*v), by_wait);
	size_t shown = top > 0 ? first_rows(v, n, (size_t)top) : n;
	int rc = print(ti, v, n, shown, hidden);
	mem_free(v);
	mem_free(scratch);
	return rc;
}
