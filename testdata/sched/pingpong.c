/* Two threads hand a token to each other through two pipes, N times; each computes a little
 * between, and both sleep now and then: futex-free waking with a known number of rounds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int to_ping[2], to_pong[2], rounds = 100;
static volatile unsigned sink;

static void compute(unsigned n)
{
	for (unsigned i = 0; i < n * 1000; i++)
		sink += i;
}

static void hand_over(int fd)
{
	if (write(fd, "x", 1) != 1)
		abort();
}

static void wait_for_token(int fd)
{
	char c;
	if (read(fd, &c, 1) != 1)
		abort();
}

static void *pong(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++) {
		wait_for_token(to_pong[0]);
		compute(20);
		hand_over(to_ping[1]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1)
		rounds = atoi(argv[1]);
	if (pipe(to_ping) || pipe(to_pong))
		return 1;
	pthread_create(&t, NULL, pong, NULL);
	pthread_setname_np(pthread_self(), "ping");
	pthread_setname_np(t, "pong");
	for (int i = 0; i < rounds; i++) {
		hand_over(to_pong[1]);
		compute(10);
		wait_for_token(to_ping[0]);
		if (i % 50 == 49)
			usleep(1000);
	}
	pthread_join(t, NULL);
	return 0;
}
