#include "libtime/tables/runs.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *figure_kind_name(unsigned kind)
{
	static const char *const names[FIGURE_KINDS] = {"whole", "function", "function", "site",
							"cause", "root",     "wait",     "span",
							"span",  "span"};
	return kind < FIGURE_KINDS ? names[kind] : "";
}

const char *runs_verdict_name(unsigned verdict)
{
	static const char *const names[] = {"cannot say", "same", "less", "more"};
	return verdict <= RUNS_MORE ? names[verdict] : "";
}

static int is_length(unsigned kind)
{
	return kind == FIGURE_WAIT_LENGTH || kind == FIGURE_SPAN_LENGTH;
}

/* --- the figures ------------------------------------------------------------------------ */

int runs_begin(struct runs *r, int side, const char *name)
{
	struct run x = {.side = side, .name = mem_strdup(name)};
	if (!x.name || vec_push(&r->v, x)) {
		mem_free(x.name);
		return ERR_NOMEM;
	}
	r->n[side]++;
	return 0;
}

static uint64_t key_of(unsigned kind, const char *name, uint32_t millipercent)
{
	return hash_bytes(name, strlen(name), hash_seed() + kind + (uint64_t)millipercent * 16);
}

static struct figure *figure_of(struct runs *r, unsigned kind, const char *name,
				uint32_t millipercent)
{
	size_t at = 0;
	uint64_t h = key_of(kind, name, millipercent);
	for (uint32_t i; idmap_next(&r->index, h, &at, &i);) {
		struct figure *f = &r->figures.v[i];
		if (f->kind == kind && f->millipercent == millipercent &&
		    !strcmp(f->name, name))
			return f;
	}
	return NULL;
}

static struct figure *figure_made(struct runs *r, unsigned kind, const char *name,
				  uint32_t millipercent)
{
	struct figure *found = figure_of(r, kind, name, millipercent);
	struct figure x = {.kind = (uint8_t)kind, .millipercent = millipercent};
	if (found)
		return found;
	x.name = mem_strdup(name);
	if (!x.name || vec_push(&r->figures, x)) {
		mem_free(x.name);
		return NULL;
	}
	return idmap_put(&r->index, key_of(kind, name, millipercent),
			 (uint32_t)(r->figures.n - 1))
		       ? NULL
		       : &r->figures.v[r->figures.n - 1];
}

/* Room for the values of n runs. */
static int extend(struct figure *f, size_t n)
{
	double *v = f->runs < n ? mem_resize(f->value, n, sizeof(*v)) : f->value;
	if (!v)
		return f->runs < n ? ERR_NOMEM : 0;
	for (size_t i = f->runs; i < n; i++)
		v[i] = is_length(f->kind) ? NAN : 0;
	f->value = v;
	f->runs = n > f->runs ? n : f->runs;
	return 0;
}

static void add_value(double *to, double more)
{
	if (!isnan(more))
		*to = isnan(*to) ? more : *to + more;
}

int runs_add(struct runs *r, unsigned kind, const char *name, uint32_t millipercent,
	     unsigned unit, double value)
{
	struct figure *f = figure_made(r, kind, name, millipercent);
	if (!f || extend(f, r->v.n))
		return ERR_NOMEM;
	f->unit = (uint8_t)unit;
	add_value(&f->value[r->v.n - 1], value);
	return 0;
}

static int join(struct runs *r, struct figure *to, struct figure *from)
{
	if (extend(to, r->v.n) || extend(from, r->v.n))
		return ERR_NOMEM;
	to->unit = from->unit;
	for (size_t i = 0; i < r->v.n; i++) {
		add_value(&to->value[i], from->value[i]);
		from->value[i] = is_length(from->kind) ? NAN : 0;
	}
	return 0;
}

int runs_rename(struct runs *r, const char *from, const char *to)
{
	for (unsigned kind = FIGURE_SELF; kind <= FIGURE_TOTAL; kind++) {
		struct figure *x = figure_of(r, kind, from, 0);
		size_t at = x ? (size_t)(x - r->figures.v) : 0;
		struct figure *y = x ? figure_made(r, kind, to, 0) : NULL;
		if (x && (!y || join(r, y, &r->figures.v[at])))
			return ERR_NOMEM;
	}
	return 0;
}

