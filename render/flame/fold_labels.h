/*
 * fold_labels.h - frames as the elements of a folded line, made once per frame.
 *
 * The rules are stackcollapse-perf.pl's, without its faults (tidy.h); `[unknown]` frames become
 * [basename of the DSO].
 */
#ifndef RENDER_FLAME_FOLD_LABELS_H
#define RENDER_FLAME_FOLD_LABELS_H

#include "base/text/buf.h"
#include "libsym/stacks.h"
#include "libtime/explain/stack_rows.h"
#include "render/flame/fold_tree.h"

/* Which marks are appended to a name. */
struct label_options {
	int kernel, jit, inlined; /* _[k] _[j] _[i] */
	int addrs;                /* [dso <address>] for frames without a name */
	int simplify;             /* short C++, Rust and Go names, so that equal frames merge */
	int srcline;              /* name:file:line */
	enum stack_side side;     /* frames of the other side are omitted */
};

struct fold_labels {
	struct label_options opt;
	const struct stacks *stacks; /* borrowed */
	struct foldtree *tree;       /* borrowed: owns the texts */
	struct buf text;
	VEC(uint32_t) texts; /* runs of text ids */
	VEC(struct label_run {
		uint32_t at, n;
		int made;
	})
	runs[3]; /* by frame id; [1] for threads called java…, [2] wakers */
	VEC(uint32_t) frames;
	struct { /* the thread of the last row, and its node below the root */
		uint32_t comm;
		int32_t pid, tid;
		uint32_t node; /* 0: none */
	} thread;
	VEC(struct label_place { /* by path: its node below `root` - 1 */
				 uint32_t root, node;
	})
	places;
};

/* `stacks` and `tree` are borrowed for the life of `l`. */
void fold_labels_init(struct fold_labels *l, const struct stacks *stacks, struct foldtree *tree,
		      const struct label_options *opt);
void fold_labels_release(struct fold_labels *l);

/*
 * A row as a line below the tree's root: comm (with -PID or -PID/TID when pid, tid is not -1),
 * mark, the frames of its stack, root first; then, as in bcc's offwaketime, "--", the waker's
 * stack from leaf to root and its name, each with _[w]. *node is the last one. ERR_NOMEM.
 */
int fold_labels_row(struct fold_labels *l, const struct stack_row *r, uint32_t *node);

#endif
