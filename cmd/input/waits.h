/*
 * waits.h - off-CPU time summed by thread name, stack and what else keeps waits apart: the rows
 * of `collapse --offcpu`, `--offwake` and `svg --offcpu`.
 */
#ifndef CMD_INPUT_WAITS_H
#define CMD_INPUT_WAITS_H

#include "cmd/input/timeline_input.h"
#include "libtime/explain/population.h"

/* Options about waits. First member of a verb's options struct, so that input_rows,
 * tlinput_rows and wait_rows fit it. */
struct wait_opts {
	struct tlinput_opts tl;
	int idle, system; /* show what is hidden otherwise */
	int no_unclear;
	struct opt_list states, causes;
};

extern const struct opt wait_rows[];

/* Names of options that only questions about waiting read, for a verb's modes: which waits are
 * hidden, and which are shown. */
#define WAITS_HIDE "idle system no-unclear causes idle-frame work-frame"
#define WAITS_SHOW WAITS_HIDE " state cause"

/* The population that the filters of `ti` and the options (NULL: none) define; lists are
 * borrowed from both. Unclear waits are shown, or left out with --no-unclear. */
struct population waits_population(const struct tlinput *ti, const struct wait_opts *opt);

/* 1 when the thread passes --comm, --pid, --tid (a comm at any time of its life counts by
 * `comm`, the strings id at that moment). */
int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm);

/* The same of a thread that is named by its ids. */
int tl_task_passes(const struct tlinput *ti, int32_t pid, int32_t tid, uint32_t comm);

/* ERR_USAGE: `word` is no state; those there are stand in `words`, blanks between. */
int waits_no_state(const char *word, const char *words, struct err *e);

/* 1 when --cpu was not given or names `a` or `b`: of a wait, the CPU it left and the one it
 * came back to (tail counts it by the same rule); TL_NOCPU is on no list. */
int tl_cpu_passes(const struct tlinput *ti, uint16_t a, uint16_t b);

/* "hidden: 1,234 idle waits, 12.3 s (longest ...); ..." on stderr, of what was set apart. */
void tl_say_hidden(struct tlinput *ti, const struct set_apart *x);

enum waits_by {
	WAITS_BY_PID = 1,
	WAITS_BY_TID = 2,
	WAITS_BY_CAUSE = 4,
	WAITS_BY_WAKER = 8,
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
	uint64_t ns;
	uint64_t count; /* intervals */
};

struct waits {
	VEC(struct wait_row) rows; /* in order of first appearance */
	struct idmap index;
	struct set_apart apart;
	uint64_t total_ns; /* of all rows */
};

/* Sum up every interval that passes the options of `ti`. `by`: enum waits_by. 0, ERR_USAGE (an
 * unknown state or cause), ERR_NOMEM. Accumulated --off-cpu totals are added too. */
int waits_collect(struct waits *w, const struct tlinput *ti, const struct wait_opts *opt,
		  unsigned by, struct err *e);
void waits_release(struct waits *w);

/* "[open]", "[state unknown]", "[suspect]", "[unclear]"; NULL for plain waits. */
const char *wait_mark_text(unsigned mark);

#endif
