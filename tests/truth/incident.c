/*
 * incident LOG KIND [ROUNDS] - a well-known cause of slow requests, planted: `front` asks twenty to
 * forty times, and what it waits for is
 *
 *	journal	    the commit of the journal below the current directory, for fsync
 *	backup	    the same, which `bulk`, who writes much more, began with its own fsync
 *	fork	    mmap_lock, which `forker` holds while it forks a process with much memory
 *	pipe	    room in a pipe that `reader` empties slowly
 *	inversion   a lock that `low` holds without a CPU, since `mid` has it (real time,
 *		    one CPU)
 *	nagle	    the second half of a request, which Nagle's algorithm keeps until
 *		    `server`'s delayed ACK
 *	dirty	    the disk below the current directory, which has too many pages to write
 *	flood	    a lock, whose holder `packer` is interrupted on CPU 0 by the packets of
 *		    another process (in a network namespace that steers them to CPU 0)
 *	reclaim     memory, in a control group that has none left (started in one made for
 *		    it)
 *	thief	    a CPU, which `thief`, another process with a higher priority, takes
 *	idle	    a CPU that is idle when `caller`, on another one, wakes it (here all waits
 *		    are logged)
 *
 * Requests of more than 1 ms are logged: "wait".
 */
#include "truth.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int rounds = 25;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(77);
}

static void skip(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(77);
}

static void log_wait(uint64_t from)
{
	uint64_t end = now_ns();
	if (end - from > MS)
		truth("wait", from, end);
}

/* --- journal -------------------------------------------------------------------------- */

NOINLINE static void save_order(int fd)
{
	static char page[4096];
	must(write(fd, page, sizeof(page)) == sizeof(page) && !fsync(fd), "fsync");
	STAY();
}

static void journal(void)
{
	int fd = open("orders.log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	must(fd >= 0, "orders.log");
	for (int i = 0; i < rounds; i++) {
		uint64_t t = now_ns();
		save_order(fd);
		log_wait(t);
		sleep_ns(5 * MS);
	}
	unlink("orders.log");
}

NOINLINE static void copy_block(int fd)
{
	static char block[1 << 20];
	must(pwrite(fd, block, sizeof(block), 0) == sizeof(block) && !fsync(fd), "fsync");
	STAY();
}

static void *backs_up(void *arg)
{
	int fd = open("backup", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	name_thread("bulk");
	must(fd >= 0, "backup");
	while (!atomic_load(&truth_stop))
		copy_block(fd);
	unlink("backup");
	return arg;
}

static void backup(void)
{
	pthread_t t = start(backs_up, NULL);
	journal();
	atomic_store(&truth_stop, 1);
	pthread_join(t, NULL);
}

/* --- fork ----------------------------------------------------------------------------- */

enum { BIG = 384 << 20 };

static atomic_int filled;

NOINLINE static void spawn_helper(void)
{
	pid_t child = fork();
	if (!child)
		_exit(0);
	must(child > 0 && waitpid(child, NULL, 0) == child, "fork");
}

static void *forks(void *arg)
{
	char *p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)arg;
	name_thread("forker");
	must(p != MAP_FAILED && !madvise(p, BIG, MADV_NOHUGEPAGE), "mmap");
	for (size_t at = 0; at < BIG; at += 4096)
		p[at] = 1;
	atomic_store(&filled, 1);
	while (!atomic_load(&truth_stop)) {
		sleep_ns(40 * MS);
		spawn_helper();
	}
	return NULL;
}

NOINLINE static void take_buffer(void)
{
	void *p = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(p != MAP_FAILED && !munmap(p, 1 << 16), "mmap");
	STAY();
}

static void forked(void)
{
	pthread_t t = start(forks, NULL);
	while (!atomic_load(&filled)) /* may take as long as all rounds on a busy machine */
		sleep_ns(MS);
	for (int i = 0; i < 400; i++) {
		uint64_t begun = now_ns();
		take_buffer();
		log_wait(begun);
		sleep_ns(MS);
	}
	atomic_store(&truth_stop, 1);
	pthread_join(t, NULL);
}

/* --- pipe ----------------------------------------------------------------------------- */

static int ends[2];

NOINLINE static void digest(void)
{
	sleep_ns(8 * MS);
	STAY();
}

static void *reads(void *arg)
{
	static char text[1 << 16];
	(void)arg;
	name_thread("reader");
	while (read(ends[0], text, sizeof(text)) > 0)
		digest();
	return NULL;
}

NOINLINE static void send_report(void)
{
	static char text[1 << 16];
	must(write(ends[1], text, sizeof(text)) == sizeof(text), "write");
	STAY();
}

static void full_pipe(void)
{
	must(!pipe(ends), "pipe");
	pthread_t t = start(reads, NULL);
	for (int i = 0; i < rounds; i++) {
		uint64_t begun = now_ns();
		send_report();
		log_wait(begun);
	}
	close(ends[1]);
	pthread_join(t, NULL);
}

/* --- inversion ------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, go;

static void *low(void *arg)
{
	(void)arg;
	name_thread("low");
	pin_to(0);
	must(!go_fifo(10), "SCHED_FIFO");
	while (!atomic_load(&truth_stop)) {
		pthread_mutex_lock(&lock);
		sem_post(&held);
		burn_ns(2 * MS);
		pthread_mutex_unlock(&lock);
		sleep_ns(20 * MS);
	}
	return NULL;
}

NOINLINE static void compute(void)
{
	burn_ns(8 * MS);
	STAY();
}

static void *mid(void *arg)
{
	(void)arg;
	name_thread("mid");
	pin_to(0);
	must(!go_fifo(20), "SCHED_FIFO");
	while (!sem_wait(&go) && !atomic_load(&truth_stop))
		compute();
	return NULL;
}

NOINLINE static void control(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void inversion(void)
{
	must(!sem_init(&held, 0, 0) && !sem_init(&go, 0, 0), "semaphore");
	pin_to(0);
	must(!go_fifo(40), "SCHED_FIFO");
	pthread_t m = start(mid, NULL), l = start(low, NULL);
	for (int i = 0; i < rounds; i++) {
		while (sem_wait(&held))
			;
		sem_post(&go);
		uint64_t t = now_ns();
		control();
		log_wait(t);
	}
	atomic_store(&truth_stop, 1);
	sem_post(&go);
	pthread_join(m, NULL);
	pthread_join(l, NULL);
}

/* --- nagle ---------------------------------------------------------------------------- */

static void read_all(int fd, char *p, size_t n)
{
	while (n) {
		ssize_t got = read(fd, p, n);
		must(got > 0, "read");
		p += got;
		n -= (size_t)got;
	}
}

NOINLINE static void answer(int fd)
{
	char text[64];
	read_all(fd, text, 64);
	must(write(fd, text, 32) == 32, "write");
}

static void *serve(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	name_thread("server");
	must(fd >= 0, "accept");
	/* the kernel acknowledges a connection's first packets at once */
	for (int i = 0; i < rounds * 2; i++)
		answer(fd);
	close(fd);
	return NULL;
}

NOINLINE static void query(int fd)
{
	char text[64] = "";
	must(write(fd, text, 16) == 16 && write(fd, text, 48) == 48, "write");
	read_all(fd, text, 32);
}

static void nagle(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t n = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!bind(listener, (struct sockaddr *)&at, n) && !listen(listener, 1) &&
		     !getsockname(listener, (struct sockaddr *)&at, &n),
	     "socket");
	pthread_t t = start(serve, &listener);
	must(!connect(fd, (struct sockaddr *)&at, n), "connect");
	int late = 0;
	for (int i = 0; i < rounds * 2; i++) {
		uint64_t begun = now_ns();
		query(fd);
		late += now_ns() - begun > MS;
		log_wait(begun);
	}
	pthread_join(t, NULL);
	if (late < rounds)
		skip("the kernel acknowledged at once, so nothing was held back");
}

