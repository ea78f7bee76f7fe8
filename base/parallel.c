#include "base/parallel.h"

#include <pthread.h>
#include <unistd.h>

struct call {
	void (*job)(void *ctx, unsigned i);
	void *ctx;
	unsigned i;
	pthread_t thread;
	int started;
};

static void *make_call(void *call)
{
	const struct call *c = call;
	c->job(c->ctx, c->i);
	return NULL;
}

unsigned parallel_parts(size_t items, size_t least)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = items / least;
	n = cpus > 0 && n > (size_t)cpus ? (size_t)cpus : n;
	n = n > PARALLEL_MAX ? PARALLEL_MAX : n;
	return n ? (unsigned)n : 1;
}

void parallel_run(unsigned n, void (*job)(void *ctx, unsigned i), void *ctx)
{
	struct call calls[PARALLEL_MAX];
	for (unsigned i = 0; i < n; i++) {
		calls[i] = (struct call){.job = job, .ctx = ctx, .i = i};
		calls[i].started = i + 1 < n && !pthread_create(&calls[i].thread, NULL,
								make_call, &calls[i]);
		if (!calls[i].started)
			make_call(&calls[i]);
	}
	for (unsigned i = 0; i < n; i++)
		if (calls[i].started)
			pthread_join(calls[i].thread, NULL);
}
