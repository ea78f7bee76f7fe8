#include "cmd/answer/report_tables.h"
#include "cmd/answer/report_functions.h"
#include "base/text/name_id.h"
#include "base/text/nearest.h"
#include "cmd/cli/say.h"
#include "cmd/input/output.h"
#include "cmd/query/timeline_samples.h"
#include "render/tail/rows_text.h"
#include "render/tail/site_words.h"
#include "render/text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct report_opts, field)
const struct opt report_table_rows[] = {
	OPT_HEADING("Output"),
	{"by", 0, OPT_STRING, AT(by), "WHAT",
	 "one table: function, thread, program, site, lock,\nwaker, span, cgroup, irq, disk, "
	 "gap, "
	 "jitter or label:KEY; site is where threads wait, and whether at rest; function "
	 "counts "
	 "CPU time, or --event"},
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "functions: off-CPU time instead of CPU time"},
	{"sort", 0, OPT_STRING, AT(sort), "COLUMN", "largest first; -COLUMN: smallest first"},
	{"filter", 0, OPT_EACH, AT(filters), "COLUMN>VALUE",
	 "only these rows: 'max>=5ms', 'waits<10', 'name=/pay'\n(repeatable)"},
	{"every", 0, OPT_STRING, AT(every), "DUR",
	 "the table for each stretch of time: 1s, 100ms"},
	{"expected", 0, OPT_STRING, AT(expected), "DUR",
	 "with --by jitter: percentiles for a program that needs the\nCPU every DUR: a gap of "
	 "3 "
	 "DUR also counts as 2 DUR and 1 DUR"},
	{"where", 0, OPT_EACH, AT(where), "LABEL=VALUE",
	 "only spans with this label count (repeatable)"},
	{"outermost", 0, OPT_FLAG, AT(outermost), NULL,
	 "do not count spans inside another span of the same name\n(recursion)"},
	{"in-tail", 0, OPT_FLAG, AT(in_tail), NULL,
	 "with --by function: the slowest 1 % of requests,\nbeside the median ones"},
	{"against", 0, OPT_STRING, AT(against), "BEFORE",
	 "compare with an earlier recording, per second;\nthe table of --by, or wait sites and "
	 "spans; marks what chance does not explain"},
	{"csv", 0, OPT_FLAG, AT(csv), NULL, "print CSV: all rows, or --top"},
	{"json", 0, OPT_FLAG, AT(json), NULL, "print JSON: all rows, or --top"},
	OPT_END,
};

enum { TOP = 20, FILTERS = 16 };

static int usage(const char *what, const char *arg, const char *more)
{
	say_line("perfkit report: %s%s%s (see: perfkit help report)", what, arg, more);
	return 2;
}

/* --- what is asked -------------------------------------------------------------------- */

const struct table_kind *report_kind(const struct report_opts *o)
{
	const struct table_kind *kind = table_kind_of(o->by);
	char word[16];
	size_t n;
	if (kind && o->in_tail && !strcmp(kind->name, "function"))
		return table_in_tail();
	if (kind && o->in_tail) {
		usage("--in-tail is for --by function, not ", o->by, "");
		return NULL;
	}
	if (kind)
		return kind;
	struct buf names = {0};
	const struct table_kind *all = table_kinds(&n);
	for (size_t i = 0; i < n; i++)
		buf_fmt(&names, "%s%s", i ? " " : "", all[i].name);
	const char *near = nearest_in(buf_cstr(&names), o->by, word, sizeof(word));
	buf_clear(&names);
	for (size_t i = 0; i < n; i++)
		buf_fmt(&names, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", all[i].name);
	say_line("perfkit report: --by is %sKEY, not %s%s%s%s (see: perfkit help report)",
		 buf_cstr(&names), o->by, near ? "; did you mean '" : "", near ? near : "",
		 near ? "'?" : "");
	buf_release(&names);
	return NULL;
}

uint64_t report_top(const struct report_opts *o)
{
	return o->top >= 0 ? (uint64_t)o->top : o->csv || o->json ? 0 : TOP;
}

/* A column of the table by its name in data, with or without the unit, or by its title in text.
 */
static int column_named(const struct rows *r, const char *name, size_t n, enum column *out)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		enum column c = r->columns[i].column;
		const char *full = rows_info(r, c)->name, *head = rows_info(r, c)->head;
		size_t len = strlen(full);
		int stem = n < len && !strncmp(name, full, n) && full[n] == '_' &&
			   !strchr(full + n + 1, '_');
		if ((n == len && !memcmp(name, full, n)) || stem ||
		    (n == strlen(head) && !memcmp(name, head, n))) {
			*out = c;
			return 1;
		}
	}
	return 0;
}

