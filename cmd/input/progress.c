#include "cmd/input/progress.h"
#include "cmd/cli/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { FIRST_MS = 1000, EVERY_MS = 200, STUCK = 3 };

static double seconds_since(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Once no more bytes are counted, other work goes on: only the time is known. */
static void draw(struct progress *p, double t)
{
	double done = (double)atomic_load(&p->done), total = (double)atomic_load(&p->total);
	double rate = done / t;
	p->stuck = done > p->drawn ? 0 : p->stuck + 1;
	p->drawn = (uint64_t)done;
	if (done > 0 && done < total && p->stuck < STUCK)
		fprintf(stderr, "\r%s: %.0f %%, %.0f MB/s, %.0f s left \033[K", p->what,
			100 * done / total, rate / 1e6, (total - done) / rate);
	else
		fprintf(stderr, "\r%s: %.0f s \033[K", p->what, t);
	p->shown = 1;
	say_over(1);
}

static void add_ms(struct timespec *t, long ms)
{
	t->tv_nsec += ms * 1000000;
	t->tv_sec += t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

static void *run(void *progress)
{
	struct progress *p = progress;
	struct timespec start, next;
	clock_gettime(CLOCK_MONOTONIC, &start);
	next = start;
	add_ms(&next, FIRST_MS);
	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		if (pthread_cond_timedwait(&p->ended, &p->lock, &next) != ETIMEDOUT)
			continue;
		draw(p, seconds_since(&start));
		add_ms(&next, EVERY_MS);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void progress_start(struct progress *p, const char *what, int wanted)
{
	pthread_condattr_t clock;
	sigset_t all, old;
	p->what = what;
	p->runs = p->ends = p->shown = p->stuck = 0;
	p->drawn = 0;
	atomic_init(&p->done, 0);
	atomic_init(&p->total, 0);
	if (!wanted)
		return;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&p->ended, &clock);
	pthread_condattr_destroy(&clock);
	sigfillset(&all); /* signals are for the thread that works */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	p->runs = !pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_show(void *progress, uint64_t done, uint64_t total)
{
	struct progress *p = progress;
	atomic_store(&p->total, total);
	atomic_store(&p->done, done);
}

void progress_end(struct progress *p)
{
	if (!p->runs)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = 1;
	pthread_cond_signal(&p->ended);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->ended);
	pthread_mutex_destroy(&p->lock);
	p->runs = 0;
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	say_over(0);
}
