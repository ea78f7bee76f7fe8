/*
 * spinner LOG - two threads compute on CPU 0 for 0.3 s of CPU time each. "life": TID, wall time
 * from start to end; "cpu": TID, 0, CPU time used meanwhile. Nobody blocks: the rest is
 * preempted.
 */
#include "truth.h"

static void *spins(void *arg)
{
	name_thread(arg);
	pin_to(0);
	sched_yield();
	uint64_t t = now_ns(), c = cpu_ns();
	burn_ns(300 * MS);
	c = cpu_ns() - c;
	truth("life", t, now_ns());
	truth("cpu", 0, c);
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "spinmain");
	pthread_t a = start(spins, "victim"), b = start(spins, "spinner");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth_write();
	return 0;
}
