/*
 * server LOG [--how epoll|threads|prefork|uring] - a server of one kind with three clients in a
 * process of their own, over TCP. "request": a client, from its question to its answer; "idle":
 * the server waiting for a question or a connection, a client thinking.
 *
 * A question is one byte, so is its answer; some take 5 ms of sleep, the server's "disk".
 */
#include "requests.h"

#include <linux/io_uring.h>
#include <sys/epoll.h>
#include <sys/mman.h>

enum { CLIENTS = 3 };

NOINLINE static void serve_one(int fd, char question)
{
	burn_ns(40 * US);
	if (question % 8 == 5)
		sleep_ns(5 * MS);
	if (send(fd, &question, 1, MSG_NOSIGNAL) != 1)
		atomic_store(&truth_stop, 1);
}

/* --- one thread, epoll ------------------------------------------------------------------- */

static void watch(int ep, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

NOINLINE static void on_ready(int ep, int listening, int fd)
{
	char question;
	if (fd == listening)
		watch(ep, accept(listening, NULL, NULL));
	else if (recv(fd, &question, 1, 0) == 1)
		serve_one(fd, question);
	else
		close(fd);
}

NOINLINE static void serve_epoll(int listening)
{
	struct epoll_event e;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	watch(ep, listening);
	while (!atomic_load(&truth_stop)) {
		uint64_t t = now_ns();
		int n = epoll_wait(ep, &e, 1, -1);
		truth("idle", t, now_ns());
		if (n > 0)
			on_ready(ep, listening, e.data.fd);
	}
}

/* --- a thread for each connection, or a process --------------------------------------- */

NOINLINE static void serve_connection(int fd)
{
	char question;
	for (;;) {
		uint64_t t = now_ns();
		ssize_t n = recv(fd, &question, 1, 0);
		truth("idle", t, now_ns());
		if (n != 1)
			break;
		serve_one(fd, question);
	}
	close(fd);
}

static void *connection(void *arg)
{
	role("connection");
	serve_connection((int)(uintptr_t)arg);
	return NULL;
}

NOINLINE static int wait_for_client(int listening)
{
	uint64_t t = now_ns();
	int fd = accept(listening, NULL, NULL);
	truth("idle", t, now_ns());
	return fd;
}

NOINLINE static void serve_threads(int listening)
{
	int fd;
	while ((fd = wait_for_client(listening)) >= 0)
		pthread_detach(start(connection, (void *)(uintptr_t)fd));
}

NOINLINE static void serve_process(int listening)
{
	int fd;
	while (!atomic_load(&truth_stop) && (fd = wait_for_client(listening)) >= 0)
		serve_connection(fd);
}

static void serve_prefork(int listening)
{
	pid_t pid[CLIENTS];
	for (int i = 0; i < CLIENTS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%d", i);
		pid[i] = fork();
		if (pid[i] == 0) {
			child_begin(name);
			serve_process(listening);
			truth_write();
			_exit(0);
		}
	}
	while (!atomic_load(&truth_stop))
		pause_logged(1000 * (uint64_t)MS);
	for (int i = 0; i < CLIENTS; i++)
		kill(pid[i], SIGTERM);
	while (wait(NULL) > 0)
		;
}

/* --- io_uring: one receive in flight for each connection ------------------------------ */

struct ring {
	int fd;
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
	unsigned int queued;
};

static void ring_open(struct ring *r)
{
	r->fd = (int)syscall(SYS_io_uring_setup, 8, &r->p);
	if (r->fd < 0) {
		fprintf(stderr, "no io_uring here\n");
		_exit(77);
	}
	r->sq = mmap(NULL, r->p.sq_off.array + r->p.sq_entries * 4, PROT_READ | PROT_WRITE,
		     MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->cq = mmap(NULL, r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE,
		       MAP_SHARED, r->fd, IORING_OFF_SQES);
}

static void ring_add(struct ring *r, int op, int fd, void *buf, unsigned int len)
{
	atomic_uint *tail = (atomic_uint *)(void *)(r->sq + r->p.sq_off.tail);
	unsigned int i = atomic_load(tail) & (r->p.sq_entries - 1);
	r->sqes[i] = (struct io_uring_sqe){.opcode = (unsigned char)op,
					   .fd = fd,
					   .addr = (uintptr_t)buf,
					   .len = len,
					   .user_data = (unsigned int)fd};
	((unsigned int *)(void *)(r->sq + r->p.sq_off.array))[i] = i;
	atomic_fetch_add(tail, 1);
	r->queued++;
}

/* The next completion's descriptor and result; submits what was added. */
NOINLINE static int ring_wait(struct ring *r, int *result)
{
	atomic_uint *head = (atomic_uint *)(void *)(r->cq + r->p.cq_off.head);
	atomic_uint *tail = (atomic_uint *)(void *)(r->cq + r->p.cq_off.tail);
	struct io_uring_cqe *cqes = (void *)(r->cq + r->p.cq_off.cqes), *c;
	uint64_t t = now_ns();
	int fd;
	long n = syscall(SYS_io_uring_enter, r->fd, r->queued,
			 atomic_load(head) == atomic_load(tail), IORING_ENTER_GETEVENTS, NULL,
			 0);
	truth("idle", t, now_ns());
	if (n >= 0)
		r->queued -= (unsigned int)n;
	if (atomic_load(head) == atomic_load(tail))
		return -1;
	c = &cqes[atomic_load(head) & (r->p.cq_entries - 1)];
	fd = (int)c->user_data, *result = c->res;
	atomic_fetch_add(head, 1);
	return fd;
}

NOINLINE static void serve_uring(int listening)
{
	static char questions[1024];
	struct ring r = {0};
	int result, fd;
	ring_open(&r);
	ring_add(&r, IORING_OP_ACCEPT, listening, NULL, 0);
	while (!atomic_load(&truth_stop) && (fd = ring_wait(&r, &result)) >= 0) {
		if (fd == listening) {
			ring_add(&r, IORING_OP_ACCEPT, listening, NULL, 0);
			fd = result;
		} else if (result == 1) {
			serve_one(fd, questions[fd % 1024]);
		} else {
			continue;
		}
		ring_add(&r, IORING_OP_RECV, fd, &questions[fd % 1024], 1);
	}
}

/* --- the clients ---------------------------------------------------------------------- */

static struct sockaddr_in address;

NOINLINE static void ask(int fd, char n)
{
	uint64_t t = now_ns();
	if (send(fd, &n, 1, MSG_NOSIGNAL) != 1 || recv(fd, &n, 1, 0) != 1)
		fail("ask");
	truth("request", t, now_ns());
}

static void *client(void *arg)
{
	int fd = connect_to(&address);
	role("client");
	for (char n = (char)(uintptr_t)arg; more_requests(); n = (char)((n + 1) & 63)) {
		ask(fd, n);
		pause_logged(300 * US);
	}
	close(fd);
	return NULL;
}

static void serve(const char *how, int listening)
{
	child_begin("server");
	role("server");
	if (!strcmp(how, "epoll"))
		serve_epoll(listening);
	else if (!strcmp(how, "threads"))
		serve_threads(listening);
	else if (!strcmp(how, "prefork"))
		serve_prefork(listening);
	else
		serve_uring(listening);
	truth_write();
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t t[CLIENTS];
	int listening, status;
	pid_t pid;
	requests_begin(argc, argv, "server");
	listening = listen_on_loopback(&address);
	pid = fork();
	if (pid == 0)
		serve(truth_option("--how") ? truth_option("--how") : "epoll", listening);
	for (int i = 0; i < CLIENTS; i++)
		t[i] = start(client, (void *)(uintptr_t)(3 * i));
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(t[i], NULL);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	truth_write();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
