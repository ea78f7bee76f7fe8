/*
 * collapse.c - `perfkit collapse`: folded stacks, as `perf script | stackcollapse-perf.pl`
 * gives them.
 */
#include "base/count.h"
#include "cmd/input/input.h"
#include "render/flame/fold_labels.h"
#include "cmd/input/output.h"
#include "cmd/query/samples.h"
#include "cmd/tail_out.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "render/flame/fold_tree.h"

#include <stdio.h>
#include <string.h>

struct collapse_opts {
	struct tail_opts t; /* for recordings and stores */
	const char *output, *weight;
	int all_events, pid_name, tid_name;
	int kernel, jit, inlined, all, addrs, delim, simplify;
	int offcpu, offwake, tail, user_callchains, kernel_callchains;
	const char *unit;
};

#define AT(field) offsetof(struct collapse_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to show"),
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "waiting instead of CPU time: time off the CPU, by the\nstack that left it"},
	{"offwake", 0, OPT_FLAG, AT(offwake), NULL,
	 "--offcpu with the waker's stack after ;--; (_[w])"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the time inside the worst episodes, chosen as by\nperfkit tail"},
	{"top", 0, OPT_U64, AT(t.top), "N", "with --tail: the N longest episodes; 0 = all"},
	{"all-events", 0, OPT_FLAG, AT(all_events), NULL,
	 "all events, not only that of the earliest sample"},
	{"weight", 0, OPT_STRING, AT(weight), "period|samples",
	 "weigh each sample by its period (default; tracepoints\nalways weigh 1), or as 1"},
	OPT_HEADING("Output"),
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "write to FILE instead of stdout"},
	{"unit", 0, OPT_STRING, AT(unit), "ns|us|ms", "unit of waits and --tail (default us)"},
	{"pid-name", 0, OPT_FLAG, AT(pid_name), NULL, "begin stacks with COMM-PID"},
	{"tid-name", 0, OPT_FLAG, AT(tid_name), NULL, "begin stacks with COMM-PID/TID"},
	{"kernel", 0, OPT_FLAG, AT(kernel), NULL, "mark kernel functions with _[k]"},
	{"jit", 0, OPT_FLAG, AT(jit), NULL, "mark JIT-compiled functions with _[j]"},
	{"inline", 0, OPT_FLAG, AT(inlined), NULL, "mark inlined functions with _[i]"},
	{"all", 0, OPT_FLAG, AT(all), NULL, "all three marks"},
	{"addrs", 0, OPT_FLAG, AT(addrs), NULL, "show the addresses of unnamed frames"},
	{"delim", 0, OPT_FLAG, AT(delim), NULL, "put a - between user and kernel frames"},
	{"simplify", 0, OPT_FLAG, AT(simplify), NULL,
	 "shorten C++, Rust and Go names, so that equal frames merge"},
	{"user-callchains", 0, OPT_FLAG, AT(user_callchains), NULL,
	 "leave the kernel's frames out of stacks"},
	{"kernel-callchains", 0, OPT_FLAG, AT(kernel_callchains), NULL,
	 "leave all but the kernel's frames out"},
	{"srcline", 0, OPT_FLAG, AT(t.wait.tl.in.lines), NULL,
	 "add file and line to each function"},
	OPT_END,
};

