/*
 * pool LOG [--loud] [--jobs N] - a condvar worker pool: one job in 40 sleeps 14 ms, the others
 * are quick. "slow": the slow ones. Idle workers wait on the condvar.
 */
#include "truth.h"

enum { WORKERS = 4, QUEUE = 1024 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], head, tail, jobs;

NOINLINE static void N(slow_job, cold_report)(void)
{
	uint64_t t = now_ns();
	sleep_ns(14 * MS);
	truth("slow", t, now_ns());
}

NOINLINE static void N(run_job, execute)(int job)
{
	burn_ns(60 * US);
	if (job % 40 == 20)
		N(slow_job, cold_report)();
	STAY();
}

NOINLINE static int N(get_job, next_task)(void)
{
	pthread_mutex_lock(&m);
	while (head == tail)
		pthread_cond_wait(&c, &m);
	int job = queue[tail++ % QUEUE];
	pthread_mutex_unlock(&m);
	return job;
}

static void *workers(void *arg)
{
	int job;
	(void)arg;
	name_thread(N("worker", "pooled"));
	while ((job = N(get_job, next_task)()) >= 0)
		N(run_job, execute)(job);
	return NULL;
}

static void put(int job)
{
	pthread_mutex_lock(&m);
	queue[head++ % QUEUE] = job;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

int main(int argc, char **argv)
{
	pthread_t t[WORKERS];
	truth_begin(argc, argv, N("dispatcher", "scheduler"));
	jobs = truth_int("--jobs", 401);
	maybe_loud();
	for (int i = 0; i < WORKERS; i++)
		t[i] = start(workers, NULL);
	for (int i = 0; i < jobs; i++) {
		put(i);
		sleep_ns(1500 * US);
	}
	for (int i = 0; i < WORKERS; i++)
		put(-1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&truth_stop, 1);
	truth_write();
	return 0;
}
