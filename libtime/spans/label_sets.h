/*
 * label_sets.h - the values that several labels have at one moment, as one number: rows that
 * are summed by labels have it as their key.
 *
 *	keys    route, span
 *	set 7   /pay,  handle        set 8   /pay, (none)
 */
#ifndef LIBTIME_SPANS_LABEL_SETS_H
#define LIBTIME_SPANS_LABEL_SETS_H

#include "base/hash.h"
#include "libtime/spans/label_lanes.h"

/* Zero-initialised: no keys. */
struct label_sets {
	VEC(struct label_lanes) lanes; /* of each key */
	VEC(struct label_set {
		uint32_t rest, value; /* of the keys before; strings id of the last one's */
	})
	v; /* by number less 1 */
	struct u64map index;
};

/* Add a key. Returns as label_lanes_build does. */
int label_sets_add(struct label_sets *x, const struct timeline *tl, const char *key);
void label_sets_release(struct label_sets *x); /* NULL: nothing */

/* The set that holds at `ns` for a thread with that stack, and up to when: label_lanes_at. With
 * one key, the set is its value. ERR_NOMEM. */
int label_sets_at(struct label_sets *x, uint32_t thread, uint32_t path, uint64_t ns,
		  uint64_t *until, uint32_t *set);

/* The value (strings id; 0: none) of the key of that index in a set. */
uint32_t label_sets_value(const struct label_sets *x, uint32_t set, size_t key);

#endif
