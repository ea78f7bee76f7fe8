#include "render/text/compare_text.h"
#include "render/text/escape.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void put_fn(struct buf *b, double x);

static void put_ns(struct buf *b, double x)
{
	units_duration(b, (uint64_t)(x + 0.5));
}

/* Time in a second. */
static void put_share(struct buf *b, double x)
{
	put_ns(b, x);
	buf_str(b, "/s");
}

static void put_rate(struct buf *b, double x)
{
	buf_fmt(b, x < 9.95 ? "%.2f/s" : x < 99.5 ? "%.1f/s" : "%.0f/s", x);
}

static const char *change_word(int change)
{
	return change > 0 ? "more" : change < 0 ? "less" : "";
}

/* Value, and its range in brackets. */
static void two_cells(struct table *t, const struct estimate *e, put_fn *put)
{
	if (isnan(e->value)) {
		table_text(t, "-");
		table_text(t, "");
		return;
	}
	put(&t->text, e->value);
	table_next(t);
	buf_char(&t->text, '[');
	put(&t->text, e->low);
	buf_str(&t->text, ", ");
	if (isinf(e->high))
		buf_char(&t->text, '-');
	else
		put(&t->text, e->high);
	buf_char(&t->text, ']');
	table_next(t);
}

/* Without counts there is no mean, rather than 0. */
static int mean_change(const struct compared *x)
{
	return x->count[BEFORE].value > 0 && x->count[AFTER].value > 0
		       ? estimate_change(&x->mean[BEFORE], &x->mean[AFTER])
		       : 0;
}

static void mean_cells(struct table *t, const struct compared *x)
{
	for (int side = 0; side < COMPARE_SIDES; side++)
		if (x->count[side].value > 0) {
			two_cells(t, &x->mean[side], put_ns);
		} else {
			table_text(t, "-");
			table_text(t, "");
		}
	table_text(t, change_word(mean_change(x)));
}

static void cells(struct table *t, const struct estimate *of, put_fn *put)
{
	two_cells(t, &of[BEFORE], put);
	two_cells(t, &of[AFTER], put);
	table_text(t, change_word(estimate_change(&of[BEFORE], &of[AFTER])));
}

void compare_percentiles_text(struct buf *b, const struct compared_percentile *v, size_t n,
			      size_t width)
{
	static const struct table_column columns[] = {{"length"},
						      {"before", .right = 1},
						      {"", .right = 1, .drop = 1},
						      {"after", .right = 1},
						      {"", .right = 1, .drop = 1},
						      {"change"}};
	struct table t = {columns, 6};
	for (size_t i = 0; i < n; i++) {
		buf_char(&t.text, 'p');
		units_percent(&t.text, v[i].millipercent);
		table_next(&t);
		cells(&t, v[i].of, put_ns);
	}
	table_write(b, &t, width);
	table_release(&t);
}

/* 1 when any row has time. */
static int has_time(const struct comparison *c)
{
	for (size_t i = 0; i < c->v.n; i++)
		if (c->v.v[i].time[BEFORE].value > 0 || c->v.v[i].time[AFTER].value > 0)
			return 1;
	return 0;
}

enum { MEAN, TIME, COUNT, GROUPS };

static int has_change(const struct comparison *c, int group)
{
	for (size_t i = 0; i < c->v.n; i++) {
		const struct compared *x = &c->v.v[i];
		if (group == MEAN   ? mean_change(x)
		    : group == TIME ? estimate_change(&x->time[BEFORE], &x->time[AFTER])
				    : estimate_change(&x->count[BEFORE], &x->count[AFTER]))
			return 1;
	}
	return 0;
}

/* On a narrow terminal ranges are omitted first, then groups of columns without a change, then
 * those with one, but not the last: `drop` as in struct table_column. */
static void order_groups(const struct comparison *c, unsigned drop[GROUPS])
{
	static const int order[GROUPS] = {COUNT, MEAN, TIME};
	unsigned turn = 0;
	for (int changed = 0; changed < 2; changed++)
		for (int i = 0; i < GROUPS; i++)
			if (has_change(c, order[i]) == changed)
				drop[order[i]] = ++turn < GROUPS ? 2 + turn : 0;
}

/* A share of all. */
static void put_part(struct buf *b, double x)
{
	buf_fmt(b, "%.1f %%", x / 1e7);
}

static double total_of(const struct comparison *c, int side)
{
	double sum = 0;
	for (size_t i = 0; i < c->v.n; i++)
		sum += c->v.v[i].time[side].value;
	return sum;
}

