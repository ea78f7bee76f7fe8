/*
 * svg.c - `perfkit svg`: interactive flame graphs.
 *
 * Options have flamegraph.pl's names if it has them. The source of the stacks is recognized by
 * content.
 */
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/input/output.h"
#include "cmd/answer/svg_source.h"
#include "cmd/svg.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "cmd/query/caption.h"
#include "libtime/causes/causes.h"
#include "libtime/tables/compare.h"
#include "render/flame/flame_match.h"
#include "render/flame/flame_runs.h"
#include "render/flame/flame_svg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PALETTE_MAP "palette.map" /* where --cp keeps colours, as in flamegraph.pl */

struct svg_opts {
	struct tail_opts t; /* for recordings and stores */
	const char *output, *title, *subtitle, *color, *bgcolors, *minwidth, *fonttype,
		*countname, *nametype, *notes, *normalize;
	double width, height, fontsize, fontwidth, factor, total;
	uint64_t seed;
	int hash, random, cp, reverse, inverted, flamechart, negate, diff, no_vanished,
		no_script, simplify, merge_threads, offcpu, offwake, wall, chain, tail,
		tail_diff, user_callchains, kernel_callchains;
};

#define AT(field) offsetof(struct svg_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to draw"),
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL, "waiting: time off the CPU, by stack"},
	{"wall", 0, OPT_FLAG, AT(wall), NULL, "running and waiting of the same threads"},
	{"offwake", 0, OPT_FLAG, AT(offwake), NULL,
	 "--offcpu with the waker's stack above, reversed"},
	{"chain", 0, OPT_FLAG, AT(chain), NULL,
	 "--offcpu with the chain of threads behind each wait"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the time inside the worst episodes (perfkit help tail)"},
	{"tail-diff", 0, OPT_FLAG, AT(tail_diff), NULL,
	 "what only the worst do: --tail against the median"},
	{"diff", 0, OPT_FLAG, AT(diff), NULL,
	 "compare two files, BEFORE AFTER, or several runs,\nBEFORE... -- AFTER...: then "
	 "widths are means, coloured where chance does not explain "
	 "the change"},
	{"normalize", 0, OPT_STRING, AT(normalize), "total|none",
	 "scale BEFORE to the total of AFTER (default with --diff),\nor not"},
	{"no-vanished", 0, OPT_FLAG, AT(no_vanished), NULL,
	 "do not show stacks that only BEFORE has"},
	{"split", 0, OPT_STRING, AT(t.wait.tl.split), "comm|pid|tid|cpu|event|cgroup|label:KEY",
	 "the first level (default comm);\nlabel:KEY: the value of a label of spans; for waits "
	 "comm, pid, tid or label:KEY"},
	OPT_HEADING("The picture"),
	{"reverse", 0, OPT_FLAG, AT(reverse), NULL, "merge the stacks from the leaf"},
	{"inverted", 0, OPT_FLAG, AT(inverted), NULL, "icicle graph: the root on top"},
	{"flamechart", 0, OPT_FLAG, AT(flamechart), NULL,
	 "flame chart: a lane per thread, in time;\nfolded text in the order of its lines"},
	{"width", 0, OPT_REAL, AT(width), "PX", "width of the picture (default 1200)"},
	{"height", 0, OPT_REAL, AT(height), "PX", "height of one frame (default 16)"},
	{"minwidth", 0, OPT_STRING, AT(minwidth), "PX|N%",
	 "leave out narrower frames (default 0.1)"},
	{"total", 0, OPT_REAL, AT(total), "N", "the weight that spans the full width"},
	{"factor", 0, OPT_REAL, AT(factor), "X", "multiply the weights that are shown"},
	{"color", 0, OPT_STRING, AT(color), "PALETTE",
	 "hot (default), cause, chain, dso, ipc, label:KEY ...\n"
	 "also kind io mem wakeup java js perl red green blue aqua yellow purple orange; the "
	 "default of --offcpu is cause, where wakers are shown chain; ipc: instructions per "
	 "cycle, if samples count both; label:KEY: by the value of a label, "
	 "drawn on top of each stack"},
	{"colors", 0, OPT_STRING, AT(color), "PALETTE", NULL},
	{"bgcolors", 0, OPT_STRING, AT(bgcolors), "COLOR", "yellow blue green grey or #rrggbb"},
	{"hash", 0, OPT_FLAG, AT(hash), NULL, "similar colors for names that begin alike"},
	{"random", 0, OPT_FLAG, AT(random), NULL, "random colors (see --seed), not by name"},
	{"seed", 0, OPT_U64, AT(seed), "N", "for --random"},
	{"cp", 0, OPT_FLAG, AT(cp), NULL, "keep each name's color in ./" PALETTE_MAP},
	{"negate", 0, OPT_FLAG, AT(negate), NULL, "with --diff: blue grew, red shrank"},
	{"title", 0, OPT_STRING, AT(title), "TEXT", "first line of the picture"},
	{"subtitle", 0, OPT_STRING, AT(subtitle), "TEXT", "second line"},
	{"countname", 0, OPT_STRING, AT(countname), "TEXT",
	 "unit of the counts (default samples); ns us ms s bytes are\nshown in human units"},
	{"nametype", 0, OPT_STRING, AT(nametype), "TEXT",
	 "what a frame is called (default Function:)"},
	{"fonttype", 0, OPT_STRING, AT(fonttype), "FONT", "default Verdana"},
	{"fontsize", 0, OPT_REAL, AT(fontsize), "PX", "default 12"},
	{"fontwidth", 0, OPT_REAL, AT(fontwidth), "X",
	 "average width of a character, relative to the font size\n(default 0.59)"},
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "write to FILE instead of stdout"},
	{"notes", 0, OPT_STRING, AT(notes), "TEXT", "a comment inside the file"},
	{"no-script", 0, OPT_FLAG, AT(no_script), NULL,
	 "a still picture, without script and data"},
	OPT_HEADING("Episodes"),
	{"top", 0, OPT_U64, AT(t.top), "N", "with --tail: the N longest episodes; 0 = all"},
	OPT_HEADING("Stacks"),
	{"user-callchains", 0, OPT_FLAG, AT(user_callchains), NULL,
	 "leave the kernel's frames out of stacks"},
	{"kernel-callchains", 0, OPT_FLAG, AT(kernel_callchains), NULL,
	 "leave all but the kernel's frames out"},
	{"simplify", 0, OPT_FLAG, AT(simplify), NULL,
	 "shorten C++, Rust and Go names,\nso that equal frames merge"},
	{"merge-threads", 0, OPT_FLAG, AT(merge_threads), NULL,
	 "threads of a pool as one:\nwork-0, work-1 ... are work-N"},
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_END,
};