static int no_column(const struct rows *r, const char *option, const char *given)
{
	struct buf b = {0};
	for (size_t i = 0; i < r->ncolumns; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", rows_info(r, r->columns[i].column)->name);
	say_line("perfkit report: %s%s: the columns are %s", option, given, buf_cstr(&b));
	buf_release(&b);
	return 2;
}

/* Parse "5ms" for columns of times, "12.5" for shares, a number for others. */
static int parse_value(const struct rows *r, enum column c, const char *s, uint64_t *out)
{
	char *end;
	double share;
	switch (rows_info(r, c)->cell) {
	case CELL_NS:
		return units_parse_duration(s, out);
	case CELL_CHANGE:
		if (units_parse_duration(s + (*s == '-'), out))
			return -1;
		*out = *s == '-' ? -*out : *out;
		return 0;
	case CELL_SHARE:
		share = strtod(s, &end);
		*out = share >= 0 && share < 1e9 ? (uint64_t)(share * 1000 + 0.5) : 0;
		return end == s || *end || !(share >= 0 && share < 1e9) ? -1 : 0;
	case CELL_COUNT:
	case CELL_ADDRESS:
	case CELL_TIME:
		*out = strtoull(s, &end, 0);
		return end == s || *end ? -1 : 0;
	default:
		return 0;
	}
}

/* COLUMN, one of = != < <= > >=, VALUE. */
static int parse_filter(const struct rows *r, const char *text, struct row_filter *f)
{
	size_t n = strcspn(text, "=!<>");
	const char *s = text + n;
	*f = (struct row_filter){.how = *s == '<'   ? FILTER_LESS
					: *s == '>' ? FILTER_MORE
					: *s == '!' ? FILTER_OTHER
						    : FILTER_EQUAL};
	if (!*s || (*s == '!' && s[1] != '='))
		return usage("--filter is COLUMN>VALUE, or with =, !=, <, <=, >=, not ", text,
			     "");
	if (!column_named(r, text, n, &f->column))
		return no_column(r, "--filter ", text);
	f->or_equal = s[1] == '=' && (*s == '<' || *s == '>');
	f->text = s + 1 + (f->or_equal || *s == '!');
	if (parse_value(r, f->column, f->text, &f->value))
		return usage("--filter: no value of that column in ", text, "");
	return 0;
}

/* 1 if text leaves out functions below 1 %. */
static int hides_small(const struct report_opts *o, const struct rows *r)
{
	return (r->kind == table_functions(0) || r->kind == table_functions(1)) && o->top < 0 &&
	       !o->csv && !o->json && !o->filters.n && !o->every;
}

/* 1 if the row's site or function is the one named: by a thread's name of the site, the
 * function's without its module, all that rows show, or the id of that. */
static int is_named(const struct timeline *tl, const struct rows *r, uint32_t row,
		    const struct row_filter *f, struct buf *full)
{
	const char *own = rows_text(r, tl, row, f->column);
	buf_clear(full);
	if (f->column == COL_SITE)
		describe_site(full, tl, (uint32_t)rows_get(r, row, COL_SITE));
	else
		name_of_function(full, own, rows_text(r, tl, row, COL_MODULE));
	return !strcmp(own, f->text) || !strcmp(buf_cstr(full), f->text) ||
	       name_has_id(f->column == COL_SITE ? "site" : "function", f->text,
			   buf_cstr(full));
}

/* Hide the rows that a filter of sites or functions leaves out: 1; 0 if it is another filter. */
static int filter_names(const struct timeline *tl, struct rows *r, const struct row_filter *f)
{
	struct buf full = {0};
	if ((f->column != COL_SITE && f->column != COL_FUNCTION) ||
	    (f->how != FILTER_EQUAL && f->how != FILTER_OTHER))
		return 0;
	for (uint32_t i = 0; i < r->keys.n; i++)
		if (is_named(tl, r, i, f, &full) != (f->how == FILTER_EQUAL))
			r->keys.v[i].hidden = 1;
	buf_release(&full);
	return 1;
}

static int filter_and_sort(const struct report_opts *o, const struct timeline *tl,
			   struct rows *r)
{
	struct row_filter filters[FILTERS] = {
		{.column = COL_TOTAL_SHARE, .how = FILTER_MORE, .or_equal = 1, .value = 1000}};
	enum column by = r->kind->sort;
	int reverse = o->sort && *o->sort == '-';
	size_t n = 0;
	if (o->filters.n > FILTERS)
		return usage("too many --filter", "", "");
	for (size_t i = 0; i < o->filters.n; i++)
		if (parse_filter(r, o->filters.v[i], &filters[n]))
			return 2;
		else
			n += !filter_names(tl, r, &filters[n]);
	if (o->sort && !column_named(r, o->sort + reverse, strlen(o->sort + reverse), &by))
		return no_column(r, "--sort ", o->sort);
	struct err e = {0};
	if (rows_filter(r, tl, filters, hides_small(o, r) ? 1 : n))
		return input_fail(NULL, (err_nomem(&e), &e));
	rows_sort(r, tl, by, reverse);
	return 0;
}

/* --- the query ------------------------------------------------------------------------ */

static int label_named(const struct tlinput *ti, const char *s, size_t n, uint32_t *key)
{
	struct buf b = {0};
	struct err e = {0};
	buf_add(&b, s, n);
	if (buf_failed(&b)) {
		buf_release(&b);
		return input_fail(NULL, (err_nomem(&e), &e));
	}
	int known = strtab_find(&ti->names->strings, buf_cstr(&b), key);
	buf_release(&b);
	for (size_t i = 0; known && i < ti->tl.labels.n; i++)
		if (ti->tl.labels.v[i].key == *key)
			return 0;
	say_line("perfkit report: no span has the label %s", s);
	return 3; /* as a --label that nothing has */
}

/* 1 when KEY of --by label:KEY is a label of trampolines, but of no span. */
static int label_is_bound(const struct tlinput *ti, const char *by, uint32_t *key)
{
	const struct timeline *tl = &ti->tl;
	int bound = 0;
	if (!by || strncmp(by, "label:", 6) != 0 || !tl->bindings.n ||
	    !strtab_find(&ti->names->strings, by + 6, key))
		return 0;
	for (size_t i = 0; i < tl->labels.n; i++)
		if (tl->labels.v[i].key == *key)
			return 0;
	for (size_t i = 0; i < tl->bindings.n && !bound; i++)
		bound = tl->bindings.v[i].key == *key;
	return bound;
}

static int parse_where(const struct tlinput *ti, const struct opt_list *l,
		       struct label_match *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *is = strchr(l->v[i], '=');
		out[i] = (struct label_match){0, 0};
		if (!is)
			return usage("--where is LABEL=VALUE, not ", l->v[i], "");
		int rc = label_named(ti, l->v[i], (size_t)(is - l->v[i]), &out[i].key);
		if (rc)
			return rc;
		strtab_find(&ti->names->strings, is + 1, &out[i].value);
	}
	return 0;
}

