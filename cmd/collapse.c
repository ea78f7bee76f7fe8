/*
 * collapse.c - `perfkit collapse`: folded stacks, as `perf script | stackcollapse-perf.pl`
 * gives them.
 */
#include "base/outfile.h"
#include "cmd/input.h"
#include "cmd/label.h"
#include "cmd/tlsamples.h"
#include "cmd/waits.h"
#include "cmd/verbs.h"
#include "cmd/say.h"
#include "render/foldtree.h"

#include <stdio.h>
#include <string.h>

struct collapse_opts {
	struct wait_opts w;
	const char *output, *weight;
	int all_events, pid_name, tid_name;
	int kernel, jit, inlined, all, addrs, delim, simplify;
	int offcpu, offwake;
	const char *unit;
};

#define AT(field) offsetof(struct collapse_opts, field)
static const struct opt rows[] = {
	{"output", 'o', OPT_STRING, AT(output), "FILE", "write to FILE instead of stdout"},
	{"all-events", 0, OPT_FLAG, AT(all_events), NULL,
	 "all events, not only that of the earliest sample"},
	{"weight", 0, OPT_STRING, AT(weight), "period|samples",
	 "what a sample counts: its period (default; tracepoints\nalways 1) or 1"},
	{"pid-name", 0, OPT_FLAG, AT(pid_name), NULL, "first element COMM-PID"},
	{"tid-name", 0, OPT_FLAG, AT(tid_name), NULL, "first element COMM-PID/TID"},
	{"kernel", 0, OPT_FLAG, AT(kernel), NULL, "mark kernel functions with _[k]"},
	{"jit", 0, OPT_FLAG, AT(jit), NULL, "mark JIT-compiled functions with _[j]"},
	{"inline", 0, OPT_FLAG, AT(inlined), NULL, "mark inlined functions with _[i]"},
	{"all", 0, OPT_FLAG, AT(all), NULL, "all three marks"},
	{"addrs", 0, OPT_FLAG, AT(addrs), NULL, "show the address of frames without a name"},
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "the waiting instead: time off the CPU by the stack that\nwent off it"},
	{"offwake", 0, OPT_FLAG, AT(offwake), NULL,
	 "--offcpu with the waker's stack behind ;--; (_[w])"},
	{"unit", 0, OPT_STRING, AT(unit), "ns|us|ms", "of off-CPU time (us)"},
	{"delim", 0, OPT_FLAG, AT(delim), NULL, "a - between user and kernel frames"},
	{"simplify", 0, OPT_FLAG, AT(simplify), NULL,
	 "short C++, Rust and Go names, so that equal frames merge"},
	{"srcline", 0, OPT_FLAG, AT(w.tl.in.lines), NULL, "file and line behind each function"},
	OPT_END,
};

struct collapser {
	struct input in;
	const struct collapse_opts *opt;
	struct foldtree tree;
	struct labels labels;
};

static unsigned fold_by(const struct collapse_opts *o)
{
	return (o->pid_name ? BY_PID : 0) | (o->tid_name ? BY_PID | BY_TID : 0);
}

static uint64_t weight_of(const struct collapser *c, const struct folded *f)
{
	const struct event *ev = &c->in.profile->rec->events.v[f->event];
	if (c->opt->weight && !strcmp(c->opt->weight, "samples"))
		return f->samples;
	if (ev->is_tracepoint)
		return f->samples;
	return f->weight;
}

static int add_stack(struct collapser *c, const struct folded *f, uint64_t weight)
{
	uint32_t node = 0;
	if (labels_comm(&c->labels, f->comm, f->pid, f->tid, &node) ||
	    labels_path(&c->labels, f->comm, f->path, &node))
		return ERR_NOMEM;
	foldtree_add(&c->tree, node, weight);
	return 0;
}

/* The events to show, by name: those asked for, else that of the earliest sample. */
static const char *chosen_event(const struct collapser *c)
{
	const struct profile *p = c->in.profile;
	size_t best = 0;
	if (c->opt->all_events || c->opt->w.tl.in.events.n)
		return NULL;
	for (size_t i = 1; i < p->rec->events.n; i++)
		if (p->first_of_event[i] < p->first_of_event[best])
			best = i;
	return p->rec->events.v[best].name;
}

static int build_tree(struct collapser *c, struct err *e)
{
	struct profile *p = c->in.profile;
	const char *event = chosen_event(c);
	uint64_t left_out = 0;
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct folded *f = &p->folded.v[i];
		if (event && strcmp(p->rec->events.v[f->event].name, event))
			left_out += f->samples;
		else if (add_stack(c, f, weight_of(c, f)))
			return err_nomem(e);
	}
	if (left_out && !c->opt->w.tl.in.quiet)
		say("showing %s; %llu samples of other events left out "
		    "(--event, --all-events)",
		    event, (unsigned long long)left_out);
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
	if (outfile_open(&out, c->opt->output ? c->opt->output : "-", e))
		return e->code;
	if (foldtree_write(&c->tree, out.f, unit > 1 ? round_to_unit : NULL, &unit, e)) {
		outfile_abort(&out);
		return e->code;
	}
	return outfile_commit(&out, e);
}

static int collapse(struct collapser *c)
{
	struct err e = {0};
	int rc = input_fold(&c->in);
	if (rc)
		return rc;
	rc = input_warn_findings(&c->in, NULL, NULL, ABOUT_CPU | ABOUT_NAMES);
	if (rc)
		return rc;
	if (build_tree(c, &e) || write_tree(c, 1, &e))
		return input_fail(&c->in, &e);
	return input_status(&c->in);
}

/* --- off-CPU ------------------------------------------------------------------------- */

