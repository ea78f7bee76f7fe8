/* copies - nearly all its time is in memcpy, called by copier, called by outer, called by main;
 * to be built with frame pointers, which the C library's memcpy does not have. */
#include <string.h>

static char from[1 << 16], to[1 << 16];
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

__attribute__((noinline)) void copier(int n)
{
	copy(to + (n & 7), from, sizeof(from) - 8);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void outer(int n)
{
	volatile char local[300];
	local[n & 255] = 1;
	copier(n);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	for (int i = 0; i < 300000; i++)
		outer(i);
	return 0;
}
