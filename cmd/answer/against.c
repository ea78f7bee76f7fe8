#include "cmd/answer/against.h"
#include "cmd/answer/compared_rows.h"
#include "base/mem.h"
#include "cmd/cli/say.h"
#include "cmd/input/output.h"
#include "libsym/name/match.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/site_words.h"
#include "render/tail/tail_words.h"
#include "render/text/compare_text.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 20 };

static const char note[] =
	"more, less: the 99 % confidence intervals before and after do not overlap (they are\n"
	"in brackets on a wide terminal, and always in --json).\n";

static void head(struct buf *b, const char *what, const char *const *files)
{
	buf_str(b, what);
	escape_visible(b, files[BEFORE], strlen(files[BEFORE]));
	buf_str(b, "; after: ");
	escape_visible(b, files[AFTER], strlen(files[AFTER]));
	buf_char(b, '\n');
}

static int put_out(struct buf *b, int r)
{
	struct err e = {0};
	if (!r && !buf_failed(b))
		fwrite(b->v, 1, b->n, stdout);
	r = r || buf_failed(b);
	buf_release(b);
	return r ? input_fail(NULL, (err_nomem(&e), &e)) : 0;
}

/* --- tail ----------------------------------------------------------------------------- */

static const uint32_t percents[] = {50000, 90000, 99000, 99900, 99990};
enum { PERCENTS = sizeof(percents) / sizeof(*percents) };

/* Percentiles of the clean episodes, as in `tail`. ERR_NOMEM. */
static int add_percentiles(const struct tail *t, int side, struct compared_percentile *out)
{
	const struct episodes *x = &t->episodes;
	struct compared_length *v = mem_zalloc(x->v.n + 1, sizeof(*v));
	uint64_t from, to;
	size_t n = 0;
	if (!v)
		return ERR_NOMEM;
	compared_stretch(t->tl, &x->query.of, &from, &to);
	for (size_t i = 0; i < x->v.n; i++) {
		const struct episode *ep = &x->v.v[i];
		if (!(ep->flags & (OFF_OPEN | OFF_SUSPECT)))
			v[n++] = (struct compared_length){
				episode_ns(ep), compare_block(from, to, ep->start_ns)};
	}
	for (size_t i = 0; i < PERCENTS; i++) {
		out[i].millipercent = percents[i];
		out[i].of[side] = estimate_percentile(v, n, percents[i]);
	}
	mem_free(v);
	return 0;
}

/* The worst episodes by root. ERR_NOMEM. */
static int add_roots(const struct tail *t, int side, struct comparison *out)
{
	struct buf name = {0};
	uint64_t from, to;
	int r = 0;
	compared_stretch(t->tl, &t->episodes.query.of, &from, &to);
	out->recorded_ns[side] = timeline_recorded_in(t->tl, from, to);
	for (size_t i = 0; !r && i < t->rows.n; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		buf_clear(&name);
		describe_root_brief(&name, t, &t->rows.v[i].root);
		r = buf_failed(&name) ? ERR_NOMEM
				      : compare_add(out, side, buf_cstr(&name),
						    compare_block(from, to, ep->start_ns),
						    episode_ns(ep), 1);
	}
	buf_release(&name);
	return r;
}

static int tail_print(const struct tail_opts *o, const struct compared_percentile *p,
		      struct comparison *roots, uint64_t least, const char *const *files)
{
	struct buf b = {0};
	int failed = compare_finish(roots);
	if (o->json) {
		struct json j = {.b = &b};
		json_open(&j, NULL, '{');
		json_u64(&j, "schema", 1);
		json_str(&j, "before", files[BEFORE]);
		json_str(&j, "after", files[AFTER]);
		if (least)
			json_u64(&j, "threshold_ns", least);
		else
			json_null(&j, "threshold_ns");
		compare_percentiles_json(&j, p, PERCENTS);
		compare_json(&j, roots, "roots");
		json_close(&j, '}');
		buf_char(&b, '\n');
		return put_out(&b, failed);
	}
	head(&b, "before: ", files);
	buf_char(&b, '\n');
	compare_percentiles_text(&b, p, PERCENTS, output_width());
	if (least) {
		buf_str(&b, "\nepisodes of at least ");
		units_duration(&b, least);
		buf_str(&b, ", the worst of before, by root\n");
	} else {
		buf_str(&b, "\nbefore has no such episodes, so none of after is as long as its "
			    "worst\n");
	}
	compare_text(&b, roots, "root", o->rows_given ? (size_t)o->rows : ROWS, output_width());
	buf_char(&b, '\n');
	buf_str(&b, note);
	return put_out(&b, failed);
}

