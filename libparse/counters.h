/*
 * counters.h - samples that read counters (`perf record -e '{a,b}:S'`, PERF_SAMPLE_READ): one
 * sample of every counter that grew since it was last read, weighted by its growth, as in
 * perf's deliver_sample_group().
 */
#ifndef LIBPARSE_COUNTERS_H
#define LIBPARSE_COUNTERS_H

#include "base/hash.h"
#include "base/vec.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

/*
 * The last value read of each counter. Zero-initialised: none was read. An inherited event has
 * a counter in each thread, all with the id of the event inherited from
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

/* Free the memory; the object is empty and usable again. */
void counters_release(struct counters *c);

/*
 * The next counter that grew according to `s` (a sample of an event with PERF_SAMPLE_READ): its
 * event, and by how much. `at` starts as 0. Every sample must be read to its end, in the order
 * of recording. A counter with a lower value than before is a new one (its tid was reused). A
 * group recorded without ids is one sample of its own event, with its period. 1, 0 at the end,
 * or ERR_NOMEM.
 */
int counters_next(struct counters *c, const struct recording *rec, const struct sample *s,
		  uint64_t *at, const struct event **ev, uint64_t *moved);

#endif
