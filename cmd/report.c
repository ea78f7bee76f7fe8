/*
 * report.c - `perfkit report`: what a recording contains, which threads ran, what was lost, and
 * how many names were found.
 */
#include "base/mem.h"
#include "cmd/input/input_kind.h"
#include "libtime/sched/timeline_answers.h"
#include "render/text/file_text.h"
#include "cmd/input/output.h"
#include "libtime/doctor/describe.h"
#include "libtime/doctor/missing.h"
#include "cmd/answer/against.h"
#include "cmd/answer/brief.h"
#include "cmd/answer/report_functions.h"
#include "cmd/answer/report_tables.h"
#include "cmd/answer/report_waits.h"
#include "cmd/query/samples.h"
#include "libtime/build/build.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct report_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Output"),
	{"top", 'n', OPT_INT, AT(top), "N", "rows of each table (default 20; 0 = all)"},
	{"brief", 0, OPT_FLAG, AT(brief), NULL,
	 "what matters most, in at most 2 kB of Markdown, or\n--json, with commands that say "
	 "more"},
	FORM_ROWS,
	{"stats", 0, OPT_FLAG, AT(stats), NULL, "only count the records of each type"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

/* --- threads ---------------------------------------------------------------------------- */

struct row {
	uint32_t comm;
	int32_t pid, tid;
	uint64_t samples;
};

/* By text, as ids differ between a recording and its store. */
static int by_thread(const void *a, const void *b, void *strings)
{
	const struct row *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->comm == y->comm
		       ? 0
		       : strcmp(strtab_get(strings, x->comm), strtab_get(strings, y->comm));
}

static int by_samples(const void *a, const void *b, void *strings)
{
	const struct row *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return by_thread(a, b, strings);
}

static void thread_row(struct table *t, const struct row *r, const struct strtab *strings,
		       uint64_t total)
{
	const char *comm = strtab_get(strings, r->comm);
	escape_visible(&t->text, comm, strlen(comm));
	table_next(t);
	buf_fmt(&t->text, "%d", r->pid);
	table_next(t);
	buf_fmt(&t->text, "%d", r->tid);
	table_next(t);
	table_count(t, r->samples);
	buf_fmt(&t->text, "%.1f %%", total ? 100.0 * (double)r->samples / (double)total : 0);
	table_next(t);
}

/* The first `shown` of n rows, which have `total` samples. */
static void put_threads(struct buf *out, const struct row *v, size_t n, size_t shown,
			const struct strtab *strings, uint64_t total)
{
	static const struct table_column columns[] = {{"thread"},
						      {"pid", .right = 1},
						      {"tid", .right = 1},
						      {"samples", .right = 1},
						      {"share", .right = 1}};
	struct table t = {columns, 5};
	for (size_t i = 0; i < shown; i++)
		thread_row(&t, &v[i], strings, total);
	buf_char(out, '\n');
	table_write(out, &t, output_width());
	table_release(&t);
	if (shown < n) {
		units_plural(out, n - shown, "more thread", "more threads");
		buf_str(out, " (show all with --top 0)\n");
	}
}

/* The rows, merged by thread and name. */
static void put_rows(struct buf *out, struct row *v, size_t given, const struct strtab *strings,
		     int top)
{
	size_t n = 0;
	uint64_t total = 0;
	if (!given)
		return;
	qsort_r(v, given, sizeof(*v), by_thread, (void *)strings);
	for (size_t i = 0; i < given; i++) {
		total += v[i].samples;
		if (n && !by_thread(&v[n - 1], &v[i], (void *)strings))
			v[n - 1].samples += v[i].samples;
		else
			v[n++] = v[i];
	}
	qsort_r(v, n, sizeof(*v), by_samples, (void *)strings);
	put_threads(out, v, n, top > 0 && (size_t)top < n ? (size_t)top : n, strings, total);
}

static int put_folded_threads(struct buf *out, const struct profile *p,
			      const struct folded *from, size_t n, int top)
{
	struct row *v = mem_zalloc(n + 1, sizeof(*v));
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct folded *f = &from[i];
		v[i] = (struct row){
			.comm = f->comm, .pid = f->pid, .tid = f->tid, .samples = f->samples};
	}
	put_rows(out, v, n, &p->stacks.strings, top);
	mem_free(v);
	return 0;
}