struct collapser {
	const struct collapse_opts *opt;
	struct foldtree tree;
	struct fold_labels labels;
	const char *unit; /* of the samples added so far */
	int unlike;       /* it was not the same for all */
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
	       (o->addrs ? BY_ADDR : 0);
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

static int add_stack(struct collapser *c, const struct folded *f, uint64_t weight)
{
	uint32_t node = 0;
	if (fold_labels_comm(&c->labels, f->comm, f->pid, f->tid, &node) ||
	    fold_labels_path(&c->labels, f->comm, f->path, &node))
		return ERR_NOMEM;
	foldtree_add(&c->tree, node, weight);
	return 0;
}

/* The one event to show; NO_ID: all that were read. */
static uint32_t chosen_event(const struct collapser *c, const struct samples *s)
{
	if (c->opt->all_events || c->opt->t.wait.tl.in.events.n)
		return NO_ID;
	return samples_earliest(s);
}

static int build_tree(struct collapser *c, struct samples *s, uint32_t event, struct err *e)
{
	uint64_t left_out = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct folded *f = &s->v[i];
		if (event != NO_ID && !samples_same_name(s, f->event, event)) {
			left_out += f->samples;
			continue;
		}
		note_unit(c, s->events.v[f->event].unit);
		if (add_stack(c, f, counts_samples(c) ? f->samples : samples_weight(s, f)))
			return err_nomem(e);
	}
	warn_unlike(c, &s->ti.in);
	if (left_out && !c->opt->t.wait.tl.in.quiet)
		say("showing %s; left out %s of other events (choose with --event, "
		    "--all-events)",
		    s->events.v[event].name, COUNT(left_out, "sample"));
	return 0;
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

static int collapse_cpu(struct collapser *c, const struct label_options *lo, const char *path)
{
	struct tlinput_opts opt = c->opt->t.wait.tl;
	struct samples s;
	struct err e = {0};
	opt.in.no_lines = !opt.in.lines;
	int rc = samples_open(&s, "collapse", &opt, path, NULL, fold_by(c->opt));
	if (rc)
		return rc;
	fold_labels_init(&c->labels, s.stacks, &c->tree, lo);
	uint32_t event = chosen_event(c, &s);
	rc = samples_judge(&s, event);
	if (!rc)
		rc = build_tree(c, &s, event, &e) || write_tree(c, 1, &e)
			     ? input_fail(&s.ti.in, &e)
			     : input_status(&s.ti.in);
	samples_close(&s);
	return rc;
}

/* --- off-CPU ------------------------------------------------------------------------- */

static uint64_t unit_ns(const char *unit)
{
	if (!unit || !strcmp(unit, "us"))
		return 1000;
	return !strcmp(unit, "ns") ? 1 : 1000000;
}

static int add_wait_row(struct collapser *c, const struct stacks *stacks,
			const struct wait_row *r)
{
	const char *mark = wait_mark_text(r->mark);
	uint32_t node = 0;
	if (fold_labels_comm(&c->labels, r->comm, r->pid, r->tid, &node) ||
	    (mark && fold_labels_text(&c->labels, mark, &node)) ||
	    fold_labels_path(&c->labels, r->comm, r->path, &node))
		return ERR_NOMEM;
	if (c->opt->offwake && r->waker_context != WAKER_NONE) {
		char irq[32];
		const char *name = strtab_get(&stacks->strings, r->waker_comm);
		snprintf(irq, sizeof(irq), "[%s]", waker_context_name(r->waker_context));
		if (fold_labels_waker(&c->labels, r->waker_comm ? r->waker_path : 0,
				      r->waker_comm ? name : irq, &node))
			return ERR_NOMEM;
	}
	foldtree_add(&c->tree, node, r->ns);
	return 0;
}

/* What is printed, or that nothing is. */
static void say_weights(struct tlinput *ti, const struct collapse_opts *o,
			const struct wait_sums *w)
{
	int cause = o->t.wait.causes.n > 0, state = o->t.wait.states.n > 0;
	const char *shown = cause && state ? "--state, --cause"
			    : cause        ? "--cause"
			    : state        ? "--state"
					   : NULL;
	if (!w->rows.n && !set_apart_any(&w->apart))
		input_say_none(&ti->in, "wait", shown);
	else if (!o->t.wait.tl.in.quiet)
		say("weights are off-CPU time in %s", o->unit ? o->unit : "us");
	tl_say_hidden(ti, &w->apart);
}

static int collapse_waits(struct collapser *c, const struct label_options *lo,
			  const char *const *files, size_t nfiles)
{
	const struct collapse_opts *o = c->opt;
	struct tlinput ti;
	struct wait_sums w;
	struct err e = {0};
	unsigned by = (o->pid_name ? WAITS_BY_PID : 0) | (o->tid_name ? WAITS_BY_TID : 0) |
		      (o->offwake ? WAITS_BY_WAKER : 0);
	uint64_t unit = unit_ns(o->unit);
	const char *path = input_name(o, files, nfiles);
	int rc = tlinput_open(&ti, "collapse", &o->t.wait.tl, path, 0);
	if (rc)
		return rc;
	fold_labels_init(&c->labels, ti.names, &c->tree, lo);
	rc = waits_collect(&w, &ti, &o->t.wait, by, &e);
	for (size_t i = 0; i < w.rows.n && !rc; i++)
		if (add_wait_row(c, ti.names, &w.rows.v[i]))
			rc = err_nomem(&e);
	if (!rc)
		rc = write_tree(c, unit, &e);
	if (!rc)
		say_weights(&ti, o, &w);
	rc = rc ? input_fail(&ti.in, &e) : input_status(&ti.in);
	wait_sums_release(&w);
	tlinput_close(&ti);
	return rc;
}

/* --- the worst episodes --------------------------------------------------------------- */

struct tail_folding {
	struct collapser *c;
	const struct collapse_opts *o;
	const struct tail_run *r;
};

static int add_tail_row(void *ctx, const struct folded *row, struct err *e)
{
	struct tail_folding *f = ctx;
	int pid = f->o->pid_name || f->o->tid_name ? row->pid : -1;
	uint32_t node = 0;
	if (fold_labels_comm(&f->c->labels, row->comm, pid, f->o->tid_name ? row->tid : -1,
			     &node) ||
	    fold_labels_path(&f->c->labels, row->comm, row->path, &node))
		return err_nomem(e);
	foldtree_add(&f->c->tree, node, row->weight);
	return 0;
}

static int fold_tail(struct tail_folding *f, const struct tail *t, uint64_t unit, struct err *e)
{
	struct tail_times times = {.tail = t, .add = add_tail_row, .ctx = f};
	int rc = 0;
	for (size_t i = 0; i < t->rows.n && !rc; i++)
		rc = tail_times_add(&times, &t->episodes.v.v[t->rows.v[i].episode], e);
	if (!rc)
		rc = write_tree(f->c, unit, e);
	if (!rc && !f->o->t.wait.tl.in.quiet)
		say("weights are time inside the %zu worst of %zu episodes (by %s) in %s",
		    t->rows.n, tailout_ranked(f->r, t),
		    episode_kind_name(f->r->query.episodes.kind),
		    f->o->unit ? f->o->unit : "us");
	return rc;
}

static int collapse_tail(struct collapser *c, const struct label_options *lo, const char *path)
{
	struct tail_run r = {.opt = &c->opt->t};
	struct tail_folding f = {.c = c, .o = c->opt, .r = &r};
	struct tail t;
	struct err e = {0};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	uint64_t unit = unit_ns(c->opt->unit);
	int rc = tail_ask(&r, "collapse", path, names, &n, NULL);
	if (rc)
		return rc;
	fold_labels_init(&c->labels, r.ti.names, &c->tree, lo);
	rc = tail_make(&r.ti.tl, &r.query, &t, &e);
	if (!rc) {
		int refused = tail_refuse(&r, &t);
		if (!refused)
			rc = fold_tail(&f, &t, unit, &e);
		tail_release(&t);
		if (refused) {
			tlinput_close(&r.ti);
			return refused;
		}
	}
	rc = rc ? input_fail(&r.ti.in, &e) : input_status(&r.ti.in);
	tlinput_close(&r.ti);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct collapse_opts *o = opts;
	struct collapser c = {.opt = o};
	struct label_options lo = {.kernel = o->kernel || o->all,
				   .jit = o->jit || o->all,
				   .inlined = o->inlined || o->all,
				   .addrs = o->addrs,
				   .srcline = o->t.wait.tl.in.lines,
				   .side = o->user_callchains     ? USER_SIDE
					   : o->kernel_callchains ? KERNEL_SIDE
								  : BOTH_SIDES,
				   .delim = o->delim && !o->user_callchains &&
					    !o->kernel_callchains,
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
	int rc = o->tail ? collapse_tail(&c, &lo, input_name(o, files, nfiles))
		 : o->offcpu || o->offwake
			 ? collapse_waits(&c, &lo, files, nfiles)
			 : collapse_cpu(&c, &lo, input_name(o, files, nfiles));
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
		  {"offcpu", "unit label with " WAITS_SHOW},
		  {"offwake", "unit label with " WAITS_SHOW},
		  {"tail", "unit top " TAIL_PICKS}},
	.run = run,
	.defaults = defaults,
};
