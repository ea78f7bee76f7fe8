/*
 * plan.h - which `perf probe` and `perf record` lines answer which question, or correct
 * a recording's own line.
 *
 * A plan begins with a mode or with the line of a recording. It is made of words (words.h).
 * Rules that recordings in this field break most often are built in: tracepoints have
 * period 1 (never -F), waits are recorded system-wide even for one process (who wakes and who
 * runs meanwhile are others; only the chosen threads' events carry stacks), one clock,
 * build-ids of all DSOs, stack dumps and rings bounded.
 */
#ifndef LIBTIME_RECORD_PLAN_H
#define LIBTIME_RECORD_PLAN_H

#include "base/err.h"
#include "libtime/record/remedy.h"
#include "libtime/record/words.h"

#include <stdint.h>

enum record_mode {
	RECORD_CPU,      /* where CPU time goes */
	RECORD_OFFCPU,   /* where waiting goes */
	RECORD_TAIL,     /* both, and who caused the worst waits */
	RECORD_REQUESTS, /* the same with probes around a unit of work */
	RECORD_JITTER,   /* who had a CPU that a program of ours spins on: no stacks, no samples
			  */
};

enum { PERF_MINORS = 100 };

/* Defaults. */
enum {
	PLAN_CPU_FREQ = 999,
	PLAN_CPU_RING = 4 << 20, /* bytes of each ring buffer */
	PLAN_FREQ = 199,         /* of the modes about waits */
	PLAN_RING = 8 << 20,
	PLAN_DUMP = 4096,       /* bytes of stack with a switch */
	PLAN_BUDGET = 20000000, /* bytes a second that the chosen threads' waits may take */
};

/* Without this option of perf 5.1, perf takes up to a second to end: its thread for BPF programs,
 * whose names kallsyms has, looks once a second. */
#define PLAN_QUICK_END "--no-bpf-event"

/* What is counted in each call. */
#define PLAN_COUNTERS "page-faults,context-switches,task-clock"

/* The scheduler's events that are recorded; `optional`: waits can be measured without it. Ends
 * with a NULL name. */
struct plan_event {
	const char *name;
	int optional;
};
extern const struct plan_event plan_sched_events[];

/* Waits that were recorded both with frame pointers and with stack copies (trial.h). */
struct stack_trial {
	uint64_t waits, alike; /* alike: both gave the same stack */
	uint64_t per_second;   /* waits, with those that were lost */
	int fp;                /* frame pointers suffice */
};

/* Threads whose stacks are recorded. */
struct chosen {
	char *leaving; /* filter of sched_switch: a chosen thread leaves its CPU; heap */
	char *woken;   /* filter of sched_waking: one is woken; heap */
	int copy;      /* bytes of stack to copy for what they have in use; 0: not known */
	struct stack_trial trial; /* all 0: there was none */
};

/* Texts are borrowed; NULL or 0: the default. */
struct record_wish {
	/* the line of this recording with these changes, and nothing of what follows but
	 * `perf`; NULL: a mode */
	const struct recording *like;
	struct remedy change;
	enum record_mode mode;
	const char *perf;            /* the program: "perf" */
	const char *output;          /* "perf.data" */
	const char *pid;             /* -p: a list of process ids */
	const char *tid;             /* -t: of thread ids; cpu only, like the next two */
	const char *cpu_list;        /* -C: "0,2-3" */
	const char *cgroup;          /* --cgroup */
	const struct chosen *chosen; /* threads with stacks; NULL: all. Not for cpu */
	const char *event;           /* that samples CPU time: cycles, cpu-clock */
	int frequency;               /* of it, Hz */
	const char *stacks;          /* auto, dwarf, dwarf:BYTES, fp, lbr, none */
	const char *also;            /* --also: "block,idle" */
	const char *tcp_timers;      /* filter of timer_expire_entry for --also tcp */
	int version;                 /* of perf, major * PERF_MINORS + minor; 0: any */
	int old_perf;                /* older than PLAN_QUICK_END */
	int cpus;                    /* of this machine */
	int own_ids;                 /* --buildid-mmap, not --buildid-all */
	uint64_t ring;               /* -m, bytes; 0: perf's own */
	int off_cpu_ms;     /* offcpu: the kernel measures waits, and records those this long */
	int duration;       /* seconds, 0: until the command ends or Ctrl-C */
	const char *libc;   /* file with __lll_lock_wait, NULL: no lock-owner probe */
	const char *binary; /* file with the request's functions */
	const char *begin, *end;   /* functions; end NULL: begin's return */
	const char *key, *end_key; /* perf probe's argument expressions */
	const char *const *command;
	size_t ncommand;
};

/* How the stacks of an event are recorded, if not by copying a number of bytes. */
enum { GRAPH_FP = 0, GRAPH_NONE = -1, GRAPH_BAD = -2, GRAPH_LBR = -3 };

/* Commands, in this order; `undo` removes what `probes` set, even if one in between fails. */
struct record_plan {
	struct words lock_probe; /* may fail; the recording then lacks it */
	VEC(struct words) probes;
	struct words record;
	struct words undo; /* of all probes; run if any was set */
	const char *span;  /* for `perfkit tail --by span:NAME`; NULL: none */
};

/*
 * Make the plan; release it after a failure, too. ERR_USAGE (the message says which options
 * contradict each other), ERR_NOMEM.
 *
 * For wish.like, the plan is the recording's words with `change` applied. If the line also has
 * tracepoints, options that name a rate move to the events they are meant for. What a terminal
 * cannot show, or what is not perf record's own line, is replaced: options by the recording's
 * events (EVENT if their names are lost), the command by COMMAND. Each event keeps its own kind
 * of stacks. Events of probes that no longer exist (perfkit:*, probe_*:*) are left out; if
 * there are no others, `probes` set them. A recording by `perfkit record` gives a `perfkit
 * record` line, which sets its probes again.
 */
int record_plan(struct record_plan *p, const struct record_wish *w, struct err *e);
void record_plan_release(struct record_plan *p);

/* One more of p->probes, to be filled before the next. Without memory p->record, which has
 * failed then. */
struct words *record_plan_probe(struct record_plan *p);

/* Append the plan's probes and the recording as one line for sh. */
void record_plan_line(struct buf *out, const struct record_plan *p);

/* 1 if the words (argv[0] is perf) are the plan of a mode about waits. */
int record_plan_is(const char *const *argv, size_t n);

/* Append an event's terms for its kind of stacks: "fp", "dwarf", "lbr" or "no", with `bytes`
 * copied (0: without a size). */
void plan_put_graph(struct buf *out, const char *kind, uint32_t bytes);

#endif
