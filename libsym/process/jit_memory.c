/* jit_memory.c - the memory in which a process had generated code, and what does not fit it */
#include "libsym/elf/plausible.h"
#include "libparse/linux_mmap.h"
#include "libsym/process/jit_files.h"

#include <stdlib.h>

typedef VEC(struct code_range) memory_vec;

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sort the ranges, and join those that touch: compilers grow their memory in pieces. */
static void join(memory_vec *v)
{
	size_t n = 0;
	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), by_start);
	for (size_t i = 0; i < v->n; i++) {
		struct code_range r = v->v[i];
		if (n && r.start <= v->v[n - 1].end)
			v->v[n - 1].end = r.end > v->v[n - 1].end ? r.end : v->v[n - 1].end;
		else
			v->v[n++] = r;
	}
	v->n = n;
}

/* Wherever the process ever had generated code, also what it inherited by forks. */
static int memory_of(const struct machine *m, uint32_t process, memory_vec *out)
{
	enum { MAX_FORK_DEPTH = 64 };
	const struct process *p = &m->processes.v[process];
	for (size_t i = 0; i < p->images.n; i++) {
		uint32_t at = p->images.v[i].space;
		for (int k = 0; at != NO_ID && k < MAX_FORK_DEPTH; k++) {
			const struct space *s = &m->spaces.v[at];
			for (size_t j = 0; j < s->by_start.n; j++) {
				const struct map *map = &m->maps.v[s->by_start.v[j]];
				struct code_range r = {map->start, map->end};
				if (map->prot & LINUX_PROT_EXEC &&
				    m->dsos.v[map->dso].kind == DSO_ANON && vec_push(out, r))
					return ERR_NOMEM;
			}
			at = s->parent;
		}
	}
	join(out);
	return 0;
}

int jitfiles_map_fits(const struct machine *m, uint32_t process, const struct perfmap *map,
		      int *fits)
{
	memory_vec memory = {0};
	int rc = memory_of(m, process, &memory);
	struct generated_fit f = {.memory = memory.v, .n = memory.n};
	for (size_t i = 0; i < map->lines.n; i++)
		generated_fit_add(&f, map->lines.v[i].start, map->lines.v[i].end);
	*fits = generated_fits(&f);
	vec_release(&memory);
	return rc;
}

int jitfiles_jitdump_fits(const struct machine *m, uint32_t process, const struct jitdump *j,
			  int *fits)
{
	memory_vec memory = {0};
	int rc = memory_of(m, process, &memory);
	struct generated_fit f = {.memory = memory.v, .n = memory.n};
	size_t n;
	const struct jit_code *c = jitdump_codes(j, &n);
	for (size_t i = 0; i < n; i++)
		generated_fit_add(&f, c[i].start, c[i].start + c[i].size); /* or 0: nothing */
	*fits = !n || generated_fits(&f);
	vec_release(&memory);
	return rc;
}
