#include "libtime/side/csv.h"
#include "base/text/buf.h"
#include "libtime/side/when.h"

#include <string.h>
#include <strings.h>

enum {
	COLUMNS = 256,
	JOINED = 1 << 16, /* longest row, in bytes, if a cell contains line ends */
};

enum column_kind {
	COL_LABEL,
	COL_START,
	COL_END,
	COL_DURATION,
	COL_NAME,
	COL_KEY,
	COL_PID,
	COL_TID,
};

struct column {
	uint8_t kind;
	uint64_t scale; /* times: ns of a unit; 0: ISO 8601 */
	uint32_t label; /* strings id of its name */
};

/* A cell of the current row: part of the line, or of `unquoted` if it contained quotes. */
struct cell {
	const char *s;
	size_t n;
};

struct csv {
	struct side *out;
	struct side_lines *lines;
	char separator;
	struct column column[COLUMNS];
	struct cell cell[COLUMNS];
	size_t columns, n; /* of the table; of the current row */
	struct buf unquoted;
	uint32_t request; /* strings id */
	int has_start, has_end, has_duration;
};

/* --- cells ---------------------------------------------------------------------------- */

static struct cell trimmed(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return (struct cell){s, n};
}

/* Unquote the cell whose opening quote is before *p; *p is left after the closing one. */
static struct cell quoted(struct csv *c, const char **p, const char *end)
{
	size_t at = c->unquoted.n;
	while (*p < end) {
		const char *q = memchr(*p, '"', (size_t)(end - *p));
		buf_add(&c->unquoted, *p, (size_t)((q ? q : end) - *p));
		*p = q ? q + 1 : end;
		if (*p >= end || **p != '"')
			break;
		buf_char(&c->unquoted, '"');
		++*p;
	}
	return (struct cell){c->unquoted.v + at, c->unquoted.n - at};
}

/* Split a row into c->cell, at most COLUMNS of them. Returns how many the row has. */
static size_t cut_row(struct csv *c, const char *s, size_t n)
{
	const char *end = s + n;
	size_t count = 0;
	buf_clear(&c->unquoted);
	if (n && memchr(s, '"', n)) { /* room for all, so that no cell moves */
		buf_add(&c->unquoted, s, n);
		c->unquoted.n = 0;
	}
	for (const char *p = s; p <= end; p++, count++) {
		struct cell x;
		const char *from = p;
		while (p < end && *p == ' ')
			p++;
		int quotes = p < end && *p == '"';
		if (quotes) {
			p++;
			x = quoted(c, &p, end);
			from = p;
		}
		const char *next = p < end ? memchr(p, c->separator, (size_t)(end - p)) : NULL;
		p = next ? next : end;
		if (!quotes)
			x = trimmed(from, (size_t)(p - from));
		if (count < COLUMNS)
			c->cell[count] = x;
	}
	return count;
}

static size_t quotes_in(const char *s, size_t n)
{
	size_t count = 0;
	for (const char *end = s + n; (s = memchr(s, '"', (size_t)(end - s))); s++)
		count++;
	return count;
}

/* Read a row: a line, and the next ones while a quote is open. 1, 0, < 0; *why is set if it is
 * malformed. */
static int next_row(struct csv *c, const char **s, size_t *n, const char **why, struct err *e)
{
	int r = side_lines_next(c->lines, s, n, e);
	*why = NULL;
	if (r <= 0 || !*n)
		return r;
	size_t quotes = quotes_in(*s, *n), seen = *n;
	while (quotes % 2) {
		r = *n < JOINED ? side_lines_join(c->lines, s, n, e) : 0;
		if (r < 0)
			return r;
		if (!r) {
			*why = "a quote is not closed";
			side_lines_unjoin(c->lines);
			return 1;
		}
		quotes += quotes_in(*s + seen, *n - seen);
		seen = *n;
	}
	return 1;
}

/* --- the line of names ---------------------------------------------------------------- */

static int is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !strncasecmp(s, word, n);
}

static uint8_t kind_of(const char *s, size_t n)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} words[] = {{"start", COL_START},       {"begin", COL_START},
		     {"end", COL_END},           {"stop", COL_END},
		     {"duration", COL_DURATION}, {"name", COL_NAME},
		     {"key", COL_KEY},           {"id", COL_KEY},
		     {"pid", COL_PID},           {"tid", COL_TID}};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (is_word(s, n, words[i].word))
			return words[i].kind;
	return COL_LABEL;
}

