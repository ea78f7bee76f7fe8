/*
 * tail_out.h - the answers of `perfkit tail` as text and pictures.
 */
#ifndef CMD_ANSWER_TAIL_OUT_H
#define CMD_ANSWER_TAIL_OUT_H

#include "cmd/query/tail_query.h"
#include "render/tail/episodes_answer.h"
#include "render/timeline/timeline_svg.h"

/* The whole answer as text, appended to b. ERR_NOMEM. */
int tailout_text(struct tail_run *r, struct tail *t, struct buf *b, struct err *e);

/* The recording's name. */
const char *tailout_file(const struct tail_run *r);

/* Population and percentiles only. */
void tailout_population(struct tail_run *r, const struct tail *t, struct buf *b);

/* Only the line that says which episodes were selected. */
void tailout_selection(struct tail_run *r, const struct tail *t, struct buf *b);

/* --flame: the time inside the shown episodes by stack, into a file. ERR_IO, ERR_NOMEM. */
int tailout_flame(struct tail_run *r, struct tail *t, struct err *e);

/* The first `most` of the shown episodes as timelines, into a file (tail_panels.h). ERR_IO,
 * ERR_NOMEM; ERR_NOTFOUND when there is none. */
enum { TAIL_PANELS = 10 }; /* default number */

/* How many episodes --svg draws. */
size_t tailout_panels(const struct tail_opts *o);
int tailout_svg(struct tail *t, size_t most, const char *path, const struct tl_svg_options *o,
		struct err *e);

/* The same of gaps and windows (answer_panels.h). */
int tailout_answer_svg(const struct episodes_answer *a, size_t most, const char *path,
		       const struct tl_svg_options *o, struct err *e);

#endif
