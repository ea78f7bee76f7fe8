#include "libtime/tables/source_rows.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- the rows of one recording ---------------------------------------------------------- */

struct making {
	struct source_rows *out;
	const struct source_sums *s;
	uint32_t *child, *next; /* lists of lines: first inlined in, next of the same parent */
};

static int by_line(const void *a, const void *b, void *sums)
{
	const struct source_sums *s = sums;
	const struct source_line *x = &s->lines.v[*(const uint32_t *)a];
	const struct source_line *y = &s->lines.v[*(const uint32_t *)b];
	const struct strtab *t = &s->stacks->strings;
	int c = x->file == y->file ? 0 : strcmp(strtab_get(t, x->file), strtab_get(t, y->file));
	if (c)
		return c;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(strtab_get(&s->names, s->functions.v[x->function].name),
		      strtab_get(&s->names, s->functions.v[y->function].name));
}

/* Below an inlined call, the heaviest first. */
static int by_weight(const void *a, const void *b, void *sums)
{
	const struct source_sums *s = sums;
	const struct source_line *x = &s->lines.v[*(const uint32_t *)a];
	const struct source_line *y = &s->lines.v[*(const uint32_t *)b];
	if (x->w.total != y->w.total)
		return x->w.total > y->w.total ? -1 : 1;
	return by_line(a, b, sums);
}

static int push(struct making *m, uint32_t line, uint32_t depth)
{
	const struct source_line *l = &m->s->lines.v[line];
	struct source_row r = {.file = l->file,
			       .line = l->line,
			       .dso = l->dso,
			       .depth = depth,
			       .function = l->function,
			       .of = line,
			       .w[AFTER] = l->w};
	return vec_push(&m->out->v, r);
}

/* The lines inlined in `parent`, and what is inlined in these. Inlining is at most as deep as
 * MODULE_FRAMES_MAX. */
static int push_inlined(struct making *m, uint32_t parent, uint32_t depth)
{
	VEC(uint32_t) v = {0};
	int rc = 0;
	for (uint32_t i = m->child[parent]; i && !rc; i = m->next[i - 1])
		rc = vec_push(&v, i - 1);
	if (!rc && v.n)
		qsort_r(v.v, v.n, sizeof(*v.v), by_weight, (void *)m->s);
	for (size_t i = 0; i < v.n && !rc; i++) {
		rc = push(m, v.v[i], depth);
		rc = rc ? rc : push_inlined(m, v.v[i], depth + 1);
	}
	vec_release(&v);
	return rc;
}

static uint64_t weight_of(const struct source_rows *r, const struct source_part *p)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct source_row *x = &r->v.v[p->first + i];
		if (!x->depth)
			sum += x->w[AFTER].self + x->w[AFTER].inlined + x->w[BEFORE].self +
			       x->w[BEFORE].inlined;
	}
	return sum;
}

static int heavier(const void *a, const void *b, void *rows)
{
	const struct source_part *x = a, *y = b;
	uint64_t v = weight_of(rows, x), w = weight_of(rows, y);
	if (v != w)
		return v > w ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Rows are sorted by file: note where each begins. */
static int divide(struct source_rows *r)
{
	r->files.n = 0;
	for (uint32_t i = 0; i < r->v.n; i++) {
		const struct source_row *x = &r->v.v[i];
		struct source_part *p = r->files.n ? &r->files.v[r->files.n - 1] : NULL;
		if (!p || (!x->depth && p->file != x->file)) {
			struct source_part new = {.file = x->file, .first = i};
			if (vec_push(&r->files, new))
				return ERR_NOMEM;
			p = &r->files.v[r->files.n - 1];
		}
		p->n++;
	}
	if (r->files.n)
		qsort_r(r->files.v, r->files.n, sizeof(*r->files.v), heavier, r);
	return 0;
}

static int list_inlined(struct making *m)
{
	size_t n = m->s->lines.n;
	m->child = mem_zalloc(n + 1, sizeof(*m->child));
	m->next = mem_zalloc(n + 1, sizeof(*m->next));
	if (!m->child || !m->next)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = m->s->lines.v[i].parent;
		if (parent != NO_ID) {
			m->next[i] = m->child[parent];
			m->child[parent] = i + 1;
		}
	}
	return 0;
}

int source_rows_of(struct source_rows *out, const struct source_sums *s, uint32_t function,
		   int inlines)
{
	struct making m = {.out = out, .s = s};
	VEC(uint32_t) own = {0};
	int rc = inlines ? list_inlined(&m) : 0;
	for (uint32_t i = 0; i < s->lines.n && !rc; i++)
		if (s->lines.v[i].function == function && s->lines.v[i].parent == NO_ID)
			rc = vec_push(&own, i);
	if (!rc && own.n)
		qsort_r(own.v, own.n, sizeof(*own.v), by_line, (void *)s);
	for (size_t i = 0; i < own.n && !rc; i++) {
		rc = push(&m, own.v[i], 0);
		rc = rc || !inlines ? rc : push_inlined(&m, own.v[i], 1);
	}
	rc = rc ? rc : divide(out);
	vec_release(&own);
	mem_free(m.child);
	mem_free(m.next);
	return rc;
}

