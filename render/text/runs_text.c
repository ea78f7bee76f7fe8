#include "render/text/runs_text.h"
#include "base/text/name_id.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------ */

static const char *const heads[FIGURE_KINDS] = {
	"whole",       "function, self",    "function, total", "site",
	"cause",       "root of the worst", "waits",           "span, time",
	"span, count", "span, length"};

static const char *const whats[FIGURE_KINDS] = {"", "self", "total", "",      "",
						"", "",     "time",  "count", ""};

static int is_length(const struct figure *f)
{
	return f->kind == FIGURE_WAIT_LENGTH || f->kind == FIGURE_SPAN_LENGTH;
}

static int is_rate(const struct runs_answer *a, const struct figure *f)
{
	return !a->per_recording && !is_length(f) && strcmp(f->name, "recorded") != 0;
}

static void put_name(struct buf *b, const struct figure *f)
{
	escape_visible(b, f->name, strlen(f->name));
	if (!is_length(f))
		return;
	buf_str(b, " p");
	units_percent(b, f->millipercent);
}

static void put_value(struct buf *b, const struct runs_answer *a, const struct figure *f,
		      double x)
{
	if (isnan(x)) {
		buf_char(b, '-');
		return;
	}
	if (f->unit == FIGURE_NS)
		units_duration(b, (uint64_t)(x + 0.5));
	else if (x < 100)
		buf_fmt(b, "%.3g", x);
	else
		units_count(b, (uint64_t)(x + 0.5));
	if (is_rate(a, f))
		buf_str(b, "/s");
}

static void put_percent(struct buf *b, const struct figure *f, double x)
{
	if (isinf(x))
		buf_str(b, "unbounded");
	else
		buf_fmt(b, "%+.1f %%", 100 * x / f->before);
}

/* The difference as a share of before. */
static void put_change(struct buf *b, const struct figure *f)
{
	if (isnan(f->difference))
		buf_char(b, '-');
	else if (f->before > 0)
		put_percent(b, f, f->difference);
	else
		buf_str(b, f->after > 0 ? "new" : "rare");
}

static void put_range(struct buf *b, const struct figure *f)
{
	if (!(f->before > 0) || isinf(f->low) || isinf(f->high))
		return;
	buf_fmt(b, "%+.1f .. %+.1f %%", 100 * f->low / f->before, 100 * f->high / f->before);
}

/* --- what holds for all rows ------------------------------------------------------------ */

static void note(struct buf *b, const char *text)
{
	buf_str(b, text);
	buf_char(b, '\n');
}

static void note_few(struct buf *b, const struct runs_answer *a)
{
	const struct runs *r = a->runs;
	size_t alone = runs_needed(1), all = runs_needed(r->tested);
	if (r->attainable > RUNS_LEVEL)
		buf_fmt(b,
			"With %zu and %zu runs, chance alone orders them like any change in "
			"%.0f "
			"%% of cases, so no difference can be told from noise: %zu and %zu "
			"runs "
			"are the fewest that can show one%s.\n",
			r->n[BEFORE], r->n[AFTER], 100 * fmin(r->attainable, 1), alone, alone,
			a->ngates ? "; conditions, which ask in one direction, need 3 and 3"
				  : "");
	else if (r->attainable * (double)r->tested > RUNS_LEVEL)
		buf_fmt(b,
			"With %zu and %zu runs, a single change among these %zu rows cannot be "
			"told from chance; %zu and %zu runs can show it.\n",
			r->n[BEFORE], r->n[AFTER], r->tested, all, all);
}

