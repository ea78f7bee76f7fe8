#include "render/text/source_table.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "render/text/escape.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 2, /* lines shown around one with weight */
	AROUND = 4,  /* instructions, the same */
	TAB = 4,     /* columns of a tab in source text, at most */
	LANES = 5,   /* arrows beside each other, at most */
};

/* --- cells ------------------------------------------------------------------------------ */

static double share_of(uint64_t w, uint64_t all)
{
	return all ? 100.0 * (double)w / (double)all : 0;
}

/* A share of everything; blank for nothing. */
static void put_share(struct table *t, uint64_t w, uint64_t all)
{
	if (w)
		buf_fmt(&t->text, "%.1f %%", share_of(w, all));
	table_next(t);
}

/* --- counters --------------------------------------------------------------------------- */

/* Instructions per cycle of what has this own weight and these counts; -1: not known. */
static double source_ipc(const struct source_counters *c, uint64_t own, const uint64_t *counts)
{
	if (c->cycles == SOURCE_NO_COUNTER || c->instructions == SOURCE_NO_COUNTER)
		return -1;
	uint64_t cycles = c->cycles < 0 ? own : counts[c->cycles];
	uint64_t done = c->instructions < 0 ? own : counts[c->instructions];
	return cycles ? (double)done / (double)cycles : -1;
}

/* Is it a column of its own? IPC has the others. */
static int has_column(const struct source_counters *c, size_t k)
{
	int in_ipc = (int)k == c->cycles || (int)k == c->instructions;
	return !in_ipc || c->cycles == SOURCE_NO_COUNTER ||
	       c->instructions == SOURCE_NO_COUNTER;
}

/* Add the columns of counters after n; returns how many there are then. */
static size_t add_counter_columns(struct table_column *v, size_t n,
				  const struct source_counters *c)
{
	if (c->n && c->cycles != SOURCE_NO_COUNTER && c->instructions != SOURCE_NO_COUNTER)
		v[n++] = (struct table_column){"IPC", .right = 1};
	for (size_t k = 0; k < c->n; k++)
		if (has_column(c, k))
			v[n++] = (struct table_column){c->names[k], .right = 1,
						       .drop = (unsigned)(1 + c->n - k)};
	return n;
}

/* The cells of these columns; `counts` NULL: blank. */
static void put_counters(struct table *t, const struct source_style *style, uint64_t own,
			 const uint64_t *counts)
{
	const struct source_counters *c = &style->counters;
	double ipc = counts ? source_ipc(c, own, counts) : -1;
	if (ipc >= 0)
		buf_fmt(&t->text, "%.2f", ipc);
	if (c->n && c->cycles != SOURCE_NO_COUNTER && c->instructions != SOURCE_NO_COUNTER)
		table_next(t);
	for (size_t k = 0; k < c->n; k++)
		if (has_column(c, k))
			put_share(t, counts ? counts[k] : 0, style->counted[k]);
}

static const char *name_of(const struct source_sums *s, uint32_t function)
{
	return strtab_get(&s->names, s->functions.v[function].name);
}

/* "a.c:12", or "" if that is not known. */
static void put_place(struct buf *b, const struct source_sums *s, uint32_t file, uint32_t line)
{
	const char *path = path_base(strtab_get(&s->stacks->strings, file));
	escape_visible(b, path, strlen(path));
	if (file && line)
		buf_fmt(b, ":%u", line);
}

/* --- colour ----------------------------------------------------------------------------- */

/* Of a line with this share of everything, by what it costs itself. */
static const char *colour_of(double percent)
{
	return percent >= 5 ? "\033[31m" : percent >= 0.5 ? "\033[33m" : NULL;
}

/* Append the written table, whose head is its first line, in colours: percents[i] is of line
 * i + 1. */
static void paint(struct buf *out, const struct buf *table, const double *percents, size_t n)
{
	const char *p = table->v, *end = table->v + table->n;
	for (size_t i = 0; p < end; i++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
		const char *c = !i ? "\033[1m" : i <= n ? colour_of(percents[i - 1]) : NULL;
		buf_str(out, c ? c : "");
		buf_add(out, p, len);
		buf_str(out, c ? "\033[0m\n" : "\n");
		p += len + 1;
	}
}

