#include "render/flame/flame_runs.h"
#include "base/mem.h"
#include "libtime/tables/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what each run has ------------------------------------------------------------------ */

static int grow(uint64_t **v, size_t *n, size_t to)
{
	uint64_t *x = *n < to ? mem_resize(*v, to, sizeof(*x)) : *v;
	if (*n >= to)
		return 0;
	if (!x)
		return ERR_NOMEM;
	memset(x + *n, 0, (to - *n) * sizeof(*x));
	*v = x;
	*n = to;
	return 0;
}

int flame_runs_take(struct flame *f, int side, const char *name)
{
	struct flame_runs *r = f->runs;
	int which = side == AFTER ? 0 : 1;
	struct flame_run x = {.side = side, .factor = 1, .name = mem_strdup(name)};
	int rc = x.name ? grow(&r->seen[which], &r->nseen[which], f->nodes.n) : ERR_NOMEM;
	rc = rc ? rc : grow(&x.self, &x.n, f->nodes.n);
	for (size_t i = 0; i < f->nodes.n && !rc; i++) {
		x.self[i] = f->nodes.v[i].v[which] - r->seen[which][i];
		r->seen[which][i] = f->nodes.v[i].v[which];
	}
	rc = rc ? rc : vec_push(&r->v, x) ? ERR_NOMEM : 0;
	if (rc) {
		mem_free(x.name);
		mem_free(x.self);
	}
	return rc;
}

size_t flame_runs_of(const struct flame_runs *r, int side)
{
	size_t n = 0;
	for (size_t i = 0; i < r->v.n; i++)
		n += r->v.v[i].side == side;
	return n;
}

int flame_runs_moved(struct flame *f, const uint32_t *to, size_t n)
{
	for (size_t k = 0; f->runs && k < f->runs->v.n; k++) {
		struct flame_run *x = &f->runs->v.v[k];
		uint64_t *self = NULL;
		size_t room = 0;
		if (grow(&self, &room, f->nodes.n))
			return ERR_NOMEM;
		self[0] = x->n ? x->self[0] : 0;
		for (size_t i = 1; i < n && i < x->n; i++)
			if (to[i])
				self[to[i]] += x->self[i];
		mem_free(x->self);
		x->self = self;
		x->n = room;
	}
	return 0;
}

int flame_runs_copy(struct flame *f, uint32_t from, uint32_t to)
{
	for (size_t k = 0; f->runs && k < f->runs->v.n; k++) {
		struct flame_run *x = &f->runs->v.v[k];
		if (grow(&x->self, &x->n, f->nodes.n))
			return ERR_NOMEM;
		x->self[to] += x->self[from];
	}
	return 0;
}

void flame_runs_rescale(struct flame_runs *r, uint64_t by)
{
	for (size_t k = 0; k < r->v.n; k++)
		for (size_t i = 0; i < r->v.v[k].n; i++)
			r->v.v[k].self[i] *= by;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < r->nseen[s]; i++)
			r->seen[s][i] *= by;
}

/* --- chance ----------------------------------------------------------------------------- */

static int sum_up(struct flame *f)
{
	struct flame_runs *r = f->runs;
	size_t nruns = r->v.n, n = f->nodes.n;
	r->total = mem_zalloc(n * nruns + 1, sizeof(*r->total));
	r->changed = mem_zalloc(n + 1, 1);
	if (!r->total || !r->changed)
		return ERR_NOMEM;
	for (size_t k = 0; k < nruns; k++)
		for (size_t i = n; i-- > 0;) {
			const struct flame_run *x = &r->v.v[k];
			uint64_t self = i < x->n ? x->self[i] : 0;
			uint64_t *to = &r->total[i * nruns + k];
			uint32_t parent = f->nodes.v[i].parent;
			*to += (uint64_t)((double)self * x->factor + 0.5);
			if (i && parent) /* the root has the sum */
				r->total[parent * nruns + k] += *to;
		}
	return 0;
}

static uint64_t largest(const struct flame_runs *r, size_t node)
{
	uint64_t most = 0;
	for (size_t k = 0; k < r->v.n; k++)
		if (r->total[node * r->v.n + k] > most)
			most = r->total[node * r->v.n + k];
	return most;
}

static int add_figures(const struct flame *f, struct runs *s)
{
	const struct flame_runs *r = f->runs;
	char name[24];
	int rc = 0;
	for (size_t k = 0; k < r->v.n && !rc; k++) {
		rc = runs_begin(s, r->v.v[k].side, r->v.v[k].name);
		rc = rc ? rc : runs_add(s, FIGURE_SELF, "", 0, FIGURE_NS, (double)r->total[k]);
		for (size_t i = 1; i < f->nodes.n && !rc; i++) {
			if ((double)largest(r, i) < r->least)
				continue;
			snprintf(name, sizeof(name), "%zu", i);
			rc = runs_add(s, FIGURE_TOTAL, name, 0, FIGURE_NS,
				      (double)r->total[i * r->v.n + k]);
		}
	}
	return rc;
}

/* Pairs of runs that are in the other order than most; ties are half a pair. */
static long other_order(const struct runs *s, const struct figure *x)
{
	long less = 0, more = 0;
	for (size_t i = 0; i < s->n[BEFORE]; i++)
		for (size_t k = s->n[BEFORE]; k < s->v.n; k++) {
			less += x->value[k] <= x->value[i];
			more += x->value[k] >= x->value[i];
		}
	return less < more ? less : more;
}

int flame_runs_judge(struct flame *f, double least)
{
	struct flame_runs *r = f->runs;
	struct runs s = {.least_share = least};
	int rc = sum_up(f);
	for (size_t k = 0; k < r->v.n && !rc; k++)
		r->least += least * (double)r->total[k] / (double)r->v.n;
	rc = rc ? rc : add_figures(f, &s);
	rc = rc ? rc : runs_finish(&s);
	r->pairs = -1;
	r->too_few = !rc && s.attainable > RUNS_LEVEL;
	for (size_t i = 0; i < s.figures.n && !rc; i++) {
		const struct figure *x = &s.figures.v[i];
		if (x->kind != FIGURE_TOTAL || x->verdict < RUNS_LESS)
			continue;
		r->changed[strtoul(x->name, NULL, 10)] = 1;
		long pairs = other_order(&s, x);
		r->pairs = pairs > r->pairs ? pairs : r->pairs;
	}
	runs_release(&s);
	return rc;
}

void flame_runs_release(struct flame_runs *r)
{
	for (size_t k = 0; k < r->v.n; k++) {
		mem_free(r->v.v[k].name);
		mem_free(r->v.v[k].self);
	}
	vec_release(&r->v);
	mem_free(r->seen[0]);
	mem_free(r->seen[1]);
	mem_free(r->total);
	mem_free(r->changed);
	*r = (struct flame_runs){.pairs = -1};
}
