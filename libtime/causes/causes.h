/*
 * causes.h - the mechanism of a wait, by the table in causes.rules.
 *
 *	struct causes *c;
 *	causes_new(&c, &e);                 // the built-in table
 *	causes_load(c, "my.rules", &e);     // --causes
 *	causes_work_frame(c, "^compact_", &e);
 *	causes_apply(c, &tl, &e);           // cause and wait site of every interval
 *	causes_free(c);
 *
 * causes.rules is the documentation of the rules: their form and their precedence; sites.h says
 * which waits are idle.
 */
#ifndef LIBTIME_CAUSES_CAUSES_H
#define LIBTIME_CAUSES_CAUSES_H

#include "libtime/sched/timeline.h"

struct causes;

/* causes.rules as it was when this was built. */
extern const char causes_builtin[];

/* The built-in table. ERR_NOMEM. */
int causes_new(struct causes **out, struct err *e);

/* NULL is accepted. */
void causes_free(struct causes *c);

/* Put the rules of a file before all others; frames.rules' are added to those. ERR_IO;
 * ERR_FORMAT "FILE:LINE: ..."; ERR_LIMIT. */
int causes_load(struct causes *c, const char *path, struct err *e);

/* The roles of a timeline's frames, by frames.rules and what was loaded; causes_apply does it,
 * too. ERR_NOMEM. */
int causes_roles(const struct causes *c, struct timeline *tl, struct err *e);

/* The same from memory; `name` is for messages. */
int causes_parse(struct causes *c, const char *text, size_t n, const char *name, struct err *e);

/* --idle-frame: a wait whose innermost application function (where its stack shows none, whose
 * user frame) matches this POSIX extended regular expression is idle. --work-frame: one with
 * any user frame that matches is not. May be given several times. ERR_USAGE, ERR_NOMEM. */
int causes_idle_frame(struct causes *c, const char *re, struct err *e);
int causes_work_frame(struct causes *c, const char *re, struct err *e);

/* The cause of one switch-out: a call path (0: none) left in `state`, the text perf prints,
 * inside the system call of that text (syscalls.h; "" where not recorded). ERR_NOMEM. */
int causes_classify(struct causes *c, const struct stacks *s, uint32_t path, const char *state,
		    const char *syscall, enum cause *out, struct err *e);

/*
 * Set `cause` of every interval (CAUSE_RUNQUEUE stays as the state machine set it), then its
 * wait site (sites_apply). The timeline must be finished. ERR_NOMEM.
 */
int causes_apply(struct causes *c, struct timeline *tl, struct err *e);

/* 1 for sleep, poll, cond, semaphore, net, pipe, child and signal: a thread that waits for work
 * waits in one of these. */
int cause_may_idle(unsigned int cause);

/* What to say about a cause when the interval's user stack is missing; "" for nothing. Life:
 * the causes'. */
const char *causes_missing(const struct causes *c, enum cause cause);

/* Which of the two options name a function. */
enum frame_asked {
	ASKED_FOR_WORK = 1,
	ASKED_FOR_IDLE = 2,
};
unsigned causes_asked(const struct causes *c, const char *function);

#endif
