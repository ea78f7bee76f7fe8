/*
 * nearest.h - which of the known words was meant by one with a slip of the finger.
 *
 *	struct nearest n = nearest_to("reprot", 6);
 *	for (...) nearest_offer(&n, verbs[i]->name);
 *	if (n.best) ... "did you mean 'report'?"
 *
 * The distance counts letters inserted, dropped, replaced and swapped with their neighbour, not
 * their case; a word may differ by a third of its letters at most. A word that begins with all
 * that was typed is near, too. Of equally near ones the first offered wins.
 */
#ifndef BASE_TEXT_NEAREST_H
#define BASE_TEXT_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed; /* borrowed, n bytes */
	size_t n;
	const char *best; /* NULL while nothing is near enough; borrowed from the offer */
	size_t distance;
};

/* Begin with what was typed, n bytes, which are borrowed. */
struct nearest nearest_to(const char *typed, size_t n);

/* Keep `word`, borrowed, in best if it is nearer than all before it. */
void nearest_offer(struct nearest *x, const char *word);

/* The same for words in one string, separated by blanks or '|': the nearest is written to
 * out[size] and out returned, or NULL when none is near or it would not fit. */
const char *nearest_in(const char *words, const char *typed, char *out, size_t size);

#endif