/* --- dirty ---------------------------------------------------------------------------- */

NOINLINE static void append(int fd)
{
	static char text[1 << 18];
	must(write(fd, text, sizeof(text)) == sizeof(text), "write");
	STAY();
}

static void dirty(void)
{
	int fd = open("export", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0, "export");
	go_fifo(20);
	for (int i = 0; i < 160; i++) {
		uint64_t begun = now_ns();
		append(fd);
		log_wait(begun);
	}
	unlink("export");
}

/* --- flood ---------------------------------------------------------------------------- */

static void flood(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(9)};
	char text[64] = "";
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	name_thread("flooder");
	pin_to(1);
	go_fifo(10);
	must(!connect(fd, (struct sockaddr *)&at, sizeof(at)), "connect");
	struct iovec part = {text, sizeof(text)};
	struct mmsghdr many[64] = {0};
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		many[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
	for (;;)
		sendmmsg(fd, many, sizeof(many) / sizeof(*many), 0);
}

NOINLINE static void pack(void)
{
	burn_ns(6 * MS);
	STAY();
}

static void *packs(void *arg)
{
	(void)arg;
	name_thread("packer");
	pin_to(0);
	go_fifo(10);
	while (!atomic_load(&truth_stop)) {
		pthread_mutex_lock(&lock);
		sem_post(&held);
		pack();
		pthread_mutex_unlock(&lock);
		sleep_ns(5 * MS);
	}
	return NULL;
}

static void flooded(void)
{
	must(!sem_init(&held, 0, 0), "semaphore");
	pid_t flooder = fork();
	if (!flooder)
		flood();
	pthread_t t = start(packs, NULL);
	must(!go_fifo(20), "SCHED_FIFO");
	for (int i = 0; i < rounds; i++) {
		while (sem_wait(&held))
			;
		uint64_t begun = now_ns();
		control();
		log_wait(begun);
	}
	atomic_store(&truth_stop, 1);
	pthread_join(t, NULL);
	kill(flooder, SIGKILL);
	waitpid(flooder, NULL, 0);
}

/* --- reclaim -------------------------------------------------------------------------- */

