/*
 * prometheus.h - what `perfkit watch` has counted in Prometheus' text format, for
 * node_exporter's textfile collector. Never more than 200 series, whatever processes are
 * called.
 */
#ifndef RENDER_EXPORT_PROMETHEUS_H
#define RENDER_EXPORT_PROMETHEUS_H

#include "libtime/watch/spikes.h"

#include <stdio.h>

struct prometheus_state {
	const struct watch_counts *counts;
	uint64_t records, lost, memory_bytes;
	double unanswered_s; /* of the stream, in which spikes may be missing */
	double lag_s;        /* < 0: not known */
};

/* Write all series; what fails is f's error. */
void prometheus_write(FILE *f, const struct prometheus_state *s);

#endif
