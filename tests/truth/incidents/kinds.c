/*
 * kinds LOG KIND [FILE] - incidents of kinds that no rule named when they were written:
 *
 *	pool	    a pool of two connections, both of which `report` keeps for long
 *	eventloop   `server` runs the slow callback of another client, `batch`
 *	kdf	    a pool of four threads, all busy with key derivation for `login`
 *	child	    its own child, `helper`
 *	stopped     SIGSTOP, sent by `pauser`
 *	traced	    a ptrace stop, by `tracer`
 *	frozen	    a frozen control group; `freezer` freezes and thaws it
 *	yield	    a lock taken by trying and sched_yield(), held by `keeper`; `hog` has the CPU
 *	loader	    the loader's lock, held by `plugin` in dlopen of FILE
 *	truncate    the lock of a file's inode, held by `cutter` in ftruncate
 *	offset	    the lock of a shared descriptor's offset, held by `dumper` in read
 *	spin	    a spinlock in user space, whose holder `flusher` was preempted by `hog`
 *	readers	    a writer behind overlapping readers, `render`
 *	herd	    one broadcast of `ringer` wakes 40 threads, named front, which share two CPUs
 *	mqueue	    a full message queue, which `drain` empties slowly
 *	fifo	    the other end of a named pipe, which `opener` opens late
 */
#include "incident.h"

#include <dlfcn.h>
#include <mqueue.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static const char *file;

/* --- pool: a connection pool exhausted by one user ------------------------------------- */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_returned = PTHREAD_COND_INITIALIZER;
static int pool_free = 2;

NOINLINE static void pool_borrow(void)
{
	pthread_mutex_lock(&pool_lock);
	while (!pool_free)
		pthread_cond_wait(&pool_returned, &pool_lock);
	pool_free--;
	pthread_mutex_unlock(&pool_lock);
	STAY();
}

static void pool_return(void)
{
	pthread_mutex_lock(&pool_lock);
	pool_free++;
	pthread_cond_signal(&pool_returned);
	pthread_mutex_unlock(&pool_lock);
}

NOINLINE static void build_report(void)
{
	burn_ns(LONG * MS);
	STAY();
}

static void *report(void *arg)
{
	(void)arg;
	name_thread("report");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		pool_borrow();
		pool_borrow();
		build_report();
		pool_return();
		pool_return();
	}
	return NULL;
}

NOINLINE static void query(void)
{
	pool_borrow();
	burn_ns(50 * US);
	pool_return();
}

static void pool(void)
{
	start(report, NULL);
	requests(query, think);
}

/* --- eventloop: a server that runs another client's callback --------------------------- */

static int front_fd[2], batch_fd[2];

NOINLINE static void aggregate_rows(void)
{
	burn_ns(LONG * MS);
	STAY();
}

NOINLINE static void on_readable(int fd)
{
	char c;
	must(read(fd, &c, 1) == 1, "read");
	if (c == 'b')
		aggregate_rows();
	must(write(fd, "r", 1) == 1, "write");
}

static void *server(void *arg)
{
	struct epoll_event e[2] = {{.events = EPOLLIN, .data.fd = front_fd[1]},
				   {.events = EPOLLIN, .data.fd = batch_fd[1]}};
	int ep = epoll_create1(0);
	(void)arg;
	name_thread("server");
	epoll_ctl(ep, EPOLL_CTL_ADD, front_fd[1], &e[0]);
	epoll_ctl(ep, EPOLL_CTL_ADD, batch_fd[1], &e[1]);
	for (;;) {
		int n = epoll_wait(ep, e, 2, -1);
		for (int i = 0; i < n; i++)
			on_readable(e[i].data.fd);
	}
	return NULL;
}

static void *batch(void *arg)
{
	char c;
	(void)arg;
	name_thread("batch");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		must(write(batch_fd[0], "b", 1) == 1 && read(batch_fd[0], &c, 1) == 1, "batch");
	}
	return NULL;
}

NOINLINE static void call_server(void)
{
	char c;
	must(write(front_fd[0], "f", 1) == 1 && read(front_fd[0], &c, 1) == 1, "call");
	STAY();
}

static void eventloop(void)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, front_fd) &&
		     !socketpair(AF_UNIX, SOCK_STREAM, 0, batch_fd),
	     "socketpair");
	start(server, NULL);
	start(batch, NULL);
	requests(call_server, think);
}

