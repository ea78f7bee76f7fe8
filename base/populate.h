/*
 * populate.h - maps the pages of a mapped file ahead of the thread that reads them.
 *
 * The first touch of a page is a page fault; another thread can take these for a file that is
 * about to be read from one end to the other. It changes no content.
 */
#ifndef BASE_POPULATE_H
#define BASE_POPULATE_H

#include <pthread.h>
#include <stddef.h>

struct populate {
	const char *p;
	size_t n;
	int started, stop;
	pthread_t thread;
};

/* Begin with the n bytes at `p`, the start of a mapped file. */
void populate_begin(struct populate *x, const void *p, size_t n);

/* Stop, wherever it is; before the file is unmapped. A zeroed or ended one is accepted. */
void populate_end(struct populate *x);

#endif
