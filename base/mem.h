/*
 * mem.h - the only access to the heap.
 *
 * Nothing outside mem.c calls malloc, calloc, realloc, strdup or free (`make check-house`
 * greps). Sizes are multiplied with an overflow check, and tests can make the n-th allocation
 * fail. On failure every function returns NULL and notes the shortage (shortage.h), so that no
 * command succeeds without the memory it needed; none exits.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `size` bytes, not initialised. size 0 gives a pointer that may be freed. */
void *mem_alloc(size_t size) __attribute__((malloc, alloc_size(1)));

/* n * size bytes of zeroes; NULL also when the product overflows. */
void *mem_zalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2)));

/* `size` bytes, not initialised, aligned to a cache line, and on large pages if the system has
 * them and they will be filled: the first touch of a small page costs as much as reading it
 * from a file. */
void *mem_alloc_large(size_t size) __attribute__((malloc, alloc_size(1)));

/* The same, for callers that can do without: a failure is not recorded as a shortage. */
void *mem_try_large(size_t size) __attribute__((malloc, alloc_size(1)));

/* Zeroes on large pages, all of them allocated at once: for tables that are soon written
 * everywhere, in random order. */
void *mem_zalloc_table(size_t size) __attribute__((malloc, alloc_size(1)));

/* Zero `size` bytes. Hiding a constant size from the compiler makes this a call of memset: some
 * emit a string instruction for it, which costs more than decoding a small record. */
static inline void mem_clear(void *p, size_t size)
{
	__asm__("" : "+r"(size));
	memset(p, 0, size);
}

/* Resize to n * size bytes; NULL (and `p` left as it was) on overflow or exhaustion. */
void *mem_resize(void *p, size_t n, size_t size) __attribute__((alloc_size(2, 3)));

/* A copy of the string, or of at most `n` bytes of it; NUL-terminated. */
char *mem_strdup(const char *s) __attribute__((malloc));
char *mem_strndup(const char *s, size_t n) __attribute__((malloc));

/* Free what these functions or the C library allocated. NULL is accepted. */
void mem_free(void *p);

/* From now on give freed blocks of `size` bytes or more back to the system at once. The C
 * library would soon keep those of up to 32 MB: each one that is freed raises its threshold. */
void mem_return_freed(size_t size);

/*
 * Test hook: let the next `n` allocations of this thread succeed, then fail every later one
 * until called again. n < 0 switches the hook off, which is the initial state. Returns how
 * many allocations were made since the last call. Forgets what was noted as a shortage.
 */
long mem_fail_after(long n);

/* The same, but only one allocation fails, the one after the next `n`. */
long mem_fail_once(long n);

#endif
