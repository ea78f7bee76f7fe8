#include "cmd/answer/report_functions.h"
#include "cmd/input/output.h"
#include "cmd/query/timeline_samples.h"
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

/* --- the first table of `report` -------------------------------------------------------- */

/* Keep what has 1 % by itself, unless all is asked for; print. */
static int put_first(const struct timeline *tl, const struct report_opts *o, struct rows *r,
		     const char *event)
{
	struct row_filter least = {
		.column = COL_SELF_SHARE, .how = FILTER_MORE, .or_equal = 1, .value = 1000};
	struct buf b = {0};
	struct err e = {0};
	int brief = report_is_brief(o);
	int rc = rows_finish(r) || rows_filter(r, tl, &least, o->top < 0);
	if (!rc && r->keys.n) {
		rows_sort(r, tl, r->kind->sort, 0);
		report_functions_title(&b, tl, o, r, event);
		rows_table(&b, tl, r, brief ? REPORT_FUNCTIONS : report_top(o), output_width());
		if (o->top < 0)
			report_functions_rest(&b, r);
	}
	rc = rc || buf_failed(&b);
	if (!rc)
		fputs(buf_cstr(&b), stdout);
	buf_release(&b);
	return rc ? input_fail(NULL, (err_nomem(&e), &e)) : 0;
}

static void put_none(const struct timeline *tl)
{
	puts(tl && tl->offcpu.n ? "no samples of CPU time (of waits: --by function --offcpu)"
				: "no samples of CPU time");
}

int report_first_functions(struct tlinput *ti, const struct report_opts *o)
{
	struct table_query q = {.of = waits_population(ti, &o->wait), .events = ti->events};
	struct rows r = {.kind = NULL};
	struct err e = {0};
	const char *event = report_event_of(&ti->tl, &q);
	if (!event) {
		put_none(&ti->tl);
		return 0;
	}
	uint32_t at = table_function_event(&ti->tl, &q);
	const struct table_kind *kind =
		table_functions(is_time(event, ti->tl.events.v[at].tracepoint));
	int rc = table_collect(kind, &ti->tl, &q, &r, &e) ? input_fail(&ti->in, &e) : 0;
	struct buf name = {0};
	tl_event_shown(ti, at, &name);
	rc = rc ? rc : put_first(&ti->tl, o, &r, buf_cstr(&name));
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
			    const struct folded *v, size_t n)
{
	struct profile *p = in->profile;
	const struct timeline tl = {.stacks = &p->stacks};
	struct function_sums s = {.stacks = &p->stacks};
	struct rows r = {.kind = NULL};
	struct err e = {0};
	const struct event *chosen = folded_event(in, v, n);
	int rc = 0;
	if (!chosen) {
		put_none(NULL);
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
	rc = rc ? input_fail(in, (err_nomem(&e), &e)) : put_first(&tl, o, &r, buf_cstr(&name));
	buf_release(&name);
	function_sums_release(&s);
	rows_release(&r);
	return rc;
}
