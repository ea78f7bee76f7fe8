/*
 * queue LOG [--loud] [--requests N] - front hands each request to a worker through a queue and
 * waits for the answer on a condvar; one in 20 needs 9 ms in the worker. "request": the front's
 * stay in each request of over 2 ms. The probe points begin_request and end_request take the
 * request's number: begun by front, ended by the worker.
 */
#include "truth.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static int question, answer, requests;

NOINLINE static void begin_request(int id)
{
	__asm__ volatile("" ::"r"(id));
}

NOINLINE static void end_request(int id)
{
	__asm__ volatile("" ::"r"(id));
}

NOINLINE static void N(lookup_row, scan_index)(int id)
{
	if (id % 20 == 10)
		sleep_ns(9 * MS);
	else
		burn_ns(30 * US);
	STAY();
}

static void *workers(void *arg)
{
	(void)arg;
	name_thread(N("worker", "executor"));
	for (int id = 0; id < requests; id++) {
		pthread_mutex_lock(&m);
		while (question <= id)
			pthread_cond_wait(&asked, &m);
		pthread_mutex_unlock(&m);
		N(lookup_row, scan_index)(id);
		truth("end", (uint64_t)id, now_ns());
		end_request(id);
		pthread_mutex_lock(&m);
		answer = id + 1;
		pthread_cond_signal(&answered);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

NOINLINE static void N(handle_request, serve_query)(int id)
{
	uint64_t t = now_ns();
	truth("begin", (uint64_t)id, t);
	begin_request(id);
	pthread_mutex_lock(&m);
	question = id + 1;
	pthread_cond_signal(&asked);
	while (answer <= id)
		pthread_cond_wait(&answered, &m);
	pthread_mutex_unlock(&m);
	if (now_ns() - t > 2 * MS)
		truth("request", t, now_ns());
}

static void *fronts(void *arg)
{
	(void)arg;
	name_thread(N("front", "api"));
	for (int id = 0; id < requests; id++) {
		N(handle_request, serve_query)(id);
		sleep_ns(MS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, N("queue", "hand"));
	requests = truth_int("--requests", 293);
	maybe_loud();
	pthread_t w = start(workers, NULL), f = start(fronts, NULL);
	pthread_join(f, NULL);
	pthread_join(w, NULL);
	atomic_store(&truth_stop, 1);
	truth_write();
	return 0;
}
