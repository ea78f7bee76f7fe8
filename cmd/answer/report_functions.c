#include "cmd/answer/report_functions.h"
#include "cmd/input/output.h"
#include "cmd/query/timeline_samples.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/tables/function_sums.h"
#include "render/tail/rows_text.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

int report_is_brief(const struct report_opts *o)
{
	return o->top < 0 && !o->wait.tl.in.verbose;
}

static int is_time(const char *event, int tracepoint)
{
	return !strcmp(event_name_unit(event, tracepoint), "ns");
}

const char *report_event_of(const struct timeline *tl, const struct table_query *q)
{
	uint32_t event = q->waits ? NO_ID : table_function_event(tl, q);
	return event == NO_ID ? NULL
			      : strtab_get(&tl->stacks->strings, tl->events.v[event].name);
}

const struct table_kind *report_functions_kind(const struct tlinput *ti,
					       const struct report_opts *o,
					       const struct table_query *q)
{
	const struct timeline *tl = &ti->tl;
	uint32_t event = o->offcpu ? NO_ID : table_function_event(tl, q);
	if (!o->offcpu && !o->wait.tl.in.events.n && table_has_calls(tl))
		return table_kind_of("function");
	return table_functions(event == NO_ID ||
			       is_time(report_event_of(tl, q), tl->events.v[event].tracepoint));
}

/* --- text ----------------------------------------------------------------------------- */

static uint64_t sum_of(const struct rows *r, enum column c)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->keys.n; i++) {
		uint64_t x = rows_get(r, i, c);
		sum += x == CELL_NONE ? 0 : x;
	}
	return sum;
}

void report_functions_title(struct buf *b, const struct timeline *tl,
			    const struct report_opts *o, const struct rows *r,
			    const char *event)
{
	uint64_t samples = sum_of(r, COL_SAMPLES);
	int times = r->kind == table_functions(1);
	(void)tl;
	if (o->offcpu) {
		buf_str(b, "off-CPU time by function: ");
		units_duration(b, sum_of(r, COL_SELF));
		buf_str(b, " in ");
		units_plural(b, samples, "wait", "waits");
		buf_char(b, '\n');
		return;
	}
	if (times)
		buf_str(b, "CPU time");
	else
		escape_visible(b, event, strlen(event));
	buf_str(b, " by function: ");
	if (times)
		units_duration(b, sum_of(r, COL_SELF));
	else
		units_count(b, sum_of(r, COL_SELF_COUNT));
	buf_str(b, " in ");
	units_plural(b, samples, "sample", "samples");
	if (times) {
		buf_str(b, " of ");
		escape_visible(b, event, strlen(event));
	}
	buf_char(b, '\n');
}

void report_functions_rest(struct buf *b, const struct rows *r)
{
	size_t left = r->keys.n - r->order.n;
	if (!left)
		return;
	units_plural(b, left, "function", "functions");
	buf_str(b, " below 1 % (show all with --top 0)\n");
}

/* --- the first tables of `report` ------------------------------------------------------ */

/* Append `top` rows at most, and how many more there are. */
static void put_some(struct buf *b, const struct timeline *tl, struct rows *r, uint64_t top,
		     size_t all)
{
	char one[32], many[32];
	r->order.n = top && top < r->order.n ? (size_t)top : r->order.n;
	rows_table(b, tl, r, 0, output_width());
	if (all == r->order.n)
		return;
	snprintf(one, sizeof(one), "more %s", r->kind->one);
	snprintf(many, sizeof(many), "more %s", r->kind->many);
	units_plural(b, all - r->order.n, one, many);
	buf_str(b, " (show all with --top 0)\n");
}

/* Append what has 1 % by itself, unless all is asked for. ERR_NOMEM. */
static int put_first(struct buf *b, const struct timeline *tl, const struct report_opts *o,
		     struct rows *r, const char *event, uint64_t top)
{
	struct row_filter least = {
		.column = COL_SELF_SHARE, .how = FILTER_MORE, .or_equal = 1, .value = 1000};
	int rc = rows_finish(r) || rows_filter(r, tl, &least, o->top < 0);
	if (rc || !r->keys.n)
		return rc;
	rows_sort(r, tl, r->kind->sort, 0);
	report_functions_title(b, tl, o, r, event);
	put_some(b, tl, r, top, r->keys.n);
	return buf_failed(b);
}

int report_programs(struct buf *out, const struct timeline *tl, const struct report_opts *o,
		    struct rows *r)
{
	if (r->kind != table_sampled_programs())
		rows_totals(out, tl, r, 1);
	put_some(out, tl, r, report_is_brief(o) ? REPORT_PROGRAMS : report_top(o), r->order.n);
	buf_char(out, '\n');
	return buf_failed(out);
}

