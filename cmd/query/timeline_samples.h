/*
 * timeline_samples.h - the events and samples of a timeline that options choose.
 */
#ifndef CMD_QUERY_TIMELINE_SAMPLES_H
#define CMD_QUERY_TIMELINE_SAMPLES_H

#include "cmd/query/timeline_input.h"
#include "cmd/query/waits.h"
#include "libtime/population/sample_sums.h"

/* Set ti->events from --event. ERR_NOMEM. */
int tl_choose_events(struct tlinput *ti);

/* The event of an answer about one event: that of --event, else of the first sample; 0 without
 * samples. ERR_USAGE with a sentence that begins with `what` ("--flamechart draws"). */
int tl_one_event(const struct tlinput *ti, const char *what, uint32_t *event, struct err *e);

/* Append the event's name as it is shown: with its other halves. */
void tl_event_shown(const struct tlinput *ti, uint32_t event, struct buf *b);

/* 0, or 2 after a message that an event of --event does not exist. */
int tl_check_events(const struct tlinput *ti);

/* The samples that the options select; borrows from `ti`. */
struct sample_selection tl_selection(const struct tlinput *ti);

#endif
