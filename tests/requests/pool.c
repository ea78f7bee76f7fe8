/*
 * pool LOG [--clients N] [--workers N] [--all] [--think US] [--timeout MS] [--inline] - clients
 * put jobs into a queue, workers do them; a client waits on one condition variable of all
 * clients, signalled or, with --all, broadcast; with --timeout in pieces. "request": put until
 * answered; "idle": a worker on the empty queue, a client thinking.
 */
#include "requests.h"

enum { MOST = 64 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_work = PTHREAD_COND_INITIALIZER, some_done[MOST];
static uint64_t came[MOST]; /* by job, not by place in the queue */
static int queue[MOST], queued, done[MOST], broadcast, timeout_ms;
static atomic_int stop;

NOINLINE static int get_job(void)
{
	int job = -1;
	pthread_mutex_lock(&m);
	while (!queued && !atomic_load(&stop)) {
		uint64_t t = now_ns();
		pthread_cond_wait(&some_work, &m);
		idle_until(t, queued ? came[queue[0]] : 0);
	}
	if (queued) {
		job = queue[0];
		memmove(queue, queue + 1, (size_t)--queued * sizeof(queue[0]));
	}
	pthread_mutex_unlock(&m);
	return job;
}

NOINLINE static void do_job(unsigned int *state)
{
	uint64_t ns = uneven_ns(state, 1 * MS);
	burn_ns(ns / 4);
	if (ns % 16 == 0)
		sleep_ns(10 * MS); /* a slow one: its disk */
	STAY();
}

static void *worker(void *arg)
{
	unsigned int state = (unsigned int)(uintptr_t)arg;
	int job;
	role("worker");
	while ((job = get_job()) >= 0) {
		do_job(&state);
		pthread_mutex_lock(&m);
		done[job] = 1;
		if (broadcast)
			pthread_cond_broadcast(&some_done[0]);
		else
			pthread_cond_signal(&some_done[job]);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void wait_once(pthread_cond_t *c)
{
	struct timespec t;
	if (!timeout_ms) {
		pthread_cond_wait(c, &m);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)timeout_ms * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(c, &m, &t);
}

NOINLINE static void wait_for_reply(int k)
{
	pthread_mutex_lock(&m);
	while (!done[k])
		wait_once(&some_done[broadcast ? 0 : k]);
	done[k] = 0;
	pthread_mutex_unlock(&m);
}

NOINLINE static void ask(int k)
{
	uint64_t t = now_ns();
	pthread_mutex_lock(&m);
	came[k] = now_ns();
	queue[queued++] = k;
	pthread_cond_signal(&some_work);
	pthread_mutex_unlock(&m);
	wait_for_reply(k);
	truth("request", t, now_ns());
}

static void *client(void *arg)
{
	int k = (int)(uintptr_t)arg, think = truth_int("--think", 500);
	role("client");
	while (more_requests()) {
		ask(k);
		burn_ns(20 * US);
		if (think)
			pause_logged((uint64_t)think * US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int clients, workers;
	pthread_t t[2 * MOST];
	requests_begin(argc, argv, "pool");
	clients = truth_int("--clients", 3) % MOST, workers = truth_int("--workers", 2) % MOST;
	broadcast = truth_option("--all") != NULL, timeout_ms = truth_int("--timeout", 0);
	for (int i = 0; i < MOST; i++)
		pthread_cond_init(&some_done[i], NULL);
	for (int i = 0; i < workers; i++)
		t[MOST + i] = start(worker, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < clients; i++)
		t[i] = start(client, (void *)(uintptr_t)i);
	for (int i = 0; i < clients; i++)
		pthread_join(t[i], NULL);
	pthread_mutex_lock(&m);
	atomic_store(&stop, 1);
	pthread_cond_broadcast(&some_work);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < workers; i++)
		pthread_join(t[MOST + i], NULL);
	truth_write();
	return 0;
}
