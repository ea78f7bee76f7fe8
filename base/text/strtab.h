/*
 * strtab.h - string interning: equal text has one u32 id for the life of the table.
 *
 * Id 0 is always the empty string. Texts are stored NUL-terminated. Neither they nor the table's
 * entries ever move, so a pointer from strtab_get stays valid until strtab_release, and any
 * thread may ask for the text of an id that it was given while another one interns. Writers take
 * turns.
 */
#ifndef BASE_TEXT_STRTAB_H
#define BASE_TEXT_STRTAB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

/* The first block has 1 << STRTAB_FIRST entries, the second as many, each later one twice as
 * many as the one before it: so many blocks hold every id. */
enum { STRTAB_FIRST = 6, STRTAB_BLOCKS = 32 - STRTAB_FIRST + 1 };

/* Zero-initialised is a valid, empty table. */
struct strtab {
	struct arena text;
	struct idmap index;
	uint64_t seed;
	uint32_t n; /* read it by strtab_count */
	struct strtab_entry {
		const char *s;
		uint32_t len;
	} * blocks[STRTAB_BLOCKS];
};

/* The id of the n bytes at s (they may hold any byte but NUL), cut by long_name: what comes
 * from input is bounded here, before it is repeated or matched. 0 or ERR_NOMEM. */
int strtab_intern_n(struct strtab *t, const char *s, size_t n, uint32_t *id);

/* The same for a NUL-terminated string. */
int strtab_intern(struct strtab *t, const char *s, uint32_t *id);

/* Not cut: for texts that are used whole and shown once, like command lines. */
int strtab_intern_line(struct strtab *t, const char *s, size_t n, uint32_t *id);

/* The id of a string that is already there and 1, or 0. */
int strtab_find(const struct strtab *t, const char *s, uint32_t *id);

/* How many ids there are: 0, 1, …. */
static inline size_t strtab_count(const struct strtab *t)
{
	return __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);
}

/* The block of an id; *first is the block's first id. */
static inline uint32_t strtab_block(uint32_t id, uint32_t *first)
{
	uint32_t above = id >> STRTAB_FIRST;
	uint32_t k = above ? 32 - (uint32_t)__builtin_clz(above) : 0;
	*first = k ? UINT32_C(1) << (STRTAB_FIRST + k - 1) : 0;
	return k;
}

/* The entry of an id below strtab_count. */
static inline const struct strtab_entry *strtab_entry(const struct strtab *t, uint32_t id)
{
	uint32_t first, k = strtab_block(id, &first);
	return &t->blocks[k][id - first];
}

/* The text of an id; "" for unknown ids. Lives as long as the table. */
static inline const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < strtab_count(t) ? strtab_entry(t, id)->s : "";
}

/* The length in bytes of an id's text. */
static inline uint32_t strtab_len(const struct strtab *t, uint32_t id)
{
	return id < strtab_count(t) ? strtab_entry(t, id)->len : 0;
}

/* Free everything; the table is empty and usable again. */
void strtab_release(struct strtab *t);

#endif
