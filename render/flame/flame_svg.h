/*
 * flame_svg.h - one flame graph as one self-contained, interactive SVG.
 *
 * The picture is complete without scripts: title, what it shows (also as <desc>, with the
 * largest functions), legend, frames, labels, tooltips (<title>). Where scripts run, flame_*.js
 * zooms, searches, focuses, hides, flips and merges from the leaf, with the data of
 * flame_data.h. Nothing is fetched. Colours follow prefers-color-scheme. Same input, same
 * bytes.
 */
#ifndef RENDER_FLAME_FLAME_SVG_H
#define RENDER_FLAME_FLAME_SVG_H

#include "render/flame/flame.h"
#include "render/flame/palette.h"

#include <stdio.h>

enum flame_mode {
	FLAME_PLAIN,
	FLAME_DIFF, /* v[0] after, v[1] before; colour is the change */
	FLAME_IPC,  /* v[0] cycles, v[1] instructions; colour is their quotient */
	FLAME_WALL, /* v[1] is the part of v[0] spent waiting; colour goes from hot to cold */
};

/* Texts are borrowed, plain, and NULL means "none" (or the default, where one is named). */
struct flame_svg_options {
	const char
		*title; /* "Flame Graph", "Icicle Graph", "Flame Chart", "Differential ..." */
	const char *subtitle;      /* what is shown: host, time, event, file, length */
	const char *filters;       /* the filters given; a line below the subtitle */
	const char *const *hidden; /* one short text for each omission: idle, system, suspect
				      ...; a line below these */
	size_t n_hidden;
	const char *notes;     /* at the end of the <desc> */
	const char *countname; /* "samples"; ns, us, ms, s and bytes are drawn in human units */
	const char *nametype;  /* "Function:" */
	const char *background; /* see palette_background */
	const char *font;       /* "Verdana" */
	struct palette palette;
	enum flame_mode mode;
	int inverted; /* icicle: the root on top */
	int negate;   /* diff: blue grew, red shrank */
	int no_script;
	double width;        /* 1200 px */
	double frame_height; /* 16 px */
	double minwidth;     /* 0.1: px, or percent of the width with minwidth_percent */
	int minwidth_percent;
	double font_size;    /* 12 px */
	double font_width;   /* 0.59 of the size, on average */
	double factor;       /* 1: multiplies the weights that are shown */
	uint64_t total;      /* ticks of the whole width; 0 = the sum */
	double before_scale; /* diff: 1; the factor that makes before comparable with after */
	const char *before_name, *after_name; /* diff: "before", "after"; of several runs
						 (flame.runs) weights are means */
	size_t max_nodes; /* 1,000,000: how many are in the data for zooming */
};

struct flame_svg_stats {
	uint64_t frames_drawn;
	uint64_t pruned_nodes;
	double pruned_share; /* of the total: stacks with a frame too narrow to draw */
	uint64_t nodes_carried, nodes_left;
};

/* The defaults given above. */
void flame_svg_defaults(struct flame_svg_options *o);

/*
 * Write the picture of a finished graph to `out`. A graph without weight gives a picture that
 * says so. `st` may be NULL. 0, ERR_NOMEM, ERR_IO, ERR_NOTFOUND (background).
 */
int flame_svg_write(const struct flame *f, const struct flame_svg_options *o, FILE *out,
		    struct flame_svg_stats *st, struct err *e);

#endif
