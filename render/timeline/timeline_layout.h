/*
 * timeline_layout.h - a timeline's geometry: which rows, and what is where in them.
 *
 * Time goes right; a row is a thread or a CPU. What is wide enough is a cell of its own; what
 * is finer shares cells one pixel wide, in which each state has the height of its share:
 *
 *	run ███████████████▆▃▇▁██████     a mixed column: shares from the bottom up
 *	    one cell       │││││ one cell
 *
 * timeline_draw.js does the same for zoomed views: from the same intervals, the same cells.
 */
#ifndef RENDER_TIMELINE_TIMELINE_LAYOUT_H
#define RENDER_TIMELINE_TIMELINE_LAYOUT_H

#include "libtime/sched/timeline.h"
#include "libtime/sched/timeline_query.h"

/* What a piece of a row shows, in the order in which a mixed column stacks it. */
enum tl_paint {
	TLP_RUN,
	TLP_RUNNABLE,
	TLP_PREEMPTED,
	TLP_UNKNOWN,
	TLP_BLOCKED,                             /* + enum cause */
	TLP_UNCLEAR = TLP_BLOCKED + CAUSE_COUNT, /* + enum cause: perhaps for work */
	TLP_IDLE = TLP_UNCLEAR + CAUSE_COUNT,
	TLP_LEFT_OUT,       /* unclear, with no_unclear */
	TLP_CPU,            /* + colour number of the thread that has the CPU */
	TLP_CPU_COLORS = 9, /* the last one is for all others */
	TLP_COUNT = TLP_CPU + TLP_CPU_COLORS,
};

static inline int tl_paint_is_unclear(unsigned paint)
{
	return paint >= TLP_UNCLEAR && paint < TLP_IDLE;
}

/* Drawn as a line, and not part of a mixed column: nothing that one waits for. */
static inline int tl_paint_is_line(unsigned paint)
{
	return paint == TLP_IDLE || paint == TLP_LEFT_OUT;
}

/* --- segments: the states of a thread one after the other ----------------------------- */

struct tl_seg {
	uint64_t start_ns, end_ns; /* inside the window */
	uint32_t offcpu;           /* index of timeline.offcpu; TL_NONE = running */
	uint8_t paint;             /* enum tl_paint */
};

/* A cursor over a thread's states in [from, to), without a gap from its start to its end. */
struct tl_segs {
	const struct timeline *tl;
	uint64_t at, to;
	uint32_t offcpu, end; /* next interval, end of the thread's slice */
	int no_unclear;       /* unclear waits are TLP_LEFT_OUT; 0 after tl_segs_init */
};

/* `to` may lie beyond the thread's life. Needs a finished timeline. */
void tl_segs_init(struct tl_segs *s, const struct timeline *tl, uint32_t thread, uint64_t from,
		  uint64_t to);
/* 1 = got one, 0 = end. */
int tl_segs_next(struct tl_segs *s, struct tl_seg *out);

/* --- rows ------------------------------------------------------------------------------ */

enum tl_row_kind {
	TLROW_CPU,    /* id: the CPU */
	TLROW_GROUP,  /* id: a thread; the heading of its process */
	TLROW_THREAD, /* id: the thread */
	TLROW_POOL,   /* id: a thread; the heading of the numbered ones of a pool */
};

struct tl_row {
	uint32_t id;
	uint8_t kind;
};

static inline int tl_row_is_heading(const struct tl_row *r)
{
	return r->kind == TLROW_GROUP || r->kind == TLROW_POOL;
}

struct tl_pick_options {
	uint64_t from_ns, to_ns;
	const uint8_t *allowed; /* by thread: 0 = filtered out; NULL = all are allowed */
	const uint8_t *cpus;    /* by CPU, rec.ncpus of them; NULL = all */
	size_t top;             /* at most so many threads; 0 = all */
	int show_system;        /* kernel threads and the recorder, too */
	int no_threads, no_cpus;
	int merge;   /* numbered threads of a pool, by name, have their own heading */
	int by_time; /* threads in the order of their first activity, not of their weight */
};

/* The rows chosen, and counts of the others. */
struct tl_pick {
	VEC(struct tl_row) rows;
	size_t threads;     /* rows of kind TLROW_THREAD */
	size_t left;        /* threads that did something, but less than the chosen ones */
	uint64_t left_ns;   /* their running time */
	size_t quiet;       /* threads that did nothing in the window */
	size_t system;      /* hidden as system */
	uint64_t system_ns; /* their running time */
};

