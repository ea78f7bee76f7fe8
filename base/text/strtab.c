#include "base/text/strtab.h"
#include "base/text/longname.h"

#include <string.h>

static int lookup(const struct strtab *t, const char *s, size_t n, uint64_t h, uint32_t *id)
{
	size_t at = 0;
	while (idmap_next(&t->index, h, &at, id)) {
		const struct strtab_entry *e = &t->entries.v[*id];
		if (e->len == n && !memcmp(e->s, s, n))
			return 1;
	}
	return 0;
}

static int add(struct strtab *t, const char *s, size_t n, uint64_t h, uint32_t *id)
{
	if (t->entries.n >= UINT32_MAX - 1 || n > UINT32_MAX - 1)
		return ERR_NOMEM;
	char *copy = arena_strndup(&t->text, s, n);
	if (!copy)
		return ERR_NOMEM;
	struct strtab_entry e = {.s = copy, .len = (uint32_t)n};
	if (vec_push(&t->entries, e))
		return ERR_NOMEM;
	*id = (uint32_t)(t->entries.n - 1);
	if (idmap_put(&t->index, h, *id)) {
		t->entries.n--;
		return ERR_NOMEM;
	}
	return 0;
}

int strtab_intern_line(struct strtab *t, const char *s, size_t n, uint32_t *id)
{
	if (!t->entries.n) {
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
	vec_release(&t->entries);
}
