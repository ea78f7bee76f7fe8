/*
 * svg_source.h - the stacks of a flame graph: folded text, samples, waits, or running and
 * waiting time of the same threads.
 */
#ifndef CMD_ANSWER_SVG_SOURCE_H
#define CMD_ANSWER_SVG_SOURCE_H

#include "render/flame/flame_input.h"
#include "cmd/query/stack_source.h"
#include "render/flame/flame.h"

struct svg_request {
	enum stack_question asked; /* of wall-clock time v[1] is the waiting part */
	int median;                /* of the tail: the time inside median episodes in v[1] */
	enum flame_split split;
	enum stack_side side;
	int simplify, merge_threads;
	int ipc;         /* v[0] of cycles, v[1] of the instructions of their group */
	int color_label; /* a label's value is put on top of each stack */
	int before;      /* weights go to v[1]: the first file of a diff */
	int in_order;    /* a flame chart: stacks one by one, in order of time */
	int columns;     /* folded text: see folded_options */
	const char
		*for_recordings; /* an option that folded text does not support; NULL: none */
	const struct tail_opts *tail;
};

/* What was drawn, for the title and the unit. */
struct svg_drawn {
	const char *unit; /* "samples", "events", "ns"; NULL: the user's choice (folded text) */
	const char *title;       /* "CPU", "Off-CPU Time" …; NULL for folded text */
	struct buf subtitle;     /* what, host, date, file, length */
	struct buf filters;      /* every filter that was given, or "" */
	struct buf hidden;       /* what was left out, or "" */
	struct buf states;       /* of waits: sums by state, or "" */
	struct buf unnamed_note; /* the effect of missing kernel symbols, or "" */
	struct buf matched;      /* of a diff: what was matched by more than names, or "" */
	double before_scale;     /* with `median`: tail time by median time; else 0 */
	double seconds;          /* recorded; 0: unknown */
	int columns;             /* of folded text */
	int status;              /* exit status of a failure that has been printed */
	int warned;              /* number of warnings, for --strict */
};

/*
 * Add the stacks of `path` to `flame`. 0, or a failure in *e; if out->status is set, the
 * message has been printed already. The caller zeroes `out`, and releases it with
 * svg_drawn_release.
 */
int svg_source_read(const struct svg_request *rq, const char *path, struct flame *flame,
		    struct svg_drawn *out, struct err *e);
void svg_drawn_release(struct svg_drawn *d);

#endif
