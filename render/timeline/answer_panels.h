/*
 * answer_panels.h - episodes without a thread of their own (gaps of CPUs, windows) as
 * timelines, one below the other, for `tail --svg` and `timeline --tail`.
 */
#ifndef RENDER_TIMELINE_ANSWER_PANELS_H
#define RENDER_TIMELINE_ANSWER_PANELS_H

#include "render/tail/episodes_answer.h"
#include "render/timeline/timeline_svg.h"

/*
 * The first `most` of the selected gaps: the threads that had the CPU, then the CPU with the
 * gap below it, which is marked; the parts of the gap as a sentence above. For a gap that is
 * not placed, the interval that contains it. ERR_IO, ERR_NOMEM; ERR_NOTFOUND when there is
 * none.
 */
int gap_panels_write(const struct episodes_answer *a, size_t most,
		     const struct tl_svg_options *o, FILE *f, struct err *e);

/* The same for windows: the threads that did most in them; if all slept, the CPUs. */
int window_panels_write(const struct episodes_answer *a, size_t most,
			const struct tl_svg_options *o, FILE *f, struct err *e);

#endif
