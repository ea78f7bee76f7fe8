/*
 * order.h - the records of a recording in the order of time.
 *
 *	struct order *o;
 *	order_new(&o, rec, &e);
 *	while ((got = order_next(o, &next, &e)) == 1) ...
 *	order_free(o);
 *
 * perf writes its ring buffers one behind the other and ends each round with FINISHED_ROUND;
 * nothing older than the newest record of round k comes after round k+1. So records are held
 * back for two rounds, their keys merged, and let go: memory is two rounds, not the file.
 * Recordings without rounds (cut or very old ones, directories) are held whole.
 *
 * With order_read_ahead a thread of its own reads and sorts, a few thousand records in front of
 * the caller.
 */
#ifndef LIBPARSE_ORDER_H
#define LIBPARSE_ORDER_H

#include "libparse/recording.h"

struct order;

/* From `rec`'s present position, normally its start. Borrowed; nobody else may call
 * recording_next meanwhile. ERR_NOMEM. */
int order_new(struct order **out, struct recording *rec, struct err *e);

/* A record and its pid, tid, time, cpu, id and event. */
struct ordered {
	struct record r; /* but `extra`, which is not kept */
	struct record_id id;
};

/*
 * The next record. 1, 0 at the end, < 0 as recording_next.
 * Records of equal time keep the file's order; those without a time come before all others of
 * their window, with id->has_time 0. The view is valid until the next call, and the
 * caller's to change.
 */
int order_next(struct order *o, struct ordered **out, struct err *e);

/*
 * Before the first order_next: read on a thread of its own from now on. Only for a recording
 * whose records lie in the mapped file (recording_is_mapped) and, in pipe mode, that was read
 * to its end once before, so that its events are known; the caller leaves rec->stats alone
 * until order_free. Should records be compressed after all, the caller's thread goes on alone.
 * ERR_NOMEM; where no thread can be had it is read without.
 */
int order_read_ahead(struct order *o, struct err *e);

/* NULL is accepted. The rest of the recording is not read. */
void order_free(struct order *o);

#endif