typedef VEC(double) percents_vec;

static void finish(struct buf *out, struct table *t, percents_vec *heat,
		   const struct source_style *style)
{
	struct buf plain = {0};
	table_write(&plain, t, style->width);
	if (buf_failed(&plain))
		out->failed = ERR_NOMEM;
	else if (style->colour)
		paint(out, &plain, heat->v, heat->n);
	else
		buf_add(out, plain.v, plain.n);
	buf_release(&plain);
	table_release(t);
	vec_release(heat);
}

static void note_heat(struct buf *out, percents_vec *heat, uint64_t w, uint64_t all)
{
	if (vec_push(heat, share_of(w, all)))
		out->failed = ERR_NOMEM;
}

/* --- functions -------------------------------------------------------------------------- */

/* Each function's line of the largest own weight; NO_ID: none has a number. ERR_NOMEM: NULL. */
static uint32_t *hottest_lines(const struct source_sums *s)
{
	uint32_t *best = mem_alloc((s->functions.n + 1) * sizeof(*best));
	for (size_t i = 0; best && i < s->functions.n; i++)
		best[i] = NO_ID;
	for (uint32_t i = 0; best && i < s->lines.n; i++) {
		const struct source_line *l = &s->lines.v[i];
		uint32_t *b = &best[l->function];
		uint64_t own = l->w.self + l->w.inlined;
		const struct source_line *x = *b == NO_ID ? NULL : &s->lines.v[*b];
		uint64_t most = x ? x->w.self + x->w.inlined : 0;
		if (l->parent == NO_ID && l->line && l->file &&
		    (own > most || (x && own == most && l->line < x->line)) && own)
			*b = i;
	}
	return best;
}

void source_table_functions(struct buf *out, const struct source_sums *s, const uint32_t *picks,
			    size_t n, size_t shown, const struct source_style *style)
{
	static const struct table_column names[] = {{"function", .cut = TABLE_CUT_KEY},
						    {"module", .cut = TABLE_CUT, .drop = 1},
						    {"hottest line"}};
	struct table_column columns[6 + SOURCE_COUNTERS] = {{"self", .right = 1},
							    {"total", .right = 1}};
	size_t ncolumns = add_counter_columns(columns, 2, &style->counters);
	memcpy(columns + ncolumns, names, sizeof(names));
	struct table t = {columns, ncolumns + 3};
	percents_vec heat = {0};
	uint32_t *best = hottest_lines(s);
	for (size_t i = 0; best && i < n && i < shown; i++) {
		const struct source_function *f = &s->functions.v[picks[i]];
		uint32_t hot = best[picks[i]];
		put_share(&t, f->w.self, style->all[AFTER]);
		put_share(&t, f->w.total, style->all[AFTER]);
		put_counters(&t, style, f->w.self + f->w.inlined, f->counts);
		const char *name = name_of(s, picks[i]);
		escape_visible(&t.text, name, strlen(name));
		table_next(&t);
		const char *module = strtab_get(&s->names, f->module);
		escape_visible(&t.text, module, strlen(module));
		table_next(&t);
		if (hot != NO_ID)
			put_place(&t.text, s, s->lines.v[hot].file, s->lines.v[hot].line);
		table_next(&t);
		note_heat(out, &heat, f->w.self, style->all[AFTER]);
	}
	out->failed = best ? out->failed : ERR_NOMEM;
	mem_free(best);
	finish(out, &t, &heat, style);
	if (shown < n) {
		units_plural(out, n - shown, "more function", "more functions");
		buf_str(out, " (show all with --rows 0)\n");
	}
}

/* --- lines ------------------------------------------------------------------------------ */

struct lines {
	const struct source_sums *s;
	const struct source_style *style;
	const struct source_text *text;
	struct table t;
	struct buf *out;
	percents_vec heat;
	int inlined; /* a line has calls inlined */
	struct table_column columns[6 + SOURCE_COUNTERS];
};