enum { LEAST_PERCENT = 2 }; /* changes below are none, as in `compare` */

/* Options that folded text does not use. */
#define FOR_RECORDINGS   \
	INPUT_FILTERS    \
	" " INPUT_NAMING \
	" split simplify user-callchains kernel-callchains merge-threads recording"

struct drawing {
	const struct svg_opts *opt;
	const char *split; /* as given; that of opt may be --color's label */
	struct flame flame;
	struct flame_svg_options o;
	struct palette_map map;
	struct svg_request rq;
	struct svg_drawn drawn[2]; /* [1]: the last file before, of a diff */
	struct flame_runs runs;    /* of a diff of more than two files */
	struct buf title, compared;
	const char *hidden[5];
	int status; /* exit status of what already printed its failure */
	FILE *to;   /* where it goes; NULL: --output */
};

static int fail(const struct err *e)
{
	say_line("perfkit svg: %s", e->msg);
	return e->code == ERR_NOTFOUND ? 2 : input_exit(e);
}

static int usage(const char *what)
{
	say_line("perfkit svg: %s (see: perfkit help svg)", what);
	return 2;
}

/* --- options ------------------------------------------------------------------------- */

static int in_range(double x, double low, double high)
{
	return x >= low && x <= high; /* false for NaN */
}

