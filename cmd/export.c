/*
 * export.c - `perfkit export`: the data of collapse and svg in formats of other tools.
 */
#include "cmd/export/export_source.h"
#include "cmd/export/export_tables.h"
#include "cmd/export/export_time.h"
#include "cmd/input/output.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "render/export/pprof.h"
#include "render/export/speedscope.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_opts {
	struct tail_opts t; /* first, for the rows of tail, waits and input */
	const char *to, *output;
	int offcpu, offwake, wall, tail, by_cgroup, by_time;
};

#define AT(field) offsetof(struct export_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to export"),
	{"to", 0, OPT_STRING, AT(to), "pprof|speedscope|firefox|perfetto|parquet",
	 "the format\n(docs/exports.md describes each)"},
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "waiting instead of CPU time:\ntime off the CPU, by the stack that left it"},
	{"offwake", 0, OPT_FLAG, AT(offwake), NULL,
	 "--offcpu with the waker's stack behind it"},
	{"wall", 0, OPT_FLAG, AT(wall), NULL, "running and waiting of the same threads"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the time inside the worst episodes (perfkit help tail)"},
	{"by-cgroup", 0, OPT_FLAG, AT(by_cgroup), NULL,
	 "pprof: label samples with their cgroup"},
	{"by-label", 0, OPT_LIST, AT(t.wait.tl.by_labels), "KEY,...",
	 "pprof: tag samples and waits with these labels;\nspan is the span's name"},
	{"by-time", 0, OPT_FLAG, AT(by_time), NULL,
	 "each thread in time, not summed up:\nrunning, waiting and spans as they happened "
	 "(speedscope; firefox and perfetto always)"},
	{"no-names", 0, OPT_FLAG, AT(t.wait.tl.in.no_names), NULL,
	 "parquet: frames as offsets in files with a build-id;\nperfkit symbols writes their "
	 "names"},
	OPT_HEADING("Output"),
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE",
	 "write to FILE instead of stdout;\nparquet: the folder of tables to add to"},
	OPT_HEADING("Episodes"),
	{"top", 0, OPT_U64, AT(t.top), "N", "with --tail: the N longest episodes; 0 = all"},
	OPT_HEADING("Stacks"),
	{"srcline", 0, OPT_FLAG, AT(t.wait.tl.in.lines), NULL,
	 "add file and line to each function"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

/* A format of sums by stack. */
typedef int format_writer(const struct export_rows *rows, FILE *f, struct err *e);

/* A format with times. */
typedef int time_writer(struct tlinput *ti, const struct wait_opts *opt, FILE *f,
			struct err *e);

struct format {
	const char *name;
	format_writer *rows;
	time_writer *by_time;
	const struct tlinput_needs *needs; /* of by_time */
	int whole;                         /* filters are refused */
	int tables; /* a folder of tables, for any number of recordings: export_tables.h */
};

static const struct format formats[] = {
	{"pprof", pprof_write, NULL, NULL, 0, 0},
	{"speedscope", speedscope_write, export_speedscope, &tlinput_times, 0, 0},
	{"firefox", NULL, export_firefox, &tlinput_samples, 0, 0},
	{"perfetto", NULL, export_perfetto, &tlinput_any_times, 1, 0},
	{"parquet", NULL, NULL, NULL, 1, 1},
};

struct writing {
	const struct export_opts *opt;
	const struct format *format;
};

static int usage(const char *what)
{
	say_line("perfkit export: %s (see: perfkit help export)", what);
	return 2;
}

static const struct format *format_named(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

/* 2 after a message if an option of `list` was given, else 0. */
static int check_none_of(const struct export_opts *o, const char *list, const char *instead)
{
	const char *given;
	if (opt_given(&verb_export, o, list, &given) || !given)
		return 0;
	say_line("perfkit export: --%s %s (see: perfkit help export)", given, instead);
	return 2;
}

/* Options that hide waits need an answer with waits. */
static int check_waits(const struct export_opts *o, const struct format *f)
{
	if (!f->rows || o->offcpu + o->offwake + o->wall + o->tail + o->by_time)
		return 0;
	int labels = o->t.wait.tl.label || o->t.wait.tl.by_labels.n;
	return check_none_of(o, labels ? "cgroup " WAITS_HIDE : "span cgroup " WAITS_HIDE,
			     "goes with --offcpu, --offwake, --wall, --by-time or --tail");
}

/* What distinguishes samples, besides threads. */
static int check_labels(const struct export_opts *o, const struct format *f)
{
	int labels = o->t.wait.tl.label || o->t.wait.tl.by_labels.n;
	if ((o->by_cgroup || o->t.wait.tl.by_labels.n) && f->rows != pprof_write)
		return usage("--by-label and --by-cgroup go with --to pprof");
	if (o->by_cgroup && labels)
		return usage("--by-cgroup does not go with --label and --by-label");
	if (!o->t.wait.tl.sides.n || !f->rows || labels || o->tail || o->by_time)
		return 0;
	return usage("--with goes with --label, --by-label, --tail and --by-time");
}

static int check_folder(const struct export_opts *o)
{
	struct stat st;
	if (!o->output || !strcmp(o->output, "-"))
		return usage("--to parquet writes a folder of tables: name it with -o DIR");
	if (stat(o->output, &st) || S_ISDIR(st.st_mode))
		return 0;
	say("%s: exists and is not a folder", o->output);
	return 1;
}

static int check(const struct export_opts *o, size_t nfiles)
{
	if (!o->to)
		return usage("name the format with --to");
	if (o->offcpu + o->offwake + o->wall + o->tail + o->by_time > 1)
		return usage("--offcpu, --offwake, --wall, --tail and --by-time exclude each "
			     "other");
	const struct format *f = format_named(o->to);
	if (o->by_time && !f->by_time)
		return usage("--by-time goes with --to speedscope, firefox and perfetto");
	if (!f->rows && (o->offcpu || o->offwake || o->wall || o->tail))
		return usage("--to firefox, perfetto and parquet export everything: "
			     "--offcpu, --offwake, --wall and --tail do not go with them");
	/* they have the whole recording; what reads them filters */
	if (f->whole && check_none_of(o,
				      f->tables ? INPUT_FILTERS
					      " label cgroup by-cgroup idle system no-unclear"
						: INPUT_FILTERS " cgroup by-cgroup " WAITS_HIDE,
				      f->tables ? "does not go with --to parquet"
						: "does not go with --to perfetto"))
		return 2;
	if (check_waits(o, f) || check_labels(o, f))
		return 2;
	if (o->t.wait.tl.in.no_names && !f->tables)
		return usage("--no-names goes with --to parquet");
	if (f->tables)
		return check_folder(o);
	if (nfiles > 1)
		return usage("only --to parquet takes more than one FILE");
	if (!o->output && isatty(STDOUT_FILENO))
		return usage("standard output is a terminal: name the file with -o FILE");
	return 0;
}

static int write_rows(void *ctx, const struct export_rows *r, struct err *e)
{
	const struct writing *w = ctx;
	struct outfile out;
	int rc = output_open(&out, w->opt->output, e);
	if (rc)
		return rc;
	rc = w->format->rows(r, out.f, e);
	return outfile_end(&out, rc, e);
}

static int export_by_time(const struct writing *w, const char *path)
{
	struct tlinput ti;
	struct outfile out;
	struct err e = {0};
	int rc = tlinput_open(&ti, "export", &w->opt->t.wait.tl, path, w->format->needs);
	if (rc)
		return rc;
	rc = output_open(&out, w->opt->output, &e);
	if (!rc) {
		rc = w->format->by_time(&ti, &w->opt->t.wait, out.f, &e);
		rc = outfile_end(&out, rc, &e);
	}
	rc = rc ? input_fail(&ti.in, &e) : input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

static enum stack_question asked_by(const struct export_opts *o)
{
	return o->offcpu    ? STACKS_OF_WAITS
	       : o->offwake ? STACKS_OF_WAKERS
	       : o->wall    ? STACKS_OF_WALL
	       : o->tail    ? STACKS_OF_TAIL
			    : STACKS_OF_SAMPLES;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct export_opts *o = opts;
	const char *input = o->t.wait.tl.in.input;
	const char *path = nfiles ? files[0] : input ? input : "perf.data";
	struct err e = {0};
	int rc = check(o, nfiles);
	if (rc)
		return rc;
	struct writing w = {o, format_named(o->to)};
	if (w.format->tables)
		return export_tables(&o->t.wait.tl, o->output, nfiles ? files : &path,
				     nfiles ? nfiles : 1);
	if (output_check(o->output, &e))
		return input_fail(NULL, &e);
	struct export_request rq = {.asked = asked_by(o), .cgroup = o->by_cgroup, .opt = &o->t};
	return o->by_time || !w.format->rows ? export_by_time(&w, path)
					     : export_source_read(&rq, path, write_rows, &w);
}

static void defaults(void *opts)
{
	struct export_opts *o = opts;
	o->t.top = TAIL_NO_TOP;
	o->t.wait.tl.meant = 1;
}

const struct verb verb_export = {
	.name = "export",
	.brief = "write profiles that pprof and other tools open",
	.usage = "--to FORMAT [options] [FILE...]",
	.text = "Holds what collapse and svg show: samples of every event, or waits. Each "
		"format\n"
		"keeps inlined functions, threads and units as far as it can. --to parquet "
		"writes\n"
		"everything, as tables for DuckDB, ClickHouse and Spark, of any number of\n"
		"recordings, bundles and stores: docs/parquet.md.",
	.examples = "  perfkit export --to pprof -o cpu.pb.gz perf.data\n"
		    "  perfkit export --to pprof --offcpu --comm nginx -o waits.pb.gz run.db\n"
		    "  go tool pprof -top cpu.pb.gz\n"
		    "  perfkit export --to speedscope --by-time -o run.speedscope.json run.db\n"
		    "  perfkit export --to firefox -o run.json.gz perf.data\n"
		    "  perfkit export --to perfetto -o run.pftrace perf.data\n"
		    "  perfkit export --to parquet -o tables perf.data web-17.tar.zst run.db",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct export_opts),
	.max_files = 256,
	.modes = {{"", "event by-cgroup by-label cgroup span label with " WAITS_HIDE},
		  {"offcpu", "by-label cgroup span label with " WAITS_SHOW},
		  {"offwake", "by-label cgroup span label with " WAITS_SHOW},
		  {"wall", "cgroup label with " WAITS_HIDE},
		  {"by-time", "cgroup span label with " WAITS_HIDE},
		  {"tail", "cgroup top " TAIL_PICKS}},
	.run = run,
	.defaults = defaults,
};
