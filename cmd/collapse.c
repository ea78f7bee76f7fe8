/*
 * collapse.c - `perfkit collapse`: folded stacks, like those of `perf script |
 * stackcollapse-perf.pl`.
 */
#include "base/count.h"
#include "cmd/input/input.h"
#include "render/flame/fold_labels.h"
#include "cmd/input/output.h"
#include "cmd/query/stack_source.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "render/flame/fold_tree.h"

#include <stdio.h>
#include <string.h>

struct collapse_opts {
	struct tail_opts t; /* first, for the rows of tail, waits and input */
	const char *output, *weight;
	int all_events, pid_name, tid_name;
	int kernel, jit, inlined, all, simplify;
	int offcpu, offwake, tail, user_callchains, kernel_callchains;
	const char *unit;
};

#define AT(field) offsetof(struct collapse_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to show"),
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "waiting instead of CPU time:\ntime off the CPU, by the stack that left it"},
	{"offwake", 0, OPT_FLAG, AT(offwake), NULL,
	 "--offcpu with the waker's stack after ;--; (_[w])"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the time inside the worst episodes (perfkit help tail)"},
	{"all-events", 0, OPT_FLAG, AT(all_events), NULL,
	 "all events, not only the default one"},
	{"weight", 0, OPT_STRING, AT(weight), "period|samples",
	 "weigh samples by their period (default), or each as 1\n(tracepoints always weigh 1)"},
	OPT_HEADING("Output"),
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "write to FILE instead of stdout"},
	{"unit", 0, OPT_STRING, AT(unit), "ns|us|ms", "unit of waits and --tail (default us)"},
	{"pid-name", 0, OPT_FLAG, AT(pid_name), NULL, "begin stacks with COMM-PID"},
	{"tid-name", 0, OPT_FLAG, AT(tid_name), NULL, "begin stacks with COMM-PID/TID"},
	{"kernel", 0, OPT_FLAG, AT(kernel), NULL, "mark kernel functions with _[k]"},
	{"jit", 0, OPT_FLAG, AT(jit), NULL, "mark JIT-compiled functions with _[j]"},
	{"inline", 0, OPT_FLAG, AT(inlined), NULL, "mark inlined functions with _[i]"},
	{"all", 0, OPT_FLAG, AT(all), NULL,
	 "mark functions: _[k] kernel, _[j] JIT, _[i] inlined"},
	OPT_HEADING("Episodes"),
	{"top", 0, OPT_U64, AT(t.top), "N", "with --tail: the N longest episodes; 0 = all"},
	OPT_HEADING("Stacks"),
	{"user-callchains", 0, OPT_FLAG, AT(user_callchains), NULL,
	 "leave the kernel's frames out of stacks"},
	{"kernel-callchains", 0, OPT_FLAG, AT(kernel_callchains), NULL,
	 "leave all but the kernel's frames out"},
	{"simplify", 0, OPT_FLAG, AT(simplify), NULL,
	 "shorten C++, Rust and Go names,\nso that equal frames merge"},
	{"srcline", 0, OPT_FLAG, AT(t.wait.tl.in.lines), NULL,
	 "add file and line to each function"},
	{"addrs", 0, OPT_FLAG, AT(t.wait.tl.addrs), NULL,
	 "show the addresses of unnamed frames"},
	CGROUP_ROWS,
	OPT_END,
};

struct collapser {
	const struct collapse_opts *opt;
	struct foldtree tree;
	struct fold_labels labels;
	const struct samples_event *events; /* of samples; else NULL */
	size_t rows;
	const char *unit; /* of the samples added so far */
	int unlike;       /* they had different units */
};

static const char *input_name(const struct collapse_opts *o, const char *const *files,
			      size_t nfiles)
{
	const char *input = o->t.wait.tl.in.input;
	return nfiles ? files[0] : input ? input : "perf.data";
}

static unsigned fold_by(const struct collapse_opts *o)
{
	return (o->pid_name ? BY_PID : 0) | (o->tid_name ? BY_PID | BY_TID : 0) |
	       (o->t.wait.tl.addrs ? BY_ADDR | BY_UNMAPPED : 0);
}