static int check_ranges(const struct svg_opts *o)
{
	const struct {
		const char *name;
		double x, low, high;
	} sizes[] = {{"width", o->width, 200, 100000},   {"height", o->height, 6, 200},
		     {"fontsize", o->fontsize, 4, 100},  {"fontwidth", o->fontwidth, 0.1, 3},
		     {"factor", o->factor, 1e-18, 1e18}, {"total", o->total, 0, 1e18}};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (in_range(sizes[i].x, sizes[i].low, sizes[i].high))
			continue;
		say_line("perfkit svg: --%s is from %g to %g (see: perfkit help svg)",
			 sizes[i].name, sizes[i].low, sizes[i].high);
		return 2;
	}
	return 0;
}

/* How many files are before "--". */
static size_t split_at(const char *const *files, size_t nfiles)
{
	size_t i = 0;
	while (i < nfiles && strcmp(files[i], "--") != 0)
		i++;
	return i;
}

static int check(const struct svg_opts *o, const char *const *files, size_t nfiles)
{
	size_t split = split_at(files, nfiles);
	if (o->diff && (split < nfiles ? !split || split + 1 == nfiles : nfiles != 2))
		return usage("--diff takes two files, or several runs: BEFORE... -- AFTER...");
	if (!o->diff && nfiles > 1)
		return usage("one file only, or --diff BEFORE AFTER");
	if (o->notes && strpbrk(o->notes, "<>"))
		return usage("--notes may not contain < or >");
	if (o->reverse && o->flamechart)
		return usage("--reverse and --flamechart exclude each other");
	return check_ranges(o);
}

static int parse_minwidth(const char *s, struct flame_svg_options *o)
{
	char *end;
	if (!s)
		return 0;
	o->minwidth = strtod(s, &end);
	o->minwidth_percent = *end == '%';
	if (end == s || end[o->minwidth_percent] || !in_range(o->minwidth, 0, 100000))
		return usage("--minwidth is a number of pixels or N%");
	return 0;
}

static int set_palette(struct drawing *d, struct err *e)
{
	const struct svg_opts *s = d->opt;
	struct palette *p = &d->o.palette;
	const char *suits = s->offwake || s->chain ? "chain" : s->offcpu ? "cause" : "hot";
	int rc = 0;
	if (d->rq.color_label)
		p->id = PALETTE_LABEL;
	else
		rc = palette_find(s->color ? s->color : suits, &p->id, e);
	if (!rc && p->id == PALETTE_LABEL && !d->rq.color_label)
		return err_set(e, ERR_USAGE, "--color label:KEY: name the label");
	p->seed = s->seed;
	p->variation = s->random ? PALETTE_RANDOM : s->hash ? PALETTE_HASH : PALETTE_SPREAD;
	if (!rc && s->cp) {
		rc = palette_map_load(&d->map, PALETTE_MAP, e);
		p->map = &d->map;
	}
	return rc;
}

static void set_options(struct drawing *d)
{
	const struct svg_opts *s = d->opt;
	struct flame_svg_options *o = &d->o;
	o->title = s->title;
	o->subtitle = s->subtitle;
	o->notes = s->notes;
	o->countname = s->countname;
	o->nametype = s->nametype;
	o->background = s->bgcolors;
	o->font = s->fonttype;
	o->inverted = s->inverted;
	o->negate = s->negate;
	o->no_script = s->no_script;
	o->width = s->width;
	o->frame_height = s->height;
	o->font_size = s->fontsize;
	o->font_width = s->fontwidth;
	o->factor = s->factor;
	d->flame.reverse = s->reverse;
	d->flame.in_order = s->flamechart;
}

/* --- stacks --------------------------------------------------------------------------- */

