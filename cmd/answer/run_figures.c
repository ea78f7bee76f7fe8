#include "cmd/answer/run_figures.h"
#include "base/mem.h"
#include "base/text/name_id.h"
#include "cmd/answer/compared_rows.h"
#include "cmd/answer/report_functions.h"
#include "cmd/cli/say.h"
#include "cmd/query/tail_query.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/tail_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint32_t percents[] = {50000, 90000, 99000, 99900};
static const enum column percentile_columns[] = {COL_P50, COL_P90, COL_P99, COL_P999};
enum { PERCENTS = sizeof(percents) / sizeof(*percents) };

/* A recording that is read. */
struct reading {
	struct run_figures *f;
	struct tlinput ti;
	int side;
	double seconds; /* that sums are divided by; 1: as they are */
	uint64_t from, to;
};

static int no_memory(struct reading *x)
{
	struct err e = {0};
	return input_fail(&x->ti.in, (err_nomem(&e), &e));
}

/* Add a sum. */
static int add_sum(struct reading *x, unsigned kind, const char *name, unsigned unit,
		   double value)
{
	return runs_add(&x->f->runs, kind, name, 0, unit, value / x->seconds);
}

/* --- functions -------------------------------------------------------------------------- */

/* The function's text; those of the next one are new. */
static int function_shown(struct run_figures *f, const char *name, const char *module, int side,
			  uint32_t *id)
{
	struct buf text = {0};
	name_of_function(&text, name, module);
	int rc = buf_failed(&text) || strtab_intern(&f->shown, buf_cstr(&text), id) ? ERR_NOMEM
										    : 0;
	buf_release(&text);
	while (!rc && f->functions.n <= *id)
		rc = vec_push(&f->functions, ((struct run_function){0}));
	if (rc)
		return rc;
	struct run_function *fn = &f->functions.v[*id];
	if (!fn->name)
		fn->name = mem_strdup(name);
	if (!fn->module)
		fn->module = mem_strdup(module);
	fn->sides |= side == BEFORE ? MATCH_BEFORE : MATCH_AFTER;
	return fn->name && fn->module ? 0 : ERR_NOMEM;
}

static double cell(const struct rows *r, uint32_t row, enum column time, enum column count)
{
	uint64_t ns = rows_get(r, row, time), n = rows_get(r, row, count);
	return ns != CELL_NONE ? (double)ns : n != CELL_NONE ? (double)n : 0;
}

static int add_functions(struct reading *x, const struct rows *r)
{
	unsigned unit = x->f->counts ? FIGURE_COUNT : FIGURE_NS;
	double sum = 0;
	int rc = 0;
	for (uint32_t i = 0; i < r->keys.n && !rc; i++) {
		double self = cell(r, i, COL_SELF, COL_SELF_COUNT);
		uint32_t id;
		rc = function_shown(x->f, rows_text(r, &x->ti.tl, i, COL_FUNCTION),
				    rows_text(r, &x->ti.tl, i, COL_MODULE), x->side, &id);
		if (rc)
			break;
		const char *name = strtab_get(&x->f->shown, id);
		sum += self;
		rc = add_sum(x, FIGURE_SELF, name, unit, self);
		rc = rc ? rc
			: add_sum(x, FIGURE_TOTAL, name, unit,
				  cell(r, i, COL_TOTAL, COL_TOTAL_COUNT));
	}
	return rc ? rc
		  : add_sum(x, FIGURE_WHOLE, x->f->counts ? "events" : "CPU time", unit, sum);
}

/* 1 if both names are of one event, with or without the kernel. */
static int same_event(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	return n && m && (event_name_fits(a, b) || event_name_fits(b, a)) &&
	       (a[n - 1] == 'u') == (b[m - 1] == 'u');
}

/* All runs must weigh functions by the same event. */
static int check_event(struct reading *x, const char *event, int counts)
{
	struct run_figures *f = x->f;
	if (!f->functional) {
		buf_str(&f->event, event);
		f->counts = counts;
	} else if (!same_event(event, buf_cstr(&f->event))) {
		say_line("perfkit compare: %s samples %s, the runs before it %s: choose an "
			 "event that all have with --event",
			 input_shown(x->ti.path), event, buf_cstr(&f->event));
		return 2;
	}
	f->functional++;
	return 0;
}