static uint64_t unit_ns(const char *unit)
{
	if (!unit || !strcmp(unit, "us"))
		return 1000;
	return !strcmp(unit, "ns") ? 1 : !strcmp(unit, "ms") ? 1000000 : 0;
}

static int add_wait_row(struct collapser *c, const struct stacks *stacks,
			const struct wait_row *r)
{
	const char *mark = wait_mark_text(r->mark);
	uint32_t node = 0;
	if (labels_comm(&c->labels, r->comm, r->pid, r->tid, &node) ||
	    (mark && labels_text(&c->labels, mark, &node)) ||
	    labels_path(&c->labels, r->comm, r->path, &node))
		return ERR_NOMEM;
	if (c->opt->offwake && r->waker_context != WAKER_NONE) {
		char irq[32];
		const char *name = strtab_get(&stacks->strings, r->waker_comm);
		snprintf(irq, sizeof(irq), "[%s]", waker_context_name(r->waker_context));
		if (labels_waker(&c->labels, r->waker_comm ? r->waker_path : 0,
				 r->waker_comm ? name : irq, &node))
			return ERR_NOMEM;
	}
	foldtree_add(&c->tree, node, r->ns);
	return 0;
}

static int collapse_waits(struct collapser *c, const struct label_options *lo,
			  const char *const *files, size_t nfiles)
{
	const struct collapse_opts *o = c->opt;
	struct tlinput ti;
	struct waits w;
	struct err e = {0};
	unsigned by = (o->pid_name ? WAITS_BY_PID : 0) | (o->tid_name ? WAITS_BY_TID : 0) |
		      (o->offwake ? WAITS_BY_WAKER : 0);
	uint64_t unit = unit_ns(o->unit);
	const char *path = nfiles             ? files[0]
			   : o->w.tl.in.input ? o->w.tl.in.input
					      : "perf.data";
	if (!unit) {
		say_line("perfkit collapse: --unit is ns, us or ms, not '%s'", o->unit);
		return 2;
	}
	int rc = tlinput_open(&ti, "collapse", &o->w.tl, path, 0);
	if (rc)
		return rc;
	labels_init(&c->labels, ti.names, &c->tree, lo);
	rc = waits_collect(&w, &ti, &o->w, by, &e);
	for (size_t i = 0; i < w.rows.n && !rc; i++)
		if (add_wait_row(c, ti.names, &w.rows.v[i]))
			rc = err_nomem(&e);
	if (!rc)
		rc = write_tree(c, unit, &e);
	if (!rc) {
		if (!o->w.tl.in.quiet)
			say("weights are off-CPU time in %s", o->unit ? o->unit : "us");
		tl_say_hidden(&ti, &w.hidden);
	}
	rc = rc ? input_fail(&ti.in, &e) : input_status(&ti.in);
	waits_release(&w);
	tlinput_close(&ti);
	return rc;
}

/* On-CPU stacks of a store. */
static int collapse_store(struct collapser *c, const struct label_options *lo, const char *path)
{
	const struct collapse_opts *o = c->opt;
	struct tlinput ti;
	struct tl_folded f = {.event = TL_NONE};
	struct err e = {0};
	int samples = o->weight && !strcmp(o->weight, "samples");
	int rc = tlinput_open(&ti, "collapse", &o->w.tl, path, -1);
	if (rc)
		return rc;
	labels_init(&c->labels, ti.names, &c->tree, lo);
	rc = tl_fold_samples(&ti, fold_by(o), o->all_events, &f, &e);
	for (size_t i = 0; i < f.rows.n && !rc; i++)
		if (add_stack(c, &f.rows.v[i],
			      samples ? f.rows.v[i].samples : f.rows.v[i].weight))
			rc = err_nomem(&e);
	if (!rc)
		rc = write_tree(c, 1, &e);
	rc = rc ? input_fail(&ti.in, &e) : input_status(&ti.in);
	tl_folded_release(&f);
	tlinput_close(&ti);
	return rc;
}

static int collapse_cpu(struct collapser *c, const struct label_options *lo,
			const char *const *files, size_t nfiles)
{
	const struct collapse_opts *o = c->opt;
	const char *path = nfiles             ? files[0]
			   : o->w.tl.in.input ? o->w.tl.in.input
					      : "perf.data";
	if (tlinput_is_store(path))
		return collapse_store(c, lo, path);
	int rc = input_open(&c->in, "collapse", &o->w.tl.in, files, nfiles);
	if (rc)
		return rc;
	c->in.fold.aggregate.by = fold_by(o);
	labels_init(&c->labels, &c->in.profile->stacks, &c->tree, lo);
	rc = collapse(c);
	input_close(&c->in);
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
				   .srcline = o->w.tl.in.lines,
				   .delim = o->delim,
				   .simplify = o->simplify};
	if (o->weight && strcmp(o->weight, "period") && strcmp(o->weight, "samples")) {
		say_line("perfkit collapse: --weight is period or samples, not '%s'",
			 o->weight);
		return 2;
	}
	int rc = o->offcpu || o->offwake ? collapse_waits(&c, &lo, files, nfiles)
					 : collapse_cpu(&c, &lo, files, nfiles);
	foldtree_release(&c.tree);
	labels_release(&c.labels);
	return rc;
}

const struct verb verb_collapse = {
	.name = "collapse",
	.brief = "folded stacks, one line a stack, for flame graphs and diffs",
	.usage = "[options] [FILE]",
	.text = "The same lines as `perf script | stackcollapse-perf.pl`, sorted; "
		"docs/differences.md\n"
		"lists where and why they differ.",
	.examples = "  perfkit collapse perf.data > out.folded\n"
		    "  perfkit collapse --comm nginx --all -o nginx.folded perf.data\n"
		    "  perf record -o - -g -- ./prog | perfkit collapse -",
	.tables = {rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct collapse_opts),
	.max_files = 1,
	.run = run,
};
