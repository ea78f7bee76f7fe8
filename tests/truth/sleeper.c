/*
 * sleeper LOG [--rounds N] - sleeps of 1 to 5 ms by clock_nanosleep, a prime number of them.
 * "wait": each, as seen around the call.
 */
#include "truth.h"

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "sleeper");
	for (int i = 0; i < truth_int("--rounds", 97); i++) {
		uint64_t t = now_ns();
		sleep_ns((uint64_t)(1 + i % 5) * MS);
		truth("wait", t, now_ns());
		burn_ns(100 * US);
	}
	truth_write();
	return 0;
}
