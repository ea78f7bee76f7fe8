/*
 * palette.h - the colour of a frame.
 *
 * The names are flamegraph.pl's; `cause` colours by the cause of the wait, `kind` by the
 * frame's kind (user, kernel, JIT, inlined, waker, wait), `dso` by the file it comes from. A
 * colour depends on the frame's name (its DSO) and the seed only, so that pictures of two runs
 * can be compared.
 */
#ifndef RENDER_FLAME_PALETTE_H
#define RENDER_FLAME_PALETTE_H

#include "base/text/buf.h"
#include "render/flame/flame.h"

enum palette_id {
	PALETTE_HOT,
	PALETTE_MEM,
	PALETTE_IO,
	PALETTE_WAKEUP,
	PALETTE_CHAIN,
	PALETTE_JAVA,
	PALETTE_JS,
	PALETTE_PERL,
	PALETTE_RED,
	PALETTE_GREEN,
	PALETTE_BLUE,
	PALETTE_AQUA,
	PALETTE_YELLOW,
	PALETTE_PURPLE,
	PALETTE_ORANGE,
	PALETTE_KIND,
	PALETTE_DSO,
	PALETTE_CAUSE, /* of nodes: by the wait in which most of their weight ends (flame_svg.c)
			*/
	PALETTE_IPC,   /* by instructions per cycle: FLAME_IPC (flame_svg.h) */
	PALETTE_LABEL, /* the same by the value of a label, in FLAME_WAIT frames */
	PALETTES
};

enum palette_variation {
	PALETTE_SPREAD, /* by name, neighbours well apart (the default) */
	PALETTE_HASH,   /* by name, similar beginnings get similar shades */
	PALETTE_RANDOM, /* by seed and the frame's number */
};

struct palette_map;

struct palette {
	enum palette_id id;
	enum palette_variation variation;
	uint64_t seed;
	const struct palette_map *map; /* --cp: names in it keep that colour; NULL = none */
};

/* One line of the legend. */
struct palette_key {
	uint32_t rgb;
	const char *text;
};

/* The palette called `name`, or ERR_NOTFOUND with all names in the message. */
int palette_find(const char *name, enum palette_id *id, struct err *e);
const char *palette_name(enum palette_id id);

/* 0xRRGGBB of a frame. */
uint32_t palette_color(const struct palette *p, const struct flame *f, uint32_t frame);

/* 0xRRGGBB of a difference: share in [-1, 1] of the largest one; red grew, blue shrank. */
uint32_t palette_delta(double share);

/* 0xRRGGBB between a frame's colour if it only runs (share of waiting 0) and a cold one if it
 * only waits (1). */
uint32_t palette_heat(uint32_t hot, double waiting);

/* 0xRRGGBB of instructions per cycle: warm where there are few; grey without a counter (0). */
uint32_t palette_ipc(double ipc);

/* 0xRRGGBB of a cause of waiting ("lock", "io" ...; brackets around it are ignored), the same
 * in every picture; unknown ones are grey. */
uint32_t palette_cause(const char *name, size_t n);

/* A state or cause and its colours on a light and a dark ground. */
struct palette_meaning {
	const char *name;
	uint32_t light, dark;
};

/* The i-th of all; returns how many there are. */
size_t palette_meaning(size_t i, struct palette_meaning *out);

/* Which of five patterns distinguishes it from the others of its hue, where there is room. */
int palette_cause_pattern(const char *name, size_t n);

/* 0xRRGGBB of a frame below waits of one cause: paler, by the frame's own colour. */
uint32_t palette_below_cause(uint32_t cause, uint32_t own);

/* What the colours mean: up to `max` keys, returns how many. `present` has a bit 1 << kind for
 * each frame kind in the graph. Static strings. */
size_t palette_legend(enum palette_id id, uint32_t present, struct palette_key *out,
		      size_t max);

/* Top and bottom of the background: "yellow", "blue", "green", "grey" or #rrggbb; NULL = that
 * of the palette. 0, or ERR_NOTFOUND. */
int palette_background(const char *name, enum palette_id id, uint32_t rgb[2], struct err *e);

/*
 * palette.map: lines `name->rgb(r,g,b)`, sorted by name. Loading a missing file gives an empty
 * map.
 */
struct palette_map {
	struct strtab names;
	VEC(uint32_t) rgb; /* by strings id */
};

/* Add the lines of `path`; ignore others. 0, ERR_IO, ERR_NOMEM. */
int palette_map_load(struct palette_map *m, const char *path, struct err *e);
/* Set one name's colour, 0xrrggbb. 0 or ERR_NOMEM. */
int palette_map_put(struct palette_map *m, const char *name, size_t n, uint32_t rgb);
/* The map as text, sorted. 0 or ERR_NOMEM. */
int palette_map_print(const struct palette_map *m, struct buf *b);
void palette_map_release(struct palette_map *m);

#endif
