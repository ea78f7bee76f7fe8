/*
 * migrate LOG [--rounds N] - a thread pins itself to CPU 0 and 1 in turn, a prime number of
 * times, and computes 1 ms there. "cpu0", "cpu1": when it knew itself on that CPU.
 */
#include "truth.h"

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "migrate");
	for (int i = 0; i < truth_int("--rounds", 61); i++) {
		pin_to(i % 2);
		uint64_t t = now_ns();
		burn_ns(MS);
		truth(i % 2 ? "cpu1" : "cpu0", t, now_ns());
	}
	truth_write();
	return 0;
}
