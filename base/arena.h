/*
 * arena.h - memory that lives as long as its owner (a profile, a DSO) and is freed all at once.
 *
 * Blocks double up to 1 MiB; a larger request gets its own block. Single allocations are never
 * freed. Not thread-safe: one arena has one writer.
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

/* `size` bytes aligned to 16, not initialised; NULL when out of memory. Lives as long as the
 * arena. */
void *arena_alloc(struct arena *a, size_t size);

/* `size` bytes with no alignment (text, packed rows). */
void *arena_bytes(struct arena *a, size_t size);

/* A NUL-terminated copy of n bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t n);

/* Free everything; the arena is empty and usable again. */
void arena_release(struct arena *a);

#endif
