/*
 * timeline_samples.h - a timeline's events and samples as the options about samples choose
 * them.
 */
#ifndef CMD_QUERY_TIMELINE_SAMPLES_H
#define CMD_QUERY_TIMELINE_SAMPLES_H

#include "cmd/query/timeline_input.h"
#include "cmd/query/waits.h"
#include "libtime/population/sample_sums.h"

/* Set ti->events from --event. ERR_NOMEM. */
int tl_choose_events(struct tlinput *ti);

/* The event of an answer about one: the one that --event names, else that of the first sample;
 * 0 where there are none. ERR_USAGE, `what` ("--flamechart draws") beginning the sentence. */
int tl_one_event(const struct tlinput *ti, const char *what, uint32_t *event, struct err *e);

/* 0, or 2 after saying that --event names one that is not there. */
int tl_check_events(const struct tlinput *ti);

/* The samples that the options are about; borrows from `ti`. */
struct sample_selection tl_selection(const struct tlinput *ti);

#endif
