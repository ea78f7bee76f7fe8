/*
 * hash.h - hashing and the one hash table.
 *
 * hash_bytes is XXH3 (libxxhash, inlined). Hash order never reaches any output: callers sort
 * before they print. Every process has its own order; otherwise input could be built to put all
 * of its keys into one slot.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3, 64 bits. Whoever knows the seed can construct texts that share a hash. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

/* This process's random seed, for hashing untrusted input: the same at each call, unknown
 * outside of the process. */
uint64_t hash_seed(void);

enum { HASH_KEY_BYTES = 192 };

/* XXH3, 128 bits, with a secret key: then nobody can construct two texts that share a hash. */
void hash_keyed(const void *p, size_t n, const uint8_t key[HASH_KEY_BYTES], uint8_t sum[16]);

/* The same hash of everything read from `fd`, and the number of bytes in *size. 0, ERR_IO or
 * ERR_NOMEM, without a message. */
int hash_file_keyed(int fd, const uint8_t key[HASH_KEY_BYTES], uint8_t sum[16], uint64_t *size);

/* A full-avalanche mix of one word, for keys that are numbers. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

/*
 * The home of a hash among mask + 1 slots is the top half of its product with the
 * table's salt, a secret odd number: then any two hashes collide as rarely as random ones
 * (multiply-shift hashing).
 */
static inline size_t hash_home(uint64_t salted, size_t mask)
{
	return (size_t)((salted >> 32) * ((uint64_t)mask + 1) >> 32);
}

/*
 * idmap: an open-addressing index from a 64-bit hash to a u32 id chosen by the caller, who
 * keeps the keys in an array of its own and compares them. Zero-initialised is empty.
 *
 *	size_t at = 0;
 *	for (uint32_t id; idmap_next(&m, h, &at, &id);)
 *		if (same(keys[id], key)) return id;
 *	idmap_put(&m, h, new_id);
 */
struct idmap {
	uint64_t *slot; /* low 32 bits: id + 1 (0 = free); high 32 bits: those of hash * salt */
	size_t mask;    /* slots - 1, or 0 */
	size_t n;
	uint64_t salt;
};

/*
 * The next id stored under a hash whose salted upper half equals that of `h`; *at is the
 * cursor, 0 at first. 1 with *id set, or 0 when none is left. Inline, because it is the
 * innermost loop of interning.
 */
static inline int idmap_next(const struct idmap *m, uint64_t h, size_t *at, uint32_t *id)
{
	if (!m->slot)
		return 0;
	h *= m->salt;
	for (size_t home = hash_home(h, m->mask);;) {
		uint64_t s = m->slot[(home + *at) & m->mask];
		if (!(uint32_t)s)
			return 0;
		(*at)++;
		if (s >> 32 == h >> 32) {
			*id = (uint32_t)s - 1;
			return 1;
		}
	}
}

/* The slot where a search for `h` begins, for prefetching; NULL while the map is empty. */
static inline const uint64_t *idmap_first(const struct idmap *m, uint64_t h)
{
	return m->slot ? &m->slot[hash_home(h * m->salt, m->mask)] : NULL;
}

/* Store `id` (< UINT32_MAX) under `h`; duplicates are allowed. 0 or ERR_NOMEM. */
int idmap_put(struct idmap *m, uint64_t h, uint32_t id);

/* Give the slots back; the map is empty and usable again. */
void idmap_release(struct idmap *m);

/*
 * u64map: from a 64-bit key to a u32 value; the key may be any number. Zero-initialised is
 * empty. For tables like tid → thread, address → frame.
 */
struct u64map {
	struct u64map_slot {
		uint64_t key;
		uint32_t val; /* value + 1; 0 = free */
	} * slot;
	size_t mask, n;
	uint64_t salt;
};

/* The value of `key` into *val and 1, or 0 when absent. */
static inline int u64map_get(const struct u64map *m, uint64_t key, uint32_t *val)
{
	if (!m->slot)
		return 0;
	for (size_t i = hash_home(hash_u64(key) * m->salt, m->mask);; i++) {
		const struct u64map_slot *s = &m->slot[i & m->mask];
		if (!s->val)
			return 0;
		if (s->key == key) {
			*val = s->val - 1;
			return 1;
		}
	}
}

/* Prefetch the memory of a key's slot. */
static inline void u64map_prefetch(const struct u64map *m, uint64_t key)
{
	if (m->slot)
		__builtin_prefetch(&m->slot[hash_home(hash_u64(key) * m->salt, m->mask)]);
}

/* Set key to val (< UINT32_MAX), replacing what was there. 0 or ERR_NOMEM. */
int u64map_put(struct u64map *m, uint64_t key, uint32_t val);

/* Give the slots back; the map is empty and usable again. */
void u64map_release(struct u64map *m);

#endif
