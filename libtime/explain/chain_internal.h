/*
 * chain_internal.h - what the parts of the explainer (chain.h) share.
 *
 *	chain.c       an episode's windows; link after link, each divided window by window
 *	chain_parts.c the parts of a link, and who kept it in them
 *	chain_sum.c   the sums of a link: its parts in order, and the next link
 */
#ifndef LIBTIME_EXPLAIN_CHAIN_INTERNAL_H
#define LIBTIME_EXPLAIN_CHAIN_INTERNAL_H

#include "base/hash.h"
#include "libtime/explain/chain.h"

/* A thread that kept a link in one of its parts: the next link, if it explains most. */
struct candidate {
	uint64_t ns, largest_ns;
	uint32_t thread;
	uint32_t part;         /* index of explanation.parts before they are sorted */
	uint32_t path, offcpu; /* of the largest stretch it explains */
	uint32_t more;         /* the same thread's candidate for another part; TL_NONE */
	uint8_t via, state;
};

struct claim { /* a window of the candidate with this index */
	uint32_t candidate;
	struct window w;
};

/* The longest interval of one state and cause. */
struct stretch {
	uint64_t ns;
	uint32_t offcpu;
};

struct explainer {
	const struct timeline *tl;
	struct evidence ev;
	/* of the current link */
	windows_vec windows, next, ran, holders, owners;
	VEC(struct candidate) candidates;
	VEC(struct claim) claims;
	struct u64map part_of; /* key of a part of the link → its number */
	/* of each thread: its first index in `candidates`, and its index in `ahead` */
	struct place {
		uint32_t link, candidate; /* valid when `link` is the link's number */
		uint32_t ahead_link, ahead;
	} * place;
	uint32_t link_number;
	uint32_t queue, queue_link; /* the part of waiting for a CPU, of the link queue_link */
	uint32_t offcpu_at;         /* the interval that the link's last window ended in */
	struct chain_link *link;
	struct explanation *out;
	/* of the episode's own thread */
	struct stretch longest[PART_UNKNOWN + 1][CAUSE_COUNT];
};

/* --- chain.c -------------------------------------------------------------------------- */

/* The thread with most of the link's running time: work that was handed over has windows of
 * several. */
uint32_t chain_runner(const struct explainer *x);

/* --- chain_parts.c -------------------------------------------------------------------- */

static inline uint64_t chain_clamp(uint64_t x, uint64_t lo, uint64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* Add a stretch of the link to the part of the same state, cause and function, or to a new one;
 * *at, if not NULL, is the part's index. ERR_NOMEM, as for all below. */
int chain_add_part(struct explainer *x, const struct chain_part *p, uint32_t *at);

/* Add a stretch in which no other thread held the link up. */
int chain_own_part(struct explainer *x, uint8_t state, uint8_t end, uint32_t offcpu,
		   uint64_t from, uint64_t to);

/* Add [from, to) of the wait `offcpu`, in which the thread was blocked, with a claim of the
 * thread that held it up. */
int chain_blocked(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to,
		  struct err *e);

/* The same for time in which it waited for a CPU: the threads that had the CPU claim it. */
int chain_runnable(struct explainer *x, uint32_t offcpu, uint64_t from, uint64_t to,
		   struct err *e);

/* --- chain_sum.c ---------------------------------------------------------------------- */

/* After all windows of x->link: sort its parts, sum up the episode's own from the first link,
 * and choose *next, the next link or NULL. ERR_NOMEM. */
int chain_end_link(struct explainer *x, const struct candidate **next);

#endif
