/*
 * tail_answer.h - the first sentence of `tail`: what held up the worst episodes, and which
 * thread did.
 *
 *	20 of 20 worst waits of front-0 and front-1: snapshot held the lock they wanted,
 *	asleep in write_pages().
 *
 * It is about the group with the most time, and describes the chain of its worst episode.
 * tail_words.h has the words for single episodes.
 */
#ifndef RENDER_TAIL_TAIL_ANSWER_H
#define RENDER_TAIL_TAIL_ANSWER_H

#include "render/tail/tail_words.h"

/* Append the sentence to b; nothing if no episode is shown. ERR_NOMEM. */
int tail_answer(struct buf *b, struct tail *t, struct err *e);

#endif
