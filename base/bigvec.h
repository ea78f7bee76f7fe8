/*
 * bigvec.h - growing arrays that leave memory when they become large.
 *
 *	BIGVEC(struct offcpu) v = {0};
 *	r = bigvec_push(&v, x, e);        // 0, ERR_NOMEM, ERR_IO
 *	for (size_t i = 0; i < v.n; i++) use(v.v[i]);
 *	bigvec_release(&v);
 *
 * Read it like a VEC, but grow it only by the macros below. Up to BIGVEC_IN_MEMORY bytes the
 * elements are in memory; beyond that in a mapped, unnamed file in $TMPDIR (or /tmp), which the
 * kernel writes out and drops from memory as it sees fit. Disk space is allocated before it is
 * used, so a full disk fails the push that needed it and never raises a signal; so does a push
 * that would use the last tenth of the free space (diskroom.h). If no file can be created, the
 * elements stay in memory.
 *
 * Growth moves the elements: keep indices, not pointers, across a push.
 */
#ifndef BASE_BIGVEC_H
#define BASE_BIGVEC_H

#include "base/diskroom.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { BIGVEC_IN_MEMORY = 128 << 20 };

#define BIGVEC(...)                     \
	struct {                        \
		__VA_ARGS__ *v;         \
		size_t n;               \
		size_t room;            \
		struct bigvec_map map_; \
	}

/* Append one element by value. 0, or as bigvec_reserve with the array as it was. */
#define bigvec_push(vec, item, e)                             \
	((vec)->n < (vec)->room || !bigvec_reserve(vec, 1, e) \
		 ? ((vec)->v[(vec)->n++] = (item), 0)         \
		 : (vec)->map_.failed)

/* Make room for `more` further elements. 0, ERR_NOMEM; ERR_IO names the folder that is full. */
#define bigvec_reserve(vec, more, e)                                                      \
	((vec)->room - (vec)->n >= (size_t)(more)                                         \
		 ? 0                                                                      \
		 : bigvec_grow_((void **)&(vec)->v, &(vec)->room, &(vec)->map_, (vec)->n, \
				(size_t)(more), sizeof(*(vec)->v), e))

/* The caller no longer needs the first `count` elements: free their memory and disk space. */
#define bigvec_drop(vec, count) \
	bigvec_drop_((vec)->v, &(vec)->map_, (size_t)(count) * sizeof(*(vec)->v))

/* Free the elements (and the file); the array is empty and usable again. */
#define bigvec_release(vec) \
	(bigvec_free_((vec)->v, &(vec)->map_), (vec)->v = NULL, (vec)->n = 0, (vec)->room = 0)

/* Used by the macros only. */
struct bigvec_map {
	size_t bytes;    /* mapped; 0 = in memory */
	size_t reserved; /* bytes of address space, in memory; 0 = it has only what `room` says */
	uintptr_t ahead; /* the pthread_t that gets the pages after `room`, … */
	int is_ahead;    /* … if there is one */
	size_t dropped;  /* of them, from the start */
	struct diskroom disk;
	int fd;
	int failed; /* the error code of the last growth that failed */
};
int bigvec_grow_(void **v, size_t *room, struct bigvec_map *m, size_t n, size_t more,
		 size_t size, struct err *e);
void bigvec_drop_(void *v, struct bigvec_map *m, size_t bytes);
void bigvec_free_(void *v, struct bigvec_map *m);

#endif
