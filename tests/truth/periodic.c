/*
 * periodic LOG [--loud] [--rounds N] - a thread wakes every 5 ms by a timer on CPU 0; now and
 * then a SCHED_FIFO thread has that CPU then, for 4 ms. "tick": from when each tick was due to
 * when it ran.
 */
#include "truth.h"

static uint64_t begin;
static int rounds;

NOINLINE static void N(sample_sensors, probe_ports)(void)
{
	burn_ns(100 * US);
	STAY();
}

static void *tickers(void *arg)
{
	(void)arg;
	name_thread(N("ticker", "metronome"));
	pin_to(0);
	for (int i = 0; i < rounds; i++) {
		uint64_t due = begin + (uint64_t)i * 5 * MS;
		sleep_until(due);
		truth("tick", due, now_ns());
		N(sample_sensors, probe_ports)();
	}
	atomic_store(&truth_stop, 1);
	return NULL;
}

NOINLINE static void N(compute_index, rebuild)(void)
{
	burn_ns(4 * MS);
	STAY();
}

static void *hogs(void *arg)
{
	(void)arg;
	name_thread(N("hog", "indexer"));
	pin_to(0);
	if (go_fifo(40))
		exit(77);
	for (int i = 7; i < rounds; i += 13) {
		sleep_until(begin + (uint64_t)i * 5 * MS - MS);
		N(compute_index, rebuild)();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, N("periodic", "clockwork"));
	rounds = truth_int("--rounds", 127);
	begin = now_ns() + 20 * MS;
	maybe_loud();
	pthread_t t = start(tickers, NULL), h = start(hogs, NULL);
	pthread_join(t, NULL);
	pthread_join(h, NULL);
	truth_write();
	return 0;
}
