/*
 * sites.h - wait sites: at which places the threads of a role wait, and whether waiting there
 * belongs to a piece of work.
 *
 *	start_thread                                     site: program, role, cause, and the
 *	  worker              the role                   application's functions from the role
 *	    get_job           ┐                          to the wait
 *	      pthread_cond_wait  ◄ worker, cond, worker;get_job
 *	    handle
 *	      ask             ◄ worker, cond, worker;handle;ask
 *
 * A site's verdict is that of the first line that fits, and holds for all its waits:
 *
 *	1 --work-frame or --idle-frame fits                                    work / idle
 *	2 the cause is none of sleep, poll, cond, semaphore, net, pipe,
 *	  child, signal                                                        work
 *	3 a frame is a known work wait (frames.rules)                          work
 *	4 a frame takes work, or a program's own loop waits directly           idle
 *	5 stacks by DWARF, and a function that does other work too, but is
 *	  not on all of the role's stacks, is above the wait                 work
 *	6 a socket that was accepted or is listened on / was connected         idle / work
 *	7 all else                                                             unclear
 *
 * In numbers, line 5: a function carries a tenth or more of the role's work, and is on less
 * than nine tenths of its stacks. Work is a sample, a preemption, a wait that line 2 decides, a
 * wakeup of another thread; not what the runtime does when called straight from a function that
 * waits (the lock of its queue), nor a futex that may be a condition's. Only stacks that reach
 * the thread's start, and show no interpreter, count. Fewer than four say nothing.
 *
 * An unclear site looks like a loop where line 5, asked of any stacks, finds no such function,
 * the thread had not woken most of those that ended its waits, and, for a sleep, the role does
 * not also wait for others in such a place. That is a hint for people, and bounds activations;
 * it hides nothing.
 */
#ifndef LIBTIME_CAUSES_SITES_H
#define LIBTIME_CAUSES_SITES_H

#include "libtime/causes/causes.h"

/*
 * Find the sites of a finished timeline whose causes are set: tl->sites, and of each interval
 * `site` and the bits of OFF_SITE. Sites come in the order of their first intervals. ERR_NOMEM.
 */
int sites_apply(struct causes *c, struct timeline *tl, struct err *e);

/* 1 where the stacks of the switches are stack copies. */
int sites_have_copies(const struct timeline *tl);

#endif
