#include "base/count.h"
#include "cmd/answer/svg_source.h"
#include "cmd/query/caption.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/plain_input.h"
#include "cmd/cli/say.h"
#include "libtime/population/sample_chart.h"
#include "render/text/escape.h"
#include "render/flame/folded.h"
#include "render/tail/site_words.h"
#include "render/text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void svg_drawn_release(struct svg_drawn *d)
{
	buf_release(&d->subtitle);
	buf_release(&d->filters);
	buf_release(&d->hidden);
	buf_release(&d->unnamed_note);
	buf_release(&d->matched);
	buf_release(&d->states);
}

static void start_input(struct flame_input *fi, const struct svg_request *rq,
			const struct stacks *stacks, struct flame *flame)
{
	flame_input_init(fi, stacks, flame, rq->split, rq->simplify);
	fi->side = rq->side;
	fi->merge_threads = rq->merge_threads;
}

/* --- folded text ---------------------------------------------------------------------- */

static void warn_skipped(const struct svg_request *rq, const char *path,
			 const struct folded_stats *st, struct svg_drawn *out)
{
	struct buf first = {0}, count = {0};
	out->warned += st->skipped > 0;
	if (!st->skipped || rq->tail->wait.tl.in.quiet)
		return;
	escape_visible(&first, st->first_skipped, strlen(st->first_skipped));
	units_plural(&count, st->skipped, "line", "lines");
	say("%s: skipped %s without a count, first: %s", path, buf_cstr(&count),
	    buf_cstr(&first));
	buf_release(&count);
	buf_release(&first);
}

static int read_folded(const struct svg_request *rq, const char *path, struct source *src,
		       struct flame *flame, struct svg_drawn *out, struct err *e)
{
	struct folded_options o = {.columns = rq->columns, .before = rq->before};
	struct folded_stats st;
	const char *plain = plain_input_file(path);
	int rc;
	if (rq->for_recordings || rq->ipc) {
		source_close(src);
		return err_set(e, ERR_USAGE,
			       "%s: is folded text; --%s needs a recording or a store", path,
			       rq->ipc ? "color ipc" : rq->for_recordings);
	}
	if (source_is_file(src)) {
		rc = folded_read(flame, plain ? plain : path, &o, &st, e);
	} else {
		o.head = src->head;
		o.head_n = src->head_n;
		rc = folded_read_fd(flame, src->fd, src->name, &o, &st, e);
	}
	source_close(src);
	if (rc)
		return rc;
	warn_skipped(rq, path, &st, out);
	out->columns = st.columns;
	return st.lines ? 0
			: err_set(e, ERR_REFUSED,
				  "%s: no folded stacks in it (lines of a stack and a count)",
				  path);
}

/* --- samples -------------------------------------------------------------------------- */

/* The title of a picture of this event. */
static const char *title_of(const char *event, int tracepoint)
{
	static const char *const cpu[] = {"clock", "cycles", "instructions"};
	for (size_t i = 0; i < sizeof(cpu) / sizeof(*cpu) && !tracepoint; i++)
		if (strstr(event, cpu[i]))
			return "CPU";
	if (!tracepoint && event_name_is_off_cpu(event))
		return "Off-CPU Time";
	return tracepoint ? "Tracepoint" : "Event";
}

static void warn_left_out(struct input *in, const char *drawn, uint64_t shown, uint64_t n,
			  const char *how)
{
	static const char form[] = "drawing %s; left out %s of other events (%s)";
	if (n)
		input_warn(in, form, drawn, COUNT(n, "sample"), how);
	if (n > shown && in->opt->quiet)
		say(form, drawn, COUNT(n, "sample"), how);
}

/* If only the scheduler was recorded, hint at pictures of waits: its samples are rarely
 * wanted. */
static void hint_at_waits(const struct samples *s, const struct samples_event *drawn)
{
	const struct input_opts *opt = s->ti.in.opt;
	if (!drawn->tracepoint || opt->events.n || opt->quiet)
		return;
	for (size_t i = 0; i < s->events.n; i++)
		if (!strcmp(s->events.v[i].name, "sched:sched_switch")) {
			say("samples of a tracepoint count how often it was hit; --offcpu, "
			    "--wall and --tail draw waiting");
			return;
		}
}

