#include "cmd/jitter/spin.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
	RING = 1 << 15, /* gaps: read every 10 ms, so 3 million per second */
	LOOK_NS = 10000000,
	TRIALS = 4096, /* readings of the clock, to measure their cost */
	LINE = 64,     /* bytes of a cache line */
};

struct gap {
	uint64_t begin_ns, end_ns;
};

/* Written only by its spinner, except `taken`; each of the two counters has its own cache
 * line. */
struct lane {
	struct spinner is;
	struct spin *spin;
	pthread_t thread;
	_Atomic int state; /* enum lane_state */
	char line1[LINE];
	_Atomic uint64_t made; /* gaps written to the ring */
	char line2[LINE];
	_Atomic uint64_t taken; /* gaps read from it */
	char line3[LINE];
	struct gap ring[RING];
};

enum lane_state { LANE_STARTS, LANE_READY, LANE_REFUSED, LANE_ENDED };

struct spin {
	const struct spin_wish *wish;
	struct lane **lanes;
	size_t started;
	_Atomic int go, stop;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}

struct spin_clocks spin_clocks(void)
{
	struct spin_clocks best = {.error_ns = UINT64_MAX};
	for (int i = 0; i < 16; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);
		uint64_t raw = now_ns(CLOCK_MONOTONIC_RAW), real = now_ns(CLOCK_REALTIME);
		uint64_t half = (now_ns(CLOCK_MONOTONIC) - before) / 2;
		if (half < best.error_ns)
			best = (struct spin_clocks){before + half, raw, real, half};
	}
	return best;
}

/* --- a spinner ------------------------------------------------------------------------ */

static int pin_to(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = mem_zalloc(1, size);
	if (!set)
		return ERR_NOMEM;
	CPU_SET_S((unsigned)cpu, size, set);
	int r = sched_setaffinity(0, size, set);
	mem_free(set);
	return r;
}

static uint64_t shortest_reading(void)
{
	uint64_t best = UINT64_MAX, last = now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < TRIALS; i++) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		best = now - last < best ? now - last : best;
		last = now;
	}
	return best;
}

static void note(struct lane *l, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t made = atomic_load_explicit(&l->made, memory_order_relaxed);
	uint64_t length = end_ns - begin_ns;
	l->is.gaps++;
	l->is.lost_ns += length;
	l->is.max_ns = length > l->is.max_ns ? length : l->is.max_ns;
	if (made - atomic_load_explicit(&l->taken, memory_order_acquire) >= RING) {
		l->is.dropped++;
		return;
	}
	l->ring[made % RING] = (struct gap){begin_ns, end_ns};
	atomic_store_explicit(&l->made, made + 1, memory_order_release);
}

/* The time of `note` is part of the next gap, so that nothing is missed. */
static void watch(struct lane *l)
{
	uint64_t threshold = l->spin->wish->threshold_ns, readings = 0;
	uint64_t last = now_ns(CLOCK_MONOTONIC), now, length = l->spin->wish->duration_ns;
	uint64_t until_ns = length ? last + length : UINT64_MAX;
	l->is.begin_ns = last;
	do {
		now = now_ns(CLOCK_MONOTONIC);
		if (now - last >= threshold)
			note(l, last, now);
		last = now;
		readings++;
	} while (now < until_ns && !atomic_load_explicit(&l->spin->stop, memory_order_relaxed));
	l->is.end_ns = now;
	l->is.readings = readings;
}

static void *spins(void *arg)
{
	struct lane *l = arg;
	char name[16];
	snprintf(name, sizeof(name), "spinner-%d", l->is.cpu % 1000000);
	prctl(PR_SET_NAME, name);
	l->is.tid = gettid();
	int refused = pin_to(l->is.cpu);
	if (!refused)
		l->is.reading_ns = shortest_reading();
	atomic_store(&l->state, refused ? LANE_REFUSED : LANE_READY);
	while (!refused && !atomic_load(&l->spin->go) && !atomic_load(&l->spin->stop))
		sleep_ns(LOOK_NS / 10);
	if (!refused && atomic_load(&l->spin->go))
		watch(l);
	if (!refused)
		atomic_store(&l->state, LANE_ENDED);
	return NULL;
}