static void put_weights(struct lines *x, const struct source_row *r)
{
	static const struct source_row nothing;
	const struct source_style *style = x->style;
	r = r ? r : &nothing;
	if (style->two) {
		put_share(&x->t, r->w[BEFORE].total, style->all[BEFORE]);
		put_share(&x->t, r->w[AFTER].total, style->all[AFTER]);
	} else {
		put_share(&x->t, r->w[AFTER].self, style->all[AFTER]);
		if (x->inlined)
			put_share(&x->t, r->w[AFTER].inlined, style->all[AFTER]);
		put_share(&x->t, r->w[AFTER].total, style->all[AFTER]);
	}
	uint64_t own = style->two ? r->w[AFTER].total : r->w[AFTER].self + r->w[AFTER].inlined;
	put_counters(&x->t, style, own,
		     r != &nothing && r->of < x->s->lines.n ? x->s->lines.v[r->of].counts
							    : NULL);
	note_heat(x->out, &x->heat, own, style->all[AFTER]);
}

/* A line of source, tabs as blanks. */
static void put_source(struct lines *x, const char *p, size_t n)
{
	struct buf *b = &x->t.text;
	for (size_t i = 0, from = b->n; i < n;) {
		const char *tab = memchr(p + i, '\t', n - i);
		size_t k = tab ? (size_t)(tab - p) - i : n - i;
		escape_visible(b, p + i, k);
		i += k;
		if (i < n) {
			size_t at = b->n > from ? escape_chars(b->v + from, b->n - from) : 0;
			buf_add(b, "    ", TAB - at % TAB);
			i++;
		}
	}
	table_next(&x->t);
}

static void put_line(struct lines *x, const struct source_row *r, uint32_t line)
{
	const char *p = "";
	size_t n = 0;
	int has = x->text && (!r || !r->gone) && source_text_line(x->text, line, &p, &n);
	put_weights(x, r);
	if (line)
		buf_fmt(&x->t.text, "%u", line);
	table_next(&x->t);
	if (r && r->gone)
		put_source(x, "(only before)", 13);
	else if (!line)
		put_source(x, "(no line is known)", 18);
	else
		put_source(x, has ? p : "", has ? n : 0);
}

/* An inlined call below its line: "> name a.c:12". */
static void put_inlined(struct lines *x, const struct source_row *r)
{
	struct buf *b = &x->t.text;
	const char *name = name_of(x->s, r->function);
	put_weights(x, r);
	table_next(&x->t);
	for (uint32_t i = 1; i < r->depth; i++)
		buf_str(b, "  ");
	buf_str(b, "> ");
	escape_visible(b, name, strlen(name));
	buf_char(b, ' ');
	put_place(b, x->s, r->file, r->line);
	table_next(&x->t);
}

static void put_gap(struct lines *x)
{
	put_weights(x, NULL);
	buf_str(&x->t.text, "...");
	table_next(&x->t);
	table_next(&x->t);
}

/* The lines between the one shown last and the next one with weight (0: none) that are near one
 * of them. */
static void put_between(struct lines *x, uint32_t last, uint32_t next)
{
	uint32_t n = x->text ? (uint32_t)x->text->lines.n : 0;
	if (!n || (next && last && next <= last + 1))
		return;
	uint32_t end = next ? next : n + 1;
	uint32_t after = last && last < end && end - last > CONTEXT ? last + CONTEXT
			 : last                                     ? end - 1
								    : 0;
	uint32_t before = !next ? end : next > CONTEXT ? next - CONTEXT : 1;
	if (last && after + 1 >= before)
		after = end - 1;
	for (uint32_t i = last + 1; last && i <= after && i <= n; i++)
		put_line(x, NULL, i);
	if (next && (!last || after + 1 < end)) {
		if (last)
			put_gap(x);
		for (uint32_t i = before; i < end && i <= n; i++)
			put_line(x, NULL, i);
	}
}

static void choose_columns(struct lines *x, const struct source_rows *rows,
			   const struct source_part *part)
{
	for (uint32_t i = 0; i < part->n; i++)
		x->inlined |= !x->style->two && rows->v.v[part->first + i].w[AFTER].inlined;
	size_t n = 0;
	x->columns[n++] = (struct table_column){x->style->two ? "before" : "self", .right = 1};
	if (x->inlined)
		x->columns[n++] = (struct table_column){"inlined", .right = 1};
	x->columns[n++] = (struct table_column){x->style->two ? "after" : "total", .right = 1};
	n = add_counter_columns(x->columns, n, &x->style->counters);
	x->columns[n++] = (struct table_column){"line", .right = 1};
	x->columns[n++] = (struct table_column){"source"};
	x->t.columns = x->columns;
	x->t.ncolumns = n;
	x->t.code = 1;
}