static void describe_choices(struct svg_drawn *out, const struct svg_request *rq,
			     const struct tlinput *ti)
{
	if (rq->merge_threads)
		buf_str(&out->subtitle, " \xc2\xb7 numbered threads merged");
	tail_filters(ti, rq->tail, &out->filters);
}

/* What, where, when, of which file, how long; and the filters. */
static void describe(struct svg_drawn *out, const struct svg_request *rq, const char *what,
		     const struct tlinput *ti, const struct caption_origin *o)
{
	caption(&out->subtitle, what, o, (uint64_t)(out->seconds * 1e9 + 0.5), 0);
	describe_choices(out, rq, ti);
}

static void describe_timeline(struct svg_drawn *out, const struct svg_request *rq,
			      const char *what, const struct tlinput *ti)
{
	out->seconds = (double)caption_timeline(&out->subtitle, what, ti) / 1e9;
	describe_unnamed_waits(&out->unnamed_note, &ti->tl);
	describe_choices(out, rq, ti);
}

static void describe_samples(struct svg_drawn *out, const struct svg_request *rq,
			     const char *what, const struct samples *s, uint64_t from_ns)
{
	struct buf hosts = {0};
	if (s->ti.in.profile) {
		const struct recording *rec = s->ti.in.profile->rec;
		const struct features *f = &rec->features;
		struct caption_origin o = {.host = f->hostname ? f->hostname : "",
					   .file = rec->name ? rec->name : "",
					   .exact = 1};
		if (f->has_clock_data && f->wall_ns && from_ns != UINT64_MAX)
			o.wall_ns = f->wall_ns + (from_ns - f->clockid_ns);
		describe(out, rq, what, &s->ti, &o);
	} else {
		struct caption_origin o = caption_origin_of(&s->ti, from_ns, &hosts);
		describe(out, rq, what, &s->ti, &o);
	}
	buf_release(&hosts);
}

static const char *event_name(const void *samples, uint32_t event)
{
	return ((const struct samples *)samples)->events.v[event].name;
}

/* Choose an event of cycles as *event, and one of instructions that its samples also read. */
static int choose_pair(struct stack_source *src, uint32_t *event, uint32_t *instructions,
		       struct err *e)
{
	const struct profile *p = src->ti->in.profile;
	uint32_t n = p ? (uint32_t)p->rec->events.n : 0;
	for (uint32_t c = 0; c < n; c++) {
		const struct event *ev = &p->rec->events.v[c], *x;
		for (uint32_t i = 0;
		     i < n && event_is_counter(ev, PERF_COUNT_HW_CPU_CYCLES, "cycles"); i++) {
			x = &p->rec->events.v[i];
			if (x->leader != ev->leader ||
			    !(p->rec->events.v[x->leader].attr.read_format &
			      PERF_FORMAT_GROUP) ||
			    !event_is_counter(x, PERF_COUNT_HW_INSTRUCTIONS, "instructions"))
				continue;
			*event = src->event = c;
			*instructions = i;
			src->is = samples_same_event;
			return 0;
		}
	}
	return err_set(e, ERR_REFUSED,
		       p ? "%s: no samples count cycles and instructions together (perf record "
			   "-e '{cycles,instructions}:S')"
			 : "%s: a store does not keep which events were counted together",
		       input_shown(src->ti->path));
}

/* Choose the event, or all of them, as *event. */
static int choose_event(const struct svg_request *rq, struct stack_source *src, uint32_t *event,
			struct err *e)
{
	struct samples *s = &src->samples;
	int all = rq->split == SPLIT_EVENT;
	*event = samples_default(s);
	src->event = all ? NO_ID : *event;
	src->is = samples_same_event;
	src->count = all;
	if (*event == NO_ID)
		return err_set(e, ERR_REFUSED, "%s: no samples to draw", s->ti.path);
	return 0;
}

