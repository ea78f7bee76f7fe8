/*
 * gate.h - conditions on compared runs, for a build that must fail: `--fail-on`.
 *
 *	function parse_* self more 10%      KIND NAME [WHAT] more|less [PERCENT]
 *	span checkout p99 more 5%
 *	wait p99 more 20%
 *	new root                            new KIND
 *
 * NAME is a glob, quoted by nothing: everything between KIND and the last words. A function's
 * may leave out its module. WHAT is self or total (default) of functions; time (default), count
 * or a percentile of spans; a percentile of waits, which have no NAME.
 *
 * A condition is met if chance does not explain the change of a row (one-sided, corrected for the
 * rows that all conditions match) and its estimate is at least PERCENT of before (default: the
 * smallest effect). It is not met if the range ends below that. Otherwise the runs cannot say.
 */
#ifndef LIBTIME_TABLES_GATE_H
#define LIBTIME_TABLES_GATE_H

#include "libtime/tables/runs.h"

enum gate_answer { GATE_NO, GATE_CANNOT_SAY, GATE_YES };

/* "no", "cannot say", "yes". */
const char *gate_answer_name(unsigned answer);

struct gate {
	const char *text; /* borrowed */
	char *name;       /* heap; NULL: any */
	uint8_t kind, is_new;
	uint32_t millipercent;
	int direction;  /* 1: more, -1: less */
	double percent; /* NAN: the smallest effect */
	/* the answer */
	unsigned answer; /* enum gate_answer */
	uint32_t figure; /* index of runs.figures that it is about; UINT32_MAX: none */
	size_t matched;  /* rows */
	size_t with, of; /* of a new row: the runs after that have it */
	double chance;   /* of that figure, corrected */
};

/* Parse one condition. The caller releases *out, after a failure too. ERR_USAGE, ERR_NOMEM. */
int gate_parse(struct gate *out, const char *text, struct err *e);

/* Answer n conditions together, once the runs are finished. ERR_NOMEM. */
int gates_answer(struct gate *v, size_t n, const struct runs *r);

/* Free the memory. */
void gate_release(struct gate *g);

#endif