/* One recording's part; *least: the length of the worst, 0: not known. */
static int tail_side(const struct tail_opts *o, const char *path, int side, uint64_t *least,
		     struct compared_percentile *p, struct comparison *roots)
{
	struct tail_run r = {.opt = o, .threadless = 1, .says_unnamed = 1};
	struct err e = {0};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	struct tail t;
	int rc = tail_ask(&r, "tail", path, names, &n, NULL);
	if (rc)
		return rc;
	rc = tlinput_only_one(&r.ti, "tail");
	if (!rc &&
	    (r.query.episodes.kind == EPISODE_WINDOW || r.query.episodes.kind == EPISODE_GAP))
		rc = 2,
		say_line("perfkit tail: --against compares waits, spans and activations");
	if (side == AFTER)
		r.query.pick = (struct episode_pick){.kind = PICK_OVER,
						     .ns = *least ? *least : UINT64_MAX};
	if (!rc && tail_make(&r.ti.tl, &r.query, &t, &e)) {
		rc = input_fail(&r.ti.in, &e);
	} else if (!rc) {
		rc = tail_refuse(&r, &t);
		if (side == BEFORE)
			*least = t.selection.threshold_ns;
		if (!rc && (add_percentiles(&t, side, p) || add_roots(&t, side, roots)))
			rc = input_fail(&r.ti.in, (err_nomem(&e), &e));
		tail_release(&t);
	}
	rc = rc ? rc : input_status(&r.ti.in);
	tlinput_close(&r.ti);
	return rc;
}

int tail_against(const struct tail_opts *o, const char *before, const char *after)
{
	const char *const files[] = {before, after};
	struct compared_percentile p[PERCENTS] = {{0}};
	struct comparison roots = {.recorded_ns = {0}};
	uint64_t least = 0;
	int rc = 0;
	if (o->csv || o->svg || o->html || o->flame || o->hist || o->group || o->key ||
	    o->why || o->stacks) {
		say_line("perfkit tail: --against has text and --json only, and no --key, "
			 "--group, "
			 "--hist, --why or --stacks");
		return 2;
	}
	for (int s = 0; s < COMPARE_SIDES && !rc; s++)
		rc = tail_side(o, files[s], s, &least, p, &roots);
	rc = rc ? rc : tail_print(o, p, &roots, least, files);
	compare_release(&roots);
	return rc;
}

/* --- report --------------------------------------------------------------------------- */

static int add_rows(const struct timeline *tl, const struct rows *r, int side,
		    struct comparison *out)
{
	enum column time = compared_time_column(r), count = compared_count_column(r);
	struct buf name = {0};
	int rc = 0;
	for (uint32_t i = 0; !rc && i < r->keys.n; i++) {
		uint32_t block = r->keys.v[i].window;
		uint64_t ns = rows_get(r, i, time), n = rows_get(r, i, count);
		if (r->keys.v[i].hidden || ns == CELL_NONE || n == CELL_NONE)
			continue;
		compared_row_name(&name, tl, r, i);
		rc = buf_failed(&name)
			     ? ERR_NOMEM
			     : compare_add(out, side, buf_cstr(&name),
					   block < COMPARE_BLOCKS ? block : COMPARE_BLOCKS - 1,
					   ns, n);
	}
	buf_release(&name);
	return rc;
}

/* Functions, named once both sides are known: which are the same depends on both. */
struct function_rows {
	struct match match;
	struct strtab names; /* "checksum, app" */
	VEC(struct function_row {
		uint64_t ns, n;
		uint32_t name, block;
		int side;
	})
	v;          /* by id of match */
	int counts; /* the weights are no times */
};

static void release_functions(struct function_rows *f)
{
	match_release(&f->match);
	strtab_release(&f->names);
	vec_release(&f->v);
}