static int counts_samples(const struct collapser *c)
{
	return c->opt->weight && !strcmp(c->opt->weight, "samples");
}

static void note_unit(struct collapser *c, const char *unit)
{
	c->unlike |= c->unit && strcmp(c->unit, unit) && !counts_samples(c);
	c->unit = unit;
}

static void warn_unlike(const struct collapser *c, struct input *in)
{
	if (c->unlike)
		input_warn(in,
			   "periods of different events are added up (--weight samples counts "
			   "samples instead; --event chooses one)");
}

/* The event to show; NO_ID: all that were read. */
static uint32_t chosen_event(const struct collapser *c, const struct samples *s)
{
	if (c->opt->all_events || c->opt->t.wait.tl.in.events.n)
		return NO_ID;
	return samples_default(s);
}

static int add_row(void *collapser, const struct stack_row *r, struct err *e)
{
	struct collapser *c = collapser;
	const struct collapse_opts *o = c->opt;
	struct stack_row named = *r;
	uint32_t node;
	named.of.pid = o->pid_name || o->tid_name ? r->of.pid : -1;
	named.of.tid = o->tid_name ? r->of.tid : -1;
	if (c->events)
		note_unit(c, c->events[r->of.event].unit);
	if (fold_labels_row(&c->labels, &named, &node))
		return err_nomem(e);
	foldtree_add(&c->tree, node, r->of.weight);
	c->rows++;
	return 0;
}

/* Print which samples are shown, and which are not. */
static void say_events(struct collapser *c, const struct stack_source *s)
{
	warn_unlike(c, &s->ti->in);
	struct buf name = {0};
	if (!s->left_out || (c->opt->t.wait.tl.in.quiet && s->left_out <= s->shown))
		return;
	samples_event_shown(&s->samples, s->event, &name);
	say("showing %s; left out %s of other events (choose with --event, "
	    "--all-events)",
	    buf_cstr(&name), COUNT(s->left_out, "sample"));
	buf_release(&name);
}

/* Sums are kept in ns and rounded once. */
static uint64_t round_to_unit(uint64_t ns, void *unit)
{
	uint64_t u = *(uint64_t *)unit;
	return (ns + u / 2) / u;
}

static int write_tree(struct collapser *c, uint64_t unit, struct err *e)
{
	struct outfile out;
	if (output_open(&out, c->opt->output, e))
		return e->code;
	int rc = foldtree_write(&c->tree, out.f, unit > 1 ? round_to_unit : NULL, &unit, e);
	return outfile_end(&out, rc, e);
}

static uint64_t unit_ns(const char *unit)
{
	if (!unit || !strcmp(unit, "us"))
		return 1000;
	return !strcmp(unit, "ns") ? 1 : 1000000;
}

/* Print which waits are shown, or that there are none. */
static void say_waits(struct collapser *c, const struct stack_source *s)
{
	const struct collapse_opts *o = c->opt;
	int cause = o->t.wait.causes.n > 0, state = o->t.wait.states.n > 0;
	const char *shown = cause && state ? "--state, --cause"
			    : cause        ? "--cause"
			    : state        ? "--state"
					   : NULL;
	if (!c->rows && !set_apart_any(&s->hidden))
		input_say_none(&s->ti->in, "wait", shown);
	else if (!o->t.wait.tl.in.quiet)
		say("weights are off-CPU time in %s", o->unit ? o->unit : "us");
	tl_say_hidden(s->ti, &s->hidden);
}

static void say_tail(const struct collapser *c, const struct stack_source *s)
{
	if (!c->opt->t.wait.tl.in.quiet)
		say("weights are time inside the %zu worst of %zu episodes (by %s) in %s",
		    s->tail.rows.n, tail_ranked(&s->run, &s->tail),
		    episode_kind_name(s->run.query.episodes.kind),
		    c->opt->unit ? c->opt->unit : "us");
}

