/*
 * samplers.h - what jitter samplers of others write beside the CSV of gaps.h.
 *
 *	jitter,host=h,cpu=1 latency=4240i 1718000000100000000      InfluxDB's line protocol
 *
 * Field latency, jitter or delay, in ns; the time is when a reporting interval ended, as in
 * the CSV. A row without the tag cpu names none.
 *
 *	#      Timestamp      delta   <== interruption =>          sysjitter --raw
 *	#         (nsec)     (usec)   (cycles)     (nsec)
 *	        15231442      12042      39211       9802
 *
 * Timestamp: when the interruption ended, since the start, which is not told; in ns by the
 * TSC's frequency as sysjitter measured it. That is taken to be right within 500 ppm, so that
 * a gap lies somewhere in an interval that grows.
 */
#ifndef LIBTIME_SIDE_SAMPLERS_H
#define LIBTIME_SIDE_SAMPLERS_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 when the text begins as one of them does. */
int side_influx_told(const char *text, size_t n);
int side_sysjitter_told(const char *text, size_t n);

/* Read all of it. ERR_* of lines.h, ERR_NOMEM; rows that break are in out->bad. */
int side_influx_read(struct side *out, struct side_lines *l, struct err *e);
int side_sysjitter_read(struct side *out, struct side_lines *l, struct err *e);

#endif