void source_table_lines(struct buf *out, const struct source_sums *s,
			const struct source_rows *rows, const struct source_part *part,
			const struct source_text *text, const struct source_style *style)
{
	struct lines x = {.s = s,
			  .style = style,
			  .text = text && text->verdict != SOURCE_ABSENT ? text : NULL,
			  .out = out};
	uint32_t last = 0;
	choose_columns(&x, rows, part);
	for (uint32_t i = 0; i < part->n; i++) {
		const struct source_row *r = &rows->v.v[part->first + i];
		if (r->depth) {
			put_inlined(&x, r);
			continue;
		}
		if (r->line && !r->gone)
			put_between(&x, last, r->line);
		put_line(&x, r, r->line);
		last = r->line && !r->gone ? r->line : last;
	}
	if (last)
		put_between(&x, last, 0);
	finish(out, &x.t, &x.heat, style);
}

/* --- copies ----------------------------------------------------------------------------- */

/* Is it anything but one symbol? */
static int has_copies(const struct source_sums *s, uint32_t function)
{
	size_t n = 0;
	int inlined = 0;
	for (size_t i = 0; i < s->places.n; i++)
		if (s->places.v[i].function == function) {
			n++;
			inlined |= s->places.v[i].caller != NO_ID;
		}
	return n > 1 || inlined;
}

void source_table_places(struct buf *out, const struct source_sums *s, uint32_t function,
			 const struct source_style *style)
{
	static const struct table_column columns[] = {
		{"self", .right = 1}, {"total", .right = 1}, {"copy"}};
	struct table t = {columns, 3};
	percents_vec heat = {0};
	if (!has_copies(s, function))
		return;
	for (size_t i = 0; i < s->places.n; i++) {
		const struct source_place *p = &s->places.v[i];
		if (p->function != function)
			continue;
		put_share(&t, p->w.self, style->all[AFTER]);
		put_share(&t, p->w.total, style->all[AFTER]);
		if (p->caller == NO_ID) {
			if (p->name)
				buf_fmt(&t.text, "at 0x%llx ", (unsigned long long)p->addr);
			buf_str(&t.text, p->name ? "of " : "in ");
			const char *dso = path_base(strtab_get(&s->stacks->strings, p->dso));
			escape_visible(&t.text, dso, strlen(dso));
		} else {
			const struct source_line *l = &s->lines.v[p->caller];
			const char *name = name_of(s, l->function);
			buf_str(&t.text, "inlined into ");
			escape_visible(&t.text, name, strlen(name));
			buf_str(&t.text, l->file ? ", " : "");
			put_place(&t.text, s, l->file, l->line);
		}
		table_next(&t);
		note_heat(out, &heat, p->w.self + p->w.inlined, style->all[AFTER]);
	}
	buf_char(out, '\n');
	finish(out, &t, &heat, style);
}

/* --- instructions ----------------------------------------------------------------------- */

/* A jump between two rows that are shown, and the lane its arrow takes. */
struct arrow {
	size_t from, to; /* rows */
	unsigned lane;
};

typedef VEC(struct arrow) arrows_vec;

