/* gil_hold.c - a library whose calls hold an interpreter's lock, since they run for so long without
 * giving it back, and log that: hold(NS), then hold_write(LOG). */
#include "truth.h"

void hold(uint64_t ns);
void hold_write(const char *log);

NOINLINE void hold(uint64_t ns)
{
	uint64_t t = now_ns();
	while (now_ns() - t < ns)
		;
	truth("hold", t, now_ns());
}

void hold_write(const char *log)
{
	truth_log = log;
	truth_write();
}
