#include "libtime/tables/compare.h"
#include "base/mem.h"
#include "libsym/name/match_text.h"
#include "libtime/explain/episodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two-sided 99 % quantiles of Student's t with COMPARE_BLOCKS - 1 degrees of freedom, and of
 * the normal distribution. */
static const double student = 2.744, normal = 2.576;

enum {
	BLOCK_EVENTS = 2 * COMPARE_BLOCKS, /* with fewer, blocks do not show the variance */
	MEAN_EVENTS = 8,                   /* with fewer, there is no mean */
};

int estimate_change(const struct estimate *before, const struct estimate *after)
{
	return after->low > before->high ? 1 : after->high < before->low ? -1 : 0;
}

/* --- counts --------------------------------------------------------------------------------
 *
 * Byar's approximation to the exact bounds of a Poisson mean, good to a percent from 1 on.
 */

static double count_low(double n)
{
	if (n < 1)
		return 0;
	double x = 1 - 1 / (9 * n) - normal / (3 * sqrt(n));
	return x > 0 ? n * x * x * x : 0;
}

static double count_high(double n)
{
	double m = n + 1, x = 1 - 1 / (9 * m) + normal / (3 * sqrt(m));
	return m * x * x * x;
}

/* --- percentiles ---------------------------------------------------------------------- */

