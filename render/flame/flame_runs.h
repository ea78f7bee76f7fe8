/*
 * flame_runs.h - a differential graph of several runs before and after a change: what each run
 * adds to the tree, and in which nodes chance does not explain the change (runs.h).
 *
 *	flame.runs = &runs;
 *	for each run, those before first:
 *		flame_add ...; flame_runs_take(&flame, side, name)
 *	flame_match, flame_show_gone
 *	flame_finish; runs.v.v[i].factor = ...; flame_runs_judge
 */
#ifndef RENDER_FLAME_FLAME_RUNS_H
#define RENDER_FLAME_FLAME_RUNS_H

#include "render/flame/flame.h"

/* What one run has. */
struct flame_run {
	int side; /* of compare.h: its weights are in v[1 - side] */
	char *name;
	double factor;  /* makes the run's weights comparable with those of others */
	uint64_t *self; /* by node: of stacks that end there; of the root the sum of all */
	size_t n;       /* nodes that self has room for */
};

/* Zero-initialised is empty. */
struct flame_runs {
	VEC(struct flame_run) v; /* those before first */
	uint64_t *seen[2];       /* by node, v[0] and v[1] of the runs taken so far */
	size_t nseen[2];

	/* Of flame_runs_judge. */
	uint64_t *total;  /* v.n for each node, times `factor` */
	uint8_t *changed; /* by node: chance does not explain its change */
	double least;     /* a change below this is none, in weights of one run */
	long pairs;       /* a node has changed if at most so many pairs of runs are in the
			     other order; -1: none has */
	int too_few;      /* no change could be told from chance */
};

/* Keep what was added to side's weights since the last call, as one run. ERR_NOMEM. */
int flame_runs_take(struct flame *f, int side, const char *name);

/* The number of runs of a side. */
size_t flame_runs_of(const struct flame_runs *r, int side);

/* Nodes were replaced: what old node i of n had is now at to[i]; 0: nowhere. ERR_NOMEM. */
int flame_runs_moved(struct flame *f, const uint32_t *to, size_t n);

/* What the runs have at node `from` is also at `to`. ERR_NOMEM. */
int flame_runs_copy(struct flame *f, uint32_t from, uint32_t to);

/* All weights are multiplied. */
void flame_runs_rescale(struct flame_runs *r, uint64_t by);

/* Compute totals, and test the nodes; `least`: the smallest change, as a share of all. ERR_NOMEM.
 */
int flame_runs_judge(struct flame *f, double least);
void flame_runs_release(struct flame_runs *r);

#endif
