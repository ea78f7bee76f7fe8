/*
 * timeline.c - `perfkit timeline`: threads and CPUs over time as one SVG.
 */
#include "base/mem.h"
#include "cmd/input/output.h"
#include "cmd/verbs.h"
#include "cmd/answer/tail_out.h"
#include "cmd/cli/say.h"
#include "cmd/query/caption.h"
#include "libtime/population/wall.h"
#include "render/tail/site_words.h"
#include "render/timeline/timeline_svg.h"
#include "render/text/units.h"
#include "render/text/weight.h"

#include <string.h>
#include <unistd.h>

struct timeline_opts {
	struct tail_opts t; /* first, for the rows of tail, waits and input */
	const char *output, *title, *subtitle, *notes;
	double width;
	int arrows;
	int cpus, threads, by_time, merge_threads, no_script, tail;
};

#define AT(field) offsetof(struct timeline_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to draw"),
	{"cpus", 0, OPT_FLAG, AT(cpus), NULL, "only rows of CPUs"},
	{"threads", 0, OPT_FLAG, AT(threads), NULL, "only rows of threads"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the worst episodes (perfkit help tail),\none below the other (the first 10, or --top "
	 "N)"},
	{"top", 0, OPT_U64, AT(t.top), "N",
	 "the N most active threads (default 50; 0 = all);\nwith --tail: the N longest "
	 "episodes"},
	{"by-time", 0, OPT_FLAG, AT(by_time), NULL,
	 "sort rows by first activity, not by weight"},
	{"merge-threads", 0, OPT_FLAG, AT(merge_threads), NULL,
	 "threads of a pool below one heading:\nwork-0, work-1 ... below work-N, folded in a "
	 "browser"},
	{"arrows", 0, OPT_INT, AT(arrows), "N",
	 "draw at most N wakeups at a time (default 150)"},
	OPT_HEADING("Output"),
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "write to FILE instead of stdout"},
	{"title", 0, OPT_STRING, AT(title), "TEXT", "first line of the picture"},
	{"subtitle", 0, OPT_STRING, AT(subtitle), "TEXT",
	 "second line (default: host, time and length)"},
	{"notes", 0, OPT_STRING, AT(notes), "TEXT", "a comment inside the file"},
	{"width", 0, OPT_REAL, AT(width), "PX", "width of the picture (default 1200)"},
	{"no-script", 0, OPT_FLAG, AT(no_script), NULL,
	 "a still picture, without script and data"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

enum { MAX_HIDDEN = 5, TOP_THREADS = 50, MAX_LABELLED = 4096 };

struct drawing {
	const struct timeline_opts *opt;
	struct tlinput ti;
	struct tl_pick_options pick_options;
	struct tl_pick pick;
	uint8_t *threads, *cpus;           /* by number: 1 = chosen; NULL = all */
	VEC(struct tl_highlight) labelled; /* of --label; row is at first the thread */
	struct buf filters;
	struct buf hidden[MAX_HIDDEN];
	const char *hidden_text[MAX_HIDDEN];
	size_t nhidden;
};

static int usage(const char *what)
{
	say_line("perfkit timeline: %s (see: perfkit help timeline)", what);
	return 2;
}

static int check(const struct timeline_opts *o)
{
	if (o->cpus && o->threads)
		return usage("--cpus and --threads exclude each other");
	if (o->arrows < 0)
		return usage("--arrows is a count");
	if (!(o->width >= 400 && o->width <= 100000))
		return usage("--width is out of its range");
	if (!o->output && isatty(STDOUT_FILENO))
		return usage("standard output is a terminal: name the picture with -o FILE");
	return 0;
}

/* --- the filters ----------------------------------------------------------------- */

static int set_window(struct drawing *d, struct err *e)
{
	const struct sample_filter *f = &d->ti.in.fold.aggregate.filter;
	const struct tl_recording *r = &d->ti.tl.rec;
	struct tl_pick_options *o = &d->pick_options;
	o->from_ns = f->start > r->origin_ns ? f->start : r->origin_ns;
	o->to_ns = f->stop && f->stop < r->end_ns ? f->stop : r->end_ns;
	if (o->from_ns < o->to_ns)
		return 0;
	return err_set(e, ERR_REFUSED, "%s: nothing was recorded in that time", d->ti.path);
}

static int cpu_asked(const struct drawing *d, uint16_t cpu)
{
	return cpu < d->ti.tl.rec.ncpus && d->cpus[cpu];
}

/* 1 if the thread was on one of the chosen CPUs. */
static int ran_on_cpus(const struct drawing *d, const struct tl_thread *t)
{
	const struct timeline *tl = &d->ti.tl;
	if (!d->cpus || cpu_asked(d, t->first_cpu))
		return 1;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++)
		if (cpu_asked(d, tl->offcpu.v[i].cpu_out) ||
		    cpu_asked(d, tl->offcpu.v[i].cpu_in))
			return 1;
	return 0;
}

