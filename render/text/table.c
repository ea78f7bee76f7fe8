#include "render/text/table.h"
#include "libsym/name/simplify.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <string.h>

enum { GAP = 2, CUT_TO = 15, LAST_ROOM = 12, KEY_WIDTH = 40, KEY_LEAST = 24 };

/* --- cells ---------------------------------------------------------------------------- */

void table_next(struct table *t)
{
	if (vec_push(&t->ends, t->text.n))
		t->text.failed = ERR_NOMEM;
}

void table_duration(struct table *t, uint64_t ns)
{
	units_duration(&t->text, ns);
	table_next(t);
}

void table_count(struct table *t, uint64_t n)
{
	units_count(&t->text, n);
	table_next(t);
}

void table_text(struct table *t, const char *text)
{
	buf_str(&t->text, text);
	table_next(t);
}

static size_t cell(const struct table *t, size_t i, const char **text)
{
	size_t from = i ? t->ends.v[i - 1] : 0;
	*text = t->text.v + from;
	return t->ends.v[i] - from;
}

/* --- widths --------------------------------------------------------------------------- */

struct widths {
	size_t of[TABLE_COLUMNS]; /* 0: left out */
	size_t last;              /* index of the last column shown */
};

static void measure(const struct table *t, struct widths *w)
{
	for (size_t c = 0; c < t->ncolumns; c++)
		w->of[c] = strlen(t->columns[c].head);
	for (size_t i = 0; i < t->ends.n; i++) {
		const char *text;
		size_t n = cell(t, i, &text), chars = n ? escape_chars(text, n) : 0;
		size_t c = i % t->ncolumns;
		w->of[c] = chars > w->of[c] ? chars : w->of[c];
	}
}

/* How wide a line is, the last column not counted. */
static size_t left_of_last(const struct widths *w)
{
	size_t sum = 0;
	for (size_t c = 0; c < w->last; c++)
		sum += w->of[c] ? w->of[c] + GAP : 0;
	return sum;
}

static size_t too_wide(const struct widths *w, size_t width)
{
	size_t sum = left_of_last(w) + w->of[w->last];
	return sum > width ? sum - width : 0;
}

/* By how much keys and names of functions are wider than KEY_WIDTH, the width for which columns
 * are dropped. */
static size_t key_excess(const struct table *t, const struct widths *w)
{
	size_t sum = 0;
	for (size_t c = 0; c < t->ncolumns; c++)
		if ((t->columns[c].cut == TABLE_CUT_KEY ||
		     t->columns[c].cut == TABLE_CUT_NAME) &&
		    w->of[c] > KEY_WIDTH)
			sum += w->of[c] - KEY_WIDTH;
	return sum;
}

static void drop_columns(const struct table *t, struct widths *w, size_t width)
{
	size_t excess = key_excess(t, w);
	for (unsigned turn = 1; turn < TABLE_COLUMNS && too_wide(w, width) > excess; turn++) {
		for (size_t c = 0; c < t->ncolumns; c++)
			if (t->columns[c].drop == turn)
				w->of[c] = 0;
		while (w->last && !w->of[w->last])
			w->last--;
	}
}

static void cut_columns(const struct table *t, struct widths *w, size_t width)
{
	for (size_t c = 0; c < w->last; c++) {
		size_t over = too_wide(w, width), head = strlen(t->columns[c].head);
		size_t least = head > CUT_TO ? head : CUT_TO;
		if (t->columns[c].cut == TABLE_WHOLE || t->columns[c].cut == TABLE_CUT_KEY ||
		    !over || w->of[c] <= least)
			continue;
		w->of[c] = w->of[c] - least > over ? w->of[c] - over : least;
	}
}

/* Cut keys if only the last column would continue in the next line. */
static void cut_keys(const struct table *t, struct widths *w, size_t width)
{
	size_t last = w->of[w->last] < LAST_ROOM ? w->of[w->last] : LAST_ROOM;
	for (size_t c = 0; c < w->last; c++) {
		size_t line = left_of_last(w) + last;
		if (t->columns[c].cut != TABLE_CUT_KEY || line <= width ||
		    w->of[c] <= KEY_LEAST)
			continue;
		size_t over = line - width;
		w->of[c] = w->of[c] - KEY_LEAST > over ? w->of[c] - over : KEY_LEAST;
	}
}

/* --- lines ---------------------------------------------------------------------------- */

static void blanks(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, ' ');
}

