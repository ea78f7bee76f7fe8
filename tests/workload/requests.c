/*
 * Two threads handle 101 requests each under one mutex; every seventh holds it 2 ms longer.
 * handle() begins a request, reply() ends it.
 */
#include <pthread.h>
#include <unistd.h>

enum { REQUESTS = 101 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;

__attribute__((noinline)) int handle(int id)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 100000; i++)
		sink += id;
	if (id % 7 == 0)
		usleep(2000);
	pthread_mutex_unlock(&lock);
	return id;
}

__attribute__((noinline)) void reply(int id)
{
	sink += id;
}

static void *work(void *arg)
{
	for (int i = 1; i <= REQUESTS; i++) {
		handle(i);
		reply(i);
		usleep(500);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
