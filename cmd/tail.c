/*
 * tail.c - `perfkit tail`: the worst episodes of a recording, and their causes.
 */
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/answer/against.h"
#include "cmd/answer/html_report.h"
#include "cmd/answer/tail_out.h"
#include "cmd/query/tail_spans.h"
#include "cmd/verbs.h"
#include "cmd/input/output.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/tail/tail_csv.h"
#include "render/tail/tail_json.h"
#include "render/tail/gap_text.h"
#include "render/tail/window_text.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct tail_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Episodes"),
	{"top", 0, OPT_U64, AT(top), "N", "the N longest; 0 = all"},
	OPT_HEADING("Output"),
	{"group", 0, OPT_STRING, AT(group), "root|holder|stack|cause|thread|comm|label:KEY",
	 "what the worst are counted by (default root):\n"
	 "root: the chain's end; holder: who held them up directly (the lock's owner, the "
	 "waker, or who had the CPU); label:KEY: a label of spans"},
	{"hist", 0, OPT_FLAG, AT(hist), NULL, "a histogram of all episodes (powers of 2)"},
	{"rows", 'n', OPT_U64, AT(rows), "N", "lines in each table (default 20; 0 = all)"},
	{"details", 0, OPT_U64, AT(details), "N", "explain N episodes in full (default 1)"},
	{"why", 0, OPT_FLAG, AT(why), NULL,
	 "say for each explained episode by which rule its wait\ncounts as work"},
	{"stacks", 0, OPT_STRING, AT(stacks), "short|full", "stacks in the explanations"},
	{"against", 0, OPT_STRING, AT(against), "BEFORE",
	 "compare with an earlier recording:\npercentiles, and the episodes as long as the "
	 "worst of BEFORE, by root; marks what chance does not explain"},
	{"json", 0, OPT_FLAG, AT(json), NULL,
	 "JSON (schema 2):\nall selected episodes, or --rows"},
	{"csv", 0, OPT_FLAG, AT(csv), NULL,
	 "CSV, one line per episode:\nall selected, or --rows"},
	FORM_ROWS,
	{"svg", 0, OPT_OUTPUT, AT(svg), "FILE",
	 "also draw timelines of the worst into FILE;\n10 of them, or --rows; explained "
	 "episodes name their place in it"},
	{"html", 0, OPT_OUTPUT, AT(html), "FILE",
	 "also write a report of them (perfkit help html);\nexplained episodes name their "
	 "place in it"},
	{"flame", 0, OPT_OUTPUT, AT(flame), "FILE",
	 "also draw a flame graph of the selected episodes"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

static int usage(const struct tail_run *r, const char *what, const char *arg)
{
	say_line("perfkit %s: %s%s (see: perfkit help %s)", r->verb, what, arg, r->verb);
	return 2;
}

static int fail(const struct err *e)
{
	return input_fail(NULL, e);
}

/* --- several names -------------------------------------------------------------------- */

/* With several span names and none chosen: percentiles of each. */
static int each_name(struct tail_run *r, const uint32_t *names, size_t n)
{
	struct buf b = {0};
	struct err e = {0};
	int rc = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		struct tail t = {.tl = &r->ti.tl};
		r->query.episodes.span = names[i];
		r->query.episodes.kind = EPISODE_SPAN;
		tail_settle_kind(r);
		rc = episodes_collect(t.tl, &r->query.episodes, &t.episodes, &e);
		if (!rc)
			tailout_population(r, &t, &b);
		buf_char(&b, '\n');
		tail_release(&t);
	}
	if (!rc && !buf_failed(&b)) {
		fwrite(b.v, 1, b.n, stdout);
		printf("several spans: choose one with --by span:NAME\n");
	}
	rc = rc || buf_failed(&b) ? fail(&e) : 0;
	buf_release(&b);
	return rc;
}

/* --- answers -------------------------------------------------------------------------- */

/* Draw episodes with a chain, or those of the answer `a`. */
static int draw(const struct tail_run *r, struct tail *t, const struct episodes_answer *a,
		struct err *e)
{
	const struct tail_opts *o = r->opt;
	size_t most = tailout_panels(o);
	struct tl_svg_options so;
	tl_svg_defaults(&so);
	struct buf filters = {0};
	tail_filters(&r->ti, o, &filters);
	so.title = "The worst episodes";
	so.filters = buf_cstr(&filters);
	so.no_unclear = o->wait.no_unclear;
	int rc = a ? tailout_answer_svg(a, most, o->svg, &so, e)
		   : tailout_svg(t, most, o->svg, &so, e);
	buf_release(&filters);
	return rc;
}

static int report(struct tail_run *r, struct tail *t, struct err *e)
{
	struct html_request to = {.output = r->opt->html, .max_size = HTML_MB};
	return html_report(r, t, &to, e);
}

/* Episodes without a thread have no chain, and their own text, JSON and CSV. */
static const struct threadless {
	enum episode_kind kind;
	const char *by, *refused;
	int (*text)(struct buf *b, const struct episodes_answer *a, struct err *e);
	int (*json)(struct buf *b, const struct episodes_answer *a, struct err *e);
	/* NULL: none */
	int (*csv)(struct buf *b, const struct episodes_answer *a, struct err *e);
} threadless[] = {
	{EPISODE_WINDOW, "window",
	 "these spans are windows, of no one thread: they have no --csv, --html, "
	 "--flame, --hist or --group",
	 windows_text, windows_json, NULL},
	{EPISODE_GAP, "gap",
	 "gaps are of CPUs, not of threads: they have no --html, --flame, --hist or --group",
	 gaps_text, gaps_json, gaps_csv},
};

