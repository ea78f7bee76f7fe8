/*
 * feed LOG [--lock KIND] [--loud] [--packets N] - a market-data engine on loopback UDP: one
 * packet in 700 takes an error path that needs a lock the logger holds 0.8 ms at a time.
 * "packet": the stay in process_packet of each, to be compared with probes on it; "gap": the
 * wait for the lock in it.
 */
#include "truth.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static struct any_lock lock;
static int to, from, packets;

NOINLINE static void N(flush_log, sync_journal)(void)
{
	burn_ns(800 * US);
	STAY();
}

static void *loggers(void *arg)
{
	(void)arg;
	name_thread(N("logger", "journal"));
	while (!atomic_load(&truth_stop)) {
		take_lock(&lock);
		N(flush_log, sync_journal)();
		drop_lock(&lock);
		sleep_ns(100 * US);
	}
	return NULL;
}

NOINLINE static void N(report_error, note_gap)(void)
{
	uint64_t t = now_ns();
	take_lock(&lock);
	truth("gap", t, now_ns());
	burn_ns(2 * US);
	drop_lock(&lock);
}

NOINLINE static void N(process_packet, on_tick)(int i)
{
	burn_ns(5 * US);
	if (i % 700 == 350)
		N(report_error, note_gap)();
	STAY();
}

static void *engines(void *arg)
{
	int x;
	(void)arg;
	name_thread(N("engine", "pricer"));
	while (recv(from, &x, sizeof(x), 0) == sizeof(x) && x >= 0) {
		uint64_t t = now_ns();
		N(process_packet, on_tick)(x);
		truth("packet", t, now_ns());
	}
	return NULL;
}

static void *feeds(void *arg)
{
	(void)arg;
	name_thread(N("feed", "exchange"));
	for (int i = 0; i <= packets; i++) {
		int x = i < packets ? i : -1;
		if (send(to, &x, sizeof(x), 0) < 0)
			perror("send");
		sleep_ns(100 * US);
	}
	atomic_store(&truth_stop, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	truth_begin(argc, argv, N("market", "venue"));
	packets = truth_int("--packets", 4903);
	from = socket(AF_INET, SOCK_DGRAM, 0);
	to = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(from, (void *)&a, n) || getsockname(from, (void *)&a, &n) ||
	    connect(to, (void *)&a, n)) {
		perror("socket");
		return 1;
	}
	any_lock_init(&lock);
	maybe_loud();
	pthread_t l = start(loggers, NULL), e = start(engines, NULL), f = start(feeds, NULL);
	pthread_join(f, NULL);
	pthread_join(e, NULL);
	pthread_join(l, NULL);
	truth_write();
	return 0;
}