/* --- kdf: a thread pool full of key derivation ----------------------------------------- */

struct job {
	int slow;
	sem_t done;
};
static struct job *jobs[64];
static int njobs;
static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_there = PTHREAD_COND_INITIALIZER;

NOINLINE static void derive_key(void)
{
	burn_ns(15 * MS);
	STAY();
}

NOINLINE static void *pool_worker(void *arg)
{
	(void)arg;
	name_thread("pool-worker");
	for (;;) {
		pthread_mutex_lock(&jobs_lock);
		while (!njobs)
			pthread_cond_wait(&jobs_there, &jobs_lock);
		struct job *j = jobs[0];
		memmove(jobs, jobs + 1, (size_t)--njobs * sizeof(*jobs));
		pthread_mutex_unlock(&jobs_lock);
		if (j->slow)
			derive_key();
		sem_post(&j->done);
	}
	return NULL;
}

static void submit(struct job *j, int slow)
{
	j->slow = slow;
	sem_init(&j->done, 0, 0);
	pthread_mutex_lock(&jobs_lock);
	jobs[njobs++] = j;
	pthread_cond_signal(&jobs_there);
	pthread_mutex_unlock(&jobs_lock);
}

static void *login(void *arg)
{
	struct job j[4];
	(void)arg;
	name_thread("login");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		for (int i = 0; i < 4; i++)
			submit(&j[i], 1);
		for (int i = 0; i < 4; i++)
			sem_wait(&j[i].done);
	}
	return NULL;
}

NOINLINE static void look_up_file(void)
{
	struct job j;
	submit(&j, 0);
	while (sem_wait(&j.done))
		;
	STAY();
}

static void kdf(void)
{
	for (int i = 0; i < 4; i++)
		start(pool_worker, NULL);
	start(login, NULL);
	requests(look_up_file, think);
}

/* --- child ----------------------------------------------------------------------------- */

static int turn;

NOINLINE static void convert(void)
{
	burn_ns(25 * MS);
	STAY();
}

NOINLINE static void run_helper(void)
{
	if (++turn % 15)
		return;
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		name_thread("helper");
		convert();
		_exit(0);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	STAY();
}

static void child(void)
{
	requests(run_helper, think);
}

/* --- stops: by another process --------------------------------------------------------- */

NOINLINE static void compute(void)
{
	burn_ns(4 * MS);
	STAY();
}

static void other_process(const char *name, void (*f)(pid_t))
{
	pid_t front = getpid();
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_thread(name);
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		f(front);
	}
	_exit(0);
}

static void pause_it(pid_t pid)
{
	kill(pid, SIGSTOP);
	sleep_ns(LONG * MS);
	kill(pid, SIGCONT);
}

static void stopped(void)
{
	other_process("pauser", pause_it);
	requests(compute, think);
}

static void trace_it(pid_t pid)
{
	ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	waitpid(pid, NULL, __WALL);
	sleep_ns(LONG * MS);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static void traced(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	other_process("tracer", trace_it);
	requests(compute, think);
}

static char group[128];

static void write_to(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", group, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

static int version;

static void freeze_it(pid_t pid)
{
	(void)pid;
	write_to(version == 2 ? "cgroup.freeze" : "freezer.state", version == 2 ? "1" : "FROZEN");
	sleep_ns(LONG * MS);
	write_to(version == 2 ? "cgroup.freeze" : "freezer.state", version == 2 ? "0" : "THAWED");
}

static void frozen(void)
{
	static const char *const at[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup",
					 "/sys/fs/cgroup/freezer"};
	char pid[16];
	for (int i = 0; i < 3 && !version; i++) {
		snprintf(group, sizeof(group), "%s/kinds-%d", at[i], getpid());
		if (mkdir(group, 0755))
			continue;
		char path[256];
		snprintf(path, sizeof(path), "%s/%s", group, "cgroup.freeze");
		version = !access(path, W_OK) ? 2 : i == 2 ? 1 : 0;
		if (!version)
			rmdir(group);
	}
	if (!version)
		exit(77);
	other_process("freezer", freeze_it);
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_to("cgroup.procs", pid);
	requests(compute, think);
}

/* --- yield ----------------------------------------------------------------------------- */

static atomic_int word;

NOINLINE static void take_by_yielding(void)
{
	int zero = 0;
	while (!atomic_compare_exchange_strong(&word, &zero, 1)) {
		sched_yield();
		zero = 0;
	}
	STAY();
}

NOINLINE static void write_segment(void)
{
	sleep_ns(LONG * MS);
	STAY();
}

static void *keeper(void *arg)
{
	(void)arg;
	name_thread("keeper");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		take_by_yielding();
		write_segment();
		atomic_store(&word, 0);
	}
	return NULL;
}

static void hog(const char *name)
{
	pid_t pid = fork();
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_thread(name);
	pin_to(0);
	while (goes_on())
		burn_ns(MS);
	_exit(0);
}

NOINLINE static void append(void)
{
	take_by_yielding();
	atomic_store(&word, 0);
	STAY();
}

static void yield(void)
{
	hog("hog");
	pin_to(0);
	start(keeper, NULL);
	requests(append, think);
}

/* --- loader ---------------------------------------------------------------------------- */

static void *plugin(void *arg)
{
	(void)arg;
	name_thread("plugin");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		void *h = dlopen(file, RTLD_NOW);
		must(h != NULL, "dlopen");
		dlclose(h);
	}
	return NULL;
}

