/*
 * samplers.h - formats of other jitter samplers, besides the CSV of gaps.h.
 *
 *	jitter,host=h,cpu=1 latency=4240i 1718000000100000000      InfluxDB's line protocol
 *
 * The field is latency, jitter or delay, in ns; the time is the end of a reporting
 * interval, as in the CSV. The tag cpu may be missing.
 *
 *	#      Timestamp      delta   <== interruption =>          sysjitter --raw
 *	#         (nsec)     (usec)   (cycles)     (nsec)
 *	        15231442      12042      39211       9802
 *
 * Timestamp is the end of the interruption since the start, which the file does not
 * contain, in ns by the TSC frequency that sysjitter measured. That is assumed to be
 * right within 500 ppm, so the interval in which a gap may be grows with time.
 */
#ifndef LIBTIME_SIDE_SAMPLERS_H
#define LIBTIME_SIDE_SAMPLERS_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts like this format. */
int side_is_influx(const char *text, size_t n);
int side_is_sysjitter(const char *text, size_t n);

/* Read all of it. ERR_* of lines.h, ERR_NOMEM; malformed rows are in out->bad. */
int side_influx_read(struct side *out, struct side_lines *l, struct err *e);
int side_sysjitter_read(struct side *out, struct side_lines *l, struct err *e);

#endif
