/*
 * kept LOG KIND - incidents kept apart from whoever writes rules and sentences:
 *
 *	trim	    malloc's arena, kept by `janitor` in malloc_trim
 *	stdio	    the lock of a FILE, kept by `audit` while the pipe behind it is full
 *	flock	    a lock of a file, kept by another process, `backup`
 *	timedout    a signal that came too early: its own timeout of 30 ms ends the wait
 *	handler	    its own signal handler, on_profile_tick, computes
 *	vfork	    the child of a vfork, `launcher`, is slow to exec
 *	userfault   a page that `pager` fetches late
 *	fanotify    leave to open a file, which `scanner` gives late
 *	pipe	    a full pipe, which `collector` empties slowly
 *	sndbuf	    a full socket buffer: `subscriber` reads slowly
 *	semop	    a System V semaphore, kept by another process, `archiver`
 *	relay	    `policyd` does not answer: it waits for `resolver`
 *	prefault    its own first touch of much memory
 */
#include "incident.h"

#include <arpa/inet.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A process of that name that does `f` until front ends. */
static void neighbour(const char *name, void (*f)(void))
{
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_thread(name);
	for (;;)
		f();
}

/* --- trim ------------------------------------------------------------------------------ */

enum { OBJECTS = 40000, OBJECT = 9000 };

static void *objects[OBJECTS];

NOINLINE static void purge_memory(void)
{
	for (int i = 1; i < OBJECTS; i += 2)
		free(objects[i]);
	malloc_trim(0);
	for (int i = 1; i < OBJECTS; i += 2)
		memset(objects[i] = malloc(OBJECT), 1, OBJECT);
	STAY();
}

static void *janitor(void *arg)
{
	(void)arg;
	name_thread("janitor");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		purge_memory();
	}
	return NULL;
}

NOINLINE static void build_reply(void)
{
	for (int i = 0; i < 50; i++) {
		char *text = malloc(3000);
		must(text != NULL, "malloc");
		memset(text, i, 3000);
		free(text);
	}
	STAY();
}

static void trim(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	for (int i = 0; i < OBJECTS; i++)
		memset(objects[i] = malloc(OBJECT), 1, OBJECT);
	start(janitor, NULL);
	requests(build_reply, think);
}

/* --- stdio ----------------------------------------------------------------------------- */

static FILE *journal_file;
static int journal_pipe[2];

NOINLINE static void write_audit_trail(void)
{
	static char line[200000];
	memset(line, 'a', sizeof(line));
	fwrite(line, 1, sizeof(line), journal_file);
	STAY();
}

static void *audit(void *arg)
{
	(void)arg;
	name_thread("audit");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		write_audit_trail();
	}
	return NULL;
}

static void *viewer(void *arg)
{
	static char text[16384];
	(void)arg;
	name_thread("viewer");
	while (read(journal_pipe[0], text, sizeof(text)) > 0)
		sleep_ns(3 * MS);
	return NULL;
}

NOINLINE static void note_request(void)
{
	fputs("request\n", journal_file);
	STAY();
}

static void stdio(void)
{
	must(!pipe(journal_pipe), "pipe");
	journal_file = fdopen(journal_pipe[1], "w");
	must(journal_file != NULL, "fdopen");
	start(viewer, NULL);
	start(audit, NULL);
	requests(note_request, think);
}

/* --- flock ----------------------------------------------------------------------------- */

static char lock_name[64];
static int lock_file = -1;

static int open_lock(void)
{
	int fd = open(lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd >= 0, lock_name);
	return fd;
}

NOINLINE static void copy_database(void)
{
	burn_ns(10 * MS);
	sleep_ns(20 * MS);
	STAY();
}

static void backup(void)
{
	if (lock_file < 0)
		lock_file = open_lock();
	sleep_ns(EVERY * MS);
	flock(lock_file, LOCK_EX);
	copy_database();
	flock(lock_file, LOCK_UN);
}

NOINLINE static void begin_transaction(void)
{
	flock(lock_file, LOCK_EX);
	flock(lock_file, LOCK_UN);
	STAY();
}

static void file_lock(void)
{
	snprintf(lock_name, sizeof(lock_name), "/tmp/kept-%d", getpid());
	neighbour("backup", backup);
	lock_file = open_lock();
	requests(begin_transaction, think);
	unlink(lock_name);
}

/* --- timedout -------------------------------------------------------------------------- */

static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

