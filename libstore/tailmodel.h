/*
 * tailmodel.h - the answer of `tail` as data: population, the worst episodes with what explains
 * each, and those of equal kind counted together. render/tail*.h write it.
 */
#ifndef LIBSTORE_TAILMODEL_H
#define LIBSTORE_TAILMODEL_H

#include "libstore/chain.h"

/* Where a chain ended: what episodes with the same root have in common. */
struct tail_root {
	uint64_t ns;
	uint32_t thread, comm;
	uint32_t function; /* frame id; 0 = not known */
	uint8_t state, cause, end, via;
	uint8_t guessed; /* code that no sample saw: function is not known, or of a wakeup */
};

/* One selected episode, explained in short; explain() again tells all. */
struct tail_row {
	uint32_t episode; /* index of episodes.v */
	uint32_t path, off;
	uint8_t state, cause; /* of its largest part */
	struct tail_root root;
};

enum tail_group_by { GROUP_ROOT, GROUP_STACK, GROUP_CAUSE, GROUP_THREAD, GROUP_COMM };

/* "root", "stack", "cause", "thread", "comm" → enum tail_group_by; -1 for none. */
int tail_group_of(const char *name);

/* By root, an episode whose root's code no sample saw joins the largest group of that thread
 * name and cause. Where there is none, they are one group; its function is the one that most of
 * them were seen to leave, if there is such. */
struct tail_group {
	uint64_t count, ns; /* episodes; their durations together */
	uint32_t row;       /* the worst that names it: index of tail.rows */
	uint8_t nameless;   /* no function is the root's of most: none is to be told */
};

/* Cause and state filters: which of the selected episodes are shown. */
struct tail_show {
	uint32_t causes; /* bits by enum cause; 0 = all */
	unsigned states; /* bits by enum part_state; 0 = all */
};

struct tail {
	const struct timeline *tl; /* borrowed, as the rest until tail_release */
	struct explainer *explainer;
	struct episodes episodes;
	struct episode_selection selection;
	VEC(struct tail_row) rows;     /* worst first; as far as shown */
	VEC(struct tail_group) groups; /* most time first */
	struct recurrence recurrence;
	enum tail_group_by group_by;
};

struct tail_query {
	struct episode_query episodes;
	struct episode_pick pick;
	struct tail_show show;
	enum tail_group_by group_by;
};

/* Collect, select, explain and group. On failure (ERR_NOMEM) nothing is left to release. */
int tail_make(const struct timeline *tl, const struct tail_query *q, struct tail *out,
	      struct err *e);
void tail_release(struct tail *t);

/* The frame that names the root: the function of its main part. */
void tail_root_of(const struct explanation *x, struct tail_root *out);

#endif
