/* machine_spaces.c - mappings by address and time; see machine_internal.h. */
#include "libsym/process/machine_internal.h"
#include "base/search.h"
#include "libsym/process/jit_files.h"

#include <stdlib.h>

enum { MAX_FORK_DEPTH = 64 }; /* a deeper chain of forks without exec is not followed */

int machine_new_space(struct machine *m, uint32_t parent, uint64_t time, uint32_t *id)
{
	struct space s = {.parent = parent,
			  .fork_time = time,
			  .process = NO_ID,
			  .execed_from = NO_ID,
			  .jitdump = NO_ID};
	if (vec_push(&m->spaces, s))
		return ERR_NOMEM;
	*id = (uint32_t)(m->spaces.n - 1);
	return 0;
}

int machine_note_change(struct machine *m, uint32_t space)
{
	enum { FEW = 64 }; /* unsorted maps that are searched one by one */
	struct space *s = &m->spaces.v[space];
	if (s->changed++ != FEW + s->sorted / FEW)
		return 0;
	return vec_push(&m->unsorted, space);
}

/* If a space's new DSO is a jitdump: code in the space may have been replaced. */
static int note_jitdump(struct machine *m, struct space *s, uint32_t dso)
{
	const uint64_t *times = NULL;
	size_t n = 0;
	if (!jitfiles_is_jitdump(strtab_get(m->strings, m->dsos.v[dso].path)))
		return 0;
	s->jitdump = dso;
	if (m->code_changes && m->code_changes(m->code_changes_ctx, dso, &times, &n))
		return ERR_NOMEM;
	if (n && !s->ncode_changes) {
		s->code_changes = times;
		s->ncode_changes = n;
	}
	return 0;
}

/* Add map `index` to the list of a space. */
static int insert_map(struct machine *m, uint32_t space, uint32_t index)
{
	struct space *s = &m->spaces.v[space];
	if (vec_push(&s->by_start, index) || vec_push(&s->extents, (struct map_extent){0}) ||
	    vec_push(&s->changes, m->maps.v[index].since))
		return ERR_NOMEM;
	const struct map *map = &m->maps.v[index];
	if (space != SPACE_KERNEL && note_jitdump(m, s, map->dso))
		return ERR_NOMEM;
	if (space == SPACE_KERNEL && m->dsos.v[map->dso].kind == DSO_KERNEL &&
	    (m->kernel_map == NO_ID || map->start < m->maps.v[m->kernel_map].start))
		m->kernel_map = index;
	return machine_note_change(m, space);
}

static int by_start(const void *a, const void *b, void *maps)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t sx = ((const struct map *)maps)[x].start,
		 sy = ((const struct map *)maps)[y].start;
	if (sx != sy)
		return sx < sy ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct map_extent merge_extents(struct map_extent a, struct map_extent b)
{
	return (struct map_extent){.end = max_u64(a.end, b.end),
				   .since = a.since < b.since ? a.since : b.since,
				   .until = max_u64(a.until, b.until),
				   .last = a.last > b.last ? a.last : b.last};
}

/* The root of [lo, hi) is its middle; depth is log2 of the number of maps. */
static struct map_extent fill_extents(const struct machine *m, struct space *s, size_t lo,
				      size_t hi)
{
	if (lo >= hi)
		return (struct map_extent){.since = UINT64_MAX};
	size_t mid = lo + (hi - lo) / 2;
	uint32_t index = s->by_start.v[mid];
	const struct map *own = &m->maps.v[index];
	struct map_extent r = {
		.end = own->end, .since = own->since, .until = own->until, .last = index};
	r = merge_extents(r, fill_extents(m, s, lo, mid));
	return s->extents.v[mid] = merge_extents(r, fill_extents(m, s, mid + 1, hi));
}

static void sort_space(struct machine *m, struct space *s)
{
	qsort_r(s->by_start.v, s->by_start.n, sizeof(*s->by_start.v), by_start, m->maps.v);
	fill_extents(m, s, 0, s->by_start.n);
	uint64_t before = 0;
	for (size_t i = 0; i < s->by_start.n; i++) {
		s->extents.v[i].before = before;
		before = max_u64(before, m->maps.v[s->by_start.v[i]].end);
	}
	s->sorted = s->by_start.n;
	s->changed = 0;
}

void machine_sort_spaces(struct machine *m, int all)
{
	for (size_t i = 0; i < m->unsorted.n; i++)
		sort_space(m, &m->spaces.v[m->unsorted.v[i]]);
	m->unsorted.n = 0;
	for (size_t i = 0; all && i < m->spaces.n; i++)
		if (m->spaces.v[i].changed)
			sort_space(m, &m->spaces.v[i]);
}

int machine_add_map(struct machine *m, uint32_t space, const struct pending *p, struct dso *d)
{
	struct map map = p->map;
	map.since = p->time;
	map.until = TIME_END;
	if (d->kind == DSO_VDSO) /* before 4.3 the kernel recorded its address as pgoff */
		map.pgoff = 0;
	if (map.end <= map.start)
		return 0;
	if (machine_dso(m, d, &map.dso) || vec_push(&m->maps, map))
		return ERR_NOMEM;
	struct dso *known = &m->dsos.v[map.dso];
	if (p->time < known->first || !(known->at_start | known->later))
		known->first = p->time;
	known->at_start |= !p->time;
	known->later |= !!p->time;
	return insert_map(m, space, (uint32_t)(m->maps.n - 1));
}

/* --- a program's own code --------------------------------------------------------------- */

