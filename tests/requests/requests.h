/*
 * requests.h - what the programs of this folder share. Each serves or sends requests in one
 * known way and logs when a thread waited for something that a request needs ("request"), and
 * when it waited for work ("idle"), on CLOCK_MONOTONIC. A tool that hides idle waits must not
 * hide any of the first. A wait for work is over when the work is there, or the time of a pause
 * is up: whatever keeps a thread after that (the queue's lock, the GIL, a safepoint) is delay,
 * and logged as neither.
 *
 *	PROGRAM LOG [--seconds S] [--unnamed] [options]
 *
 * --unnamed leaves all threads with the program's name. A second process writes LOG.NAME.
 */
#ifndef TESTS_REQUESTS_H
#define TESTS_REQUESTS_H

#include "../truth/truth.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static uint64_t requests_until;

static inline void requests_begin(int argc, char **argv, const char *name)
{
	const char *seconds;
	truth_begin(argc, argv, name);
	seconds = truth_option("--seconds");
	requests_until = now_ns() + (uint64_t)((seconds ? atof(seconds) : 1) * 1e9);
}

static inline int more_requests(void)
{
	return now_ns() < requests_until;
}

/* The thread's name, which a tool must not need. */
static inline void role(const char *name)
{
	if (!truth_option("--unnamed"))
		name_thread(name);
}

/* "idle" from `since` until `work_came`; until now where nothing came. */
static inline void idle_until(uint64_t since, uint64_t work_came)
{
	uint64_t now = now_ns();
	truth("idle", since, work_came > since && work_came < now ? work_came : now);
}

static inline void pause_logged(uint64_t ns)
{
	uint64_t t = now_ns();
	sleep_ns(ns);
	idle_until(t, t + ns);
}

/* A cheap source of uneven work, the same in every run. */
static inline uint64_t uneven_ns(unsigned int *state, uint64_t most)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 16) % most;
}

static inline void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* In a new process, which ends with its parent: its own, empty log LOG.NAME, written on
 * SIGTERM. */
static inline void child_stop(int sig)
{
	(void)sig;
	atomic_store(&truth_stop, 1);
}

static inline void child_begin(const char *name)
{
	static char path[4096];
	struct sigaction stop = {.sa_handler = child_stop};
	snprintf(path, sizeof(path), "%s.%s", truth_log, name);
	truth_log = path;
	atomic_store(&truth_n, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &stop, NULL); /* no SA_RESTART: it ends the wait */
}

static inline int listen_on_loopback(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*address = (struct sockaddr_in){.sin_family = AF_INET};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) ||
	    listen(fd, 64) || getsockname(fd, (struct sockaddr *)address, &size))
		fail("listen");
	return fd;
}

static inline int connect_to(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		fail("connect");
	return fd;
}

#endif
