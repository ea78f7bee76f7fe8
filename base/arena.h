/*
 * arena.h - memory that lives as long as its owner (a session, a DSO) and is given back at
 * once.
 *
 * Blocks double up to 1 MiB; larger requests get a block of their own. Nothing is freed singly.
 * Not thread-safe: one arena has one writer.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zero-initialised is a valid, empty arena. */
struct arena {
	struct arena_block *blocks;
	char *next, *end;
	size_t total; /* bytes taken from the heap, for reporting memory use */
};

/* `size` bytes aligned to 16, not initialised; NULL when out of memory. Life: the arena's. */
void *arena_alloc(struct arena *a, size_t size);

/* `size` bytes with no alignment (text, packed rows). */
void *arena_bytes(struct arena *a, size_t size);

/* A NUL-terminated copy of n bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t n);

/* Give everything back; the arena is empty and usable again. */
void arena_release(struct arena *a);

#endif