static int add_function(struct function_rows *f, const struct timeline *tl,
			const struct rows *r, uint32_t row, int side)
{
	uint64_t self = rows_get(r, row, COL_SELF), counts = rows_get(r, row, COL_SELF_COUNT);
	uint64_t n = rows_get(r, row, COL_SAMPLES);
	uint32_t block = r->keys.v[row].window;
	const char *module = rows_text(r, tl, row, COL_MODULE);
	const char *name = rows_text(r, tl, row, COL_FUNCTION);
	struct function_row x = {.ns = self == CELL_NONE ? counts : self,
				 .n = n,
				 .block = block < COMPARE_BLOCKS ? block : COMPARE_BLOCKS - 1,
				 .side = side};
	struct match_frame mf = {.name = *name == '[' ? "" : name,
				 .dso = module,
				 .src = "",
				 .group = compared_group_of(module),
				 .sides = side == BEFORE ? MATCH_BEFORE : MATCH_AFTER};
	struct buf text = {0};
	if (n == CELL_NONE || !n)
		return 0;
	buf_str(&text, name);
	if (*module && *name != '[')
		buf_fmt(&text, ", %s", module);
	int rc = buf_failed(&text) || strtab_intern(&f->names, buf_cstr(&text), &x.name) ||
				 match_add(&f->match, &mf) || vec_push(&f->v, x)
			 ? ERR_NOMEM
			 : 0;
	buf_release(&text);
	return rc;
}

/* Add the functions to `out` by the names of those that stand for them; `notes` says which
 * modules differ in name. */
static int name_functions(struct function_rows *f, struct comparison *out, struct buf *notes)
{
	int rc = match_finish(&f->match);
	for (size_t i = 0; i < f->v.n && !rc; i++) {
		const struct function_row *x = &f->v.v[i];
		uint32_t same = match_of(&f->match, (uint32_t)i);
		rc = compare_add(
			out, x->side,
			strtab_get(&f->names, f->v.v[same == UINT32_MAX ? i : same].name),
			x->block, x->ns, x->n);
	}
	if (!rc)
		match_notes(&f->match, notes);
	return rc;
}

/* One table of an open recording. */
static int report_side(struct tlinput *ti, const struct report_opts *o,
		       const struct table_kind *kind, int side, struct comparison *out,
		       struct function_rows *functions)
{
	struct population of = waits_population(ti, &o->wait);
	struct err e = {0};
	struct rows r;
	uint64_t from, to;
	compared_stretch(&ti->tl, &of, &from, &to);
	out->recorded_ns[side] = to - from;
	int rc = report_window_rows(ti, o, kind, (to - from) / COMPARE_BLOCKS + 1, &r);
	int are_functions = r.kind == table_functions(0) || r.kind == table_functions(1);
	for (uint32_t i = 0; !rc && are_functions && i < r.keys.n; i++)
		if (add_function(functions, &ti->tl, &r, i, side))
			rc = input_fail(&ti->in, (err_nomem(&e), &e));
	out->samples |= are_functions;
	functions->counts |= r.kind == table_functions(0);
	if (!rc && are_functions) {
		rows_release(&r);
		return 0;
	}
	if (!rc && (!compared_time_column(&r) || !compared_count_column(&r))) {
		say_line("perfkit report: --against cannot compare --by %s", kind->name);
		rc = 2;
	}
	if (!rc && add_rows(&ti->tl, &r, side, out))
		rc = input_fail(&ti->in, (err_nomem(&e), &e));
	rows_release(&r);
	return rc;
}

enum { AGAINST = 3 };

/* The tables to compare: that of --by, else functions, wait sites and spans that both have. */
struct against {
	const struct table_kind *kinds[AGAINST]; /* NULL: not in both */
	struct comparison of[AGAINST];
	struct function_rows functions;
	size_t n;
};

/* 1 if the recording has something for the table. */
static int has_table(const struct tlinput *ti, const struct table_kind *kind)
{
	const struct table_query q = {.events = ti->events};
	if (kind == table_kind_of("function"))
		return table_function_event(&ti->tl, &q) != NO_ID;
	if (kind == table_kind_of("span"))
		return ti->tl.spans.n > 0;
	return timeline_answerable(&ti->tl, 1, NULL) == 0;
}

