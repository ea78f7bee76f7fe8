/*
 * panels.h - panels of episodes for one picture of timelines, one below the other.
 */
#ifndef RENDER_TIMELINE_PANELS_H
#define RENDER_TIMELINE_PANELS_H

#include "base/text/buf.h"
#include "base/vec.h"
#include "render/timeline/timeline_svg.h"

/* Zero-initialised is empty. */
struct panels {
	VEC(struct tl_panel) v;
	VEC(char *) sentences; /* of v */
};

/* Append a panel of `te` with `sentence` above it. The sentence is released in any case.
 * ERR_NOMEM. */
int panels_add(struct panels *p, const struct timeline *tl, struct tl_episode *te,
	       struct buf *sentence, struct err *e);

/* Write the panels as one SVG. ERR_IO, ERR_NOMEM; ERR_NOTFOUND when there are none. */
int panels_write(const struct panels *p, const struct timeline *tl,
		 const struct tl_svg_options *o, FILE *f, struct err *e);

/* Free the panels; empty then. */
void panels_release(struct panels *p);

#endif
