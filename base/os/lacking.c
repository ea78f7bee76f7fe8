#if defined(__EMSCRIPTEN__) || defined(__APPLE__)
#include "base/os/lacking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __EMSCRIPTEN__
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what has no meaning without a kernel ------------------------------------------------- */

/* Nobody else is there to hold it. */
int flock(int fd, int operation)
{
	(void)fd;
	(void)operation;
	return 0;
}

static int lacks(void)
{
	errno = ENOSYS;
	return -1;
}

pid_t fork(void)
{
	return lacks();
}

int execve(const char *path, char *const argv[], char *const env[])
{
	(void)path, (void)argv, (void)env;
	return lacks();
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	(void)pid, (void)status, (void)options, (void)usage;
	return lacks();
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	(void)type, (void)id, (void)info, (void)options;
	return lacks();
}

int pipe2(int fd[2], int flags)
{
	(void)fd, (void)flags;
	return lacks();
}

int mount(const char *what, const char *where, const char *type, unsigned long flags,
	  const void *data)
{
	(void)what, (void)where, (void)type, (void)flags, (void)data;
	return lacks();
}

int prctl(int option, ...)
{
	(void)option;
	return lacks();
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long tos,
			 const struct iovec *from, unsigned long froms, unsigned long flags)
{
	(void)pid, (void)to, (void)tos, (void)from, (void)froms, (void)flags;
	return lacks();
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid, (void)size, (void)set;
	return lacks();
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid, (void)size, (void)set;
	return lacks();
}

int __sched_cpucount(size_t size, const cpu_set_t *set)
{
	(void)size, (void)set;
	return 0;
}

#endif

/* A file that keeps its name: emscripten's dup2 opens it by that again. Where $TMPDIR is in
 * memory, it goes with the process. */
int memfd_create(const char *name, unsigned flags)
{
	static unsigned count;
	char path[4096];
	const char *folder = getenv("TMPDIR");
	(void)flags;
	snprintf(path, sizeof(path), "%s/%s.%u", folder && *folder ? folder : "/tmp", name,
		 count++);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0) {
		close(fd);
		fd = open(path, O_RDWR);
	}
	return fd;
}

#ifdef __APPLE__
int lacking_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
			   const struct timespec *deadline)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t left = (int64_t)(deadline->tv_sec - now.tv_sec) * 1000000000 +
		       (deadline->tv_nsec - now.tv_nsec);
	left = left > 0 ? left : 0;
	now = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
	return pthread_cond_timedwait_relative_np(cond, lock, &now);
}

void *memrchr(const void *p, int c, size_t n)
{
	const char *s = p;
	while (n && s[n - 1] != (char)c)
		n--;
	return n ? (void *)(uintptr_t)(s + n - 1) : NULL;
}

struct cookie {
	void *cookie;
	cookie_io_functions_t functions;
};

static int cookie_write(void *of, const char *p, int n)
{
	struct cookie *c = of;
	return (int)c->functions.write(c->cookie, p, (size_t)n);
}

static int cookie_close(void *of)
{
	free(of);
	return 0;
}

FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
	struct cookie *c = malloc(sizeof(*c));
	(void)mode;
	if (!c)
		return NULL;
	*c = (struct cookie){cookie, functions};
	FILE *f = funopen(c, NULL, cookie_write, NULL, cookie_close);
	if (!f)
		free(c);
	return f;
}
#endif

/* --- sorting ----------------------------------------------------------------------------- */

typedef int (*compare_fn)(const void *, const void *, void *);

static void merge_sort(char *v, size_t n, size_t size, compare_fn cmp, void *ctx, char *spare)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, at = 0;
	merge_sort(v, half, size, cmp, ctx, spare);
	merge_sort(v + half * size, n - half, size, cmp, ctx, spare);
	if (cmp(v + (half - 1) * size, v + half * size, ctx) <= 0)
		return;
	memcpy(spare, v, half * size);
	while (i < half && j < n) {
		int left = cmp(spare + i * size, v + j * size, ctx) <= 0;
		memmove(v + at++ * size, left ? spare + i++ * size : v + j++ * size, size);
	}
	memcpy(v + at * size, spare + i * size, (half - i) * size);
}

/* Without memory to merge in: slow, and as stable. */
static void insertion_sort(char *v, size_t n, size_t size, compare_fn cmp, void *ctx)
{
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j && cmp(v + (j - 1) * size, v + j * size, ctx) > 0; j--)
			for (size_t k = 0; k < size; k++) {
				char x = v[j * size + k];
				v[j * size + k] = v[(j - 1) * size + k];
				v[(j - 1) * size + k] = x;
			}
}

void qsort_r(void *v, size_t n, size_t size, compare_fn cmp, void *ctx)
{
	char few[4096], *spare = few;
	size_t bytes = n / 2 * size;
	if (bytes > sizeof(few))
		spare = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	if (spare == MAP_FAILED)
		insertion_sort(v, n, size, cmp, ctx);
	else
		merge_sort(v, n, size, cmp, ctx, spare);
	if (spare != few && spare != MAP_FAILED)
		munmap(spare, bytes);
}

static int without_context(const void *a, const void *b, void *cmp)
{
	return (*(int (**)(const void *, const void *))cmp)(a, b);
}

void qsort(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	qsort_r(v, n, size, without_context, &cmp);
}
#endif
