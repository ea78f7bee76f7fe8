/*
 * order.h - the records of a recording in the order of time.
 *
 *	struct order *o;
 *	order_new(&o, rec, &e);
 *	while ((got = order_next(o, &next, &e)) == 1) ...
 *	order_free(o);
 *
 * perf writes its ring buffers one after another and ends each round with FINISHED_ROUND;
 * nothing older than the newest record of round k comes after round k+1. So records are
 * buffered for two rounds, merged by their keys, and returned: memory is two rounds, not the
 * file. Recordings without rounds (truncated or very old ones, directories) are buffered whole;
 * what does not fit into memory goes to temporary files (base/bigvec.h).
 *
 * A record that breaks the rule is late: newer ones were returned before it. A file is then
 * read again by an order_whole; a stream's late record is moved to the time of the newest one
 * returned. So times never decrease.
 *
 * With order_read_ahead a separate thread reads and sorts, up to 262,144 records ahead of the
 * caller.
 */
#ifndef LIBPARSE_ORDER_H
#define LIBPARSE_ORDER_H

#include "libparse/recording.h"

struct order;

enum { ORDER_LATE = 2 };

/* Starts at `rec`'s present position, normally its start. `rec` is borrowed; recording_next
 * must not be called meanwhile. ERR_NOMEM. */
int order_new(struct order **out, struct recording *rec, struct err *e);

/* Before the first order_next: sort all records at once instead of round by round. The records
 * are the same, with late ones in their place. */
void order_whole(struct order *o);

struct ordered {
	struct record r; /* without `extra` */
	/* of a sample only time and event: sample_decode decodes the same fields */
	struct record_id id;
};

/*
 * The next record. 1, 0 at the end, < 0 as recording_next, or ORDER_LATE: records of this file
 * are late, and the caller starts over with order_whole. A stream never returns ORDER_LATE.
 * Records of equal time keep the file's order; those without a time come before all others of
 * their window (of a file, mappings and names before all), with id->has_time 0. The view is
 * valid until the next call, and the caller's to change.
 */
int order_next(struct order *o, struct ordered **out, struct err *e);

/*
 * Before the first order_next: read on a separate thread from now on. Only for a recording
 * whose records are in the mapped file (recording_is_mapped); one of pipe mode must have been
 * read to its end before, so that its events are known. The caller does not touch rec->stats
 * until order_free. If records turn out to be compressed, the caller's thread reads on.
 * ERR_NOMEM; without a thread if none can be created.
 */
int order_read_ahead(struct order *o, struct err *e);

/* What was out of order. */
struct order_counts {
	uint64_t late, late_ns; /* late records; by how much at most */
	/* Records older by a millisecond or more than their predecessor in their CPU's ring
	 * buffer, and by how much at most: the clock was set back. Interrupts cause only a few
	 * microseconds. */
	uint64_t back, back_ns;
};

/* Call it after the end of the records. */
struct order_counts order_counts(const struct order *o);

/* On `cpu` (UINT32_MAX: not known) the order of records in [from_ns, to_ns] is uncertain: a
 * stream had late ones, or the clock was set back. */
struct order_doubt {
	uint64_t from_ns, to_ns;
	uint32_t cpu;
};
const struct order_doubt *order_doubts(const struct order *o, size_t *n);

/* NULL is accepted. The rest of the recording is not read. */
void order_free(struct order *o);

#endif