/* 1 if the thread passes by any name that it had. */
static int passes(const struct drawing *d, uint32_t thread)
{
	const struct timeline *tl = &d->ti.tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	int named = tl_thread_passes(&d->ti, thread, t->comm);
	for (uint32_t i = 0; i < t->offcpu_n && !named; i++)
		named = tl_thread_passes(&d->ti, thread,
					 tl->offcpu.v[t->offcpu_first + i].comm);
	return named && ran_on_cpus(d, t);
}

static int set_filters(struct drawing *d, struct err *e)
{
	const struct input *in = &d->ti.in;
	const struct timeline *tl = &d->ti.tl;
	if (in->cpus.n) {
		d->cpus = mem_zalloc((size_t)tl->rec.ncpus + 1, 1);
		if (!d->cpus)
			return err_nomem(e);
		for (size_t i = 0; i < in->cpus.n; i++)
			if (in->cpus.v[i] < tl->rec.ncpus)
				d->cpus[in->cpus.v[i]] = 1;
	}
	d->threads = mem_zalloc(tl->threads.n + 1, 1);
	if (!d->threads)
		return err_nomem(e);
	for (uint32_t i = 0; i < tl->threads.n; i++)
		d->threads[i] = (uint8_t)passes(d, i);
	return 0;
}

static int add_labelled(void *ctx, const struct wall_row *w)
{
	struct drawing *d = ctx;
	struct tl_highlight h = {w->start_ns, w->start_ns + w->ns, w->thread},
			    *last = d->labelled.n ? &d->labelled.v[d->labelled.n - 1] : NULL;
	if (last && last->row == h.row && last->to_ns == h.from_ns) {
		last->to_ns = h.to_ns;
		return 0;
	}
	return vec_push(&d->labelled, h);
}

/* Join nearby intervals if there are more than a picture can show. */
static void join_labelled(struct drawing *d)
{
	const struct tl_pick_options *o = &d->pick_options;
	uint64_t near = (o->to_ns - o->from_ns) / MAX_LABELLED;
	size_t n = 0;
	if (d->labelled.n <= MAX_LABELLED)
		return;
	for (size_t i = 0; i < d->labelled.n; i++) {
		struct tl_highlight h = d->labelled.v[i], *last = &d->labelled.v[n ? n - 1 : 0];
		if (n && last->row == h.row && h.from_ns - last->to_ns < near)
			last->to_ns = h.to_ns;
		else
			d->labelled.v[n++] = h;
	}
	d->labelled.n = n;
	struct buf *b = &d->hidden[d->nhidden];
	buf_str(b, "stretches with the label less than ");
	units_duration(b, near);
	buf_str(b, " apart are marked as one");
	d->hidden_text[d->nhidden++] = buf_cstr(b);
}

/* Choose only threads that have the label at some time, and mark that time. */
static int set_labelled(struct drawing *d, struct err *e)
{
	struct population of = waits_population(&d->ti, &d->opt->t.wait);
	struct set_apart none;
	if (!of.label)
		return 0;
	of.idle = of.system = 1;
	int rc = wall_collect(&d->ti.tl, &of, add_labelled, d, &none, e);
	set_apart_release(&none);
	if (rc)
		return e->code ? e->code : err_nomem(e);
	for (size_t t = 0, i = 0; t < d->ti.tl.threads.n; t++) {
		int any = 0;
		for (; i < d->labelled.n && d->labelled.v[i].row == t; i++)
			any = 1;
		d->threads[t] &= any;
	}
	join_labelled(d);
	return 0;
}

/* Replace threads by their rows in the picture. */
static int place_labelled(struct drawing *d)
{
	size_t threads = d->ti.tl.threads.n, n = 0;
	uint32_t *row_of = d->labelled.n ? mem_zalloc(threads, sizeof(*row_of)) : NULL;
	if (d->labelled.n && !row_of)
		return ERR_NOMEM;
	for (size_t i = 0; i < d->pick.rows.n && row_of; i++)
		if (d->pick.rows.v[i].kind == TLROW_THREAD)
			row_of[d->pick.rows.v[i].id] = (uint32_t)i + 1;
	for (size_t i = 0; i < d->labelled.n; i++) {
		struct tl_highlight h = d->labelled.v[i];
		if (!row_of[h.row])
			continue;
		h.row = row_of[h.row] - 1;
		d->labelled.v[n++] = h;
	}
	d->labelled.n = n;
	mem_free(row_of);
	return 0;
}

