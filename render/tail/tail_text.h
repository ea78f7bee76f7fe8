/*
 * tail_text.h - the answer of `tail` as text for people: tables as wide as the terminal, prose
 * of at most 80 columns except for longer names.
 */
#ifndef RENDER_TAIL_TAIL_TEXT_H
#define RENDER_TAIL_TAIL_TEXT_H

#include "render/tail/tail_words.h"

struct tailtext_options {
	const char *file;    /* as the user named it */
	const char *filters; /* "comm=x tid=3", or "" */
	const char *shown;   /* "cause=lock", or "": of the selected ones */
	const char *also;    /* other questions to ask, or "" */
	size_t width;        /* of a line, in characters */
	uint32_t rows;       /* of the tables; 0 = all */
	uint32_t details;    /* episodes explained in full */
	int programs;        /* of a whole machine: whose the worst episodes are */
	int hist, full_stacks;
	int why; /* add each explained wait's site and verdict */
	struct episode_pick pick;
	const char *picture; /* timelines of the first `pictured` episodes; NULL for none */
	size_t pictured;
	const char *report; /* a report that has the first `reported` ones; NULL for none */
	uint32_t reported;
};

/* Append the whole answer to b. ERR_NOMEM. */
int tailtext_write(struct buf *b, struct tail *t, const struct tailtext_options *o,
		   struct err *e);

/* If the longest unclear wait is longer than any that is work, it may be the answer: append a
 * sentence that says so, and `where` its site is shown ("below"). Lack of
 * memory is a failure of b. */
void tailtext_unclear(struct buf *b, const struct tail *t, const char *where);

/* The period of the worst episodes, in a sentence or two; nothing if they do not recur. */
void tailtext_recurrence(struct buf *line, const struct tail *t);

/* The explanation of one shown episode, as a block of text. ERR_NOMEM. */
int tailtext_episode(struct buf *b, struct tail *t, size_t rank,
		     const struct tailtext_options *o, struct err *e);

/* Only the population and its percentiles, for a span name among several. */
int tailtext_population(struct buf *b, const struct tail *t, const struct tailtext_options *o);

/* Only the line that says which episodes were selected, and how many: "p99.9 = 65.8 ms; 2 gaps
 * lasted at least that long". */
void tailtext_selection(struct buf *b, const struct tail *t, const struct tailtext_options *o);

#endif