int machine_note_text(struct machine *m, uint32_t space, uint32_t index)
{
	enum { TEXTS = 8 }; /* parts of a program's code; with BOLT two */
	struct space *s = &m->spaces.v[space];
	const struct map *map = &m->maps.v[index];
	/* the first of a new image, or of those that perf lists for a process that runs already */
	int first = !s->text.n && s->parent == NO_ID &&
		    (s->execed_from != NO_ID || !map->since) && !s->other_code;
	int again = s->text.n && s->text.n < TEXTS && m->maps.v[s->text.v[0]].dso == map->dso;
	s->other_code |= !first && !again;
	return first || again ? vec_push(&s->text, index) : 0;
}

/* The part of text that is inside of `map`, if that is all of it but for its alignment. */
static int covers(const struct map *map, const struct map *text, struct map *part)
{
	enum { HUGE_PAGE = 2 << 20 };
	*part = *text;
	part->start = map->start > text->start ? map->start : text->start;
	part->end = map->end < text->end ? map->end : text->end;
	part->pgoff += part->start - text->start;
	return part->start < part->end && part->start - map->start < HUGE_PAGE &&
	       map->end - part->end < HUGE_PAGE;
}

int machine_restore_text(struct machine *m, uint32_t space, uint32_t index)
{
	const uint32_t into = space;
	for (int depth = 0; space < m->spaces.n && depth < MAX_FORK_DEPTH; depth++) {
		const struct space *s = &m->spaces.v[space];
		for (size_t i = 0; i < s->text.n; i++) {
			struct map part;
			if (!covers(&m->maps.v[index], &m->maps.v[s->text.v[i]], &part))
				continue;
			part.since = m->maps.v[index].since;
			if (vec_push(&m->maps, part))
				return ERR_NOMEM;
			return insert_map(m, into, (uint32_t)m->maps.n - 1);
		}
		space = s->text.n ? NO_ID : s->parent;
	}
	return 0;
}

/* A search for the latest map of one space that contains addr at `time`. */
struct map_query {
	const struct machine *m;
	const struct space *s;
	uint64_t addr, time;
	const struct map *best;
	uint32_t best_index;
	unsigned steps; /* steps left; bounds searches that only a hostile recording makes long
			 */
};

static int holds(const struct map *c, uint64_t addr, uint64_t time)
{
	return c->start <= addr && addr < c->end && c->since <= time && c->until > time;
}

static void search_maps(struct map_query *q, size_t lo, size_t hi)
{
	if (lo >= hi || !q->steps)
		return;
	q->steps--;
	size_t mid = lo + (hi - lo) / 2;
	const struct map_extent *r = &q->s->extents.v[mid];
	if (r->end <= q->addr || r->since > q->time || r->until <= q->time ||
	    (q->best && r->last <= q->best_index))
		return;
	uint32_t index = q->s->by_start.v[mid];
	const struct map *c = &q->m->maps.v[index];
	if (c->start <= q->addr) {
		search_maps(q, mid + 1, hi);
		if (holds(c, q->addr, q->time) && (!q->best || index > q->best_index)) {
			q->best = c;
			q->best_index = index;
		}
	}
	search_maps(q, lo, mid);
}

static const struct map *own_map(const struct machine *m, const struct space *s, uint64_t addr,
				 uint64_t time)
{
	enum { STEPS_MAX = 1 << 14 };
	for (size_t i = s->by_start.n; i-- > s->sorted;) { /* latest first */
		const struct map *c = &m->maps.v[s->by_start.v[i]];
		if (holds(c, addr, time))
			return c;
	}
	size_t lo = PARTITION_POINT(i, 0, s->sorted, m->maps.v[s->by_start.v[i]].start <= addr);
	if (!lo)
		return NULL;
	if (s->extents.v[lo - 1].before <= addr) { /* nearly always: no other map contains it */
		const struct map *c = &m->maps.v[s->by_start.v[lo - 1]];
		return holds(c, addr, time) ? c : NULL;
	}
	struct map_query q = {.m = m, .s = s, .addr = addr, .time = time, .steps = STEPS_MAX};
	search_maps(&q, 0, s->sorted);
	return q.best;
}

const struct map *machine_map_then(const struct machine *m, uint32_t space, uint64_t addr,
				   uint64_t *time)
{
	for (int depth = 0; space < m->spaces.n && depth < MAX_FORK_DEPTH; depth++) {
		const struct space *s = &m->spaces.v[space];
		const struct map *found = own_map(m, s, addr, *time);
		if (found)
			return found;
		*time = s->fork_time;
		space = s->parent;
	}
	return NULL;
}

const struct map *machine_map_at(const struct machine *m, uint32_t space, uint64_t addr,
				 uint64_t time)
{
	return machine_map_then(m, space, addr, &time);
}

static int has_maps(const struct machine *m, uint32_t space)
{
	uint64_t time = TIME_END;
	for (int depth = 0; space < m->spaces.n && depth < MAX_FORK_DEPTH; depth++) {
		const struct space *s = &m->spaces.v[space];
		if (s->changes.n && s->changes.v[0] <= time)
			return 1;
		time = s->fork_time;
		space = s->parent;
	}
	return 0;
}

int machine_has_maps(const struct machine *m, const struct thread_view *v)
{
	if (has_maps(m, v->space))
		return 1;
	if (v->thread == NO_ID)
		return 0;
	const struct process *p = &m->processes.v[m->threads.v[v->thread].process];
	return p->images.n && has_maps(m, p->images.v[p->images.n - 1].space);
}

const struct map *machine_map_before_exec(const struct machine *m, uint32_t space,
					  uint64_t addr)
{
	if (space >= m->spaces.n || m->spaces.v[space].execed_from == NO_ID)
		return NULL;
	const struct space *s = &m->spaces.v[space];
	return machine_map_at(m, s->execed_from, addr, s->exec_time);
}