static int answer_threadless(struct tail_run *r, const struct threadless *k)
{
	const struct tail_opts *o = r->opt;
	struct tail t;
	struct err e = {0};
	struct buf b = {0};
	if ((o->csv && !k->csv) || o->html || o->flame || o->hist || o->group)
		return usage(r, k->refused, "");
	int rc = tail_select(&r->ti.tl, &r->query, &t, &e);
	struct episodes_answer a = {
		t.tl,           &t.episodes, &t.selection, (size_t)o->rows, (size_t)o->details,
		output_width(), &t.gaps};
	a.rows = (o->json || o->csv) && !o->rows_given ? 0 : a.rows;
	if (!rc && !o->json && !o->csv) {
		buf_fmt(&b, "tail by %s in %s\n", k->by, tailout_file(r));
		tailout_population(r, &t, &b);
		tailout_selection(r, &t, &b);
	}
	rc = rc ? rc : (o->json ? k->json : o->csv ? k->csv : k->text)(&b, &a, &e);
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	if (!rc && o->svg)
		rc = draw(r, NULL, &a, &e);
	buf_release(&b);
	tail_release(&t);
	return rc ? fail(&e) : 0;
}

/* The command that shows the lines of the same episodes; the same for a recording and its
 * store. */
static void put_lines_command(struct buf *b, const struct tail_run *r)
{
	const struct tail_opts *o = r->opt;
	buf_str(b, "\nwhich lines: perfkit source --tail");
	if (o->preset || o->pct)
		buf_fmt(b, " --p%g", r->query.pick.millipercent / 1000.0);
	opt_repeat(b, &verb_tail, o,
		   "by over top cause state comm pid tid cpu cgroup time all idle system site "
		   "idle-frame work-frame no-unclear open key where label");
	buf_str(b, " FILE\n");
}

static int answer(struct tail_run *r)
{
	for (size_t i = 0; i < sizeof(threadless) / sizeof(*threadless); i++)
		if (r->query.episodes.kind == threadless[i].kind)
			return answer_threadless(r, &threadless[i]);
	struct tail t;
	struct err e = {0};
	struct buf b = {0};
	const struct tail_opts *o = r->opt;
	int several = o->html ? tlinput_only_one(&r->ti, "tail") : 0;
	if (several)
		return several;
	if (tail_explain(r, &t, &e))
		return fail(&e);
	int refused = tail_refuse(r, &t);
	if (refused && !r->query.pick.least) /* else the longest ones that are known */
		t.rows.n = t.groups.n = 0;
	int rc = o->json  ? tailjson_write(&b, &t, o->rows_given ? o->rows : 0, 1, &e)
		 : o->csv ? tailcsv_write(&b, &t, o->rows_given ? o->rows : 0, &e)
			  : tailout_text(r, &t, &b, &e);
	if (!rc && !refused && t.rows.n && !o->json && !o->csv)
		put_lines_command(&b, r);
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	if (!rc && o->flame && !refused)
		rc = tailout_flame(r, &t, &e);
	if (!rc && o->svg && !refused)
		rc = draw(r, &t, NULL, &e);
	if (!rc && o->html && !refused)
		rc = report(r, &t, &e);
	rc = rc ? fail(&e) : refused;
	buf_release(&b);
	tail_release(&t);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	struct tail_opts o = *(const struct tail_opts *)opts;
	struct tail_run r = {.opt = &o, .threadless = 1, .says_unnamed = 1};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	int several = 0;
	o.rows_given = o.rows != UINT64_MAX;
	if (!o.rows_given)
		o.rows = 20;
	int details_given = o.details != UINT64_MAX;
	if (!details_given)
		o.details = 1;
	const char *path = nfiles               ? files[0]
			   : o.wait.tl.in.input ? o.wait.tl.in.input
						: "perf.data";
	if (o.against && details_given)
		return usage(&(struct tail_run){.verb = "tail"},
			     "--against explains no episodes: ask AFTER alone for --details",
			     "");
	if (o.against)
		return tail_against(&o, o.against, path);
	o.wait.tl.in.lines = o.wait.tl.in.places = o.html != NULL; /* as html */
	int one = o.json || o.csv || o.svg || o.flame || o.html;
	int rc = tail_ask(&r, "tail", path, names, &n, one ? NULL : &several);
	if (rc)
		return rc;
	if (o.json || o.csv)
		tlinput_warn_unnamed(&r.ti);
	rc = several ? each_name(&r, names, n) : answer(&r);
	if (!rc)
		rc = input_status(&r.ti.in);
	tlinput_close(&r.ti);
	return rc;
}

static void defaults(void *opts)
{
	struct tail_opts *o = opts;
	o->rows = o->details = UINT64_MAX;
	o->top = TAIL_NO_TOP;
	o->wait.tl.meant = 1;
}

const struct verb verb_tail = {
	.name = "tail",
	.brief = "explain the worst episodes: when, how long, why, who caused them",
	.usage = "[options] [FILE]",
	.text = "Explains the worst back to their root cause. Filters choose what is ranked,\n"
		"except --cause and --state: what is shown of it. Waits at rest are hidden.",
	.examples = "  perfkit tail perf.data\n"
		    "  perfkit tail --p99 --html report.html perf.data\n"
		    "  perfkit tail --comm server --over 5ms --by activation run.db",
	.tables = {tail_pick_rows, rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct tail_opts),
	.max_files = 1,
	.modes = {{"", "group hist details stacks"},
		  {"json",
		   "group hist details stacks"},  /* options of the text's layout are not an */
		  {"csv", "hist details stacks"}, /* error without text */
		  {NULL, "event"}},
	.run = run,
	.defaults = defaults,
};