/* --- names that differ by a version ----------------------------------------------------- */

struct stem {
	char *text;
	size_t figure;
	int sides;
};

static int sides_of(const struct runs *r, const struct figure *f)
{
	int sides = 0;
	for (size_t i = 0; i < r->v.n; i++)
		if (f->value[i] > 0)
			sides |= 1 << r->v.v[i].side;
	return sides;
}

static int stem_order(const void *a, const void *b)
{
	const struct stem *x = a, *y = b;
	int c = strcmp(x->text, y->text);
	c = c ? c : y->sides - x->sides;
	return c ? c : x->figure < y->figure ? -1 : x->figure > y->figure;
}

/* Join figures of one stem, kind and percentile, if both sides have some. */
static int join_stems(struct runs *r, const struct stem *v, size_t n)
{
	enum { BOTH = 1 << BEFORE | 1 << AFTER };
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && !strcmp(v[i].text, v[k].text); k++) {
			struct figure *x = &r->figures.v[v[i].figure];
			struct figure *y = &r->figures.v[v[k].figure];
			if (x->kind == y->kind && x->millipercent == y->millipercent &&
			    (v[i].sides | v[k].sides) == BOTH && v[i].sides != BOTH &&
			    v[k].sides != BOTH && join(r, x, y))
				return ERR_NOMEM;
		}
	return 0;
}

/* Functions are matched by those who add them. */
static int match_names(struct runs *r)
{
	VEC(struct stem) v = {0};
	struct buf b = {0};
	int rc = 0;
	for (size_t i = 0; i < r->figures.n && !rc; i++) {
		const struct figure *f = &r->figures.v[i];
		struct stem s = {.figure = i, .sides = sides_of(r, f)};
		if (f->kind == FIGURE_SELF || f->kind == FIGURE_TOTAL)
			continue;
		compare_name_stem(&b, f->name);
		s.text = mem_strdup(buf_cstr(&b));
		rc = buf_failed(&b) || !s.text || vec_push(&v, s) ? ERR_NOMEM : 0;
		if (rc)
			mem_free(s.text);
	}
	if (v.n && !rc) {
		qsort(v.v, v.n, sizeof(*v.v), stem_order);
		rc = join_stems(r, v.v, v.n);
	}
	for (size_t i = 0; i < v.n; i++)
		mem_free(v.v[i].text);
	vec_release(&v);
	buf_release(&b);
	return rc;
}

/* Figures without any value go. */
static void drop_empty(struct runs *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->figures.n; i++)
		if (sides_of(r, &r->figures.v[i])) {
			r->figures.v[kept++] = r->figures.v[i];
		} else {
			mem_free(r->figures.v[i].name);
			mem_free(r->figures.v[i].value);
		}
	r->figures.n = kept;
	idmap_release(&r->index);
}

/* --- chance ------------------------------------------------------------------------------- */

enum { EXACT = 1600 }; /* pairs of runs up to which the distribution is computed */

/* Of U with n and m runs: p[u], u in 0..n·m. By the run with the largest value, which is one of
 * the n with probability n / (n + m), and then above all m others. NULL: no memory. */
static double *distribution(size_t n, size_t m)
{
	size_t most = n * m + 1;
	double *p = mem_zalloc((n + 1) * most, sizeof(*p));
	double *next = mem_zalloc(most, sizeof(*next));
	if (!p || !next) {
		mem_free(p);
		mem_free(next);
		return NULL;
	}
	for (size_t i = 0; i <= n; i++)
		p[i * most] = 1; /* no others */
	for (size_t j = 1; j <= m; j++)
		for (size_t i = 1; i <= n; i++) {
			double own = (double)i / (double)(i + j);
			for (size_t u = 0; u < most; u++)
				next[u] = (1 - own) * p[i * most + u] +
					  (u >= j ? own * p[(i - 1) * most + u - j] : 0);
			memcpy(p + i * most, next, most * sizeof(*next));
		}
	memmove(p, p + n * most, most * sizeof(*p));
	mem_free(next);
	return p;
}