/* Set --split. A wait is on no CPU and belongs to no event; a flame chart shows one event. */
static int set_split(struct svg_request *rq, const char *text, struct err *e)
{
	int rc = text ? flame_split_parse(text, &rq->split, e) : 0;
	int waits = rq->asked == STACKS_OF_WAITS || rq->asked == STACKS_OF_WAKERS;
	if (!rc && rq->asked != STACKS_OF_SAMPLES && rq->split > SPLIT_TID &&
	    !(waits && rq->split == SPLIT_LABEL))
		rc = err_set(e, ERR_USAGE,
			     "--split %s is for samples, not waits: comm, pid or tid", text);
	if (!rc && rq->in_order && rq->split > SPLIT_CPU)
		rc = err_set(e, ERR_USAGE, "--split %s does not go with --flamechart", text);
	return rc;
}

/* Rows can be separated by only one label. */
static int check_color_label(const struct drawing *d, struct err *e)
{
	const struct svg_request *rq = &d->rq;
	if (!rq->color_label)
		return 0;
	if (rq->asked != STACKS_OF_SAMPLES && rq->asked != STACKS_OF_WAITS &&
	    rq->asked != STACKS_OF_WAKERS)
		return err_set(e, ERR_USAGE,
			       "--color label:KEY is for samples, --offcpu and --offwake");
	if (rq->in_order || d->opt->diff)
		return err_set(e, ERR_USAGE,
			       "--color label:KEY does not go with --flamechart and --diff");
	if (rq->split == SPLIT_LABEL && strcmp(d->split, d->opt->color) != 0)
		return err_set(e, ERR_USAGE, "--split and --color name different labels");
	return 0;
}

static int set_request(struct drawing *d, struct err *e)
{
	const struct svg_opts *o = d->opt;
	if (o->offcpu + o->offwake + o->wall + o->chain + o->tail + o->tail_diff > 1)
		return err_set(e, ERR_USAGE,
			       "--offcpu, --offwake, --wall, --chain, --tail and"
			       " --tail-diff exclude each other");
	d->rq.asked = o->tail || o->tail_diff ? STACKS_OF_TAIL
		      : o->wall               ? STACKS_OF_WALL
		      : o->chain              ? STACKS_OF_CHAINS
		      : o->offwake            ? STACKS_OF_WAKERS
		      : o->offcpu             ? STACKS_OF_WAITS
					      : STACKS_OF_SAMPLES;
	d->rq.median = o->tail_diff;
	d->rq.in_order = o->flamechart;
	d->rq.ipc = o->color && !strcmp(o->color, "ipc");
	int rc = set_split(&d->rq, d->split, e);
	rc = rc ? rc : check_color_label(d, e);
	if (d->rq.ipc && (d->rq.asked != STACKS_OF_SAMPLES || o->diff || o->flamechart ||
			  d->rq.split == SPLIT_EVENT || o->t.wait.tl.in.events.n))
		rc = err_set(
			e, ERR_USAGE,
			"--color ipc is for samples of cycles: without --event, --diff and "
			"--flamechart");
	if (rc)
		return rc;
	if (o->t.wait.tl.sides.n && !o->t.wait.tl.label && d->rq.split != SPLIT_LABEL &&
	    !d->rq.color_label && !o->tail && !o->tail_diff)
		return err_set(e, ERR_USAGE,
			       "--with goes with --label, --split or --color label:KEY, or "
			       "--tail");
	if (o->flamechart && d->rq.asked != STACKS_OF_SAMPLES)
		return err_set(e, ERR_USAGE,
			       "--flamechart draws samples or folded text, not waits");
	if (o->user_callchains && o->kernel_callchains)
		return err_set(e, ERR_USAGE, "--user-callchains excludes --kernel-callchains");
	d->rq.side = o->user_callchains     ? USER_SIDE
		     : o->kernel_callchains ? KERNEL_SIDE
					    : BOTH_SIDES;
	d->rq.simplify = o->simplify;
	d->rq.merge_threads = o->merge_threads;
	d->rq.tail = &o->t;
	if (opt_given(&verb_svg, o, FOR_RECORDINGS, &d->rq.for_recordings))
		return err_nomem(e);
	return 0;
}

