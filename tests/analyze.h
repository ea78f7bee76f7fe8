/*
 * analyze.h - what the analyzers of `make tidy` and `make analyze` cannot see, as they read one
 * file at a time: that a failure is never 0, and that a vector with room has memory (here every
 * push may move it). Included in front of every file but base/err.c.
 */
#ifndef TESTS_ANALYZE_H
#define TESTS_ANALYZE_H

#include "base/err.h"
#include "base/vec.h"

static inline int err_is(int code, int reported)
{
	(void)reported;
	return code;
}

#define err_set(e, code, ...) err_is(code, err_set(e, code, __VA_ARGS__))
#define err_sys(...) err_is(ERR_IO, err_sys(__VA_ARGS__))
#define err_nomem(e) err_is(ERR_NOMEM, err_nomem(e))

#undef vec_reserve
#define vec_reserve(vec, more) \
	vec_grow_((void **)&(vec)->v, &(vec)->cap, (vec)->n, (size_t)(more), sizeof(*(vec)->v))

#endif
