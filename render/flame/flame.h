/*
 * flame.h - the model of a flame graph: a tree of frames with weights, from any source.
 *
 *	folded text ── folded.h ──┐
 *	call paths  ── the caller ┴─► flame_add ─► flame_finish ─► flame_layout.h ─► flame_svg.h
 *
 * A stack is an array of frame ids, outermost caller first. Equal stacks under one root are
 * merged. Weights are integers in the source's unit times `scale`.
 *
 * Each node has two weights: v[0] gives the width; v[1] is the "before" weight of a
 * differential graph or the waiting part of a wall-clock graph (see flame_svg.h), else 0.
 */
#ifndef RENDER_FLAME_FLAME_H
#define RENDER_FLAME_FLAME_H

#include "base/err.h"
#include "base/hash.h"
#include "base/text/buf.h"
#include "base/text/strtab.h"
#include "base/vec.h"

struct frame_table;

enum flame_kind {
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_JIT,
	FLAME_INLINED,
	FLAME_WAKER, /* on the waker's side of an off-CPU wakeup graph */
	FLAME_MARK,  /* not code: delimiters, [unknown time], [truncated] */
	FLAME_WAIT,  /* a mark named after the cause of a wait: lock, io, net ... */
	FLAME_GONE,  /* a mark: the nodes above it are in the "before" profile only, and have
			their before weight in v[0] */
	FLAME_GAP,  /* flame charts: time of the caller itself between two callees; not drawn */
	FLAME_AWAY, /* lanes (flame.span): a time without samples, below a first-level frame;
		       not drawn, and not in the sums of its callers */
	FLAME_KINDS
};

struct flame_runs;

/* One line of a stack. Frames of equal name, dso and kind are one frame. */
struct flame_frame {
	uint32_t name;    /* strings id; may end in _[k] _[j] _[i] _[w], not shown in labels */
	uint32_t dso;     /* strings id; 0 = unknown */
	uint32_t src;     /* strings id of the source file; 0 = unknown */
	uint32_t line;    /* first line seen there; 0 = unknown */
	uint32_t line_to; /* last line seen there; 0 = only the one */
	uint32_t kind;    /* enum flame_kind */
	uint64_t addr;    /* of the function's start, for flame.apart; 0 = unknown */
};

struct flame_node {
	uint32_t parent; /* node id; of the root 0 */
	uint32_t frame;
	uint64_t v[2]; /* before flame_finish: of stacks that end here; then: totals */
};

/* A node on the path from the root, and the hash of that path. */
struct flame_step {
	uint64_t hash;
	uint32_t node;
};

struct flame {
	/* Set before the first flame_add. */
	int reverse;  /* stacks are merged from the leaf */
	int in_order; /* flame chart: only neighbours are merged, nothing is sorted */

	int apart; /* frames of other addresses and files are apart too, until flame_match */

	uint64_t span; /* not 0: a chart of lanes, with in_order: each first-level frame is a
			  lane from 0 to `span`, and its frames begin where the weights before
			  them end */

	struct strtab strings;
	VEC(struct flame_frame) frames; /* frame 0 is the root's, named "all" */
	VEC(struct flame_node) nodes;   /* node 0 is the root; parents precede children */
	uint64_t scale;                 /* ticks per unit of weight; 1, or FLAME_DECIMALS */
	uint64_t stacks;                /* flame_add calls that had weight */
	uint64_t deep;                  /* of these, cut at FLAME_MAX_DEPTH */

	struct flame_runs
		*runs; /* of a differential graph of several runs: flame_runs.h; borrowed,
				    NULL: none */

	uint8_t *thin; /* by frame, of flame_find_thin: drawn as thin rows; NULL: none are */

	/* Valid after flame_finish: the children of node i, in drawing order, are
	 * child[child_at[i]] .. child[child_at[i + 1] - 1]. */
	uint32_t *child, *child_at;

	/* private */
	struct idmap frame_index, node_index;
	VEC(struct flame_step) path; /* the stack added last, without the root */
	int finished;
};

