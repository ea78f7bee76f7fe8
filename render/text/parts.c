#include "render/text/parts.h"
#include "base/vec.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <ctype.h>
#include <string.h>

enum { ROWS_LEAST = 3 }; /* of a table, before parts are left out; 1 if none fits so */

/* A line, without its end and its mark. */
struct line {
	char mark; /* TABLE_HEAD, TABLE_ROW, TABLE_FOLD, or 0 */
	const char *s;
	size_t n;
};

struct part {
	size_t from, to; /* lines */
	int chosen;
};

struct parts {
	const struct parts_style *style;
	VEC(struct line) lines;
	VEC(struct part) v;
	size_t rows; /* of each table */
};

/* What a writer has left out. */
struct left {
	size_t rows, parts;
};

/* --- reading ---------------------------------------------------------------------------- */

static int add_line(struct parts *p, const char *s, size_t n, int *inside)
{
	struct line l = {0, s, n};
	if (n && (*s == TABLE_HEAD || *s == TABLE_ROW || *s == TABLE_FOLD))
		l = (struct line){*s, s + 1, n - 1};
	if (!n) {
		*inside = 0;
		return 0;
	}
	if (!*inside && vec_push(&p->v, ((struct part){p->lines.n, p->lines.n, 1})))
		return ERR_NOMEM;
	*inside = 1;
	if (vec_push(&p->lines, l))
		return ERR_NOMEM;
	p->v.v[p->v.n - 1].to = p->lines.n;
	return 0;
}

static int read_parts(struct parts *p, const char *s, size_t n)
{
	int inside = 0, rc = 0;
	for (size_t at = 0, len; at < n && !rc; at += len + 1) {
		const char *nl = memchr(s + at, '\n', n - at);
		len = nl ? (size_t)(nl - (s + at)) : n - at;
		rc = add_line(p, s + at, len, &inside);
	}
	return rc;
}

/* The length of the cell at s, of a line that ends at `end`. */
static size_t cell_length(const char *s, const char *end)
{
	const char *p = memchr(s, TABLE_CELL, (size_t)(end - s));
	return p ? (size_t)(p - s) : (size_t)(end - s);
}

/* Rows of the table whose head is `line`. */
static size_t table_rows(const struct parts *p, const struct part *x, size_t line)
{
	size_t n = 0;
	while (line + 1 + n < x->to && p->lines.v[line + 1 + n].mark == TABLE_ROW)
		n++;
	return n;
}

/* --- tables ----------------------------------------------------------------------------- */

/* The columns of a head; their names are in `names`, which the caller has reserved. */
static size_t read_columns(const struct line *head, struct table_column *columns,
			   struct buf *names)
{
	const char *end = head->s + head->n;
	size_t n = 0;
	for (const char *s = head->s; n < TABLE_COLUMNS && s <= end;) {
		size_t len = cell_length(s, end);
		const struct table_column c = table_column_marks(s, len);
		columns[n] = c;
		columns[n].head = names->v + names->n;
		buf_add(names, s + TABLE_MARKS, len - TABLE_MARKS);
		buf_char(names, '\0');
		n++;
		s += len + 1;
	}
	return n;
}

static void put_text_row(struct table *t, const struct line *l)
{
	const char *end = l->s + l->n, *s = l->s;
	for (size_t i = 0; i < t->ncolumns; i++) {
		size_t len = s <= end ? cell_length(s, end) : 0;
		buf_add(&t->text, s, len);
		table_next(t);
		s += len + 1;
	}
}

static void put_md_cell(struct buf *out, const char *s, size_t n)
{
	buf_char(out, ' ');
	escape_markdown(out, s, n);
	buf_str(out, " |");
}

/* A line "| a | b |"; of a head also the line below it. */
static void put_md_row(struct buf *out, const struct line *l)
{
	const char *end = l->s + l->n;
	size_t marks = l->mark == TABLE_HEAD ? TABLE_MARKS : 0;
	buf_char(out, '|');
	for (const char *s = l->s; s <= end;) {
		size_t n = cell_length(s, end);
		put_md_cell(out, s + marks, n - marks);
		s += n + 1;
	}
	buf_char(out, '\n');
	if (!marks)
		return;
	buf_char(out, '|');
	for (const char *s = l->s; s <= end;) {
		size_t n = cell_length(s, end);
		buf_str(out, table_column_marks(s, n).right ? "--:|" : "---|");
		s += n + 1;
	}
	buf_char(out, '\n');
}

static void put_json_row(struct json *j, const char *key, const struct line *l)
{
	const char *end = l->s + l->n;
	size_t marks = l->mark == TABLE_HEAD ? TABLE_MARKS : 0;
	json_open(j, key, '[');
	for (const char *s = l->s; s <= end;) {
		size_t n = cell_length(s, end);
		json_text(j, NULL, s + marks, n - marks);
		s += n + 1;
	}
	json_close(j, ']');
}

