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
 * The head of causes.rules documents the form and precedence of rules; sites.h says which waits
 * are idle.
 */
#ifndef LIBTIME_CAUSES_CAUSES_H
#define LIBTIME_CAUSES_CAUSES_H

#include "libtime/sched/timeline.h"

struct causes;
struct frame_table;

/* causes.rules, compiled in. */
extern const char causes_builtin[];

/* The built-in table. ERR_NOMEM. */
int causes_new(struct causes **out, struct err *e);

/* NULL is accepted. */
void causes_free(struct causes *c);

/* Put the rules of a file before all others; its rules for frames are added to frames.rules.
 * ERR_IO; ERR_FORMAT "FILE:LINE: ..."; ERR_LIMIT. */
int causes_load(struct causes *c, const char *path, struct err *e);

/* The rules for frames, those of the loaded files first; the table's own. */
const struct frame_table *causes_frames(const struct causes *c);

/* Set the roles of a timeline's frames, by frames.rules and the loaded files; causes_apply does
 * it, too. ERR_NOMEM. */
int causes_roles(const struct causes *c, struct timeline *tl, struct err *e);

/* The same from memory; `name` is for messages. */
int causes_parse(struct causes *c, const char *text, size_t n, const char *name, struct err *e);

/* --idle-frame: a wait is idle if its innermost application function (or user frame, if its
 * stack has no such function) matches this POSIX extended regular expression. --work-frame: a
 * wait with any user frame that matches is not idle. Each may be added several times.
 * ERR_USAGE, ERR_NOMEM. */
int causes_idle_frame(struct causes *c, const char *re, struct err *e);
int causes_work_frame(struct causes *c, const char *re, struct err *e);

/* The cause of one switch-out: a call path (0: none) left in `state`, the text perf prints,
 * inside the system call of that text (syscalls.h; "": not recorded). ERR_NOMEM. */
int causes_classify(struct causes *c, const struct stacks *s, uint32_t path, const char *state,
		    const char *syscall, enum cause *out, struct err *e);

/*
 * Set `cause` of every interval (but keep CAUSE_RUNQUEUE, which sched.h sets), then its wait
 * site (sites_apply). The timeline must be finished. ERR_NOMEM.
 */
int causes_apply(struct causes *c, struct timeline *tl, struct err *e);

/* 1 for sleep, poll, cond, semaphore, net, pipe, child and signal: the causes of waits for
 * work. */
int cause_may_idle(unsigned int cause);

/* What to say about a cause if the interval's user stack is missing, or "". It lives as long as
 * `c`. */
const char *causes_missing(const struct causes *c, enum cause cause);

/* Which of the two options name a function. */
enum frame_asked {
	ASKED_FOR_WORK = 1,
	ASKED_FOR_IDLE = 2,
};
unsigned causes_asked(const struct causes *c, const char *function);

#endif
