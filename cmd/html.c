/*
 * html.c - `perfkit html`: one self-contained page with linked views of a recording.
 */
#include "cmd/cli/say.h"
#include "cmd/answer/html_report.h"
#include "cmd/answer/source_side.h"
#include "cmd/input/output.h"
#include "cmd/query/meant_input.h"
#include "cmd/verbs.h"
#include "libtime/sched/timeline_answers.h"

#include <unistd.h>

struct html_opts {
	struct tail_opts t; /* first, for the rows of tail, waits and input */
	const char *output, *title;
	double max_size; /* MB */
	int merge_threads;
	struct html_source_opts source;
};

#define AT(field) offsetof(struct html_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Output"),
	{"top", 0, OPT_U64, AT(t.top), "N", "the N longest episodes (default 20)"},
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "write to FILE instead of stdout"},
	{"title", 0, OPT_STRING, AT(title), "TEXT", "the page's title"},
	{"max-size", 0, OPT_REAL, AT(max_size), "MB",
	 "sum up what is shorter than 10us, 100us, 1ms or 10ms until\nthe file is at most this "
	 "large, and say so in it; 0: no limit\n(default 50)"},
	OPT_HEADING("Stacks"),
	{"merge-threads", 0, OPT_FLAG, AT(merge_threads), NULL,
	 "threads of a pool as one:\nwork-0, work-1 ... are work-N"},
	OPT_HEADING("Source lines"),
	{"functions", 0, OPT_EACH, AT(source.functions), "NAME",
	 "only the lines of functions by name, end, pattern or\n"
	 "part (default: of at least 0.1 % of the samples);\nrepeatable"},
	{"source-dir", 0, OPT_EACH, AT(source.dirs), "DIR",
	 "their text, of source files below DIR, by the end of\ntheir names; repeatable"},
	{"source-map", 0, OPT_EACH, AT(source.maps), "FROM=TO",
	 "the same below TO for names that begin with FROM;\nrepeatable"},
	{"git", 0, OPT_STRING, AT(source.git), "DIR@REV",
	 "from the commit REV of the git repository DIR"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

/* The question about an open recording. */
struct question {
	struct tail_opts picks;
	struct tail_run r;
	struct tail t;
	struct tail verdict; /* of the episodes that `tail` selects; without rows: none */
	int has_tail;
	struct err why_not; /* why there are no waits to show */
};

static int usage(const char *what)
{
	say_line("perfkit html: %s (see: perfkit help html)", what);
	return 2;
}

/* The page shows the longest episodes, but its sentence is about those that `tail` selects, if
 * it can say which those are. 0, or the exit status. */
static int ask_verdict(struct question *p)
{
	struct tail_query q = p->r.query;
	struct err e = {0};
	q.pick = (struct episode_pick){.kind = PICK_PERCENTILE,
				       .millipercent = 99900,
				       .least = PICK_LEAST,
				       .unusual = 1,
				       .dirty = q.pick.dirty};
	if (tail_make(&p->r.ti.tl, &q, &p->verdict, &e))
		return input_fail(&p->r.ti.in, &e);
	if (p->verdict.selection.uncertain || !p->verdict.rows.n) {
		tail_release(&p->verdict);
		p->verdict = (struct tail){0};
	}
	return 0;
}

/* Find the worst episodes, if the recording has any. 0, or the exit status. */
static int ask_tail(struct question *p)
{
	struct tail_opts *o = &p->picks;
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	int several = 0;
	struct err e = {0};
	if (timeline_answerable(&p->r.ti.tl, 1, &p->why_not) && !o->wait.tl.in.force)
		return 0;
	if (!tlinput_has_scheduler(&p->r.ti))
		return 0;
	int by_default = !o->preset && !o->pct && !o->over && !o->key && !o->episode &&
			 o->top == TAIL_NO_TOP;
	if (by_default)
		o->top = HTML_EPISODES;
	int rc = tail_ask_opened(&p->r, "html", names, &n, &several);
	if (!rc && (several || p->r.query.episodes.kind == EPISODE_WINDOW)) {
		o->by = "wait";
		rc = tail_ask_opened(&p->r, "html", names, &n, NULL);
	}
	if (rc)
		return rc;
	p->r.query.pick.unusual = by_default;
	if (tail_make(&p->r.ti.tl, &p->r.query, &p->t, &e))
		return input_fail(&p->r.ti.in, &e);
	p->has_tail = 1;
	return by_default ? ask_verdict(p) : 0;
}

static int write_report(struct question *p, const struct html_opts *o)
{
	struct html_request to = {.output = o->output,
				  .title = o->title,
				  .why_not = p->why_not.msg,
				  .verdict = p->verdict.rows.n ? &p->verdict : NULL,
				  .max_size = o->max_size,
				  .source = o->source,
				  .merge_threads = o->merge_threads};
	struct err e = {0};
	if (html_report(&p->r, p->has_tail ? &p->t : NULL, &to, &e))
		return input_fail(&p->r.ti.in, &e);
	output_say_written(o->output, p->picks.wait.tl.in.quiet);
	meant_say_threads(&p->r.ti);
	return input_status(&p->r.ti.in);
}

static int begin(void *opts)
{
	struct html_source_opts *o = &((struct html_opts *)opts)->source;
	struct err e = {0};
	return o->git && git_texts_open(&o->texts, o->git, &e) ? input_fail(NULL, &e) : 0;
}

static void end(void *opts)
{
	git_texts_close(((struct html_opts *)opts)->source.texts);
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct html_opts *o = opts;
	struct question p = {.picks = o->t};
	p.picks.wait.tl.in.lines = p.picks.wait.tl.in.places = 1;
	const char *input = p.picks.wait.tl.in.input;
	const char *path = nfiles ? files[0] : input ? input : "perf.data";
	struct err e = {0};
	p.r = (struct tail_run){.verb = "html", .opt = &p.picks};
	if (!(o->max_size >= 0 && o->max_size <= 1 << 20))
		return usage("--max-size is a number of MB");
	if (source_check_maps("html", &o->source.maps))
		return 2;
	if (!o->output && isatty(STDOUT_FILENO))
		return usage("standard output is a terminal: name the report with -o FILE");
	if (output_check(o->output, &e))
		return input_fail(NULL, &e);
	int rc = tlinput_open(&p.r.ti, "html", &p.picks.wait.tl, path, &tlinput_contents);
	if (rc)
		return rc;
	rc = tlinput_only_one(&p.r.ti, "html");
	rc = rc ? rc : tlinput_refuse_empty(&p.r.ti);
	rc = rc ? rc : ask_tail(&p);
	rc = rc ? rc : write_report(&p, o);
	if (p.has_tail) {
		tail_release(&p.verdict);
		tail_release(&p.t);
	}
	tlinput_close(&p.r.ti);
	return rc;
}

static void defaults(void *opts)
{
	struct html_opts *o = opts;
	o->t.top = TAIL_NO_TOP;
	o->t.wait.tl.meant = 1;
	o->max_size = HTML_MB;
}

const struct verb verb_html = {
	.name = "html",
	.brief = "write a report: linked views in one file, for a browser",
	.usage = "[options] [FILE]",
	.text = "One self-contained page that needs no network: what was recorded, heat maps,\n"
		"flame graphs and a timeline of any stretch of time, the worst episodes with\n"
		"their explanation, and what is hidden. docs/html.md explains the views.",
	.examples =
		"  perfkit html perf.data -o report.html\n"
		"  perfkit html --comm server --time 7183.8,7184.2 -o report.html run.db\n"
		"  perfkit html --label route=/pay --with requests.csv -o pay.html perf.data\n"
		"  perfkit html --by activation --over 2ms -o report.html perf.data",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct html_opts),
	.max_files = 1,
	.begin = begin,
	.end = end,
	.run = run,
	.defaults = defaults,
};