static void describe_event(struct svg_drawn *out, const struct svg_request *rq,
			   struct stack_source *src, uint32_t event)
{
	struct samples *s = &src->samples;
	const struct samples_event *ev = &s->events.v[event];
	int all = rq->split == SPLIT_EVENT;
	event_is *is = all ? samples_any_event : samples_same_event;
	struct buf name = {0};
	samples_event_shown(s, event, &name);
	warn_left_out(&s->ti.in, buf_cstr(&name), src->shown, src->left_out,
		      "--event draws another, --split event all");
	samples_say_others(s, event, is);
	hint_at_waits(s, ev);
	out->title = all ? "Event" : title_of(ev->name, ev->tracepoint);
	out->unit = all ? "samples" : ev->unit;
	out->seconds = samples_seconds(s, event, is);
	describe_samples(out, rq, all ? "all events" : buf_cstr(&name), s,
			 samples_start(s, event, is));
	buf_release(&name);
}

/* --- flame charts ----------------------------------------------------------------------- */

static int nothing_to_chart(const struct tlinput *ti, uint32_t event, struct err *e)
{
	const struct timeline *tl = &ti->tl;
	if (event < tl->events.n && tl->events.v[event].tracepoint)
		return err_set(e, ERR_REFUSED,
			       "%s: no samples to draw: %s and other tracepoints are shown as "
			       "waits (--offcpu)",
			       input_shown(ti->path),
			       strtab_get(&ti->names->strings, tl->events.v[event].name));
	return err_set(e, ERR_REFUSED, "%s: no samples to draw", input_shown(ti->path));
}

/* Add a piece, after the time away before it. */
static int add_piece(struct flame_input *fi, const struct timeline *tl,
		     const struct chart_piece *p, uint32_t away, struct err *e)
{
	const struct tl_sample *s = &tl->samples.v[p->sample];
	const struct tl_thread *t = s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
	struct folded f = {.comm = t ? t->comm : s->comm,
			   .pid = t ? t->pid : -1,
			   .tid = t ? t->tid : -1,
			   .cpu = s->cpu,
			   .path = s->path};
	int rc = flame_input_begin(fi, &f, NULL);
	if (!rc && !s->path)
		rc = flame_input_mark(fi, "[no stack]", FLAME_MARK);
	if (rc)
		return err_nomem(e);
	uint32_t before[] = {fi->line.v[0], away};
	rc = flame_add(fi->flame, before, 2, p->away_ns, 0, e);
	return rc ? rc : flame_input_end(fi, p->ns, 0, e);
}

static int add_chart(const struct svg_request *rq, const struct tlinput *ti, uint32_t event,
		     struct flame_input *fi, struct sample_chart *c, struct err *e)
{
	struct sample_selection which = tl_selection(ti);
	struct flame_frame away = {.kind = FLAME_AWAY};
	uint32_t id;
	which.events = NULL; /* counted as omitted */
	int rc = sample_chart_make(c, &ti->tl, &which, event, rq->split == SPLIT_CPU, e);
	if (!rc && !c->samples)
		rc = nothing_to_chart(ti, event, e);
	if (!rc && flame_frame(fi->flame, &away, &id))
		rc = err_nomem(e);
	fi->flame->span = c->span_ns;
	for (size_t i = 0; i < c->v.n && !rc; i++)
		rc = add_piece(fi, &ti->tl, &c->v.v[i], id, e);
	return rc;
}