/* Writes more than the group has room for: pages must be written out before there are new ones.
 */
static void reclaim(void)
{
	static char page[1 << 16];
	int fd = open("pages", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0, "pages");
	go_fifo(20);
	for (int i = 0; i < 3000; i++) {
		uint64_t begun = now_ns();
		must(pwrite(fd, page, sizeof(page), (off_t)i * (off_t)sizeof(page)) ==
			     sizeof(page),
		     "write");
		log_wait(begun);
	}
	unlink("pages");
}

/* --- thief ---------------------------------------------------------------------------- */

NOINLINE static void steal(void)
{
	burn_ns(6 * MS);
	STAY();
}

NOINLINE static void thief(void)
{
	name_thread("thief");
	pin_to(0);
	must(!go_fifo(40), "SCHED_FIFO");
	for (;;) {
		sleep_ns(17 * MS);
		steal();
	}
}

NOINLINE static void handle(void)
{
	burn_ns(4 * MS);
	STAY();
}

static void robbed(void)
{
	pid_t other = fork();
	if (!other)
		thief();
	pin_to(0);
	must(!go_fifo(20), "SCHED_FIFO");
	for (int i = 0; i < rounds * 4; i++) {
		uint64_t begun = now_ns(), used = cpu_ns();
		handle();
		if (now_ns() - begun > cpu_ns() - used + MS)
			truth("wait", begun, now_ns());
		sleep_ns(3 * MS);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* --- idle ----------------------------------------------------------------------------- */

static atomic_ullong called;
static int callers_cpu;

static void *calls(void *arg)
{
	(void)arg;
	name_thread("caller");
	pin_to(callers_cpu);
	must(!go_fifo(20), "SCHED_FIFO");
	while (!atomic_load(&truth_stop)) {
		sleep_ns(2 * MS);
		atomic_store(&called, now_ns());
		sem_post(&go);
	}
	return NULL;
}

enum { CPUS = 256 };

/* How long each CPU has been idle so far, in ns; 0 for those that may not be used. */
static void idle_times(uint64_t ns[CPUS])
{
	static cpu_set_t may;
	char line[512];
	FILE *f = fopen("/proc/stat", "r");
	must(f && (CPU_COUNT(&may) || !sched_getaffinity(0, sizeof(may), &may)), "/proc/stat");
	memset(ns, 0, CPUS * sizeof(*ns));
	while (fgets(line, sizeof(line), f)) {
		unsigned long long ticks;
		unsigned int cpu;
		if (sscanf(line, "cpu%u %*u %*u %*u %llu", &cpu, &ticks) == 2 && cpu < CPUS &&
		    CPU_ISSET(cpu, &may))
			ns[cpu] = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	}
	fclose(f);
}

/* The CPU that is idle for most of 200 ms, as soon as there is one; another for the caller. */
static int idle_cpu(void)
{
	static uint64_t was[CPUS], is[CPUS];
	for (int try = 0; try < 100; try++) {
		int best = 0;
		idle_times(was);
		sleep_ns(200 * MS);
		idle_times(is);
		for (int i = 0; i < CPUS; i++)
			if (is[i] - was[i] > is[best] - was[best])
				best = i;
		callers_cpu = 0;
		while (callers_cpu < CPUS && (callers_cpu == best || !is[callers_cpu]))
			callers_cpu++;
		if (callers_cpu == CPUS)
			skip("there is one CPU");
		if (is[best] - was[best] > 160 * MS)
			return best;
	}
	skip("no CPU is idle");
	return 0;
}

static void idle(void)
{
	static uint64_t was[CPUS], is[CPUS];
	name_thread("chooser"); /* whose own sleeps are nobody's waits */
	int cpu = idle_cpu();
	name_thread("front");
	uint64_t begun = now_ns();
	must(!sem_init(&go, 0, 0), "semaphore");
	idle_times(was);
	pthread_t t = start(calls, NULL);
	pin_to(cpu);
	must(!go_fifo(40), "SCHED_FIFO");
	for (int i = 0; i < 500; i++) {
		while (sem_wait(&go))
			;
		truth("wait", atomic_load(&called), now_ns());
	}
	idle_times(is);
	if ((is[cpu] - was[cpu]) * 2 < now_ns() - begun)
		skip("the CPU that was idle is busy");
	atomic_store(&truth_stop, 1);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kind;
		void (*run)(void);
	} kinds[] = {{"journal", journal},
		     {"backup", backup},
		     {"fork", forked},
		     {"pipe", full_pipe},
		     {"inversion", inversion},
		     {"nagle", nagle},
		     {"dirty", dirty},
		     {"flood", flooded},
		     {"reclaim", reclaim},
		     {"thief", robbed},
		     {"idle", idle}};
	truth_begin(argc, argv, "front");
	rounds = argc > 3 ? atoi(argv[3]) : rounds;
	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[2], kinds[i].kind)) {
			kinds[i].run();
			truth_write();
			return 0;
		}
	fprintf(stderr, "%s: no such kind\n", argv[0]);
	return 2;
}
