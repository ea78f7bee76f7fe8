/*
 * gaps.h - what jitter samplers write: time that a spinning program did not get.
 *
 *	perfkit-gaps v1                   every gap, with both ends
 *	clock mono                        or raw, real
 *	spinner 1 29451                   CPU and tid of a thread that spins there
 *	control 0 29452                   the same on a CPU that should be idle: the baseline
 *	anchor MONO RAW REAL ERROR        the clocks at one moment, and their error, in ns
 *	gap 1 7183812494120 7183812498360 CPU, begin and end in ns
 *	dropped 1 17                      number of gaps on that CPU that were not kept
 *
 *	time,delay[,cpu]                  end of a reporting interval, its longest gap in ns
 *	1718000000100000000,4240
 */
#ifndef LIBTIME_SIDE_GAPS_H
#define LIBTIME_SIDE_GAPS_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts like one of the two formats. */
int side_is_gaps(const char *text, size_t n);

/* Read all of it. ERR_FORMAT for another version; ERR_* of lines.h, ERR_NOMEM. */
int side_gaps_read(struct side *out, struct side_lines *l, struct err *e);

/* For gaps with only the end of their reporting interval: find where each may be. The interval
 * is the shortest time between two rows of a CPU. A gap ends in the interval before its row, so
 * it starts at most its length before that interval. */
void side_gaps_windows(struct side *out);

#endif
