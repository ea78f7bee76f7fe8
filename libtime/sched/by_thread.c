#include "libtime/sched/by_thread.h"
#include "base/err.h"

#include <string.h>

static uint32_t thread_of(const void *v, size_t i, size_t size, size_t thread_at)
{
	uint32_t t;
	memcpy(&t, (const char *)v + i * size + thread_at, sizeof(t));
	return t;
}

/* A counting sort. While elements are counted and placed, thread t begins at first[t + 1]. */
int by_thread_build(struct by_thread *g, size_t threads, const void *v, size_t n, size_t size,
		    size_t thread_at)
{
	if (g->first.n)
		return 0;
	if (n >= UINT32_MAX)
		return ERR_LIMIT;
	if (vec_reserve(&g->first, threads + 2) || vec_reserve(&g->id, n + 1))
		return ERR_NOMEM;
	uint32_t *first = g->first.v;
	memset(first, 0, (threads + 2) * sizeof(*first));
	for (size_t i = 0; i < n; i++) {
		uint32_t t = thread_of(v, i, size, thread_at);
		if (t < threads)
			first[t + 2]++;
	}
	for (size_t t = 2; t < threads + 2; t++)
		first[t] += first[t - 1];
	for (size_t i = 0; i < n; i++) {
		uint32_t t = thread_of(v, i, size, thread_at);
		if (t < threads)
			g->id.v[first[t + 1]++] = (uint32_t)i;
	}
	g->first.n = threads + 1;
	g->id.n = first[threads];
	return 0;
}

void by_thread_release(struct by_thread *g)
{
	vec_release(&g->id);
	vec_release(&g->first);
}
