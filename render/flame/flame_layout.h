/*
 * flame_layout.h - the position of each frame of a flame graph.
 *
 * The geometry is flamegraph.pl's: the root spans the width; a node's own weight comes first,
 * its children follow from left to right (lanes of a chart are below each other instead); a
 * node narrower than the minimum is not drawn, nor is anything above it. What that omits is
 * counted. Frames of the table `thin` take no rows of their own: a run of them from a caller to
 * its callees is one thin row.
 */
#ifndef RENDER_FLAME_FLAME_LAYOUT_H
#define RENDER_FLAME_FLAME_LAYOUT_H

#include "render/flame/flame.h"

enum { FLAME_ROW = 3, FLAME_THIN = 1 }; /* heights of boxes */

struct flame_box {
	uint32_t node;
	uint32_t depth; /* thirds of a row from the root */
	int thin;       /* a run of thin frames, named after the outermost: a third of a row */
	double x, w;    /* pixels from the left edge of the graph */
};

struct flame_layout {
	VEC(struct flame_box) boxes; /* in preorder: a caller before its callees */
	uint32_t depth;              /* where the deepest box ends */
	uint64_t inside;             /* nodes within thin rows, beside their outermost */
	uint64_t pruned_nodes;       /* not drawn because they or a caller are too narrow */
	uint64_t pruned_weight;      /* of the stacks that lack at least one frame */
	uint64_t total;              /* the weight of the whole width */
};

/*
 * Lay out a finished graph on `width` pixels; f->thin says which frames are thin. The root has
 * that width; a `total` above its weight leaves room to the right of its children; 0 = its
 * weight. 0 or ERR_NOMEM; flame_layout_release is valid either way.
 */
int flame_layout(struct flame_layout *l, const struct flame *f, double width, double minwidth,
		 uint64_t total, struct err *e);

/* Free the boxes; `l` is empty then. */
void flame_layout_release(struct flame_layout *l);

#endif
