#include "base/count.h"
#include "cmd/svg_source.h"
#include "cmd/query/caption.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/plain_input.h"
#include "cmd/query/samples.h"
#include "cmd/cli/say.h"
#include "cmd/query/timeline_samples.h"
#include "libtime/population/sample_chart.h"
#include "libtime/population/wall.h"
#include "libtime/explain/causes.h"
#include "libtime/explain/chain.h"
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
	buf_release(&d->spoilt);
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
	if (!st->skipped || rq->opt->tl.in.quiet)
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
	if (rq->for_recordings) {
		source_close(src);
		return err_set(e, ERR_USAGE,
			       "%s: is folded text; --%s needs a recording or a store", path,
			       rq->for_recordings);
	}
	if (source_is_mapped(src)) {
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

/* The first event that is no tracepoint and has samples, else that of the earliest sample. */
static uint32_t drawn_event(const struct samples *s)
{
	for (uint32_t i = 0; i < s->events.n; i++)
		if (!s->events.v[i].tracepoint && samples_has(s, i))
			return i;
	return samples_earliest(s);
}

/* What a picture of this event is of. */
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

static void warn_left_out(struct input *in, const char *drawn, uint64_t n, const char *how)
{
	if (n)
		input_warn(in, "drawing %s; left out %s of other events (%s)", drawn,
			   COUNT(n, "sample"), how);
}

/* Where nothing but the scheduler was recorded, its own samples are rarely what is meant. */
static void hint_at_waits(const struct samples *s, const struct samples_event *drawn)
{
	const struct input_opts *opt = s->ti.in.opt;
	if (!drawn->tracepoint || opt->events.n || opt->quiet)
		return;
	for (size_t i = 0; i < s->events.n; i++)
		if (!strcmp(s->events.v[i].name, "sched:sched_switch")) {
			say("a tracepoint's samples count how often it was passed; --offcpu, "
			    "--wall and --tail draw the waiting");
			return;
		}
}

static void describe_choices(struct svg_drawn *out, const struct svg_request *rq)
{
	if (rq->merge_threads)
		buf_str(&out->subtitle, " \xc2\xb7 numbered threads merged");
	tailout_filters(rq->tail, &out->filters);
}

/* What, where, when, of which file, how long; and the filters. */
static void describe(struct svg_drawn *out, const struct svg_request *rq, const char *what,
		     const struct caption_origin *o)
{
	caption(&out->subtitle, what, o, (uint64_t)(out->seconds * 1e9 + 0.5), 0);
	describe_choices(out, rq);
}

static void describe_timeline(struct svg_drawn *out, const struct svg_request *rq,
			      const char *what, const struct tlinput *ti)
{
	out->seconds = (double)caption_timeline(&out->subtitle, what, ti) / 1e9;
	words_nameless(&out->spoilt, &ti->tl);
	describe_choices(out, rq);
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
		describe(out, rq, what, &o);
	} else {
		struct caption_origin o = caption_origin_of(&s->ti, from_ns, &hosts);
		describe(out, rq, what, &o);
	}
	buf_release(&hosts);
}

static const char *event_name(const void *samples, uint32_t event)
{
	return ((const struct samples *)samples)->events.v[event].name;
}