static int pick(struct drawing *d, struct err *e)
{
	struct tl_pick_options *o = &d->pick_options;
	int rc = set_window(d, e);
	rc = rc ? rc : set_filters(d, e);
	rc = rc ? rc : set_labelled(d, e);
	o->allowed = d->threads;
	o->cpus = d->cpus;
	o->top = d->opt->t.top == TAIL_NO_TOP ? TOP_THREADS : (size_t)d->opt->t.top;
	o->show_system = d->opt->t.wait.system;
	/* other threads on the CPUs are not known then */
	o->no_cpus = d->opt->threads || (d->ti.tl.flags & TL_PER_TASK && !d->opt->cpus);
	o->no_threads = d->opt->cpus;
	o->by_time = d->opt->by_time;
	o->merge = d->opt->merge_threads;
	rc = rc ? rc : tl_pick(&d->ti.tl, o, &d->pick, e);
	return rc ? rc : place_labelled(d) ? err_nomem(e) : 0;
}

/* --- what is not in the picture ---------------------------------------------------------- */

static void hide(struct drawing *d, size_t n, const char *what, uint64_t ns, const char *end)
{
	struct buf *b = &d->hidden[d->nhidden];
	if (!n)
		return;
	buf_fmt(b, "%s%zu %s thread%s", d->nhidden ? "" : "not shown: ", n, what,
		n == 1 ? "" : "s");
	if (ns) {
		buf_str(b, ", ran ");
		weight_text(b, (double)ns, 1, 1, "ns");
	}
	buf_str(b, end);
	d->hidden_text[d->nhidden++] = buf_cstr(b);
}

static void say_hidden(struct drawing *d)
{
	const struct tl_pick *p = &d->pick;
	struct buf *unnamed_note;
	if (d->opt->cpus)
		return;
	hide(d, p->left, "less active", p->left_ns, " (--top)");
	hide(d, p->quiet, "sleeping", 0, "");
	hide(d, p->system, "system", p->system_ns, " (--system)");
	unnamed_note = &d->hidden[d->nhidden];
	if (describe_unnamed_waits(unnamed_note, &d->ti.tl))
		d->hidden_text[d->nhidden++] = buf_cstr(unnamed_note);
}

/* --- drawing ------------------------------------------------------------------------------ */

static void svg_options(const struct timeline_opts *opt, struct tl_svg_options *o)
{
	tl_svg_defaults(o);
	o->title = opt->title ? opt->title : opt->tail ? "The worst episodes" : o->title;
	o->subtitle = opt->subtitle;
	o->notes = opt->notes;
	o->width = opt->width;
	o->max_arrows = (size_t)opt->arrows;
	o->no_script = opt->no_script;
	o->no_unclear = opt->t.wait.no_unclear;
}

static int write_picture(struct drawing *d, struct err *e)
{
	const struct timeline_opts *opt = d->opt;
	struct tl_svg_options o;
	struct outfile out;
	struct tl_panel p = {.from_ns = d->pick_options.from_ns,
			     .to_ns = d->pick_options.to_ns,
			     .zero_ns = d->ti.tl.rec.origin_ns,
			     .clip = opt->t.wait.tl.in.time != NULL,
			     .rows = d->pick.rows.v,
			     .nrows = d->pick.rows.n,
			     .highlights = d->labelled.v,
			     .nhighlights = d->labelled.n};
	svg_options(opt, &o);
	filters_all(&d->filters, &d->ti, &opt->t.wait);
	o.filters = buf_cstr(&d->filters);
	o.hidden = d->hidden_text;
	o.n_hidden = d->nhidden;
	int rc = output_open(&out, opt->output, e);
	if (rc)
		return rc;
	rc = timeline_svg_write(&d->ti.tl, &p, 1, &o, out.f, NULL, e);
	rc = outfile_end(&out, rc, e);
	if (!rc)
		output_say_written(opt->output, opt->t.wait.tl.in.quiet);
	return rc;
}

static int draw(struct drawing *d)
{
	struct err e = {0};
	int rc = pick(d, &e);
	if (!rc) {
		say_hidden(d);
		rc = write_picture(d, &e);
	}
	return rc ? input_fail(&d->ti.in, &e) : input_status(&d->ti.in);
}