static int read_functions(struct reading *x)
{
	struct report_opts o = {.wait = *x->f->wait, .top = -1};
	struct table_query q = {.of = waits_population(&x->ti, x->f->wait),
				.events = x->ti.events};
	uint32_t event = table_function_event(&x->ti.tl, &q);
	struct rows r = {.kind = NULL};
	if (event == NO_ID)
		return 0;
	const char *name = report_event_of(&x->ti.tl, &q);
	const struct table_kind *kind = report_functions_kind(&x->ti, &o, &q);
	if (kind == table_kind_of("function")) /* of calls: their samples count */
		return 0;
	int rc = check_event(x, name, kind == table_functions(0));
	rc = rc ? rc : report_window_rows(&x->ti, &o, table_kind_of("function"), 0, &r);
	if (!rc && add_functions(x, &r))
		rc = no_memory(x);
	rows_release(&r);
	return rc;
}

/* --- waits ------------------------------------------------------------------------------ */

static int add_sites(struct reading *x, const struct rows *r)
{
	enum column time = compared_time_column(r);
	struct buf name = {0};
	double sum = 0;
	int rc = 0;
	for (uint32_t i = 0; i < r->keys.n && !rc; i++) {
		uint64_t ns = rows_get(r, i, time), site = rows_get(r, i, COL_SITE);
		if (r->keys.v[i].hidden || ns == CELL_NONE)
			continue;
		compared_row_name(&name, &x->ti.tl, r, i);
		rc = buf_failed(&name) ? ERR_NOMEM : 0;
		rc = rc ? rc : add_sum(x, FIGURE_SITE, buf_cstr(&name), FIGURE_NS, (double)ns);
		if (!rc && site < x->ti.tl.sites.n)
			rc = add_sum(x, FIGURE_CAUSE, cause_name(x->ti.tl.sites.v[site].cause),
				     FIGURE_NS, (double)ns);
		sum += (double)ns;
	}
	buf_release(&name);
	return rc ? rc : add_sum(x, FIGURE_WHOLE, "waiting", FIGURE_NS, sum);
}

static int read_sites(struct reading *x)
{
	struct report_opts o = {.wait = *x->f->wait, .top = -1};
	struct rows r = {.kind = NULL};
	int rc = report_window_rows(&x->ti, &o, table_kind_of("site"), 0, &r);
	if (!rc && add_sites(x, &r))
		rc = no_memory(x);
	rows_release(&r);
	return rc;
}

static int is_clean(const struct episode *ep)
{
	return !(ep->flags & (OFF_OPEN | OFF_SUSPECT));
}

static int ns_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Percentiles of the complete waits. */
static int add_lengths(struct reading *x, const struct tail *t)
{
	const struct episodes *all = &t->episodes;
	uint64_t *v = mem_zalloc(all->v.n + 1, sizeof(*v));
	size_t n = 0;
	int rc = v ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < all->v.n && !rc; i++)
		if (is_clean(&all->v.v[i]))
			v[n++] = episode_ns(&all->v.v[i]);
	if (n)
		qsort(v, n, sizeof(*v), ns_order);
	for (size_t i = 0; i < PERCENTS && n && !rc; i++)
		rc = runs_add(&x->f->runs, FIGURE_WAIT_LENGTH, "waits", percents[i], FIGURE_NS,
			      (double)v[percentile_rank(n, percents[i]) - 1]);
	mem_free(v);
	return rc;
}

static int add_roots(struct reading *x, const struct tail *t)
{
	struct buf name = {0};
	int rc = 0;
	for (size_t i = 0; i < t->rows.n && !rc; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		buf_clear(&name);
		describe_root_brief(&name, t, &t->rows.v[i].root);
		rc = buf_failed(&name) ? ERR_NOMEM
				       : add_sum(x, FIGURE_ROOT, buf_cstr(&name), FIGURE_NS,
						 (double)episode_ns(ep));
	}
	buf_release(&name);
	return rc;
}

static int read_tail(struct reading *x)
{
	const struct tail_opts o = {.wait = *x->f->wait, .by = "wait", .top = TAIL_NO_TOP};
	struct tail_run r = {.opt = &o, .ti = x->ti};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	struct err e = {0};
	struct tail t;
	int rc = tail_ask_opened(&r, "compare", names, &n, NULL);
	x->ti = r.ti;
	if (!rc && tail_make(&x->ti.tl, &r.query, &t, &e))
		return input_fail(&x->ti.in, &e);
	if (rc)
		return rc;
	if (add_lengths(x, &t) || add_roots(x, &t))
		rc = no_memory(x);
	tail_release(&t);
	return rc;
}

/* --- spans ------------------------------------------------------------------------------ */