/* A flame chart. */
static int read_chart(const struct svg_request *rq, const char *path, struct flame *flame,
		      struct svg_drawn *out, struct err *e)
{
	struct tlinput ti;
	struct flame_input fi;
	struct sample_chart chart = {.span_ns = 0};
	uint32_t event = 0;
	out->status = tlinput_open(&ti, "svg", &rq->tail->wait.tl, path, &tlinput_samples);
	if (out->status)
		return ERR_IO;
	out->status = tlinput_only_one(&ti, "svg");
	if (out->status) {
		tlinput_close(&ti);
		return ERR_USAGE;
	}
	const struct timeline *tl = &ti.tl;
	int rc = tl_one_event(&ti, "--flamechart draws", &event, e);
	start_input(&fi, rq, ti.names, flame);
	fi.split = rq->split == SPLIT_CPU ? SPLIT_CPU : SPLIT_TID;
	if (!rc)
		rc = add_chart(rq, &ti, event, &fi, &chart, e);
	if (!rc) {
		const char *name = strtab_get(&ti.names->strings, tl->events.v[event].name);
		struct buf shown = {0};
		tl_event_shown(&ti, event, &shown);
		warn_left_out(&ti.in, buf_cstr(&shown), chart.samples,
			      ti.events ? 0 : chart.left_out, "--event draws another");
		out->unit = "ns";
		out->title = title_of(name, tl->events.v[event].tracepoint);
		out->seconds = (double)chart.sampled_ns / 1e9;
		struct buf hosts = {0};
		struct caption_origin o = caption_origin_of(&ti, chart.first_ns, &hosts);
		describe(out, rq, buf_cstr(&shown), &ti, &o);
		buf_release(&hosts);
		buf_release(&shown);
	}
	sample_chart_release(&chart);
	flame_input_release(&fi);
	out->warned += ti.in.warned;
	tlinput_close(&ti);
	return rc;
}

/* --- rows ----------------------------------------------------------------------------- */

enum { VALUES_SHOWN = 11 }; /* of --color label:KEY; the others are one */

/* Weights of a label's values. */
struct value_sums {
	struct u64map at; /* value → v */
	VEC(struct value_sum {
		uint64_t weight;
		uint32_t value;
	})
	v;
};

static int add_value(void *ctx, const struct stack_row *r, struct err *e)
{
	struct value_sums *s = ctx;
	uint32_t at = (uint32_t)s->v.n;
	if (!r->of.label)
		return 0;
	if (!u64map_get(&s->at, r->of.label, &at) &&
	    (vec_push(&s->v, ((struct value_sum){0, r->of.label})) ||
	     u64map_put(&s->at, r->of.label, at)))
		return err_nomem(e);
	s->v.v[at].weight += r->of.weight;
	return 0;
}

static int value_order(const void *a, const void *b)
{
	const struct value_sum *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* The values with the largest weights, read ahead of the drawing. */
static int find_values(struct stack_source *src, struct u64map *out, struct err *e)
{
	struct value_sums s = {.v = {0}};
	int rc = stack_source_rows(src, add_value, &s, e);
	if (s.v.n)
		qsort(s.v.v, s.v.n, sizeof(*s.v.v), value_order);
	for (size_t i = 0; i < s.v.n && i < VALUES_SHOWN && !rc; i++)
		rc = u64map_put(out, s.v.v[i].value, 0) ? err_nomem(e) : 0;
	u64map_release(&s.at);
	vec_release(&s.v);
	set_apart_release(&src->hidden);
	src->hidden = (struct set_apart){.system = 0};
	src->left_out = 0;
	return rc;
}

struct drawing_rows {
	const struct svg_request *rq;
	struct flame_input fi;
	size_t rows;
	uint64_t blocked_ns, runnable_ns, unknown_ns; /* of waits */
	int before;                                   /* weights go to v[1] */
};

static int add_row(void *ctx, const struct stack_row *r, struct err *e)
{
	struct drawing_rows *d = ctx;
	uint64_t w = r->of.weight;
	d->rows++;
	*(r->state ? &d->runnable_ns : &d->blocked_ns) += w - r->unknown_ns;
	d->unknown_ns += r->unknown_ns;
	if (d->rq->asked == STACKS_OF_WALL)
		return flame_input_row(&d->fi, r, w, r->waiting ? w : 0, e);
	return flame_input_row(&d->fi, r, d->before ? 0 : w, d->before ? w : 0, e);
}

/* The title of a picture of time, its subject, and its text if it is empty. */
static const struct {
	const char *title, *what, *nothing;
} times[] = {
	[STACKS_OF_WAITS] = {"Off-CPU Time", "waiting", "no waits to draw"},
	[STACKS_OF_WAKERS] = {"Off-CPU Time", "waiting, with its wakers", "no waits to draw"},
	[STACKS_OF_WALL] = {"Wall-Clock Time", "running and waiting of the same threads",
			    "nothing ran or waited here"},
	[STACKS_OF_CHAINS] = {"Off-CPU Chain", "waiting, with the threads behind it",
			      "no waits to draw"},
};

static int nothing_to_draw(const struct svg_request *rq, const struct stack_source *src,
			   struct err *e)
{
	return err_set(e, ERR_REFUSED, "%s: %s (show hidden %s with --idle, --system)",
		       input_shown(src->ti->path), times[rq->asked].nothing,
		       rq->asked == STACKS_OF_WALL ? "waits" : "ones");
}

/* The sums of --state. */
static void describe_states(struct svg_drawn *out, const struct drawing_rows *d)
{
	const struct {
		const char *name;
		uint64_t ns;
	} states[] = {{"blocked ", d->blocked_ns},
		      {"runnable (run-queue delay) ", d->runnable_ns},
		      {"state unknown ", d->unknown_ns}};
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		if (i > 1 && !states[i].ns)
			continue;
		buf_fmt(&out->states, "%s%s", i ? ", " : "", states[i].name);
		units_duration(&out->states, states[i].ns);
	}
}

