/*
 * gap_answer.h - the answer of `tail --by gap`: the parts of each selected gap, what took most
 * of them, and the gaps of CPUs that should be idle, with which the others compare.
 */
#ifndef LIBTIME_EXPLAIN_GAP_ANSWER_H
#define LIBTIME_EXPLAIN_GAP_ANSWER_H

#include "libtime/explain/episodes.h"
#include "libtime/explain/gap_parts.h"

/* A thread, an interrupt, or a kind of part without either, over all selected gaps. */
struct gap_taker {
	struct gap_part all; /* ns: the sum */
	uint64_t gaps, max_ns;
};

/* The gaps of one CPU that should be idle. */
struct gap_control {
	uint16_t cpu;
	VEC(uint64_t) lengths; /* sorted; at least one */
};

struct gap_answer {
	VEC(struct gap_parts) gaps;   /* by rank of the selection */
	VEC(struct gap_taker) takers; /* who took most first */
	uint64_t taken_ns;            /* the sum over all takers */
	VEC(struct gap_control) controls;
};

/* Explain the selected gaps of a finished timeline. ERR_NOMEM. The caller releases *out in any
 * case. */
int gap_answer(struct gap_answer *out, const struct timeline *tl, const struct episodes *x,
	       const struct episode_selection *s, struct err *e);

/* A percentile by nearest rank, in thousandths of a percent. */
uint64_t gap_control_at(const struct gap_control *c, uint32_t millipercent);

/* Zero-initialised is accepted. */
void gap_answer_release(struct gap_answer *a);

#endif