static int add_samples(const struct svg_request *rq, struct samples *s, uint32_t event,
		       struct flame *flame, struct svg_drawn *out, struct err *e)
{
	struct flame_input fi;
	uint64_t left_out = 0;
	int all = rq->split == SPLIT_EVENT, rc = 0;
	if (event == NO_ID)
		return err_set(e, ERR_REFUSED, "%s: no samples to draw", s->ti.path);
	const struct samples_event *ev = &s->events.v[event];
	out->unit = all ? "samples" : ev->unit;
	start_input(&fi, rq, s->stacks, flame);
	fi.events = s;
	fi.event_name = event_name;
	for (size_t i = 0; i < s->n && !rc; i++) {
		const struct folded *f = &s->v[i];
		if (!all && !samples_same_event(s, f->event, event)) {
			left_out += f->samples;
			continue;
		}
		uint64_t w = !strcmp(out->unit, "samples") ? f->samples : f->weight;
		rc = flame_input_add(&fi, f, rq->before ? 0 : w, rq->before ? w : 0, e);
	}
	flame_input_release(&fi);
	if (rc)
		return rc;
	warn_left_out(&s->ti.in, ev->name, left_out,
		      "--event draws another, --split event all");
	hint_at_waits(s, ev);
	out->title = all ? "Event" : title_of(ev->name, ev->tracepoint);
	out->seconds = samples_seconds(s, event, all ? samples_any_event : samples_same_event);
	describe_samples(out, rq, all ? "all events" : ev->name, s,
			 samples_start(s, event, all ? samples_any_event : samples_same_event));
	return 0;
}

static unsigned aggregate_by(const struct svg_request *rq)
{
	return (rq->split == SPLIT_PID ? BY_PID : 0) |
	       (rq->split == SPLIT_TID ? BY_PID | BY_TID : 0) |
	       (rq->split == SPLIT_CPU ? BY_CPU : 0) |
	       (rq->split == SPLIT_CGROUP ? BY_CGROUP : 0);
}

/* `src` NULL: of a store. */
static int read_samples(const struct svg_request *rq, const char *path, struct source *src,
			struct flame *flame, struct svg_drawn *out, struct err *e)
{
	struct samples s;
	if (!src && rq->split == SPLIT_CGROUP)
		return err_set(e, ERR_USAGE, "--split cgroup is for recordings");
	out->status = samples_open(&s, "svg", &rq->opt->tl, path, src, aggregate_by(rq));
	if (out->status)
		return ERR_IO;
	uint32_t event = drawn_event(&s);
	int rc = out->status = samples_judge(&s, rq->split == SPLIT_EVENT ? NO_ID : event);
	rc = rc ? rc : add_samples(rq, &s, event, flame, out, e);
	out->warned += s.ti.in.warned;
	samples_close(&s);
	return rc;
}

/* --- flame charts ----------------------------------------------------------------------- */

static int nothing_to_chart(const struct tlinput *ti, uint32_t event, struct err *e)
{
	const struct timeline *tl = &ti->tl;
	if (event < tl->events.n && tl->events.v[event].tracepoint)
		return err_set(e, ERR_REFUSED,
			       "%s: no samples to draw: those of %s and of other tracepoints "
			       "are waits and marks here (--offcpu)",
			       ti->path,
			       strtab_get(&ti->names->strings, tl->events.v[event].name));
	return err_set(e, ERR_REFUSED, "%s: no samples to draw", ti->path);
}

/* A piece: the time before it is away. */
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
	which.events = NULL; /* counted as left out */
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
	out->status = tlinput_open(&ti, "svg", &rq->opt->tl, path, TLINPUT_SAMPLES);
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
		warn_left_out(&ti.in, name, ti.events ? 0 : chart.left_out,
			      "--event draws another");
		out->unit = "ns";
		out->title = title_of(name, tl->events.v[event].tracepoint);
		out->seconds = (double)chart.sampled_ns / 1e9;
		struct buf hosts = {0};
		struct caption_origin o = caption_origin_of(&ti, chart.first_ns, &hosts);
		describe(out, rq, name, &o);
		buf_release(&hosts);
	}
	sample_chart_release(&chart);
	flame_input_release(&fi);
	out->warned += ti.in.warned;
	tlinput_close(&ti);
	return rc;
}

/* --- waits ---------------------------------------------------------------------------- */