NOINLINE static void find_codec(void)
{
	void *h = dlopen("libm.so.6", RTLD_NOW);
	if (h)
		dlclose(h);
	STAY();
}

static void loader(void)
{
	start(plugin, NULL);
	requests(find_codec, think);
}

/* --- truncate, offset ------------------------------------------------------------------ */

enum { BIG = 128 << 20 };
static int shared_fd;
static char *buffer;

static void big_file(void)
{
	char name[64];
	snprintf(name, sizeof(name), "/dev/shm/kinds-%d", getpid());
	shared_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(shared_fd >= 0, name);
	unlink(name);
	buffer = malloc(BIG);
	memset(buffer, 1, BIG);
	until = now_ns() + 1500 * (uint64_t)MS;
}

NOINLINE static void cut_log(void)
{
	must(!ftruncate(shared_fd, 0), "ftruncate");
	STAY();
}

static void *cutter(void *arg)
{
	(void)arg;
	name_thread("cutter");
	while (goes_on()) {
		for (size_t at = 0; at < BIG && goes_on(); at += 1 << 20)
			must(pwrite(shared_fd, buffer, 1 << 20, (off_t)at) == 1 << 20, "pwrite");
		cut_log();
	}
	return NULL;
}

NOINLINE static void append_line(void)
{
	must(pwrite(shared_fd, "line", 4, 0) == 4, "pwrite");
	STAY();
}

static void truncated(void)
{
	big_file();
	start(cutter, NULL);
	requests(append_line, think);
}

NOINLINE static void dump_file(void)
{
	must(read(shared_fd, buffer, BIG) >= 0, "read");
	STAY();
}

static void *dumper(void *arg)
{
	(void)arg;
	name_thread("dumper");
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		lseek(shared_fd, 0, SEEK_SET);
		dump_file();
	}
	return NULL;
}

NOINLINE static void next_record(void)
{
	char c;
	must(read(shared_fd, &c, 1) >= 0, "read");
	STAY();
}

static void offset(void)
{
	big_file();
	must(write(shared_fd, buffer, BIG) == BIG, "write");
	until = now_ns() + 1500 * (uint64_t)MS;
	start(dumper, NULL);
	requests(next_record, think);
}

/* --- spin ------------------------------------------------------------------------------ */

NOINLINE static void spin_lock(void)
{
	int zero = 0;
	while (!atomic_compare_exchange_weak(&word, &zero, 1)) {
		for (volatile int i = 0; i < 50; i++)
			;
		zero = 0;
	}
	STAY();
}

static void *flusher(void *arg)
{
	(void)arg;
	name_thread("flusher");
	pin_to(0);
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		spin_lock();
		burn_ns(10 * MS);
		atomic_store(&word, 0);
	}
	return NULL;
}

NOINLINE static void update_counter(void)
{
	spin_lock();
	burn_ns(20 * US);
	atomic_store(&word, 0);
	STAY();
}

static void spin(void)
{
	hog("hog");
	hog("hog");
	start(flusher, NULL);
	pin_to(1);
	requests(update_counter, think);
}

/* --- readers --------------------------------------------------------------------------- */

static pthread_rwlock_t scene = PTHREAD_RWLOCK_INITIALIZER;