NOINLINE static void await_ready(void)
{
	static int turn;
	struct timespec t;
	if (++turn % 15)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += LONG * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&ready_lock);
	pthread_cond_timedwait(&ready, &ready_lock, &t);
	pthread_mutex_unlock(&ready_lock);
	STAY();
}

static void *announcer(void *arg)
{
	(void)arg;
	name_thread("announcer");
	while (goes_on()) {
		sleep_ns(200 * MS);
		pthread_mutex_lock(&ready_lock);
		pthread_mutex_unlock(&ready_lock);
	}
	return NULL;
}

static void timed_out(void)
{
	start(announcer, NULL);
	requests(await_ready, think);
}

/* --- handler --------------------------------------------------------------------------- */

static timer_t tick;

NOINLINE static void on_profile_tick(int sig)
{
	(void)sig;
	burn_ns(25 * MS);
	STAY();
}

NOINLINE static void price_order(void)
{
	burn_ns(4 * MS);
	STAY();
}

static void handler(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec every = {{0, 90 * MS}, {0, 90 * MS}};
	signal(SIGUSR1, on_profile_tick);
	must(!timer_create(CLOCK_MONOTONIC, &ev, &tick), "timer_create");
	timer_settime(tick, 0, &every, NULL);
	requests(price_order, think);
}

/* --- vfork ----------------------------------------------------------------------------- */

NOINLINE static void spawn_converter(void)
{
	static int turn;
	if (++turn % 15)
		return;
	pid_t pid = vfork();
	if (!pid) {
		name_thread("launcher");
		sleep_ns(LONG * MS);
		_exit(0);
	}
	name_thread("front");
	must(pid > 0 && waitpid(pid, NULL, 0) == pid, "waitpid");
	STAY();
}

static void by_vfork(void)
{
	requests(spawn_converter, think);
}

/* --- userfault ------------------------------------------------------------------------- */

enum { PAGE = 4096, PAGES = 4096 };

static int faults;
static char *guest;

static void *pager(void *arg)
{
	static char page[PAGE];
	(void)arg;
	name_thread("pager");
	for (int i = 0;; i++) {
		struct uffd_msg msg;
		if (read(faults, &msg, sizeof(msg)) != sizeof(msg))
			break;
		if (i % 15 == 14)
			sleep_ns(LONG * MS);
		struct uffdio_copy copy = {.dst = msg.arg.pagefault.address & ~(uint64_t)(PAGE - 1),
					   .src = (uintptr_t)page,
					   .len = PAGE};
		ioctl(faults, UFFDIO_COPY, &copy);
	}
	return NULL;
}

NOINLINE static void touch_guest(void)
{
	static int at;
	if (at < PAGES)
		*(volatile char *)(guest + (size_t)at++ * PAGE) = 1;
	STAY();
}

