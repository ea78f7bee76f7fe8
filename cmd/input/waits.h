/*
 * waits.h - off-CPU time summed by thread name, stack and what else keeps waits apart: the rows
 * of `collapse --offcpu`, `--offwake` and `svg --offcpu`.
 */
#ifndef CMD_INPUT_WAITS_H
#define CMD_INPUT_WAITS_H

#include "cmd/input/timeline_input.h"
#include "libtime/explain/episodes.h"

/* Options about waits. First member of a verb's options struct, so that input_rows,
 * tlinput_rows and wait_rows fit it. */
struct wait_opts {
	struct tlinput_opts tl;
	int idle, system; /* show what is hidden otherwise */
	struct opt_list states, causes;
};

extern const struct opt wait_rows[];

/* Names of options that only questions about waiting read, for a verb's modes: which waits are
 * hidden, and which are shown. */
#define WAITS_HIDE "idle system causes idle-frame work-frame"
#define WAITS_SHOW WAITS_HIDE " state cause"

/* The population that the filters of `ti` and the options define, by wait; lists are borrowed
 * from both. */
struct episode_query waits_population(const struct tlinput *ti, const struct wait_opts *opt);

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

/* 1 for threads hidden as system. */
static inline int tl_is_system(const struct tlinput *ti, const struct wait_opts *wait,
			       uint32_t thread)
{
	return !wait->system && ti->tl.threads.v[thread].flags & THREAD_SYSTEM;
}

/* One off-CPU interval as asked for: clipped to --time, split into its parts. */
struct wait {
	const struct off *off;
	uint64_t start, end;
	uint64_t blocked, runnable, preempted, unknown; /* preempted is part of runnable */
	int open;                                       /* cut by an edge */
	int idle; /* blocked is idle time; so is unknown (off_idle_ns) */
};

/* The interval clipped to --time; 0 when nothing of it lies inside. */
int tl_clip(const struct tlinput *ti, const struct off *o, struct wait *out);

/* Take its idle time out of its parts, so that it begins behind that, and is open only where
 * what is left was cut; returns how much that was. */
uint64_t tl_take_idle(struct wait *x);

/* What was hidden of the waits that pass all filters, for the one line that says so. */
struct hidden_waits {
	uint64_t idle_n, idle_ns, system_n, system_ns;
	uint64_t largest_ns; /* of one idle stack */
	uint32_t largest_path, largest_comm;
};

/* "hidden: 1,234 idle waits, 12.3 s (largest: main;poll_loop, 10.1 s); …" on stderr. */
void tl_say_hidden(struct tlinput *ti, const struct hidden_waits *h);

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
	struct hidden_waits hidden;
	uint64_t total_ns;         /* of all rows */
	struct u64map idle_stacks; /* comm << 32 | path → index into idle_ns */
	VEC(uint64_t) idle_ns;
};

/* Sum up every interval that passes the options of `ti`. `by`: enum waits_by. 0, ERR_USAGE (an
 * unknown state or cause), ERR_NOMEM. Accumulated --off-cpu totals are added too. */
int waits_collect(struct waits *w, const struct tlinput *ti, const struct wait_opts *opt,
		  unsigned by, struct err *e);
void waits_release(struct waits *w);

/* "[open]", "[state unknown]", "[suspect]"; NULL for plain waits. */
const char *wait_mark_text(unsigned mark);

#endif
