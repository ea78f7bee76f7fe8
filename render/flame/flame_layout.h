/*
 * flame_layout.h - where each frame of a flame graph is, apart from how it is drawn.
 *
 * The geometry is flamegraph.pl's: the root spans the width; a node's own weight comes first,
 * its children follow from left to right (lanes of a chart lie one beside the other instead); a
 * node narrower than the minimum is not drawn, nor is anything above it. How much that leaves
 * out is counted.
 */
#ifndef RENDER_FLAME_FLAME_LAYOUT_H
#define RENDER_FLAME_FLAME_LAYOUT_H

#include "render/flame/flame.h"

struct flame_box {
	uint32_t node;
	uint32_t depth; /* root 0 */
	double x, w;    /* pixels from the left edge of the graph */
};

struct flame_layout {
	VEC(struct flame_box) boxes; /* in preorder: a caller before its callees */
	uint32_t depth;              /* of the deepest box */
	uint64_t pruned_nodes;       /* not drawn for being narrow (they or a caller) */
	uint64_t pruned_weight;      /* of the stacks that miss at least one frame for that */
	uint64_t total;              /* the weight that spans the width */
};

/*
 * Lay out a finished graph on `width` pixels. The root is as wide; a `total` above its
 * weight leaves room on the right of its children; 0 = its weight. 0 or ERR_NOMEM;
 * flame_layout_release is valid either way.
 */
int flame_layout(struct flame_layout *l, const struct flame *f, double width, double minwidth,
		 uint64_t total, struct err *e);

/* Give the boxes back; `l` is empty then. */
void flame_layout_release(struct flame_layout *l);

#endif
