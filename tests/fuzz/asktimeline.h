/* asktimeline.h - every question a verb asks of a timeline, for targets that make one. */
#ifndef TESTS_FUZZ_ASKTIMELINE_H
#define TESTS_FUZZ_ASKTIMELINE_H

#include "libtime/sched/timeline.h"

/* Causes, tail by wait, span and activation, pictures: a finished timeline that has passed
 * timeline_check. */
void ask_timeline(struct timeline *tl);

/* Open the file as a store, load it and ask. */
void ask_store(const char *path);

#endif
