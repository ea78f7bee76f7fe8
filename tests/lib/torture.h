/*
 * torture.h - the 1st, the 2nd, the 3rd ... allocation fails, and all that come after it.
 *
 *	struct torture t = {0};
 *	while (!t.whole) {
 *		struct thing x;
 *		torture_on(&t);
 *		int r = thing_init(&x);
 *		torture_off(&t, r);
 *		thing_release(&x);
 *	}
 *
 * Each run ends with ERR_NOMEM, or with 0 where it can do without; the last, which had all it
 * asked for, with 0. What is not given back is LeakSanitizer's to tell (make asan). Only the
 * calling thread's allocations fail.
 */
#ifndef TESTS_LIB_TORTURE_H
#define TESTS_LIB_TORTURE_H

#include "tests/lib/unit.h"

#include "base/err.h"
#include "base/mem.h"

struct torture {
	long dense; /* so many are tried one by one, then in growing steps; 0: 256 */
	int once;   /* one fails, those behind it do not */
	long n;
	long runs, failed; /* those that ended with ERR_NOMEM */
	int whole;
};

static inline void torture_on(const struct torture *t)
{
	(t->once ? mem_fail_once : mem_fail_after)(t->n);
}

static inline void torture_off(struct torture *t, int r)
{
	t->whole = mem_fail_after(-1) <= t->n;
	if (r != 0 && (t->whole || r != ERR_NOMEM))
		fail_msg("error %d with %ld allocations", r, t->n);
	t->runs++;
	t->failed += r != 0;
	t->n += 1 + t->n / (t->dense ? t->dense : 256);
	if (t->n > 10000000)
		fail_msg("no end of allocations");
}

#endif
