/*
 * actors LOG - actors with one mailbox each: a front asks a backend, and takes its answer from
 * the same mailbox, at the same place, where it waits for new messages. "request": a front's
 * wait while an answer is due; "idle": any wait with nothing due.
 */
#include "requests.h"

enum { FRONTS = 2, BOX = 64 };
struct actor {
	pthread_mutex_t m;
	pthread_cond_t c;
	int from[BOX], n, due;
	uint64_t came[BOX];
};
static struct actor fronts[FRONTS], backend;

static void put(struct actor *to, int from)
{
	pthread_mutex_lock(&to->m);
	to->came[to->n] = now_ns();
	to->from[to->n++] = from;
	pthread_cond_signal(&to->c);
	pthread_mutex_unlock(&to->m);
}

NOINLINE static int receive(struct actor *a)
{
	int from;
	pthread_mutex_lock(&a->m);
	while (!a->n) {
		uint64_t t = now_ns();
		pthread_cond_wait(&a->c, &a->m);
		if (a->due)
			truth("request", t, now_ns());
		else
			idle_until(t, a->n ? a->came[0] : 0);
	}
	from = a->from[0];
	a->n--;
	memmove(a->from, a->from + 1, (size_t)a->n * sizeof(a->from[0]));
	memmove(a->came, a->came + 1, (size_t)a->n * sizeof(a->came[0]));
	pthread_mutex_unlock(&a->m);
	return from;
}

/* Messages: -1 a tick, -2 the end, else an answer (to a front) or a question (to the backend).
 */
static void *front(void *arg)
{
	int me = (int)(uintptr_t)arg;
	role("front");
	for (int from; (from = receive(&fronts[me])) != -2;) {
		if (from == -1) {
			fronts[me].due++;
			burn_ns(20 * US);
			put(&backend, me);
		} else {
			fronts[me].due--;
		}
	}
	return NULL;
}

static void *backends(void *arg)
{
	unsigned int state = 1;
	(void)arg;
	role("backend");
	for (int from; (from = receive(&backend)) != -2;) {
		burn_ns(uneven_ns(&state, 200 * US));
		if (state >> 16 & 1)
			sleep_ns(2 * MS);
		put(&fronts[from], from);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[FRONTS + 1];
	requests_begin(argc, argv, "actors");
	for (int i = 0; i <= FRONTS; i++) {
		struct actor *a = i < FRONTS ? &fronts[i] : &backend;
		pthread_mutex_init(&a->m, NULL);
		pthread_cond_init(&a->c, NULL);
		t[i] = start(i < FRONTS ? front : backends, (void *)(uintptr_t)i);
	}
	for (int n = 0; more_requests(); n++) {
		pause_logged(3 * MS);
		put(&fronts[n % FRONTS], -1);
	}
	sleep_ns(20 * MS);
	for (int i = 0; i < FRONTS; i++)
		put(&fronts[i], -2);
	put(&backend, -2);
	for (int i = 0; i <= FRONTS; i++)
		pthread_join(t[i], NULL);
	truth_write();
	return 0;
}