/* The table of a timeline's samples that pass the filters, without those of tracepoints if the
 * scheduler's were recorded. */
static int put_timeline_threads(struct buf *out, const struct tlinput *ti, int top)
{
	const struct timeline *tl = &ti->tl;
	const struct sample_selection which = tl_selection(ti);
	size_t others = tlinput_has_scheduler(ti) ? 0 : tl->event_samples.n;
	struct row *v = mem_zalloc(tl->samples.n + others + 1, sizeof(*v));
	size_t n = 0;
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		const struct tl_thread *t =
			s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
		if (sample_is_selected(&which, tl, s))
			v[n++] = (struct row){.comm = s->comm,
					      .pid = t ? t->pid : -1,
					      .tid = t ? t->tid : -1,
					      .samples = 1};
	}
	for (size_t i = 0; i < others; i++) {
		const struct tl_event_sample *s = &tl->event_samples.v[i];
		if (event_sample_is_selected(&which, tl, s))
			v[n++] = (struct row){
				.comm = s->comm, .pid = s->pid, .tid = s->tid, .samples = 1};
	}
	put_rows(out, v, n, &ti->names->strings, top);
	if (!n && tl->samples.n + others)
		buf_str(out, "\nno sample passes the filters\n");
	mem_free(v);
	return 0;
}

/* --- names ------------------------------------------------------------------------------ */

static int has_filters(const struct input_opts *o)
{
	return o->comms.n || o->pids.n || o->tids.n || o->cpus.n || o->time || o->events.n;
}

static void print_stats(const struct recording *rec)
{
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		const char *name = record_type_name(t);
		if (!rec->stats.by_type[t])
			continue;
		if (name)
			printf("%s %" PRIu64 "\n", name, rec->stats.by_type[t]);
		else
			printf("type-%u %" PRIu64 "\n", t, rec->stats.by_type[t]);
	}
}

static int out_of_memory(void)
{
	struct err e = {0};
	err_nomem(&e);
	say("%s", e.msg);
	return 1;
}

/* The topics of a report's warnings. */
enum { ALL_TOPICS = ABOUT_CPU | ABOUT_COUNTS | ABOUT_OFFCPU | ABOUT_TAIL | ABOUT_NAMES };

/* --- one screen ------------------------------------------------------------------------- */

/* What a report says, in this order. The functions get the room that the rest leaves. */
struct screen {
	struct buf first, functions, rest;
};

static void screen_release(struct screen *s)
{
	buf_release(&s->first);
	buf_release(&s->functions);
	buf_release(&s->rest);
}

static size_t lines_of(const struct buf *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++)
		n += b->v[i] == '\n';
	return n;
}

/* How many functions fit: with a title, the columns' names, and a line for the others. */
static uint64_t room_for_functions(const struct screen *s, const struct report_opts *o)
{
	enum { LINES = 24, BESIDE = 3, LEAST = 5, MOST = 10 };
	size_t used = lines_of(&s->first) + lines_of(&s->rest) + BESIDE;
	size_t room = used < LINES ? LINES - used : 0;
	if (!report_is_brief(o))
		return report_top(o);
	return room < LEAST ? LEAST : room > MOST ? MOST : room;
}

/* Print it. 0, or the exit status. */
static int screen_put(const struct screen *s)
{
	const struct buf *const all[] = {&s->first, &s->functions, &s->rest};
	int failed = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		failed |= buf_failed(all[i]);
		if (!buf_failed(all[i]) && all[i]->n)
			fwrite(all[i]->v, 1, all[i]->n, stdout);
	}
	return failed ? out_of_memory() : 0;
}

