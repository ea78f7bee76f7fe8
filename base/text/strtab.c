#include "base/text/strtab.h"
#include "base/mem.h"
#include "base/text/longname.h"

#include <string.h>

static int lookup(const struct strtab *t, const char *s, size_t n, uint64_t h, uint32_t *id)
{
	size_t at = 0;
	while (idmap_next(&t->index, h, &at, id)) {
		const struct strtab_entry *e = strtab_entry(t, *id);
		if (e->len == n && !memcmp(e->s, s, n))
			return 1;
	}
	return 0;
}

/* Room for the entry of the next id, or NULL. */
static struct strtab_entry *next_entry(struct strtab *t)
{
	uint32_t first, k = strtab_block(t->n, &first);
	size_t size = first ? first : (size_t)1 << STRTAB_FIRST;
	if (!t->blocks[k])
		t->blocks[k] = mem_alloc(size * sizeof(*t->blocks[k]));
	return t->blocks[k] ? &t->blocks[k][t->n - first] : NULL;
}

static int add(struct strtab *t, const char *s, size_t n, uint64_t h, uint32_t *id)
{
	if (t->n >= UINT32_MAX - 1 || n > UINT32_MAX - 1)
		return ERR_NOMEM;
	struct strtab_entry *e = next_entry(t);
	char *copy = e ? arena_strndup(&t->text, s, n) : NULL;
	if (!copy)
		return ERR_NOMEM;
	*e = (struct strtab_entry){.s = copy, .len = (uint32_t)n};
	if (idmap_put(&t->index, h, t->n))
		return ERR_NOMEM;
	*id = t->n;
	__atomic_store_n(&t->n, *id + 1, __ATOMIC_RELEASE);
	return 0;
}

int strtab_intern_line(struct strtab *t, const char *s, size_t n, uint32_t *id)
{
	if (!t->n) {
		uint32_t empty;
		t->seed = hash_seed();
		if (add(t, "", 0, hash_bytes("", 0, t->seed), &empty))
			return ERR_NOMEM;
	}
	uint64_t h = hash_bytes(s, n, t->seed);
	if (lookup(t, s, n, h, id))
		return 0;
	return add(t, s, n, h, id);
}

int strtab_intern_n(struct strtab *t, const char *s, size_t n, uint32_t *id)
{
	char cut[LONG_NAME];
	s = long_name(s, &n, cut);
	return strtab_intern_line(t, s, n, id);
}

int strtab_intern(struct strtab *t, const char *s, uint32_t *id)
{
	return strtab_intern_n(t, s, strlen(s), id);
}

int strtab_find(const struct strtab *t, const char *s, uint32_t *id)
{
	char cut[LONG_NAME];
	size_t n = strlen(s);
	s = long_name(s, &n, cut);
	return lookup(t, s, n, hash_bytes(s, n, t->seed), id);
}

void strtab_release(struct strtab *t)
{
	arena_release(&t->text);
	idmap_release(&t->index);
	for (size_t i = 0; i < STRTAB_BLOCKS; i++)
		mem_free(t->blocks[i]);
	*t = (struct strtab){0};
}
