/*
 * timeline_svg.h - threads and CPUs over time as one self-contained, interactive SVG.
 *
 * Like the flame graph (flame_svg.h) it is complete without scripts, fetches nothing and
 * follows prefers-color-scheme; where scripts run, timeline_*.js zooms, pans, searches and
 * describes each interval, with the data of timeline_data.h. Same input, same bytes.
 *
 *	 names      │ axis
 *	            │ lost records, spans
 *	 CPU 0      │ ███ who ran ███
 *	 comm  tid  │ ███ run ▄▄ blocked, by cause ▄▄ ▆ runnable ▆ ███
 *	            │ ' ' samples
 */
#ifndef RENDER_TIMELINE_TIMELINE_SVG_H
#define RENDER_TIMELINE_TIMELINE_SVG_H

#include "base/text/buf.h"
#include "render/timeline/timeline_layout.h"

#include <stdio.h>

/* Texts are borrowed, plain, and NULL means "none" (or the default, where one is named). */
struct tl_svg_options {
	const char *title;    /* "Timeline" */
	const char *subtitle; /* NULL: host, wall-clock start, file, length, the clock's time at
				 +0 */
	const char *filters;  /* the filters given; a line below the subtitle */
	const char *const *hidden; /* one short text for each omission or unknown */
	size_t n_hidden;
	const char *notes; /* at the end of the <desc> */
	const char *font;  /* "Verdana" */
	double width;      /* 1200 px */
	size_t max_arrows; /* 150 wakeups a panel: those that ended the longest waits */
	int no_script;
	int no_unclear; /* unclear waits are lines, as idle ones */
	int in_page; /* only data, neither script nor still picture: the page's script draws */
	const uint64_t *page_ns; /* the page also has the intervals: see timeline_data.h */
};

struct tl_svg_stats {
	uint64_t cells;  /* drawn without scripts */
	uint64_t arrows; /* drawn; out of: */
	uint64_t wakeups;
};

/* The defaults given above. */
void tl_svg_defaults(struct tl_svg_options *o);

/*
 * Write panels, stacked. Every window is inside [rec.origin_ns, rec.end_ns], or is cut to it;
 * the rows are of this timeline, which is finished. `st` may be NULL. 0, ERR_NOMEM, ERR_IO;
 * ERR_USAGE for an empty window or an unknown row.
 */
int timeline_svg_write(const struct timeline *tl, const struct tl_panel *panels, size_t n,
		       const struct tl_svg_options *o, FILE *out, struct tl_svg_stats *st,
		       struct err *e);

/*
 * One episode as a panel: the rows are the threads (in the given order) and then the CPUs; the
 * window is the episode and a tenth of it on either side, the axis counts from its start, and
 * the episode is highlighted in one row. The sentence is borrowed; the panel owns the rest.
 * ERR_NOMEM; ERR_USAGE when the window is empty.
 */
struct tl_episode {
	uint64_t start_ns, end_ns;
	const uint32_t *threads; /* each once */
	size_t nthreads;
	const uint16_t *cpus;
	size_t ncpus;
	size_t marked; /* the row that is highlighted */
	const char *sentence;
};
int timeline_svg_episode(const struct timeline *tl, const struct tl_episode *ep,
			 struct tl_panel *out, struct err *e);
void timeline_svg_episode_release(struct tl_panel *p);

/* The note in pictures of a thinned timeline (thin.h), written to `b`: "to 10 us: ...". */
const char *tl_svg_grain(struct buf *b, uint64_t grain_ns);

/* 0xRRGGBB of a paint. */
uint32_t tl_paint_color(unsigned int paint);

/* The number of the pattern over that colour, 0 for none: see palette_cause_pattern. */
int tl_paint_pattern(unsigned int paint);

/* The paint with the same colour and pattern: for an unclear wait that of its cause. */
unsigned tl_paint_filled_as(unsigned int paint);

/* "running", "runnable", "preempted", "unknown", "idle", "unclear" (left out), a cause's name,
 * followed by "?" for those of tl_paint_is_unclear; "" for CPU colours. */
const char *tl_paint_name(unsigned int paint);

#endif