static void userfault(void)
{
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	must(faults >= 0, "userfaultfd");
	struct uffdio_api api = {.api = UFFD_API};
	must(!ioctl(faults, UFFDIO_API, &api), "UFFDIO_API");
	guest = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	must(guest != MAP_FAILED, "mmap");
	struct uffdio_register range = {{(uintptr_t)guest, (uint64_t)PAGES * PAGE},
					UFFDIO_REGISTER_MODE_MISSING, 0};
	must(!ioctl(faults, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	start(pager, NULL);
	requests(touch_guest, think);
}

/* --- fanotify -------------------------------------------------------------------------- */

static char watched[64];

static void scan_file(void)
{
	static int fd = -1, n;
	struct fanotify_event_metadata m;
	if (fd < 0) {
		fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
		must(fd >= 0 && !fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, watched),
		     "fanotify");
	}
	if (read(fd, &m, sizeof(m)) < (ssize_t)sizeof(m))
		_exit(1);
	if (++n % 15 == 0)
		burn_ns(25 * MS);
	struct fanotify_response r = {.fd = m.fd, .response = FAN_ALLOW};
	if (write(fd, &r, sizeof(r)) < 0)
		_exit(1);
	close(m.fd);
}

NOINLINE static void load_settings(void)
{
	int fd = open(watched, O_RDONLY | O_CLOEXEC);
	must(fd >= 0, watched);
	close(fd);
	STAY();
}

static void by_fanotify(void)
{
	snprintf(watched, sizeof(watched), "/tmp/kept-%d", getpid());
	close(open(watched, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	neighbour("scanner", scan_file);
	sleep_ns(20 * MS);
	requests(load_settings, think);
	unlink(watched);
}

/* --- pipe, sndbuf ---------------------------------------------------------------------- */

static int to_reader, from_writer;

NOINLINE static void ship_lines(void)
{
	sleep_ns(LONG * MS);
	STAY();
}

/* Takes what there is, and is busy with it now and then. */
static void take(void)
{
	static char text[65536];
	static int n;
	if (read(from_writer, text, sizeof(text)) <= 0)
		_exit(0);
	if (++n % 10 == 0)
		ship_lines();
}

NOINLINE static void print_line(void)
{
	static char text[4096];
	must(write(to_reader, text, sizeof(text)) > 0, "write");
	STAY();
}

static void full_pipe(void)
{
	int ends[2];
	must(!pipe(ends), "pipe");
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	from_writer = ends[0];
	to_reader = ends[1];
	neighbour("collector", take);
	requests(print_line, think);
}

NOINLINE static void publish(void)
{
	static char text[16384];
	must(send(to_reader, text, sizeof(text), 0) > 0, "send");
	STAY();
}

static void sndbuf(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int small = 8192, one = socket(AF_INET, SOCK_STREAM, 0), listens = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listens, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	setsockopt(one, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	must(!bind(listens, (struct sockaddr *)&a, len) && !listen(listens, 1) &&
		     !getsockname(listens, (struct sockaddr *)&a, &len) &&
		     !connect(one, (struct sockaddr *)&a, len),
	     "connect");
	to_reader = one;
	from_writer = accept(listens, NULL, NULL);
	neighbour("subscriber", take);
	requests(publish, think);
}

/* --- semop ----------------------------------------------------------------------------- */

static int sem_set;

static void sem_add(int n)
{
	struct sembuf b = {.sem_op = (short)n};
	semop(sem_set, &b, 1);
}

NOINLINE static void write_archive(void)
{
	burn_ns(25 * MS);
	STAY();
}

static void archive(void)
{
	sleep_ns(EVERY * MS);
	sem_add(-1);
	write_archive();
	sem_add(1);
}

NOINLINE static void enter_buffer(void)
{
	sem_add(-1);
	sem_add(1);
	STAY();
}

static void by_semop(void)
{
	sem_set = semget(IPC_PRIVATE, 1, 0600);
	must(sem_set >= 0, "semget");
	sem_add(1);
	neighbour("archiver", archive);
	requests(enter_buffer, think);
	semctl(sem_set, 0, IPC_RMID);
}

/* --- relay ----------------------------------------------------------------------------- */

static int front_side[2], back_side[2];

static void hand_on(int from, int to)
{
	char c;
	if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
		_exit(0);
}

static void resolve(void)
{
	static int n;
	char c;
	if (read(back_side[1], &c, 1) != 1)
		_exit(0);
	if (++n % 15 == 0)
		burn_ns(25 * MS);
	if (write(back_side[1], &c, 1) != 1)
		_exit(0);
}

NOINLINE static void check_policy(void)
{
	hand_on(front_side[1], back_side[0]);
	hand_on(back_side[0], front_side[1]);
	STAY();
}

NOINLINE static void ask_policy(void)
{
	char c = 'a';
	must(write(front_side[0], &c, 1) == 1 && read(front_side[0], &c, 1) == 1, "ask");
	STAY();
}

static void relay(void)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, front_side) &&
		     !socketpair(AF_UNIX, SOCK_STREAM, 0, back_side),
	     "socketpair");
	neighbour("resolver", resolve);
	neighbour("policyd", check_policy);
	requests(ask_policy, think);
}

/* --- prefault -------------------------------------------------------------------------- */

NOINLINE static void grow_table(void)
{
	static int turn;
	size_t size = 64 << 20;
	if (++turn % 15)
		return;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(p != MAP_FAILED, "mmap");
	for (size_t i = 0; i < size; i += PAGE)
		p[i] = 1;
	munmap(p, size);
	STAY();
}

static void prefault(void)
{
	requests(grow_table, think);
}

int main(int argc, char **argv)
{
	static const struct incident kept[] = {
		{"trim", trim},		{"stdio", stdio},	{"flock", file_lock},
		{"timedout", timed_out}, {"handler", handler},	{"vfork", by_vfork},
		{"userfault", userfault}, {"fanotify", by_fanotify}, {"pipe", full_pipe},
		{"sndbuf", sndbuf},	{"semop", by_semop},	{"relay", relay},
		{"prefault", prefault}};
	_exit(run_incident(kept, sizeof(kept) / sizeof(*kept), argc, argv));
}
