/*
 * vec.h - growing arrays.
 *
 *	VEC(uint64_t) times = {0};          // or:  struct foo { VEC(struct bar) bars; };
 *	if (vec_push(&times, t))            // 0 ok, ERR_NOMEM
 *		return err_nomem(e);
 *	for (size_t i = 0; i < times.n; i++) use(times.v[i]);
 *	vec_release(&times);
 *
 * Growth moves the elements: keep indices, not pointers, across a push. What becomes large is
 * given address space to grow in, of which only the part in use takes memory.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#define VEC(...)                \
	struct {                \
		__VA_ARGS__ *v; \
		size_t n;       \
		size_t cap;     \
	}

/* Append one element by value. 0, or ERR_NOMEM with the vector as it was. */
#define vec_push(vec, item) \
	(vec_reserve(vec, 1) ? ERR_NOMEM : (((vec)->v[(vec)->n++] = (item)), 0))

/* Make room for `more` further elements. 0 or ERR_NOMEM. */
#define vec_reserve(vec, more)                                                          \
	((vec)->cap - (vec)->n >= (size_t)(more)                                        \
		 ? 0                                                                    \
		 : vec_grow_((void **)&(vec)->v, &(vec)->cap, (vec)->n, (size_t)(more), \
			     sizeof(*(vec)->v)))

/* Free the elements; the vector is empty and usable again. */
#define vec_release(vec) (vec_free_((vec)->v), (vec)->v = NULL, (vec)->n = 0, (vec)->cap = 0)

#include "base/err.h"

/* Used by the macros: make room for `more` elements after n; free the memory. */
int vec_grow_(void **v, size_t *cap, size_t n, size_t more, size_t size);
void vec_free_(void *v);

#endif
