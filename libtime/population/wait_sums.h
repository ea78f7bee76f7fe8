/*
 * wait_sums.h - sums off-CPU time by thread name, stack and other keys: the rows of `collapse
 * --offcpu`, `--offwake` and `svg --offcpu`.
 */
#ifndef LIBTIME_POPULATION_WAIT_SUMS_H
#define LIBTIME_POPULATION_WAIT_SUMS_H

#include "base/hash.h"
#include "libtime/population/population.h"
#include "libtime/spans/label_sets.h"

enum waits_by {
	WAITS_BY_PID = 1,
	WAITS_BY_TID = 2,
	WAITS_BY_CAUSE = 4,
	WAITS_BY_WAKER = 8,
	WAITS_BY_STATE = 16, /* runnable time has rows of its own */
};

/* Parts of a wait's time. Runnable time includes preempted time. */
enum waits_states {
	WAITS_BLOCKED = 1,
	WAITS_RUNNABLE = 2,
	WAITS_PREEMPTED = 4,
	WAITS_UNKNOWN = 8,
	WAITS_ALL_STATES = 15,
};

/* Which waits of a population are shown, and by which keys they are summed. */
struct wait_selection {
	struct population of;
	unsigned states;             /* enum waits_states */
	uint8_t causes[CAUSE_COUNT]; /* by enum cause: shown? */
	unsigned by;                 /* enum waits_by */
	struct label_sets *split;    /* a row for each; NULL: not by label. Borrowed */
};

/* Time that is shown apart from other waits, below a frame of its own. */
enum wait_mark {
	WAIT_PLAIN,
	WAIT_OPEN,    /* cut by the edge of the recording or of --time */
	WAIT_UNKNOWN, /* off the CPU, blocked or runnable */
	WAIT_SUSPECT, /* records were lost there */
	WAIT_UNCLEAR, /* blocked at an unclear site */
};

struct wait_row {
	uint32_t comm;    /* strings id */
	int32_t pid, tid; /* -1: not a key */
	uint32_t path;
	uint32_t waker_comm; /* strings id; 0 = no waker thread */
	uint32_t waker_path;
	uint8_t waker_context;
	uint8_t cause, mark;
	uint8_t is_runnable; /* with WAITS_BY_STATE: run-queue delay, not the rest */
	uint32_t label;      /* set of `split`; 0: none */
	uint64_t ns;
	uint64_t unknown_ns; /* of it, neither blocked nor runnable for certain */
	uint64_t count;      /* intervals */
};

enum { WAITS_RECENT = 64 };

struct wait_sums {
	VEC(struct wait_row) rows; /* in order of first appearance */
	struct idmap index;
	uint32_t recent[WAITS_RECENT]; /* rows, by the low bits of their path and mark */
	struct set_apart apart;
	uint64_t total_ns; /* of all rows */
};

/* Sum up what is selected, including totals of --off-cpu. The caller releases *w, after a
 * failure too. ERR_NOMEM. */
int wait_sums_collect(struct wait_sums *w, const struct timeline *tl,
		      const struct wait_selection *s, struct err *e);
void wait_sums_release(struct wait_sums *w);

/* "[open]", "[state unknown]", "[suspect]", "[unclear]"; NULL for plain waits. */
const char *wait_mark_text(unsigned mark);

#endif