/* The cumulative distribution of one pair of group sizes, kept between calls. */
struct chances {
	size_t n, m;
	double *at_most; /* NULL: approximated */
};

static int chances_of(struct chances *c, size_t n, size_t m)
{
	if (c->n == n && c->m == m && n)
		return 0;
	mem_free(c->at_most);
	*c = (struct chances){n, m, NULL};
	if (!n || !m || n * m > EXACT)
		return 0;
	c->at_most = distribution(n, m);
	for (size_t u = 1; c->at_most && u <= n * m; u++)
		c->at_most[u] += c->at_most[u - 1];
	return c->at_most ? 0 : ERR_NOMEM;
}

/* P(U <= u); half values, which ties make, are rounded to the less likely side by callers. */
static double at_most(const struct chances *c, double u)
{
	double pairs = (double)c->n * (double)c->m;
	if (u < 0)
		return 0;
	if (u >= pairs || pairs < 1)
		return 1;
	if (c->at_most)
		return c->at_most[(size_t)u];
	double sd = sqrt(pairs * (double)(c->n + c->m + 1) / 12);
	return erfc(-(floor(u) + 0.5 - pairs / 2) / sd / sqrt(2)) / 2;
}

static double chance_at_most(size_t n, size_t m, double u)
{
	struct chances c = {0};
	double p = chances_of(&c, n, m) ? 1 : at_most(&c, u);
	mem_free(c.at_most);
	return p;
}

static int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(const double *v, size_t n)
{
	return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
}

/* The values of one side that are known, sorted; their number. */
static size_t values_of(const struct runs *r, const struct figure *f, int side, double *out)
{
	size_t n = 0;
	for (size_t i = 0; i < r->v.n; i++)
		if (r->v.v[i].side == side && !isnan(f->value[i]))
			out[n++] = f->value[i];
	if (n)
		qsort(out, n, sizeof(*out), double_order);
	return n;
}

/* Memory for one figure at a time. */
struct room {
	double *before, *after, *pairs;
	struct chances chances;
};

/* The change of the medians may lie outside of the range that the pairs have. */
static void set_range(struct figure *f, const struct room *w, size_t pairs)
{
	size_t skip = 0; /* how many differences at each end chance may explain */
	while (skip < pairs / 2 && at_most(&w->chances, (double)skip) <= RUNS_LEVEL / 2)
		skip++;
	f->low = skip ? fmax(fmin(w->pairs[skip - 1], f->difference), -f->before) : -INFINITY;
	f->high = skip ? fmax(w->pairs[pairs - skip], f->difference) : INFINITY;
}

static int estimate(const struct runs *r, struct figure *f, struct room *w)
{
	size_t n = values_of(r, f, BEFORE, w->before), m = values_of(r, f, AFTER, w->after);
	size_t pairs = 0;
	double u = 0; /* pairs in which AFTER is larger */
	f->before = median(w->before, n);
	f->after = median(w->after, m);
	f->more = f->less = f->chance = 1;
	f->difference = NAN;
	f->low = -INFINITY;
	f->high = INFINITY;
	if (!n || !m)
		return 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++) {
			double d = w->after[k] - w->before[i];
			w->pairs[pairs++] = d;
			u += d > 0 ? 1 : d < 0 ? 0 : 0.5;
		}
	if (chances_of(&w->chances, n, m))
		return ERR_NOMEM;
	qsort(w->pairs, pairs, sizeof(*w->pairs), double_order);
	f->difference = f->after - f->before;
	set_range(f, w, pairs);
	f->less = at_most(&w->chances, ceil(u));
	f->more = at_most(&w->chances, ceil((double)pairs - u));
	f->chance = fmin(1, 2 * fmin(f->less, f->more));
	return 0;
}

struct ranked {
	double chance;
	size_t at;
};

