/*
 * slower.c - a fixed amount of work, of which one function is slower by a known amount:
 *
 *	slower PERCENT [ROUNDS]
 *
 * hot() has four fifths of the work, cold() the rest. Both run one loop, whose length is all that
 * differs; with PERCENT, that of hot() is longer. tests/truth/compare.py records it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOT = 4000, COLD = 1000, SCALE = 20, ROUNDS = 5000 };

static volatile uint64_t sink;

static __attribute__((noinline)) void hot(uint64_t n)
{
	uint64_t x = sink;
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
}

static __attribute__((noinline)) void cold(uint64_t n)
{
	uint64_t x = sink;
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
}

int main(int argc, char **argv)
{
	unsigned long percent = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : ROUNDS;
	for (unsigned long i = 0; i < rounds; i++) {
		hot((uint64_t)HOT * SCALE * (100 + percent) / 100);
		cold((uint64_t)COLD * SCALE);
	}
	printf("%llu\n", (unsigned long long)sink);
	return 0;
}
