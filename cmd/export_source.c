#include "cmd/export_source.h"
#include "base/mem.h"
#include "cmd/query/samples.h"
#include "libtime/population/wall.h"
#include "cmd/cli/say.h"

#include <stdio.h>
#include <string.h>

struct exporting {
	const struct export_request *rq;
	int (*write)(void *ctx, const struct export_rows *rows, struct err *e);
	void *ctx;
	struct export_rows rows;
	struct stacks *stacks; /* of a timeline: marks become frames of it; else NULL */
};

static int finish(struct exporting *x, const char *path, const char *what, struct err *e)
{
	if (!x->rows.v.n)
		return err_set(e, ERR_REFUSED, "%s: %s", path, what);
	int rc = export_rows_sort(&x->rows, e);
	return rc ? rc : x->write(x->ctx, &x->rows, e);
}

/* --- samples ------------------------------------------------------------------------------
 */

/* The column of each event: events of one name share it. */
static int sample_columns(struct exporting *x, const struct samples *s, uint32_t *column)
{
	for (uint32_t i = 0; i < s->events.n; i++) {
		const struct samples_event *ev = &s->events.v[i];
		struct export_column c = {ev->name, ev->unit,
					  ev->tracepoint ? NULL : "samples"};
		uint32_t like = 0;
		while (like < i && !(samples_same_name(s, like, i) && column[like] != NO_ID))
			like++;
		column[i] = like < i            ? column[like]
			    : samples_has(s, i) ? (uint32_t)x->rows.columns.n
						: NO_ID;
		if (column[i] == x->rows.columns.n && export_rows_column(&x->rows, &c))
			return ERR_NOMEM;
	}
	return 0;
}

/* What svg would draw: the first event that is no tracepoint, else that of the earliest sample.
 */
static uint32_t shown_column(const struct samples *s, const uint32_t *column)
{
	uint32_t earliest = samples_earliest(s);
	for (uint32_t i = 0; i < s->events.n; i++)
		if (!s->events.v[i].tracepoint && column[i] != NO_ID)
			return column[i];
	return earliest == NO_ID ? 0 : column[earliest];
}

static int add_samples(struct exporting *x, const struct samples *s, const uint32_t *column)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct folded *f = &s->v[i];
		struct export_row r = {.comm = f->comm,
				       .path = f->path,
				       .cgroup = x->rq->cgroup && f->cgroup != NO_ID ? f->cgroup
										     : 0,
				       .pid = f->pid,
				       .tid = f->tid,
				       .column = column[f->event],
				       .value = samples_weight(s, f),
				       .count = f->samples};
		if (r.column != NO_ID && export_rows_add(&x->rows, &r))
			return ERR_NOMEM;
	}
	return 0;
}

static int fill_samples(struct exporting *x, const struct samples *s, struct err *e)
{
	uint32_t *column = mem_zalloc(s->events.n + 1, sizeof(*column));
	int rc = column ? sample_columns(x, s, column) : ERR_NOMEM;
	if (!rc) {
		x->rows.stacks = s->stacks;
		x->rows.shown = shown_column(s, column);
		x->rows.seconds = samples_seconds(s, 0, samples_any_event);
		rc = add_samples(x, s, column);
	}
	mem_free(column);
	return rc ? err_nomem(e) : 0;
}

static int read_samples(struct exporting *x, const char *path)
{
	struct samples s;
	struct err e = {0};
	int by = BY_PID | BY_TID | BY_ADDR | (x->rq->cgroup ? BY_CGROUP : 0);
	int rc = samples_open(&s, "export", &x->rq->opt->wait.tl, path, NULL, (unsigned)by);
	if (rc)
		return rc;
	rc = samples_judge(&s, NO_ID);
	if (!rc)
		rc = fill_samples(x, &s, &e) || finish(x, path, "no samples to export", &e)
			     ? input_fail(&s.ti.in, &e)
			     : input_status(&s.ti.in);
	samples_close(&s);
	return rc;
}

