#include "libtime/population/thread_samples.h"
#include "base/mem.h"

int thread_samples_make(struct thread_samples *s, const struct timeline *tl)
{
	size_t threads = tl->threads.n;
	/* while they are counted and dealt out, thread t's begin stands at t + 1 */
	s->first = mem_zalloc(threads + 2, sizeof(*s->first));
	s->at = mem_zalloc(tl->samples.n, sizeof(*s->at));
	if (!s->first || !s->at)
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->samples.n; i++)
		if (tl->samples.v[i].thread < threads)
			s->first[tl->samples.v[i].thread + 2]++;
	for (size_t t = 2; t < threads + 2; t++)
		s->first[t] += s->first[t - 1];
	for (size_t i = 0; i < tl->samples.n; i++)
		if (tl->samples.v[i].thread < threads)
			s->at[s->first[tl->samples.v[i].thread + 1]++] = (uint32_t)i;
	return 0;
}

void thread_samples_release(struct thread_samples *s)
{
	mem_free(s->first);
	mem_free(s->at);
	*s = (struct thread_samples){0};
}
