#include "libsym/unwind/call_sites.h"
#include "base/search.h"
#include "libsym/unwind/cfi.h"

#include <stdlib.h>

enum { REACH = 1 << 24 };

/* Add the calls in the `n` bytes at base. */
static int add_calls(struct callsites *s, const struct arch_late *late, const uint8_t *b,
		     size_t n)
{
	uint64_t returns, target;
	for (size_t at = 0; late->next_call(b, n, &at, &returns, &target);) {
		struct callsite site = {(uint32_t)target, (uint32_t)returns};
		if (target < n && vec_push(&s->sites, site))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_target(const void *a, const void *b)
{
	const struct callsite *x = a, *y = b;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->returns < y->returns ? -1 : x->returns > y->returns;
}

int callsites_init(struct callsites *s, const struct cfi *c, uint64_t va)
{
	uint64_t start;
	size_t n;
	const uint8_t *b = cfi_code_from(c, va, &start, &n);
	*s = (struct callsites){0};
	const struct arch_late *late = cfi_arch(c)->late;
	if (!b || !late)
		return 0;
	uint64_t before = va - start < REACH ? va - start : REACH;
	s->base = va - before;
	b -= before;
	n = n < REACH ? n : REACH;
	int rc = add_calls(s, late, b, (size_t)before + n);
	if (s->sites.n)
		qsort(s->sites.v, s->sites.n, sizeof(*s->sites.v), by_target);
	return rc;
}

void callsites_release(struct callsites *s)
{
	vec_release(&s->sites);
}

const struct callsite *callsites_of(const struct callsites *s, uint64_t target, size_t *n)
{
	uint64_t want = target - s->base;
	size_t end, lo = PARTITION_POINT(i, 0, s->sites.n, s->sites.v[i].target < want);
	for (end = lo; end < s->sites.n && s->sites.v[end].target == want; end++)
		;
	*n = end - lo;
	return *n ? s->sites.v + lo : NULL;
}