/* Colours and title by what is drawn, unless the user gave them. */
static void describe(struct drawing *d)
{
	static const char *const shapes[] = {"Flame Graph", "Icicle Graph", "Flame Chart"};
	const char *shape = shapes[d->opt->flamechart ? 2 : d->opt->inverted ? 1 : 0];
	const struct svg_drawn *s = &d->drawn[0];
	struct flame_svg_options *o = &d->o;
	if (s->unit && !strcmp(d->opt->countname, "samples"))
		o->countname = s->unit;
	if (s->subtitle.n && !o->subtitle)
		o->subtitle = buf_cstr(&d->drawn[0].subtitle);
	if (s->filters.n)
		o->filters = buf_cstr(&d->drawn[0].filters);
	o->hidden = d->hidden;
	if (s->matched.n)
		d->hidden[o->n_hidden++] = buf_cstr(&d->drawn[0].matched);
	if (s->states.n)
		d->hidden[o->n_hidden++] = buf_cstr(&d->drawn[0].states);
	if (s->hidden.n)
		d->hidden[o->n_hidden++] = buf_cstr(&d->drawn[0].hidden);
	if (s->unnamed_note.n)
		d->hidden[o->n_hidden++] = buf_cstr(&d->drawn[0].unnamed_note);
	if (d->flame.span) { /* lanes have their thread on top; none is omitted, or times would
				shift */
		o->inverted = 1;
		o->max_nodes = SIZE_MAX;
	}
	if (d->rq.asked == STACKS_OF_WALL)
		o->mode = FLAME_WALL;
	if (d->rq.ipc)
		o->mode = FLAME_IPC;
	if (d->rq.median) {
		o->mode = FLAME_DIFF;
		o->before_name = "median";
		o->after_name = "tail";
		o->before_scale = s->before_scale > 0 ? s->before_scale : 1;
	}
	if (s->title && !o->title) {
		buf_fmt(&d->title, "%s%s %s", o->mode == FLAME_DIFF ? "Differential " : "",
			s->title, shape);
		o->title = buf_cstr(&d->title);
	}
}

static int read_any(struct drawing *d, const char *path, int which, int columns, int before,
		    struct err *e)
{
	struct svg_drawn *s = &d->drawn[which];
	d->rq.columns = columns;
	d->rq.before = before;
	int rc = svg_source_read(&d->rq, path, &d->flame, s, e);
	d->status = s->status;
	return rc;
}

/* Read the files of one side; *seconds: how long they recorded together, 0: not known. */
static int read_side(struct drawing *d, const char *const *files, size_t n, int side,
		     double *seconds, struct err *e)
{
	int which = side == AFTER ? 0 : 1, rc = 0;
	struct svg_drawn *s = &d->drawn[which];
	for (size_t i = 0; i < n && !rc; i++) {
		svg_drawn_release(s);
		*s = (struct svg_drawn){0};
		rc = read_any(d, files[i], which, 1, which, e);
		*seconds = s->seconds > 0 && (!i || *seconds > 0) ? *seconds + s->seconds : 0;
		if (rc || !d->flame.runs)
			continue;
		rc = flame_runs_take(&d->flame, side, files[i]) ? err_nomem(e) : 0;
		if (!rc)
			d->runs.v.v[d->runs.v.n - 1].factor = s->seconds;
	}
	return rc;
}

/* Make runs comparable with the mean of those after, as the sums of both sides are. */
static void set_factors(struct drawing *d, int by_time, double seconds)
{
	double n = (double)flame_runs_of(&d->runs, AFTER);
	int none = d->opt->normalize && !strcmp(d->opt->normalize, "none");
	for (size_t k = 0; k < d->runs.v.n; k++) {
		struct flame_run *x = &d->runs.v.v[k];
		double all = x->n ? (double)x->self[0] : 0;
		double mean = (double)d->flame.nodes.v[0].v[0] / n;
		x->factor = none      ? 1
			    : by_time ? seconds / n / x->factor
			    : all > 0 ? mean / all
				      : 1;
	}
}

