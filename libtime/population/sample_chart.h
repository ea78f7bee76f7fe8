/*
 * sample_chart.h - lays out the samples of one event in time, for flame charts.
 *
 *	sample          s1        s2   s3                 s4
 *	lane   ├──away──┤├──s1───┤├─s2─┤├s3┤├────away────┤├─s4──┤
 *
 * A sample stands for the time since the previous one in its lane, but for no more than the
 * usual interval, unless the rest is as short as jitter.
 */
#ifndef LIBTIME_POPULATION_SAMPLE_CHART_H
#define LIBTIME_POPULATION_SAMPLE_CHART_H

#include "libtime/population/sample_sums.h"

struct chart_piece {
	uint32_t sample; /* index of timeline.samples */
	uint64_t away_ns, ns;
};

struct sample_chart {
	VEC(struct chart_piece) v; /* by lane, busy threads first, then by time */
	uint64_t span_ns;          /* of each lane; all begin at the same time */
	uint64_t first_ns;   /* of the event or its halves (event_names_match); UINT64_MAX */
	uint64_t sampled_ns; /* from the first to the last of them, summed over recordings */
	size_t samples; /* of the event, including those without times, which have no piece */
	uint64_t left_out; /* selected samples of other events */
};

/*
 * Lay out the selected samples of `event`, an index of timeline.events; a lane is a CPU or a
 * thread. The caller releases *out, after a failure too. ERR_NOMEM.
 */
int sample_chart_make(struct sample_chart *out, const struct timeline *tl,
		      const struct sample_selection *s, uint32_t event, int by_cpu,
		      struct err *e);
void sample_chart_release(struct sample_chart *c);

#endif