/* Whose threads the following ones are. */
static void put_meant(struct buf *b, const struct buf *name)
{
	if (!name->n)
		return;
	buf_str(b, "of ");
	meant_text(b, name);
	buf_char(b, '\n');
}

static void put_facts(struct buf *out, const struct file_facts *f, const struct report_opts *o)
{
	int brief = report_is_brief(o);
	buf_char(out, '\n');
	(brief ? file_text_brief : file_text_head)(out, f);
	if (brief)
		file_text_names_brief(out, f);
}

static void put_names(const struct file_facts *f, const struct report_opts *o)
{
	if (!report_is_brief(o))
		file_text_names(stdout, f, (int)report_top(o));
}

/* Of samples: programs if there are several, else threads. */
static int put_folded(struct screen *s, struct profile *p, const struct report_opts *o,
		      const struct folded *v, size_t n)
{
	int brief = report_is_brief(o), rc;
	struct rows r = {.kind = NULL};
	struct err e;
	const struct timeline tl = {.stacks = &p->stacks};
	rc = table_programs(p, v, n, &r, &e) || rows_finish(&r) ||
	     rows_filter(&r, &tl, NULL, 0);
	int several = !rc && r.keys.n > 1;
	if (several)
		rows_sort(&r, &tl, r.kind->sort, 0);
	if (several)
		rc = report_programs(&s->first, &tl, o, &r);
	if (!rc && !(several && brief))
		rc = put_folded_threads(&s->rest, p, v, n,
					brief ? REPORT_THREADS : (int)report_top(o));
	rows_release(&r);
	return rc;
}

static uint64_t samples_in(const struct folded *v, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i].samples;
	return sum;
}

/* A report of samples only: folding them is faster than a timeline. */
static int report_samples(struct input *in, const struct report_opts *o)
{
	in->fold.aggregate.by = BY_PID | BY_TID;
	int meant = meant_prepare(in, &o->wait.tl);
	int rc = input_fold(in);
	if (!rc && !o->stats)
		rc = in->profile->rec->stats.by_type[PERF_RECORD_SAMPLE]
			     ? input_warn_findings(in, ALL_TOPICS)
			     : input_check_findings(in, ALL_TOPICS);
	if (rc)
		return rc;
	if (o->stats) {
		print_stats(in->profile->rec);
		return 0;
	}
	struct profile *p = in->profile;
	struct file_facts f;
	rc = describe_recording(&f, p, input_shown(in->path));
	if (!rc)
		describe_folded(&f, p);
	f.has_names = p->folded.n > 0;
	struct meant_rows some = {0};
	struct screen s = {0};
	struct buf name = {0};
	struct err e;
	int status = 0;
	rc = rc || (meant && meant_rows_of(p, BY_PID | BY_TID, &some, &name, &e));
	const struct folded *v = meant ? some.v.v : p->folded.v;
	size_t n = meant ? some.v.n : p->folded.n;
	rc = rc || (f.has_names && missing_find(&f.unnamed, p, v, n, NULL));
	put_meant(&s.first, &name);
	if (!rc && name.n)
		meant_say(&name, samples_in(p->folded.v, p->folded.n) - samples_in(v, n));
	if (!rc && f.has_names)
		rc = put_folded(&s, p, o, v, n);
	if (!rc) {
		put_facts(&s.rest, &f, o);
		status = report_folded_functions(in, o, v, n, room_for_functions(&s, o),
						 &s.functions);
	}
	if (!rc && !status)
		status = screen_put(&s);
	if (!rc && !status)
		put_names(&f, o);
	vec_release(&some.v);
	buf_release(&name);
	screen_release(&s);
	file_facts_release(&f);
	return rc ? out_of_memory() : status;
}

static void put_label(struct buf *b, const char *name)
{
	enum { LABEL = 11 };
	buf_fmt(b, "%-*s", LABEL, name);
}