static void note_order(struct buf *b, const struct runs_answer *a)
{
	switch (a->runs->order) {
	case RUNS_SWAPPED:
		buf_fmt(b,
			"All runs of BEFORE were recorded after those of AFTER (by %s): are "
			"the "
			"two swapped?\n",
			a->clock);
		break;
	case RUNS_SPLIT:
		if (a->runs->v.n > 2)
			buf_fmt(b,
				"All runs of AFTER were recorded after those of BEFORE (by "
				"%s): "
				"what else changed meanwhile looks like the change. Record "
				"them "
				"by turns.\n",
				a->clock);
		break;
	case RUNS_APART:
		buf_fmt(b,
			"Most runs of one side were recorded before the other's (by %s): what "
			"else "
			"changed meanwhile looks like the change. Record them by turns.\n",
			a->clock);
		break;
	case RUNS_MIXED:
		break;
	default:
		note(b, "The order in which the runs were recorded is unknown.");
	}
}

static void note_wholes(struct buf *b, const struct runs_answer *a)
{
	const struct runs *r = a->runs;
	for (size_t i = 0; i < r->figures.n; i++) {
		const struct figure *f = &r->figures.v[i];
		int drift = f->kind == FIGURE_WHOLE ? runs_drift(r, f) : 0;
		if (drift)
			buf_fmt(b, "Within the groups, %s %s from run to run%s.\n", f->name,
				drift > 0 ? "grows" : "falls",
				r->order == RUNS_MIXED
					? "; as they were recorded by turns, that widens "
					  "ranges "
					  "only"
					: ": differences between the groups may be this drift");
		if (f->kind == FIGURE_WHOLE && !strcmp(f->name, "recorded") &&
		    !a->per_recording && f->verdict >= RUNS_LESS)
			note(b, "The recordings' lengths differ: if a run is a fixed amount of "
				"work, compare with --per recording.");
	}
}

