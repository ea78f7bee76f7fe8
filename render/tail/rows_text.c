#include "render/tail/rows_text.h"
#include "base/text/name_id.h"
#include "libtime/sched/timeline_names.h"
#include "render/text/csv.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/tail/site_words.h"
#include "render/text/table.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- which rows ----------------------------------------------------------------------- */

/* Rows of one window: rows->order[from ..]. */
struct stretch {
	size_t from, shown, n;
};

/* The stretch that begins at `from`, and how many rows of it to show. */
static struct stretch stretch_at(const struct rows *r, size_t from, uint64_t top)
{
	struct stretch s = {.from = from};
	const uint32_t *v = r->order.v + from;
	while (from + s.n < r->order.n && r->keys.v[v[s.n]].window == r->keys.v[v[0]].window)
		s.n++;
	s.shown = s.n;
	while (top && s.shown && rows_is_empty(r, v[s.shown - 1]))
		s.shown--;
	s.shown = top && s.shown > top ? (size_t)top : s.shown;
	return s;
}

typedef void put_row(void *to, const struct rows *r, uint32_t row);

/* Call `put` for the rows to show; returns how many are omitted. */
static size_t each_row(const struct rows *r, uint64_t top, put_row *put, void *to)
{
	size_t left = 0;
	for (size_t i = 0; i < r->order.n;) {
		struct stretch s = stretch_at(r, i, top);
		for (size_t k = 0; k < s.shown; k++)
			put(to, r, r->order.v[s.from + k]);
		left += s.n - s.shown;
		i += s.n;
	}
	return left;
}

/* --- text ----------------------------------------------------------------------------- */

struct text {
	struct table t;
	const struct timeline *tl;
	uint8_t shows[TABLE_KIND_COLUMNS + ROW_COUNTERS + 4]; /* by index of rows.columns */
};

static int is_any(const struct rows *r, enum column c)
{
	int any = 0;
	for (size_t i = 0; i < r->order.n && !any; i++)
		any = rows_get(r, r->order.v[i], c) != 0;
	return any;
}

static int is_in_text(const struct rows *r, const struct table_column_of *c)
{
	return c->text == TEXT_ALWAYS || (c->text == TEXT_IF_ANY && is_any(r, c->column));
}

static void put_actor(struct buf *b, const struct timeline *tl, uint64_t v)
{
	const char *name = v >> 32 ? actor_name(tl, v) : "";
	if (!(v >> 32))
		describe_thread(b, tl, (uint32_t)v, tl->threads.v[v].comm);
	else if (v & ACTOR_NAMED)
		escape_visible(b, name, strlen(name));
	else
		buf_fmt(b, "[%s]", *name ? name : "unknown");
}

