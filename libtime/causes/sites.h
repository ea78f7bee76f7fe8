/*
 * sites.h - wait sites: the places where the threads of a role wait, and whether a wait there
 * is part of a piece of work.
 *
 *	start_thread                                     site: program, role, cause, and the
 *	  worker              the role                   application's functions from the role
 *	    get_job           ┐                          to the wait
 *	      pthread_cond_wait  ◄ worker, cond, worker;get_job
 *	    handle
 *	      ask             ◄ worker, cond, worker;handle;ask
 *
 * The first step that applies gives a site's verdict, for all its waits:
 *
 *	1 --work-frame or --idle-frame matches                                  work / idle
 *	2 the cause is none of sleep, poll, cond, semaphore, net, pipe,
 *	  child, signal                                                        work
 *	3 a frame is a known work wait (frames.rules)                          work
 *	4 a frame takes work, or a program's own loop waits directly           idle
 *	5 stacks by DWARF, and a function that does other work too, but is
 *	  not on all of the role's stacks, is above the wait                 work
 *	6 a socket that was accepted or is listened on / was connected         idle / work
 *	7 otherwise                                                            unclear
 *
 * Step 5 in numbers: the function carries at least a tenth of the role's work, and is on less
 * than nine tenths of its stacks. Work is a sample, a preemption, a wait that step 2 decides,
 * or a wakeup of another thread. What the runtime does when a waiting function calls it
 * directly (the lock of its queue) does not count, nor does a futex that may be a condition
 * variable's. Only stacks that reach the thread's start and show no interpreter count. Fewer
 * than four prove nothing.
 *
 * An unclear site looks like a loop if step 5, for stacks of any kind, finds no such function,
 * if the thread had not woken most of the threads that ended its waits, and, for a sleep, if
 * the role does not also wait for other threads in such a place. That is a hint for readers,
 * and bounds activations; it hides nothing.
 */
#ifndef LIBTIME_CAUSES_SITES_H
#define LIBTIME_CAUSES_SITES_H

#include "libtime/causes/causes.h"

/*
 * Find the sites of a finished timeline whose causes are set: tl->sites, in the order of their
 * first intervals, and `site` and the bits of OFF_SITE of each interval. ERR_NOMEM.
 */
int sites_apply(struct causes *c, struct timeline *tl, struct err *e);

/* 1 if the stacks of the switches are unwound from copies. */
int sites_have_copies(const struct timeline *tl);

/* Equal for waits at sites of which the same is told, in one recording: they differ by callers,
 * or by addresses in a file without symbols. Tables have one row for these. */
uint64_t sites_told(const struct timeline *tl, const struct offcpu *o);

#endif