static int has_filters(const struct tlinput *ti)
{
	const struct input_opts *o = &ti->opt->in;
	return o->comms.n || ti->in.pids.n || o->tids.n || o->cpus.n || o->time ||
	       ti->opt->label || ti->meant;
}

static int parse_query(struct tlinput *ti, const struct report_opts *o,
		       const struct table_kind *kind, struct label_match *where,
		       struct wait_selection *waits, struct table_query *q)
{
	const struct input_opts *in = &ti->opt->in;
	struct err e = {0};
	if (kind == table_kind_of("span"))
		tl_meant_by_spans(ti);
	*q = (struct table_query){.of = waits_population(ti, &o->wait),
				  .where = where,
				  .outermost = o->outermost,
				  .nwhere = o->where.n,
				  .events = ti->events,
				  .filtered = has_filters(ti),
				  .of_threads = ti->meant || in->comms.n || ti->in.pids.n ||
						in->tids.n};
	if (waits_causes(&o->wait.causes, &q->causes, &e) ||
	    (o->offcpu && waits_selection(waits, ti, &o->wait, 0, &e)))
		return input_fail(&ti->in, &e);
	q->waits = o->offcpu ? waits : NULL;
	if (o->every && (units_parse_duration(o->every, &q->every_ns) || !q->every_ns))
		return usage("--every takes a duration like 1s or 100ms, not ", o->every, "");
	if (o->expected && strcmp(kind->name, "jitter"))
		return usage("--expected is for --by jitter, not ", kind->name, "");
	if (o->expected &&
	    (units_parse_duration(o->expected, &q->expected_ns) || !q->expected_ns))
		return usage("--expected takes a duration like 1ms, not ", o->expected, "");
	if (o->offcpu && (!o->by || strcmp(o->by, "function") || o->in_tail || o->every))
		return usage("--offcpu goes with --by function, without --every and --in-tail",
			     "", "");
	if (o->wait.states.n && !o->offcpu)
		return usage("--state goes with --by function", "", "");
	if (o->every && kind == table_in_tail())
		return usage("--in-tail is about the whole recording: no --every", "", "");
	if (tlinput_asks_threads(&o->wait.tl) &&
	    (kind == table_kind_of("gap") || kind == table_kind_of("jitter")))
		return usage(TLINPUT_GAPS_OF_CPUS, "", "");
	if (o->where.n > FILTERS)
		return usage("too many --where", "", "");
	int rc = parse_where(ti, &o->where, where);
	if (!rc && o->by && !strncmp(o->by, "label:", 6) &&
	    !label_is_bound(ti, o->by, &q->label))
		rc = label_named(ti, o->by + 6, strlen(o->by + 6), &q->label);
	return rc;
}