static int fold(struct collapser *c, struct stack_source *s, struct err *e)
{
	int samples = s->asked == STACKS_OF_SAMPLES;
	int rc = stack_source_rows(s, add_row, c, e);
	if (!rc && samples) {
		say_events(c, s);
		meant_say_everybody(s->ti);
	}
	rc = rc ? rc : write_tree(c, samples ? 1 : unit_ns(c->opt->unit), e);
	if (!rc && s->asked == STACKS_OF_TAIL)
		say_tail(c, s);
	else if (!rc && !samples)
		say_waits(c, s);
	return rc;
}

static int collapse(struct collapser *c, enum stack_question asked,
		    const struct label_options *lo, const char *path)
{
	struct tail_opts opt = c->opt->t;
	struct stack_source s;
	struct err e = {0};
	int samples = asked == STACKS_OF_SAMPLES, refused = 0;
	opt.wait.tl.in.no_lines = samples && !opt.wait.tl.in.lines;
	int rc = stack_source_open(&s, "collapse", asked, &opt, path, NULL, fold_by(c->opt));
	if (rc)
		return rc;
	s.states = asked == STACKS_OF_WAITS;
	fold_labels_init(&c->labels, s.stacks, &c->tree, lo);
	if (samples) {
		c->events = s.samples.events.v;
		s.event = chosen_event(c, &s.samples);
		s.is = samples_same_event;
		s.count = counts_samples(c);
		refused = samples_check_findings(&s.samples, s.event);
	}
	rc = refused           ? refused
	     : fold(c, &s, &e) ? input_fail(&s.ti->in, &e)
			       : input_status(&s.ti->in);
	stack_source_close(&s);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct collapse_opts *o = opts;
	struct collapser c = {.opt = o};
	struct label_options lo = {.kernel = o->kernel || o->all,
				   .jit = o->jit || o->all,
				   .inlined = o->inlined || o->all,
				   .addrs = o->t.wait.tl.addrs,
				   .srcline = o->t.wait.tl.in.lines,
				   .side = o->user_callchains     ? USER_SIDE
					   : o->kernel_callchains ? KERNEL_SIDE
								  : BOTH_SIDES,
				   .simplify = o->simplify};
	if (o->user_callchains && o->kernel_callchains) {
		say_line("perfkit collapse: --user-callchains excludes --kernel-callchains "
			 "(see: "
			 "perfkit help collapse)");
		return 2;
	}
	if (o->tail && (o->offcpu || o->offwake)) {
		say_line("perfkit collapse: --tail excludes --offcpu and --offwake (see: "
			 "perfkit help collapse)");
		return 2;
	}
	if (o->t.wait.tl.sides.n && !o->t.wait.tl.label && !o->tail) {
		say_line("perfkit collapse: --with goes with --label or --tail (see: perfkit "
			 "help collapse)");
		return 2;
	}
	enum stack_question asked = o->tail      ? STACKS_OF_TAIL
				    : o->offwake ? STACKS_OF_WAKERS
				    : o->offcpu  ? STACKS_OF_WAITS
						 : STACKS_OF_SAMPLES;
	int rc = collapse(&c, asked, &lo, input_name(o, files, nfiles));
	foldtree_release(&c.tree);
	fold_labels_release(&c.labels);
	return rc;
}

static void defaults(void *opts)
{
	((struct collapse_opts *)opts)->t.top = TAIL_NO_TOP;
}

const struct verb verb_collapse = {
	.name = "collapse",
	.brief = "print folded stacks, one line per stack, for flame graphs and diffs",
	.usage = "[options] [FILE]",
	.text = "Prints the same lines as `perf script | stackcollapse-perf.pl`, sorted;\n"
		"docs/differences.md lists where they differ, and why.",
	.examples = "  perfkit collapse perf.data > out.folded\n"
		    "  perfkit collapse --comm nginx --all -o nginx.folded perf.data\n"
		    "  perfkit collapse --tail --p999 --comm nginx run.db > worst.folded\n"
		    "  perf record -o - -g -- ./prog | perfkit collapse -",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct collapse_opts),
	.max_files = 1,
	.modes = {{"", "event all-events weight label with"},
		  {"offcpu", "cgroup unit label with " WAITS_SHOW},
		  {"offwake", "cgroup unit label with " WAITS_SHOW},
		  {"tail", "cgroup unit top " TAIL_PICKS}},
	.run = run,
	.defaults = defaults,
};
