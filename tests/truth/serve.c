/*
 * serve LOG [--requests N] - two threads of a small service answer N requests each and log them
 * as CSV, one line a request: begin and end on CLOCK_MONOTONIC, the thread, the request's id,
 * its route, and how long it stood at the ledger's lock. A snapshot thread holds that lock, and
 * sleeps, 8 ms every 40 ms; only /pay needs it, every third request.
 */
#include "truth.h"

enum { SERVERS = 2, MAX_REQUESTS = 1 << 14 };

static struct request {
	uint64_t start, end, waited;
	int tid, server, id;
} log_lines[SERVERS][MAX_REQUESTS];

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static int requests;

NOINLINE static void N(write_ledger, flush_pages)(void)
{
	sleep_ns(8 * MS);
	STAY();
}

static void *snapshots(void *arg)
{
	(void)arg;
	name_thread(N("snapshot", "ckpt"));
	while (!atomic_load(&truth_stop)) {
		sleep_ns(32 * MS);
		pthread_mutex_lock(&ledger);
		N(write_ledger, flush_pages)();
		pthread_mutex_unlock(&ledger);
	}
	return NULL;
}

NOINLINE static void N(pay, settle)(struct request *r)
{
	uint64_t t = now_ns();
	pthread_mutex_lock(&ledger);
	r->waited = now_ns() - t;
	burn_ns(20 * US);
	pthread_mutex_unlock(&ledger);
	STAY();
}

NOINLINE static void N(list_items, list_orders)(void)
{
	burn_ns(50 * US);
	STAY();
}

NOINLINE static void N(handle_request, serve_query)(struct request *r)
{
	r->start = now_ns();
	if (r->id % 3 == 0)
		N(pay, settle)(r);
	else
		N(list_items, list_orders)();
	r->end = now_ns();
}

static void *servers(void *arg)
{
	struct request *v = arg;
	name_thread(N("server", "api"));
	for (int i = 0; i < requests; i++) {
		v[i].tid = my_tid();
		v[i].id = i;
		N(handle_request, serve_query)(&v[i]);
		sleep_ns(MS);
	}
	return NULL;
}

static void write_log(void)
{
	FILE *f = fopen(truth_log, "w");
	if (f)
		fprintf(f, "start_ns,end_ns,tid,key,route,lock_ns\n");
	for (int s = 0; f && s < SERVERS; s++)
		for (int i = 0; i < requests; i++) {
			const struct request *r = &log_lines[s][i];
			fprintf(f, "%llu,%llu,%d,%d-%d,%s,%llu\n", (unsigned long long)r->start,
				(unsigned long long)r->end, r->tid, s, i,
				i % 3 ? "/list" : "/pay", (unsigned long long)r->waited);
		}
	if (!f || fclose(f)) {
		perror(truth_log);
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t t[SERVERS];
	truth_begin(argc, argv, N("serve", "shop"));
	requests = truth_int("--requests", 101);
	if (requests < 1 || requests > MAX_REQUESTS)
		requests = 101;
	pthread_t s = start(snapshots, NULL);
	for (int i = 0; i < SERVERS; i++)
		t[i] = start(servers, log_lines[i]);
	for (int i = 0; i < SERVERS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&truth_stop, 1);
	pthread_join(s, NULL);
	write_log();
	return 0;
}
