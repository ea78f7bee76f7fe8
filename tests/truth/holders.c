/*
 * holders LOG KIND [SECONDS] - threads queue for one lock and log when each had it: "hold". KIND:
 *
 *	mutex	   a pthread mutex, with pauses between the holds
 *	barge	   the same; `hog` takes it again at once, so that woken waiters find it taken
 *	rwlock	   a reader/writer lock: `reader`s and `writer`s
 *	nested	   a mutex whose holders wait for a second one ("hold" is of the first, "inner" of
 *		   the second)
 *	futex	   a lock of the program's own, on a futex
 */
#include "truth.h"

enum { WORKERS = 4 };

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int word; /* 0 free, 1 held, 2 held and waited for */
static const char *kind;

static int is(const char *name)
{
	return !strcmp(kind, name);
}

NOINLINE static void work_inside(unsigned *seed)
{
	uint64_t ns = (uint64_t)(1 + rand_r(seed) % 4) * MS;
	if (rand_r(seed) % 2)
		burn_ns(ns);
	else
		sleep_ns(ns);
	STAY();
}

NOINLINE static void use_mutex(unsigned *seed)
{
	pthread_mutex_lock(&first);
	uint64_t t = now_ns();
	work_inside(seed);
	truth("hold", t, now_ns());
	pthread_mutex_unlock(&first);
	STAY();
}

NOINLINE static void use_second(unsigned *seed)
{
	pthread_mutex_lock(&second);
	uint64_t t = now_ns();
	work_inside(seed);
	truth("inner", t, now_ns());
	pthread_mutex_unlock(&second);
	STAY();
}

NOINLINE static void use_both(unsigned *seed)
{
	pthread_mutex_lock(&first);
	uint64_t t = now_ns();
	use_second(seed);
	truth("hold", t, now_ns());
	pthread_mutex_unlock(&first);
	STAY();
}

NOINLINE static void use_futex(unsigned *seed)
{
	int was = 0;
	if (!atomic_compare_exchange_strong(&word, &was, 1))
		while (atomic_exchange(&word, 2))
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	uint64_t t = now_ns();
	work_inside(seed);
	truth("hold", t, now_ns());
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	STAY();
}

NOINLINE static void read_shared(unsigned *seed)
{
	pthread_rwlock_rdlock(&shared);
	uint64_t t = now_ns();
	work_inside(seed);
	truth("hold", t, now_ns());
	pthread_rwlock_unlock(&shared);
	STAY();
}

NOINLINE static void write_shared(unsigned *seed)
{
	pthread_rwlock_wrlock(&shared);
	uint64_t t = now_ns();
	work_inside(seed);
	truth("hold", t, now_ns());
	pthread_rwlock_unlock(&shared);
	STAY();
}

NOINLINE static void think(unsigned *seed, int most_ms)
{
	uint64_t ns = (uint64_t)(rand_r(seed) % (most_ms * 1000 + 1)) * US;
	if (rand_r(seed) % 3)
		sleep_ns(ns);
	else
		burn_ns(ns / 4);
	STAY();
}

static void *worker(void *arg)
{
	int n = (int)(intptr_t)arg, hog = is("barge") && !n, writer = is("rwlock") && n < 2;
	unsigned seed = 77 + (unsigned)n;
	name_thread(hog ? "hog" : writer ? "writer" : is("rwlock") ? "reader" : "worker");
	while (!atomic_load(&truth_stop)) {
		if (!hog)
			think(&seed, is("rwlock") ? 8 : 12);
		if (is("rwlock"))
			(writer ? write_shared : read_shared)(&seed);
		else if (is("nested"))
			(n % 2 ? use_both : use_second)(&seed);
		else if (is("futex"))
			use_futex(&seed);
		else
			use_mutex(&seed);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[WORKERS];
	truth_begin(argc, argv, "holders");
	kind = argc > 2 ? argv[2] : "mutex";
	for (int i = 0; i < WORKERS; i++)
		t[i] = start(worker, (void *)(intptr_t)i);
	sleep_ns((uint64_t)(argc > 3 ? atoi(argv[3]) : 2) * 1000 * MS);
	atomic_store(&truth_stop, 1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	truth_write();
	return 0;
}
