/*
 * forkjoin LOG [--loud] [--rounds N] - each round three threads do a part and are joined; one
 * part takes 10 ms, the others 1 ms. "round": each round; "slow": the slow part.
 */
#include "truth.h"

NOINLINE static void N(quick_part, small_shard)(void)
{
	burn_ns(MS);
	STAY();
}

NOINLINE static void N(slow_part, large_shard)(void)
{
	uint64_t t = now_ns();
	burn_ns(10 * MS);
	truth("slow", t, now_ns());
}

static void *parts(void *arg)
{
	int slow = *(int *)arg;
	name_thread(slow ? N("slowpart", "bigshard") : N("quickpart", "shard"));
	if (slow)
		N(slow_part, large_shard)();
	else
		N(quick_part, small_shard)();
	return NULL;
}

NOINLINE static void N(run_round, gather)(void)
{
	static int kind[3] = {0, 1, 0};
	pthread_t t[3];
	uint64_t begin = now_ns();
	for (int i = 0; i < 3; i++)
		t[i] = start(parts, &kind[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	truth("round", begin, now_ns());
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, N("front", "api"));
	maybe_loud();
	for (int i = 0; i < truth_int("--rounds", 23); i++) {
		N(run_round, gather)();
		sleep_ns(5 * MS);
	}
	atomic_store(&truth_stop, 1);
	truth_write();
	return 0;
}