int source_rows_near(struct source_rows *r, uint32_t line)
{
	enum { NEAR = 10 };
	size_t n = 0;
	int keep = 0;
	for (size_t i = 0; i < r->v.n; i++) {
		const struct source_row *x = &r->v.v[i];
		if (!x->depth)
			keep = (uint64_t)x->line + NEAR >= line &&
			       x->line <= (uint64_t)line + NEAR;
		if (keep)
			r->v.v[n++] = *x;
	}
	r->v.n = n;
	return divide(r);
}

void source_rows_release(struct source_rows *r)
{
	vec_release(&r->v);
	vec_release(&r->files);
}

/* --- two recordings --------------------------------------------------------------------- */

static void add_weight(struct source_weight *to, const struct source_weight *w)
{
	to->self += w->self;
	to->inlined += w->inlined;
	to->total += w->total;
}

static int row_order(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->gone - y->gone;
}

int source_rows_against(struct source_rows *out, const struct source_sums *before,
			uint32_t function,
			int (*where)(void *ctx, const struct source_line *was, uint32_t *file,
				     uint32_t *line),
			void *ctx)
{
	int rc = 0;
	for (uint32_t i = 0; i < before->lines.n && !rc; i++) {
		const struct source_line *l = &before->lines.v[i];
		struct source_row r = {.line = l->line, .of = NO_ID, .w[BEFORE] = l->w};
		if (l->function != function || l->parent != NO_ID)
			continue;
		r.gone = !where(ctx, l, &r.file, &r.line);
		rc = vec_push(&out->v, r);
	}
	if (!rc && out->v.n)
		qsort(out->v.v, out->v.n, sizeof(*out->v.v), row_order);
	size_t n = 0;
	for (size_t i = 0; i < out->v.n; i++) {
		struct source_row *x = &out->v.v[i], *last = n ? &out->v.v[n - 1] : NULL;
		if (!last || row_order(last, x)) {
			out->v.v[n++] = *x;
			continue;
		}
		add_weight(&last->w[BEFORE], &x->w[BEFORE]);
		add_weight(&last->w[AFTER], &x->w[AFTER]);
		last->dso = last->dso ? last->dso : x->dso;
		last->of = last->of != NO_ID ? last->of : x->of;
	}
	out->v.n = n;
	return rc ? rc : divide(out);
}

/* --- lines of two texts ----------------------------------------------------------------- */

/* Longest common subsequence by the table of all pairs, up to so many. */
enum { PAIRS_MAX = 4 << 20 };

static void walk(const uint64_t *a, size_t m, const uint64_t *b, size_t n, const uint32_t *len,
		 size_t skipped, uint32_t *at)
{
	size_t i = 0, k = 0, w = n + 1;
	while (i < m && k < n) {
		if (a[i] == b[k]) {
			at[skipped + i] = (uint32_t)(skipped + k + 1);
			i++;
			k++;
		} else if (len[(i + 1) * w + k] >= len[i * w + k + 1]) {
			i++;
		} else {
			k++;
		}
	}
}

int source_match_lines(const uint64_t *a, size_t m, const uint64_t *b, size_t n, uint32_t **at)
{
	size_t head = 0, tail = 0;
	uint32_t *v = *at = mem_zalloc(m + 1, sizeof(*v));
	if (!v)
		return ERR_NOMEM;
	while (head < m && head < n && a[head] == b[head]) {
		v[head] = (uint32_t)head + 1;
		head++;
	}
	while (tail < m - head && tail < n - head && a[m - 1 - tail] == b[n - 1 - tail]) {
		v[m - 1 - tail] = (uint32_t)(n - tail);
		tail++;
	}
	size_t p = m - head - tail, q = n - head - tail;
	if (!p || !q || p > PAIRS_MAX / (q + 1))
		return 0;
	uint32_t *len = mem_zalloc((p + 1) * (q + 1), sizeof(*len));
	if (!len)
		return ERR_NOMEM;
	for (size_t i = p; i-- > 0;)
		for (size_t k = q; k-- > 0;) {
			uint32_t down = len[(i + 1) * (q + 1) + k],
				 right = len[i * (q + 1) + k + 1];
			len[i * (q + 1) + k] = a[head + i] == b[head + k]
						       ? len[(i + 1) * (q + 1) + k + 1] + 1
					       : down > right ? down
							      : right;
		}
	walk(a + head, p, b + head, q, len, head, v);
	mem_free(len);
	return 0;
}