/* Only shares: those with 1 % of either side, at most `rows` (0: all rows). */
static void samples_text(struct buf *b, const struct comparison *c, const char *head,
			 size_t rows, size_t width)
{
	const struct table_column columns[] = {
		{head, .cut = TABLE_CUT_KEY}, {"before", .right = 1},
		{"", .right = 1, .drop = 1},  {"after", .right = 1},
		{"", .right = 1, .drop = 1},  {"change"}};
	struct table t = {columns, 6};
	double total[] = {total_of(c, BEFORE), total_of(c, AFTER)};
	size_t left = 0, shown = 0;
	for (size_t i = 0; i < c->v.n; i++) {
		const struct compared *x = &c->v.v[i];
		int small = x->time[BEFORE].value * 100 < total[BEFORE] &&
			    x->time[AFTER].value * 100 < total[AFTER];
		if (rows && (small || shown == rows)) {
			left++;
			continue;
		}
		shown++;
		escape_visible(&t.text, x->name, strlen(x->name));
		table_next(&t);
		cells(&t, x->time, put_part);
	}
	table_write(b, &t, width);
	table_release(&t);
	if (left) {
		units_plural(b, left, "more row", "more rows");
		buf_str(b, " (show all with --top 0)\n");
	}
}

void compare_text(struct buf *b, const struct comparison *c, const char *head, size_t rows,
		  size_t width)
{
	unsigned drop[GROUPS] = {0};
	if (c->samples && c->v.n) {
		samples_text(b, c, head, rows, width);
		return;
	}
	order_groups(c, drop);
	const struct table_column columns[] = {
		{head, .cut = TABLE_CUT_KEY},
		{"each before", .right = 1, .drop = drop[MEAN]},
		{"", .right = 1, .drop = 2},
		{"after", .right = 1, .drop = drop[MEAN]},
		{"", .right = 1, .drop = 2},
		{"", .drop = drop[MEAN]},
		{"time before", .right = 1, .drop = drop[TIME]},
		{"", .right = 1, .drop = 2},
		{"after", .right = 1, .drop = drop[TIME]},
		{"", .right = 1, .drop = 2},
		{"", .drop = drop[TIME]},
		{"count before", .right = 1, .drop = drop[COUNT]},
		{"", .right = 1, .drop = 1},
		{"after", .right = 1, .drop = drop[COUNT]},
		{"", .right = 1, .drop = 1},
		{"", .drop = drop[COUNT]}};
	struct table t = {columns, 16};
	size_t n = rows && rows < c->v.n ? rows : c->v.n;
	if (!n || !has_time(c))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct compared *x = &c->v.v[i];
		escape_visible(&t.text, x->name, strlen(x->name));
		table_next(&t);
		mean_cells(&t, x);
		cells(&t, x->time, put_share);
		cells(&t, x->count, put_rate);
	}
	table_write(b, &t, width);
	table_release(&t);
	if (n < c->v.n) {
		units_plural(b, c->v.n - n, "more row", "more rows");
		buf_str(b, " (show all with --top 0)\n");
	}
}

/* --- JSON ----------------------------------------------------------------------------- */

static void number(struct json *j, const char *key, double x)
{
	char text[32];
	if (!isfinite(x)) {
		json_null(j, key);
		return;
	}
	snprintf(text, sizeof(text), "%.3f", x);
	json_raw(j, key, text);
}

static void sides(struct json *j, const struct estimate *of)
{
	static const char *const keys[] = {"before", "after"};
	for (int s = 0; s < COMPARE_SIDES; s++) {
		json_open(j, keys[s], '{');
		number(j, "value", of[s].value);
		number(j, "low", of[s].low);
		number(j, "high", of[s].high);
		json_close(j, '}');
	}
	json_i64(j, "change", estimate_change(&of[BEFORE], &of[AFTER]));
}

void compare_percentiles_json(struct json *j, const struct compared_percentile *v, size_t n)
{
	json_open(j, "percentiles", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		number(j, "percent", v[i].millipercent / 1e3);
		sides(j, v[i].of);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void compare_json(struct json *j, const struct comparison *c, const char *key)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < c->v.n; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", c->v.v[i].name);
		json_open(j, "mean", '{');
		sides(j, c->v.v[i].mean);
		json_close(j, '}');
		json_open(j, "time", '{');
		sides(j, c->v.v[i].time);
		json_close(j, '}');
		json_open(j, "count", '{');
		sides(j, c->v.v[i].count);
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, ']');
}