int code_row_at(const struct code_rows *c, uint64_t va, size_t *row)
{
	size_t lo = 0, hi = c->v.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->v.v[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	*row = lo;
	return lo < c->v.n && c->v.v[lo].va == va;
}

static size_t low(const struct arrow *a)
{
	return a->from < a->to ? a->from : a->to;
}

static size_t high(const struct arrow *a)
{
	return a->from < a->to ? a->to : a->from;
}

/* Give arrow `i` the first lane that those before it leave free; LANES: none. */
static void choose_lane(arrows_vec *v, size_t i)
{
	unsigned taken = 0;
	for (size_t k = 0; k < i; k++)
		if (low(&v->v[k]) <= high(&v->v[i]) && low(&v->v[i]) <= high(&v->v[k]) &&
		    v->v[k].to != v->v[i].to && v->v[k].lane < LANES)
			taken |= 1u << v->v[k].lane;
	unsigned lane = 0;
	while (lane < LANES && taken >> lane & 1)
		lane++;
	v->v[i].lane = lane;
}

static int shorter(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;
	size_t m = high(x) - low(x), n = high(y) - low(y);
	if (m != n)
		return m < n ? -1 : 1;
	return low(x) < low(y) ? -1 : low(x) > low(y);
}

/* The arrows of all jumps between rows that are shown, in *lanes lanes; the short ones are
 * innermost. */
static int make_arrows(const struct code_rows *c, const uint8_t *shown, arrows_vec *out,
		       unsigned *lanes)
{
	*lanes = 0;
	for (size_t i = 0; i < c->v.n; i++) {
		struct arrow a = {.from = i};
		if (shown[i] && c->v.v[i].target && code_row_at(c, c->v.v[i].target, &a.to) &&
		    shown[a.to] && a.to != i && vec_push(out, a))
			return ERR_NOMEM;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), shorter);
	for (size_t i = 0; i < out->n; i++) {
		choose_lane(out, i);
		if (out->v[i].lane < LANES && out->v[i].lane + 1 > *lanes)
			*lanes = out->v[i].lane + 1;
	}
	return 0;
}

/* The part of row i left of its instruction: one lane is two characters, the innermost last. */
static void put_lanes(struct buf *b, const arrows_vec *v, unsigned lanes, size_t i)
{
	enum { NONE, PASSES, BEGINS, ENDS };
	for (unsigned col = 0; col < lanes; col++) {
		unsigned lane = lanes - 1 - col, what = NONE, across = NONE;
		int up = 0;
		for (size_t k = 0; k < v->n; k++) {
			const struct arrow *a = &v->v[k];
			int touches = a->from == i || a->to == i;
			if (a->lane >= LANES)
				continue;
			if (touches && a->lane > lane && (a->to == i || across == NONE))
				across = a->to == i ? ENDS : BEGINS;
			if (a->lane != lane || i < low(a) || i > high(a))
				continue;
			if (touches) {
				what = a->to == i ? ENDS : what == ENDS ? ENDS : BEGINS;
				up |= i == high(a) ? 1 : 2;
			} else if (what == NONE) {
				what = PASSES;
			}
		}
		int last = col + 1 == lanes;
		const char *corner = up == 1 ? "└" : up == 2 ? "┌" : "├";
		if (what == BEGINS || what == ENDS) {
			buf_str(b, corner);
			buf_str(b, last && what == ENDS ? ">" : "─");
		} else if (across != NONE) {
			buf_str(b, what == PASSES ? "┼" : "─");
			buf_str(b, last && across == ENDS ? ">" : "─");
		} else {
			buf_str(b, what == PASSES ? "│ " : "  ");
		}
	}
}

static void show_near(const struct code_rows *c, uint8_t *shown)
{
	for (size_t i = 0; i < c->v.n; i++) {
		if (!c->v.v[i].self && !c->v.v[i].total && !c->v.v[i].taken)
			continue;
		size_t from = i > AROUND ? i - AROUND : 0;
		for (size_t k = from; k < c->v.n && k <= i + AROUND; k++)
			shown[k] = 1;
	}
}

/* How often a jump was taken, how many of these were not predicted, and the cycles from the jump
 * before it, on average. */
static void put_branch(struct table *t, const struct code_rows *c, const struct code_row *r)
{
	if (!c->has_branches)
		return;
	if (r->taken)
		units_count(&t->text, r->taken);
	table_next(t);
	put_share(t, r->mispredicted, r->taken);
	if (c->has_cycles && r->timed)
		buf_fmt(&t->text, "%.1f", (double)r->cycles / (double)r->timed);
	if (c->has_cycles)
		table_next(t);
}

static void put_code(struct lines *x, const struct code_rows *c, size_t i,
		     const arrows_vec *arrows, unsigned lanes, uint32_t *line)
{
	const struct code_row *r = &c->v.v[i];
	put_share(&x->t, r->self, x->style->all[AFTER]);
	put_share(&x->t, r->total, x->style->all[AFTER]);
	if (r->line && r->line != *line)
		buf_fmt(&x->t.text, "%u", r->line);
	*line = r->line;
	table_next(&x->t);
	put_branch(&x->t, c, r);
	buf_fmt(&x->t.text, "%llx", (unsigned long long)r->va);
	table_next(&x->t);
	put_lanes(&x->t.text, arrows, lanes, i);
	const char *text = strtab_get(&c->texts, r->text);
	escape_visible(&x->t.text, text, strlen(text));
	table_next(&x->t);
	note_heat(x->out, &x->heat, r->self, x->style->all[AFTER]);
}

