/*
 * portable.c - os.h where the system is not Linux: POSIX, and WebAssembly, whose memory is one
 * array that only grows, whose mappings are copies, and which has one process and one thread.
 */
#ifndef __linux__
#include "base/os/landlock.h"
#include "base/os/os.h"
#include "base/os/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- memory ------------------------------------------------------------------------------ */

void os_use_large_pages(void *p, size_t n)
{
	(void)p;
	(void)n;
}

size_t os_allocated(void *p)
{
	(void)p;
	return 0;
}

void os_return_freed(size_t size)
{
	(void)size;
}

int os_can_reserve(void)
{
	return 0;
}

void os_populate(void *p, size_t n)
{
	(void)p;
	(void)n;
}

void os_drop_pages(void *p, size_t n)
{
	(void)p;
	(void)n;
}

static uint64_t limit;

void os_limit_memory(uint64_t bytes)
{
	limit = bytes;
}

/* What this process has; 0: not known. */
static uint64_t data_bytes(void)
{
#ifdef __EMSCRIPTEN__
	return (uintptr_t)sbrk(0);
#else
	return 0;
#endif
}

uint64_t os_limit_exceeded(uint64_t n)
{
	return limit && data_bytes() + n > limit ? limit : 0;
}

int os_is_beyond_limit(void)
{
	return limit && data_bytes() > limit;
}

/* --- files ------------------------------------------------------------------------------- */

#ifdef __EMSCRIPTEN__
/* emscripten's pread knows 31 bits of an offset; nobody else reads at the descriptor's place. */
long os_read_at(int fd, void *buf, size_t n, uint64_t offset)
{
	return lseek(fd, (off_t)offset, SEEK_SET) < 0 ? -1 : (long)read(fd, buf, n);
}

/* Not every file system of emscripten's can map; all can read. */
void *os_map(int fd, uint64_t n)
{
	size_t at = 0;
	errno = EFBIG;
	if ((size_t)n != n || n > SIZE_MAX / 2)
		return NULL;
	char *p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (p == MAP_FAILED)
		return NULL;
	while (at < n) {
		enum { PIECE = 16 << 20 };
		size_t want = n - at < PIECE ? (size_t)n - at : PIECE;
		long got = os_read_at(fd, p + at, want, at);
		if (got < 0) {
			munmap(p, (size_t)n);
			return NULL;
		}
		if (!got)
			break;
		at += (size_t)got;
	}
	return p;
}

int os_map_is_copy(void)
{
	return 1;
}
#else
long os_read_at(int fd, void *buf, size_t n, uint64_t offset)
{
	return pread(fd, buf, n, (off_t)offset);
}

void *os_map(int fd, uint64_t n)
{
	void *p = MAP_FAILED;
	errno = EFBIG;
	if ((size_t)n == n)
		p = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int os_map_is_copy(void)
{
	return 0;
}
#endif

void os_read_ahead(void *p, size_t n)
{
	(void)p;
	(void)n;
}

void os_unmap(const void *p, size_t n)
{
	munmap((void *)(uintptr_t)p, n);
}

int os_unnamed_file(const char *folder)
{
	char path[4096];
	if (snprintf(path, sizeof(path), "%s/perfkit.XXXXXX", folder) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int os_nameable_file(const char *folder, unsigned mode)
{
	(void)folder;
	(void)mode;
	errno = ENOTSUP;
	return -1;
}

int os_name_file(int fd, const char *path)
{
	(void)fd;
	(void)path;
	errno = ENOTSUP;
	return -1;
}

int os_paging_file(const char *folder)
{
	(void)folder;
	errno = ENOTSUP;
	return -1;
}

void *os_grow_paging(int fd, void *p, size_t had, size_t n)
{
	(void)fd;
	(void)p;
	(void)had;
	(void)n;
	errno = ENOTSUP;
	return NULL;
}

void os_punch(int fd, uint64_t from, uint64_t n)
{
	(void)fd;
	(void)from;
	(void)n;
}

int os_is_pseudo(int fd)
{
	(void)fd;
	return 0;
}

uint32_t os_generation(int fd)
{
	(void)fd;
	return 0;
}

int64_t os_born_ns(int fd)
{
	(void)fd;
	return 0;
}

#ifdef __EMSCRIPTEN__
int __syscall_getdents64(int fd, intptr_t list, size_t size); /* musl's, of the same form */

long os_read_folder(int fd, char *list, size_t size)
{
	return __syscall_getdents64(fd, (intptr_t)list, size);
}
#else
long os_read_folder(int fd, char *list, size_t size)
{
	(void)fd;
	(void)list;
	(void)size;
	return 0; /* a folder that is not empty stays */
}
#endif

/* --- the process ------------------------------------------------------------------------- */

int os_random(void *p, size_t n)
{
	enum { MOST = 256 };
	return n <= MOST ? getentropy(p, n) : -1;
}

uint64_t os_seed(void)
{
	static uint64_t seed;
	if (!seed && os_random(&seed, sizeof(seed)))
		seed = 1;
	return seed;
}

uintptr_t os_vdso(void)
{
	return 0;
}

int os_stack(size_t least, uint64_t *has)
{
	(void)least;
	(void)has;
	return 0;
}

int os_no_new_privileges(void)
{
	return -1;
}

int os_counts_cycles(void)
{
	return 0;
}

/* --- confinement: what runs WebAssembly confines it ---------------------------------------- */

int landlock_abi(void)
{
	return 0;
}

int landlock_begin(struct landlock *s, unsigned may)
{
	(void)s;
	(void)may;
	return 0;
}

void landlock_allow_writing(struct landlock *s, const char *path)
{
	(void)s;
	(void)path;
}

void landlock_allow_rmdir(struct landlock *s, const char *path)
{
	(void)s;
	(void)path;
}

void landlock_allow_reading(struct landlock *s, const char *path)
{
	(void)s;
	(void)path;
}

int landlock_enter(struct landlock *s)
{
	(void)s;
	return 0;
}

int syscall_filter_exists(void)
{
	return 0;
}

void syscall_filter_enter(unsigned may)
{
	(void)may;
}

const char *os_without_processes(void)
{
#ifdef __EMSCRIPTEN__
	return "WebAssembly";
#else
	return "this system";
#endif
}
#endif
