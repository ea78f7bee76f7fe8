/*
 * record_plan.h - which `perf probe` and `perf record` lines answer which question.
 *
 * The plan is made of words, not of text: what runs is what is printed, and no shell comes
 * between. Rules that recordings in this field break most often are built in: tracepoints have
 * period 1 (never -F), waits are recorded system-wide even for one process (who wakes and who
 * runs meanwhile are others), one clock, build-ids of all DSOs, stack dumps and rings bounded.
 */
#ifndef CMD_RECORD_PLAN_H
#define CMD_RECORD_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum record_mode {
	RECORD_CPU,      /* where CPU time goes */
	RECORD_OFFCPU,   /* where waiting goes */
	RECORD_TAIL,     /* both, and who caused the worst waits */
	RECORD_REQUESTS, /* the same with probes around a unit of work */
};

/* Texts are borrowed; NULL or 0: the default. */
struct record_wish {
	enum record_mode mode;
	const char *perf;          /* the program: "perf" */
	const char *output;        /* "perf.data" */
	const char *pid;           /* -p: a list of process ids */
	const char *event;         /* what samples CPU time: cycles, cpu-clock */
	int frequency;             /* of it, Hz */
	const char *call_graph;    /* dwarf, dwarf,BYTES, fp, none */
	int pages;                 /* -m; 0: perf's own */
	int duration;              /* seconds, 0: until the command ends or Ctrl-C */
	const char *libc;          /* file with __lll_lock_wait, NULL: no lock-owner probe */
	const char *binary;        /* file with the request's functions */
	const char *begin, *end;   /* functions; end NULL: begin's return */
	const char *key, *end_key; /* perf probe's argument expressions */
	const char *const *command;
	size_t ncommand;
};

/* One command line. */
struct words {
	VEC(char *) v;
};

/* What is done, in this order; `undo` removes what `probes` set, whatever happens between. */
struct record_plan {
	struct words lock_probe; /* may fail: the recording does without it */
	struct words probes[2];
	struct words record;
	struct words undo; /* all probes; run where any was set */
	const char *span;  /* for `perfkit tail --by span:NAME`; NULL: none */
};

/* Make the plan. ERR_USAGE (what contradicts what is in the message), ERR_NOMEM. */
int record_plan(struct record_plan *p, const struct record_wish *w, struct err *e);
void record_plan_release(struct record_plan *p);

/* Append a printf-made word. ERR_NOMEM. */
int words_add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append the words as a line that sh takes apart into the same words. */
void words_line(struct buf *out, const struct words *w);

/* Forget the words. */
void words_release(struct words *w);

#endif
