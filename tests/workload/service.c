/*
 * service.c - service FILE REQUESTS PAIRS TRIPS: a service among neighbours. "svc-loop" hands
 * REQUESTS a second to three threads "svc-worker" through a condition variable; "svc-journal" holds a
 * lock that they need while it syncs FILE, every 60 ms. Each of PAIRS pairs of "noise" passes a
 * byte to and fro, TRIPS times every 2 ms.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define STAY() __asm__ volatile("")
enum { WORKERS = 3, PAGE = 4096 };

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, book = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int queued, file;

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE static void work(uint64_t us)
{
	uint64_t end = cpu_ns() + us * 1000;
	while (cpu_ns() < end)
		;
	STAY();
}

NOINLINE static void update_book(void)
{
	pthread_mutex_lock(&book);
	work(20);
	pthread_mutex_unlock(&book);
	STAY();
}

NOINLINE static void handle_request(void)
{
	work(60);
	update_book();
	STAY();
}

static void *worker(void *p)
{
	pthread_setname_np(pthread_self(), "svc-worker");
	for (;; handle_request()) {
		pthread_mutex_lock(&queue);
		while (!queued)
			pthread_cond_wait(&arrived, &queue);
		queued--;
		pthread_mutex_unlock(&queue);
	}
	return p;
}

NOINLINE static void sync_journal(void)
{
	static const char page[PAGE];
	if (pwrite(file, page, PAGE, 0) != PAGE || fdatasync(file))
		abort();
	STAY();
}

static void *journal(void *p)
{
	pthread_setname_np(pthread_self(), "svc-journal");
	for (;;) {
		usleep(60000);
		pthread_mutex_lock(&book);
		sync_journal();
		usleep(4000);
		pthread_mutex_unlock(&book);
	}
	return p;
}

NOINLINE static void enqueue(int n)
{
	pthread_mutex_lock(&queue);
	queued += n;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&queue);
	STAY();
}

static void loop(int requests)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct timespec each = {.tv_nsec = 1000000000 / requests};
	int ep = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	pthread_setname_np(pthread_self(), "svc-loop");
	timerfd_settime(timer, 0, &(struct itimerspec){each, each}, NULL);
	epoll_ctl(ep, EPOLL_CTL_ADD, timer, &ev);
	for (uint64_t n; epoll_wait(ep, &ev, 1, -1) == 1;)
		if (read(timer, &n, sizeof(n)) == sizeof(n))
			enqueue(n > WORKERS ? WORKERS : (int)n);
}

static void noise(int in, int out, int trips)
{
	char byte = 0;
	prctl(PR_SET_NAME, "noise");
	prctl(PR_SET_PDEATHSIG, 9);
	for (int i = 0;; i++) {
		if (trips && i % trips == 0)
			usleep(2000);
		if (trips && (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1))
			exit(1);
		if (!trips && (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1))
			exit(1);
	}
}

static void start_noise(int trips)
{
	int there[2], back[2];
	if (pipe(there) || pipe(back))
		exit(1);
	if (!fork())
		noise(back[0], there[1], trips);
	if (!fork())
		noise(there[0], back[1], 0);
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc != 5 || (file = open(argv[1], O_RDWR | O_CREAT, 0600)) < 0)
		return 2;
	for (int i = atoi(argv[3]), trips = atoi(argv[4]); i > 0 && trips > 0; i--)
		start_noise(trips);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t, NULL, worker, NULL);
	pthread_create(&t, NULL, journal, NULL);
	loop(atoi(argv[2]));
	return 0;
}
