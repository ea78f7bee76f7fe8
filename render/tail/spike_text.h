/*
 * spike_text.h - spikes as lines: time, severity, length, thread, cause and waker.
 */
#ifndef RENDER_TAIL_SPIKE_TEXT_H
#define RENDER_TAIL_SPIKE_TEXT_H

#include "base/text/buf.h"
#include "libtime/watch/spikes.h"

/* The spike in s->rows.v[i], with its line break: "7183.812494 warning 10.6 ms front-0/29451
 * lock: snapshot held the lock, asleep in write_pages(); woken by snapshot/29450". */
void spike_line(struct buf *b, struct spikes *s, const struct spike_query *q, size_t i);

#endif