enum {
	FLAME_MAX_DEPTH = 2048,
	FLAME_DECIMALS = 1000000, /* scale of a source whose counts have decimals */
};

/* Start an empty graph. 0 or ERR_NOMEM; flame_release is valid either way. */
int flame_init(struct flame *f);
void flame_release(struct flame *f);

/* Drop the stacks; frames keep their ids for another graph. ERR_NOMEM. */
int flame_restart(struct flame *f);

/* The id of the frame equal to *fr, made when new; lines of the same source file widen its
 * range. 0 or ERR_NOMEM. */
int flame_frame(struct flame *f, const struct flame_frame *fr, uint32_t *id);

/* The id of a frame that has only a folded name; the kind comes from the annotation at the end
 * of the name (_[k] ...) or the delimiters "-" and "--". 0 or ERR_NOMEM. */
int flame_frame_named(struct flame *f, const char *name, size_t n, uint32_t *id);

/*
 * Add a stack of n frames, root first, with its weights. Weights 0, 0 add nothing. Frames
 * beyond FLAME_MAX_DEPTH are omitted and counted. 0, ERR_NOMEM, ERR_LIMIT (sum of weights above
 * 2^63).
 */
int flame_add(struct flame *f, const uint32_t *frames, size_t n, uint64_t v0, uint64_t v1,
	      struct err *e);

/*
 * The same for a stack whose first `same` frames are those of the previous call's stack; only
 * frames[same..n) are read. Calls without weight do not count as previous. Not with
 * `reverse`. For sources whose neighbours share prefixes.
 */
int flame_add_suffix(struct flame *f, size_t same, const uint32_t *frames, size_t n,
		     uint64_t v0, uint64_t v1, struct err *e);

/* The child of node `parent` with this frame, made without weight when new. 0 or ERR_NOMEM. */
int flame_child(struct flame *f, uint32_t parent, uint32_t frame, uint32_t *id);

/* Multiply all weights and `scale` by `by`. ERR_LIMIT when a sum would pass 2^63. */
int flame_rescale(struct flame *f, uint64_t by, struct err *e);

/*
 * Make the stacks that have no v[0] visible: copies of the subtrees whose v[0] is 0 appear
 * below a first-level FLAME_GONE frame called `label`, as wide as v[1] * before_scale. The
 * originals stay, without width, so that their callers' before weights are whole; the root's
 * v[0] grows by what was copied. Before flame_finish. 0 or ERR_NOMEM.
 */
int flame_show_gone(struct flame *f, const char *label, double before_scale, struct err *e);

/*
 * Sum up and sort: node weights become totals, child/child_at are made. Children are in the
 * order flamegraph.pl gives them: by the text of the stack lines, bytewise; FLAME_GONE last. No
 * flame_add afterwards. 0 or ERR_NOMEM.
 */
int flame_finish(struct flame *f, struct err *e);

/*
 * Mark the frames with a role of ROLES_FOLDED (frame_table.h) by `rules` (NULL: the built-in
 * ones) in `thin`; not in charts of lanes. 0 or an error of frame_table_new.
 */
int flame_find_thin(struct flame *f, const struct frame_table *rules, struct err *e);

/* The weights of stacks that end in `node` itself; after flame_finish. */
uint64_t flame_self(const struct flame *f, uint32_t node, int which);

/* Bytes of `name` without a trailing _[k] _[j] _[i] _[w]. */
size_t flame_label_len(const char *name, size_t n);

/*
 * The text that pictures put into boxes too narrow for a frame's label: the simplified label is
 * appended to *out if it differs, else nothing. Returns the characters of the function's own
 * name at the end (simplify.h).
 */
size_t flame_short_label(const struct flame *f, const struct flame_frame *fr, struct buf *out);

static inline const struct flame_frame *flame_node_frame(const struct flame *f, uint32_t node)
{
	return &f->frames.v[f->nodes.v[node].frame];
}

static inline const char *flame_name(const struct flame *f, const struct flame_frame *fr,
				     size_t *n)
{
	*n = strtab_len(&f->strings, fr->name);
	return strtab_get(&f->strings, fr->name);
}

#endif