static int add_span(struct reading *x, const struct rows *r, uint32_t row, const char *name)
{
	double calls = (double)rows_get(r, row, COL_CALLS);
	double total = (double)rows_get(r, row, COL_TOTAL);
	int rc = add_sum(x, FIGURE_SPAN, name, FIGURE_NS, total);
	rc = rc ? rc : add_sum(x, FIGURE_SPAN_COUNT, name, FIGURE_COUNT, calls);
	for (size_t i = 0; i < PERCENTS && !rc; i++) {
		uint64_t ns = rows_get(r, row, percentile_columns[i]);
		if (ns != CELL_NONE)
			rc = runs_add(&x->f->runs, FIGURE_SPAN_LENGTH, name, percents[i],
				      FIGURE_NS, (double)ns);
	}
	return rc;
}

static int read_spans(struct reading *x)
{
	struct report_opts o = {.wait = *x->f->wait, .top = -1};
	struct rows r = {.kind = NULL};
	struct buf name = {0};
	int rc = report_window_rows(&x->ti, &o, table_kind_of("span"), 0, &r);
	for (uint32_t i = 0; i < r.keys.n && !rc; i++) {
		if (r.keys.v[i].hidden || rows_get(&r, i, COL_TOTAL) == CELL_NONE)
			continue;
		compared_row_name(&name, &x->ti.tl, &r, i);
		if (buf_failed(&name) || add_span(x, &r, i, buf_cstr(&name)))
			rc = no_memory(x);
	}
	buf_release(&name);
	rows_release(&r);
	return rc;
}

/* --- a recording ------------------------------------------------------------------------ */

/* When it began, by what each clock says. */
static int add_times(struct reading *x, struct run *run)
{
	struct run_figures *f = x->f;
	const struct tl_recording *rec = &x->ti.tl.rec;
	const char *host = strtab_get(&x->ti.names->strings, rec->host);
	struct stat st;
	uint64_t file = stat(x->ti.path, &st) ? 0
					      : (uint64_t)st.st_mtim.tv_sec * 1000000000u +
							(uint64_t)st.st_mtim.tv_nsec;
	if (f->runs.v.n == 1) {
		buf_str(&f->host, host);
		f->walls = f->same_host = 1;
	}
	f->walls &= rec->wall_ns != 0;
	f->same_host &= *host && !strcmp(buf_cstr(&f->host), host);
	run->when_ns = rec->wall_ns;
	return vec_push(&f->boot_ns, rec->origin_ns) || vec_push(&f->file_ns, file) ? ERR_NOMEM
										    : 0;
}

/* The same recording in two runs is no second observation. */
static int check_twice(struct reading *x)
{
	struct run_figures *f = x->f;
	const struct tl_recording *rec = &x->ti.tl.rec;
	const char *host = strtab_get(&x->ti.names->strings, rec->host);
	uint64_t id = hash_bytes(host, strlen(host), rec->origin_ns) ^ rec->end_ns;
	for (size_t i = 0; i < f->ids.n; i++)
		if (f->ids.v[i] == id) {
			say_line("perfkit compare: %s is the same recording as %s: each run "
				 "counts once",
				 input_shown(x->ti.path), f->runs.v.v[i].name);
			return 2;
		}
	return vec_push(&f->ids, id) ? no_memory(x) : 0;
}

static int read_parts(struct reading *x)
{
	const struct population of = waits_population(&x->ti, x->f->wait);
	struct runs *runs = &x->f->runs;
	compared_stretch(&x->ti.tl, &of, &x->from, &x->to);
	uint64_t recorded = timeline_recorded_in(&x->ti.tl, x->from, x->to);
	x->seconds = x->f->per_recording || !recorded ? 1 : (double)recorded / 1e9;
	if (runs_begin(runs, x->side, x->ti.path) || add_times(x, &runs->v.v[runs->v.n - 1]) ||
	    runs_add(runs, FIGURE_WHOLE, "recorded", 0, FIGURE_NS, (double)recorded))
		return no_memory(x);
	runs->v.v[runs->v.n - 1].recorded_ns = recorded;
	int rc = check_twice(x);
	rc = rc ? rc : read_functions(x);
	if (!rc && !timeline_answerable(&x->ti.tl, 1, NULL)) {
		x->f->waits++;
		rc = read_sites(x);
		rc = rc ? rc : read_tail(x);
	}
	if (!rc && x->ti.tl.spans.n) {
		x->f->spans++;
		rc = read_spans(x);
	}
	return rc ? rc : input_status(&x->ti.in);
}

