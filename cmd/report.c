/*
 * report.c - `perfkit report`: what a recording contains, which threads ran, what was lost, and
 * how many names were found.
 */
#include "base/mem.h"
#include "cmd/input/input_kind.h"
#include "render/text/file_text.h"
#include "cmd/input/output.h"
#include "libtime/doctor/describe.h"
#include "libtime/doctor/missing.h"
#include "cmd/answer/against.h"
#include "cmd/answer/report_functions.h"
#include "cmd/answer/report_tables.h"
#include "cmd/answer/report_waits.h"
#include "cmd/query/meant_input.h"
#include "cmd/query/timeline_samples.h"
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
	{"stats", 0, OPT_FLAG, AT(stats), NULL, "only count the records of each type"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

/* Columns of labels. */
enum { LABEL = 11 };

static void label(const char *s)
{
	printf("%-*s", LABEL, s);
}

/* Print an untrusted text with control characters made visible. */
static void text(const char *s)
{
	put_visible(stdout, s);
}

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

/* The first `shown` of n rows, which have `total` samples. ERR_NOMEM. */
static int put_threads(const struct row *v, size_t n, size_t shown,
		       const struct strtab *strings, uint64_t total)
{
	static const struct table_column columns[] = {{"thread"},
						      {"pid", .right = 1},
						      {"tid", .right = 1},
						      {"samples", .right = 1},
						      {"share", .right = 1}};
	struct table t = {columns, 5};
	struct buf out = {0};
	for (size_t i = 0; i < shown; i++)
		thread_row(&t, &v[i], strings, total);
	buf_char(&out, '\n');
	table_write(&out, &t, output_width());
	table_release(&t);
	if (shown < n) {
		units_plural(&out, n - shown, "more thread", "more threads");
		buf_str(&out, " (show all with --top 0)\n");
	}
	fputs(buf_cstr(&out), stdout);
	int failed = buf_failed(&out);
	buf_release(&out);
	return failed;
}

/* Print the rows, merged by thread and name. */
static int print_threads(struct row *v, size_t given, const struct strtab *strings, int top)
{
	size_t n = 0;
	uint64_t total = 0;
	if (!given)
		return 0;
	qsort_r(v, given, sizeof(*v), by_thread, (void *)strings);
	for (size_t i = 0; i < given; i++) {
		total += v[i].samples;
		if (n && !by_thread(&v[n - 1], &v[i], (void *)strings))
			v[n - 1].samples += v[i].samples;
		else
			v[n++] = v[i];
	}
	qsort_r(v, n, sizeof(*v), by_samples, (void *)strings);
	return put_threads(v, n, top > 0 && (size_t)top < n ? (size_t)top : n, strings, total);
}

static void print_none(void)
{
	puts("\nno sample passes the filters");
}

static int print_folded_threads(const struct profile *p, const struct folded *from, size_t n,
				int top)
{
	struct row *v = mem_zalloc(n + 1, sizeof(*v));
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct folded *f = &from[i];
		v[i] = (struct row){
			.comm = f->comm, .pid = f->pid, .tid = f->tid, .samples = f->samples};
	}
	int rc = print_threads(v, n, &p->stacks.strings, top);
	mem_free(v);
	return rc;
}

/* The table of a timeline's samples that pass the filters, without those of tracepoints if the
 * scheduler's were recorded. */
static int print_timeline_threads(const struct tlinput *ti, int top)
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
	int rc = print_threads(v, n, &ti->names->strings, top);
	if (!n && tl->samples.n + others)
		print_none();
	mem_free(v);
	return rc;
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

