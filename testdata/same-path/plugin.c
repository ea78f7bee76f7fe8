/* A plugin whose work is in a function of the name LEAF; PAD bytes of code come before it. */
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#ifdef PAD
__attribute__((noinline, used)) static void unrelated(void)
{
	__asm__ volatile(".skip 64 * " PAD ", 0x90");
}
#endif

__attribute__((noinline)) void LEAF(double s)
{
	for (double end = now() + s; now() < end;)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1103515245 + 12345;
}

void run(double s)
{
	LEAF(s);
	sink++;
}