static int collect_table(struct tlinput *ti, const struct report_opts *o,
			 const struct table_kind *kind, struct rows *out)
{
	struct label_match where[FILTERS];
	struct wait_selection waits;
	struct table_query q;
	struct err e = {0};
	*out = (struct rows){.kind = kind};
	int rc = parse_query(ti, o, kind, where, &waits, &q);
	if (rc)
		return rc;
	if (kind == table_kind_of("function"))
		out->kind = kind = report_functions_kind(ti, o, &q);
	if (table_collect(kind, &ti->tl, &q, out, &e)) {
		err_prefix(&e, "%s", input_shown(ti->path));
		return input_fail(&ti->in, &e);
	}
	return filter_and_sort(o, &ti->tl, out);
}

int report_window_rows(struct tlinput *ti, const struct report_opts *o,
		       const struct table_kind *kind, uint64_t every_ns, struct rows *out)
{
	struct label_match where[FILTERS];
	struct wait_selection waits;
	struct table_query q;
	struct err e = {0};
	*out = (struct rows){.kind = kind};
	int rc = parse_query(ti, o, kind, where, &waits, &q);
	if (!rc && kind == table_kind_of("function"))
		out->kind = kind = report_functions_kind(ti, o, &q);
	q.every_ns = every_ns;
	q.fold_inlined = 1; /* one of two builds may have no debug information */
	if (!rc && table_collect(kind, &ti->tl, &q, out, &e)) {
		err_prefix(&e, "%s", input_shown(ti->path));
		rc = input_fail(&ti->in, &e);
	}
	return rc;
}

/* --- output --------------------------------------------------------------------------- */

static int print(const struct timeline *tl, const struct report_opts *o, const struct rows *r,
		 const char *event)
{
	struct buf b = {0};
	struct err e = {0};
	int functions = !o->csv && !o->json && r->order.n &&
			(r->kind == table_functions(0) || r->kind == table_functions(1));
	if (functions)
		report_functions_title(&b, tl, o, r, event);
	if (o->csv)
		rows_csv(&b, tl, r, report_top(o));
	else if (o->json)
		rows_json(&b, tl, r, report_top(o), o->by);
	else if (r->order.n)
		rows_table(&b, tl, r, report_top(o), output_width());
	if (functions && hides_small(o, r))
		report_functions_rest(&b, r);
	if (!o->csv && !o->json && r->hidden) {
		units_plural(&b, r->hidden, "thread", "threads");
		buf_str(&b, " of the kernel and perf hidden (show with --system)\n");
	}
	if (b.n)
		fwrite(b.v, 1, b.n, stdout);
	int failed = buf_failed(&b);
	buf_release(&b);
	return failed ? input_fail(NULL, (err_nomem(&e), &e)) : 0;
}

int report_table(struct tlinput *ti, const struct report_opts *o, const struct table_kind *kind)
{
	struct rows r;
	uint32_t key;
	if (label_is_bound(ti, o->by, &key))
		kind = table_bound();
	int rc = collect_table(ti, o, kind, &r);
	if (!rc)
		tlinput_warn_unnamed(ti);
	if (!rc && !r.order.n)
		input_say_none(&ti->in, kind->many, NULL);
	const struct table_query q = {.of = waits_population(ti, &o->wait),
				      .events = ti->events};
	struct buf name = {0};
	if (!o->offcpu && report_event_of(&ti->tl, &q))
		tl_event_shown(ti, table_function_event(&ti->tl, &q), &name);
	rc = rc ? rc : print(&ti->tl, o, &r, buf_cstr(&name));
	buf_release(&name);
	rows_release(&r);
	return rc;
}

int report_cgroups(struct input *in, const struct report_opts *o)
{
	struct rows r = {.kind = NULL};
	struct err e = {0};
	const struct timeline tl = {.stacks = &in->profile->stacks};
	if (o->every || o->where.n || o->wait.tl.label)
		return usage("--by cgroup counts samples: no --every, --where or --label", "",
			     "");
	in->fold.aggregate.by = BY_CGROUP | BY_TID;
	int rc = input_fold(in);
	if (rc)
		return rc;
	if (table_cgroups(in->profile, &r, &e)) {
		err_prefix(&e, "%s", input_shown(in->path));
		rc = input_fail(in, &e);
	}
	rc = rc ? rc : filter_and_sort(o, &tl, &r);
	rc = rc ? rc : print(&tl, o, &r, NULL);
	rows_release(&r);
	return rc;
}

int report_rows(struct tlinput *ti, const struct report_opts *o, const struct table_kind *kind,
		struct rows *out)
{
	return collect_table(ti, o, kind, out);
}
