/*
 * rwlocks LOG - readers of a table that a writer replaces now and then, asleep for part of that
 * time. "request": a lookup, waiting for the lock included; "idle": the pause between.
 */
#include "requests.h"

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

NOINLINE static void look_up(void)
{
	uint64_t t = now_ns();
	pthread_rwlock_rdlock(&table);
	burn_ns(30 * US);
	pthread_rwlock_unlock(&table);
	truth("request", t, now_ns());
}

NOINLINE static void replace_table(void)
{
	pthread_rwlock_wrlock(&table);
	burn_ns(500 * US);
	sleep_ns(6 * MS);
	pthread_rwlock_unlock(&table);
}

static void *reader(void *arg)
{
	(void)arg;
	role("reader");
	while (more_requests()) {
		look_up();
		pause_logged(700 * US);
	}
	return NULL;
}

static void *writer(void *arg)
{
	(void)arg;
	role("writer");
	while (more_requests()) {
		pause_logged(40 * MS);
		replace_table();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	requests_begin(argc, argv, "rwlocks");
	for (int i = 0; i < 4; i++)
		t[i] = start(i ? reader : writer, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	truth_write();
	return 0;
}
