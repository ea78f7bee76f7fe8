#include "libtime/join/sites.h"
#include "base/text/buf.h"

#include <string.h>

/* The process of a thread; -1: it was not recorded. */
static int32_t pid_of(const struct timeline *tl, int32_t tid)
{
	for (size_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].tid == tid && tl->threads.v[i].pid > 0)
			return tl->threads.v[i].pid;
	return -1;
}

/* The function at a user address of a process at that time; 0: unknown. */
static int function_at(struct profile *p, int32_t pid, int32_t tid, uint64_t ns, uint64_t addr,
		       uint32_t *name, struct buf *where, struct err *e)
{
	struct thread_view v;
	uint64_t words[2] = {UNWOUND_USER, addr};
	uint32_t path;
	machine_thread_at(&p->machine, pid, tid, ns, &v);
	*name = 0;
	if (v.space == NO_ID)
		return 0;
	struct stack_entry x = {.samples = 1,
				.first = ns,
				.words = (const uint8_t *)words,
				.nwords = 2,
				.comm = v.comm,
				.pid = pid,
				.tid = tid,
				.space = v.space,
				.version = v.version,
				.kind = CHAIN_UNWOUND};
	int r = names_symbolize(&p->names, &x, &path, e);
	if (r || !path)
		return r;
	*name = p->stacks.frames.v[p->stacks.paths.v[path].frame].name;
	const struct map *m = machine_map_at(&p->machine, v.space, addr, ns);
	if (m) {
		const char *file =
			strtab_get(&p->stacks.strings, p->machine.dsos.v[m->dso].name);
		const char *slash = strrchr(file, '/');
		buf_fmt(where, "%s+0x%llx", slash ? slash + 1 : file,
			(unsigned long long)(addr - m->start + m->pgoff));
	}
	return 0;
}

static int name_site(struct side *side, struct profile *p, const struct timeline *tl,
		     const struct side_clock_map *map, const struct side_span *s, uint32_t *id,
		     struct err *e)
{
	struct buf name = {0}, where = {0};
	uint64_t ns, addr = s->site - 1;
	uint32_t function = 0;
	int32_t pid = p ? pid_of(tl, s->tid) : -1;
	int r = 0;
	if (pid > 0 && !side_clock_apply(map, s->end_ns, &ns))
		r = function_at(p, pid, s->tid, ns, addr, &function, &where, e);
	if (function)
		buf_fmt(&name, "%s at ", strtab_get(side->strings, function));
	if (where.n)
		buf_add(&name, where.v, where.n);
	else
		buf_fmt(&name, "0x%llx", (unsigned long long)addr);
	if (!r &&
	    (buf_failed(&name) || buf_failed(&where) || side_intern(side, name.v, name.n, id)))
		r = err_nomem(e);
	buf_release(&name);
	buf_release(&where);
	return r;
}

int side_name_sites(struct side *side, struct profile *p, const struct timeline *tl,
		    const struct side_clock_map *map, struct err *e)
{
	struct u64map known = {0};
	int r = 0;
	for (size_t i = 0; i < side->spans.n && !r; i++) {
		struct side_span *s = &side->spans.v[i];
		if (!s->site || u64map_get(&known, s->site, &s->name))
			continue;
		r = name_site(side, p, tl, map, s, &s->name, e);
		if (!r && u64map_put(&known, s->site, s->name))
			r = err_nomem(e);
	}
	u64map_release(&known);
	return r;
}
