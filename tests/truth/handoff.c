/*
 * handoff LOG [--rounds N] - two threads take turns through a condvar, a prime number of
 * rounds; each turn computes 200 us. "wait": each wait for the turn, as seen around it.
 */
#include "truth.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, rounds;

static void *players(void *arg)
{
	int me = *(int *)arg;
	name_thread(me ? "right" : "left");
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		uint64_t t = now_ns();
		int waited = turn != me;
		while (turn != me)
			pthread_cond_wait(&c, &m);
		if (waited)
			truth("wait", t, now_ns());
		pthread_mutex_unlock(&m);
		burn_ns(200 * US);
		pthread_mutex_lock(&m);
		turn = !me;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int who[2] = {0, 1};
	truth_begin(argc, argv, "handoff");
	rounds = truth_int("--rounds", 251);
	pthread_t a = start(players, &who[0]), b = start(players, &who[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth_write();
	return 0;
}