static int is_time(uint8_t kind)
{
	return kind == COL_START || kind == COL_END || kind == COL_DURATION;
}

/* The kind of a column, by its name. */
static struct column column_of(const char *s, size_t n)
{
	static const struct {
		const char *suffix;
		uint64_t scale;
	} units[] = {{"_ns", 1}, {"_us", 1000}, {"_ms", 1000000}, {"_s", 1000000000}};
	struct column c = {.kind = kind_of(s, n)};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].suffix);
		if (n <= len || strncasecmp(s + n - len, units[i].suffix, len) != 0 ||
		    !is_time(kind_of(s, n - len)))
			continue;
		c.kind = kind_of(s, n - len);
		c.scale = units[i].scale;
	}
	return c;
}

/* The separator of cells: the one of the three that is most frequent in the names. */
static char separator_of(const char *s, size_t n)
{
	size_t count[3] = {0};
	const char which[] = ",;\t";
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++)
			count[k] += s[i] == which[k];
	return count[1] > count[0] && count[1] >= count[2] ? ';'
	       : count[2] > count[0]                       ? '\t'
							   : ',';
}

static void count_times(struct csv *c)
{
	for (size_t i = 0; i < c->columns; i++) {
		c->has_start |= c->column[i].kind == COL_START;
		c->has_end |= c->column[i].kind == COL_END;
		c->has_duration |= c->column[i].kind == COL_DURATION;
	}
}

static void parse_names(struct csv *c, const char *s, size_t n)
{
	c->separator = separator_of(s, n);
	c->columns = cut_row(c, s, n);
	for (size_t i = 0; i < c->columns && i < COLUMNS; i++)
		c->column[i] = column_of(c->cell[i].s, c->cell[i].n);
	c->columns = c->columns < COLUMNS + 1 ? c->columns : COLUMNS + 1;
}

int side_is_csv(const char *text, size_t n)
{
	struct csv c = {.columns = 0};
	const char *end = n ? memchr(text, '\n', n) : NULL;
	parse_names(&c, text, end ? (size_t)(end - text) : n);
	int failed = buf_failed(&c.unquoted);
	c.columns = c.columns < COLUMNS ? c.columns : COLUMNS;
	count_times(&c);
	buf_release(&c.unquoted);
	return !failed && (c.has_start || c.has_end);
}

static unsigned has_name_before(const struct csv *c, size_t i)
{
	const struct cell *x = c->cell;
	for (size_t k = 0; k < i; k++)
		if (x[i].n && x[k].n == x[i].n && !memcmp(x[k].s, x[i].s, x[i].n))
			return 1;
	return 0;
}

/* Two columns of one kind, or labels of one key, could contradict each other. */
static int check_names(const struct csv *c, struct err *e)
{
	unsigned seen = 0;
	if (c->has_start + c->has_end + c->has_duration < 2)
		return err_set(e, ERR_FORMAT,
			       "line 1 must name two of start, end and duration, with a unit "
			       "(start_ns, start_us, start_ms, start_s; without: ISO 8601)");
	for (size_t i = 0; i < c->columns; i++) {
		const struct column *x = &c->column[i];
		if (x->kind == COL_DURATION && !x->scale)
			return err_set(e, ERR_FORMAT,
				       "line 1: duration has no unit: duration_ns, "
				       "duration_us, duration_ms or duration_s");
		if (x->kind == COL_LABEL ? has_name_before(c, i) : seen >> x->kind & 1)
			return err_set(e, ERR_FORMAT, "line 1 names a column twice");
		seen |= 1u << x->kind;
	}
	return 0;
}

static int read_names(struct csv *c, struct err *e)
{
	const char *s, *why;
	size_t n;
	int wall = 0, r = next_row(c, &s, &n, &why, e);
	if (r < 0)
		return r;
	if (!r || why)
		return err_set(e, ERR_FORMAT, "no line of column names");
	parse_names(c, s, n);
	if (buf_failed(&c->unquoted))
		return err_nomem(e);
	if (c->columns > COLUMNS)
		return err_set(e, ERR_LIMIT, "line 1 has more than %d columns", COLUMNS);
	count_times(c);
	r = check_names(c, e);
	for (size_t i = 0; i < c->columns && !r; i++) {
		struct column *x = &c->column[i];
		wall |= (x->kind == COL_START || x->kind == COL_END) && !x->scale;
		if (side_intern(c->out, c->cell[i].s, c->cell[i].n, &x->label))
			r = err_nomem(e);
	}
	c->out->clock = wall ? SIDE_CLOCK_REAL : SIDE_CLOCK_UNKNOWN;
	return r;
}

