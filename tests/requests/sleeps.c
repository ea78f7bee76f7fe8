/*
 * sleeps LOG --how poll|retry|backoff|timer - sleeps inside requests and outside of them.
 *	poll	main sleeps 100 us at a time until a worker has done its job
 *	retry	main's request, inlined, sleeps 3 ms and tries again
 *	backoff	a handler computes, and now and then backs off for 4 ms
 *	timer	a timerfd paces a loop whose work sleeps
 * "request": the whole of each; "idle": the pause between two.
 */
#include "requests.h"

#include <sys/timerfd.h>

static atomic_int wanted, finished, stop;

static void *worker(void *arg)
{
	(void)arg;
	role("worker");
	while (!atomic_load(&stop)) {
		if (atomic_load(&wanted) > atomic_load(&finished)) {
			sleep_ns(3 * MS);
			atomic_fetch_add(&finished, 1);
		} else {
			pause_logged(200 * US);
		}
	}
	return NULL;
}

static inline __attribute__((always_inline)) void poll_request(void)
{
	int mine = atomic_fetch_add(&wanted, 1) + 1;
	while (atomic_load(&finished) < mine)
		sleep_ns(100 * US);
}

static inline __attribute__((always_inline)) void retry_request(int n)
{
	for (int tries = n % 4; tries > 0; tries--)
		sleep_ns(3 * MS);
	burn_ns(100 * US);
}

NOINLINE static void backoff_request(int n)
{
	burn_ns(200 * US);
	if (n % 4 == 1)
		sleep_ns(4 * MS);
	burn_ns(100 * US);
}

NOINLINE static void tick_request(int n)
{
	burn_ns(50 * US);
	if (n % 4 == 1)
		sleep_ns(4 * MS);
}

static void wait_for_tick(int fd)
{
	uint64_t ticks, t = now_ns();
	if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		fail("timerfd");
	truth("idle", t, now_ns());
}

static int timer_every(long ns)
{
	struct itimerspec t = {{0, ns}, {0, ns}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (fd < 0 || timerfd_settime(fd, 0, &t, NULL))
		fail("timerfd");
	return fd;
}

int main(int argc, char **argv)
{
	const char *how;
	pthread_t t = 0;
	int ticks = -1;
	requests_begin(argc, argv, "sleeps");
	how = truth_option("--how") ? truth_option("--how") : "poll";
	if (!strcmp(how, "poll"))
		t = start(worker, NULL);
	if (!strcmp(how, "timer"))
		ticks = timer_every(8 * MS);
	role("front");
	for (int n = 0; more_requests(); n++) {
		uint64_t from = now_ns();
		if (*how == 'p')
			poll_request();
		else if (*how == 'r')
			retry_request(n);
		else if (*how == 'b')
			backoff_request(n);
		else
			tick_request(n);
		truth("request", from, now_ns());
		if (ticks >= 0)
			wait_for_tick(ticks);
		else
			pause_logged(5 * MS);
	}
	atomic_store(&stop, 1);
	if (t)
		pthread_join(t, NULL);
	truth_write();
	return 0;
}
