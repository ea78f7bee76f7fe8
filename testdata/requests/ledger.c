/* ledger.c - a program whose functions are traced (by uftrace or XRay): bills are written to a ledger
 * under a lock, which an audit holds now and then. */
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_us(long us)
{
	nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

void audit(void)
{
	pthread_mutex_lock(&lock);
	pause_us(9000);
	pthread_mutex_unlock(&lock);
}

void save(void)
{
	pthread_mutex_lock(&lock);
	pause_us(100);
	pthread_mutex_unlock(&lock);
}

void price(void)
{
	for (volatile int i = 0; i < 50000; i++)
		;
}

void bill(void)
{
	price();
	save();
}

static void *audits(void *none)
{
	pthread_setname_np(pthread_self(), "audit");
	for (int i = 0; i < 3; i++) {
		pause_us(7000);
		audit();
	}
	return none;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, audits, NULL);
	for (int i = 0; i < 41; i++) {
		bill();
		pause_us(500);
	}
	return pthread_join(thread, NULL);
}
