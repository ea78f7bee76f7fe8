/*
 * firefox.h - a timeline as a profile of the Firefox Profiler: gzipped JSON that
 * profiler.firefox.com opens.
 *
 *	sample of the chosen event   a sample with its period as weight
 *	wait                         a marker with its cause, waker and stack, and a sample
 *	                             of weight 0 at each end: the CPU use shown is exact
 *	span                         a marker of its thread, or of a track of its own
 *	lost records, holes          markers of a track of their own
 *
 * Times are ms from the first record with six decimals, so no ns is lost. Of threads that had
 * one tid after each other each has a track of its own.
 *
 * The format: "processed profile", version 60, in github.com/firefox-devtools/profiler:
 * docs-developer/CHANGELOG-formats.md and src/types/profile.ts.
 */
#ifndef RENDER_EXPORT_FIREFOX_H
#define RENDER_EXPORT_FIREFOX_H

#include "libtime/population/population.h"

#include <stdio.h>

struct firefox_options {
	const struct population *of; /* which threads, CPUs and times; which waits are hidden */
	/* 1 when a sample of this event (index of timeline.events) is wanted. */
	int (*wanted)(const void *ctx, uint32_t event);
	const void *ctx;
	int in_time; /* the event counts ns */
};

/* Write a finished timeline of one recording to `f`. What was hidden is *hidden, the caller's
 * to release in any case. ERR_REFUSED where nothing is left of it, ERR_NOMEM, ERR_IO. */
int firefox_write(const struct timeline *tl, const struct firefox_options *o, FILE *f,
		  struct set_apart *hidden, struct err *e);

#endif
