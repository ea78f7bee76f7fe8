/*
 * orders SECONDS - an order book with a planted tail: two front threads answer orders in tens
 * of µs, but ten times a second the snapshot thread holds the book's lock for 12 ms: 3 ms
 * compressing, then a write to a slow disk. Prints its own worst answers (ns) at the end.
 *
 * orders backtest CPU - computes on that CPU whenever nothing else wants it (SCHED_IDLE), until
 * it is killed. It keeps a virtual CPU from going idle, where this kernel loses switches.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noipa))

static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static int orders[2][2], disk;
static volatile int done;
static volatile unsigned long checksum;
static uint64_t worst[2][64];

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) void pause_ns(long ns)
{
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}

KEEP static void work_ns(uint64_t ns)
{
	for (uint64_t end = now() + ns; now() < end;)
		for (int i = 0; i < 100; i++)
			checksum = checksum * 31 + (unsigned long)i;
}

KEEP static void compress_pages(void)
{
	work_ns(3000000);
	checksum++;
}

KEEP static void write_pages(void)
{
	static char page[4096] = "snapshot";
	if (write(disk, page, sizeof(page)) < 0)
		exit(1);
	fdatasync(disk);
	pause_ns(8700000); /* the disk is slow */
	checksum++;
}

KEEP static void take_snapshot(void)
{
	pthread_mutex_lock(&book);
	compress_pages();
	write_pages();
	pthread_mutex_unlock(&book);
	checksum++;
}

static void *snapshot(void *arg)
{
	prctl(PR_SET_NAME, "snapshot");
	while (!done) {
		pause_ns(88000000);
		take_snapshot();
	}
	return arg;
}

KEEP static void match_order(int n)
{
	pthread_mutex_lock(&book);
	work_ns(10000);
	pthread_mutex_unlock(&book);
	checksum += (unsigned long)n;
}

static void answered(uint64_t *top, uint64_t ns)
{
	for (int i = 0; i < 64; i++)
		if (ns > top[i]) {
			uint64_t t = top[i];
			top[i] = ns;
			ns = t;
		}
}

static void *front(void *arg)
{
	int k = arg != NULL, n;
	prctl(PR_SET_NAME, k ? "front-1" : "front-0");
	while (read(orders[k][0], &n, sizeof(n)) == sizeof(n)) {
		uint64_t start = now();
		match_order(n);
		answered(worst[k], now() - start);
	}
	return arg;
}

KEEP static int backtest(int cpu)
{
	struct sched_param priority = {0};
	cpu_set_t here;
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	prctl(PR_SET_NAME, "backtest");
	if (sched_setaffinity(0, sizeof(here), &here) || sched_setscheduler(0, SCHED_IDLE, &priority))
		return 1;
	for (;;)
		work_ns(1000000000);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "backtest"))
		return backtest(atoi(argv[2]));
	pthread_t t[3];
	char name[] = "/tmp/ordersXXXXXX";
	uint64_t end = now() + (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	disk = mkstemp(name);
	unlink(name);
	if (disk < 0 || pipe(orders[0]) || pipe(orders[1]))
		return 1;
	pthread_create(&t[0], NULL, front, NULL);
	pthread_create(&t[1], NULL, front, name);
	pthread_create(&t[2], NULL, snapshot, NULL);
	for (int n = 0; now() < end; n++) {
		if (write(orders[n & 1][1], &n, sizeof(n)) < 0)
			return 1;
		pause_ns(1500000);
	}
	done = 1;
	close(orders[0][1]);
	close(orders[1][1]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 64 && worst[k][i] > 2000000; i++)
			printf("front-%d %llu\n", k, (unsigned long long)worst[k][i]);
	return 0;
}
