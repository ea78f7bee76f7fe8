/*
 * report_head.h - the first half of `perfkit report`: what a recording is. Text in 80 columns,
 * but for words that are longer.
 */
#ifndef CMD_REPORT_HEAD_H
#define CMD_REPORT_HEAD_H

#include "base/buf.h"
#include "cmd/input/input.h"
#include "libtime/doctor/survey.h"

/* What was counted of one event. */
struct report_event {
	uint64_t samples, weight;
};

/* What was counted of a recording. */
struct report_counts {
	uint64_t first_ns, last_ns;      /* of samples; last 0: none has a time */
	VEC(struct report_event) events; /* by index */
};

/* Append file, host, command, clock, events, records and loss, a line each or more. */
void report_head(struct buf *out, const struct input *in, const struct report_counts *n);

#endif