/* --- all of them ---------------------------------------------------------------------- */

/* Set by signals, which reach the caller's thread; a process has only one run. */
static volatile sig_atomic_t asked_to_end;

static void on_signal(int sig)
{
	asked_to_end = sig;
}

static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now = {.sa_handler = on_signal}, old;
	sigemptyset(&now.sa_mask);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &now, NULL);
}

static int start(struct spin *s, int cpu, struct err *e)
{
	struct lane *l = mem_alloc_large(sizeof(*l));
	sigset_t all, before;
	if (!l)
		return err_nomem(e);
	memset(l, 0, sizeof(*l)); /* allocate every page before it is needed */
	l->is.cpu = cpu;
	l->spin = s;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int failed = pthread_create(&l->thread, NULL, spins, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		mem_free(l);
		return err_set(e, ERR_IO, "cannot start a thread: %s", strerror(failed));
	}
	s->lanes[s->started++] = l;
	return 0;
}

static int check(const struct spin *s, struct err *e)
{
	for (size_t i = 0; i < s->started; i++) {
		struct lane *l = s->lanes[i];
		while (atomic_load(&l->state) == LANE_STARTS)
			sleep_ns(LOOK_NS / 10);
		if (atomic_load(&l->state) == LANE_REFUSED)
			return err_set(e, ERR_USAGE,
				       "cannot run on CPU %d: it is offline, or this process "
				       "may not use it",
				       l->is.cpu);
		if (s->wish->threshold_ns <= 2 * l->is.reading_ns)
			return err_set(e, ERR_USAGE,
				       "the threshold of %llu ns is too short: one reading of "
				       "the clock takes %llu ns on CPU %d",
				       (unsigned long long)s->wish->threshold_ns,
				       (unsigned long long)l->is.reading_ns, l->is.cpu);
	}
	return 0;
}

int spin_new(struct spin **out, const struct spin_wish *wish, struct err *e)
{
	struct spin *s = mem_zalloc(1, sizeof(*s));
	*out = NULL;
	if (!s)
		return err_nomem(e);
	s->wish = wish;
	s->lanes = mem_zalloc(wish->n, sizeof(*s->lanes));
	int r = s->lanes ? 0 : err_nomem(e);
	for (size_t i = 0; i < wish->n && !r; i++)
		r = start(s, wish->cpus[i], e);
	r = r ? r : check(s, e);
	if (r)
		spin_free(s);
	else
		*out = s;
	return r;
}

const struct spinner *spin_at(const struct spin *s, size_t i)
{
	return &s->lanes[i]->is;
}

/* Empty the rings; returns how many spinners still spin. */
static size_t drain_rings(struct spin *s)
{
	size_t busy = 0;
	for (size_t i = 0; i < s->started; i++) {
		struct lane *l = s->lanes[i];
		/* read the state first: then its last gaps are visible */
		busy += atomic_load(&l->state) != LANE_ENDED;
		uint64_t at = atomic_load_explicit(&l->taken, memory_order_relaxed);
		uint64_t made = atomic_load_explicit(&l->made, memory_order_acquire);
		for (; at < made; at++)
			s->wish->gap(s->wish->ctx, l->is.cpu, l->ring[at % RING].begin_ns,
				     l->ring[at % RING].end_ns);
		atomic_store_explicit(&l->taken, at, memory_order_release);
	}
	return busy;
}

void spin_run(struct spin *s)
{
	catch_signals();
	mlockall(MCL_CURRENT); /* if permitted */
	atomic_store(&s->go, 1);
	while (drain_rings(s)) {
		sleep_ns(LOOK_NS);
		if (asked_to_end)
			atomic_store(&s->stop, 1);
	}
}

void spin_free(struct spin *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, 1);
	for (size_t i = 0; i < s->started; i++) {
		pthread_join(s->lanes[i]->thread, NULL);
		mem_free(s->lanes[i]);
	}
	mem_free(s->lanes);
	mem_free(s);
}