int run_figures_read(struct run_figures *f, int side, const char *path)
{
	size_t of = 1;
	int rc = 0;
	for (size_t i = 0; i < of && !rc; i++) {
		struct reading x = {.f = f, .side = side};
		rc = tlinput_open_nth(&x.ti, "compare", &f->wait->tl, path, &tlinput_report, i,
				      &of);
		if (rc)
			break;
		rc = read_parts(&x);
		tlinput_close(&x.ti);
	}
	return rc;
}

/* --- all -------------------------------------------------------------------------------- */

/* Functions are the same by both sides' names. */
static int match_functions(struct run_figures *f, struct buf *notes)
{
	struct match m = {0};
	int rc = 0;
	for (size_t i = 0; i < f->functions.n && !rc; i++) {
		const struct run_function *fn = &f->functions.v[i];
		const char *name = fn->name ? fn->name : "",
			   *module = fn->module ? fn->module : "";
		struct match_frame mf = {.name = *name == '[' ? "" : name,
					 .dso = module,
					 .src = "",
					 .group = compared_group_of(module),
					 .sides = fn->sides};
		rc = match_add(&m, &mf);
	}
	rc = rc ? rc : match_finish(&m);
	for (uint32_t i = 0; i < f->functions.n && !rc; i++) {
		uint32_t same = match_of(&m, i);
		if (same != i && same < f->functions.n && f->functions.v[i].name)
			rc = runs_rename(&f->runs, strtab_get(&f->shown, i),
					 strtab_get(&f->shown, same));
	}
	struct buf matched = {0};
	if (!rc)
		match_notes(&m, &matched);
	if (matched.n)
		buf_fmt(notes, "%s.\n", buf_cstr(&matched));
	rc = rc ? rc : buf_failed(&matched);
	buf_release(&matched);
	match_release(&m);
	return rc;
}

static int all_differ(const struct runs *r)
{
	for (size_t i = 0; i < r->v.n; i++)
		for (size_t k = 0; k < i; k++)
			if (r->v.v[i].when_ns == r->v.v[k].when_ns)
				return 0;
	return r->v.n > 0;
}

/* Without a wall clock: the host's clock, else the files' times. */
static void choose_clock(struct run_figures *f)
{
	for (size_t i = 0; i < f->runs.v.n && !f->walls; i++)
		f->runs.v.v[i].when_ns = f->same_host ? f->boot_ns.v[i] : f->file_ns.v[i];
	for (size_t i = 0; !all_differ(&f->runs) && i < f->runs.v.n; i++)
		f->runs.v.v[i].when_ns = 0;
}

const char *run_figures_clock(const struct run_figures *f)
{
	return !f->runs.order ? NULL
	       : f->walls     ? "the wall clock"
	       : f->same_host ? "the host's clock"
			      : "the files' times";
}

/* Without data in some runs, figures [from, to] and that of the whole would be 0 there: none are
 * compared. */
static void drop_partial(struct run_figures *f, size_t have, unsigned from, unsigned to,
			 const char *whole, const char *what, struct buf *notes)
{
	size_t runs = f->runs.v.n;
	if (!have || have == runs)
		return;
	for (size_t i = 0; i < f->runs.figures.n; i++) {
		struct figure *x = &f->runs.figures.v[i];
		int is_whole = x->kind == FIGURE_WHOLE && !strcmp(x->name, whole);
		for (size_t k = 0; k < x->runs; k++)
			if (is_whole || (x->kind >= from && x->kind <= to))
				x->value[k] = 0;
	}
	buf_fmt(notes, "%s are not compared: only %zu of %zu runs have them.\n", what, have,
		runs);
}

int run_figures_finish(struct run_figures *f, struct buf *notes)
{
	choose_clock(f);
	drop_partial(f, f->functional, FIGURE_SELF, FIGURE_TOTAL,
		     f->counts ? "events" : "CPU time", "Functions", notes);
	drop_partial(f, f->waits, FIGURE_SITE, FIGURE_WAIT_LENGTH, "waiting", "Waits", notes);
	drop_partial(f, f->spans, FIGURE_SPAN, FIGURE_SPAN_LENGTH, "", "Spans", notes);
	int rc = match_functions(f, notes);
	return rc ? rc : runs_finish(&f->runs);
}

void run_figures_release(struct run_figures *f)
{
	for (size_t i = 0; i < f->functions.n; i++) {
		mem_free(f->functions.v[i].name);
		mem_free(f->functions.v[i].module);
	}
	vec_release(&f->functions);
	vec_release(&f->ids);
	vec_release(&f->boot_ns);
	vec_release(&f->file_ns);
	strtab_release(&f->shown);
	buf_release(&f->event);
	buf_release(&f->host);
	runs_release(&f->runs);
}
