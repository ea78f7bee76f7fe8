/*
 * wait_sums.h - off-CPU time summed by thread name, stack and what else keeps waits apart: the
 * rows of `collapse --offcpu`, `--offwake` and `svg --offcpu`.
 */
#ifndef LIBTIME_POPULATION_WAIT_SUMS_H
#define LIBTIME_POPULATION_WAIT_SUMS_H

#include "base/hash.h"
#include "libtime/population/population.h"

enum waits_by {
	WAITS_BY_PID = 1,
	WAITS_BY_TID = 2,
	WAITS_BY_CAUSE = 4,
	WAITS_BY_WAKER = 8,
};

/* Parts of a wait's time. Preempted time is part of runnable time: who asks for the latter
 * asks for both. */
enum waits_states {
	WAITS_BLOCKED = 1,
	WAITS_RUNNABLE = 2,
	WAITS_PREEMPTED = 4,
	WAITS_UNKNOWN = 8,
	WAITS_ALL_STATES = 15,
};

/* Which waits of a population are shown, and which of them are added up. */
struct wait_selection {
	struct population of;
	unsigned states;             /* enum waits_states */
	uint8_t causes[CAUSE_COUNT]; /* by enum cause: shown? */
	unsigned by;                 /* enum waits_by */
	/* Rows apart by the value of a label. NULL: not asked. Borrowed. */
	const struct label_lanes *split;
};

/* Time that stands apart from plain waits, below a frame of its own. */
enum wait_mark {
	WAIT_PLAIN,
	WAIT_OPEN,    /* cut by the edge of the recording or of --time */
	WAIT_UNKNOWN, /* off the CPU, but blocked or runnable is not known */
	WAIT_SUSPECT, /* records were lost there */
	WAIT_UNCLEAR, /* blocked at an unclear site */
};

struct wait_row {
	uint32_t comm;    /* strings id */
	int32_t pid, tid; /* as asked for, else -1 */
	uint32_t path;
	uint32_t waker_comm; /* strings id; 0 = no waker thread */
	uint32_t waker_path;
	uint8_t waker_context;
	uint8_t cause, mark;
	uint32_t label; /* strings id: the value of `split`; 0: none */
	uint64_t ns;
	uint64_t count; /* intervals */
};

struct wait_sums {
	VEC(struct wait_row) rows; /* in order of first appearance */
	struct idmap index;
	struct set_apart apart;
	uint64_t total_ns; /* of all rows */
};

/* Sum up what is selected, accumulated --off-cpu totals too. *w is the caller's to release in
 * any case. ERR_NOMEM. */
int wait_sums_collect(struct wait_sums *w, const struct timeline *tl,
		      const struct wait_selection *s, struct err *e);
void wait_sums_release(struct wait_sums *w);

/* "[open]", "[state unknown]", "[suspect]", "[unclear]"; NULL for plain waits. */
const char *wait_mark_text(unsigned mark);

#endif
