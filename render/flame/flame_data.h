/*
 * flame_data.h - the whole graph as compact text inside the picture.
 *
 * The first drawing is pruned; the script in the picture reads this text to show the rest. It
 * is XML without markup inside its elements:
 *
 *	<metadata id="flame-data">
 *	<d-strings> one string a line (visible form, see escape.h); line 0 is empty
 *	<d-colors>  six hex digits each, blank-separated
 *	<d-frames>  per frame: name, kind, dso, src (string numbers), first line, last
 *	            line, color number, simplified label (0: the same), characters of the
 *	            function's own name at its end (simplify.h)
 *	<d-nodes>   per node in preorder: frame, ups, self v[0] and, if the graph has two
 *	            weights, self v[1]; a node is the child of the ancestor `ups` levels above
 *	            the node before it (0 = of that node). The root comes first.
 *	<d-runs>    if there are several runs: for each node, in the same order, self of each run,
 *	            those before first, made comparable
 *	</metadata>
 *
 * Numbers are unsigned, little end first, five bits a character: A-Z a-z 0-9 + / stand for
 * 0..63, the bit of value 32 says that another character follows.
 */
#ifndef RENDER_FLAME_FLAME_DATA_H
#define RENDER_FLAME_FLAME_DATA_H

#include "base/text/buf.h"
#include "render/flame/flame.h"
#include "render/flame/palette.h"

#include <stdio.h>

struct flame_data_stats {
	uint64_t nodes;   /* carried */
	uint64_t left;    /* omitted, because there were more than max_nodes */
	uint64_t smaller; /* weight of the omitted nodes, drawn as "[smaller frames]" */
};

/*
 * Write the elements of a finished graph, without the <metadata> around them. If there are more
 * than `max_nodes`, the lightest are omitted and summed up in one mark per caller. Flushes to
 * `out` meanwhile. 0, ERR_NOMEM, ERR_IO.
 */
int flame_data_write(const struct flame *f, const struct palette *p, size_t max_nodes,
		     struct buf *b, FILE *out, struct flame_data_stats *st, struct err *e);

/* Write the buffer to the file and empty it. 0, ERR_NOMEM (a failed append), ERR_IO. */
int flame_flush(struct buf *b, FILE *out, struct err *e);

#endif