static void put_notes(struct buf *b, const struct runs_answer *a)
{
	note_few(b, a);
	note_order(b, a);
	note_wholes(b, a);
	buf_str(b, a->notes);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* "10 runs of 1.0 s, a.data to z.data". */
static void put_group(struct buf *b, const struct runs_answer *a, int side)
{
	const struct runs *r = a->runs;
	size_t first = side == BEFORE ? 0 : r->n[BEFORE], n = r->n[side];
	const char *from = base_name(r->v.v[first].name);
	const char *to = base_name(r->v.v[first + n - 1].name);
	uint64_t sum = 0;
	for (size_t i = first; i < first + n; i++)
		sum += r->v.v[i].recorded_ns;
	units_plural(b, n, "run", "runs");
	buf_str(b, " of ");
	units_duration(b, sum / n);
	buf_str(b, n > 1 ? " each, " : ", ");
	escape_visible(b, from, strlen(from));
	if (n > 1 && strcmp(from, to) != 0) {
		buf_str(b, " to ");
		escape_visible(b, to, strlen(to));
	}
}

static void put_per(struct buf *b, const struct runs_answer *a)
{
	buf_str(b, a->per_recording ? "sums per recording" : "sums per second of recording");
	if (a->runs->order == RUNS_MIXED)
		buf_fmt(b, "; recorded by turns (by %s)", a->clock);
	buf_char(b, '\n');
}

/* --- conditions ------------------------------------------------------------------------- */

static void gate_why(struct buf *b, const struct runs_answer *a, const struct gate *g)
{
	const struct figure *f =
		g->figure == UINT32_MAX ? NULL : &a->runs->figures.v[g->figure];
	if (!f) {
		buf_str(b, g->is_new    ? "none"
			   : g->matched ? "nothing large enough changed"
					: "nothing has that name");
		return;
	}
	put_name(b, f);
	if (g->is_new) {
		buf_fmt(b, ", in %zu of %zu runs after, in none before", g->with, g->of);
		return;
	}
	buf_str(b, ": ");
	put_value(b, a, f, f->before);
	buf_str(b, " before, ");
	put_value(b, a, f, f->after);
	buf_str(b, " after, ");
	put_change(b, f);
	if (f->before > 0 && !isinf(f->low) && !isinf(f->high)) {
		buf_str(b, " (");
		put_percent(b, f, f->low);
		buf_str(b, " to ");
		put_percent(b, f, f->high);
		buf_char(b, ')');
	}
	if (g->answer == GATE_CANNOT_SAY && a->runs->attainable > RUNS_LEVEL)
		buf_str(b, ", too few runs");
}

static void gate_line(struct buf *b, const struct runs_answer *a, const struct gate *g)
{
	buf_fmt(b, "%s: ", gate_answer_name(g->answer));
	escape_visible(b, g->text, strlen(g->text));
	buf_str(b, ": ");
	gate_why(b, a, g);
}

/* --- text ------------------------------------------------------------------------------- */

/* `of_all`: among rows of other kinds. */
static void row_cells(struct table *t, const struct runs_answer *a, const struct figure *f,
		      int of_all)
{
	if (of_all)
		buf_fmt(&t->text, "%s: ", heads[f->kind]);
	put_name(&t->text, f);
	table_next(t);
	put_value(&t->text, a, f, f->before);
	table_next(t);
	put_value(&t->text, a, f, f->after);
	table_next(t);
	put_change(&t->text, f);
	table_next(t);
	put_range(&t->text, f);
	table_next(t);
	table_text(t, runs_verdict_name(f->verdict));
}

static void put_more(struct buf *b, size_t more, size_t small)
{
	if (more) {
		units_plural(b, more, "more row", "more rows");
		buf_str(b, " (show all with --top 0)\n");
	}
	if (small) {
		units_plural(b, small, "row", "rows");
		buf_str(b, small == 1 ? " is" : " are");
		buf_str(b, " too small for the smallest effect (--least)\n");
	}
}

/* 1 if most runs of both sides have nothing: it says nothing of the change. */
static int is_rare(const struct figure *f)
{
	return !(f->before > 0) && !(f->after > 0) && f->verdict < RUNS_LESS;
}

enum { COLUMNS = 6 };

static struct table table_of(struct table_column *columns, const char *head)
{
	static const struct table_column all[COLUMNS] = {{"", .cut = TABLE_CUT_KEY},
							 {"before", .right = 1},
							 {"after", .right = 1},
							 {"change", .right = 1},
							 {"95 % range", .right = 1, .drop = 1},
							 {"verdict"}};
	memcpy(columns, all, sizeof(all));
	columns[0].head = head;
	return (struct table){columns, COLUMNS};
}

/* All changes of a comment, whose other tables are collapsed. */
static void changes_text(struct buf *b, const struct runs_answer *a, size_t width)
{
	struct table_column columns[COLUMNS];
	struct table t = table_of(columns, "change");
	size_t n = 0;
	for (size_t i = 0; i < a->runs->figures.n; i++)
		if (a->runs->figures.v[i].verdict >= RUNS_LESS) {
			row_cells(&t, a, &a->runs->figures.v[i], 1);
			n++;
		}
	if (n)
		table_write(b, &t, width);
	else
		buf_str(b, "No change that chance does not explain.\n");
	table_release(&t);
}

/* The rows [from, to) are of one kind. */
static void kind_text(struct buf *b, const struct runs_answer *a, size_t from, size_t to,
		      size_t width)
{
	const struct figure *v = a->runs->figures.v;
	struct table_column columns[COLUMNS];
	struct table t = table_of(columns, heads[v[from].kind]);
	size_t more = 0, small = 0, shown = 0, rare = 0;
	for (size_t i = from; i < to; i++) {
		if (!v[i].tested && v[i].kind != FIGURE_WHOLE) {
			small++;
		} else if (is_rare(&v[i])) {
			rare++;
		} else if (a->rows && shown == a->rows) {
			more++;
		} else {
			row_cells(&t, a, &v[i], 0);
			shown++;
		}
	}
	if (shown) {
		buf_char(b, '\n');
		if (a->comment)
			buf_fmt(b, "%c%s\n", TABLE_FOLD, heads[v[from].kind]);
		table_write(b, &t, width);
	}
	table_release(&t);
	if (shown)
		put_more(b, more, small);
	if (shown && rare) {
		units_plural(b, rare, "row", "rows");
		buf_str(b, rare == 1 ? " is" : " are");
		buf_str(b, " in less than half of the runs of either side\n");
	}
}

/* The end of the rows of the kind of row `from`. */
static size_t kind_end(const struct runs *r, size_t from)
{
	size_t to = from;
	while (to < r->figures.n && r->figures.v[to].kind == r->figures.v[from].kind)
		to++;
	return to;
}

static void wrapped_lines(struct buf *b, const char *text, size_t width)
{
	struct buf line = {0};
	for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		buf_clear(&line);
		buf_add(&line, s, strcspn(s, "\n"));
		text_wrapped(b, buf_cstr(&line), 0, 2, width);
	}
	buf_release(&line);
}