static void put_text_table(struct buf *out, const struct parts *p, const struct line *head,
			   size_t rows)
{
	struct table_column columns[TABLE_COLUMNS];
	struct buf names = {0};
	if (!buf_room(&names, head->n + TABLE_COLUMNS))
		out->failed = ERR_NOMEM;
	struct table t = {columns,
			  buf_failed(&names) ? 0 : read_columns(head, columns, &names)};
	t.code = t.ncolumns && columns[t.ncolumns - 1].drop == TABLE_CODE;
	if (t.code)
		columns[t.ncolumns - 1].drop = 0;
	for (size_t i = 0; i < rows; i++)
		put_text_row(&t, &head[1 + i]);
	if (t.ncolumns)
		table_write(out, &t, p->style->width);
	table_release(&t);
	buf_release(&names);
}

static void put_table(struct buf *out, struct json *j, const struct parts *p,
		      const struct line *head, size_t rows)
{
	switch (p->style->form) {
	case PARTS_TEXT:
		put_text_table(out, p, head, rows);
		break;
	case PARTS_MARKDOWN:
		for (size_t i = 0; i <= rows; i++)
			put_md_row(out, &head[i]);
		break;
	case PARTS_JSON:
		json_open(j, NULL, '{');
		put_json_row(j, "columns", head);
		json_open(j, "rows", '[');
		for (size_t i = 0; i < rows; i++)
			put_json_row(j, NULL, &head[1 + i]);
		json_close(j, ']');
		json_close(j, '}');
		break;
	}
}

/* --- text ------------------------------------------------------------------------------- */

/* 1 if the lines are aligned with blanks, or indented. */
static int is_aligned(const struct line *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].s[0] == ' ' || memmem(v[i].s, v[i].n, "  ", 2))
			return 1;
	return 0;
}

/* A fence of code that the lines do not end. */
static size_t fence_of(const struct line *v, size_t n)
{
	size_t most = 2;
	for (size_t i = 0; i < n; i++)
		for (size_t at = 0, run = 0; at < v[i].n; at++) {
			run = v[i].s[at] == '`' ? run + 1 : 0;
			most = run > most ? run : most;
		}
	return most + 1;
}

static void put_fence(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, '`');
	buf_char(out, '\n');
}

static void put_md_lines(struct buf *out, const struct line *v, size_t n)
{
	size_t fence = is_aligned(v, n) ? fence_of(v, n) : 0;
	if (fence)
		put_fence(out, fence);
	for (size_t i = 0; i < n; i++) {
		if (fence)
			buf_add(out, v[i].s, v[i].n);
		else
			escape_markdown(out, v[i].s, v[i].n);
		buf_char(out, '\n');
	}
	if (fence)
		put_fence(out, fence);
}

static void put_plain(struct buf *b, const struct line *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_add(b, v[i].s, v[i].n);
		buf_char(b, '\n');
	}
}

static void put_lines(struct buf *out, struct json *j, const struct parts *p,
		      const struct line *v, size_t n)
{
	struct buf text = {0};
	switch (p->style->form) {
	case PARTS_TEXT:
		put_plain(out, v, n);
		break;
	case PARTS_MARKDOWN:
		put_md_lines(out, v, n);
		break;
	case PARTS_JSON:
		put_plain(&text, v, n);
		json_open(j, NULL, '{');
		json_text(j, "text", text.v, text.n ? text.n - 1 : 0);
		json_close(j, '}');
		if (buf_failed(&text))
			out->failed = ERR_NOMEM;
		break;
	}
	buf_release(&text);
}

/* --- parts ------------------------------------------------------------------------------ */

static void put_part(struct buf *out, struct json *j, const struct parts *p,
		     const struct part *x, struct left *left)
{
	const struct line *v = p->lines.v;
	int md = p->style->form == PARTS_MARKDOWN, folded = v[x->from].mark == TABLE_FOLD;
	if (folded && md) {
		buf_str(out, "<details><summary>");
		escape_xml(out, v[x->from].s, v[x->from].n);
		buf_str(out, "</summary>\n");
	}
	for (size_t i = x->from + (size_t)folded, to; i < x->to; i = to) {
		if (i > x->from && md)
			buf_char(out, '\n');
		to = i;
		if (v[i].mark) {
			size_t n = table_rows(p, x, i), shown = n < p->rows ? n : p->rows;
			put_table(out, j, p, &v[i], shown);
			left->rows += n - shown;
			to = i + 1 + n;
		} else {
			while (to < x->to && !v[to].mark)
				to++;
			put_lines(out, j, p, &v[i], to - i);
		}
	}
	if (folded && md)
		buf_str(out, "\n</details>\n");
}