static void put_share(struct buf *b, uint64_t millipercent)
{
	uint64_t tenths = (millipercent + 50) / 100;
	buf_fmt(b, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

static void put_change(struct buf *b, int64_t ns)
{
	if (ns)
		buf_char(b, ns < 0 ? '-' : '+');
	units_duration(b, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
}

static void put_reason(struct buf *b, const struct timeline *tl, const struct rows *r,
		       uint32_t row)
{
	const struct tl_site *s = timeline_site(tl, (uint32_t)rows_get(r, row, COL_SITE));
	buf_str(b, site_reason_name(s->reason));
	buf_str(b, s->loop ? ", a loop?" : "");
}

static void put_duration(struct buf *b, const struct rows *r, uint32_t row, enum column c,
			 uint64_t ns)
{
	uint64_t open = rows_get(r, row, COL_MAX_OPEN);
	if (c == COL_MAX && open != CELL_NONE && open)
		buf_str(b, "\xe2\x89\xa5 ");
	units_duration(b, ns);
}

/* Append the sign before a counter: at least, or about. */
static void put_sure(struct buf *b, const struct rows *r, uint32_t row)
{
	buf_str(b, rows_get(r, row, COL_BOUNDED) ? "\xe2\x89\xa5 " : "");
	buf_str(b, rows_get(r, row, COL_SCALED) ? "~" : "");
}

static void put_cell(struct buf *b, const struct timeline *tl, const struct rows *r,
		     uint32_t row, enum column c)
{
	uint64_t v = rows_get(r, row, c);
	const char *text;
	if (v == CELL_NONE) {
		buf_char(b, '-');
		return;
	}
	if (c >= COL_COUNTER)
		put_sure(b, r, row);
	switch (rows_info(r, c)->cell) {
	case CELL_THREAD:
	case CELL_ACTOR:
		put_actor(b, tl, v);
		return;
	case CELL_SITE:
		describe_site(b, tl, (uint32_t)v);
		return;
	case CELL_REASON:
		put_reason(b, tl, r, row);
		return;
	case CELL_ADDRESS:
		buf_fmt(b, "0x%" PRIx64, v);
		return;
	case CELL_COUNT:
		units_count(b, v);
		return;
	case CELL_NS:
		put_duration(b, r, row, c, v);
		return;
	case CELL_CHANGE:
		put_change(b, (int64_t)v);
		return;
	case CELL_SHARE:
		put_share(b, v);
		return;
	case CELL_TIME:
		units_seconds(b, v);
		return;
	default:
		text = rows_text(r, tl, row, c);
		if (c == COL_LOCK && !*text) { /* without a variable */
			put_cell(b, tl, r, row, COL_ADDRESS);
			return;
		}
		escape_visible(b, text, strlen(text));
	}
}

static void text_row(void *to, const struct rows *r, uint32_t row)
{
	struct text *x = to;
	for (size_t i = 0; i < r->ncolumns; i++) {
		if (!x->shows[i])
			continue;
		put_cell(&x->t.text, x->tl, r, row, r->columns[i].column);
		table_next(&x->t);
	}
}

static int is_right(enum cell cell)
{
	return cell >= CELL_COUNT;
}

/* Names may be long; a row's key is kept whole if there is room. */
static enum table_cut cut_of(enum cell cell, unsigned column, int first)
{
	if (column == COL_FUNCTION)
		return TABLE_CUT_NAME;
	if (cell == CELL_TEXT || cell == CELL_SITE || cell == CELL_NAME)
		return first && cell == CELL_SITE ? TABLE_CUT_KEY : TABLE_CUT;
	return (cell == CELL_THREAD || cell == CELL_ACTOR) && !first ? TABLE_CUT_ID
								     : TABLE_WHOLE;
}

void rows_table(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
		size_t width)
{
	struct table_column columns[TABLE_COLUMNS];
	struct text x = {.t = {.columns = columns}, .tl = tl};
	for (size_t i = 0; i < rows->ncolumns; i++) {
		const struct table_column_of *c = &rows->columns[i];
		const struct column_info *info = rows_info(rows, c->column);
		x.shows[i] = is_in_text(rows, c) != 0;
		if (x.shows[i])
			columns[x.t.ncolumns++] = (struct table_column){
				.head = info->head,
				.right = is_right(info->cell),
				.cut = cut_of(info->cell, c->column, i == 0),
				.drop = c->drop};
	}
	size_t left = each_row(rows, top, text_row, &x);
	table_write(b, &x.t, width);
	table_release(&x.t);
	if (left) {
		char one[32], many[32];
		snprintf(one, sizeof(one), "more %s", rows->kind->one);
		snprintf(many, sizeof(many), "more %s", rows->kind->many);
		units_plural(b, left, one, many);
		buf_str(b, " (show all with --top 0)\n");
	}
}

/* --- CSV ------------------------------------------------------------------------------ */

/* Texts as in the data: a site's words, a thread's name. */
static void data_text(struct buf *out, const struct timeline *tl, const struct rows *r,
		      uint32_t row, enum column c)
{
	enum cell cell = rows_info(r, c)->cell;
	buf_clear(out);
	if (cell == CELL_SITE || cell == CELL_REASON || cell == CELL_ADDRESS)
		put_cell(out, tl, r, row, c);
	else
		buf_str(out, rows_text(r, tl, row, c));
}

/* "0.125" of 125 thousandths. */
static void put_decimal(struct buf *b, uint64_t thousandths)
{
	buf_fmt(b, "%" PRIu64 ".%03" PRIu64, thousandths / 1000, thousandths % 1000);
}

static int is_thread(enum cell cell)
{
	return cell == CELL_THREAD || cell == CELL_ACTOR;
}

/* The thread of a cell, or NULL. */
static const struct tl_thread *thread_in(const struct timeline *tl, uint64_t v)
{
	return v == CELL_NONE || v >> 32 ? NULL : &tl->threads.v[v];
}

/* The field "comm" for the table's own thread, "holder_comm" for another. */
static void thread_field(struct buf *out, const struct rows *r, enum column c, const char *part)
{
	buf_clear(out);
	if (c != COL_THREAD)
		buf_fmt(out, "%s_", rows_info(r, c)->name);
	buf_str(out, part);
}

struct csv {
	struct buf *b, text;
	const struct timeline *tl;
};

static void csv_number(struct csv *x, const struct rows *r, uint32_t row, enum column c)
{
	uint64_t v = rows_get(r, row, c);
	if (v == CELL_NONE)
		return;
	if (rows_info(r, c)->cell == CELL_SHARE)
		put_decimal(x->b, v);
	else if (rows_info(r, c)->cell == CELL_CHANGE)
		buf_fmt(x->b, "%" PRId64, (int64_t)v);
	else
		buf_fmt(x->b, "%" PRIu64, v);
}

static void csv_cell(struct csv *x, const struct rows *r, uint32_t row, enum column c)
{
	uint64_t v = rows_get(r, row, c);
	enum cell cell = rows_info(r, c)->cell;
	if (cell >= CELL_COUNT) {
		csv_number(x, r, row, c);
		return;
	}
	if (v != CELL_NONE) {
		data_text(&x->text, x->tl, r, row, c);
		csv_field(x->b, buf_cstr(&x->text), x->text.n);
	}
	if (!is_thread(cell))
		return;
	const struct tl_thread *t = thread_in(x->tl, v);
	if (t)
		buf_fmt(x->b, ",%d,%d", t->pid, t->tid);
	else
		buf_str(x->b, ",,");
}

static void csv_row(void *to, const struct rows *r, uint32_t row)
{
	struct csv *x = to;
	for (size_t i = 0; i < r->ncolumns; i++) {
		buf_str(x->b, i ? "," : "");
		csv_cell(x, r, row, r->columns[i].column);
	}
	buf_char(x->b, '\n');
}

void rows_csv(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top)
{
	struct csv x = {.b = b, .tl = tl};
	for (size_t i = 0; i < rows->ncolumns; i++) {
		enum column c = rows->columns[i].column;
		buf_str(b, i ? "," : "");
		if (!is_thread(rows_info(rows, c)->cell)) {
			buf_str(b, rows_info(rows, c)->name);
			continue;
		}
		static const char *const parts[] = {"comm", "pid", "tid"};
		for (int k = 0; k < 3; k++) {
			thread_field(&x.text, rows, c, parts[k]);
			buf_fmt(b, "%s%s", k ? "," : "", buf_cstr(&x.text));
		}
	}
	buf_char(b, '\n');
	each_row(rows, top, csv_row, &x);
	b->failed = buf_failed(&x.text) ? buf_failed(&x.text) : b->failed;
	buf_release(&x.text);
}

/* --- JSON ----------------------------------------------------------------------------- */

struct json_rows {
	struct json j;
	struct buf text;
	const struct timeline *tl;
};

static void json_thread(struct json_rows *x, const struct rows *r, enum column c, uint64_t v,
			const char *comm)
{
	const struct tl_thread *t = thread_in(x->tl, v);
	thread_field(&x->text, r, c, "comm");
	if (v == CELL_NONE)
		json_null(&x->j, buf_cstr(&x->text));
	else
		json_str(&x->j, buf_cstr(&x->text), comm);
	thread_field(&x->text, r, c, "pid");
	if (t)
		json_i64(&x->j, buf_cstr(&x->text), t->pid);
	else
		json_null(&x->j, buf_cstr(&x->text));
	thread_field(&x->text, r, c, "tid");
	if (t)
		json_i64(&x->j, buf_cstr(&x->text), t->tid);
	else
		json_null(&x->j, buf_cstr(&x->text));
}

static void json_number(struct json_rows *x, const struct column_info *info, uint64_t v)
{
	if (info->cell == CELL_CHANGE) {
		json_i64(&x->j, info->name, (int64_t)v);
	} else if (info->cell == CELL_TIME) {
		json_u64_text(&x->j, info->name, v);
	} else if (info->cell == CELL_SHARE) {
		buf_clear(&x->text);
		put_decimal(&x->text, v);
		json_raw(&x->j, info->name, buf_cstr(&x->text));
	} else {
		json_u64(&x->j, info->name, v);
	}
}

/* The id of a row's site, or of its function. */
static void json_id(struct json_rows *x, const struct rows *r, uint32_t row, enum column c)
{
	int site = c == COL_SITE;
	struct buf name = {0};
	if (site)
		describe_site(&name, x->tl, (uint32_t)rows_get(r, row, c));
	else
		name_of_function(&name, rows_text(r, x->tl, row, c),
				 rows_text(r, x->tl, row, COL_MODULE));
	buf_clear(&x->text);
	name_id(&x->text, site ? "site" : "function", name.v, name.n);
	json_text(&x->j, site ? "site_id" : "function_id", x->text.v, x->text.n);
	buf_release(&name);
}

static void json_row(void *to, const struct rows *r, uint32_t row)
{
	struct json_rows *x = to;
	json_open(&x->j, NULL, '{');
	for (size_t i = 0; i < r->ncolumns; i++) {
		enum column c = r->columns[i].column;
		const struct column_info *info = rows_info(r, c);
		uint64_t v = rows_get(r, row, c);
		if (is_thread(info->cell)) {
			json_thread(x, r, c, v, rows_text(r, x->tl, row, c));
		} else if (v == CELL_NONE) {
			json_null(&x->j, info->name);
		} else if (info->cell < CELL_COUNT) {
			data_text(&x->text, x->tl, r, row, c);
			json_text(&x->j, info->name, buf_cstr(&x->text), x->text.n);
		} else {
			json_number(x, info, v);
		}
		if ((c == COL_SITE || c == COL_FUNCTION) && v != CELL_NONE)
			json_id(x, r, row, c);
	}
	json_close(&x->j, '}');
}

void rows_json(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
	       const char *by)
{
	struct json_rows x = {.j = {.b = b}, .tl = tl};
	json_open(&x.j, NULL, '{');
	json_u64(&x.j, "schema", 1);
	json_str(&x.j, "by", by);
	json_open(&x.j, "rows", '[');
	each_row(rows, top, json_row, &x);
	json_close(&x.j, ']');
	json_close(&x.j, '}');
	buf_char(b, '\n');
	b->failed = buf_failed(&x.text) ? buf_failed(&x.text) : b->failed;
	buf_release(&x.text);
}
