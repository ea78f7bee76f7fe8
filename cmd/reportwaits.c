#include "cmd/reportwaits.h"
#include "base/mem.h"
#include "cmd/waits.h"
#include "render/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread_row {
	uint32_t thread;
	struct tl_sums sums;
	uint64_t idle, idle_offs;     /* left out of all the other figures */
	uint64_t n;                   /* waits neither open nor suspect */
	uint64_t p50, p99, p999, max; /* of their lengths, ns */
};

/* "1.23s", "56.7ms", "890us", "12ns": three digits, at most six characters; with two digits,
 * "1.2s", "57ms", at most five. */
static const char *time_digits(char out[12], uint64_t ns, int digits)
{
	static const struct {
		uint64_t from;
		double unit;
		const char *name;
	} units[] = {
		{1000000000, 1e9, "s"}, {1000000, 1e6, "ms"}, {1000, 1e3, "us"}, {0, 1, "ns"}};
	size_t i = 0;
	while (ns < units[i].from)
		i++;
	double x = (double)ns / units[i].unit;
	int before = x >= (digits > 2 ? 99.95 : 99.5)   ? 3
		     : x >= (digits > 2 ? 9.995 : 9.95) ? 2
							: 1;
	int places = i == 3 || before > digits ? 0 : digits - before;
	snprintf(out, 12, "%.*f%s", places, x, units[i].name);
	return out;
}

static const char *short_time(char out[12], uint64_t ns)
{
	return time_digits(out, ns, 3);
}

static const char *shorter_time(char out[12], uint64_t ns)
{
	return time_digits(out, ns, 2);
}

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

/* The same waits, as long, as `tail` ranks (episodes.h). */
static void add_wait(const struct tlinput *ti, const struct off *o, uint64_t *scratch,
		     struct thread_row *out)
{
	struct tl_sums *s = &out->sums;
	struct wait w;
	if (!tl_clip(ti, o, &w))
		return;
	uint64_t idle = tl_take_idle(&w);
	out->idle += idle;
	out->idle_offs += idle != 0;
	if (w.start == w.end)
		return;
	s->blocked += w.blocked;
	s->runnable += w.runnable;
	s->preempted += w.preempted;
	s->unknown += w.unknown;
	s->offs++;
	s->open += !!w.open;
	s->suspect += (o->flags & OFF_SUSPECT) != 0;
	if (!w.open && !(o->flags & OFF_SUSPECT))
		scratch[out->n++] = w.end - w.start;
}

/* What passes the filters of a thread's life. */
static void sum_thread(const struct tlinput *ti, uint32_t thread, uint64_t *scratch,
		       struct thread_row *out)
{
	const struct tl_thread *t = &ti->tl.threads.v[thread];
	uint64_t at = t->first_ns;
	uint16_t cpu = t->first_cpu;
	*out = (struct thread_row){.thread = thread};
	for (uint32_t i = t->off_first; i < t->off_first + t->off_n; i++) {
		const struct off *o = &ti->tl.off.v[i];
		add_run(ti, thread, o->comm, cpu, at, o->start_ns, out);
		if (tl_thread_passes(ti, thread, o->comm) &&
		    tl_cpu_passes(ti, o->cpu_out, o->cpu_in))
			add_wait(ti, o, scratch, out);
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
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static const char *length(char out[12], const struct thread_row *r, uint64_t ns)
{
	return r->n ? shorter_time(out, ns) : "-";
}

static void print_row(const struct tlinput *ti, const struct thread_row *r)
{
	const struct tl_thread *t = &ti->tl.threads.v[r->thread];
	const char *comm = strtab_get(&ti->names->strings, t->comm);
	struct buf b = {0};
	char run[12], idle[12], blocked[12], delay[12], p50[12], p99[12], p999[12], max[12];
	escape_visible(&b, comm, strlen(comm));
	printf("%-13.*s %7d %6s %6s %6s %6s %6llu %5s %5s %5s %5s\n",
	       (int)escape_prefix(buf_cstr(&b), b.n, 13), buf_cstr(&b), t->tid,
	       short_time(run, r->sums.run), short_time(idle, r->idle),
	       short_time(blocked, r->sums.blocked), short_time(delay, r->sums.runnable),
	       (unsigned long long)r->sums.offs, length(p50, r, r->p50), length(p99, r, r->p99),
	       length(p999, r, r->p999), length(max, r, r->max));
	buf_release(&b);
}

static void print_totals(const struct tlinput *ti, const struct thread_row *v, size_t n)
{
	struct tl_sums all = {0};
	uint64_t idle = 0, idle_offs = 0;
	char run[12], blocked[12], delay[12], preempted[12], unknown[12], rest[12];
	for (size_t i = 0; i < n; i++) {
		all.run += v[i].sums.run;
		all.blocked += v[i].sums.blocked;
		all.runnable += v[i].sums.runnable;
		all.preempted += v[i].sums.preempted;
		all.unknown += v[i].sums.unknown;
		all.offs += v[i].sums.offs;
		all.open += v[i].sums.open;
		all.suspect += v[i].sums.suspect;
		idle += v[i].idle;
		idle_offs += v[i].idle_offs;
	}
	printf("\nscheduler: %zu threads, %llu waits; run %s, blocked %s, sch delay %s\n", n,
	       (unsigned long long)all.offs, short_time(run, all.run),
	       short_time(blocked, all.blocked), short_time(delay, all.runnable));
	printf("           (preempted %s of it), state unknown %s;\n"
	       "           %llu waits open, %llu suspect\n",
	       short_time(preempted, all.preempted), short_time(unknown, all.unknown),
	       (unsigned long long)all.open, (unsigned long long)all.suspect);
	if (idle_offs)
		printf("           %s of %llu idle waits left out\n", short_time(rest, idle),
		       (unsigned long long)idle_offs);
	if (ti->tl.losses.n)
		printf("           %zu places where scheduler records are missing\n",
		       ti->tl.losses.n);
	if (ti->tl.stray_samples)
		printf("           %llu samples outside of any running interval (clock "
		       "trouble?)\n",
		       (unsigned long long)ti->tl.stray_samples);
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
	print_totals(ti, v, n);
	printf("\n%-13s %7s %6s %5s %7s %6s %6s %5s %5s %5s %5s\n", "thread", "tid", "run",
	       "idle", "blocked", "delay", "waits", "p50", "p99", "p99.9", "max");
	size_t shown = top > 0 && (size_t)top < n ? (size_t)top : n;
	for (size_t i = 0; i < shown; i++)
		print_row(ti, &v[i]);
	if (shown < n)
		printf("%zu more threads (--top 0 shows all)\n", n - shown);
	if (hidden)
		printf("%zu kernel threads and perf's own are not shown (--system)\n", hidden);
	mem_free(v);
	mem_free(scratch);
	return 0;
}
