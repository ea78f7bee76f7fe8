/*
 * hog LOG [--neighbour] [--loud] [--rounds N] - a thread computes on CPU 0 in small steps;
 * another one takes that CPU away for 8 ms now and then: by SCHED_FIFO, or --neighbour: as an
 * ordinary thread. "burst": when the hog had the CPU; "late": steps that took over 2 ms longer.
 */
#include "truth.h"

static int rounds, fifo = 1;

NOINLINE static void N(compute_index, rebuild)(void)
{
	burn_ns(8 * MS);
	STAY();
}

static void *hogs(void *arg)
{
	(void)arg;
	name_thread(N("hog", "indexer"));
	pin_to(0);
	if (fifo && go_fifo(40))
		exit(77);
	for (int i = 0; i < rounds; i++) {
		sleep_ns(30 * MS);
		uint64_t t = now_ns();
		N(compute_index, rebuild)();
		truth("burst", t, now_ns());
	}
	atomic_store(&truth_stop, 1);
	return NULL;
}

NOINLINE static void N(handle_request, serve_query)(void)
{
	burn_ns(MS);
	STAY();
}

static void *requests(void *arg)
{
	(void)arg;
	name_thread(N("front", "api"));
	pin_to(0);
	while (!atomic_load(&truth_stop)) {
		uint64_t t = now_ns();
		N(handle_request, serve_query)();
		if (now_ns() - t > 3 * MS)
			truth("late", t, now_ns());
		sleep_ns(400 * US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, N("hogmain", "boss"));
	rounds = truth_int("--rounds", 17);
	fifo = truth_option("--neighbour") == NULL;
	maybe_loud();
	pthread_t r = start(requests, NULL), h = start(hogs, NULL);
	pthread_join(h, NULL);
	pthread_join(r, NULL);
	truth_write();
	return 0;
}
