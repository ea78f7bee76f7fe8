#include "base/hash.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 64, READ_BYTES = 1 << 18 };

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}

static void write_sum(XXH128_hash_t h, uint8_t sum[16])
{
	XXH128_canonical_t text;
	XXH128_canonicalFromHash(&text, h);
	memcpy(sum, text.digest, sizeof(text.digest));
}

void hash_keyed(const void *p, size_t n, const uint8_t key[HASH_KEY_BYTES], uint8_t sum[16])
{
	write_sum(XXH3_128bits_withSecret(p, n, key, HASH_KEY_BYTES), sum);
}

int hash_file_keyed(int fd, const uint8_t key[HASH_KEY_BYTES], uint8_t sum[16], uint64_t *size)
{
	XXH3_state_t state;
	ssize_t n = -1;
	uint8_t *chunk = mem_alloc(READ_BYTES);
	if (!chunk)
		return ERR_NOMEM;
	*size = 0;
	XXH3_128bits_reset_withSecret(&state, key, HASH_KEY_BYTES);
	while ((n = read(fd, chunk, READ_BYTES)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		XXH3_128bits_update(&state, chunk, (size_t)n);
		*size += (uint64_t)n;
	}
	mem_free(chunk);
	write_sum(XXH3_128bits_digest(&state), sum);
	return n ? ERR_IO : 0;
}

uint64_t hash_seed(void)
{
	return hash_u64(os_seed());
}

/* A slot keeps the upper half of the salted hash, and the home position comes from that half,
 * so growing needs neither the keys nor the rest of the hash. */
static void idmap_place(uint64_t *slot, size_t mask, uint64_t entry)
{
	size_t i = hash_home(entry, mask);
	while ((uint32_t)slot[i & mask])
		i++;
	slot[i & mask] = entry;
}

static int idmap_grow(struct idmap *m)
{
	size_t slots = m->slot ? (m->mask + 1) * 2 : FIRST_SLOTS;
	uint64_t *slot = mem_zalloc(slots, sizeof(*slot));
	if (!slot)
		return ERR_NOMEM;
	if (!m->slot)
		m->salt = hash_seed() | 1;
	for (size_t i = 0; m->slot && i <= m->mask; i++)
		if ((uint32_t)m->slot[i])
			idmap_place(slot, slots - 1, m->slot[i]);
	mem_free(m->slot);
	m->slot = slot;
	m->mask = slots - 1;
	return 0;
}

int idmap_put(struct idmap *m, uint64_t h, uint32_t id)
{
	if ((!m->slot || m->n + 1 > m->mask / 4 * 3) && idmap_grow(m))
		return ERR_NOMEM;
	idmap_place(m->slot, m->mask, (h * m->salt & 0xffffffff00000000u) | (id + 1));
	m->n++;
	return 0;
}

void idmap_release(struct idmap *m)
{
	mem_free(m->slot);
	*m = (struct idmap){0};
}

static struct u64map_slot *u64map_find(struct u64map_slot *slot, size_t mask, uint64_t salt,
				       uint64_t key)
{
	size_t i = hash_home(hash_u64(key) * salt, mask);
	while (slot[i & mask].val && slot[i & mask].key != key)
		i++;
	return &slot[i & mask];
}

static int u64map_grow(struct u64map *m)
{
	size_t slots = m->slot ? (m->mask + 1) * 2 : FIRST_SLOTS;
	struct u64map_slot *slot = mem_zalloc(slots, sizeof(*slot));
	if (!slot)
		return ERR_NOMEM;
	if (!m->slot)
		m->salt = hash_seed() | 1;
	for (size_t i = 0; m->slot && i <= m->mask; i++)
		if (m->slot[i].val)
			*u64map_find(slot, slots - 1, m->salt, m->slot[i].key) = m->slot[i];
	mem_free(m->slot);
	m->slot = slot;
	m->mask = slots - 1;
	return 0;
}

int u64map_put(struct u64map *m, uint64_t key, uint32_t val)
{
	if ((!m->slot || m->n + 1 > m->mask / 4 * 3) && u64map_grow(m))
		return ERR_NOMEM;
	struct u64map_slot *s = u64map_find(m->slot, m->mask, m->salt, key);
	m->n += !s->val;
	*s = (struct u64map_slot){.key = key, .val = val + 1};
	return 0;
}

void u64map_release(struct u64map *m)
{
	mem_free(m->slot);
	*m = (struct u64map){0};
}
