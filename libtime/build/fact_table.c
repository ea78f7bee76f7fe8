#include "libtime/build/fact_table.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 4 };

/* "KIND<TAB>SUBJECT<TAB>KEY<TAB>VALUE" as ids: 1; 0 if it is not a fact; ERR_NOMEM. */
static int split(struct fact_table *t, const char *line, uint32_t id[PARTS])
{
	for (int i = 0; i < PARTS; i++) {
		size_t n = strcspn(line, "\t");
		if (!n || (i < PARTS - 1) != (line[n] == '\t'))
			return 0;
		if (strtab_intern_n(&t->names, line, n, &id[i]))
			return ERR_NOMEM;
		line += n + 1;
	}
	return 1;
}

static int is_same(const struct tl_fact *f, const uint32_t id[PARTS])
{
	return f->kind == id[0] && f->subject == id[1] && f->key == id[2];
}

int fact_table_add(struct fact_table *t, const char *line, unsigned snapshot)
{
	uint32_t id[PARTS], at_fact;
	int r = split(t, line, id);
	size_t at = 0;
	if (r != 1)
		return r;
	uint64_t h = hash_bytes(id, 3 * sizeof(*id), hash_seed());
	while (idmap_next(&t->index, h, &at, &at_fact)) {
		struct tl_fact *f = &t->v.v[at_fact];
		if (!is_same(f, id))
			continue;
		if (snapshot > 1)
			f->after = id[3];
		return 0;
	}
	struct tl_fact f = {.kind = id[0], .subject = id[1], .key = id[2]};
	*(snapshot > 1 ? &f.after : &f.before) = id[3];
	at_fact = (uint32_t)t->v.n;
	return vec_push(&t->v, f) ? ERR_NOMEM : idmap_put(&t->index, h, at_fact);
}

static int is(const struct fact_table *t, uint32_t id, const char *word)
{
	return !strcmp(strtab_get(&t->names, id), word);
}

/* Does it concern this recording? `pids`: the processes of its threads. */
static int concerns(const struct fact_table *t, const struct u64map *pids,
		    const struct tl_fact *f)
{
	uint32_t yes;
	if (is(t, f->kind, "irq") || is(t, f->kind, "softirq"))
		return f->before != f->after;
	return !is(t, f->kind, "process") ||
	       u64map_get(pids, strtoull(strtab_get(&t->names, f->subject), NULL, 10), &yes);
}

static int add(const struct fact_table *t, struct timeline *tl, const struct tl_fact *f)
{
	struct strtab *s = &tl->stacks->strings;
	const uint32_t from[] = {f->kind, f->subject, f->key, f->before, f->after};
	struct tl_fact to;
	uint32_t *const into[] = {&to.kind, &to.subject, &to.key, &to.before, &to.after};
	for (size_t k = 0; k < sizeof(from) / sizeof(*from); k++)
		if (strtab_intern(s, strtab_get(&t->names, from[k]), into[k]))
			return ERR_NOMEM;
	return vec_push(&tl->facts, to);
}

int fact_table_apply(const struct fact_table *t, struct timeline *tl)
{
	struct u64map pids = {0};
	int r = 0;
	for (size_t i = 0; !r && i < tl->threads.n; i++)
		if (tl->threads.v[i].pid > 0)
			r = u64map_put(&pids, (uint64_t)tl->threads.v[i].pid, 1);
	for (size_t i = 0; !r && i < t->v.n; i++)
		if (concerns(t, &pids, &t->v.v[i]))
			r = add(t, tl, &t->v.v[i]);
	u64map_release(&pids);
	return r;
}

void fact_table_release(struct fact_table *t)
{
	strtab_release(&t->names);
	vec_release(&t->v);
	idmap_release(&t->index);
}
