/* Works and waits at the end of 40 and of 200 calls in turn. */
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void work(double seconds)
{
	double until = now() + seconds;
	while (now() < until)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1103515245 + 12345;
}

__attribute__((noinline)) static int visit(int n)
{
	volatile int k = n;
	if (!n) {
		work(0.02);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		return 0;
	}
	return visit(n - 1) + k;
}

__attribute__((noinline)) static int render(int depth)
{
	return visit(depth) + 1;
}

int main(void)
{
	int r = 0;
	for (int i = 0; i < 20; i++)
		r += render(i % 2 ? 40 : 200);
	return r == 7;
}
