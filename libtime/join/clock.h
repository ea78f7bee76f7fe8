/*
 * clock.h - maps the clock of a side file to that of the recording.
 *
 *	recording made with     a file's times can be on
 *	-k CLOCK_MONOTONIC      mono, exactly; real, to about 1 us
 *	-k CLOCK_MONOTONIC_RAW  raw, exactly; real, to about 1 us and 500 ppm
 *	neither (perf's clock)  tsc, exactly, if perf recorded TIME_CONV; others by an offset
 *
 * A file with anchors (both clocks at two moments) is mapped by these, with an error of up to
 * 500 ppm of the time between them.
 *
 * CLOCK_REALTIME is related to the others by the one pair of times that perf records with -k
 * (CLOCK_DATA), in microseconds. CLOCK_MONOTONIC is slewed like CLOCK_REALTIME;
 * CLOCK_MONOTONIC_RAW is not, and the kernel slews by at most 500 ppm.
 */
#ifndef LIBTIME_JOIN_CLOCK_H
#define LIBTIME_JOIN_CLOCK_H

#include "base/count.h"
#include "libtime/sched/timeline.h"
#include "libtime/side/side.h"

struct side_clock_map {
	enum side_clock from;
	int64_t offset_ns;    /* added to the file's times */
	uint64_t error_ns;    /* most that the result can be off */
	int guessed;          /* neither the file nor the user named the clock */
	struct time_conv tsc; /* if mult is not 0, converts the file's TSC values first */
	/* Two moments on both clocks; times between and beyond them are interpolated linearly.
	 * from_ns[0] == from_ns[1]: there are none. */
	uint64_t from_ns[2], to_ns[2];
};

/* Map `clock` to a recording's clock. ERR_REFUSED with the reason, and the `perf record` option
 * that would have allowed it. */
int side_clock_map(const struct timeline *tl, enum side_clock clock, struct side_clock_map *out,
		   struct err *e);

/*
 * Map all times of a file: from the clock that `asked` names, or the file itself; else from the
 * only clock on which any of its spans overlaps the recording. ERR_REFUSED if there is none or
 * more than one.
 */
int side_clock_choose(const struct timeline *tl, const struct side *side, enum side_clock asked,
		      struct side_clock_map *out, struct err *e);

/* 0 if anything in the file is within the recording's time by that map; else ERR_REFUSED. */
int side_clock_check(const struct timeline *tl, const struct side *side,
		     const struct side_clock_map *m, struct err *e);

/* A file's time on the recording's clock: 0, or -1 where it is before that clock's zero. */
static inline int side_clock_apply(const struct side_clock_map *m, uint64_t ns, uint64_t *out)
{
	if (m->tsc.mult)
		ns = time_conv_ns(&m->tsc, ns);
	else if (m->from_ns[1] != m->from_ns[0])
		ns = m->to_ns[0] +
		     (uint64_t)count_mul_div((int64_t)(ns - m->from_ns[0]),
					     (int64_t)(m->to_ns[1] - m->to_ns[0]),
					     (int64_t)(m->from_ns[1] - m->from_ns[0]));
	uint64_t to = ns + (uint64_t)m->offset_ns;
	*out = to;
	return m->offset_ns < 0 ? (to > ns ? -1 : 0) : (to > INT64_MAX ? -1 : 0);
}

#endif
