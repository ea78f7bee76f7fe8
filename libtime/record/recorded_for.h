/*
 * recorded_for.h - whom a recording was made for, from its command line: the command after the
 * options, or the threads whose stacks `perfkit record` chose by filters.
 */
#ifndef LIBTIME_RECORD_RECORDED_FOR_H
#define LIBTIME_RECORD_RECORDED_FOR_H

#include "libparse/recording.h"
#include "libtime/population/meant.h"

/* Read what the command line of `rec` says. It borrows from `rec`; the caller releases *out
 * (recorded_for_release), after a failure, too. 0, also if it says nothing; ERR_NOMEM. */
int recorded_for_read(struct recorded_for *out, const struct recording *rec, struct err *e);

#endif
