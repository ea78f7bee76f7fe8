/*
 * order.h - the records of a recording in the order of time.
 *
 *	struct order *o;
 *	order_new(&o, rec, &e);
 *	while ((got = order_next(o, &r, &id, &e)) == 1) ...
 *	order_free(o);
 *
 * perf writes its ring buffers one behind the other and ends each round with FINISHED_ROUND;
 * nothing older than the newest record of round k comes after round k+1. So records are held
 * back for two rounds, their keys merged, and let go: memory is two rounds, not the file.
 * Recordings without rounds (cut or very old ones, directories) are held whole.
 */
#ifndef LIBPARSE_ORDER_H
#define LIBPARSE_ORDER_H

#include "libparse/recording.h"

struct order;

/* From `rec`'s present position, normally its start. Borrowed; nobody else may call
 * recording_next meanwhile. ERR_NOMEM. */
int order_new(struct order **out, struct recording *rec, struct err *e);

/*
 * The next record and its pid, tid, time, cpu and id. 1, 0 at the end, < 0 as recording_next.
 * Records of equal time keep the file's order; those without a time come before all others of
 * their window, with id->has_time 0. The view is valid until the next call.
 */
int order_next(struct order *o, struct record *r, struct record_id *id, struct err *e);

/* NULL is accepted. */
void order_free(struct order *o);

#endif