void runs_text(struct buf *b, const struct runs_answer *a, size_t width)
{
	struct buf notes = {0};
	buf_str(b, "before: ");
	put_group(b, a, BEFORE);
	buf_str(b, a->comment ? "\nafter: " : "\nafter:  ");
	put_group(b, a, AFTER);
	buf_char(b, '\n');
	put_per(b, a);
	put_notes(&notes, a);
	if (a->comment)
		buf_add(b, notes.v, notes.n);
	else
		wrapped_lines(b, buf_cstr(&notes), width);
	for (size_t i = 0; i < a->ngates; i++) {
		buf_str(b, i ? "" : "\n");
		gate_line(b, a, &a->gates[i]);
		buf_char(b, '\n');
	}
	if (a->comment) {
		buf_char(b, '\n');
		changes_text(b, a, width);
	}
	for (size_t from = 0, to; from < a->runs->figures.n; from = to) {
		to = kind_end(a->runs, from);
		kind_text(b, a, from, to, width);
	}
	if (buf_failed(&notes))
		b->failed = buf_failed(&notes);
	buf_release(&notes);
}

/* --- HTML ------------------------------------------------------------------------------- */

/* The text of `part`, which is cleared. */
static void html_take(struct buf *b, const char *open, struct buf *part, const char *close)
{
	buf_str(b, open);
	escape_xml(b, part->v, part->n);
	buf_str(b, close);
	b->failed |= part->failed;
	buf_clear(part);
}

static void html_paragraphs(struct buf *b, const char *text)
{
	for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		buf_str(b, "<p>");
		escape_xml(b, s, strcspn(s, "\n"));
		buf_str(b, "</p>\n");
	}
}

/* "before: 380 ms, 391 ms; after: ..." */
static void put_runs(struct buf *b, const struct runs_answer *a, const struct figure *f)
{
	const struct runs *r = a->runs;
	for (size_t i = 0; i < r->v.n; i++) {
		buf_str(b, i == 0 ? "runs before: " : i == r->n[BEFORE] ? "; after: " : ", ");
		put_value(b, a, f, f->value[i]);
	}
}

/* A dot for each run, those before above those after. */
static void html_dots(struct buf *b, const struct runs_answer *a, const struct figure *f)
{
	enum { WIDTH = 150 };
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < a->runs->v.n; i++) {
		low = fmin(low, f->value[i]);
		high = fmax(high, f->value[i]);
	}
	buf_fmt(b, "<svg width=\"%d\" height=\"18\" aria-hidden=\"true\">", WIDTH + 10);
	for (size_t i = 0; i < a->runs->v.n; i++)
		if (!isnan(f->value[i]))
			buf_fmt(b, "<circle r=\"3\" cx=\"%.1f\" cy=\"%d\"/>",
				5 + (high > low ? WIDTH * (f->value[i] - low) / (high - low)
						: WIDTH / 2.0),
				a->runs->v.v[i].side == BEFORE ? 5 : 13);
	buf_str(b, "</svg>");
}