/* "a.data compared with b.data", and of groups how many runs they have. */
static void name_sides(struct drawing *d, const char *const *files, const size_t *n,
		       int by_time)
{
	struct flame_svg_options *o = &d->o;
	o->before_name = d->flame.runs ? "mean before" : caption_file(files[0]);
	o->after_name = d->flame.runs ? "mean after" : caption_file(files[1]);
	if (d->flame.runs)
		buf_fmt(&d->compared,
			"%zu runs after compared with %zu before: means; coloured where chance "
			"does not explain the change",
			n[AFTER], n[BEFORE]);
	else
		buf_fmt(&d->compared, "%s compared with %s", o->after_name, o->before_name);
	if (by_time && !d->opt->normalize)
		buf_str(&d->compared, ", per recorded second");
	if (d->drawn[0].subtitle.n)
		buf_fmt(&d->compared, " \xc2\xb7 %s", buf_cstr(&d->drawn[0].subtitle));
	if (!o->subtitle)
		o->subtitle = buf_cstr(&d->compared);
}

/* Both sides, read and matched; *seconds of each. */
static int read_both(struct drawing *d, const char *const *files, const size_t *n,
		     double *seconds, struct err *e)
{
	struct buf notes = {0};
	d->flame.apart = 1;
	int rc = read_side(d, files, n[BEFORE], BEFORE, &seconds[BEFORE], e);
	rc = rc ? rc
		: read_side(d, files + n[BEFORE] + (d->flame.runs != NULL), n[AFTER], AFTER,
			    &seconds[AFTER], e);
	rc = rc ? rc : flame_match(&d->flame, d->rq.split <= SPLIT_TID, &notes, e);
	if (!rc && notes.n && !d->opt->t.wait.tl.in.quiet)
		say("%s", buf_cstr(&notes));
	if (rc || notes.n)
		d->drawn[0].matched = notes;
	return rc;
}

/* Read two files, or two groups of them, and make them comparable; vanished stacks are shown at
 * the side. Samples are compared at equal totals, waits per recorded second, so that a doubled
 * wait shows. */
static int read_diff(struct drawing *d, const char *const *files, size_t nfiles, struct err *e)
{
	size_t split = split_at(files, nfiles), n[COMPARE_SIDES] = {1, 1};
	double seconds[COMPARE_SIDES] = {0, 0};
	if (split < nfiles) {
		n[BEFORE] = split;
		n[AFTER] = nfiles - split - 1;
		d->flame.runs = &d->runs;
	}
	int rc = read_both(d, files, n, seconds, e);
	if (rc)
		return rc;
	const struct flame_node *root = d->flame.nodes.v;
	struct flame_svg_options *o = &d->o;
	int by_time =
		d->rq.asked != STACKS_OF_SAMPLES && seconds[BEFORE] > 0 && seconds[AFTER] > 0;
	o->mode = FLAME_DIFF;
	if (d->opt->normalize && !strcmp(d->opt->normalize, "none"))
		o->before_scale = (double)n[AFTER] / (double)n[BEFORE];
	else if (by_time && !d->opt->normalize)
		o->before_scale = seconds[AFTER] / seconds[BEFORE];
	else
		o->before_scale =
			root->v[1] && root->v[0] ? (double)root->v[0] / (double)root->v[1] : 1;
	set_factors(d, by_time && !d->opt->normalize, seconds[AFTER]);
	d->flame.scale *= n[AFTER]; /* sums are shown as means */
	name_sides(d, files, n, by_time);
	if (d->opt->no_vanished)
		return 0;
	return flame_show_gone(&d->flame, "[only before]", o->before_scale, e);
}

/* Which changes chance does not explain. */
static int judge(struct drawing *d, struct err *e)
{
	if (!d->flame.runs)
		return 0;
	if (flame_runs_judge(&d->flame, LEAST_PERCENT / 100.0))
		return err_nomem(e);
	if (d->runs.too_few)
		d->hidden[d->o.n_hidden++] =
			"too few runs: chance may explain any change (4 and 4 at least)";
	return 0;
}

