/* record_price.c - short recordings before the planned one: what it costs here, and whether frame
 * pointers suffice; print_estimate and record_trial of record_run.h. */
#include "cmd/record/record_run.h"
#include "libparse/recording.h"
#include "libtime/record/perf_args.h"
#include "libtime/record/price.h"
#include "libtime/record/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void add_sleep(struct words *w)
{
	words_add(w, "--");
	words_pair(w, "sleep", "1");
}

static void count_events(struct price *p, const char *perf)
{
	struct words w = {0};
	struct buf out = {0};
	words_pair(&w, perf, "stat");
	words_pair(&w, "-a", "-x,");
	int any = price_countable(p, &w);
	add_sleep(&w);
	if (any && !w.failed && !run_words_read(&w, &out) && !buf_failed(&out) && out.n &&
	    buf_cstr(&out)[0])
		price_from_stat(p, out.v);
	buf_release(&out);
	words_release(&w);
}

static double cpu_of_children(void)
{
	struct rusage u = {0};
	getrusage(RUSAGE_CHILDREN, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

static void read_counts(struct price *p, const char *path)
{
	struct recording *rec;
	struct err e = {0};
	if (recording_open(&rec, path, &e))
		return;
	price_from_recording(p, rec);
	recording_close(rec);
}

/* Record the events without their stacks for a second, into a file that goes again. */
static void measure_in(struct price *p, const struct record_wish *x, const char *path)
{
	struct words w = {0};
	struct buf out = {0};
	words_pair(&w, x->perf, "record");
	words_add(&w, "-aNq");
	if (!x->old_perf)
		words_add(&w, PLAN_QUICK_END);
	words_pair(&w, "-c", "1");
	if (x->ring)
		words_ring(&w, x->ring);
	words_pair(&w, "-o", path);
	int any = price_countable(p, &w);
	add_sleep(&w);
	double before = cpu_of_children();
	if (any && !w.failed && !run_words_read(&w, &out)) {
		p->cpu_ns = cpu_of_children() - before;
		read_counts(p, path);
	}
	buf_release(&out);
	words_release(&w);
}

/* An empty file of our own, to be removed. 0, or -1 and errno. */
static int make_file(struct buf *path, const char **dir)
{
	const char *tmp = getenv("TMPDIR");
	*dir = tmp && *tmp ? tmp : "/tmp";
	buf_fmt(path, "%s/perfkit-measure.XXXXXX", *dir);
	int fd = buf_failed(path) ? -1 : mkstemp(path->v);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

/* `why`: nothing, or why there can be no such file. */
static void measure_events(struct price *p, const struct record_wish *x, struct buf *why)
{
	struct buf path = {0};
	const char *dir;
	if (make_file(&path, &dir)) {
		buf_fmt(why, "# rate not measured: cannot make a file in %s: %s\n", dir,
			strerror(errno));
	} else {
		measure_in(p, x, buf_cstr(&path));
		unlink(buf_cstr(&path));
	}
	buf_release(&path);
}

void record_trial_begin(struct trial_run *t, const struct chosen *c,
			const struct record_wish *x)
{
	struct words w = {0};
	const char *dir;
	*t = (struct trial_run){.perf = -1};
	if (make_file(&t->path, &dir))
		return;
	words_pair(&w, x->perf, "record");
	trial_words(&w, c);
	if (!x->old_perf)
		words_add(&w, PLAN_QUICK_END);
	words_pair(&w, "-o", buf_cstr(&t->path));
	words_add(&w, "--");
	words_pair(&w, "sleep", "0.5");
	if (!w.failed)
		t->perf = run_start(&w);
	words_release(&w);
}

void record_trial_end(struct trial_run *t, struct chosen *c)
{
	if (t->perf > 0 && !run_finish(t->perf))
		trial_read(&c->trial, buf_cstr(&t->path), NULL);
	if (t->path.n)
		unlink(buf_cstr(&t->path));
	buf_release(&t->path);
}

int record_count(struct price *p, const struct record_plan *plan, const struct record_wish *w)
{
	if (price_plan(p, plan, w))
		return ERR_NOMEM;
	count_events(p, w->perf);
	return 0;
}

double record_rate(const struct record_plan *plan, const struct record_wish *w)
{
	struct price p = {0};
	double bytes = !record_count(&p, plan, w) && price_is_known(&p) ? price_bytes(&p) : 0;
	price_release(&p);
	return bytes;
}

void print_estimate(const struct record_plan *plan, const struct record_wish *w, int measure)
{
	struct price p = {0};
	struct buf b = {0};
	if (!price_plan(&p, plan, w)) {
		if (!measure)
			count_events(&p, w->perf);
		else
			measure_events(&p, w, &b);
		if (!b.n && price_is_known(&p))
			price_text(&b, &p, w);
		else if (!b.n)
			buf_str(&b, "# rate not measured: perf may not count these events "
				    "here (be root, or lower kernel.perf_event_paranoid)\n");
	}
	fputs(buf_cstr(&b), stderr);
	buf_release(&b);
	price_release(&p);
}
