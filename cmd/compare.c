/*
 * compare.c - `perfkit compare`: several runs before a change against several after it.
 */
#include "cmd/answer/run_figures.h"
#include "cmd/cli/say.h"
#include "cmd/input/output.h"
#include "cmd/svg.h"
#include "cmd/verbs.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "render/html/runs_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct compare_opts {
	struct wait_opts wait;
	const char *per;
	double least;
	int top;
	struct opt_list fail_on;
	const char *html;
};

#define AT(field) offsetof(struct compare_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Comparison"),
	{"fail-on", 0, OPT_EACH, AT(fail_on), "CONDITION",
	 "exit with 4 if it holds, 3 if the runs cannot say:\n'span checkout p99 more 5%', "
	 "'function parse_* self more 10%', 'new root' (repeatable)"},
	{"least", 0, OPT_REAL, AT(least), "PERCENT",
	 "the smallest effect, in percent of the total (2)"},
	{"per", 0, OPT_STRING, AT(per), "second|recording",
	 "what sums are of (default second); recording: each run\ndoes a fixed amount of work"},
	OPT_HEADING("Output"),
	{"format", 0, OPT_STRING, AT(wait.tl.in.form.format), "text|markdown|json|junit",
	 "what to print (default text);\nmarkdown is a comment of at most 60 kB, junit has the "
	 "conditions"},
	FORM_BUDGET,
	{"html", 0, OPT_OUTPUT, AT(html), "FILE",
	 "also a page: every row with its runs, and flame graphs\nof the difference"},
	{"top", 'n', OPT_INT, AT(top), "N", "rows of each table (default 10; 0 = all)"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

enum { TOP = 10, MOST_GATES = 64, EXIT_CANNOT_SAY = 3, EXIT_CHANGED = 4 };

static int usage(const char *what)
{
	say_line("perfkit compare: %s (see: perfkit help compare)", what);
	return 2;
}

static int fail(int rc)
{
	struct err e = {0};
	return rc ? input_fail(NULL, (err_nomem(&e), &e)) : 0;
}

/* The index of "--" between the groups; nfiles: there is none. */
static size_t split_at(const char *const *files, size_t nfiles)
{
	size_t i = 0;
	while (i < nfiles && strcmp(files[i], "--") != 0)
		i++;
	return i;
}

static int is_format(const struct compare_opts *o, const char *name)
{
	const char *format = o->wait.tl.in.form.format;
	return !strcmp(format ? format : "text", name);
}

static int put(const struct compare_opts *o, const struct runs_answer *a)
{
	struct buf b = {0};
	if (is_format(o, "json"))
		runs_json(&b, a);
	else if (is_format(o, "junit"))
		runs_junit(&b, a);
	else
		runs_text(&b, a, output_width());
	int rc = buf_failed(&b);
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	buf_release(&b);
	return fail(rc);
}

/* --- the page --------------------------------------------------------------------------- */

struct groups {
	const char *const *files;
	size_t n;
};

static int has_kind(const struct runs_answer *a, unsigned kind)
{
	for (size_t i = 0; i < a->runs->figures.n; i++)
		if (a->runs->figures.v[i].kind == kind)
			return 1;
	return 0;
}

static int put_picture(const struct compare_opts *o, const struct runs_answer *a,
		       const struct groups *g, int offcpu, FILE *out)
{
	FILE *f = runs_page_picture(offcpu ? "Waiting" : "CPU time", out);
	if (!f)
		return fail(ERR_NOMEM);
	int rc = svg_of_groups(&o->wait, offcpu, a->per_recording, g->files, g->n, f);
	int failed = fclose(f);
	runs_page_picture_end(out);
	return rc || !failed ? rc : fail(ERR_NOMEM);
}

static int put_page(const struct compare_opts *o, const struct runs_answer *a,
		    const struct groups *g)
{
	struct outfile out;
	struct buf b = {0};
	struct err e = {0};
	if (output_open(&out, o->html, &e))
		return input_fail(NULL, &e);
	runs_page_begin(&b, a);
	int rc = fail(buf_failed(&b));
	fwrite(b.v, 1, b.n, out.f);
	if (!rc && has_kind(a, FIGURE_SELF))
		rc = put_picture(o, a, g, 0, out.f);
	if (!rc && has_kind(a, FIGURE_SITE))
		rc = put_picture(o, a, g, 1, out.f);
	runs_page_end(out.f);
	buf_release(&b);
	if (outfile_end(&out, rc ? ERR_REFUSED : 0, &e) && !rc)
		return input_fail(NULL, &e);
	if (!rc)
		output_say_written(o->html, o->wait.tl.in.quiet);
	return rc;
}

/* --- the verb --------------------------------------------------------------------------- */

static int status_of(const struct gate *v, size_t n)
{
	int rc = 0;
	for (size_t i = 0; i < n; i++)
		if (v[i].answer == GATE_YES)
			return EXIT_CHANGED;
		else if (v[i].answer == GATE_CANNOT_SAY)
			rc = EXIT_CANNOT_SAY;
	return rc;
}

static int answer(const struct compare_opts *o, struct run_figures *f, struct gate *gates,
		  const struct groups *g)
{
	struct buf notes = {0};
	size_t n = o->fail_on.n;
	int rc = run_figures_finish(f, &notes) || gates_answer(gates, n, &f->runs);
	struct runs_answer a = {.runs = &f->runs,
				.gates = gates,
				.ngates = n,
				.per_recording = f->per_recording,
				.clock = run_figures_clock(f),
				.notes = buf_cstr(&notes),
				.comment = is_format(o, "markdown"),
				.rows = o->top >= 0                ? (size_t)o->top
					: is_format(o, "markdown") ? 0
								   : TOP};
	rc = fail(rc || buf_failed(&notes));
	if (!rc && !f->runs.figures.n)
		rc = usage("the recordings have nothing in common to compare");
	rc = rc ? rc : put(o, &a);
	if (!rc && o->html)
		rc = put_page(o, &a, g);
	buf_release(&notes);
	return rc ? rc : status_of(gates, n);
}

/* 0, or 2 after one line on stderr. */
static int parse_gates(const struct compare_opts *o, struct gate *gates)
{
	struct err e = {0};
	if (o->fail_on.n > MOST_GATES)
		return usage("too many --fail-on");
	if (is_format(o, "junit") && !o->fail_on.n)
		return usage("--format junit is about conditions: give some with --fail-on");
	for (size_t i = 0; i < o->fail_on.n; i++)
		if (gate_parse(&gates[i], o->fail_on.v[i], &e)) {
			say_line("perfkit compare: --fail-on %s (see: perfkit help compare)",
				 e.msg);
			return 2;
		}
	return 0;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct compare_opts *o = opts;
	struct run_figures f = {.wait = &o->wait,
				.per_recording = o->per && !strcmp(o->per, "recording")};
	struct gate gates[MOST_GATES] = {{0}};
	size_t split = split_at(files, nfiles);
	if (!split || split + 1 >= nfiles)
		return usage("give runs before and after, with -- between: perfkit compare "
			     "a1.data a2.data -- b1.data b2.data");
	if (!(o->least >= 0 && o->least <= 100))
		return usage("--least is a percentage from 0 to 100");
	f.runs.least_share = o->least / 100;
	struct err e = {0};
	if (output_check(o->html, &e))
		return input_fail(NULL, &e);
	for (size_t i = 0; o->html && i < nfiles; i++)
		if (output_is_input(o->html, files[i]))
			return usage("--html names one of the recordings");
	int rc = parse_gates(o, gates);
	for (size_t i = 0; i < nfiles && !rc; i++)
		if (i != split)
			rc = run_figures_read(&f, i < split ? BEFORE : AFTER, files[i]);
	rc = rc ? rc : answer(o, &f, gates, &(struct groups){files, nfiles});
	for (size_t i = 0; i < MOST_GATES; i++)
		gate_release(&gates[i]);
	run_figures_release(&f);
	return rc;
}

static void defaults(void *opts)
{
	struct compare_opts *o = opts;
	o->top = -1;
	o->least = 2;
	o->wait.tl.meant = 1;
}

const struct verb verb_compare = {
	.name = "compare",
	.brief = "runs before and after a change: what chance does not explain",
	.usage = "[options] BEFORE... -- AFTER...",
	.text = "Each is a recording, a bundle or a store. A run is one observation, so "
		"several of\n"
		"each side are needed: 4 and 4 at least, better 10 and 10, recorded by turns.\n"
		"docs/compare.md explains the verdicts: more, less, same, cannot say.\n",
	.examples = "  perfkit compare old*.data -- new*.data\n"
		    "  perfkit compare --fail-on 'span checkout p99 more 5%' old*.data -- "
		    "new*.data\n"
		    "  perfkit compare --format markdown old*.data -- new*.data >comment.md\n",
	.exits = "4  a condition of --fail-on holds (3: the runs cannot say)",
	.tables = {rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct compare_opts),
	.max_files = 256,
	.two_groups = 1,
	.modes = {{"", ""}, {NULL, "input state"}},
	.defaults = defaults,
	.run = run,
};
