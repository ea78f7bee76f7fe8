/*
 * timeline_parts.h - a timeline of several recordings: which of them a thread or CPU belongs
 * to, and how long was recorded.
 */
#ifndef LIBTIME_SCHED_TIMELINE_PARTS_H
#define LIBTIME_SCHED_TIMELINE_PARTS_H

#include "libtime/sched/timeline.h"

/* The part that a thread belongs to; NULL if the timeline is one recording.
 * timeline_recording_of never returns NULL. */
const struct tl_part *timeline_part_of(const struct timeline *tl, uint32_t thread);
const struct tl_recording *timeline_recording_of(const struct timeline *tl, uint32_t thread);

/* A moment counted from the begin of the thread's recording, as other programs are told it. */
static inline uint64_t timeline_from_origin(const struct timeline *tl, uint32_t thread,
					    uint64_t ns)
{
	uint64_t origin = timeline_recording_of(tl, thread)->origin_ns;
	return ns > origin ? ns - origin : 0;
}

/* The flags of a thread's recording: enum timeline_flag. */
uint32_t timeline_flags_of(const struct timeline *tl, uint32_t thread);

/* A CPU's number on its own host. */
uint16_t timeline_cpu(const struct timeline *tl, uint16_t cpu);

/* The part that a CPU belongs to, by its number in the timeline; NULL for TL_NOCPU, and if the
 * timeline is one recording. */
const struct tl_part *timeline_part_of_cpu(const struct timeline *tl, uint16_t cpu);

/* 1 if an event of that name was recorded, in any part. */
int timeline_has_event(const struct timeline *tl, const char *name);

/* 1 if the times of all parts are of one clock on one host, so that they can be compared. */
int timeline_one_clock(const struct timeline *tl);

/* How long was recorded, in ns: the sum if there are several recordings. */
uint64_t timeline_recorded_ns(const struct timeline *tl);

/* The same within [from, to); to 0: no end. */
uint64_t timeline_recorded_in(const struct timeline *tl, uint64_t from_ns, uint64_t to_ns);

#endif