static unsigned waits_by(const struct svg_request *rq)
{
	return (rq->split == SPLIT_PID ? WAITS_BY_PID : 0) |
	       (rq->split == SPLIT_TID ? WAITS_BY_PID | WAITS_BY_TID : 0) |
	       (rq->kind == SVG_OFFWAKE ? WAITS_BY_WAKER : 0) |
	       (rq->kind == SVG_OFFCPU ? WAITS_BY_CAUSE : 0);
}

/* The levels that come behind a wait's stack: its mark, its waker. */
static int add_wait(const struct svg_request *rq, struct flame_input *fi,
		    const struct tlinput *ti, const struct wait_row *r, struct err *e)
{
	struct folded f = {.comm = r->comm,
			   .pid = r->pid,
			   .tid = r->tid,
			   .label = r->label,
			   .path = r->path};
	uint64_t v0 = rq->before ? 0 : r->ns, v1 = rq->before ? r->ns : 0;
	if (flame_input_begin(fi, &f, wait_mark_text(r->mark)))
		return err_nomem(e);
	if (rq->kind == SVG_OFFCPU && r->mark == WAIT_PLAIN &&
	    flame_input_mark(fi, cause_name(r->cause), FLAME_WAIT))
		return err_nomem(e);
	if (rq->kind == SVG_OFFWAKE && r->waker_context != WAKER_NONE) {
		char irq[32];
		snprintf(irq, sizeof(irq), "[%s]", waker_context_name(r->waker_context));
		if (flame_input_waker(fi, r->waker_comm ? r->waker_path : 0,
				      r->waker_comm
					      ? strtab_get(&ti->names->strings, r->waker_comm)
					      : irq))
			return err_nomem(e);
	}
	return flame_input_end(fi, v0, v1, e);
}

static void describe_waits(struct svg_drawn *out, const struct svg_request *rq,
			   const struct tlinput *ti, const char *title, const char *what,
			   const struct set_apart *x)
{
	out->title = title;
	out->unit = "ns";
	describe_timeline(out, rq, what, ti);
	if (set_apart_any(x)) {
		buf_str(&out->hidden, "hidden: ");
		words_hidden(&out->hidden, &ti->tl, x);
	}
}

static int add_waits(const struct svg_request *rq, struct tlinput *ti, struct flame *flame,
		     struct svg_drawn *out, struct err *e)
{
	struct flame_input fi;
	struct wait_sums w;
	int rc = waits_collect(&w, ti, rq->opt, waits_by(rq), e);
	start_input(&fi, rq, ti->names, flame);
	for (size_t i = 0; i < w.rows.n && !rc; i++)
		rc = add_wait(rq, &fi, ti, &w.rows.v[i], e);
	if (!rc && !w.rows.n)
		rc = err_set(e, ERR_REFUSED,
			     "%s: no waits to draw (show hidden ones with --idle, --system)",
			     ti->path);
	if (!rc)
		describe_waits(out, rq, ti, "Off-CPU Time",
			       rq->kind == SVG_OFFWAKE ? "waiting, with its wakers" : "waiting",
			       &w.apart);
	tl_say_hidden(ti, &w.apart);
	flame_input_release(&fi);
	wait_sums_release(&w);
	return rc;
}

/* --- chains --------------------------------------------------------------------------- */

/*
 * One wait: its stack, then link by link who held it up. Each link explains a part of what the
 * one before does; the rest ends there.
 */