static int read_stacks(struct drawing *d, const char *const *files, size_t nfiles,
		       struct err *e)
{
	const char *input = d->opt->t.wait.tl.in.input;
	int rc = set_request(d, e);
	if (rc)
		return rc;
	if (d->opt->diff)
		rc = read_diff(d, files, nfiles, e);
	else
		rc = read_any(d, nfiles ? files[0] : input ? input : "perf.data", 0, 0, 0, e);
	if (!rc && d->drawn[0].columns == 2)
		d->o.mode = FLAME_DIFF;
	if (!rc)
		describe(d);
	return rc;
}

/* --- drawing ------------------------------------------------------------------------- */

/* Save the colours of all names in the graph for the next picture. */
static int save_map(struct drawing *d, struct err *e)
{
	struct outfile out;
	struct buf text = {0};
	const struct flame *f = &d->flame;
	int rc = 0;
	for (uint32_t i = 0; i < f->frames.n && !rc; i++) {
		size_t n;
		const char *name = flame_name(f, &f->frames.v[i], &n);
		if (n)
			rc = palette_map_put(&d->map, name, n,
					     palette_color(&d->o.palette, f, i));
	}
	rc = rc || palette_map_print(&d->map, &text)
		     ? err_nomem(e)
		     : outfile_open_derived(&out, PALETTE_MAP, 0666, e);
	if (!rc) {
		fwrite(text.v, 1, text.n, out.f);
		rc = outfile_commit(&out, e);
	}
	buf_release(&text);
	return rc;
}

static int write_picture(struct drawing *d, struct err *e)
{
	struct outfile out;
	if (d->to)
		return flame_svg_write(&d->flame, &d->o, d->to, NULL, e);
	int rc = output_open(&out, d->opt->output, e);
	if (rc)
		return rc;
	rc = outfile_end(&out, flame_svg_write(&d->flame, &d->o, out.f, NULL, e), e);
	if (!rc)
		output_say_written(d->opt->output, d->opt->t.wait.tl.in.quiet);
	return rc;
}

/* Plumbing is folded by the rules that causes are told by: the built-in ones, and --causes. */
static int find_thin(struct drawing *d, struct err *e)
{
	struct causes *c;
	const char *file = d->opt->t.wait.tl.causes;
	int rc = causes_new(&c, e);
	rc = rc || !file ? rc : causes_load(c, file, e);
	rc = rc ? rc : flame_find_thin(&d->flame, causes_frames(c), e);
	causes_free(c);
	return rc;
}

static int draw(struct drawing *d, const char *const *files, size_t nfiles, struct err *e)
{
	for (size_t i = 0; i < nfiles; i++)
		if (d->opt->output && output_is_input(d->opt->output, files[i]))
			return err_set(e, ERR_REFUSED, "%s: is the input; not replaced",
				       d->opt->output);
	int rc = set_palette(d, e);
	rc = rc ? rc : read_stacks(d, files, nfiles, e);
	rc = rc ? rc : flame_finish(&d->flame, e);
	rc = rc || d->rq.ipc ? rc : find_thin(d, e);
	rc = rc ? rc : judge(d, e);
	if (!rc && !d->flame.nodes.v[0].v[0] && !d->flame.nodes.v[0].v[1])
		rc = err_set(e, ERR_REFUSED, "nothing to draw: no stack has any weight");
	if (rc)
		return rc;
	d->o.total = (uint64_t)(d->opt->total * (double)d->flame.scale);
	if (d->o.total && d->o.total < d->flame.nodes.v[0].v[0] && !d->opt->t.wait.tl.in.quiet)
		say("--total is less than the sum of the counts; ignored");
	rc = write_picture(d, e);
	return rc || !d->opt->cp ? rc : save_map(d, e);
}

