/*
 * progress.h - the line on a terminal while a command works: what it does, and where that is
 * known how far it is. A thread of its own draws it, after the first second, so that no work
 * has to.
 */
#ifndef CMD_INPUT_PROGRESS_H
#define CMD_INPUT_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct progress {
	const char *what; /* "reading" */
	atomic_uint_fast64_t done, total;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int runs, ends, shown, stuck;
	uint64_t drawn; /* done, at the last line */
};

/* Draw until progress_end, if `wanted`; nothing may be printed meanwhile but by say.h. `what` is
 * borrowed. A system without a further thread draws nothing. */
void progress_start(struct progress *p, const char *what, int wanted);

/* How many bytes are done, of so many; of an unknown number: 0. May be called by any thread. */
void progress_show(void *progress, uint64_t done, uint64_t total);

/* Remove the line. */
void progress_end(struct progress *p);

#endif