static int ranked_order(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->chance != y->chance)
		return x->chance < y->chance ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

int runs_correct(double *chance, size_t n)
{
	struct ranked *v = mem_zalloc(n + 1, sizeof(*v));
	double least = 1;
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct ranked){chance[i], i};
	if (n)
		qsort(v, n, sizeof(*v), ranked_order);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, v[i].chance * (double)n / (double)(i + 1));
		chance[v[i].at] = least;
	}
	mem_free(v);
	return 0;
}

/* --- verdicts ----------------------------------------------------------------------------- */

/* Which kind's sum an effect is a share of; -1: of the figure itself. */
static int total_kind(unsigned kind)
{
	switch (kind) {
	case FIGURE_SELF:
	case FIGURE_TOTAL:
		return FIGURE_SELF;
	case FIGURE_SITE:
	case FIGURE_CAUSE:
		return FIGURE_CAUSE;
	case FIGURE_ROOT:
	case FIGURE_SPAN:
		return (int)kind;
	default:
		return -1;
	}
}

/* The median over all runs of a kind's sum. */
static double total_of(const struct runs *r, int kind, double *room)
{
	for (size_t i = 0; i < r->v.n; i++) {
		room[i] = 0;
		for (size_t k = 0; k < r->figures.n; k++)
			if (r->figures.v[k].kind == kind)
				room[i] += r->figures.v[k].value[i];
	}
	if (r->v.n)
		qsort(room, r->v.n, sizeof(*room), double_order);
	return r->v.n ? median(room, r->v.n) : 0;
}

static double largest(const struct runs *r, const struct figure *f)
{
	double most = 0;
	for (size_t i = 0; i < r->v.n; i++)
		most = f->value[i] > most ? f->value[i] : most;
	return most;
}

static void set_verdict(struct figure *f)
{
	if (!f->tested || (f->low > -f->least && f->high < f->least))
		f->verdict = RUNS_SAME;
	else
		f->verdict = RUNS_CANNOT_SAY;
	double one_sided = f->difference > 0 ? f->more : f->less;
	if (f->tested && f->chance <= RUNS_LEVEL && one_sided <= RUNS_LEVEL &&
	    fabs(f->difference) >= f->least && f->difference != 0)
		f->verdict = f->difference > 0 ? RUNS_MORE : RUNS_LESS;
}

