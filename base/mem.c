#include "base/mem.h"
#include "base/os/os.h"
#include "base/shortage.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local long fail_after = -1;
static _Thread_local int fail_once;
static _Thread_local long made;

static int must_fail(void)
{
	made++;
	if (os_is_beyond_limit())
		return 1;
	if (fail_after < 0)
		return 0;
	if (fail_after == 0) {
		fail_after = fail_once ? -1 : 0;
		return 1;
	}
	fail_after--;
	return 0;
}

enum { LARGE_PAGE = 2 << 20 };

/* Memory that holds several large pages uses them: 512 small ones cost eight times as much to
 * get. All pages of the block are advised, for realloc can move a mapping only as a whole, and
 * the kernel divides one that is advised in part: then each growth would copy the block. */
static void use_large_pages(void *p)
{
	uintptr_t from = (uintptr_t)p & ~(uintptr_t)4095;
	uintptr_t to = ((uintptr_t)p + os_allocated(p) + 4095) & ~(uintptr_t)4095;
	os_use_large_pages((void *)from, to - from);
}

/* Every pointer returned passes through here. */
static void *allocated(void *p, size_t bytes)
{
	if (!p)
		shortage_note_memory(bytes);
	else if (bytes >= 2 * (size_t)LARGE_PAGE)
		use_large_pages(p);
	return p;
}

long mem_fail_after(long n)
{
	long r = made;
	shortage_forget();
	made = 0;
	fail_after = n;
	fail_once = 0;
	return r;
}

long mem_fail_once(long n)
{
	long r = mem_fail_after(n);
	fail_once = 1;
	return r;
}

void *mem_alloc(size_t size)
{
	return allocated(must_fail() ? NULL : malloc(size ? size : 1), size);
}

void *mem_zalloc(size_t n, size_t size)
{
	return allocated(must_fail() ? NULL : calloc(n ? n : 1, size ? size : 1), n * size);
}

void *mem_try_large(size_t size)
{
	enum { CACHE_LINE = 64 };
	void *p;
	size_t align = size < LARGE_PAGE ? CACHE_LINE : LARGE_PAGE;
	if (must_fail() || posix_memalign(&p, align, size))
		return NULL;
	if (align == LARGE_PAGE)
		os_use_large_pages(p, size);
	return p;
}

void *mem_alloc_large(size_t size)
{
	return allocated(mem_try_large(size), size);
}

void *mem_zalloc_table(size_t size)
{
	void *p = mem_alloc_large(size);
	return p ? memset(p, 0, size) : NULL;
}

void *mem_resize(void *p, size_t n, size_t size)
{
	size_t bytes = SIZE_MAX / 2;
	if (__builtin_mul_overflow(n, size, &bytes) || must_fail())
		return allocated(NULL, bytes);
	return allocated(realloc(p, bytes ? bytes : 1), bytes);
}

char *mem_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = mem_alloc(len + 1);
	if (copy) {
		memcpy(copy, s, len);
		copy[len] = '\0';
	}
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void mem_free(void *p)
{
	free(p);
}

void mem_return_freed(size_t size)
{
	os_return_freed(size);
}
