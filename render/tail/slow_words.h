/* slow_words.h - what is said first in the answer of `tail` if slow time was running. */
#ifndef RENDER_TAIL_SLOW_WORDS_H
#define RENDER_TAIL_SLOW_WORDS_H

#include "base/text/buf.h"
#include "libtime/explain/slow_time.h"

/* "9 of 10 slowest cycles of front were 92 % running, 88 % of samples in spin_lock(), while
 * flusher had no CPU for 73 % of it. ": s->cycles is not 0. */
void describe_slow_time(struct buf *b, const struct timeline *tl, const struct slow_time *s);

#endif