void source_table_code(struct buf *out, const struct code_rows *c,
		       const struct source_style *style)
{
	struct table_column columns[8] = {
		{"self", .right = 1}, {"total", .right = 1}, {"line", .right = 1}};
	size_t n = 3;
	if (c->has_branches) {
		columns[n++] = (struct table_column){"taken", .right = 1};
		columns[n++] = (struct table_column){"missed", .right = 1};
	}
	if (c->has_cycles)
		columns[n++] = (struct table_column){"cycles", .right = 1};
	columns[n++] = (struct table_column){"address", .right = 1};
	columns[n++] = (struct table_column){"instruction"};
	struct lines x = {.style = style, .t = {columns, n, .code = 1}, .out = out};
	uint8_t *shown = mem_zalloc(c->v.n + 1, 1);
	arrows_vec arrows = {0};
	uint32_t line = 0;
	if (!shown) {
		out->failed = ERR_NOMEM;
		return;
	}
	show_near(c, shown);
	unsigned lanes;
	if (make_arrows(c, shown, &arrows, &lanes))
		out->failed = ERR_NOMEM;
	for (size_t i = 0; i < c->v.n; i++) {
		if (shown[i]) {
			put_code(&x, c, i, &arrows, lanes, &line);
		} else if (i && shown[i - 1]) {
			for (size_t k = 0; k + 1 < n; k++)
				table_next(&x.t);
			buf_str(&x.t.text, "...");
			table_next(&x.t);
			note_heat(out, &x.heat, 0, 1);
		}
	}
	finish(out, &x.t, &x.heat, style);
	vec_release(&arrows);
	mem_free(shown);
}

/* --- runs ------------------------------------------------------------------------------- */

static void put_run(struct table *t, const struct code_rows *c, const struct code_run *r,
		    uint64_t all)
{
	const struct code_row *first = &c->v.v[r->first];
	uint32_t low = 0, high = 0;
	put_share(t, c->has_cycles ? r->cycles : r->times, all);
	table_count(t, r->times);
	if (c->has_cycles && r->timed)
		buf_fmt(&t->text, "%.1f", (double)r->cycles / (double)r->timed);
	if (c->has_cycles)
		table_next(t);
	table_count(t, r->last - r->first + 1);
	buf_fmt(&t->text, "%llx-%llx", (unsigned long long)first->va,
		(unsigned long long)c->v.v[r->last].va);
	table_next(t);
	for (size_t i = r->first; i <= r->last; i++) {
		uint32_t line = c->v.v[i].line;
		low = line && (!low || line < low) ? line : low;
		high = line > high ? line : high;
	}
	if (low)
		buf_fmt(&t->text, low < high ? "%u-%u" : "%u", low, high);
	table_next(t);
}

void source_table_runs(struct buf *out, const struct code_rows *c,
		       const struct source_style *style)
{
	enum { ROWS = 10 };
	struct table_column columns[6] = {{"time", .right = 1}, {"times", .right = 1}};
	size_t n = 2;
	uint64_t all = 0;
	for (size_t i = 0; i < c->runs.n; i++)
		all += c->has_cycles ? c->runs.v[i].cycles : c->runs.v[i].times;
	if (!all)
		return;
	if (c->has_cycles)
		columns[n++] = (struct table_column){"cycles", .right = 1};
	else
		columns[0].head = "share";
	columns[n++] = (struct table_column){"instructions", .right = 1};
	columns[n++] = (struct table_column){"address"};
	columns[n++] = (struct table_column){"lines"};
	struct table t = {columns, n};
	buf_str(out, "\nhot paths: what ran between two taken jumps\n");
	for (size_t i = 0; i < c->runs.n && i < ROWS; i++)
		put_run(&t, c, &c->runs.v[i], all);
	table_write(out, &t, style->width);
	table_release(&t);
}
