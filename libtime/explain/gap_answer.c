#include "libtime/explain/gap_answer.h"

#include <stdlib.h>

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Gaps are sorted by CPU. */
static int find_controls(struct gap_answer *out, const struct timeline *tl)
{
	for (size_t i = 0; i < tl->gaps.n; i++) {
		const struct tl_gap *g = &tl->gaps.v[i];
		if (!(g->flags & GAP_CONTROL))
			continue;
		if ((!out->controls.n || out->controls.v[out->controls.n - 1].cpu != g->cpu) &&
		    vec_push(&out->controls, ((struct gap_control){.cpu = g->cpu})))
			return ERR_NOMEM;
		if (vec_push(&out->controls.v[out->controls.n - 1].lengths, g->lost_ns))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < out->controls.n; i++) {
		struct gap_control *c = &out->controls.v[i];
		qsort(c->lengths.v, c->lengths.n, sizeof(*c->lengths.v), by_length);
	}
	return 0;
}

uint64_t gap_control_at(const struct gap_control *c, uint32_t millipercent)
{
	uint64_t rank = ((uint64_t)c->lengths.n * millipercent + 99999) / 100000;
	return c->lengths.v[rank ? rank - 1 : 0];
}

static int add_taker(struct gap_answer *out, const struct gap_part *p)
{
	size_t i = 0;
	while (i < out->takers.n &&
	       (out->takers.v[i].all.by != p->by || out->takers.v[i].all.what != p->what))
		i++;
	struct gap_taker fresh = {.all = {.what = p->what, .by = p->by}};
	if (i == out->takers.n && vec_push(&out->takers, fresh))
		return ERR_NOMEM;
	struct gap_taker *t = &out->takers.v[i];
	t->all.ns += p->ns;
	t->gaps++;
	t->max_ns = p->ns > t->max_ns ? p->ns : t->max_ns;
	out->taken_ns += p->ns;
	return 0;
}

static int by_time_taken(const void *a, const void *b)
{
	const struct gap_taker *x = a, *y = b;
	if (x->all.ns != y->all.ns)
		return x->all.ns > y->all.ns ? -1 : 1;
	if (x->all.by != y->all.by)
		return x->all.by < y->all.by ? -1 : 1;
	return x->all.what < y->all.what ? -1 : x->all.what > y->all.what;
}

static int add_gap(struct gap_answer *out, struct gap_finder *f, const struct tl_gap *g)
{
	if (vec_push(&out->gaps, (struct gap_parts){.start_ns = 0}))
		return ERR_NOMEM;
	struct gap_parts *parts = &out->gaps.v[out->gaps.n - 1];
	int rc = gap_explain(f, g, parts, NULL);
	for (size_t i = 0; i < parts->v.n && !rc; i++)
		rc = add_taker(out, &parts->v.v[i]);
	return rc;
}

int gap_answer(struct gap_answer *out, const struct timeline *tl, const struct episodes *x,
	       const struct episode_selection *s, struct err *e)
{
	struct gap_finder *f = NULL;
	*out = (struct gap_answer){.taken_ns = 0};
	int rc = gap_finder_new(&f, tl, NULL);
	for (size_t i = 0; i < s->v.n && !rc; i++)
		rc = add_gap(out, f, &tl->gaps.v[x->v.v[s->v.v[i]].at]);
	gap_finder_free(f);
	if (!rc && out->takers.n)
		qsort(out->takers.v, out->takers.n, sizeof(*out->takers.v), by_time_taken);
	rc = rc ? rc : find_controls(out, tl);
	return rc ? err_nomem(e) : 0;
}

void gap_answer_release(struct gap_answer *a)
{
	for (size_t i = 0; i < a->gaps.n; i++)
		gap_parts_release(&a->gaps.v[i]);
	for (size_t i = 0; i < a->controls.n; i++)
		vec_release(&a->controls.v[i].lengths);
	vec_release(&a->gaps);
	vec_release(&a->takers);
	vec_release(&a->controls);
	*a = (struct gap_answer){.taken_ns = 0};
}
