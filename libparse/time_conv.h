/* time_conv.h - how a CPU's time stamp counter becomes a recording's clock
 * (PERF_RECORD_TIME_CONV). */
#ifndef LIBPARSE_TIME_CONV_H
#define LIBPARSE_TIME_CONV_H

#include <stdint.h>

/* Fields of struct perf_event_mmap_page (include/uapi/linux/perf_event.h explains them); mult
 * 0: not recorded. */
struct time_conv {
	uint64_t mult, zero_ns;
	uint64_t cycles, mask; /* if the counter lacks upper bits; mask 0: it has all */
	uint32_t shift;        /* 32 at most */
};

/* Convert a value of the counter to the recording's clock, in ns. */
static inline uint64_t time_conv_ns(const struct time_conv *c, uint64_t tsc)
{
	if (c->mask)
		tsc = c->cycles + ((tsc - c->cycles) & c->mask);
	uint64_t rest = tsc & ((1ull << c->shift) - 1);
	return c->zero_ns + (tsc >> c->shift) * c->mult + (rest * c->mult >> c->shift);
}

#endif