NOINLINE static void draw(void)
{
	sleep_ns(12 * MS);
	STAY();
}

static void *render(void *arg)
{
	sleep_ns((uint64_t)(intptr_t)arg * 5 * MS);
	name_thread("render");
	for (int i = 0; goes_on(); i++) {
		pthread_rwlock_rdlock(&scene);
		draw();
		pthread_rwlock_unlock(&scene);
		sleep_ns(i % 8 == 7 ? 10 * MS : 500 * US);
	}
	return NULL;
}

NOINLINE static void update_scene(void)
{
	pthread_rwlock_wrlock(&scene);
	burn_ns(20 * US);
	pthread_rwlock_unlock(&scene);
	STAY();
}

static void readers(void)
{
	for (intptr_t i = 0; i < 3; i++)
		start(render, (void *)i);
	requests(update_scene, think);
}

/* --- herd ------------------------------------------------------------------------------ */

static pthread_mutex_t bell_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int rings;

NOINLINE static void serve_ring(void)
{
	burn_ns(MS);
	STAY();
}

static void *waits_for_bell(void *arg)
{
	int seen = 0;
	(void)arg;
	name_thread("front");
	while (goes_on()) {
		pthread_mutex_lock(&bell_lock);
		while (seen == rings)
			pthread_cond_wait(&bell, &bell_lock);
		seen = rings;
		pthread_mutex_unlock(&bell_lock);
		serve_ring();
	}
	return NULL;
}

static void herd(void)
{
	name_thread("ringer");
	for (int i = 0; i < 40; i++)
		start(waits_for_bell, NULL);
	while (goes_on()) {
		sleep_ns(EVERY * MS);
		pthread_mutex_lock(&bell_lock);
		rings++;
		pthread_cond_broadcast(&bell);
		pthread_mutex_unlock(&bell_lock);
	}
}

/* --- mqueue, fifo ---------------------------------------------------------------------- */

static mqd_t queue;

NOINLINE static void store_message(void)
{
	sleep_ns(LONG * MS);
	STAY();
}

static void *drain(void *arg)
{
	char text[64];
	(void)arg;
	name_thread("drain");
	for (int i = 0;; i++) {
		must(mq_receive(queue, text, sizeof(text), NULL) >= 0, "mq_receive");
		if (i % 20 == 19)
			store_message();
	}
}

NOINLINE static void post_message(void)
{
	must(!mq_send(queue, "message", 8, 0), "mq_send");
	STAY();
}

static void mqueue(void)
{
	struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 64};
	char name[64];
	snprintf(name, sizeof(name), "/kinds-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attr);
	must(queue != (mqd_t)-1, "mq_open");
	mq_unlink(name);
	start(drain, NULL);
	requests(post_message, think);
}

static char fifo_name[64];

static void *opener(void *arg)
{
	(void)arg;
	name_thread("opener");
	for (int i = 0;; i++) {
		if (i % 15 == 14)
			store_message();
		int fd = open(fifo_name, O_RDONLY | O_CLOEXEC);
		must(fd >= 0, "open");
		char c;
		while (read(fd, &c, 1) > 0)
			;
		close(fd);
	}
}

NOINLINE static void deliver(void)
{
	int fd = open(fifo_name, O_WRONLY | O_CLOEXEC);
	must(fd >= 0, "open");
	close(fd);
	STAY();
}

static void fifo(void)
{
	snprintf(fifo_name, sizeof(fifo_name), "/tmp/kinds-%d", getpid());
	must(!mkfifo(fifo_name, 0600), fifo_name);
	start(opener, NULL);
	requests(deliver, think);
	unlink(fifo_name);
}

int main(int argc, char **argv)
{
	static const struct incident kinds[] = {
		{"pool", pool},		 {"eventloop", eventloop}, {"kdf", kdf},
		{"child", child},	 {"stopped", stopped},	   {"traced", traced},
		{"frozen", frozen},	 {"yield", yield},	   {"loader", loader},
		{"truncate", truncated}, {"offset", offset},	   {"spin", spin},
		{"readers", readers},	 {"herd", herd},	   {"mqueue", mqueue},
		{"fifo", fifo}};
	file = argc > 3 ? argv[3] : "";
	int status = run_incident(kinds, sizeof(kinds) / sizeof(*kinds), argc, argv);
	if (*group)
		rmdir(group);
	_exit(status);
}
