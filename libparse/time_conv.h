/* time_conv.h - how a CPU's time stamp counter becomes a recording's clock
 * (PERF_RECORD_TIME_CONV).
 */
#ifndef LIBPARSE_TIME_CONV_H
#define LIBPARSE_TIME_CONV_H

#include <stdint.h>

/* Of struct perf_event_mmap_page (include/uapi/linux/perf_event.h says how); mult 0: not told.
 */
struct time_conv {
	uint64_t mult, zero_ns;
	uint64_t cycles, mask; /* of a counter whose upper bits are missing; mask 0: none are */
	uint32_t shift;        /* 32 at most */
};

/* A moment of the counter on the recording's clock, in ns. */
static inline uint64_t time_conv_ns(const struct time_conv *c, uint64_t tsc)
{
	if (c->mask)
		tsc = c->cycles + ((tsc - c->cycles) & c->mask);
	uint64_t rest = tsc & ((1ull << c->shift) - 1);
	return c->zero_ns + (tsc >> c->shift) * c->mult + (rest * c->mult >> c->shift);
}

#endif
