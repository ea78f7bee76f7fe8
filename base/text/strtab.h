/*
 * strtab.h - string interning: equal text has one u32 id for the life of the table.
 *
 * Id 0 is always the empty string. Texts are stored NUL-terminated in blocks that never move,
 * so a pointer from strtab_get stays valid until strtab_release. Not thread-safe for writers;
 * concurrent strtab_get without a writer is fine.
 */
#ifndef BASE_TEXT_STRTAB_H
#define BASE_TEXT_STRTAB_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/* Zero-initialised is a valid, empty table. */
struct strtab {
	struct arena text;
	struct idmap index;
	uint64_t seed;
	VEC(struct strtab_entry {
		const char *s;
		uint32_t len;
	})
	entries;
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

/* The text of an id; "" for unknown ids. Lives as long as the table. */
static inline const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->entries.n ? t->entries.v[id].s : "";
}

/* The length in bytes of an id's text. */
static inline uint32_t strtab_len(const struct strtab *t, uint32_t id)
{
	return id < t->entries.n ? t->entries.v[id].len : 0;
}

/* Free everything; the table is empty and usable again. */
void strtab_release(struct strtab *t);

#endif
