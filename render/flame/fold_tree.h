/*
 * fold_tree.h - folded stacks for output: equal lines summed, written in byte order.
 *
 * A tree of texts, root first, so that a common prefix is stored and compared once. Lines are
 * sorted as by `LC_ALL=C sort` of the stacks, as in stackcollapse-perf.pl.
 */
#ifndef RENDER_FLAME_FOLD_TREE_H
#define RENDER_FLAME_FOLD_TREE_H

#include "base/hash.h"
#include "base/text/strtab.h"
#include "base/vec.h"

#include <stdio.h>

/* Zero-initialised is valid and empty. Node 0 is the root above all lines. Children of one node
 * may have equal texts: they are written as one. */
struct foldtree {
	struct strtab texts;
	VEC(struct foldnode {
		uint32_t parent, text;
		uint64_t weight; /* of the line that ends here */
		uint8_t ends;    /* a line ends here, even if its weight is 0 */
		uint8_t indexed;
	})
	nodes;
	struct u64map index; /* parent << 32 | text → node, for nodes of foldtree_child */
};

/* The id of a text, for foldtree_child: n bytes without ';' or newline. 0 or ERR_NOMEM. */
int foldtree_text(struct foldtree *t, const char *text, size_t n, uint32_t *id);

/* The child of `parent` (0 = root) with this text, made when new. 0 or ERR_NOMEM. */
int foldtree_child(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node);

/* A new child, for callers that know that there is none or keep their nodes: it needs no
 * lookup. 0 or ERR_NOMEM. */
int foldtree_new(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node);

/* Add weight to the line that ends at `node`. */
void foldtree_add(struct foldtree *t, uint32_t node, uint64_t weight);

/*
 * Write every line as "a;b;c WEIGHT\n", sorted. `value` turns a weight into the number printed
 * (a unit's rounding); NULL prints it as it is. ERR_NOMEM; stdio errors stay in `f`.
 */
int foldtree_write(struct foldtree *t, FILE *f, uint64_t (*value)(uint64_t weight, void *ctx),
		   void *ctx, struct err *e);

/* Free everything; the tree is empty and usable again. */
void foldtree_release(struct foldtree *t);

#endif
