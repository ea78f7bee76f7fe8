/* Recursion without frame pointers: only the CFI can unwind it. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

static unsigned leaf_mix(unsigned x)
{
	for (int i = 0; i < 200; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

static unsigned descend(unsigned x, int depth)
{
	volatile unsigned local[6] = {x};
	if (depth)
		local[1] = descend(leaf_mix(x), depth - 1);
	return leaf_mix(local[0] + local[1]);
}

static void work(void)
{
	for (unsigned i = 0; i < 500; i++)
		sink += descend(i, (int)(i % 5));
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	while (time(NULL) <= end)
		work();
	return 0;
}
