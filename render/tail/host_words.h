/* host_words.h - what the host counted meanwhile, beside the answer of `tail`. */
#ifndef RENDER_TAIL_HOST_WORDS_H
#define RENDER_TAIL_HOST_WORDS_H

#include "base/text/buf.h"
#include "libtime/explain/chain.h"

/* One sentence for each count that may explain what the root did, with a space before it;
 * counts of the whole recording prove nothing about one time in it. */
void describe_host(struct buf *b, const struct timeline *tl, const struct explanation *x);

#endif
