/*
 * ldb LOG LDB - a front thread hands requests over a queue to two workers, which call functions
 * under a lock. The debugger LDB would write the file LDB: one thread after another, so not in
 * the order of time. LOG says the same in plain words, on CLOCK_MONOTONIC:
 *
 *	request ID FROM TO      queue ID FROM TO      part ID TID FROM TO
 *	call SITE TID FROM TO   wait TID FROM TO      hold TID FROM TO
 */
#include "truth.h"

#include <string.h>

enum { REQUESTS = 61, RING = 1 << 12 };

struct record {
	int32_t type;
	uint32_t sec, nsec, tid;
	uint64_t arg[3];
};
_Static_assert(sizeof(struct record) == 40, "as documented");

static struct ring {
	struct record v[RING];
	size_t n;
} rings[4];
static _Thread_local struct ring *ring;
static FILE *log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
static uint64_t queued[REQUESTS], begun[REQUESTS];
static int tail, head;

static void put(int type, uint64_t ns, uint64_t a, uint64_t b, uint64_t c)
{
	struct record *r = &ring->v[ring->n++];
	*r = (struct record){type,
			     (uint32_t)(ns / 1000000000u),
			     (uint32_t)(ns % 1000000000u),
			     (uint32_t)gettid(),
			     {a, b, c}};
}

static void note(const char *what, uint64_t id, uint64_t from, uint64_t to)
{
	pthread_mutex_lock(&log_lock);
	fprintf(log_file, "%s %llu %d %llu %llu\n", what, (unsigned long long)id, (int)gettid(),
		(unsigned long long)from, (unsigned long long)to);
	pthread_mutex_unlock(&log_lock);
}

/* A call of that length, by whoever called this function: what the stack scanner would find. */
static void __attribute__((noinline)) returned(const char *name, uint64_t from, void *site)
{
	uint64_t to = now_ns();
	put(1, to, to - from, (uint64_t)(uintptr_t)site, 1);
	note(name, (uint64_t)(uintptr_t)site, from, to);
}

static void __attribute__((noinline)) parse(int n)
{
	uint64_t from = now_ns();
	burn_ns((uint64_t)(20 + n % 7) * 1000);
	returned("call", from, __builtin_return_address(0));
}

static void __attribute__((noinline)) update(int n)
{
	uint64_t from = now_ns();
	uint64_t waited = now_ns();
	pthread_mutex_lock(&lock);
	uint64_t got = now_ns();
	burn_ns(n % 10 ? 60000 : 900000);
	pthread_mutex_unlock(&lock);
	uint64_t gone = now_ns();
	put(6, waited, (uint64_t)(uintptr_t)&lock, 0, 0);
	put(7, got, (uint64_t)(uintptr_t)&lock, 0, 0);
	put(8, gone, (uint64_t)(uintptr_t)&lock, 0, 0);
	note("wait", 0, waited, got);
	note("hold", 0, got, gone);
	returned("call", from, __builtin_return_address(0));
}

static void __attribute__((noinline)) handle(int n)
{
	uint64_t from = now_ns();
	parse(n);
	update(n);
	returned("call", from, __builtin_return_address(0));
}

static void *works(void *arg)
{
	name_thread("worker");
	ring = arg;
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (head == tail && tail < REQUESTS)
			pthread_cond_wait(&queue_cond, &queue_lock);
		int n = head < tail ? head++ : -1;
		pthread_mutex_unlock(&queue_lock);
		if (n < 0)
			return NULL;
		uint64_t from = now_ns();
		put(2, from, (uint64_t)n + 1000, 0, 0);
		handle(n);
		uint64_t to = now_ns();
		put(n % 3 ? 4 : 5, to, n % 3 ? (uint64_t)n + 1000 : 0, 0, 0);
		note("queue", (uint64_t)n + 1000, queued[n], from);
		note("part", (uint64_t)n + 1000, from, to);
		note("request", (uint64_t)n + 1000, begun[n], to);
	}
}

static void fronts(void)
{
	ring = &rings[0];
	for (int n = 0; n < REQUESTS; n++) {
		struct timespec pause = {0, 400000};
		nanosleep(&pause, NULL);
		begun[n] = now_ns();
		put(2, begun[n], (uint64_t)n + 1000, 0, 0);
		burn_ns(15000);
		queued[n] = now_ns();
		put(3, queued[n], (uint64_t)n + 1000, 0, 0);
		note("part", (uint64_t)n + 1000, begun[n], queued[n]);
		pthread_mutex_lock(&queue_lock);
		tail = n + 1;
		pthread_cond_broadcast(&queue_cond);
		pthread_mutex_unlock(&queue_lock);
	}
}

int main(int argc, char **argv)
{
	FILE *out;
	if (argc != 3 || !(log_file = fopen(argv[1], "w")) || !(out = fopen(argv[2], "w")))
		return 1;
	setvbuf(log_file, NULL, _IOFBF, 1 << 20);
	name_thread("front");
	pthread_t a = start(works, &rings[1]), b = start(works, &rings[2]);
	fronts();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (int i = 2; i >= 0; i--)
		fwrite(rings[i].v, sizeof(struct record), rings[i].n, out);
	return fclose(out) || fclose(log_file);
}
