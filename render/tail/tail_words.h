/*
 * tail_words.h - an explanation in words: the parts of sentences that the table, the details,
 * the pictures and the JSON of `tail` share.
 */
#ifndef RENDER_TAIL_TAIL_WORDS_H
#define RENDER_TAIL_TAIL_WORDS_H

#include "base/text/buf.h"
#include "libtime/explain/told.h"

/* "name/tid"; "?" for TL_NONE and for an empty name. Visible form (escape.h). */
void describe_thread(struct buf *b, const struct timeline *tl, uint32_t thread, uint32_t comm);

/* A frame by its name: "slow_disk", "[libfoo.so]", "[unknown]" for 0. */
void describe_frame(struct buf *b, const struct timeline *tl, uint32_t frame);

/* The same as code that ran or waited: "slow_disk()". A long name is without its template
 * arguments. */
void describe_function(struct buf *b, const struct timeline *tl, uint32_t frame);

/*
 * A stack in short: the innermost `max` application frames, innermost first, " < " between;
 * then, in brackets, how it waited (the runtime's innermost function). Long names are without
 * template arguments. ERR_NOMEM by the buffer.
 */
void describe_stack(struct buf *b, const struct timeline *tl, uint32_t path, int max);

/* How a link waited for the next one: "waiting for the GIL (lock)", "blocked (cond)",
 * "preempted". */
void describe_blocked(struct buf *b, const struct explanation *x, const struct chain_link *l);

/* The root in one sentence, without "root cause: ": "thread back/4715 held the lock for 6.4 ms:
 * ...; the other 0.3 ms: ...", which add up to the episode. */
void describe_root(struct buf *b, struct evidence *ev, const struct explanation *x);

/* A name of the timeline (strings id), in visible form. */
void describe_name(struct buf *b, const struct timeline *tl, uint32_t string);

/* "They recur every ~100 ms (9 of 9 gaps fit)."; nothing without a period. */
void describe_period(struct buf *b, const struct recurrence *r, const char *they);

/* A root in few words, for a column: "snapshot: sleep in write_pages()". */
void describe_root_brief(struct buf *b, const struct tail *t, const struct tail_root *r);

/* What the episodes of a group have in common: for a root also what it did to those that
 * waited, "snapshot: held the lock, asleep in write_pages()". ERR_NOMEM by the buffer. */
void describe_group(struct buf *b, const struct tail *t, const struct tail_group *g);

/* One line for each unknown fact, with the option of perf record that would have recorded it:
 * calls `say` for each. */
void describe_missing(const struct timeline *tl, unsigned missing,
		      void (*say)(void *ctx, const char *line), void *ctx);

/* How many of n episodes are not explained, and how to ask for them; nothing if all are, or
 * none was to be. */
void more_details(struct buf *b, size_t n, size_t explained);

/* "/var/lib/db/wal on sda1" or "peer 10.0.0.5:5432", the target of a wait's descriptor; nothing
 * if it is not known. */
void describe_target(struct buf *b, const struct timeline *tl, const struct offcpu *o);

/* "a write of 64 KiB to vda: 1.2 ms queued, 8.2 ms served": the disk request that the wait
 * timeline.offcpu[off] was for; nothing if it is not known. */
void describe_disk(struct buf *b, struct evidence *ev, uint32_t offcpu);

/* "lock", "io" ...; the state if there is no cause: "running", "unknown". */
const char *describe_cause(unsigned state, unsigned cause);

/* "nice 0", "real-time 50", "" when not known. */
void describe_prio(struct buf *b, int prio);

#endif