static void html_row(struct buf *b, const struct runs_answer *a, const struct figure *f)
{
	struct buf part = {0};
	const char *verdict = runs_verdict_name(f->verdict);
	put_runs(&part, a, f);
	html_take(b, "<tr title=\"", &part, "\"");
	if (f->verdict >= RUNS_LESS)
		buf_fmt(b, " class=\"%s\"", verdict);
	put_name(&part, f);
	html_take(b, "><th>", &part, "</th><td>");
	put_value(b, a, f, f->before);
	buf_str(b, "</td><td>");
	put_value(b, a, f, f->after);
	buf_str(b, "</td><td>");
	put_change(b, f);
	buf_str(b, "</td><td>");
	put_range(b, f);
	buf_fmt(b, "</td><td>%s</td><td>", verdict);
	html_dots(b, a, f);
	buf_str(b, "</td></tr>\n");
	buf_release(&part);
}

void runs_html(struct buf *b, const struct runs_answer *a)
{
	struct buf part = {0};
	const struct figure *v = a->runs->figures.v;
	put_group(&part, a, BEFORE);
	html_take(b, "<p>before: ", &part, "<br>\nafter: ");
	put_group(&part, a, AFTER);
	html_take(b, "", &part, "</p>\n");
	put_per(&part, a);
	put_notes(&part, a);
	html_paragraphs(b, buf_cstr(&part));
	buf_clear(&part);
	for (size_t i = 0; i < a->ngates; i++) {
		gate_line(&part, a, &a->gates[i]);
		html_take(b, "<p class=\"gate\">", &part, "</p>\n");
	}
	for (size_t from = 0, to; from < a->runs->figures.n; from = to) {
		to = kind_end(a->runs, from);
		buf_fmt(b,
			"<table>\n<tr><th>%s</th><td>before</td><td>after</td><td>change</td>"
			"<td>95 %% range</td><td>verdict</td><td>runs, before "
			"above</td></tr>\n",
			heads[v[from].kind]);
		for (size_t i = from; i < to; i++)
			if ((v[i].tested || v[i].kind == FIGURE_WHOLE) && !is_rare(&v[i]))
				html_row(b, a, &v[i]);
		buf_str(b, "</table>\n");
	}
	buf_release(&part);
}

/* --- JSON ------------------------------------------------------------------------------- */

static void json_number(struct json *j, const char *key, double x)
{
	char text[40];
	if (!isfinite(x)) {
		json_null(j, key);
		return;
	}
	snprintf(text, sizeof(text), "%.12g", x);
	json_raw(j, key, text);
}

