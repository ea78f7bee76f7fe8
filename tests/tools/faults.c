/*
 * faults.c - LD_PRELOAD: faults that cannot be had otherwise, of a disk on files whose path
 * holds $FAULT_FILE.
 *
 *	FAULT=read      reading it fails with EIO, by read(2) and pread(2) and because
 *			mapping it does
 *	FAULT=shrink    it is cut to one page when it has been mapped
 *	FAULT=short     pread(2) gives it in pieces, and is interrupted now and then
 *	FAULT=threads   there are no more threads to be had
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_meant(int fd)
{
	char self[64], path[4096];
	const char *file = getenv("FAULT_FILE");
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(self, path, sizeof(path) - 1);
	if (n <= 0 || !file)
		return 0;
	path[n] = '\0';
	return strstr(path, file) != NULL;
}

static int fault_is(const char *what)
{
	const char *fault = getenv("FAULT");
	return fault && !strcmp(fault, what);
}

static int read_fails(int fd)
{
	if (!fault_is("read") || !is_meant(fd))
		return 0;
	errno = EIO;
	return 1;
}

ssize_t read(int fd, void *p, size_t n)
{
	ssize_t (*real)(int, void *, size_t);
	*(void **)&real = dlsym(RTLD_NEXT, "read");
	return read_fails(fd) ? -1 : real(fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	ssize_t (*real)(int, void *, size_t, off_t);
	*(void **)&real = dlsym(RTLD_NEXT, "pread");
	if (fault_is("short") && is_meant(fd)) {
		if (at % 3 == 1) {
			static _Thread_local int interrupted;
			errno = EINTR;
			if ((interrupted ^= 1))
				return -1;
		}
		n = n > 4097 ? 4097 : n;
	}
	return read_fails(fd) ? -1 : real(fd, p, n, at);
}

ssize_t pread64(int fd, void *p, size_t n, off_t at)
{
	return pread(fd, p, n, at);
}

void *mmap(void *where, size_t n, int prot, int flags, int fd, off_t at)
{
	void *(*real)(void *, size_t, int, int, int, off_t);
	*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	if (fd >= 0 && read_fails(fd))
		return MAP_FAILED;
	void *p = real(where, n, prot, flags, fd, at);
	if (fd >= 0 && fault_is("shrink") && is_meant(fd)) {
		char self[64];
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		int self_fd = open(self, O_WRONLY | O_CLOEXEC);
		if (self_fd < 0 || ftruncate(self_fd, 4096))
			abort();
		close(self_fd);
	}
	return p;
}

void *mmap64(void *where, size_t n, int prot, int flags, int fd, off_t at)
{
	return mmap(where, n, prot, flags, fd, at);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
		   void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return fault_is("threads") ? EAGAIN : real(thread, attr, run, arg);
}