/* `to`: instead of the file of --output. */
static int picture(const struct svg_opts *opts, const char *const *files, size_t nfiles,
		   FILE *to)
{
	struct svg_opts own = *opts;
	struct drawing d = {.opt = &own, .split = own.t.wait.tl.split, .to = to};
	struct err e = {0};
	d.rq.color_label = own.color && !strncmp(own.color, "label:", 6) && own.color[6];
	if (d.rq.color_label)
		own.t.wait.tl.split = own.color;
	flame_svg_defaults(&d.o);
	int rc = check(d.opt, files, nfiles);
	if (!rc && output_check(d.opt->output, &e))
		return fail(&e);
	rc = rc ? rc : parse_minwidth(d.opt->minwidth, &d.o);
	if (rc)
		return rc;
	if (!to && !d.opt->output && isatty(STDOUT_FILENO))
		return usage("standard output is a terminal: name the picture with -o FILE");
	rc = flame_init(&d.flame) ? err_nomem(&e) : 0;
	set_options(&d);
	rc = rc ? rc : draw(&d, files, nfiles, &e);
	if (rc)
		rc = d.status ? d.status : fail(&e);
	else if (d.opt->t.wait.tl.in.strict && (d.drawn[0].warned || d.drawn[1].warned))
		rc = 3;
	flame_release(&d.flame);
	flame_runs_release(&d.runs);
	palette_map_release(&d.map);
	svg_drawn_release(&d.drawn[0]);
	svg_drawn_release(&d.drawn[1]);
	buf_release(&d.title);
	buf_release(&d.compared);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	return picture(opts, files, nfiles, NULL);
}

static void defaults(void *opts)
{
	struct svg_opts *o = opts;
	struct flame_svg_options d;
	flame_svg_defaults(&d);
	o->t.top = TAIL_NO_TOP;
	o->t.wait.tl.meant = 1;
	o->width = d.width;
	o->height = d.frame_height;
	o->fonttype = d.font;
	o->fontsize = d.font_size;
	o->fontwidth = d.font_width;
	o->countname = d.countname;
	o->nametype = d.nametype;
	o->factor = d.factor;
}

int svg_of_groups(const struct wait_opts *filters, int offcpu, int per_recording,
		  const char *const *files, size_t nfiles, FILE *to)
{
	struct svg_opts o = {.title = NULL};
	defaults(&o);
	o.t.wait = *filters;
	o.t.wait.tl.in.quiet = 1;
	o.diff = 1;
	o.offcpu = offcpu;
	o.normalize = per_recording ? "none" : NULL;
	return picture(&o, files, nfiles, to);
}

const struct verb verb_svg = {
	.name = "svg",
	.brief = "draw an interactive flame graph as one SVG file",
	.usage =
		"[options] [FILE]\n       perfkit svg --diff [options] BEFORE... [--] AFTER...",
	.text = "FILE is perf.data, a bundle, a store, or folded stacks from any tool; - is "
		"standard\n"
		"input. In a browser, click zooms, Shift-click shows all calls of a function,\n"
		"Alt-click hides it, Ctrl-F searches, u undoes. Options of\n"
		"flamegraph.pl work here, and `perfkit flamegraph` is the same command.",
	.examples = "  perfkit svg perf.data -o cpu.svg\n"
		    "  perfkit svg --offcpu perf.data -o waits.svg\n"
		    "  perfkit svg out.folded -o out.svg\n"
		    "  perfkit svg --diff before.folded after.folded -o diff.svg",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct svg_opts),
	.max_files = 256,
	.two_groups = 1,
	.modes = {{"", "event label with"},
		  {"offcpu", "cgroup label with " WAITS_SHOW},
		  {"offwake", "cgroup label with " WAITS_SHOW},
		  {"wall", "cgroup label with " WAITS_HIDE},
		  {"chain", "cgroup label with " WAITS_HIDE},
		  {"tail", "cgroup top " TAIL_PICKS},
		  {"tail-diff", "cgroup top " TAIL_PICKS},
		  {"diff", "event normalize no-vanished"}},
	.run = run,
	.defaults = defaults,
};
