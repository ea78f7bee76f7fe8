/*
 * hold LOG [--lock KIND] [--loud] [--rounds N] [--asleep] [--arena] - a snapshot thread holds a
 * lock 12 ms every 30 ms, computing or asleep; requests need it. Each wait for it of more than
 * 1 ms is logged: "wait", and each hold: "hold". --arena: the lock is the one inside malloc.
 */
#include "truth.h"

#include <malloc.h>

enum { CHUNKS = 6000, CHUNK = 13000 };

static struct any_lock lock;
static int arena, asleep, rounds;
static void *chunks[CHUNKS], *keepers[CHUNKS];

/* malloc_trim gives the pages of every free chunk back while it holds the arena's lock. */
static void fill_heap(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		chunks[i] = malloc(CHUNK);
		keepers[i] = malloc(40);
		memset(chunks[i], 1, CHUNK);
	}
	for (int i = 0; i < CHUNKS; i++)
		free(chunks[i]);
}

NOINLINE static void N(write_snapshot, dump_tables)(void)
{
	if (arena)
		malloc_trim(0);
	else if (asleep)
		sleep_ns(12 * MS);
	else
		burn_ns(12 * MS);
	STAY();
}

NOINLINE static void N(take_snapshot, checkpoint)(void)
{
	uint64_t t;
	if (!arena)
		take_lock(&lock);
	t = now_ns();
	N(write_snapshot, dump_tables)();
	truth("hold", t, now_ns());
	if (!arena)
		drop_lock(&lock);
}

static void *snapshots(void *arg)
{
	(void)arg;
	name_thread(N("snapshot", "ckpt"));
	for (int i = 0; i < rounds; i++) {
		sleep_ns(18 * MS);
		if (arena)
			fill_heap();
		N(take_snapshot, checkpoint)();
	}
	atomic_store(&truth_stop, 1);
	return NULL;
}

NOINLINE static void N(handle_request, serve_query)(void)
{
	uint64_t t = now_ns(), end;
	void *p = NULL;
	if (arena)
		p = malloc(20000);
	else
		take_lock(&lock);
	end = now_ns();
	if (end - t > MS)
		truth("wait", t, end);
	burn_ns(50 * US);
	if (arena)
		free(p);
	else
		drop_lock(&lock);
}

static void *requests(void *arg)
{
	(void)arg;
	name_thread(N("front", "api"));
	while (!atomic_load(&truth_stop)) {
		sleep_ns(MS);
		N(handle_request, serve_query)();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, N("hold", "keep"));
	arena = truth_option("--arena") != NULL;
	asleep = truth_option("--asleep") != NULL;
	rounds = truth_int("--rounds", 13);
	if (arena)
		mallopt(M_ARENA_MAX, 1);
	any_lock_init(&lock);
	maybe_loud();
	pthread_t s = start(snapshots, NULL), r = start(requests, NULL);
	pthread_join(s, NULL);
	pthread_join(r, NULL);
	truth_write();
	return 0;
}