static int length_order(const void *a, const void *b)
{
	const struct compared_length *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* The standard error of the number of lengths above v[rank - 1], as blocks differ. */
static double error_above(const struct compared_length *v, size_t n, size_t rank)
{
	double all[COMPARE_BLOCKS] = {0}, above[COMPARE_BLOCKS] = {0}, sum = 0;
	double share = (double)(n - rank) / (double)n;
	for (size_t i = 0; i < n; i++) {
		all[v[i].block]++;
		above[v[i].block] += i >= rank;
	}
	for (int b = 0; b < COMPARE_BLOCKS; b++) {
		double d = above[b] - share * all[b];
		sum += d * d;
	}
	return sqrt(sum * COMPARE_BLOCKS / (COMPARE_BLOCKS - 1));
}

struct estimate estimate_percentile(struct compared_length *v, size_t n, uint32_t millipercent)
{
	if (!n)
		return (struct estimate){NAN, 0, INFINITY};
	qsort(v, n, sizeof(*v), length_order);
	size_t rank = (size_t)percentile_rank(n, millipercent);
	double above = (1 - millipercent / 1e5) * (double)n;
	double error = error_above(v, n, rank);
	/* the number of lengths above it is a count with `times` the variance of Poisson's,
	 * which is a little more than binomial */
	double times = above > 0 ? fmax(error * error / above, 1) : 1;
	double low = (double)n - times * count_high(above / times);
	double least = times * count_low(above / times), high = (double)n - least;
	struct estimate e = {.value = (double)v[rank - 1].ns, .high = INFINITY};
	if (low >= 1)
		e.low = (double)v[(size_t)low - 1].ns;
	if (least >= 1 && ceil(high) < (double)n)
		e.high = (double)v[(size_t)ceil(high)].ns;
	return e;
}

/* --- rates ---------------------------------------------------------------------------- */

uint32_t compare_block(uint64_t from, uint64_t to, uint64_t at)
{
	if (at <= from || to <= from)
		return 0;
	uint64_t b = (uint64_t)((double)(at - from) / (double)(to - from) * COMPARE_BLOCKS);
	return b < COMPARE_BLOCKS ? (uint32_t)b : COMPARE_BLOCKS - 1;
}

static struct compared *compared_of(struct comparison *c, const char *name)
{
	uint64_t h = hash_bytes(name, strlen(name), hash_seed());
	size_t at = 0;
	for (uint32_t i; idmap_next(&c->index, h, &at, &i);)
		if (!strcmp(c->v.v[i].name, name))
			return &c->v.v[i];
	struct compared x = {.name = mem_strdup(name)};
	if (!x.name || vec_push(&c->v, x)) {
		mem_free(x.name);
		return NULL;
	}
	return idmap_put(&c->index, h, (uint32_t)(c->v.n - 1)) ? NULL : &c->v.v[c->v.n - 1];
}

int compare_add(struct comparison *c, int side, const char *name, uint32_t block, uint64_t ns,
		uint64_t n)
{
	struct compared *x = compared_of(c, name);
	if (!x)
		return ERR_NOMEM;
	x->ns[side][block] += (double)ns;
	x->n[side][block] += (double)n;
	return 0;
}

static double sum_of(const double *v)
{
	double sum = 0;
	for (int b = 0; b < COMPARE_BLOCKS; b++)
		sum += v[b];
	return sum;
}

/* The rate from the blocks' sums, of n events with a length of about `mean`. */
static struct estimate rate(const double *v, double n, double mean, double seconds)
{
	double sum = sum_of(v), square = 0;
	for (int b = 0; b < COMPARE_BLOCKS; b++)
		square += (v[b] - sum / COMPARE_BLOCKS) * (v[b] - sum / COMPARE_BLOCKS);
	double wide = student * sqrt(square / (COMPARE_BLOCKS - 1) * COMPARE_BLOCKS);
	double each = n > 0 ? sum / n : mean;
	double low = sum - wide, high = sum + wide;
	if (n < BLOCK_EVENTS) {
		low = fmin(low, count_low(n) * each);
		high = fmax(high, count_high(n) * each);
	}
	if (seconds <= 0)
		return (struct estimate){0, 0, INFINITY};
	return (struct estimate){sum / seconds, low > 0 ? low / seconds : 0, high / seconds};
}

/* The mean length of an event. */
static struct estimate mean_of(const double *ns, const double *n)
{
	double all = sum_of(n), mean = all > 0 ? sum_of(ns) / all : NAN, square = 0;
	if (all < MEAN_EVENTS)
		return (struct estimate){mean, 0, INFINITY};
	for (int b = 0; b < COMPARE_BLOCKS; b++)
		square += (ns[b] - mean * n[b]) * (ns[b] - mean * n[b]);
	double wide = student * sqrt(square * COMPARE_BLOCKS / (COMPARE_BLOCKS - 1)) / all;
	return (struct estimate){mean, fmax(mean - wide, 0), mean + wide};
}

/* The share of all samples, as time in a second. */
static struct estimate share_of(const double *ns, const double *all, double n)
{
	struct estimate e = mean_of(ns, all);
	double value = isnan(e.value) ? 0 : e.value;
	if (n < BLOCK_EVENTS) {
		double each = n > 0 ? value / n : sum_of(all) > 0 ? 1 / sum_of(all) : 0;
		e.low = fmin(e.low, count_low(n) * each);
		e.high = fmax(e.high, count_high(n) * each);
	}
	return (struct estimate){value * 1e9, e.low * 1e9, e.high * 1e9};
}

static void estimate_shares(const struct comparison *c, struct compared *x)
{
	const struct estimate none = {NAN, 0, INFINITY};
	for (int s = 0; s < COMPARE_SIDES; s++) {
		double n = sum_of(x->n[s]);
		x->time[s] = share_of(x->ns[s], c->all[s], n);
		x->mean[s] = x->count[s] = none;
		if (n < 1) { /* a sample of the other side weighs as much */
			double each = sum_of(x->n[!s]) > 0 && sum_of(c->all[!s]) > 0
					      ? sum_of(x->ns[!s]) / sum_of(x->n[!s]) /
							sum_of(c->all[!s])
					      : 0;
			x->time[s] = (struct estimate){0, 0, count_high(0) * each * 1e9};
		}
	}
}

static void estimate_all(const struct comparison *c, struct compared *x)
{
	double n[COMPARE_SIDES], ns[COMPARE_SIDES];
	if (c->samples) {
		estimate_shares(c, x);
		return;
	}
	for (int s = 0; s < COMPARE_SIDES; s++) {
		n[s] = sum_of(x->n[s]);
		ns[s] = sum_of(x->ns[s]);
	}
	for (int s = 0; s < COMPARE_SIDES; s++) {
		double seconds = (double)c->recorded_ns[s] / 1e9;
		double mean = n[!s] > 0 ? ns[!s] / n[!s] : 0; /* if this side has none */
		x->mean[s] = mean_of(x->ns[s], x->n[s]);
		x->time[s] = rate(x->ns[s], n[s], mean, seconds);
		x->count[s] = rate(x->n[s], n[s], 1, seconds);
	}
}

static int has_changed(const struct compared *x)
{
	return estimate_change(&x->mean[BEFORE], &x->mean[AFTER]) ||
	       estimate_change(&x->time[BEFORE], &x->time[AFTER]) ||
	       estimate_change(&x->count[BEFORE], &x->count[AFTER]);
}

static int compared_order(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;
	int cx = has_changed(x), cy = has_changed(y);
	double dx = fabs(x->time[AFTER].value - x->time[BEFORE].value);
	double dy = fabs(y->time[AFTER].value - y->time[BEFORE].value);
	if (cx != cy)
		return cx ? -1 : 1;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* --- names that differ between builds ----------------------------------------------------- */

enum { SIDE_BEFORE = 1, SIDE_AFTER = 2 };

static int sides_of(const struct compared *x)
{
	return (sum_of(x->n[BEFORE]) > 0 ? SIDE_BEFORE : 0) |
	       (sum_of(x->n[AFTER]) > 0 ? SIDE_AFTER : 0);
}

/* A word of a row's name without what builds differ in: a function's suffixes, a program's
 * version. */
static void put_word(struct buf *b, const char *word, int is_first)
{
	size_t n = strlen(word);
	struct buf part = {0};
	if (n > 2 && strstr(word, "()")) {
		buf_add(&part, word, (size_t)(strstr(word, "()") - word));
		match_symbol(b, buf_cstr(&part));
		buf_str(b, strstr(word, "()"));
	} else if (is_first || *word == '[') {
		size_t end = strcspn(word, "]:,");
		buf_add(&part, word, end);
		match_file_stem(b, buf_cstr(&part));
		buf_str(b, word + end);
	} else {
		buf_str(b, word);
	}
	if (buf_failed(&part))
		b->failed = buf_failed(&part);
	buf_release(&part);
}

void compare_name_stem(struct buf *b, const char *name)
{
	struct buf word = {0};
	buf_clear(b);
	for (const char *s = name; *s;) {
		size_t n = strcspn(s, " ");
		buf_clear(&word);
		buf_add(&word, s, n);
		put_word(b, buf_cstr(&word), s == name);
		if (buf_failed(&word))
			b->failed = buf_failed(&word);
		s += n;
		if (*s)
			buf_char(b, *s++);
	}
	buf_release(&word);
}

static void add_figures(struct compared *to, const struct compared *from)
{
	for (int s = 0; s < COMPARE_SIDES; s++)
		for (int b = 0; b < COMPARE_BLOCKS; b++) {
			to->ns[s][b] += from->ns[s][b];
			to->n[s][b] += from->n[s][b];
		}
}

struct stem {
	char *text;
	size_t row;
	int sides;
};

static int stem_order(const void *a, const void *b)
{
	const struct stem *x = a, *y = b;
	int c = strcmp(x->text, y->text);
	c = c ? c : y->sides - x->sides;
	return c ? c : x->row < y->row ? -1 : x->row > y->row;
}

/* Add rows [0, n) to the first, which is one of AFTER. */
static void unite_rows(struct comparison *c, const struct stem *v, size_t n)
{
	int sides = 0;
	for (size_t i = 0; i < n; i++)
		sides |= v[i].sides;
	if (sides != (SIDE_BEFORE | SIDE_AFTER))
		return;
	for (size_t i = 1; i < n; i++) {
		add_figures(&c->v.v[v[0].row], &c->v.v[v[i].row]);
		mem_free(c->v.v[v[i].row].name);
		c->v.v[v[i].row].name = NULL;
	}
}

static void drop_united(struct comparison *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->v.n; i++)
		if (c->v.v[i].name)
			c->v.v[kept++] = c->v.v[i];
	c->v.n = kept;
	idmap_release(&c->index);
}

static int match_rows(struct comparison *c)
{
	VEC(struct stem) v = {0};
	struct buf b = {0};
	int rc = 0;
	for (size_t i = 0; i < c->v.n && !rc; i++) {
		struct stem s = {.row = i, .sides = sides_of(&c->v.v[i])};
		if (s.sides != SIDE_BEFORE && s.sides != SIDE_AFTER)
			continue;
		compare_name_stem(&b, c->v.v[i].name);
		s.text = mem_strdup(buf_cstr(&b));
		rc = buf_failed(&b) || !s.text || vec_push(&v, s) ? ERR_NOMEM : 0;
		if (rc)
			mem_free(s.text);
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), stem_order);
	for (size_t from = 0, to; from < v.n && !rc; from = to) {
		for (to = from + 1; to < v.n && !strcmp(v.v[from].text, v.v[to].text);)
			to++;
		unite_rows(c, v.v + from, to - from);
	}
	for (size_t i = 0; i < v.n; i++)
		mem_free(v.v[i].text);
	vec_release(&v);
	buf_release(&b);
	drop_united(c);
	return rc;
}

int compare_finish(struct comparison *c)
{
	if (!c->samples && match_rows(c))
		return ERR_NOMEM;
	for (size_t i = 0; i < c->v.n; i++)
		for (int s = 0; s < COMPARE_SIDES; s++)
			for (int b = 0; b < COMPARE_BLOCKS; b++)
				c->all[s][b] += c->v.v[i].ns[s][b];
	for (size_t i = 0; i < c->v.n; i++)
		estimate_all(c, &c->v.v[i]);
	if (c->v.n)
		qsort(c->v.v, c->v.n, sizeof(*c->v.v), compared_order);
	return 0;
}

void compare_release(struct comparison *c)
{
	for (size_t i = 0; i < c->v.n; i++)
		mem_free(c->v.v[i].name);
	vec_release(&c->v);
	idmap_release(&c->index);
}
