#include "render/flame/flame_layout.h"
#include "base/mem.h"

/* A node whose children are being placed. */
struct level {
	uint32_t next, end; /* positions in f->child */
	uint64_t at;        /* weight left of the next child */
	uint32_t row;       /* of its children */
	int thin;           /* ends with a thin row, which thin children join */
};

struct walk {
	struct flame_layout *l;
	const struct flame *f;
	double per_tick, minwidth;
	VEC(struct level) levels;
};

/* Weight of the node's children, including gaps. */
static uint64_t children_weight(const struct flame *f, uint32_t node)
{
	uint64_t sum = 0;
	for (uint32_t i = f->child_at[node]; i < f->child_at[node + 1]; i++)
		sum += f->nodes.v[f->child[i]].v[0];
	return sum;
}

/* Place `node` with its left edge at weight `at`, and enter it; or prune it. */
static int place(struct walk *w, uint32_t node, uint64_t at)
{
	const struct flame *f = w->f;
	int lane = f->span && w->levels.n == 1;
	uint64_t weight = node && !lane ? f->nodes.v[node].v[0] : w->l->total;
	const struct level *up = w->levels.n ? &w->levels.v[w->levels.n - 1] : NULL;
	int thin = node && !f->span && f->thin && f->thin[f->nodes.v[node].frame];
	struct flame_box box = {.node = node,
				.depth = lane ? w->l->depth + FLAME_ROW
					 : up ? up->row
					      : 0,
				.thin = thin,
				.x = lane ? 0 : (double)at * w->per_tick,
				.w = (double)weight * w->per_tick};
	if (flame_node_frame(f, node)->kind >= FLAME_GAP)
		return 0;
	if (node && (box.w < w->minwidth || !weight)) {
		w->l->pruned_weight += weight;
		return 0;
	}
	struct level in = {f->child_at[node], f->child_at[node + 1],
			   lane ? 0 : at + f->nodes.v[node].v[0] - children_weight(f, node),
			   box.depth + (thin ? FLAME_THIN : FLAME_ROW), thin};
	if (thin && up->thin) { /* inside the row of its caller */
		in.row = up->row;
		w->l->inside++;
		return vec_push(&w->levels, in) ? ERR_NOMEM : 0;
	}
	if (in.row > w->l->depth)
		w->l->depth = in.row;
	return vec_push(&w->l->boxes, box) || vec_push(&w->levels, in) ? ERR_NOMEM : 0;
}

static int place_all(struct walk *w)
{
	if (place(w, 0, 0))
		return ERR_NOMEM;
	while (w->levels.n) {
		struct level *top = &w->levels.v[w->levels.n - 1];
		if (top->next == top->end) {
			w->levels.n--;
			continue;
		}
		uint32_t child = w->f->child[top->next++];
		uint64_t at = top->at;
		top->at += w->f->nodes.v[child].v[0];
		if (place(w, child, at))
			return ERR_NOMEM;
	}
	return 0;
}

int flame_layout(struct flame_layout *l, const struct flame *f, double width, double minwidth,
		 uint64_t total, struct err *e)
{
	*l = (struct flame_layout){0};
	uint64_t sum = f->nodes.v[0].v[0];
	l->total = f->span ? f->span : total > sum ? total : sum;
	struct walk w = {.l = l, .f = f, .minwidth = minwidth};
	w.per_tick = l->total ? width / (double)l->total : 0;
	int rc = place_all(&w);
	vec_release(&w.levels);
	for (uint32_t i = 0; i < f->nodes.n; i++)
		l->pruned_nodes +=
			f->nodes.v[i].v[0] && flame_node_frame(f, i)->kind < FLAME_GAP;
	l->pruned_nodes -= rc || !sum ? l->pruned_nodes : l->boxes.n + l->inside;
	return rc ? err_nomem(e) : 0;
}

void flame_layout_release(struct flame_layout *l)
{
	vec_release(&l->boxes);
}
