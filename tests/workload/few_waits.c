/*
 * few_waits.c - a service whose switches are few among a neighbour's many: "svc-front" wants a
 * lock every 5 ms that "svc-snap" holds for 8 ms eight times a second; "noise" is two processes
 * that pass a byte to each other, 20 times what the service switches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

__attribute__((noinline)) void write_pages(void)
{
	pause_us(8000);
	__asm__ volatile("");
}

__attribute__((noinline)) void *snapshot(void *p)
{
	pthread_setname_np(pthread_self(), "svc-snap");
	for (;;) {
		pause_us(125000);
		pthread_mutex_lock(&lock);
		write_pages();
		pthread_mutex_unlock(&lock);
	}
	return p;
}

__attribute__((noinline)) void place_order(void)
{
	pthread_mutex_lock(&lock);
	__asm__ volatile("");
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void *front(void *p)
{
	pthread_setname_np(pthread_self(), "svc-front");
	for (;;) {
		pause_us(5000);
		place_order();
	}
	return p;
}

static void noise(int in, int out, int first)
{
	char byte = 0;
	prctl(PR_SET_NAME, "noise");
	prctl(PR_SET_PDEATHSIG, 9);
	if (first && write(out, &byte, 1) != 1)
		exit(1);
	for (int i = 1; read(in, &byte, 1) == 1; i++) {
		if (first && i % 10 == 0)
			pause_us(3000);
		if (write(out, &byte, 1) != 1)
			exit(1);
	}
}

int main(void)
{
	int there[2], back[2];
	pthread_t t;
	if (pipe(there) || pipe(back))
		return 1;
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			noise(i ? there[0] : back[0], i ? back[1] : there[1], !i);
			return 0;
		}
	pthread_create(&t, NULL, snapshot, NULL);
	pthread_create(&t, NULL, front, NULL);
	sleep(60);
	return 0;
}