static int print_head(const struct file_facts *f, const struct report_opts *o)
{
	struct buf head = {0};
	if (report_is_brief(o))
		file_text_brief(&head, f);
	else
		file_text_head(&head, f);
	int rc = buf_failed(&head);
	fputs(buf_cstr(&head), stdout);
	buf_release(&head);
	return rc;
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

/* Whose threads the following ones are. */
static void print_meant(const struct buf *name)
{
	struct buf b = {0};
	if (name->n) {
		buf_str(&b, "of ");
		meant_text(&b, name);
		puts(buf_cstr(&b));
	}
	buf_release(&b);
}

static void put_names(const struct file_facts *f, const struct report_opts *o)
{
	if (report_is_brief(o))
		file_text_names_brief(stdout, f);
	else
		file_text_names(stdout, f, (int)report_top(o));
}

/* A report of samples only: folding them is faster than a timeline. */
static int report_samples(struct input *in, const struct report_opts *o)
{
	int brief = report_is_brief(o), top = (int)report_top(o);
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
	struct buf name = {0};
	struct err e;
	int failed = 0;
	rc = rc || (f.has_names && missing_find(&f.unnamed, p, NULL)) ||
	     (meant && meant_rows_of(p, BY_PID | BY_TID, &some, &name, &e));
	const struct folded *v = meant ? some.v.v : p->folded.v;
	size_t n = meant ? some.v.n : p->folded.n;
	print_meant(&name);
	if (!rc)
		failed = report_folded_functions(in, o, v, n);
	if (!rc && f.has_names)
		rc = print_folded_threads(p, v, n, brief ? REPORT_THREADS : top);
	vec_release(&some.v);
	buf_release(&name);
	putchar('\n');
	rc = rc || print_head(&f, o);
	if (!rc)
		put_names(&f, o);
	file_facts_release(&f);
	return failed ? failed : rc ? out_of_memory() : 0;
}

static void print_store(const struct tlinput *ti, int several)
{
	const struct tl_recording *r = &ti->tl.rec;
	const struct strtab *s = &ti->names->strings;
	label("store");
	text(ti->path);
	if (several)
		printf(", recording %" PRId64, ti->recording);
	printf(", of ");
	text(strtab_get(s, r->file));
	putchar('\n');
	label("host");
	text(strtab_get(s, r->host));
	printf(", Linux ");
	text(strtab_get(s, r->kernel));
	putchar('\n');
	label("clock");
	text(strtab_get(s, r->clock));
	struct buf b = {0};
	buf_str(&b, ", ");
	units_duration(&b, r->end_ns - r->origin_ns);
	buf_str(&b, ", ");
	units_plural(&b, ti->tl.samples.n, "sample", "samples");
	puts(buf_cstr(&b));
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
		print_store(ti, 1);
	rc = rc ? rc : report_table(ti, o, kind);
	return rc ? rc : input_status(&ti->in);
}

/* One recording, the nth of so many in the store. */
static int print_one(struct tlinput *ti, const struct report_opts *o, size_t nth, size_t of)
{
	struct file_facts file = {0};
	struct err e = {0};
	int brief = report_is_brief(o), top = brief ? REPORT_THREADS : (int)report_top(o);
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
	if (!rc && tlinput_file_facts(ti, &file, &e))
		rc = input_fail(&ti->in, &e);
	if (!rc) {
		if (nth)
			putchar('\n');
		if (of > 1)
			print_store(ti, 1);
		if (ti->meant)
			print_meant(&ti->meant_name);
		rc = report_first_functions(ti, o);
		if (!rc && ti->tl.flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))
			rc = report_waits(ti, o);
		if (!rc && !(brief && tlinput_has_scheduler(ti)) &&
		    print_timeline_threads(ti, top))
			rc = out_of_memory();
		putchar('\n');
		if (!rc && file.stacks)
			rc = print_head(&file, o) ? out_of_memory() : 0;
		else if (of == 1)
			print_store(ti, 0);
		if (file.stacks)
			put_names(&file, o);
	}
	file_facts_release(&file);
	return rc ? rc : input_status(&ti->in);
}

static int report_store(const struct report_opts *o, const char *path)
{
	struct tlinput ti;
	size_t of = 1;
	int rc = 0;
	for (size_t i = 0; i < of && !rc; i++) {
		rc = tlinput_open_nth(&ti, "report", &o->wait.tl, path, TLINPUT_REPORT, i, &of);
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
	int rc = tlinput_of_input(&ti, "report", &o->wait.tl, in, TLINPUT_REPORT);
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

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct report_opts *o = opts;
	const char *path = nfiles                ? files[0]
			   : o->wait.tl.in.input ? o->wait.tl.in.input
						 : "perf.data";
	struct source src;
	enum input_kind kind;
	struct err e = {0};
	struct input in = {.opt = &o->wait.tl.in};
	if (o->by && !report_kind(o))
		return 2;
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

const struct verb verb_report = {
	.name = "report",
	.brief = "show which functions and threads take the time; tables",
	.usage = "[options] [FILE]",
	.examples = "  perfkit report perf.data\n  perfkit report --by site perf.data\n"
		    "  perfkit report --by function --offcpu perf.data\n"
		    "  perfkit report --against before.data after.data\n"
		    "  perfkit report --by lock --sort max --csv perf.data\n"
		    "  perfkit report --stats perf.data",
	.tables = {rows, report_table_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct report_opts),
	.max_files = 1,
	.modes = {{"", "top idle system no-unclear cause "
		       "recording causes idle-frame work-frame "
		       "span with label cgroup " INPUT_FILTERS},
		  {"against",
		   "json where outermost top idle system no-unclear cause recording causes "
		   "idle-frame work-frame span with label cgroup " INPUT_FILTERS},
		  {"by",
		   "by " REPORT_TABLE_OPTIONS
		   " top idle system no-unclear cause recording causes idle-frame work-frame "
		   "span with label cgroup " INPUT_FILTERS},
		  {"stats", NULL},
		  {"offcpu", "state"}},
	.run = run,
	.defaults = defaults,
};
