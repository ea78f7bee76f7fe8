/*
 * nearest.h - which known word a mistyped one meant.
 *
 *	struct nearest n = nearest_to("reprot", 6);
 *	for (...) nearest_offer(&n, verbs[i]->name);
 *	if (n.best) ... "did you mean 'report'?"
 *
 * The distance counts letters inserted, dropped, replaced and swapped with their neighbour, not
 * their case; a word may differ by a third of its letters at most. A word that begins with
 * everything typed is near, too. The first of equally near words wins.
 */
#ifndef BASE_TEXT_NEAREST_H
#define BASE_TEXT_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed; /* borrowed, n bytes */
	size_t n;
	const char *best; /* borrowed from nearest_offer; NULL while nothing is near enough */
	size_t distance;
};

/* Begin with the word as typed: n bytes, borrowed. */
struct nearest nearest_to(const char *typed, size_t n);

/* Set best to `word`, borrowed, if it is nearer than all before it. */
void nearest_offer(struct nearest *x, const char *word);

/* The same for words in one string, separated by blanks or '|': writes the nearest to out[size]
 * and returns out, or NULL if no word is near or it does not fit. */
const char *nearest_in(const char *words, const char *typed, char *out, size_t size);

#endif
