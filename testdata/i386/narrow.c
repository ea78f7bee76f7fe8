/* A 32-bit program without frame pointers. */
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void parse(int n)
{
	for (int i = 0; i < n; i++)
		sink = sink * 1103515245 + 12345;
}

__attribute__((noinline)) static int serve(int n, int *calls)
{
	int local[8] = {n};
	for (int i = 0; i < 4; i++)
		parse(n + i);
	return local[n & 7] + ++*calls;
}

int main(void)
{
	int calls = 0, r = 0;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (long until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + 900, now = 0; now < until;
	     now = t.tv_sec * 1000 + t.tv_nsec / 1000000) {
		r += serve(20000, &calls);
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
	return r == 7;
}