static void say_most(const struct tail_opts *picks, size_t most, size_t all)
{
	if (all > most && !picks->wait.tl.in.quiet)
		say("drawing %zu of the %zu worst episodes (choose with --top N)", most, all);
}

static int write_tail(const struct timeline_opts *opt, struct tail_run *r, struct tail *t,
		      size_t most, struct err *e)
{
	const char *to = opt->output ? opt->output : "-";
	struct episodes_answer a = {.tl = t->tl,
				    .episodes = &t->episodes,
				    .selection = &t->selection,
				    .gaps = &t->gaps};
	struct buf filters = {0};
	struct tl_svg_options o;
	int answer = tail_is_threadless(r);
	svg_options(opt, &o);
	tail_filters(&r->ti, r->opt, &filters);
	o.filters = buf_cstr(&filters);
	say_most(r->opt, most, answer ? t->selection.v.n : t->rows.n);
	int rc = answer ? tailout_answer_svg(&a, most, to, &o, e)
			: tailout_svg(t, most, to, &o, e);
	buf_release(&filters);
	if (!rc)
		output_say_written(to, r->opt->wait.tl.in.quiet);
	return rc;
}

/* --tail: the picture of `perfkit tail --svg`. */
static int draw_tail(const struct timeline_opts *opt, const char *path)
{
	struct tail_opts picks = opt->t;
	struct tail_run r = {.opt = &picks, .threadless = 1};
	struct tail t;
	struct err e = {0};
	uint32_t names[TAIL_NAMES];
	size_t n = 0, most = TAIL_PANELS;
	if (picks.top && picks.top != TAIL_NO_TOP)
		most = (size_t)picks.top;
	int rc = tail_ask(&r, "timeline", path, names, &n, NULL);
	if (rc)
		return rc;
	if (!tail_is_threadless(&r)) {
		rc = tail_take(&r, &t);
	} else if (tail_select(&r.ti.tl, &r.query, &t, &e)) {
		rc = input_fail(&r.ti.in, &e);
		tail_release(&t);
	}
	if (!rc) {
		rc = write_tail(opt, &r, &t, most, &e) ? input_fail(&r.ti.in, &e)
						       : input_status(&r.ti.in);
		tail_release(&t);
	}
	tlinput_close(&r.ti);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	struct drawing d = {.opt = opts};
	const struct timeline_opts *o = opts;
	const char *input = o->t.wait.tl.in.input;
	const char *path = input ? input : nfiles ? files[0] : "perf.data";
	struct err e = {0};
	int rc = check(o);
	if (!rc && output_check(o->output, &e))
		rc = input_fail(NULL, &e);
	if (rc)
		return rc;
	if (o->tail)
		return draw_tail(o, path);
	rc = tlinput_open(&d.ti, "timeline", &o->t.wait.tl, path, &tlinput_times);
	if (rc)
		return rc;
	rc = tlinput_only_one(&d.ti, "timeline");
	rc = rc ? rc : draw(&d);
	tlinput_close(&d.ti);
	tl_pick_release(&d.pick);
	mem_free(d.threads);
	mem_free(d.cpus);
	vec_release(&d.labelled);
	buf_release(&d.filters);
	for (size_t i = 0; i < MAX_HIDDEN; i++)
		buf_release(&d.hidden[i]);
	return rc;
}

static void defaults(void *opts)
{
	struct timeline_opts *o = opts;
	struct tl_svg_options d;
	tl_svg_defaults(&d);
	o->t.top = TAIL_NO_TOP;
	o->t.wait.tl.meant = 1;
	o->arrows = (int)d.max_arrows;
	o->width = d.width;
}

const struct verb verb_timeline = {
	.name = "timeline",
	.brief = "draw threads and CPUs over time as one SVG file",
	.usage = "[options] [FILE]",
	.text = "Each thread's row shows when it ran, was runnable or preempted, and what "
		"blocked\n"
		"it. In a browser, drag or Ctrl-wheel zooms, Shift-drag moves, a click "
		"selects an\n"
		"interval, g jumps to its waker, Ctrl-F searches threads and functions.",
	.examples =
		"  perfkit timeline -o run.svg perf.data\n"
		"  perfkit timeline --time 5120.25,5120.30 --comm postgres -o slow.svg run.db\n"
		"  perfkit timeline --tail --p999 --comm postgres -o worst.svg run.db",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct timeline_opts),
	.max_files = 1,
	.modes = {{"", "cpus threads by-time merge-threads"},
		  {"tail", "by p50 p90 p95 p99 p999 p9999 p pct over open idle state cause"},
		  {NULL, "event"}},
	.run = run,
	.defaults = defaults,
};