/* Refuse a recording that has nothing to compare, or not what --by asks for. */
static int check_tables(const struct tlinput *ti, const struct report_opts *o,
			struct against *a)
{
	struct err e = {0};
	size_t left = 0;
	for (size_t i = 0; i < a->n && !o->by; i++) {
		if (a->kinds[i] && !has_table(ti, a->kinds[i]))
			a->kinds[i] = NULL;
		left += a->kinds[i] != NULL;
	}
	int waits = o->by ? table_needs_waits(a->kinds[0]) : !left;
	if (!waits || !timeline_answerable(&ti->tl, 1, &e))
		return 0;
	return o->wait.tl.in.force && o->by ? 0 : input_fail(&ti->in, &e);
}

static int open_side(const struct report_opts *o, const char *path, int side, struct against *a)
{
	struct tlinput ti;
	int rc = tlinput_open(&ti, "report", &o->wait.tl, path, &tlinput_report);
	if (rc)
		return rc;
	rc = tlinput_only_one(&ti, "report");
	rc = rc ? rc : check_tables(&ti, o, a);
	for (size_t i = 0; i < a->n && !rc; i++)
		if (a->kinds[i])
			rc = report_side(&ti, o, a->kinds[i], side, &a->of[i], &a->functions);
	rc = rc ? rc : input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

/* What the shares are of. */
static void functions_title(struct buf *b, const struct against *a)
{
	uint64_t sum[COMPARE_SIDES] = {0};
	for (size_t i = 0; i < a->functions.v.n; i++)
		sum[a->functions.v.v[i].side] += a->functions.v.v[i].ns;
	buf_str(b, a->functions.counts ? "functions by themselves, as shares of all events ("
				       : "functions by self time, as shares of CPU time (");
	for (int s = 0; s < COMPARE_SIDES; s++) {
		buf_str(b, s ? ", " : "");
		if (a->functions.counts)
			units_count(b, sum[s]);
		else
			units_duration(b, sum[s]);
		buf_str(b, s ? " after)\n" : " before");
	}
}

static int report_print(const struct report_opts *o, struct against *a,
			const char *const *files)
{
	struct buf b = {0};
	struct json j = {.b = &b};
	if (o->json) {
		json_open(&j, NULL, '{');
		json_u64(&j, "schema", 1);
		json_str(&j, "before", files[BEFORE]);
		json_str(&j, "after", files[AFTER]);
	} else {
		head(&b, "per second of recording; before: ", files);
	}
	struct buf notes = {0};
	int failed = name_functions(&a->functions, &a->of[0], &notes);
	if (notes.n && !o->json)
		buf_fmt(&b, "%s\n", buf_cstr(&notes));
	buf_release(&notes);
	for (size_t i = 0; i < a->n; i++) {
		if (!a->kinds[i])
			continue;
		failed |= compare_finish(&a->of[i]);
		if (o->json) {
			compare_json(&j, &a->of[i], a->kinds[i]->name);
			continue;
		}
		buf_char(&b, '\n');
		if (a->of[i].samples)
			functions_title(&b, a);
		compare_text(&b, &a->of[i], a->kinds[i]->one, (size_t)report_top(o),
			     output_width());
	}
	if (o->json) {
		json_close(&j, '}');
		buf_char(&b, '\n');
	} else {
		buf_char(&b, '\n');
		buf_str(&b, note);
	}
	return put_out(&b, failed);
}

static void release_against(struct against *a)
{
	for (size_t i = 0; i < AGAINST; i++)
		compare_release(&a->of[i]);
	release_functions(&a->functions);
}

int report_against(const struct report_opts *o, const char *before, const char *after)
{
	const char *const files[] = {before, after};
	struct against a = {.n = o->by ? 1 : AGAINST};
	int rc = 0;
	if (o->stats || o->csv || o->sort || o->every || o->expected || o->filters.n ||
	    o->in_tail) {
		say_line("perfkit report: --against has text and --json only, and no --sort, "
			 "--filter, --every, --expected, --in-tail or --stats");
		return 2;
	}
	a.kinds[0] = o->by ? report_kind(o) : table_kind_of("function");
	a.kinds[1] = table_kind_of("site");
	a.kinds[2] = table_kind_of("span");
	if (!a.kinds[0])
		return 2;
	for (int s = 0; s < COMPARE_SIDES && !rc; s++)
		rc = open_side(o, files[s], s, &a);
	rc = rc ? rc : report_print(o, &a, files);
	release_against(&a);
	return rc;
}
