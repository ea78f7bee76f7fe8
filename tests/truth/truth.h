/*
 * truth.h - what the programs of this folder share: each waits in one known way and writes what
 * it measured around its own waits, on CLOCK_MONOTONIC, for tests that record it with perf.
 *
 *	PROGRAM LOG [options]        LOG: lines "KIND TID START_NS END_NS"
 *
 * Lines are kept in memory until the end, so that logging is no wait. Built with -DALT the same
 * program has other names for its threads and functions: N(plain, other).
 */
#ifndef TESTS_TRUTH_H
#define TESTS_TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef ALT
#define N(plain, other) other
#else
#define N(plain, other) plain
#endif
#ifdef __clang__
#define NOINLINE __attribute__((noinline, used))
#else
#define NOINLINE __attribute__((noinline, noclone, used))
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
/* keeps the call in front of it from becoming a jump, which would hide the caller */
#define STAY() __asm__ volatile("")

enum { US = 1000, MS = 1000000, MAX_LINES = 1 << 16 };

struct truth_line {
	const char *kind;
	int tid;
	uint64_t start, end;
};

static struct truth_line truth_lines[MAX_LINES];
static atomic_uint truth_n;
static const char *truth_log;
static int truth_argc;
static char **truth_argv;
static atomic_int truth_stop;

static inline uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int my_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static inline void truth(const char *kind, uint64_t start, uint64_t end)
{
	unsigned int i = atomic_fetch_add(&truth_n, 1);
	if (i < MAX_LINES)
		truth_lines[i] = (struct truth_line){kind, my_tid(), start, end};
}

/* How long this thread stood in run queues so far: the scheduler's own count; 0 where the
 * kernel keeps none. */
static inline uint64_t queued_ns(void)
{
	char text[96] = "";
	unsigned long long ran, queued = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%llu %llu", &ran, &queued) != 2)
		queued = 0;
	close(fd);
	return queued;
}

static inline void truth_write(void)
{
	FILE *f = fopen(truth_log, "w");
	unsigned int n = atomic_load(&truth_n);
	for (unsigned int i = 0; f && i < n && i < MAX_LINES; i++)
		fprintf(f, "%s %d %llu %llu\n", truth_lines[i].kind, truth_lines[i].tid,
			(unsigned long long)truth_lines[i].start,
			(unsigned long long)truth_lines[i].end);
	if (!f || fclose(f)) {
		perror(truth_log);
		_exit(1);
	}
}

/* The value of an option ("" for a flag that is there), or NULL. */
static inline const char *truth_option(const char *name)
{
	for (int i = 2; i < truth_argc; i++)
		if (!strcmp(truth_argv[i], name))
			return i + 1 < truth_argc ? truth_argv[i + 1] : "";
	return NULL;
}

static inline int truth_int(const char *name, int otherwise)
{
	const char *v = truth_option(name);
	return v && *v ? atoi(v) : otherwise;
}

static inline void name_thread(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static inline void truth_begin(int argc, char **argv, const char *name)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s LOG [options]\n", argv[0]);
		exit(2);
	}
	truth_log = argv[1];
	truth_argc = argc;
	truth_argv = argv;
	name_thread(name);
}

static inline void sleep_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static inline void sleep_ns(uint64_t ns)
{
	sleep_until(now_ns() + ns);
}

static inline uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Use the CPU for so long, whatever else happens on it. */
static inline void burn_ns(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns, now;
	while ((now = cpu_ns()) < until)
		for (volatile int i = until - now > 200 * US ? -20000 : -100; i < 0; i++)
			;
}

static inline void pin_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* 0, or -1 where real-time priorities are not allowed. */
static inline int go_fifo(int prio)
{
	struct sched_param p = {.sched_priority = prio};
	return sched_setscheduler(0, SCHED_FIFO, &p);
}

static inline void go_normal(void)
{
	struct sched_param p = {0};
	sched_setscheduler(0, SCHED_OTHER, &p);
}

static inline pthread_t start(void *(*f)(void *), void *arg)
{
	pthread_t t;
	if (pthread_create(&t, NULL, f, arg)) {
		perror("pthread_create");
		exit(1);
	}
	return t;
}

/* --- a lock of any kind: --lock mutex|rwlock|semaphore|spin --------------------------- */

enum lock_kind { LOCK_MUTEX, LOCK_RWLOCK, LOCK_SEMAPHORE, LOCK_SPIN };

struct any_lock {
	enum lock_kind kind;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	sem_t sem;
	atomic_int word; /* LOCK_SPIN: 0 free, 1 held, 2 held and waited for */
};

static inline void any_lock_init(struct any_lock *l)
{
	const char *k = truth_option("--lock");
	l->kind = !k || !strcmp(k, "mutex") ? LOCK_MUTEX
		  : !strcmp(k, "rwlock")    ? LOCK_RWLOCK
		  : !strcmp(k, "semaphore") ? LOCK_SEMAPHORE
					    : LOCK_SPIN;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_rwlock_init(&l->rwlock, NULL);
	sem_init(&l->sem, 0, 1);
	atomic_store(&l->word, 0);
}

NOINLINE static void spin_lock_slow(struct any_lock *l)
{
	for (int i = 0; i < 1000; i++) {
		int free = 0;
		if (atomic_compare_exchange_strong(&l->word, &free, 1))
			return;
		__asm__ volatile("");
	}
	while (atomic_exchange(&l->word, 2))
		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void take_lock(struct any_lock *l)
{
	int free = 0;
	if (l->kind == LOCK_MUTEX)
		pthread_mutex_lock(&l->mutex);
	else if (l->kind == LOCK_RWLOCK)
		pthread_rwlock_wrlock(&l->rwlock);
	else if (l->kind == LOCK_SEMAPHORE)
		while (sem_wait(&l->sem))
			;
	else if (!atomic_compare_exchange_strong(&l->word, &free, 1))
		spin_lock_slow(l);
}

static inline void drop_lock(struct any_lock *l)
{
	if (l->kind == LOCK_MUTEX)
		pthread_mutex_unlock(&l->mutex);
	else if (l->kind == LOCK_RWLOCK)
		pthread_rwlock_unlock(&l->rwlock);
	else if (l->kind == LOCK_SEMAPHORE)
		sem_post(&l->sem);
	else if (atomic_exchange(&l->word, 0) == 2)
		syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* --- louder innocents: --loud ------------------------------------------------------------- */

/* Waits far longer than anybody else, for nothing. */
NOINLINE static void *N(heartbeat, keepalive)(void *arg)
{
	(void)arg;
	name_thread(TEXT(N(heartbeat, keepalive)));
	while (!atomic_load(&truth_stop)) {
		sleep_ns(90 * MS);
		burn_ns(20 * US);
	}
	return NULL;
}

/* A hog where it hurts nobody. */
NOINLINE static void *N(cruncher, miner)(void *arg)
{
	(void)arg;
	name_thread(TEXT(N(cruncher, miner)));
	pin_to(1);
	go_normal();
	setpriority(PRIO_PROCESS, 0, 19);
	while (!atomic_load(&truth_stop))
		burn_ns(5 * MS);
	return NULL;
}

static inline void maybe_loud(void)
{
	pthread_t t;
	if (!truth_option("--loud"))
		return;
	t = start(N(heartbeat, keepalive), NULL);
	pthread_detach(t);
	t = start(N(cruncher, miner), NULL);
	pthread_detach(t);
}

#endif
