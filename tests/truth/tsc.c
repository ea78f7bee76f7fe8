/*
 * tsc LOG - 40 sleeps of 3 ms; each is logged twice, as the counter and CLOCK_MONOTONIC saw it:
 * "tsc": TID, counter before and after; "mono": TID, ns before and after. Both are read in one
 * go, and again where an interrupt came between.
 */
#include "truth.h"

#if defined(__x86_64__)
#include <x86intrin.h>

struct both {
	uint64_t tsc, ns;
};

static struct both now_both(void)
{
	struct both best = {0, 0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();
		if (after - before < least) {
			least = after - before;
			best = (struct both){before + least / 2, ns};
		}
	}
	return best;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "tsc");
	for (int i = 0; i < 40; i++) {
		struct both a = now_both();
		sleep_ns(3 * MS);
		struct both b = now_both();
		truth("tsc", a.tsc, b.tsc);
		truth("mono", a.ns, b.ns);
	}
	truth_write();
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
