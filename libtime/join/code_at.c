#include "libtime/join/code_at.h"
#include "base/search.h"

/* The frames of an address in `map`, read if they have not been. */
static int look_up(struct profile *p, const struct map *map, uint64_t addr, uint64_t ns,
		   struct code_at *out)
{
	struct module_symbols s = {0};
	struct module_lookup l = {0};
	uint64_t offset = addr - map->start + map->pgoff;
	int r = modules_read(p->modules, map->dso, offset, &s);
	if (r == 1 && !s.table)
		modules_read_unit(p->modules, map->dso, offset);
	if (r < 0)
		return r;
	modules_lock(p->modules);
	r = modules_lookup(p->modules, map, addr, ns, LOOKUP_EXACT, &l);
	modules_unlock(p->modules);
	if (r || !l.n)
		return r;
	out->function = l.frames[0].name;
	out->symbol = l.frames[l.n - 1].name;
	out->symbol_at = l.frames[l.n - 1].start;
	return 0;
}

static int by_recording(struct profile *p, int32_t pid, uint64_t ns, uint64_t addr,
			struct code_at *out)
{
	struct thread_view v;
	machine_thread_at(&p->machine, pid, pid, ns, &v);
	const struct map *m =
		v.space == NO_ID ? NULL : machine_map_at(&p->machine, v.space, addr, ns);
	if (!m)
		return 0;
	out->file = p->machine.dsos.v[m->dso].name;
	out->place = names_place(&p->machine, m, addr);
	int r = look_up(p, m, addr, ns, out);
	return r ? r : 1;
}

/* The file's own mappings, which are sorted. */
static int by_side(struct profile *p, const struct side *side, uint64_t ns, uint64_t addr,
		   struct code_at *out)
{
	const struct side_map *v = side->maps.v;
	size_t at = PARTITION_POINT(i, 0, side->maps.n, v[i].end <= addr);
	if (at == side->maps.n || v[at].start > addr)
		return 0;
	struct map m = {.start = v[at].start,
			.end = v[at].end,
			.pgoff = v[at].offset,
			.until = UINT64_MAX,
			.dso = p ? modules_dso_named(p->modules, v[at].path) : NO_ID};
	out->file = v[at].path;
	out->place = addr - m.start + m.pgoff;
	int r = m.dso == NO_ID ? 0 : look_up(p, &m, addr, ns, out);
	return r ? r : 1;
}

int code_at(struct profile *p, const struct side *side, int32_t pid, uint64_t ns, uint64_t addr,
	    struct code_at *out)
{
	*out = (struct code_at){0};
	int r = p && pid > 0 ? by_recording(p, pid, ns, addr, out) : 0;
	return r ? r : by_side(p, side, ns, addr, out);
}
