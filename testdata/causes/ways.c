/*
 * ways DIR - threads that wait, each named after the cause it waits for. Files go to DIR, which
 * must lie on a disk for io and fault. Every thread does its wait ROUNDS times, 2 ms each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NI __attribute__((noinline))
enum { ROUNDS = 7, NAP = 2000, SIZE = 1 << 20 };

static char dir[200];

NI static void named(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

NI static void nap(void)
{
	struct timespec t = {0, NAP * 1000};
	nanosleep(&t, NULL);
}

/* Every other NAP one of these lets a waiter go on; it is called "helper". */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static int pipes[2], pair[2], go, futex_word, sysv;
static volatile int stop;

NI static void *hold_locks(void *x)
{
	named("helper");
	while (!stop) {
		pthread_mutex_lock(&mutex);
		nap();
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_wrlock(&rw);
		nap();
		pthread_rwlock_unlock(&rw);
	}
	return x;
}

NI static void *release(void *x)
{
	named("helper");
	while (!stop) {
		nap();
		sem_post(&sem);
		pthread_mutex_lock(&cond_mutex);
		go = 1;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&cond_mutex);
		(void)!write(pipes[1], "x", 1);
		/* the readers may be done: a full pipe or socket must not stop it */
		send(pair[1], "x", 1, MSG_DONTWAIT);
		struct sembuf up = {0, 1, 0};
		semop(sysv, &up, 1);
	}
	return x;
}

NI static void *meet(void *x)
{
	named("helper");
	for (int i = 0; i < ROUNDS; i++) {
		nap();
		pthread_barrier_wait(&barrier);
	}
	return x;
}

NI static void wait_lock(void)
{
	while (!pthread_mutex_trylock(&mutex)) {
		pthread_mutex_unlock(&mutex);
		nap();
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}
NI static void wait_rwlock(void)
{
	while (!pthread_rwlock_tryrdlock(&rw)) {
		pthread_rwlock_unlock(&rw);
		nap();
	}
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
}
NI static void wait_semaphore(void)
{
	sem_wait(&sem);
}
NI static void wait_sysv(void)
{
	struct sembuf down = {0, -1, 0};
	semop(sysv, &down, 1);
}
NI static void wait_cond(void)
{
	pthread_mutex_lock(&cond_mutex);
	while (!go)
		pthread_cond_wait(&cond, &cond_mutex);
	go = 0;
	pthread_mutex_unlock(&cond_mutex);
}
NI static void *short_life(void *x)
{
	named("helper");
	nap();
	return x;
}
NI static void wait_join(void)
{
	pthread_t t;
	pthread_create(&t, NULL, short_life, NULL);
	pthread_join(t, NULL);
}
NI static void wait_barrier(void)
{
	pthread_barrier_wait(&barrier);
}
NI static void wait_futex(void)
{
	struct timespec t = {0, NAP * 1000};
	syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}
NI static void wait_sleep(void)
{
	usleep(NAP);
}
NI static void wait_epoll(void)
{
	struct epoll_event ev;
	int fd = epoll_create1(0);
	epoll_wait(fd, &ev, 1, NAP / 1000);
	close(fd);
}
NI static void wait_poll(void)
{
	poll(NULL, 0, NAP / 1000);
}
NI static void wait_select(void)
{
	struct timeval t = {0, NAP};
	select(0, NULL, NULL, NULL, &t);
}
NI static void wait_pipe(void)
{
	char c;
	(void)!read(pipes[0], &c, 1);
}
NI static void wait_net(void)
{
	char c;
	recv(pair[0], &c, 1, 0);
}
NI static void wait_fsync(void)
{
	char path[256];
	static int n;
	snprintf(path, sizeof(path), "%s/sync%d", dir, n++);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	(void)!write(fd, path, 100);
	fsync(fd);
	close(fd);
	unlink(path);
}
NI static void wait_direct(void)
{
	char path[256], *page;
	snprintf(path, sizeof(path), "%s/cold", dir);
	int fd = open(path, O_RDONLY | O_DIRECT);
	if (posix_memalign((void **)&page, 4096, 4096) == 0)
		(void)!read(fd, page, 4096);
	close(fd);
}
NI static void wait_fault(void)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/cold", dir);
	int fd = open(path, O_RDONLY);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	volatile char *p = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	for (int i = 0; p != MAP_FAILED && i < SIZE; i += SIZE / 4)
		(void)p[i];
	munmap((void *)p, SIZE);
	close(fd);
}
NI static void wait_child(void)
{
	pid_t pid = fork();
	if (!pid) {
		named("helper");
		nap();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}
NI static void wait_signal(void)
{
	struct timespec t = {0, NAP * 1000};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigtimedwait(&set, NULL, &t);
}
NI static void wait_yield(void)
{
	for (int i = 0; i < 100; i++)
		sched_yield();
}
NI static void burn(void)
{
	for (volatile int i = 0; i < 3000000; i++)
		;
}

static const struct way {
	const char *cause;
	void (*wait)(void);
} ways[] = {
	{"lock", wait_lock},	   {"rwlock", wait_rwlock}, {"semaphore", wait_semaphore},
	{"semaphore", wait_sysv},  {"cond", wait_cond},	    {"join", wait_join},
	{"barrier", wait_barrier}, {"futex", wait_futex},   {"sleep", wait_sleep},
	{"poll", wait_epoll},	   {"poll", wait_poll},	    {"poll", wait_select},
	{"pipe", wait_pipe},	   {"net", wait_net},	    {"io", wait_fsync},
	{"io", wait_direct},	   {"fault", wait_fault},   {"child", wait_child},
	{"signal", wait_signal},   {"yield", wait_yield},   {"yield", wait_yield},
	{"preempt", burn},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

NI static void *waiter(void *arg)
{
	const struct way *w = arg;
	named(w->cause);
	if (!strcmp(w->cause, "yield") || !strcmp(w->cause, "preempt"))
		pin(0);
	for (int i = 0; i < ROUNDS; i++)
		w->wait();
	return NULL;
}

/* Takes CPU 0 away every 2 ms, as a real-time thread where that is allowed. */
NI static void *preempter(void *x)
{
	struct sched_param p = {.sched_priority = 10};
	named("helper");
	pin(0);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	while (!stop) {
		nap();
		for (volatile int i = 0; i < 100000; i++)
			;
	}
	return x;
}

int main(int argc, char **argv)
{
	pthread_t helpers[4], t[WAYS];
	char path[256], *junk = calloc(1, SIZE);
	sigset_t set;
	snprintf(dir, sizeof(dir), "%s", argc > 1 ? argv[1] : ".");
	snprintf(path, sizeof(path), "%s/cold", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, junk, SIZE) != SIZE || fsync(fd))
		return perror(path), 1;
	close(fd);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	sysv = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(pipes) || fcntl(pipes[1], F_SETFL, O_NONBLOCK) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	pthread_create(&helpers[0], NULL, hold_locks, NULL);
	pthread_create(&helpers[1], NULL, release, NULL);
	pthread_create(&helpers[2], NULL, meet, NULL);
	pthread_create(&helpers[3], NULL, preempter, NULL);
	for (int i = 0; i < WAYS; i++)
		pthread_create(&t[i], NULL, waiter, (void *)&ways[i]);
	for (int i = 0; i < WAYS; i++)
		pthread_join(t[i], NULL);
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(helpers[i], NULL);
	semctl(sysv, 0, IPC_RMID);
	unlink(path);
}
