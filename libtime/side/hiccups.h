/*
 * hiccups.h - interval logs of HdrHistogram, as jHiccup writes them:
 *
 *	#[Histogram log format version 1.3]
 *	#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
 *	"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
 *	0.127,1.007,2.769,HISTFAAAAEV42pNpmSz...
 *
 * A row has the length of the longest hiccup in its interval, but not its time. It
 * becomes a span "hiccups" of that interval, without a thread, with the labels max (as
 * written; jHiccup: ms) and tag. The histogram is not read. Times count from BaseTime;
 * without one, from StartTime if they are more than a year smaller, else from 1970.
 */
#ifndef LIBTIME_SIDE_HICCUPS_H
#define LIBTIME_SIDE_HICCUPS_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts like such a log. */
int side_is_hiccups(const char *text, size_t n);

/* Read all of it. ERR_* of lines.h, ERR_NOMEM; malformed rows are in out->bad. */
int side_hiccups_read(struct side *out, struct side_lines *l, struct err *e);

#endif
