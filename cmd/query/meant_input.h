/*
 * meant_input.h - answers about what was recorded for (meant.h), of samples that are folded
 * without a timeline.
 */
#ifndef CMD_QUERY_MEANT_INPUT_H
#define CMD_QUERY_MEANT_INPUT_H

#include "cmd/query/timeline_input.h"

/* Before input_fold: 1 if the answer may be about some processes only; the samples are then
 * also folded by process. What meant_say_everybody needs is collected in any case. */
int meant_prepare(struct input *in, const struct tlinput_opts *opt);

/* Rows of a fold. Zero-initialised: none. */
struct meant_rows {
	VEC(struct folded) v;
};

/*
 * After input_fold, if meant_prepare returned 1: the rows of the processes that are meant,
 * folded by `by` (enum aggregate_by); the profile keeps all rows, which findings are about.
 * *name gets their programs; without a choice it stays empty, and *out has all rows. The caller
 * releases both, after ERR_NOMEM, too.
 */
int meant_rows_of(struct profile *p, unsigned by, struct meant_rows *out, struct buf *name,
		  struct err *e);

/* Say that an answer is of these programs, and leaves out so many samples of others … */
void meant_say(const struct buf *name, uint64_t samples);

/* … or, one about waits, their threads, if it is of some programs. */
void meant_say_threads(const struct tlinput *ti);

/* Say of an answer about everybody that other commands would leave out who was not recorded for,
 * if that is so. */
void meant_say_everybody(const struct tlinput *ti);

/* Append "redis-server, which was recorded; --all for the whole machine". */
void meant_text(struct buf *b, const struct buf *name);

#endif
