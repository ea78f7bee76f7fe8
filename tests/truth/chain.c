/*
 * chain LOG [--lock KIND] [--loud] [--rounds N] - front waits for L1, which middle holds while
 * it waits for L2, which back holds during fdatasync and a slow disk (6 ms more). "wait": the
 * front's waits of more than 1 ms; "hold": what back did meanwhile.
 */
#include "truth.h"

static struct any_lock l1, l2;
static int rounds, file;

NOINLINE static void N(slow_disk, stalled_volume)(uint64_t sync_ns)
{
	sleep_ns(6 * MS + sync_ns);
	STAY();
}

static void *backs(void *arg)
{
	(void)arg;
	name_thread(N("back", "store"));
	for (int i = 0; i < rounds; i++) {
		sleep_ns(21 * MS);
		take_lock(&l2);
		uint64_t t = now_ns();
		if (pwrite(file, &t, sizeof(t), 0) > 0)
			fdatasync(file);
		N(slow_disk, stalled_volume)(now_ns() - t);
		truth("hold", t, now_ns());
		drop_lock(&l2);
	}
	atomic_store(&truth_stop, 1);
	return NULL;
}

NOINLINE static void N(refresh, reload)(void)
{
	take_lock(&l1);
	take_lock(&l2);
	burn_ns(30 * US);
	drop_lock(&l2);
	drop_lock(&l1);
}

static void *middles(void *arg)
{
	(void)arg;
	name_thread(N("middle", "cache"));
	while (!atomic_load(&truth_stop)) {
		N(refresh, reload)();
		sleep_ns(MS);
	}
	return NULL;
}

NOINLINE static void N(handle_request, serve_query)(void)
{
	uint64_t t = now_ns(), end;
	take_lock(&l1);
	end = now_ns();
	if (end - t > MS)
		truth("wait", t, end);
	burn_ns(20 * US);
	drop_lock(&l1);
}

static void *fronts(void *arg)
{
	(void)arg;
	name_thread(N("front", "api"));
	while (!atomic_load(&truth_stop)) {
		N(handle_request, serve_query)();
		sleep_ns(MS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[] = "truth-chain-XXXXXX";
	truth_begin(argc, argv, N("chain", "links"));
	rounds = truth_int("--rounds", 17);
	file = mkstemp(path);
	unlink(path);
	any_lock_init(&l1);
	any_lock_init(&l2);
	maybe_loud();
	pthread_t b = start(backs, NULL), m = start(middles, NULL), f = start(fronts, NULL);
	pthread_join(b, NULL);
	pthread_join(m, NULL);
	pthread_join(f, NULL);
	truth_write();
	return 0;
}
