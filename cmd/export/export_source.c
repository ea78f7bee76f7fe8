#include "cmd/export/export_source.h"
#include "base/mem.h"
#include "cmd/query/stack_source.h"
#include "cmd/cli/say.h"
#include "libtime/sched/timeline_parts.h"

#include <stdio.h>
#include <string.h>

struct exporting {
	const struct export_request *rq;
	int (*write)(void *ctx, const struct export_rows *rows, struct err *e);
	void *ctx;
	struct export_rows rows;
	struct stack_source s;
	struct stacks *stacks; /* of a timeline: marks become frames of it; else NULL */
	uint32_t *column;      /* of samples: by event; NO_ID: none */
};

static int finish(struct exporting *x, const char *path, const char *what, struct err *e)
{
	if (!x->rows.v.n)
		return err_set(e, ERR_REFUSED, "%s: %s", path, what);
	int rc = export_rows_sort(&x->rows, e);
	return rc ? rc : x->write(x->ctx, &x->rows, e);
}

/* --- samples -------------------------------------------------------------------------- */

/* The column of each event: events of one name share it. */
static int sample_columns(struct exporting *x, const struct samples *s, uint32_t *column)
{
	struct u64map first = {0}; /* the first event of a name that has samples */
	int rc = 0;
	for (uint32_t i = 0; i < s->events.n && !rc; i++) {
		const struct samples_event *ev = &s->events.v[i];
		struct export_column c = {ev->name, ev->unit,
					  ev->tracepoint ? NULL : "samples"};
		uint64_t h = event_name_hash(ev->name);
		uint32_t like;
		column[i] = NO_ID;
		if (u64map_get(&first, h, &like) && samples_same_event(s, like, i)) {
			column[i] = column[like];
		} else if (samples_has(s, i)) {
			column[i] = (uint32_t)x->rows.columns.n;
			rc = export_rows_column(&x->rows, &c) || u64map_put(&first, h, i)
				     ? ERR_NOMEM
				     : 0;
		}
	}
	u64map_release(&first);
	return rc;
}

/* The event that svg draws. */
static uint32_t shown_column(const struct samples *s, const uint32_t *column)
{
	uint32_t event = samples_default(s);
	return event == NO_ID ? 0 : column[event];
}

static int choose_columns(struct exporting *x, struct err *e)
{
	const struct samples *s = &x->s.samples;
	x->column = mem_zalloc(s->events.n + 1, sizeof(*x->column));
	if (!x->column || sample_columns(x, s, x->column))
		return err_nomem(e);
	x->rows.shown = shown_column(s, x->column);
	x->rows.seconds = samples_seconds(s, 0, samples_any_event);
	samples_say_others(s, 0, samples_any_event);
	return 0;
}

/* --- time ----------------------------------------------------------------------------- */

enum { WALL_ALL, WALL_WAITING };

static int time_columns(struct exporting *x, struct err *e)
{
	static const struct export_column wall = {"wall", "ns", NULL},
					  waits = {"offcpu", "ns", "waits"},
					  waiting = {"offcpu", "ns", NULL},
					  tail = {"tail", "ns", NULL};
	enum stack_question asked = x->s.asked;
	const struct export_column *first = asked == STACKS_OF_WALL   ? &wall
					    : asked == STACKS_OF_TAIL ? &tail
								      : &waits;
	x->stacks = x->s.ti->tl.stacks;
	x->rows.seconds = (double)timeline_recorded_ns(&x->s.ti->tl) / 1e9;
	if (export_rows_column(&x->rows, first) ||
	    (asked == STACKS_OF_WALL && export_rows_column(&x->rows, &waiting)))
		return err_nomem(e);
	return 0;
}

/* --- rows ----------------------------------------------------------------------------- */

static int add_row(void *exporting, const struct stack_row *r, struct err *e)
{
	struct exporting *x = exporting;
	uint32_t column = x->column ? x->column[r->of.event] : 0;
	if (column == NO_ID)
		return 0;
	int rc = export_rows_stack(&x->rows, x->stacks, r, column);
	if (!rc && x->s.asked == STACKS_OF_WALL && r->waiting)
		rc = export_rows_stack(&x->rows, x->stacks, r, WALL_WAITING);
	return rc ? err_nomem(e) : 0;
}

static int fill(struct exporting *x, const char *path, struct err *e)
{
	static const char *const none[] = {
		[STACKS_OF_SAMPLES] = "no samples to export",
		[STACKS_OF_WAITS] =
			"no waits to export (show hidden ones with --idle, --system)",
		[STACKS_OF_WAKERS] =
			"no waits to export (show hidden ones with --idle, --system)",
		[STACKS_OF_WALL] =
			"no waits to export (show hidden ones with --idle, --system)",
		[STACKS_OF_TAIL] = "no episode selected"};
	int samples = x->s.asked == STACKS_OF_SAMPLES;
	x->rows.stacks = x->s.stacks;
	x->rows.distinct = samples;
	x->rows.labels = x->s.ti->split;
	x->rows.label_keys = x->s.ti->opt->by_labels.v;
	x->s.causes = x->s.any_order = 1;
	int rc = samples ? choose_columns(x, e) : time_columns(x, e);
	rc = rc ? rc : stack_source_rows(&x->s, add_row, x, e);
	if (!rc && !samples)
		tl_say_hidden(x->s.ti, &x->s.hidden);
	return rc ? rc : finish(x, path, none[x->s.asked], e);
}

int export_source_read(const struct export_request *rq, const char *path,
		       int (*write)(void *ctx, const struct export_rows *rows, struct err *e),
		       void *ctx)
{
	struct exporting x = {.rq = rq, .write = write, .ctx = ctx};
	struct err e = {0};
	const char *missing = rq->cgroup                  ? "--by-cgroup"
			      : rq->opt->wait.tl.in.lines ? "--srcline"
							  : NULL;
	if (missing && tlinput_is_store(path)) {
		say_line("perfkit export: %s is for recordings", missing);
		return 2;
	}
	unsigned by = BY_PID | BY_TID | BY_ADDR | (rq->cgroup ? BY_CGROUP : 0);
	int rc = stack_source_open(&x.s, "export", rq->asked, rq->opt, path, NULL, by);
	if (rc)
		return rc;
	rc = rq->asked == STACKS_OF_SAMPLES ? samples_check_findings(&x.s.samples, NO_ID) : 0;
	if (!rc)
		rc = fill(&x, path, &e) ? input_fail(&x.s.ti->in, &e)
					: input_status(&x.s.ti->in);
	export_rows_release(&x.rows);
	mem_free(x.column);
	stack_source_close(&x.s);
	return rc;
}
