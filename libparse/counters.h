/*
 * counters.h - samples that read counters (`perf record -e '{a,b}:S'`, PERF_SAMPLE_READ): one
 * sample of every counter that moved since it was last read, each weighing as much as it moved.
 * perf's deliver_sample_group() does the same.
 */
#ifndef LIBPARSE_COUNTERS_H
#define LIBPARSE_COUNTERS_H

#include "base/hash.h"
#include "base/vec.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

/*
 * What each counter stood at when it was last read. Zero-initialised: none was. Inherited
 * events count in each thread by themselves, all under the id of the event inherited from
 * (perf_sample_id__get_period_storage() of perf; Linux since 6.12 for groups).
 */
struct counters {
	struct idmap index; /* of id and tid → index into stood */
	VEC(struct counter_reading {
		uint64_t id;
		int32_t tid; /* of inherited events, else 0 */
		uint64_t value;
	})
	stood;
};

/* Give its memory back; it is as new then. */
void counters_release(struct counters *c);

/*
 * The next counter that `s` (of an event with PERF_SAMPLE_READ) says has moved: which event it
 * counts, and how far it moved. `at` starts as 0. Every reading must be gone through to its
 * end, in the order they were made. A counter that stands lower than it did is a new one (its
 * thread's number was used again). Groups recorded without ids are one sample of their own
 * event, with its period. 1, 0 at the end, or ERR_NOMEM.
 */
int counters_next(struct counters *c, const struct recording *rec, const struct sample *s,
		  uint64_t *at, const struct event **ev, uint64_t *moved);

#endif
