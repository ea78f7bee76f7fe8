#include "base/populate.h"

#include <sys/mman.h>

enum { STEP = 4 << 20, SMALL = 64 << 20 }; /* a small file is read before it helps */

static void *populate(void *arg)
{
	struct populate *x = arg;
#ifdef MADV_POPULATE_READ
	for (size_t at = 0; at < x->n && !__atomic_load_n(&x->stop, __ATOMIC_RELAXED);
	     at += STEP) {
		size_t n = x->n - at < STEP ? x->n - at : STEP;
		if (madvise((void *)(x->p + at), n, MADV_POPULATE_READ))
			break; /* an older kernel, or the file is shorter by now */
	}
#endif
	return x;
}

void populate_begin(struct populate *x, const void *p, size_t n)
{
	*x = (struct populate){.p = p, .n = n};
	x->started = n >= SMALL && !pthread_create(&x->thread, NULL, populate, x);
}

void populate_end(struct populate *x)
{
	__atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
	if (x->started)
		pthread_join(x->thread, NULL);
	x->started = 0;
}
