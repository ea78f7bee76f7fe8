/*
 * nomem.c - LD_PRELOAD: the program's own allocations fail from the $NOMEM_AFTER-th on (counted
 * over all threads); those of libraries do not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

static uintptr_t from, to;
static long left = -1;

static int take_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		from = info->dlpi_addr + p->p_vaddr;
		to = from + p->p_memsz;
	}
	return 1; /* the program itself comes first */
}

__attribute__((constructor)) static void start(void)
{
	const char *after = getenv("NOMEM_AFTER");
	dl_iterate_phdr(take_program, NULL);
	if (after)
		left = atol(after);
}

static int fails(const void *caller)
{
	if (left < 0 || (uintptr_t)caller < from || (uintptr_t)caller >= to)
		return 0;
	long n = __atomic_load_n(&left, __ATOMIC_RELAXED);
	if (n > 0)
		n = __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
	if (n > 0)
		return 0;
	__atomic_store_n(&left, 0, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return 1;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

void *malloc(size_t n)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}