/* --- rows ----------------------------------------------------------------------------- */

struct row {
	struct side_span span;
	uint64_t duration;
	const char *why; /* what is wrong with it, or NULL */
};

static void parse_time(const struct column *c, const struct cell *x, uint64_t *ns,
		       struct row *r)
{
	if (c->scale && x->n && *x->s == '-')
		r->why = "a time is negative";
	else if (c->scale && when_number(x->s, x->n, c->scale, ns))
		r->why = "a time is not a number below 2^63 ns";
	else if (!c->scale && when_iso(x->s, x->n, ns))
		r->why = "a time is not ISO 8601 with its zone";
}

static void parse_id(const struct cell *x, int32_t *id, struct row *r)
{
	uint64_t v;
	if (!x->n)
		return;
	if (when_number(x->s, x->n, 1, &v) || v > INT32_MAX)
		r->why = "a pid or tid is not a number";
	else
		*id = (int32_t)v;
}

/* ERR_NOMEM. */
static int parse_cell(struct csv *c, size_t i, struct row *r)
{
	const struct column *col = &c->column[i];
	const struct cell *x = &c->cell[i];
	struct side_span *s = &r->span;
	switch (col->kind) {
	case COL_START:
		parse_time(col, x, &s->start_ns, r);
		return 0;
	case COL_END:
		parse_time(col, x, &s->end_ns, r);
		return 0;
	case COL_DURATION:
		parse_time(col, x, &r->duration, r);
		return 0;
	case COL_NAME:
		return x->n ? side_intern(c->out, x->s, x->n, &s->name) : 0;
	case COL_KEY:
		return side_intern(c->out, x->s, x->n, &s->key);
	case COL_PID:
		parse_id(x, &s->pid, r);
		return 0;
	case COL_TID:
		parse_id(x, &s->tid, r);
		return 0;
	default:
		return x->n && col->label ? side_add_label(c->out, col->label, x->s, x->n) : 0;
	}
}

/* Compute the third of start, end and duration from the other two. */
static void complete(const struct csv *c, struct row *r)
{
	struct side_span *s = &r->span;
	if (!c->has_end)
		s->end_ns = s->start_ns + r->duration;
	if (!c->has_start && r->duration > s->end_ns)
		r->why = "it begins before time 0";
	else if (!c->has_start)
		s->start_ns = s->end_ns - r->duration;
	if (s->end_ns < s->start_ns)
		r->why = "it ends before it begins";
	else if (s->end_ns > INT64_MAX)
		r->why = "a time is past 2^63 ns";
}

static int parse_row(struct csv *c, const char *s, size_t n, struct err *e)
{
	struct row r = {.span = {.pid = -1, .tid = -1, .name = c->request}};
	int rc = 0;
	size_t cells = cut_row(c, s, n);
	if (buf_failed(&c->unquoted))
		return err_nomem(e);
	if (cells != c->columns)
		r.why = cells < c->columns ? "it has too few cells" : "it has too many cells";
	for (size_t i = 0; i < c->columns && !r.why && !rc; i++)
		rc = parse_cell(c, i, &r);
	if (!r.why)
		complete(c, &r);
	if (r.why) {
		side_bad_row(c->out, side_lines_number(c->lines), r.why);
		side_drop_labels(c->out);
		return rc ? err_nomem(e) : 0;
	}
	rc = rc ? rc : side_add_span(c->out, &r.span);
	if (rc == ERR_LIMIT)
		return err_set(e, rc, "more than 2^32 spans or labels");
	return rc ? err_nomem(e) : 0;
}

static int read_rows(struct csv *c, struct err *e)
{
	const char *s, *why;
	size_t n;
	int r;
	while ((r = next_row(c, &s, &n, &why, e)) > 0) {
		if (!n)
			continue;
		c->out->rows++;
		if (why)
			side_bad_row(c->out, side_lines_number(c->lines), why);
		else if ((r = parse_row(c, s, n, e)) < 0)
			return r;
	}
	return r;
}

int side_csv_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct csv c = {.out = out, .lines = l};
	out->nesting = NEST_OTHER_NAMES;
	int r = side_intern(out, "request", 7, &c.request) ? err_nomem(e) : 0;
	r = r ? r : read_names(&c, e);
	r = r ? r : read_rows(&c, e);
	buf_release(&c.unquoted);
	return r;
}
