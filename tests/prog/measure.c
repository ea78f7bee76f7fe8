/*
 * measure COMMAND... - run it and write one line to stderr-like descriptor 3: wall seconds, CPU
 * seconds (children included), peak resident KiB, peak private (anonymous) KiB of the process
 * itself, exit status. Private memory is polled every 2 ms from /proc/PID/status, since a
 * mapped file counts as resident but costs nothing that was not there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long private_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			kib = strtol(line + 8, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	long peak = 0;
	int status;
	struct rusage u;
	if (argc < 2)
		return 2;
	double start = now();
	pid_t pid = fork(), got;
	if (pid < 0)
		return 1;
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (!(got = wait4(pid, &status, WNOHANG, &u))) {
		long kib = private_kib(pid);
		peak = kib > peak ? kib : peak;
		usleep(2000);
	}
	double wall = now() - start;
	double cpu = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
		     (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	dprintf(3, "%.3f %.3f %ld %ld %d\n", wall, cpu, u.ru_maxrss, peak,
		got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 255);
	return 0;
}