static void json_runs(struct json *j, const struct runs *r, int side, const char *key)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < r->v.n; i++) {
		const struct run *x = &r->v.v[i];
		if (x->side != side)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "file", x->name);
		if (x->when_ns)
			json_u64_text(j, "began_ns", x->when_ns);
		else
			json_null(j, "began_ns");
		json_u64(j, "recorded_ns", x->recorded_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_figure(struct json *j, const struct runs_answer *a, const struct figure *f)
{
	json_open(j, NULL, '{');
	json_str(j, "kind", figure_kind_name(f->kind));
	json_str(j, "what", *whats[f->kind] ? whats[f->kind] : NULL);
	json_str(j, "name", f->name);
	if (f->kind == FIGURE_SELF || f->kind == FIGURE_TOTAL || f->kind == FIGURE_SITE) {
		struct buf id = {0};
		name_id(&id, figure_kind_name(f->kind), f->name, strlen(f->name));
		json_text(j, "id", buf_cstr(&id), id.n);
		buf_release(&id);
	}
	if (is_length(f))
		json_number(j, "percent", f->millipercent / 1e3);
	json_str(j, "unit",
		 f->unit == FIGURE_NS ? is_rate(a, f) ? "ns/s" : "ns"
		 : is_rate(a, f)      ? "count/s"
				      : "count");
	json_number(j, "before", f->before);
	json_number(j, "after", f->after);
	json_number(j, "difference", f->difference);
	json_number(j, "low", f->low);
	json_number(j, "high", f->high);
	json_number(j, "least", f->least);
	json_bool(j, "tested", f->tested);
	json_number(j, "chance", f->chance);
	json_str(j, "verdict", runs_verdict_name(f->verdict));
	json_open(j, "runs", '[');
	for (size_t i = 0; i < a->runs->v.n; i++)
		json_number(j, NULL, f->value[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void json_gate(struct json *j, const struct runs_answer *a, const struct gate *g)
{
	struct buf why = {0};
	gate_why(&why, a, g);
	json_open(j, NULL, '{');
	json_str(j, "condition", g->text);
	json_str(j, "answer", gate_answer_name(g->answer));
	json_text(j, "why", why.v, why.n);
	if (g->figure == UINT32_MAX)
		json_null(j, "figure");
	else
		json_u64(j, "figure", g->figure);
	json_close(j, '}');
	buf_release(&why);
}

void runs_json(struct buf *b, const struct runs_answer *a)
{
	static const char *const orders[] = {NULL, "after later", "swapped", "by turns",
					     "apart"};
	const struct runs *r = a->runs;
	struct json j = {.b = b};
	struct buf notes = {0};
	put_notes(&notes, a);
	json_open(&j, NULL, '{');
	json_u64(&j, "schema", 1);
	json_str(&j, "per", a->per_recording ? "recording" : "second");
	json_str(&j, "order", orders[r->order]);
	json_str(&j, "clock", a->clock);
	json_runs(&j, r, BEFORE, "before");
	json_runs(&j, r, AFTER, "after");
	json_number(&j, "least_percent", 100 * r->least_share);
	json_u64(&j, "tested", r->tested);
	json_open(&j, "notes", '[');
	for (const char *s = buf_cstr(&notes); *s; s += strcspn(s, "\n"), s += *s == '\n')
		json_text(&j, NULL, s, strcspn(s, "\n"));
	json_close(&j, ']');
	json_open(&j, "gates", '[');
	for (size_t i = 0; i < a->ngates; i++)
		json_gate(&j, a, &a->gates[i]);
	json_close(&j, ']');
	json_open(&j, "figures", '[');
	for (size_t i = 0; i < r->figures.n; i++)
		json_figure(&j, a, &r->figures.v[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_char(b, '\n');
	buf_release(&notes);
}

/* --- JUnit ------------------------------------------------------------------------------ */

static size_t answers(const struct runs_answer *a, unsigned answer)
{
	size_t n = 0;
	for (size_t i = 0; i < a->ngates; i++)
		n += a->gates[i].answer == answer;
	return n;
}

void runs_junit(struct buf *b, const struct runs_answer *a)
{
	struct buf why = {0};
	buf_fmt(b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"<testsuite name=\"perfkit compare\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"0\" skipped=\"%zu\">\n",
		a->ngates, answers(a, GATE_YES), answers(a, GATE_CANNOT_SAY));
	for (size_t i = 0; i < a->ngates; i++) {
		const struct gate *g = &a->gates[i];
		buf_clear(&why);
		gate_why(&why, a, g);
		buf_str(b, "<testcase classname=\"perfkit\" name=\"");
		escape_xml_str(b, g->text);
		buf_str(b, "\">");
		if (g->answer != GATE_NO) {
			buf_fmt(b, "<%s message=\"",
				g->answer == GATE_YES ? "failure" : "skipped");
			escape_xml(b, why.v, why.n);
			buf_str(b, "\"/>");
		}
		buf_str(b, "</testcase>\n");
	}
	buf_str(b, "</testsuite>\n</testsuites>\n");
	buf_release(&why);
}