/* "34 rows, 2 parts: #1 waits/1293, ..." */
static void put_left_words(struct buf *b, const struct parts *p, const struct left *left)
{
	enum { NAMED = 3, CHARS = 40 };
	size_t named = 0;
	if (left->rows)
		units_plural(b, left->rows, "row", "rows");
	if (left->rows && left->parts)
		buf_str(b, ", ");
	if (left->parts)
		units_plural(b, left->parts, "part", "parts");
	for (size_t i = 0; i < p->v.n && named < NAMED; i++) {
		struct line l = p->lines.v[p->v.v[i].from];
		if (p->v.v[i].chosen)
			continue;
		if (l.mark == TABLE_HEAD) { /* by its first column */
			l.n = cell_length(l.s, l.s + l.n) - TABLE_MARKS;
			l.s += TABLE_MARKS;
		}
		buf_str(b, named++ ? ", \"" : " (\"");
		size_t n = escape_prefix(l.s, l.n, CHARS);
		buf_add(b, l.s, n);
		buf_str(b, n < l.n ? "~\"" : "\"");
	}
	buf_str(b, named ? named < left->parts ? ", ...)" : ")" : "");
}

static void put_left(struct buf *out, struct json *j, const struct parts *p,
		     const struct left *left)
{
	struct buf words = {0};
	int md = p->style->form == PARTS_MARKDOWN;
	if (!left->rows && !left->parts)
		return;
	if (p->style->form == PARTS_JSON) {
		json_open(j, "left_out", '{');
		json_u64(j, "rows", left->rows);
		json_u64(j, "parts", left->parts);
		json_str(j, "command", p->style->command);
		json_close(j, '}');
		return;
	}
	put_left_words(&words, p, left);
	buf_str(out, out->n ? "\nleft out: " : "left out: ");
	if (md)
		escape_markdown(out, words.v, words.n);
	else
		buf_add(out, words.v, words.n);
	buf_str(out, md ? ". All: `" : "; all: ");
	buf_str(out, p->style->command);
	buf_str(out, md ? "`\n" : "\n");
	if (buf_failed(&words))
		out->failed = ERR_NOMEM;
	buf_release(&words);
}

/* Replace the content of `out`. */
static void put_all(struct buf *out, const struct parts *p)
{
	struct json j = {.b = out};
	struct left left = {0};
	int json = p->style->form == PARTS_JSON;
	buf_clear(out);
	if (json) {
		json_open(&j, NULL, '{');
		json_u64(&j, "schema", 1);
		json_open(&j, "parts", '[');
	}
	for (size_t i = 0; i < p->v.n; i++) {
		const struct part *x = &p->v.v[i];
		if (!x->chosen) {
			left.parts++;
			continue;
		}
		if (json)
			json_open(&j, NULL, '[');
		else if (out->n)
			buf_char(out, '\n');
		put_part(out, &j, p, x, &left);
		if (json)
			json_close(&j, ']');
	}
	if (json)
		json_close(&j, ']');
	put_left(out, &j, p, &left);
	if (json) {
		json_close(&j, '}');
		buf_char(out, '\n');
	}
}

/* --- the bound -------------------------------------------------------------------------- */

static int fits(struct buf *b, const struct parts *p)
{
	put_all(b, p);
	return !buf_failed(b) && b->n <= p->style->most;
}

/* The parts that fit with few rows each. Returns how many. */
static size_t choose_parts(struct buf *b, struct parts *p, size_t rows)
{
	size_t n = 0;
	p->rows = rows;
	if (fits(b, p))
		return p->v.n;
	for (size_t i = 0; i < p->v.n; i++)
		p->v.v[i].chosen = 0;
	for (size_t i = 0; i < p->v.n && !buf_failed(b); i++) {
		p->v.v[i].chosen = 1;
		p->v.v[i].chosen = fits(b, p);
		n += (size_t)p->v.v[i].chosen;
	}
	return n;
}

/* The most rows that fit. */
static void choose_rows(struct buf *b, struct parts *p)
{
	size_t low = p->rows, high = (size_t)p->style->most;
	while (low < high && !buf_failed(b)) {
		p->rows = low + (high - low + 1) / 2;
		if (fits(b, p))
			low = p->rows;
		else
			high = p->rows - 1;
	}
	p->rows = low;
}

int parts_write(struct buf *out, const char *s, size_t n, const struct parts_style *style)
{
	struct parts p = {.style = style, .rows = SIZE_MAX};
	struct buf b = {0};
	int rc = read_parts(&p, s, n);
	if (!rc)
		put_all(&b, &p);
	if (!rc && style->most && b.n > style->most) {
		if (!choose_parts(&b, &p, ROWS_LEAST))
			choose_parts(&b, &p, 1);
		choose_rows(&b, &p);
		put_all(&b, &p);
	}
	rc = rc || buf_failed(&b) ? ERR_NOMEM : 0;
	if (!rc)
		buf_add(out, b.v, b.n);
	buf_release(&b);
	vec_release(&p.lines);
	vec_release(&p.v);
	return rc || buf_failed(out) ? ERR_NOMEM : 0;
}