static void put_text(struct buf *b, const char *s)
{
	escape_visible(b, s, strlen(s));
}

static void put_store(struct buf *b, const struct tlinput *ti, int several)
{
	const struct tl_recording *r = &ti->tl.rec;
	const struct strtab *s = &ti->names->strings;
	put_label(b, "store");
	put_text(b, ti->path);
	if (several)
		buf_fmt(b, ", recording %" PRId64, ti->recording);
	buf_str(b, ", of ");
	put_text(b, strtab_get(s, r->file));
	buf_char(b, '\n');
	put_label(b, "host");
	put_text(b, strtab_get(s, r->host));
	buf_str(b, ", Linux ");
	put_text(b, strtab_get(s, r->kernel));
	buf_char(b, '\n');
	put_label(b, "clock");
	put_text(b, strtab_get(s, r->clock));
	buf_str(b, ", ");
	units_duration(b, r->end_ns - r->origin_ns);
	buf_str(b, ", ");
	units_plural(b, ti->tl.samples.n, "sample", "samples");
	buf_char(b, '\n');
}

static void print_store(const struct tlinput *ti)
{
	struct buf b = {0};
	put_store(&b, ti, 1);
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}

/* Only the table of --by. */
static int print_table(struct tlinput *ti, const struct report_opts *o,
		       const struct table_kind *kind, size_t nth, size_t of)
{
	struct err e = {0};
	int rc = 0;
	if (of > 1 && (o->csv || o->json)) {
		say_line("perfkit report: %s holds %zu recordings; --csv and --json are for "
			 "one: choose it with --recording",
			 input_shown(ti->path), of);
		return 2;
	}
	if (!strcmp(kind->name, "thread") && !(ti->tl.flags & (TL_HAS_SWITCH | TL_HAS_RECORDS)))
		kind = table_sampled();
	if ((table_needs_waits(kind) || o->offcpu) && timeline_answerable(&ti->tl, 1, &e)) {
		if (!o->wait.tl.in.force)
			return input_fail(&ti->in, &e);
		input_warn(&ti->in, "%s: %s", input_shown(ti->path), e.msg);
	}
	rc = tlinput_check_findings(ti, 0, ABOUT_OFFCPU | ABOUT_NAMES, 0);
	if (!rc && nth)
		putchar('\n');
	if (!rc && of > 1)
		print_store(ti);
	rc = rc ? rc : report_table(ti, o, kind);
	return rc ? rc : input_status(&ti->in);
}

/* The parts of a timeline's report. 0, or the exit status. */
static int put_timeline(struct screen *s, struct tlinput *ti, const struct report_opts *o,
			const struct file_facts *file, size_t of)
{
	int brief = report_is_brief(o), rc = 0;
	int sched = (ti->tl.flags & (TL_HAS_SWITCH | TL_HAS_RECORDS)) != 0;
	int several = 0;
	if (of > 1)
		put_store(&s->first, ti, 1);
	if (ti->meant)
		put_meant(&s->first, &ti->meant_name);
	rc = report_timeline_programs(ti, o, sched, &s->first, &several);
	if (!rc && sched && !(several && brief))
		rc = report_waits(ti, o, &s->rest);
	if (!rc && !(several && brief) && !(brief && tlinput_has_scheduler(ti)) &&
	    put_timeline_threads(&s->rest, ti, brief ? REPORT_THREADS : (int)report_top(o)))
		rc = out_of_memory();
	if (!rc && file->stacks) {
		put_facts(&s->rest, file, o);
	} else if (!rc && of == 1) {
		buf_char(&s->rest, '\n');
		put_store(&s->rest, ti, 0);
	}
	return rc ? rc : report_first_functions(ti, o, room_for_functions(s, o), &s->functions);
}

