/*
 * kinds LOG - what the kernel's and the user's pairs of events tell, each a known number of times:
 * two threads write the same file (the inode's lock is contended, the block device works), 31
 * fsyncs; 61 jobs between USDT probes shop:job_start and shop:job_done, each in handle_job(id).
 * LOG: "fsync TID START_NS END_NS", "job TID START_NS END_NS" on CLOCK_MONOTONIC.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FSYNCS = 31, JOBS = 61, BLOCK = 1 << 18 };

static struct line {
	const char *kind;
	int tid;
	uint64_t start, end;
} lines[FSYNCS + JOBS];
static int file;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void handle_job(int id)
{
	struct timespec t = {0, 200000 + id % 7 * 100000};
	nanosleep(&t, NULL);
	__asm__ volatile("" ::"r"(id));
}

static void *jobs(void *arg)
{
	for (int i = 0; i < JOBS; i++) {
		uint64_t t = now_ns();
		DTRACE_PROBE1(shop, job_start, i);
		handle_job(i);
		DTRACE_PROBE1(shop, job_done, i);
		lines[FSYNCS + i] = (struct line){"job", gettid(), t, now_ns()};
	}
	return arg;
}

static void *writes(void *arg)
{
	static char block[BLOCK];
	for (int i = 0; i < FSYNCS; i++)
		if (pwrite(file, block, BLOCK, 0) < 0)
			exit(1);
	return arg;
}

int main(int argc, char **argv)
{
	static char block[BLOCK];
	pthread_t t[2];
	if (argc < 2 || (file = open("kinds.tmp", O_CREAT | O_RDWR, 0600)) < 0)
		return 1;
	unlink("kinds.tmp");
	pthread_create(&t[0], NULL, jobs, NULL);
	pthread_create(&t[1], NULL, writes, NULL);
	for (int i = 0; i < FSYNCS; i++) {
		if (pwrite(file, block, BLOCK / 8, (off_t)i * BLOCK) < 0)
			return 1;
		uint64_t at = now_ns();
		fsync(file);
		lines[i] = (struct line){"fsync", gettid(), at, now_ns()};
	}
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	FILE *f = fopen(argv[1], "w");
	for (int i = 0; f && i < FSYNCS + JOBS; i++)
		fprintf(f, "%s %d %llu %llu\n", lines[i].kind, lines[i].tid,
			(unsigned long long)lines[i].start, (unsigned long long)lines[i].end);
	return !f || fclose(f);
}
