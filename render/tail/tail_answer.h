/*
 * tail_answer.h - the first sentence of `tail`: what held up the worst, and who did.
 *
 *	20 of 20 worst waits of front-0 and front-1: snapshot held the lock they wanted,
 *	asleep in write_pages().
 *
 * It is about the group that most time is of, and says of it what its worst episode's chain
 * says. tail_words.h has the words for single episodes.
 */
#ifndef RENDER_TAIL_TAIL_ANSWER_H
#define RENDER_TAIL_TAIL_ANSWER_H

#include "render/tail/tail_words.h"

/* The sentence, appended to b; nothing where no episode is shown. ERR_NOMEM. */
int tail_answer(struct buf *b, struct tail *t, struct err *e);

#endif