/* Count the names of the population's stacks. */
static int recount_names(const struct tlinput *ti, struct file_facts *f, struct err *e)
{
	const struct timeline *tl = &ti->tl;
	const struct population of = waits_population(ti, NULL);
	if (!f->has_names ||
	    (!ti->meant && !has_filters(&ti->opt->in) && !tlinput_asks_threads(ti->opt)))
		return 0;
	uint64_t *count = mem_zalloc(tl->stacks->paths.n + 1, sizeof(*count));
	if (!count)
		return err_nomem(e);
	tables_count_stacks(tl, &of, tlinput_has_scheduler(ti), count);
	int rc = missing_recount(&f->unnamed, &f->stacks->strings, tl->stacks, count);
	mem_free(count);
	return rc ? err_nomem(e) : 0;
}

/* The same as for a recording of samples only: how many are others'. */
static int say_others(const struct tlinput *ti, struct err *e)
{
	struct sample_sums sums = {.weight = 0};
	const struct sample_selection which = tl_selection(ti);
	int rc = !ti->meant || tlinput_has_scheduler(ti)
			 ? 0
			 : sample_sums_collect(&sums, &ti->tl, &which, 0, e);
	if (!rc && ti->meant)
		meant_say(&ti->meant_name,
			  event_times_others(&sums.times, 0, samples_any_event, NULL));
	sample_sums_release(&sums);
	return rc;
}

/* One recording, the nth of so many in the store. */
static int print_one(struct tlinput *ti, const struct report_opts *o, size_t nth, size_t of)
{
	struct file_facts file = {0};
	struct screen s = {0};
	struct err e = {0};
	int rc = of == 1 ? tlinput_refuse_empty(ti) : 0;
	if (rc)
		return rc;
	if (o->by) {
		const struct table_kind *kind = report_kind(o);
		return kind ? print_table(ti, o, kind, nth, of) : 2;
	}
	rc = tl_check_events(ti);
	if (!rc)
		rc = tlinput_check_findings(
			ti, tlinput_has_scheduler(ti) ? 0 : ASKED_OF_SAMPLES | ALL_TOPICS,
			ALL_TOPICS, 0);
	if (!rc && (tlinput_file_facts(ti, &file, &e) || recount_names(ti, &file, &e) ||
		    say_others(ti, &e)))
		rc = input_fail(&ti->in, &e);
	if (!rc && nth)
		putchar('\n');
	rc = rc ? rc : put_timeline(&s, ti, o, &file, of);
	rc = rc ? rc : screen_put(&s);
	if (!rc && file.stacks)
		put_names(&file, o);
	screen_release(&s);
	file_facts_release(&file);
	return rc ? rc : input_status(&ti->in);
}

static int report_store(const struct report_opts *o, const char *path)
{
	struct tlinput ti;
	size_t of = 1;
	int rc = 0;
	for (size_t i = 0; i < of && !rc; i++) {
		rc = tlinput_open_nth(&ti, "report", &o->wait.tl, path, &tlinput_report, i,
				      &of);
		if (rc)
			break;
		rc = print_one(&ti, o, i, of);
		tlinput_close(&ti);
	}
	return rc;
}

/* A report of an open recording with its waits. */
static int report_timeline(const struct report_opts *o, struct input *in)
{
	struct tlinput ti;
	int rc = tlinput_of_input(&ti, "report", &o->wait.tl, in, &tlinput_report);
	if (rc)
		return rc;
	rc = print_one(&ti, o, 0, 1);
	tlinput_close(&ti);
	return rc;
}

/* 1 if the tables need a timeline. Filters only affect the tables. */
static int wants_timeline(const struct report_opts *o, const struct recording *rec)
{
	return !o->stats && (has_filters(&o->wait.tl.in) || o->wait.tl.cgroup ||
			     o->wait.tl.label || build_has_scheduler(rec) || o->by);
}

static int is_by(const struct report_opts *o, const char *what)
{
	return o->by && !strcmp(o->by, what);
}

