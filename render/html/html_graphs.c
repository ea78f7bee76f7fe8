#include "render/html/html_graphs.h"

#include <stdio.h>

struct graphs {
	struct html_data *d;
	const struct tail *t;
	const struct wait_selection *which;
	struct flame_input fi;
	int before; /* rows weigh for v[1] */
	struct json *j;
	struct html_column *frame, *ups, *v[2];
	struct err *e;
};

/* The weight of the stacks that end in a node, without its callees'. */
static uint64_t own_weight(const struct flame *f, uint32_t node, int which)
{
	uint64_t ns = f->nodes.v[node].v[which];
	for (uint32_t i = f->child_at[node]; i < f->child_at[node + 1]; i++)
		ns -= f->nodes.v[f->child[i]].v[which];
	return ns;
}

/* Put nodes in preorder, with a stack of pending nodes and their depths. */
static int put_nodes(struct graphs *g)
{
	const struct flame *f = &g->d->flame;
	struct place {
		uint32_t node, depth;
	} root = {0, 0};
	VEC(struct place) todo = {0};
	uint32_t last = 0;
	int rc = vec_push(&todo, root);
	while (todo.n && !rc) {
		struct place at = todo.v[--todo.n];
		html_put(g->frame, f->nodes.v[at.node].frame);
		html_put(g->ups, at.node ? last + 1 - at.depth : 0);
		for (int k = 0; k < 2; k++)
			html_put(g->v[k], own_weight(f, at.node, k));
		last = at.depth;
		for (uint32_t i = f->child_at[at.node + 1];
		     i-- > f->child_at[at.node] && !rc;) {
			struct place child = {f->child[i], at.depth + 1};
			rc = vec_push(&todo, child);
		}
	}
	vec_release(&todo);
	return rc ? err_nomem(g->e) : 0;
}

static int add_row(void *ctx, const struct stack_row *r, struct err *e)
{
	struct graphs *g = ctx;
	uint64_t w = r->of.weight;
	return flame_input_row(&g->fi, r, g->before ? 0 : w, g->before ? w : 0, e);
}

/* The kinds: for all (episode NULL) or one. *scale: factor of the median's time. */

static int add_wakers(struct graphs *g, const struct tail *one, double *scale)
{
	struct set_apart hidden = {.system = 0};
	(void)scale;
	int rc = one ? 0 : stack_rows_waits(g->t->tl, g->which, add_row, g, &hidden, g->e);
	set_apart_release(&hidden);
	return rc;
}

static int add_chain(struct graphs *g, const struct tail *one, double *scale)
{
	struct set_apart hidden = {.system = 0};
	(void)scale;
	int rc = one ? stack_rows_tail_chains(one, add_row, g, g->e)
		     : stack_rows_chains(g->t->tl, &g->which->of, add_row, g, &hidden, g->e);
	set_apart_release(&hidden);
	return rc;
}

static int add_against(struct graphs *g, const struct tail *one, double *scale)
{
	uint64_t ns, median_ns;
	int rc = stack_rows_tail(one ? one : g->t, add_row, g, g->e);
	g->before = 1;
	rc = rc ? rc : stack_rows_median(g->t, add_row, g, &ns, &median_ns, g->e);
	g->before = 0;
	if (!rc && one)
		ns = episode_ns(&g->t->episodes.v.v[one->rows.v[0].episode]);
	*scale = !rc && median_ns ? (double)ns / (double)median_ns : 0;
	return rc;
}

static int end_graph(struct graphs *g, const char *kind, size_t episode, double scale)
{
	struct flame *f = &g->d->flame;
	char text[32];
	int rc = flame_finish(f, g->e);
	if (rc || !f->nodes.v[0].v[0])
		return rc;
	snprintf(text, sizeof(text), "%.17g", scale);
	json_open(g->j, NULL, '{');
	json_str(g->j, "kind", kind);
	json_u64(g->j, "episode", episode);
	json_u64(g->j, "nodes", f->nodes.n);
	json_raw(g->j, "before_scale", text); /* of differences; else 0 */
	json_close(g->j, '}');
	return put_nodes(g);
}

/* All graphs of all, or of the nth shown episode. */
static int add_graphs(struct graphs *g, size_t episode)
{
	static const struct {
		const char *name;
		int (*add)(struct graphs *g, const struct tail *one, double *scale);
	} kinds[] = {{"offwake", add_wakers}, {"chain", add_chain}, {"tail", add_against}};
	struct tail one = *g->t;
	int rc = 0;
	one.rows.v += episode ? episode - 1 : 0;
	one.rows.n = 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !rc; i++) {
		double scale = 0;
		rc = flame_restart(&g->d->flame) ? err_nomem(g->e) : 0;
		rc = rc ? rc : kinds[i].add(g, episode ? &one : NULL, &scale);
		rc = rc ? rc : end_graph(g, kinds[i].name, episode, scale);
	}
	return rc;
}

int html_graphs_add(struct html_data *d, const struct tail *t,
		    const struct wait_selection *which, size_t episodes, struct json *j,
		    struct err *e)
{
	struct graphs g = {.d = d, .t = t, .which = which, .j = j, .e = e};
	int rc = 0;
	g.frame = html_column(&d->columns, "node.frame");
	g.ups = html_column(&d->columns, "node.ups");
	g.v[0] = html_column(&d->columns, "node.v0");
	g.v[1] = html_column(&d->columns, "node.v1");
	flame_input_init(&g.fi, t->tl->stacks, &d->flame, SPLIT_COMM, 0);
	g.fi.merge_threads = d->fi.merge_threads;
	json_open(j, "graphs", '[');
	for (size_t i = 0; i <= episodes && !rc; i++)
		rc = add_graphs(&g, i);
	json_close(j, ']');
	flame_input_release(&g.fi);
	return rc;
}