/*
 * The rows of a window: CPUs by number; then the `top` threads that ran or were runnable
 * longest, grouped by process, the heaviest process first. ERR_NOMEM; release with
 * tl_pick_release.
 */
int tl_pick(const struct timeline *tl, const struct tl_pick_options *o, struct tl_pick *out,
	    struct err *e);
void tl_pick_release(struct tl_pick *p);

/* The length of the part of a thread's name that its pool shares: 5 of "work-12"; 0 if the name
 * does not end in a number. */
size_t tl_pool_name(const char *comm);

/* 1 for the row of a thread of the pool whose names share `base` bytes. */
int tl_in_pool(const struct timeline *tl, const struct tl_row *r, const char *comm,
	       size_t base);

/* Cut an interval to [from, to); one that was cut is OFF_OPEN. */
void tl_clip_off(struct offcpu *o, uint64_t from, uint64_t to);

/* Time per paint of one thread in a window. */
void tl_paint_sums(const struct timeline *tl, uint32_t thread, uint64_t from, uint64_t to,
		   uint64_t ns[TLP_COUNT]);

/* --- cells ----------------------------------------------------------------------------- */

enum { TL_WIDE = 2 }; /* px; narrower pieces share columns */

struct tl_cell {
	double x, w;     /* px from the left end of the row */
	float low, high; /* share of the bar's height, from the bottom */
	uint32_t row;
	uint32_t ref; /* what it shows, if only one thing: index of off, or of runs; else
			 TL_NONE */
	uint8_t paint;
	uint8_t mixed; /* a column of several states */
};

typedef VEC(struct tl_cell) tl_cells;

struct tl_window {
	uint64_t from_ns, to_ns;
	double width; /* px */
	int no_unclear;
};

/* Append the cells of a thread's row, of a CPU's row. `color` gives TLP_CPU's colour number of
 * each thread. ERR_NOMEM. */
int tl_thread_cells(const struct timeline *tl, uint32_t thread, const struct tl_window *w,
		    uint32_t row, tl_cells *out);
int tl_cpu_cells(const struct tl_runs *runs, uint32_t cpu, const uint8_t *color,
		 const struct tl_window *w, uint32_t row, tl_cells *out);

/* Colour numbers for all threads, the same in all pictures of a recording: the names that ran
 * longest get their own, in that order; the others share the last. The array is freed with
 * mem_free. */
int tl_cpu_colors(const struct timeline *tl, uint8_t **out);

/* The first sample at or after t; samples.n when there is none. */
size_t tl_sample_after(const struct timeline *tl, uint64_t t);

/* --- arrows and axis --------------------------------------------------------------------- */

struct tl_arrow {
	uint64_t time_ns;
	uint64_t waited_ns; /* the blocked time that it ended */
	uint32_t from, to;  /* rows */
};

typedef VEC(struct tl_arrow) tl_arrows;

enum { TL_ARROW_ROOM = 4 }; /* px between arrows of the same two rows */

/* The wakeups in the window between different rows, longest waits first: at most `max`, and
 * only one between the same two rows within TL_ARROW_ROOM. `total` is how many there were.
 * ERR_NOMEM. */
int tl_find_arrows(const struct timeline *tl, const struct tl_row *rows, size_t nrows,
		   const struct tl_window *w, size_t max, tl_arrows *out, size_t *total);

/* --- panels ------------------------------------------------------------------------------ */

/* A part of a row to emphasize. */
struct tl_highlight {
	uint64_t from_ns, to_ns;
	uint32_t row;
};

/* One timeline of a picture. What it points to is borrowed. */
struct tl_panel {
	uint64_t from_ns, to_ns; /* from < to */
	uint64_t zero_ns;        /* the axis counts from here */
	const char *caption;     /* a sentence above it; NULL = none */
	int clip; /* intervals are cut at the window's edges, in the drawing and its texts */
	const struct tl_row *rows;
	size_t nrows;
	const struct tl_highlight *highlights;
	size_t nhighlights;
	const struct tl_arrow *arrows; /* these only; NULL = the wakeups between its rows */
	size_t narrows;
};

/* Nanoseconds between ticks at least `room` px apart: 1, 2 or 5 times a power of ten. */
uint64_t tl_axis_step(const struct tl_window *w, double room);

#endif