/* --- marks as frames ------------------------------------------------------------------------
 */

/* The frames of `from` below *path: root first, or the other way round. */
static int push_frames(struct exporting *x, uint32_t from, int reverse, uint32_t *path)
{
	size_t n = stacks_depth(x->stacks, from);
	uint32_t *frames = mem_alloc((n + 1) * sizeof(*frames));
	int rc = frames ? 0 : ERR_NOMEM;
	if (!rc)
		stacks_frames(x->stacks, from, frames, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = stacks_push(x->stacks, *path, frames[reverse ? n - 1 - i : i], path);
	mem_free(frames);
	return rc;
}

/* --- waits
 * ------------------------------------------------------------------------------------
 */

/* "--", the waker's stack from leaf to root, its name; or the interrupt it was. */
static int push_waker(struct exporting *x, const struct wait_row *w, uint32_t *path)
{
	char irq[32];
	snprintf(irq, sizeof(irq), "[%s]", waker_context_name(w->waker_context));
	const char *name = strtab_get(&x->stacks->strings, w->waker_comm);
	if (stacks_mark(x->stacks, "--", path) ||
	    (w->waker_comm && push_frames(x, w->waker_path, 1, path)))
		return ERR_NOMEM;
	return stacks_mark(x->stacks, w->waker_comm ? name : irq, path);
}

static int add_wait(struct exporting *x, const struct wait_row *w)
{
	const char *mark = wait_mark_text(w->mark);
	struct export_row r = {.comm = w->comm,
			       .path = w->path,
			       .pid = w->pid,
			       .tid = w->tid,
			       .cause = cause_name(w->cause),
			       .value = w->ns,
			       .count = w->count};
	if (mark) {
		r.path = 0;
		if (stacks_mark(x->stacks, mark, &r.path) ||
		    push_frames(x, w->path, 0, &r.path))
			return ERR_NOMEM;
	}
	if (x->rq->kind == EXPORT_OFFWAKE && w->waker_context != WAKER_NONE &&
	    push_waker(x, w, &r.path))
		return ERR_NOMEM;
	return export_rows_add(&x->rows, &r);
}

static int fill_waits(struct exporting *x, struct tlinput *ti, struct err *e)
{
	static const struct export_column column = {"offcpu", "ns", "waits"};
	unsigned by = WAITS_BY_PID | WAITS_BY_TID | WAITS_BY_CAUSE |
		      (x->rq->kind == EXPORT_OFFWAKE ? WAITS_BY_WAKER : 0);
	struct wait_sums w;
	int rc = waits_collect(&w, ti, &x->rq->opt->wait, by, e);
	if (!rc && export_rows_column(&x->rows, &column))
		rc = err_nomem(e);
	for (size_t i = 0; i < w.rows.n && !rc; i++)
		if (add_wait(x, &w.rows.v[i]))
			rc = err_nomem(e);
	if (!rc)
		tl_say_hidden(ti, &w.apart);
	wait_sums_release(&w);
	return rc;
}

/* --- running and waiting
 * ----------------------------------------------------------------------
 */

enum { WALL_ALL, WALL_WAITING };

static int add_wall_row(void *ctx, const struct wall_row *w)
{
	struct exporting *x = ctx;
	struct export_row r = {.comm = w->comm,
			       .path = w->path,
			       .pid = w->pid,
			       .tid = w->tid,
			       .column = WALL_ALL,
			       .value = w->ns};
	if (w->what && stacks_mark(x->stacks, w->what, &r.path))
		return ERR_NOMEM;
	if (export_rows_add(&x->rows, &r))
		return ERR_NOMEM;
	r.column = WALL_WAITING;
	return w->waiting ? export_rows_add(&x->rows, &r) : 0;
}

static int fill_wall(struct exporting *x, struct tlinput *ti, struct err *e)
{
	static const struct export_column columns[] = {
		[WALL_ALL] = {"wall", "ns", NULL}, [WALL_WAITING] = {"offcpu", "ns", NULL}};
	struct population of = waits_population(ti, &x->rq->opt->wait);
	struct set_apart h = {.system = 0};
	if (export_rows_column(&x->rows, &columns[WALL_ALL]) ||
	    export_rows_column(&x->rows, &columns[WALL_WAITING]))
		return err_nomem(e);
	int rc = wall_collect(&ti->tl, &of, add_wall_row, x, &h, e);
	if (!rc)
		tl_say_hidden(ti, &h);
	set_apart_release(&h);
	return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static int read_timeline(struct exporting *x, const char *path)
{
	struct tlinput ti;
	struct err e = {0};
	int wall = x->rq->kind == EXPORT_WALL;
	int rc = tlinput_open(&ti, "export", &x->rq->opt->wait.tl, path, wall);
	if (rc)
		return rc;
	x->rows.stacks = x->stacks = ti.tl.stacks;
	x->rows.seconds = (double)timeline_recorded_ns(&ti.tl) / 1e9;
	rc = wall ? fill_wall(x, &ti, &e) : fill_waits(x, &ti, &e);
	rc = rc || finish(x, path,
			  "no waits to export (show hidden ones with --idle, --system)", &e)
		     ? input_fail(&ti.in, &e)
		     : input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

/* --- the worst episodes
 * -----------------------------------------------------------------------
 */

static int add_tail_row(void *ctx, const struct folded *f, struct err *e)
{
	struct exporting *x = ctx;
	struct export_row r = {.comm = f->comm,
			       .path = f->path,
			       .pid = f->pid,
			       .tid = f->tid,
			       .value = f->weight};
	return export_rows_add(&x->rows, &r) ? err_nomem(e) : 0;
}

static int fill_tail(struct exporting *x, const struct tail *t, struct err *e)
{
	static const struct export_column column = {"tail", "ns", NULL};
	struct tail_times times = {.tail = t, .add = add_tail_row, .ctx = x};
	int rc = export_rows_column(&x->rows, &column) ? err_nomem(e) : 0;
	for (size_t i = 0; i < t->rows.n && !rc; i++)
		rc = tail_times_add(&times, &t->episodes.v.v[t->rows.v[i].episode], e);
	return rc;
}

static int read_tail(struct exporting *x, const char *path)
{
	struct tail_run r = {.opt = x->rq->opt};
	struct tail t;
	struct err e = {0};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	int rc = tail_ask(&r, "export", path, names, &n, NULL);
	if (rc)
		return rc;
	x->rows.stacks = x->stacks = r.ti.tl.stacks;
	x->rows.seconds = (double)timeline_recorded_ns(&r.ti.tl) / 1e9;
	if (tail_make(&r.ti.tl, &r.query, &t, &e)) {
		rc = input_fail(&r.ti.in, &e);
	} else {
		rc = tail_refuse(&r, &t);
		if (!rc)
			rc = fill_tail(x, &t, &e) || finish(x, path, "no episode selected", &e)
				     ? input_fail(&r.ti.in, &e)
				     : input_status(&r.ti.in);
		tail_release(&t);
	}
	tlinput_close(&r.ti);
	return rc;
}

int export_source_read(const struct export_request *rq, const char *path,
		       int (*write)(void *ctx, const struct export_rows *rows, struct err *e),
		       void *ctx)
{
	struct exporting x = {.rq = rq, .write = write, .ctx = ctx};
	const char *missing = rq->cgroup                  ? "--cgroup"
			      : rq->opt->wait.tl.in.lines ? "--srcline"
							  : NULL;
	if (missing && tlinput_is_store(path)) {
		say_line("perfkit export: %s is for recordings", missing);
		return 2;
	}
	int rc = rq->kind == EXPORT_CPU    ? read_samples(&x, path)
		 : rq->kind == EXPORT_TAIL ? read_tail(&x, path)
					   : read_timeline(&x, path);
	export_rows_release(&x.rows);
	return rc;
}
