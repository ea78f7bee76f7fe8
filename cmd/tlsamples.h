/*
 * tlsamples.h - a timeline's samples folded by stack: what collapse and svg draw on-CPU from a
 * store.
 */
#ifndef CMD_TLSAMPLES_H
#define CMD_TLSAMPLES_H

#include "cmd/tlinput.h"
#include "cmd/waits.h"

struct tl_folded {
	VEC(struct folded) rows; /* weights as `perfkit collapse` counts them: periods, or 1 */
	struct idmap index;
	uint32_t event; /* the one drawn, index of timeline.events; TL_NONE: all were asked for
			 */
};

/*
 * Fold the samples that pass the filters. `by`: enum aggregate_by. `all`: every event; else
 * those of --event, or the one of the earliest sample. ERR_REFUSED when the store cannot know
 * which that is (tracepoints are not kept as samples) or has none; ERR_USAGE for an unknown
 * --event.
 */
int tl_fold_samples(const struct tlinput *ti, unsigned by, int all, struct tl_folded *out,
		    struct err *e);
void tl_folded_release(struct tl_folded *f);

/* 1 when a sample passes --time, --cpu, --comm, --pid, --tid. */
int tl_sample_passes(const struct tlinput *ti, const struct tl_sample *s);

#endif
