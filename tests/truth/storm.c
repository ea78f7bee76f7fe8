/*
 * storm LOG [--threads N] - short threads, at most eight at a time, 10,000 by default.
 * "thread": the life of each, as the thread itself saw it.
 */
#include "truth.h"

enum { AT_ONCE = 8 };

static void *shorts(void *arg)
{
	uint64_t t = now_ns();
	(void)arg;
	name_thread("short");
	truth("thread", t, now_ns());
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[AT_ONCE];
	truth_begin(argc, argv, "storm");
	int n = truth_int("--threads", 10000);
	for (int i = 0; i < n; i++) {
		if (i >= AT_ONCE)
			pthread_join(t[i % AT_ONCE], NULL);
		t[i % AT_ONCE] = start(shorts, NULL);
	}
	for (int i = n < AT_ONCE ? 0 : n - AT_ONCE; i < n; i++)
		pthread_join(t[i % AT_ONCE], NULL);
	truth_write();
	return 0;
}