/* 1 for cgroups of samples: the recording has no context, or no waits. */
static int is_by_sampled_cgroup(const struct report_opts *o, const struct input *in)
{
	const char *path = in->bundle.recording ? in->bundle.recording : in->path;
	struct fd_context *context = NULL;
	if (!is_by(o, "cgroup"))
		return 0;
	if (build_has_scheduler(in->profile->rec) && strcmp(path, "-") != 0)
		fd_context_load(&context, path, NULL);
	int known = context != NULL;
	fd_context_free(context);
	return !known;
}

static int not_for_stores(const char *path, const char *option)
{
	say_line("perfkit report: %s is a store; %s is for recordings", path, option);
	return 2;
}

/* States are those of waits, and the table of waits by function is the one that has them. */
static struct report_opts with_implied(const struct report_opts *given)
{
	struct report_opts o = *given;
	if (!o.by && !o.against && (o.offcpu || o.wait.states.n))
		o.by = "function";
	if (o.by && !strcmp(o.by, "function") && o.wait.states.n)
		o.offcpu = 1;
	return o;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct report_opts all = with_implied(opts), *o = &all;
	const char *path = nfiles                ? files[0]
			   : o->wait.tl.in.input ? o->wait.tl.in.input
						 : "perf.data";
	struct source src;
	enum input_kind kind;
	struct err e = {0};
	struct input in = {.opt = &o->wait.tl.in};
	if (o->by && !report_kind(o))
		return 2;
	if (o->brief)
		return report_brief(o, path);
	if (o->against)
		return report_against(o, o->against, path);
	if (input_kind_open(path, &src, &kind, &e))
		return input_fail(&in, &e);
	if (kind == INPUT_STORE) {
		source_close(&src);
		return o->stats ? not_for_stores(path, "--stats") : report_store(o, path);
	}
	int rc = input_open_source(&in, "report", &o->wait.tl.in, path, &src);
	if (rc)
		return rc;
	if (is_by_sampled_cgroup(o, &in)) {
		rc = report_cgroups(&in, o);
		rc = rc ? rc : input_status(&in);
		input_close(&in);
	} else if (wants_timeline(o, in.profile->rec)) {
		rc = report_timeline(o, &in);
	} else {
		rc = report_samples(&in, o);
		rc = rc ? rc : input_status(&in);
	}
	input_close(&in);
	return rc;
}

static void defaults(void *opts)
{
	struct report_opts *o = opts;
	o->top = -1;
	o->wait.tl.meant = 1;
}

#define TABLE_MODE                                                                       \
	"by " REPORT_TABLE_OPTIONS " top idle system no-unclear cause recording causes " \
	"idle-frame work-frame span with label cgroup " INPUT_FILTERS

const struct verb verb_report = {
	.name = "report",
	.brief = "show which functions and threads take the time, as tables",
	.usage = "[options] [FILE]",
	.examples = "  perfkit report perf.data\n  perfkit report --by site perf.data\n"
		    "  perfkit report --by function --offcpu perf.data\n"
		    "  perfkit report --against before.data after.data\n"
		    "  perfkit report --by lock --sort max --csv perf.data\n"
		    "  perfkit report --stats perf.data",
	.tables = {rows, report_table_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct report_opts),
	.max_files = 1,
	.modes = {{"", "offcpu state top idle system no-unclear cause "
		       "recording causes idle-frame work-frame "
		       "span with label cgroup " INPUT_FILTERS},
		  {"against",
		   "json where outermost top idle system no-unclear cause recording causes "
		   "idle-frame work-frame span with label cgroup " INPUT_FILTERS},
		  {"by", TABLE_MODE},
		  {"brief",
		   "json recording causes idle-frame work-frame idle system no-unclear "
		   "span with label cgroup " INPUT_FILTERS},
		  {"stats", NULL},
		  {"offcpu", TABLE_MODE},
		  {"state", TABLE_MODE}},
	.run = run,
	.defaults = defaults,
};