static int figure_order(const void *a, const void *b)
{
	const struct figure *x = a, *y = b;
	int cx = x->verdict >= RUNS_LESS, cy = y->verdict >= RUNS_LESS;
	double dx = fabs(x->difference), dy = fabs(y->difference);
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (is_length(x->kind) || x->kind == FIGURE_WHOLE) {
		int c = strcmp(x->name, y->name);
		return c ? c : x->millipercent < y->millipercent ? -1 : 1;
	}
	if (x->tested != y->tested)
		return x->tested ? -1 : 1;
	if (cx != cy)
		return cx ? -1 : 1;
	if (!isnan(dx) && !isnan(dy) && dx != dy)
		return dx > dy ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int judge(struct runs *r, struct room *w)
{
	double total[FIGURE_KINDS] = {0};
	double *chance = mem_zalloc(r->figures.n + 1, sizeof(*chance));
	int rc = chance ? 0 : ERR_NOMEM;
	size_t n = 0;
	for (int k = 0; k < FIGURE_KINDS && !rc; k++)
		total[k] = total_kind((unsigned)k) == k ? total_of(r, k, w->before) : 0;
	for (size_t i = 0; i < r->figures.n && !rc; i++) {
		struct figure *f = &r->figures.v[i];
		int of = total_kind(f->kind);
		rc = estimate(r, f, w);
		f->least = r->least_share * (of >= 0            ? total[of]
					     : isnan(f->before) ? 0
								: f->before);
		f->tested = largest(r, f) >= f->least;
		if (f->tested)
			chance[n++] = f->chance;
	}
	rc = rc ? rc : runs_correct(chance, n);
	r->tested = n;
	n = 0;
	for (size_t i = 0; i < r->figures.n && !rc; i++) {
		struct figure *f = &r->figures.v[i];
		f->chance = f->tested ? chance[n++] : 1;
		set_verdict(f);
	}
	mem_free(chance);
	return rc;
}

static void set_order(struct runs *r)
{
	uint64_t first[COMPARE_SIDES] = {UINT64_MAX, UINT64_MAX}, last[COMPARE_SIDES] = {0};
	double later = 0, pairs = (double)r->n[BEFORE] * (double)r->n[AFTER];
	for (size_t i = 0; i < r->v.n; i++) {
		const struct run *x = &r->v.v[i];
		if (!x->when_ns)
			return;
		first[x->side] = x->when_ns < first[x->side] ? x->when_ns : first[x->side];
		last[x->side] = x->when_ns > last[x->side] ? x->when_ns : last[x->side];
		for (size_t k = r->n[BEFORE]; x->side == BEFORE && k < r->v.n; k++)
			later += r->v.v[k].when_ns > x->when_ns;
	}
	double chance = chance_at_most(r->n[BEFORE], r->n[AFTER], fmin(later, pairs - later));
	r->order = last[BEFORE] < first[AFTER]   ? RUNS_SPLIT
		   : last[AFTER] < first[BEFORE] ? RUNS_SWAPPED
		   : 2 * chance <= RUNS_LEVEL    ? RUNS_APART
						 : RUNS_MIXED;
}

int runs_finish(struct runs *r)
{
	size_t n = r->v.n;
	struct room w = {.before = mem_zalloc(n + 1, sizeof(double)),
			 .after = mem_zalloc(n + 1, sizeof(double)),
			 .pairs = mem_zalloc(r->n[BEFORE] * r->n[AFTER] + 1, sizeof(double))};
	int rc = w.before && w.after && w.pairs ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < r->figures.n && !rc; i++)
		rc = extend(&r->figures.v[i], n);
	rc = rc ? rc : match_names(r);
	if (!rc)
		drop_empty(r);
	rc = rc ? rc : judge(r, &w);
	if (!rc && r->figures.n)
		qsort(r->figures.v, r->figures.n, sizeof(*r->figures.v), figure_order);
	r->attainable = 2 * chance_at_most(r->n[BEFORE], r->n[AFTER], 0);
	set_order(r);
	mem_free(w.before);
	mem_free(w.after);
	mem_free(w.pairs);
	mem_free(w.chances.at_most);
	return rc;
}

size_t runs_needed(size_t rows)
{
	size_t n = 1;
	double chance = 1; /* 2 / C(2n, n) */
	while (chance * (double)(rows ? rows : 1) > RUNS_LEVEL) {
		n++;
		chance *= (double)n * (double)n / ((double)(2 * n) * (double)(2 * n - 1));
	}
	return n;
}

int runs_drift(const struct runs *r, const struct figure *f)
{
	double s = 0, variance = 0;
	for (size_t i = 0; i < r->v.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct run *x = &r->v.v[i], *y = &r->v.v[k];
			double d = f->value[i] - f->value[k];
			if (x->side != y->side || d == 0 || isnan(d) ||
			    x->when_ns == y->when_ns)
				continue;
			s += (d > 0) == (x->when_ns > y->when_ns) ? 1 : -1;
		}
	for (int side = 0; side < COMPARE_SIDES; side++) {
		double n = (double)r->n[side];
		variance += n * (n - 1) * (2 * n + 5) / 18; /* Kendall's */
	}
	double z = variance > 0 && r->order ? s / sqrt(variance) : 0;
	return z > 2.576 ? 1 : z < -2.576 ? -1 : 0;
}

void runs_release(struct runs *r)
{
	for (size_t i = 0; i < r->v.n; i++)
		mem_free(r->v.v[i].name);
	for (size_t i = 0; i < r->figures.n; i++) {
		mem_free(r->figures.v[i].name);
		mem_free(r->figures.v[i].value);
	}
	vec_release(&r->v);
	vec_release(&r->figures);
	idmap_release(&r->index);
}
