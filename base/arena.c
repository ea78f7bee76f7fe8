#include "base/arena.h"
#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
	struct arena_block *prev;
	size_t size;
	alignas(16) char data[];
};

static int arena_grow(struct arena *a, size_t need)
{
	size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;
	if (size > LARGEST_BLOCK)
		size = LARGEST_BLOCK;
	if (size < need)
		size = need;
	if (size > SIZE_MAX - sizeof(struct arena_block))
		return -1;
	struct arena_block *b = mem_alloc(sizeof(*b) + size);
	if (!b)
		return -1;
	b->prev = a->blocks;
	b->size = size;
	a->blocks = b;
	a->next = b->data;
	a->end = b->data + size;
	a->total += size;
	return 0;
}

static void *arena_reserve(struct arena *a, size_t size, uintptr_t align)
{
	uintptr_t p = ((uintptr_t)a->next + align - 1) & ~(align - 1);
	if (!a->next || p > (uintptr_t)a->end || size > (uintptr_t)a->end - p) {
		if (arena_grow(a, size))
			return NULL;
		p = (uintptr_t)a->next;
	}
	a->next = (char *)p + size;
	return (void *)p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return arena_reserve(a, size, 16);
}

void *arena_bytes(struct arena *a, size_t size)
{
	return arena_reserve(a, size, 1);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_bytes(a, n + 1);
	if (p) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}

void arena_release(struct arena *a)
{
	for (struct arena_block *b = a->blocks, *prev; b; b = prev) {
		prev = b->prev;
		mem_free(b);
	}
	*a = (struct arena){0};
}
