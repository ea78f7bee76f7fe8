/*
 * commit LOG [--flusher fsync|timer] - group commit: sessions append to a log and wait until a
 * flusher has written it. --flusher fsync: woken by the first session; timer: it looks every 5
 * ms, and then sleeps for what its disk takes. "request": append until written; "idle": the
 * flusher with nothing to do, a session between two commits.
 */
#include "requests.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t appended = PTHREAD_COND_INITIALIZER, written = PTHREAD_COND_INITIALIZER;
static uint64_t last_appended, last_written, came; /* when the flusher had nothing to do */
static atomic_int stop;
static int by_timer, disk;

NOINLINE static void write_log(void)
{
	if (by_timer) {
		sleep_ns(2 * MS);
	} else {
		static char page[4096] = "commit";
		if (pwrite(disk, page, sizeof(page), 0) < 0 || fdatasync(disk))
			fail("write");
	}
}

NOINLINE static void flush_once(void)
{
	uint64_t upto;
	pthread_mutex_lock(&m);
	while (!by_timer && last_appended == last_written && !atomic_load(&stop)) {
		uint64_t t = now_ns();
		pthread_cond_wait(&appended, &m);
		idle_until(t, last_appended > last_written ? came : 0);
	}
	upto = last_appended;
	pthread_mutex_unlock(&m);
	if (upto == last_written)
		return;
	write_log();
	pthread_mutex_lock(&m);
	last_written = upto;
	pthread_cond_broadcast(&written);
	pthread_mutex_unlock(&m);
}

static void *flusher(void *arg)
{
	(void)arg;
	role("flusher");
	while (!atomic_load(&stop)) {
		if (by_timer)
			sleep_ns(5 * MS); /* part of what a session waits for: neither idle nor
					     not */
		flush_once();
	}
	return NULL;
}

NOINLINE static void commit(void)
{
	uint64_t t = now_ns(), mine;
	pthread_mutex_lock(&m);
	if (last_appended == last_written)
		came = now_ns();
	mine = ++last_appended;
	pthread_cond_signal(&appended);
	while (last_written < mine)
		pthread_cond_wait(&written, &m);
	pthread_mutex_unlock(&m);
	truth("request", t, now_ns());
}

static void *session(void *arg)
{
	unsigned int state = (unsigned int)(uintptr_t)arg;
	role("session");
	while (more_requests()) {
		burn_ns(uneven_ns(&state, 60 * US));
		commit();
		pause_logged(uneven_ns(&state, 2 * MS));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char name[] = "commitXXXXXX";
	pthread_t t[5];
	requests_begin(argc, argv, "commit");
	by_timer = truth_option("--flusher") && !strcmp(truth_option("--flusher"), "timer");
	disk = mkstemp(name);
	unlink(name);
	for (int i = 0; i < 5; i++)
		t[i] = start(i ? session : flusher, (void *)(uintptr_t)i);
	for (int i = 1; i < 5; i++)
		pthread_join(t[i], NULL);
	pthread_mutex_lock(&m);
	atomic_store(&stop, 1);
	pthread_cond_signal(&appended);
	pthread_mutex_unlock(&m);
	pthread_join(t[0], NULL);
	truth_write();
	return 0;
}