static void describe_time(struct svg_drawn *out, const struct svg_request *rq,
			  struct stack_source *src)
{
	out->title = times[rq->asked].title;
	describe_timeline(out, rq, times[rq->asked].what, src->ti);
	if (set_apart_any(&src->hidden)) {
		buf_str(&out->hidden, "hidden: ");
		describe_hidden(&out->hidden, &src->ti->tl, &src->hidden);
	}
}

/* Add the stacks of the median episodes, for comparison with those of the tail. */
static int add_median(struct drawing_rows *d, const struct stack_source *src,
		      struct svg_drawn *out, struct err *e)
{
	uint64_t tail_ns, median_ns;
	d->before = 1;
	int rc = stack_rows_median(&src->tail, add_row, d, &tail_ns, &median_ns, e);
	out->before_scale = median_ns ? (double)tail_ns / (double)median_ns : 0;
	return rc;
}

static void describe_tail(struct svg_drawn *out, const struct svg_request *rq,
			  const struct stack_source *src)
{
	struct buf what = {0};
	out->title = "Tail";
	tail_what(&src->run, &src->tail, &what);
	if (rq->median)
		buf_str(&what, ", compared with the median ones at equal time,");
	describe_timeline(out, rq, buf_cstr(&what), src->ti);
	buf_release(&what);
}

/* Add the instructions of the cycles that were drawn. */
static int add_instructions(struct drawing_rows *d, struct stack_source *src, uint32_t event,
			    struct err *e)
{
	uint64_t shown = src->shown, left_out = src->left_out;
	src->event = event;
	d->before = 1;
	int rc = stack_source_rows(src, add_row, d, e);
	d->before = 0;
	src->left_out = left_out - (src->shown - shown); /* of both events */
	src->shown = shown;
	return rc;
}