/* The place " in function()" at the end of a key, or NULL. */
static const char *place_of(const char *text, size_t n)
{
	static const char in[] = " in ";
	const char *at = NULL, *p = text;
	while ((p = memmem(p, n - (size_t)(p - text), in, sizeof(in) - 1)))
		at = p++;
	return at;
}

/* "worker: lock" in less room: "wo~: lock", "~lock"; only if neither fits is its end cut. */
static void put_subject(struct buf *out, const char *text, size_t n, size_t room)
{
	const char *colon = memrchr(text, ':', n);
	size_t had = escape_chars(text, n), left = colon ? (size_t)(colon - text) : n;
	size_t tail = escape_chars(text + left, n - left);
	if (had <= room) {
		buf_add(out, text, n);
	} else if (colon && tail + 1 <= room) {
		buf_add(out, text, escape_prefix(text, left, room - 1 - tail));
		buf_char(out, '~');
		buf_add(out, text + left, n - left);
	} else if (colon && tail >= 2 && tail - 2 + 1 <= room) {
		buf_char(out, '~');
		buf_add(out, text + left + 2, n - left - 2);
	} else {
		buf_add(out, text, escape_prefix(text, n, room - 1));
		buf_char(out, '~');
	}
}

/* A key with a place: the function by its own rules (simplify.h), and before it what keeps the
 * word next to it. */
static void put_key_with_place(struct buf *out, const char *text, size_t n, size_t width,
			       const char *place)
{
	enum { IN = 4 };
	struct buf function = {0};
	size_t before = (size_t)(place - text), len = n - before - IN;
	size_t call = len > 2 && !memcmp(text + n - 2, "()", 2) ? 2 : 0;
	size_t most = width * 2 / 3, had = escape_chars(text, before);
	if (had + IN < width && width - had - IN > most)
		most = width - had - IN;
	name_fit(&function, place + IN, len - call, most - call);
	size_t room = width - IN - call - escape_chars(buf_cstr(&function), function.n);
	put_subject(out, text, before, room);
	buf_str(out, " in ");
	buf_add(out, buf_cstr(&function), function.n);
	buf_add(out, "()", call);
	out->failed |= buf_failed(&function);
	buf_release(&function);
}

/* At most `width` characters of a cell, the cut marked. */
static void put_cut(struct buf *out, const char *text, size_t n, size_t width,
		    enum table_cut cut)
{
	const char *place = cut == TABLE_CUT_KEY ? place_of(text, n) : NULL;
	if (place) {
		put_key_with_place(out, text, n, width, place);
		return;
	}
	if (cut == TABLE_CUT_KEY && !memchr(text, ' ', n)) {
		name_fit(out, text, n, width);
		return;
	}
	if (cut == TABLE_CUT_KEY) {
		size_t all = escape_chars(text, n), end = width / 2;
		size_t from = escape_prefix(text, n, all - end);
		buf_add(out, text, escape_prefix(text, n, width - 1 - end));
		buf_char(out, '~');
		buf_add(out, text + from, n - from);
		return;
	}
	if (cut == TABLE_CUT_NAME) {
		name_fit(out, text, n, width);
		return;
	}
	const char *slash = cut == TABLE_CUT_ID ? memrchr(text, '/', n) : NULL;
	size_t tail = slash ? (size_t)(text + n - slash) : 0;
	size_t kept = slash ? escape_chars(slash, tail) + 1 : 1;
	if (kept >= width) { /* no room for any name */
		tail = 0;
		kept = 1;
	}
	buf_add(out, text, escape_prefix(text, n - tail, width - kept));
	buf_char(out, '~');
	buf_add(out, text + n - tail, tail);
}

static void put_cell(struct buf *out, const struct table_column *col, size_t width,
		     const char *text, size_t n)
{
	struct buf shown = {0};
	size_t chars = n ? escape_chars(text, n) : 0;
	if (chars > width) {
		put_cut(&shown, text, n, width, col->cut);
		text = buf_cstr(&shown);
		n = shown.n;
		chars = escape_chars(text, n);
		out->failed = out->failed ? out->failed : shown.failed;
	}
	size_t gap = chars < width ? width - chars : 0;
	blanks(out, col->right ? gap : 0);
	buf_add(out, text, n);
	blanks(out, col->right ? 0 : gap);
	blanks(out, GAP);
	buf_release(&shown);
}

/* Remove blanks at the end of a line. */
static void trim(struct buf *out, size_t line)
{
	while (!buf_failed(out) && out->n > line && out->v[out->n - 1] == ' ')
		out->n--;
}

