/*
 * tailout.h - `perfkit tail`: its options, and its answers as text and pictures.
 */
#ifndef CMD_TAILOUT_H
#define CMD_TAILOUT_H

#include "base/buf.h"
#include "cmd/waits.h"
#include "libstore/tailmodel.h"

struct tail_opts {
	struct wait_opts wait;
	const char *by, *preset, *pct, *over, *group, *stacks, *flame, *svg;
	uint64_t top, rows, details;
	int open, hist, json, csv;
	int rows_given;
};

struct tail_run {
	const struct tail_opts *opt;
	struct tlinput ti;
	struct tail_query query;
};

/* The whole answer as text, appended to b. ERR_NOMEM. */
int tailout_text(struct tail_run *r, struct tail *t, struct buf *b, struct err *e);

/* Population and percentiles only. */
void tailout_population(struct tail_run *r, const struct tail *t, struct buf *b);

/* --flame: the time inside the shown episodes by stack, into a file. ERR_IO, ERR_NOMEM. */
int tailout_flame(struct tail_run *r, struct tail *t, struct err *e);

/* --svg: the worst of the shown episodes as timelines, into a file (tailsvg.c). ERR_IO,
 * ERR_NOMEM; ERR_NOTFOUND when there is none. */
int tailout_svg(struct tail_run *r, struct tail *t, struct err *e);

#endif
