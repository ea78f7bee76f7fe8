/* linux.c - os.h on Linux. */
#ifdef __linux__
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* --- memory ------------------------------------------------------------------------------ */

void os_use_large_pages(void *p, size_t n)
{
	madvise(p, n, MADV_HUGEPAGE); /* refusal is harmless */
}

size_t os_allocated(void *p)
{
	return malloc_usable_size(p);
}

void os_return_freed(size_t size)
{
	mallopt(M_MMAP_THRESHOLD, (int)size);
}

int os_can_reserve(void)
{
	return 1;
}

void os_populate(void *p, size_t n)
{
#ifdef MADV_POPULATE_WRITE /* else, or if it fails, pages are allocated when they are touched \
			    */
	madvise(p, n, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)n;
#endif
}

void os_drop_pages(void *p, size_t n)
{
	madvise(p, n, MADV_DONTNEED);
}

void os_limit_memory(uint64_t bytes)
{
	struct rlimit now;
	if (getrlimit(RLIMIT_DATA, &now) || bytes >= now.rlim_cur)
		return;
	now.rlim_cur = (rlim_t)bytes;
	setrlimit(RLIMIT_DATA, &now);
}

/* This process's private memory in bytes, as RLIMIT_DATA counts it; 0: not known. */
static uint64_t data_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_limit_exceeded(uint64_t n)
{
	struct rlimit data;
	if (getrlimit(RLIMIT_DATA, &data) || data.rlim_cur == RLIM_INFINITY ||
	    data_bytes() + n <= data.rlim_cur)
		return 0;
	return data.rlim_cur;
}

int os_is_beyond_limit(void)
{
	return 0;
}

/* --- files ------------------------------------------------------------------------------- */

void *os_map(int fd, uint64_t n)
{
	void *p = MAP_FAILED;
	errno = EFBIG;
	if ((size_t)n == n)
		p = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

long os_read_at(int fd, void *buf, size_t n, uint64_t offset)
{
	return pread(fd, buf, n, (off_t)offset);
}

int os_map_is_copy(void)
{
	return 0;
}

void os_read_ahead(void *p, size_t n)
{
	madvise(p, n, MADV_SEQUENTIAL);
}

void os_unmap(const void *p, size_t n)
{
	munmap((void *)(uintptr_t)p, n);
}

int os_unnamed_file(const char *folder)
{
	return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int os_nameable_file(const char *folder, unsigned mode)
{
	return access("/proc/self/fd", X_OK)
		       ? -1
		       : open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, (mode_t)mode);
}

int os_name_file(int fd, const char *path)
{
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int os_paging_file(const char *folder)
{
	return os_unnamed_file(folder);
}

void *os_grow_paging(int fd, void *p, size_t had, size_t n)
{
	int failed;
	do
		failed = posix_fallocate(fd, 0, (off_t)n);
	while (failed == EINTR);
	if (failed) {
		errno = failed;
		return NULL;
	}
	p = had ? mremap(p, had, n, MREMAP_MAYMOVE)
		: mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	errno = ENOMEM;
	return p == MAP_FAILED ? NULL : p;
}

void os_punch(int fd, uint64_t from, uint64_t n)
{
	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)n);
}

static int is_pseudo(const struct statfs *fs)
{
	unsigned long type = (unsigned long)fs->f_type;
	return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == DEBUGFS_MAGIC ||
	       type == TRACEFS_MAGIC;
}

int os_is_pseudo(int fd)
{
	struct statfs fs;
	return !fstatfs(fd, &fs) && is_pseudo(&fs);
}

uint32_t os_generation(int fd)
{
	unsigned int generation; /* the kernel writes an int */
	return ioctl(fd, FS_IOC_GETVERSION, &generation) ? 0 : generation;
}

int64_t os_born_ns(int fd)
{
	struct statx x;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) || !(x.stx_mask & STATX_BTIME))
		return 0;
	return x.stx_btime.tv_sec * INT64_C(1000000000) + x.stx_btime.tv_nsec;
}

/* struct os_entry is getdents64(2)'s. */
long os_read_folder(int fd, char *list, size_t size)
{
	return syscall(SYS_getdents64, fd, list, size);
}

/* --- the process ------------------------------------------------------------------------- */

int os_random(void *p, size_t n)
{
	return getrandom(p, n, 0) == (ssize_t)n ? 0 : -1;
}

/* The random bytes that the kernel gives each process (auxv). */
uint64_t os_seed(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t x = 0;
	if (random)
		memcpy(&x, random, sizeof(x));
	return x;
}

uintptr_t os_vdso(void)
{
	return getauxval(AT_SYSINFO_EHDR);
}

int os_stack(size_t least, uint64_t *has)
{
	struct rlimit now;
	pthread_attr_t threads;
	if (getrlimit(RLIMIT_STACK, &now) || now.rlim_cur >= least)
		return 0;
	*has = now.rlim_cur;
	now.rlim_cur = (rlim_t)least;
	if (now.rlim_max < least || setrlimit(RLIMIT_STACK, &now))
		return -1;
	/* the C library has read the limit before */
	if (!pthread_getattr_default_np(&threads)) {
		if (!pthread_attr_setstacksize(&threads, least))
			pthread_setattr_default_np(&threads);
		pthread_attr_destroy(&threads);
	}
	return 0;
}

int os_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int os_counts_cycles(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_HW_CPU_CYCLES,
				    .exclude_kernel = 1,
				    .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	if (fd < 0)
		return 0;
	close((int)fd);
	return 1;
}

const char *os_without_processes(void)
{
	return NULL;
}
#endif