static int add_chain(const struct svg_request *rq, struct flame_input *fi,
		     const struct tlinput *ti, const struct episode *ep,
		     const struct explanation *x, struct err *e)
{
	const struct tl_thread *t = &ti->tl.threads.v[ep->thread];
	struct folded f = {.comm = ep->comm,
			   .pid = rq->split == SPLIT_PID || rq->split == SPLIT_TID ? t->pid
										   : -1,
			   .tid = rq->split == SPLIT_TID ? t->tid : -1,
			   .path = x->path};
	if (flame_input_begin(fi, &f, NULL))
		return err_nomem(e);
	for (size_t i = 0; i < x->chain.n; i++) {
		const struct chain_link *l = &x->chain.v[i];
		uint64_t next = i + 1 < x->chain.n ? x->chain.v[i + 1].ns : 0;
		uint64_t ns = l->ns > next ? l->ns - next : 0;
		if (i &&
		    flame_input_waker(fi, l->path, strtab_get(&ti->names->strings, l->comm)))
			return err_nomem(e);
		int rc = flame_input_end(fi, rq->before ? 0 : ns, rq->before ? ns : 0, e);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_chains(const struct svg_request *rq, struct tlinput *ti, struct flame *flame,
		      struct svg_drawn *out, struct err *e)
{
	struct episode_query q = {.of = waits_population(ti, rq->opt)};
	struct episodes eps;
	struct explanation x = {0};
	struct explainer *ex = NULL;
	struct flame_input fi;
	int rc = episodes_collect(&ti->tl, &q, &eps, e);
	if (rc)
		return rc;
	start_input(&fi, rq, ti->names, flame);
	rc = explainer_new(&ti->tl, &ex, e);
	for (size_t i = 0; i < eps.v.n && !rc; i++) {
		rc = explain(ex, &eps.v.v[i], &x, e);
		rc = rc ? rc : add_chain(rq, &fi, ti, &eps.v.v[i], &x, e);
	}
	if (!rc && !eps.v.n)
		rc = err_set(e, ERR_REFUSED,
			     "%s: no waits to draw (show hidden ones with --idle, --system)",
			     ti->path);
	if (!rc) {
		describe_waits(out, rq, ti, "Off-CPU Chain",
			       "waiting, with the threads behind it", &eps.apart);
		tl_say_hidden(ti, &eps.apart);
	}
	explanation_release(&x);
	explainer_free(ex);
	flame_input_release(&fi);
	episodes_release(&eps);
	return rc;
}

struct wall_drawing {
	const struct svg_request *rq;
	struct flame_input fi;
	size_t rows;
	struct err *e;
};

static int add_wall_row(void *ctx, const struct wall_row *r)
{
	struct wall_drawing *d = ctx;
	struct folded f = {.comm = r->comm, .pid = r->pid, .tid = r->tid, .path = r->path};
	d->rows++;
	if (flame_input_begin(&d->fi, &f, NULL))
		return err_nomem(d->e);
	if (r->what && flame_input_mark(&d->fi, r->what, r->waiting ? FLAME_WAIT : FLAME_MARK))
		return err_nomem(d->e);
	return flame_input_end(&d->fi, r->ns, r->waiting ? r->ns : 0, d->e);
}

static int add_wall(const struct svg_request *rq, struct tlinput *ti, struct flame *flame,
		    struct svg_drawn *out, struct err *e)
{
	struct wall_drawing d = {.rq = rq, .e = e};
	struct set_apart h = {.system = 0};
	struct population of = waits_population(ti, rq->opt);
	start_input(&d.fi, rq, ti->names, flame);
	int rc = wall_collect(&ti->tl, &of, add_wall_row, &d, &h, e);
	flame_input_release(&d.fi);
	if (!rc && !d.rows)
		rc = err_set(e, ERR_REFUSED,
			     "%s: nothing ran or waited here (show hidden waits with --idle, "
			     "--system)",
			     ti->in.path);
	if (!rc)
		describe_waits(out, rq, ti, "Wall-Clock Time",
			       "running and waiting of the same threads", &h);
	if (!rc)
		tl_say_hidden(ti, &h);
	set_apart_release(&h);
	return rc;
}

/* --- the tail ------------------------------------------------------------------------- */

/* As many episodes around the median as the tail has, to compare with. */
static int add_median(const struct tail *t, struct flame_input *fi, double *ns, struct err *e)
{
	tail_episodes median = {0};
	int rc = tail_around_median(t, &median, e);
	for (size_t i = 0; i < median.n && !rc; i++) {
		const struct episode *ep = &t->episodes.v.v[median.v[i]];
		*ns += (double)episode_ns(ep);
		rc = tailout_flame_add(t, fi, ep, 1, e);
	}
	vec_release(&median);
	return rc;
}

static int add_tail(const struct svg_request *rq, const struct tail_run *r,
		    const struct tail *t, struct flame *flame, struct svg_drawn *out,
		    struct err *e)
{
	struct flame_input fi;
	double tail_ns = 0, median_ns = 0;
	int rc = 0;
	if (!t->rows.n)
		return err_set(e, ERR_REFUSED, "%s: no episode selected", r->ti.path);
	start_input(&fi, rq, r->ti.names, flame);
	for (size_t i = 0; i < t->rows.n && !rc; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		tail_ns += (double)episode_ns(ep);
		rc = tailout_flame_add(t, &fi, ep, rq->before, e);
	}
	if (!rc && rq->kind == SVG_TAIL_DIFF)
		rc = add_median(t, &fi, &median_ns, e);
	flame_input_release(&fi);
	out->before_scale = median_ns > 0 ? tail_ns / median_ns : 0;
	out->title = "Tail";
	out->unit = "ns";
	struct buf what = {0};
	tailout_what(r, t, &what);
	if (rq->kind == SVG_TAIL_DIFF)
		buf_str(&what, ", compared with the median ones at equal time,");
	describe_timeline(out, rq, buf_cstr(&what), &r->ti);
	buf_release(&what);
	return rc;
}

static int read_tail(const struct svg_request *rq, const char *path, struct flame *flame,
		     struct svg_drawn *out, struct err *e)
{
	struct tail_run r = {.opt = rq->tail};
	struct tail t;
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	out->status = tail_ask(&r, "svg", path, names, &n, NULL);
	if (out->status)
		return ERR_IO;
	int rc = tail_make(&r.ti.tl, &r.query, &t, e);
	if (!rc) {
		out->status = tail_refuse(&r, &t);
		rc = out->status ? ERR_REFUSED : add_tail(rq, &r, &t, flame, out, e);
		tail_release(&t);
	}
	out->warned += r.ti.in.warned;
	tlinput_close(&r.ti);
	return rc;
}

static int read_timeline(const struct svg_request *rq, const char *path, struct flame *flame,
			 struct svg_drawn *out, struct err *e)
{
	struct tlinput ti;
	out->status = tlinput_open(&ti, "svg", &rq->opt->tl, path,
				   rq->kind == SVG_WALL || rq->kind == SVG_CHAIN);
	if (out->status)
		return ERR_IO;
	int rc = rq->kind == SVG_WALL    ? add_wall(rq, &ti, flame, out, e)
		 : rq->kind == SVG_CHAIN ? add_chains(rq, &ti, flame, out, e)
					 : add_waits(rq, &ti, flame, out, e);
	out->warned += ti.in.warned;
	tlinput_close(&ti);
	return rc;
}

/* Folded text that does not begin like it: lines are judged one by one. */
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
	int in_order = rq->in_order && (kind == INPUT_PERF_DATA || kind == INPUT_STORE);
	int text = kind == INPUT_FOLDED || (kind == INPUT_UNKNOWN && may_be_text(&src));
	if (text && rq->kind == SVG_CPU)
		return read_folded(rq, path, &src, flame, out, e);
	if (kind == INPUT_PERF_DATA && rq->kind == SVG_CPU && !in_order)
		return read_samples(rq, path, &src, flame, out, e);
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
	if (rq->kind == SVG_TAIL || rq->kind == SVG_TAIL_DIFF)
		return read_tail(rq, path, flame, out, e);
	if (in_order)
		return read_chart(rq, path, flame, out, e);
	if (kind == INPUT_STORE && rq->kind == SVG_CPU)
		return read_samples(rq, path, NULL, flame, out, e);
	return read_timeline(rq, path, flame, out, e);
}
