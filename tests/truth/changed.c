/*
 * changed.c - a fixed amount of work with one change of a known kind, for tests/truth/compare.py:
 *
 *	changed lock US     four threads serve 400 requests each, of which one in 100 keeps the
 *	                    lock US longer than the others' 200 us
 *	changed copies N [TIMES]
 *	                    N percent of one sum is done by the first of two copies of mix() that
 *	                    are inlined in work(), and N percent of another by split.part.0(),
 *	                    which is split() under the name that compilers give a piece; the
 *	                    others do the rest
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, REQUESTS = 400, ROUNDS = 3000, STEPS = 1000 };

static volatile uint64_t sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long longer_us;

static void sleep_us(long us)
{
	struct timespec t = {0, us * 1000};
	nanosleep(&t, NULL);
}

static __attribute__((noinline)) void serve(int request)
{
	pthread_mutex_lock(&lock);
	sleep_us(200 + (request % 100 == 99 ? longer_us : 0));
	pthread_mutex_unlock(&lock);
}

static void *server(void *unused)
{
	for (int i = 0; i < REQUESTS; i++) {
		serve(i);
		sleep_us(300);
	}
	return unused;
}

static inline __attribute__((always_inline)) uint64_t mix(uint64_t x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static __attribute__((noinline)) void work(long first, long second)
{
	uint64_t x = mix(sink, first);
	sink = x ^ (x >> 7);
	x = mix(sink, second);
	sink = x ^ (x >> 9);
}

static __attribute__((noinline)) void split(long n)
{
	sink = mix(sink, n) + 1;
}

void split_part(long n) __asm__("split.part.0");
__attribute__((noinline)) void split_part(long n)
{
	sink = mix(sink, n) + 2;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	pthread_t t[THREADS];
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "copies")) {
		long rounds = ROUNDS * (argc > 3 ? strtol(argv[3], NULL, 10) : 1);
		for (long i = 0; i < rounds; i++) {
			work(STEPS * n, STEPS * (100 - n));
			split(STEPS * (100 - n) / 2);
			split_part(STEPS * n / 2);
		}
		return 0;
	}
	longer_us = n;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, server, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