/* Append at most `room` characters of code and end the line. */
static void put_code(struct buf *out, const char *text, size_t n, size_t room)
{
	if (escape_chars(text, n) > room) {
		buf_add(out, text, escape_prefix(text, n, room - 1));
		buf_char(out, '~');
	} else {
		buf_add(out, text, n);
	}
	buf_char(out, '\n');
}

/* Append the last cell and end the line that began at `line`. */
static void put_last(struct buf *out, const struct table *t, const struct widths *w,
		     size_t width, size_t line, const char *text, size_t n)
{
	size_t last = w->last, column = left_of_last(w);
	struct buf words = {0};
	if (!n) {
		trim(out, line);
		buf_char(out, '\n');
		return;
	}
	if (t->code) {
		put_code(out, text, n, column + LAST_ROOM > width ? LAST_ROOM : width - column);
		return;
	}
	if (t->columns[last].right)
		blanks(out, w->of[last] - escape_chars(text, n));
	buf_add(&words, text, n);
	size_t room = column + LAST_ROOM > width ? column + LAST_ROOM : width;
	text_wrapped(out, buf_cstr(&words), column, column, room);
	if (buf_failed(&words))
		out->failed = buf_failed(&words);
	buf_release(&words);
}

static void put_head(struct buf *out, const struct table *t, const struct widths *w)
{
	size_t line = out->n;
	for (size_t c = 0; c < t->ncolumns; c++)
		if (w->of[c])
			put_cell(out, &t->columns[c], w->of[c], t->columns[c].head,
				 strlen(t->columns[c].head));
	trim(out, line);
	buf_char(out, '\n');
}

static void put_row(struct buf *out, const struct table *t, const struct widths *w,
		    size_t width, size_t row)
{
	size_t line = out->n;
	for (size_t c = 0; c < t->ncolumns; c++) {
		const char *text;
		size_t n = cell(t, row * t->ncolumns + c, &text);
		if (c == w->last)
			put_last(out, t, w, width, line, text, n);
		else if (w->of[c])
			put_cell(out, &t->columns[c], w->of[c], text, n);
	}
}

/* --- data ------------------------------------------------------------------------------- */

struct table_column table_column_marks(const char *cell, size_t n)
{
	if (n < TABLE_MARKS)
		return (struct table_column){.head = ""};
	return (struct table_column){.right = cell[0] - '0',
				     .cut = (enum table_cut)(cell[1] - '0'),
				     .drop = (unsigned)(cell[2] - '0')};
}

static void put_data(struct buf *out, const struct table *t)
{
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct table_column *x = &t->columns[c];
		int code = t->code && c + 1 == t->ncolumns;
		buf_char(out, c ? TABLE_CELL : TABLE_HEAD);
		buf_char(out, (char)('0' + x->right));
		buf_char(out, (char)('0' + (int)x->cut));
		buf_char(out, (char)('0' + (code ? TABLE_CODE : (int)x->drop)));
		buf_str(out, x->head);
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < t->ends.n; i++) {
		const char *text;
		size_t n = cell(t, i, &text), c = i % t->ncolumns;
		buf_char(out, c ? TABLE_CELL : TABLE_ROW);
		buf_add(out, text, n);
		if (c + 1 == t->ncolumns)
			buf_char(out, '\n');
	}
}

void table_write(struct buf *out, struct table *t, size_t width)
{
	struct widths w;
	if (buf_failed(&t->text)) {
		out->failed = buf_failed(&t->text);
		return;
	}
	if (width >= TABLE_DATA) {
		put_data(out, t);
		return;
	}
	w.last = t->ncolumns - 1;
	measure(t, &w);
	drop_columns(t, &w, width);
	cut_columns(t, &w, width);
	cut_keys(t, &w, width);
	put_head(out, t, &w);
	for (size_t i = 0; i < t->ends.n / t->ncolumns; i++)
		put_row(out, t, &w, width, i);
}

void table_release(struct table *t)
{
	buf_release(&t->text);
	vec_release(&t->ends);
}

void text_wrapped(struct buf *out, const char *text, size_t column, size_t indent, size_t width)
{
	enum { PROSE = 80 };
	width = width < TABLE_DATA ? width : PROSE;
	for (int first = 1; *text; first = 0) {
		size_t n = strcspn(text, " "), chars = escape_chars(text, n);
		if (!first && column + 1 + chars > width) {
			buf_char(out, '\n');
			blanks(out, indent);
			column = indent;
		} else if (!first) {
			buf_char(out, ' ');
			column++;
		}
		buf_add(out, text, n);
		column += chars;
		text += n;
		text += strspn(text, " ");
	}
	buf_char(out, '\n');
}