static int add_rows(struct drawing_rows *d, struct stack_source *src, struct svg_drawn *out,
		    struct err *e)
{
	const struct svg_request *rq = d->rq;
	int samples = rq->asked == STACKS_OF_SAMPLES, tail = rq->asked == STACKS_OF_TAIL;
	uint32_t event = NO_ID, instructions = NO_ID;
	struct u64map values = {0};
	int rc = !samples  ? 0
		 : rq->ipc ? choose_pair(src, &event, &instructions, e)
			   : choose_event(rq, src, &event, e);
	if (!rc && rq->color_label) {
		rc = find_values(src, &values, e);
		d->fi.values = &values;
	}
	rc = rc ? rc : stack_source_rows(src, add_row, d, e);
	if (!rc && rq->ipc)
		rc = add_instructions(d, src, instructions, e);
	d->fi.values = NULL;
	u64map_release(&values);
	if (!rc && tail && rq->median)
		rc = add_median(d, src, out, e);
	if (!rc && tail && !src->tail.rows.n)
		rc = err_set(e, ERR_REFUSED, "%s: no episode selected",
			     input_shown(src->ti->path));
	else if (!rc && !samples && !tail && !d->rows)
		rc = nothing_to_draw(rq, src, e);
	out->unit = "ns";
	if (!rc && samples)
		describe_event(out, rq, src, event);
	else if (!rc && tail)
		describe_tail(out, rq, src);
	else if (!rc)
		describe_time(out, rq, src);
	if (!rc && src->states)
		describe_states(out, d);
	if (!samples && !tail && (!rc || rq->asked <= STACKS_OF_WAKERS))
		tl_say_hidden(src->ti, &src->hidden);
	return rc;
}

/* `src` is NULL except for a recording's samples. */
static int read_rows(const struct svg_request *rq, const char *path, struct source *src,
		     struct flame *flame, struct svg_drawn *out, struct err *e)
{
	struct stack_source s;
	struct drawing_rows d = {.rq = rq, .before = rq->before};
	unsigned by = (rq->split == SPLIT_PID ? BY_PID : 0) |
		      (rq->split == SPLIT_TID ? BY_PID | BY_TID : 0) |
		      (rq->split == SPLIT_CPU ? BY_CPU : 0) |
		      (rq->split == SPLIT_CGROUP ? BY_CGROUP : 0);
	if (!src && rq->split == SPLIT_CGROUP)
		return err_set(e, ERR_USAGE, "--split cgroup is for recordings");
	out->status = stack_source_open(&s, "svg", rq->asked, rq->tail, path, src, by);
	if (out->status)
		return ERR_IO;
	s.causes = s.states = rq->asked == STACKS_OF_WAITS;
	start_input(&d.fi, rq, s.stacks, flame);
	d.fi.events = &s.samples;
	d.fi.event_name = event_name;
	if (rq->asked == STACKS_OF_SAMPLES)
		out->status = samples_check_findings(
			&s.samples,
			rq->split == SPLIT_EVENT ? NO_ID : samples_default(&s.samples));
	int rc = out->status ? out->status : add_rows(&d, &s, out, e);
	out->warned += s.ti->in.warned;
	flame_input_release(&d.fi);
	stack_source_close(&s);
	return rc;
}

/* 1 if it may be folded text whose first lines are something else: each line is checked. */
static int may_be_text(struct source *src)
{
	const uint8_t *p;
	size_t n;
	return !source_peek(src, &p, &n, NULL) && !memchr(p, 0, n);
}

int svg_source_read(const struct svg_request *rq, const char *path, struct flame *flame,
		    struct svg_drawn *out, struct err *e)
{
	struct source src;
	enum input_kind kind;
	int rc = input_kind_open(path, &src, &kind, e);
	if (rc)
		return rc;
	int samples = rq->asked == STACKS_OF_SAMPLES;
	int in_order = rq->in_order && (kind == INPUT_PERF_DATA || kind == INPUT_STORE);
	int text = kind == INPUT_FOLDED || (kind == INPUT_UNKNOWN && may_be_text(&src));
	if (text && samples)
		return read_folded(rq, path, &src, flame, out, e);
	if (kind == INPUT_PERF_DATA && samples && !in_order)
		return read_rows(rq, path, &src, flame, out, e);
	if (kind != INPUT_PERF_DATA && kind != INPUT_STORE) {
		source_close(&src);
		return text ? err_set(e, ERR_USAGE,
				      "%s: is folded text; --offcpu and the like need a "
				      "recording or a store",
				      path)
			    : err_set(e, ERR_UNSUPPORTED,
				      "%s: neither perf.data, store nor folded stacks", path);
	}
	input_kind_close(path, &src);
	if (in_order && samples)
		return read_chart(rq, path, flame, out, e);
	return read_rows(rq, path, NULL, flame, out, e);
}
