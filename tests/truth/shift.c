/*
 * shift LOG [--rounds N] [--store US] [--seed N] - fetch() and store() sleep, each a random
 * time around its mean (fetch 1 ms, store US), N times in turn. "fetch", "store": each, as seen
 * around it. Two runs that differ in --seed are the same; in --store, one wait has grown.
 */
#include "truth.h"

static uint64_t state;

/* xorshift64*: 0 to 1. */
static double chance(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static void doze(uint64_t mean)
{
	sleep_ns((uint64_t)((double)mean * (0.5 + chance())));
}

NOINLINE static void fetch(void)
{
	doze(MS);
	STAY();
}

NOINLINE static void store(uint64_t mean)
{
	doze(mean);
	STAY();
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "shift");
	state = (uint64_t)truth_int("--seed", 1) * 7919 + 1;
	uint64_t mean = (uint64_t)truth_int("--store", 1000) * US;
	for (int i = 0; i < truth_int("--rounds", 301); i++) {
		uint64_t t = now_ns();
		fetch();
		truth("fetch", t, now_ns());
		t = now_ns();
		store(mean);
		truth("store", t, now_ns());
		burn_ns(50 * US);
	}
	truth_write();
	return 0;
}
