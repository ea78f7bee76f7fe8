#include "libtime/join/sites.h"
#include "base/text/buf.h"
#include "libtime/join/code_at.h"

#include <string.h>

/* The process of a thread; -1: it was not recorded. */
static int32_t pid_of(const struct timeline *tl, int32_t tid)
{
	for (size_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].tid == tid && tl->threads.v[i].pid > 0)
			return tl->threads.v[i].pid;
	return -1;
}

/* "serve at server+0x1a2f", as far as it is known. */
static void describe(struct buf *b, const struct strtab *s, const struct code_at *c,
		     uint64_t addr)
{
	const char *file = c->file ? strtab_get(s, c->file) : "", *slash = strrchr(file, '/');
	if (c->function)
		buf_fmt(b, "%s at ", strtab_get(s, c->function));
	if (c->file)
		buf_fmt(b, "%s+", slash ? slash + 1 : file);
	buf_fmt(b, "0x%llx", (unsigned long long)(c->file ? c->place : addr));
}

static int name_site(struct side *side, struct profile *p, const struct timeline *tl,
		     const struct side_clock_map *map, const struct side_span *s, uint32_t *id,
		     struct err *e)
{
	struct buf name = {0};
	struct code_at code;
	uint64_t ns = 0, addr = s->site - 1;
	int32_t pid = side_clock_apply(map, s->end_ns, &ns) ? -1 : pid_of(tl, s->tid);
	int r = code_at(p, side, pid, ns, addr, &code);
	describe(&name, side->strings, &code, addr);
	if (r < 0 || buf_failed(&name) || side_intern(side, name.v, name.n, id))
		r = err_nomem(e);
	buf_release(&name);
	return r < 0 ? r : 0;
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
