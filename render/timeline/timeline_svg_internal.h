/*
 * timeline_svg_internal.h - shared by the picture (timeline_svg.c) and its panels
 * (timeline_panel.c).
 */
#ifndef RENDER_TIMELINE_TIMELINE_SVG_INTERNAL_H
#define RENDER_TIMELINE_TIMELINE_SVG_INTERNAL_H

#include "base/text/buf.h"
#include "libtime/sched/timeline_query.h"
#include "render/timeline/timeline_svg.h"

/* px */
enum {
	PAD = 10,    /* left and right of the picture */
	NAMES = 190, /* the column of names */
	TITLE_Y = 28,
	TITLE_H = 22,
	LINE_H = 17,    /* of the heading and the legend */
	LEGEND_H = 40,  /* up to two lines of it */
	CAPTION_H = 18, /* a line of a caption */
	AXIS_H = 24,
	LOST_H = 8, /* the lane of lost records */
	PANEL_GAP = 26,
	FOOT_H = 26, /* the line below */
	GROUP_H = 18,
	ROW_H = 22,
	CPU_H = 18,
	BAR_Y = 4,       /* in a row: spans above, samples below */
	BAR_H = 14,      /* in CPUs' rows, too */
	BLOCKED_H = 10,  /* shapes distinguish states, too: a blocked thread is lower, */
	UNCLEAR_H = 6,   /* an unclear one lower still, */
	IDLE_H = 2,      /* an idle one a line */
	TICK_ROOM = 110, /* between ticks of the axis */
	LABEL_SIZE = 9,
	STILL_ARROWS = 40, /* a still picture with more wakeups shows none */
};
#define LABEL_CHAR 6.7 /* px, on average, at LABEL_SIZE */
#define NAME_CHAR 6.4  /* at 11 px */

/* A picture being written. */
struct tl_writer {
	const struct timeline *tl;
	const struct tl_panel *panels;
	size_t n;
	const struct tl_svg_options *o;
	struct buf b;
	FILE *out;
	struct err *e;
	struct tl_svg_stats *st;
	struct tl_runs runs;
	uint8_t *colors; /* of threads in CPU rows */
	uint64_t base_ns;
	double top, height;
	uint8_t seen[TLP_COUNT]; /* paints in the picture, and other things */
	int samples, spans, marks, losses, unrecorded;
	double key_x; /* where the legend continues */
	int key_y;
};

/* The positions of a panel's parts; its caption is at `top`. */
struct tl_place {
	double top, axis, lost, rows, end;
};
struct tl_place tl_place_panel(struct tl_writer *w, const struct tl_panel *p, double top);

/* Write the panel whose caption is at `top`. ERR_NOMEM, ERR_IO. */
int tl_put_panel(struct tl_writer *w, const struct tl_panel *p, double top);

/* 1 for a CPU without a recorded switch, in a recording of some CPUs (-C). */
int tl_cpu_unrecorded(const struct tl_writer *w, uint32_t cpu);

/* Append a time for people. */
void tl_put_ns(struct buf *b, uint64_t ns);

static inline const char *tl_str(const struct tl_writer *w, uint32_t id)
{
	return strtab_get(&w->tl->stacks->strings, id);
}

/* The height of a bar of this paint when it fills its cell. */
static inline double tl_paint_height(unsigned paint)
{
	return tl_paint_is_line(paint)                    ? IDLE_H
	       : tl_paint_is_unclear(paint)               ? UNCLEAR_H
	       : paint >= TLP_BLOCKED && paint < TLP_IDLE ? BLOCKED_H
							  : BAR_H;
}

#endif
