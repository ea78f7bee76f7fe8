/*
 * pingpong LOG [--rounds N] - a byte goes round through two pipes, a prime number of times.
 * "wait": each read, as seen around it.
 */
#include "truth.h"

static int there[2], back[2], rounds;

static void get(int fd)
{
	char x;
	uint64_t t = now_ns();
	if (read(fd, &x, 1) != 1)
		exit(1);
	truth("wait", t, now_ns());
}

static void put(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(1);
}

static void *pongs(void *arg)
{
	(void)arg;
	name_thread("pong");
	for (int i = 0; i < rounds; i++) {
		get(there[0]);
		burn_ns(50 * US);
		put(back[1]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "ping");
	rounds = truth_int("--rounds", 1009);
	if (pipe(there) || pipe(back))
		return 1;
	pthread_t t = start(pongs, NULL);
	for (int i = 0; i < rounds; i++) {
		put(there[1]);
		get(back[0]);
		burn_ns(50 * US);
	}
	pthread_join(t, NULL);
	truth_write();
	return 0;
}
