/*
 * tail_panels.h - the worst episodes as timelines, one below the other: the episode's thread on
 * top, the threads of its chain below, then the CPU that they waited for (or its own), and the
 * explanation as a sentence above.
 */
#ifndef RENDER_TIMELINE_TAIL_PANELS_H
#define RENDER_TIMELINE_TAIL_PANELS_H

#include "libtime/explain/tail_model.h"
#include "libtime/sched/thin.h"
#include "render/timeline/timeline_svg.h"

/* The first `most` of the shown episodes as one SVG. ERR_IO, ERR_NOMEM; ERR_NOTFOUND when there
 * is none. */
int tail_panels_write(struct tail *t, size_t most, const struct tl_svg_options *o, FILE *f,
		      struct err *e);

/* One of them, for a page; if the picture itself has more than PANEL_INTERVALS, those shorter
 * than a PANEL_CELLS-th of it are summed up, and the picture says so. */
enum { PANEL_INTERVALS = 10000, PANEL_CELLS = 8192 };
int tail_panels_one(struct tail *t, size_t rank, const struct tl_svg_options *o, FILE *f,
		    struct err *e);

/* What the picture of an episode shows: its window, and drawn[thread] = 1 for each thread with
 * a row. ERR_NOMEM. */
int tail_panels_what(struct tail *t, size_t rank, struct thin_keep *window, uint8_t *drawn,
		     struct err *e);

#endif