int report_timeline_programs(struct tlinput *ti, const struct report_opts *o, int sched,
			     struct buf *out, int *several)
{
	struct rows r = {.kind = NULL};
	struct err e = {0};
	int rc = report_rows(ti, o, sched ? table_kind_of("program") : table_sampled_programs(),
			     &r);
	*several = !rc && r.order.n > 1;
	if (*several && report_programs(out, &ti->tl, o, &r))
		rc = input_fail(&ti->in, (err_nomem(&e), &e));
	rows_release(&r);
	return rc;
}

/* Without samples of CPU time: what threads waited in. */
static int put_waits(struct tlinput *ti, const struct report_opts *given, uint64_t top,
		     struct buf *out)
{
	struct report_opts o = *given;
	struct wait_selection waits;
	struct table_query q = {.of = waits_population(ti, &o.wait), .waits = &waits};
	struct rows r = {.kind = NULL};
	struct err e = {0};
	o.offcpu = 1;
	int rc = waits_selection(&waits, ti, &o.wait, 0, &e) ||
		 table_collect(table_functions(1), &ti->tl, &q, &r, &e) ||
		 (put_first(out, &ti->tl, &o, &r, "", top) && err_nomem(&e));
	rc = rc ? input_fail(&ti->in, &e) : 0;
	rows_release(&r);
	return rc;
}

int report_first_functions(struct tlinput *ti, const struct report_opts *o, uint64_t top,
			   struct buf *out)
{
	struct table_query q = {.of = waits_population(ti, &o->wait), .events = ti->events};
	struct rows r = {.kind = NULL};
	struct err e = {0};
	const char *event = report_event_of(&ti->tl, &q);
	if (!event && tlinput_has_scheduler(ti) && !timeline_answerable(&ti->tl, 1, &e))
		return put_waits(ti, o, top, out);
	if (!event) {
		buf_str(out, "no samples of CPU time\n");
		return 0;
	}
	uint32_t at = table_function_event(&ti->tl, &q);
	const struct table_kind *kind =
		table_functions(is_time(event, ti->tl.events.v[at].tracepoint));
	struct buf name = {0};
	tl_event_shown(ti, at, &name);
	int rc = table_collect(kind, &ti->tl, &q, &r, &e) ||
		 (put_first(out, &ti->tl, o, &r, buf_cstr(&name), top) && err_nomem(&e));
	rc = rc ? input_fail(&ti->in, &e) : 0;
	buf_release(&name);
	rows_release(&r);
	return rc;
}

/* The event of the table: the first that is no tracepoint, else, with --event, any. */
static const struct event *folded_event(const struct input *in, const struct folded *v,
					size_t n)
{
	const struct profile *p = in->profile;
	const struct event *found = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct event *ev = &p->rec->events.v[v[i].event];
		if ((!ev->is_tracepoint || in->events) && (!found || ev < found))
			found = ev;
	}
	return found;
}

/* The name of event i, if the table has it. */
static const char *nth_shown(const void *input, size_t i)
{
	const struct input *in = input;
	return !in->events || in->events[i] ? in->profile->rec->events.v[i].name : NULL;
}

int report_folded_functions(struct input *in, const struct report_opts *o,
			    const struct folded *v, size_t n, uint64_t top, struct buf *out)
{
	struct profile *p = in->profile;
	const struct timeline tl = {.stacks = &p->stacks};
	struct function_sums s = {.stacks = &p->stacks};
	struct rows r = {.kind = NULL};
	struct err e = {0};
	const struct event *chosen = folded_event(in, v, n);
	int rc = 0;
	if (!chosen) {
		buf_str(out, "no samples of CPU time\n");
		return 0;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		const struct folded *f = &v[i];
		const struct event *ev = &p->rec->events.v[f->event];
		if (ev == chosen || in->events || event_names_match(ev->name, chosen->name))
			rc = function_sums_add(&s, 0, f->path,
					       ev->is_tracepoint ? f->samples : f->weight,
					       f->samples);
	}
	rows_init(&r, table_functions(!strcmp(event_unit(chosen), "ns")), 0);
	rc = rc ? rc : function_sums_rows(&s, 0, 0, &r);
	struct buf name = {0};
	event_name_shown(&name, chosen->name, nth_shown, in, p->rec->events.n);
	rc = rc || put_first(out, &tl, o, &r, buf_cstr(&name), top)
		     ? input_fail(in, (err_nomem(&e), &e))
		     : 0;
	buf_release(&name);
	function_sums_release(&s);
	rows_release(&r);
	return rc;
}
