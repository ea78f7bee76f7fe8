#include "libsym/name/match.h"
#include "base/mem.h"
#include "libsym/name/frame_table.h"
#include "libsym/name/match_text.h"

#include <stdlib.h>
#include <string.h>

enum {
	BOTH = MATCH_BEFORE | MATCH_AFTER,
	NOT_SHOWN = UINT32_MAX,
	COMM_LENGTH = 15, /* longer names of programs are cut by the kernel */
	TAIL_PARTS = 3,   /* of a source file's path, at most */
	STEM_SIZE = 512,
};

void match_release(struct match *m)
{
	strtab_release(&m->strings);
	vec_release(&m->modules);
	vec_release(&m->items);
	u64map_release(&m->module_of);
	buf_release(&m->text);
	*m = (struct match){.text = {0}};
}

/* --- adding --------------------------------------------------------------------------- */

/* The id of what was written to m->text. */
static int intern_text(struct match *m, uint32_t *id)
{
	int rc = buf_failed(&m->text) ||
				 strtab_intern_n(&m->strings, buf_cstr(&m->text), m->text.n, id)
			 ? ERR_NOMEM
			 : 0;
	buf_clear(&m->text);
	return rc;
}

static int intern_as(struct match *m, void (*how)(struct buf *, const char *), const char *s,
		     uint32_t *id)
{
	buf_clear(&m->text);
	how(&m->text, s);
	return intern_text(m, id);
}

static int module_id(struct match *m, const struct match_frame *f, uint32_t *id)
{
	static const char *const names[] = {NULL, "[kernel]", "[jit]", "", ""};
	struct match_module new = {.base = 0};
	const char *name = names[f->group] ? names[f->group] : f->dso;
	if (intern_as(m, match_file, name, &new.base))
		return ERR_NOMEM;
	if (u64map_get(&m->module_of, new.base, id))
		return 0;
	*id = new.same = (uint32_t)m->modules.n;
	if (intern_as(m, match_file_stem, name, &new.stem) || vec_push(&m->modules, new))
		return ERR_NOMEM;
	return u64map_put(&m->module_of, new.base, *id);
}

static int is_main(const char *name)
{
	return !strcmp(name, "main") || !strcmp(name, "main.main");
}

int match_add(struct match *m, const struct match_frame *f)
{
	struct match_item i = {.addr = f->addr,
			       .group = (uint8_t)f->group,
			       .inlined = f->inlined != 0,
			       .sides = (uint8_t)f->sides,
			       .same = (uint32_t)m->items.n};
	if (module_id(m, f, &i.module) || strtab_intern(&m->strings, f->name, &i.raw) ||
	    strtab_intern(&m->strings, f->src, &i.src))
		return ERR_NOMEM;
	struct match_module *mod = &m->modules.v[i.module];
	mod->sides |= f->sides;
	mod->inlined |= f->inlined ? f->sides : 0;
	mod->named |= *f->name ? f->sides : 0;
	mod->main |= f->group == MATCH_USER && is_main(f->name) ? f->sides : 0;
	i.name = i.raw;
	if ((f->group == MATCH_USER || f->group == MATCH_KERNEL) &&
	    intern_as(m, match_symbol, f->name, &i.name))
		return ERR_NOMEM;
	if (f->group == MATCH_JIT && intern_as(m, match_jit_symbol, f->name, &i.name))
		return ERR_NOMEM;
	return vec_push(&m->items, i);
}

/* --- modules -------------------------------------------------------------------------- */

/* The only module of that profile alone that passes; UINT32_MAX if there is not just one. */
static uint32_t only_module(const struct match *m, unsigned side, uint32_t stem)
{
	uint32_t found = UINT32_MAX;
	for (uint32_t i = 0; i < m->modules.n; i++) {
		const struct match_module *x = &m->modules.v[i];
		if (x->sides != side || x->same != i ||
		    (stem ? x->stem != stem : x->main != side))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = i;
	}
	return found;
}

/* Count the functions of a module, and those that are in *seen or, with `add`, put there. */
static int count_names(const struct match *m, uint32_t module, struct u64map *seen, int add,
		       size_t *all, size_t *shared)
{
	struct u64map own = {0};
	uint32_t any;
	int rc = 0;
	for (size_t i = 0; i < m->items.n && !rc; i++) {
		const struct match_item *x = &m->items.v[i];
		if (x->module != module || !x->name || u64map_get(&own, x->name, &any))
			continue;
		rc = u64map_put(&own, x->name, 0);
		rc = rc || !add ? rc : u64map_put(seen, x->name, 0);
		++*all;
		*shared += (size_t)u64map_get(seen, x->name, &any);
	}
	u64map_release(&own);
	return rc;
}

/* Pair the program of one profile with that of the other, if they have functions in common. */
static int pair_programs(struct match *m)
{
	uint32_t before = only_module(m, MATCH_BEFORE, 0),
		 after = only_module(m, MATCH_AFTER, 0);
	struct u64map seen = {0};
	size_t nb = 0, na = 0, shared = 0;
	if (before == UINT32_MAX || after == UINT32_MAX)
		return 0;
	int rc = count_names(m, before, &seen, 1, &nb, &shared);
	shared = 0;
	rc = rc ? rc : count_names(m, after, &seen, 0, &na, &shared);
	if (!rc && 2 * shared >= (nb < na ? nb : na))
		m->modules.v[before].same = after;
	u64map_release(&seen);
	return rc;
}

static int pair_modules(struct match *m)
{
	for (uint32_t i = 0; i < m->modules.n; i++) {
		struct match_module *x = &m->modules.v[i];
		if (x->sides != MATCH_BEFORE || !x->stem ||
		    only_module(m, MATCH_BEFORE, x->stem) != i)
			continue;
		uint32_t after = only_module(m, MATCH_AFTER, x->stem);
		x->same = after == UINT32_MAX ? i : after;
	}
	int rc = pair_programs(m);
	for (uint32_t i = 0; i < m->modules.n; i++) {
		const struct match_module *x = &m->modules.v[i];
		struct match_module *to = &m->modules.v[x->same];
		to->sides |= x->sides;
		to->inlined |= x->inlined;
		to->named |= x->named;
	}
	return rc;
}

/* Folded text has no modules: then names alone are compared. */
static void drop_modules(struct match *m)
{
	unsigned with = 0;
	for (size_t i = 0; i < m->items.n; i++)
		if (m->items.v[i].group == MATCH_USER &&
		    m->modules.v[m->items.v[i].module].base)
			with |= m->items.v[i].sides;
	for (size_t i = 0; i < m->items.n; i++) {
		struct match_item *x = &m->items.v[i];
		uint32_t none;
		x->module = m->modules.v[x->module].same;
		if (with == BOTH || x->group > MATCH_JIT)
			continue;
		x->group = MATCH_USER;
		x->module = u64map_get(&m->module_of, 0, &none) ? none : 0;
	}
}

/* 1 for a module in both profiles, of which one has no symbols. */
static int lacks_names(const struct match_module *x)
{
	return x->base && x->sides == BOTH && x->named && x->named != BOTH;
}

/* A module without symbols is compared as a whole. */
static void drop_names(struct match *m)
{
	for (size_t i = 0; i < m->items.n; i++) {
		struct match_item *x = &m->items.v[i];
		if (x->group == MATCH_USER && lacks_names(&m->modules.v[x->module]))
			x->name = 0;
	}
}

/* --- threads -------------------------------------------------------------------------- */

/* A thread with the name of a program that was paired has the name of its counterpart. */
static int rename_thread(struct match *m, struct match_item *x)
{
	const char *name = strtab_get(&m->strings, x->raw);
	for (size_t i = 0; i < m->modules.n; i++) {
		const struct match_module *mod = &m->modules.v[i];
		const char *base = strtab_get(&m->strings, mod->base);
		if (mod->same == i || !*base || strncmp(base, name, COMM_LENGTH))
			continue;
		const char *to = strtab_get(&m->strings, m->modules.v[mod->same].base);
		size_t n = strlen(to);
		return strtab_intern_n(&m->strings, to, n < COMM_LENGTH ? n : COMM_LENGTH,
				       &x->name);
	}
	return 0;
}

static int rename_threads(struct match *m)
{
	int rc = 0;
	for (size_t i = 0; i < m->items.n && !rc; i++)
		if (m->items.v[i].group == MATCH_THREAD && m->items.v[i].sides == MATCH_BEFORE)
			rc = rename_thread(m, &m->items.v[i]);
	return rc;
}

/* --- groups --------------------------------------------------------------------------- */

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int item_order(const void *pa, const void *pb, void *match)
{
	const struct match *m = match;
	const struct match_item *a = &m->items.v[*(const uint32_t *)pa];
	const struct match_item *b = &m->items.v[*(const uint32_t *)pb];
	int c = compare_u32(a->group, b->group);
	c = c ? c : compare_u32(a->module, b->module);
	c = c ? c : compare_u32(a->stem, b->stem);
	c = c ? c : compare_u32(a->name, b->name);
	return c ? c : compare_u32(a->file, b->file);
}

/* Same as far as sorted: by name and, with `file`, by file. */
static int alike(const struct match_item *a, const struct match_item *b, int file)
{
	return a->group == b->group && a->module == b->module && a->stem == b->stem &&
	       a->name == b->name && (!file || a->file == b->file);
}

/* The number of runs of equal texts among n sorted ones. */
static size_t distinct(const uint32_t *v, size_t n)
{
	size_t runs = 0;
	for (size_t i = 0; i < n; i++)
		runs += !i || v[i] != v[i - 1];
	return runs;
}

static int u32_order(const void *a, const void *b)
{
	return compare_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* The last parts of a path. */
static const char *path_tail(const char *path, int parts)
{
	const char *s = path + strlen(path);
	while (s > path && (s[-1] != '/' || --parts))
		s--;
	return s;
}

/* The number of different files (cut to `parts`; 0: whole), or 0 if the frames of that profile
 * are one function: one symbol, or several of one file. ERR_NOMEM. */
static int count_files(struct match *m, const uint32_t *order, size_t n, unsigned side,
		       int parts, size_t *files)
{
	uint32_t *v = mem_zalloc(n, sizeof(*v));
	size_t used = 0, starts = 0;
	uint64_t first = 0;
	for (size_t i = 0; v && i < n; i++) {
		const struct match_item *x = &m->items.v[order[i]];
		if (!(x->sides & side))
			continue;
		const char *src = strtab_get(&m->strings, x->src);
		if (!*src)
			continue;
		if (strtab_intern(&m->strings, parts ? path_tail(src, parts) : src, &v[used++]))
			break;
		if (!x->inlined && x->raw == x->name && x->addr != first) {
			starts++;
			first = x->addr;
		}
	}
	if (v)
		qsort(v, used, sizeof(*v), u32_order);
	*files = v && starts > 1 ? distinct(v, used) : 0;
	mem_free(v);
	return v ? 0 : ERR_NOMEM;
}

/* Static functions of one name: note their files, cut to as many parts as distinguish them. */
static int tell_apart(struct match *m, const uint32_t *order, size_t n)
{
	size_t all[2], cut[2];
	int parts = 1;
	if (n < 2 || !m->items.v[order[0]].name)
		return 0;
	for (int s = 0; s < 2; s++)
		if (count_files(m, order, n, MATCH_BEFORE << s, 0, &all[s]))
			return ERR_NOMEM;
	if (all[0] < 2 && all[1] < 2)
		return 0;
	for (; parts < TAIL_PARTS; parts++) {
		for (int s = 0; s < 2; s++)
			if (count_files(m, order, n, MATCH_BEFORE << s, parts, &cut[s]))
				return ERR_NOMEM;
		if (cut[0] == all[0] && cut[1] == all[1])
			break;
	}
	for (size_t i = 0; i < n; i++) {
		struct match_item *x = &m->items.v[order[i]];
		const char *src = strtab_get(&m->strings, x->src);
		if (strtab_intern(&m->strings, path_tail(src, parts), &x->file))
			return ERR_NOMEM;
	}
	return 0;
}

/* 1 when `a` stands for both rather than `b`. */
static int represents(const struct match *m, const struct match_item *a,
		      const struct match_item *b)
{
	if (!a->raw != !b->raw)
		return !a->raw;
	if ((a->sides & MATCH_AFTER) != (b->sides & MATCH_AFTER))
		return (a->sides & MATCH_AFTER) != 0;
	if (a->inlined != b->inlined)
		return b->inlined;
	return strtab_len(&m->strings, a->raw) < strtab_len(&m->strings, b->raw);
}

/* Make the items one. */
static void unite(struct match *m, const uint32_t *order, size_t n)
{
	uint32_t best = order[0];
	unsigned sides = 0;
	for (size_t i = 0; i < n; i++) {
		sides |= m->items.v[order[i]].sides;
		if (represents(m, &m->items.v[order[i]], &m->items.v[best]))
			best = order[i];
	}
	for (size_t i = 0; i < n; i++) {
		m->items.v[order[i]].same = best;
		m->items.v[order[i]].sides = (uint8_t)sides;
	}
}

/* The same for each run of items that are alike. */
static int each_run(struct match *m, uint32_t *order, int file,
		    int (*what)(struct match *, const uint32_t *, size_t))
{
	size_t n = m->items.n, to;
	int rc = 0;
	qsort_r(order, n, sizeof(*order), item_order, m);
	for (size_t from = 0; from < n && !rc; from = to) {
		for (to = from + 1; to < n; to++)
			if (!alike(&m->items.v[order[from]], &m->items.v[order[to]], file))
				break;
		rc = what(m, order + from, to - from);
	}
	return rc;
}

static int unite_run(struct match *m, const uint32_t *order, size_t n)
{
	unite(m, order, n);
	return 0;
}

/* --- what only one profile has ----------------------------------------------------------- */

/* Without arguments, or a thread's name without numbers; 0: none. */
static int stem_of(struct match *m, const struct match_item *x, uint32_t *stem)
{
	char plain[STEM_SIZE];
	const char *name = strtab_get(&m->strings, x->name);
	*stem = 0;
	if (!x->name || x->group == MATCH_OTHER || x->group == MATCH_JIT)
		return 0;
	if (x->group == MATCH_THREAD)
		return intern_as(m, match_file_stem, name, stem);
	frame_plain_name(name, plain, sizeof(plain));
	return strtab_intern(&m->strings, strcmp(plain, "{}") ? plain : "", stem);
}

/* Unite items of one stem that are each in one profile only, if they are of both. */
static int unite_stem(struct match *m, const uint32_t *order, size_t n)
{
	unsigned sides = 0;
	for (size_t i = 0; i < n; i++)
		sides |= m->items.v[order[i]].sides;
	if (m->items.v[order[0]].stem && sides == BOTH)
		unite(m, order, n);
	return 0;
}

static int match_stems(struct match *m, uint32_t *order)
{
	uint32_t *names = mem_zalloc(m->items.n, sizeof(*names));
	int rc = names ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < m->items.n && !rc; i++) {
		struct match_item *x = &m->items.v[i];
		names[i] = x->name;
		if (x->sides == BOTH)
			continue;
		rc = stem_of(m, x, &x->stem);
		x->name = x->stem ? 0 : x->name; /* compared by stem */
	}
	rc = rc ? rc : each_run(m, order, 1, unite_stem);
	for (size_t i = 0; i < m->items.n && names; i++)
		m->items.v[i].name = names[i];
	mem_free(names);
	return rc;
}

/* An inlined call that the other profile cannot show, because it has no debug information. */
static void hide_inlined(struct match *m)
{
	for (size_t i = 0; i < m->items.n; i++) {
		struct match_item *x = &m->items.v[i];
		const struct match_module *mod = &m->modules.v[x->module];
		int only = mod->inlined == x->sides && mod->named == BOTH && x->sides != BOTH &&
			   m->items.v[x->same].inlined;
		int whole = x->inlined && lacks_names(mod);
		if (x->group == MATCH_USER && (only || whole))
			x->same = NOT_SHOWN;
	}
}

int match_finish(struct match *m)
{
	uint32_t *order = mem_zalloc(m->items.n + 1, sizeof(*order));
	int rc = order ? pair_modules(m) : ERR_NOMEM;
	for (size_t i = 0; order && i < m->items.n; i++)
		order[i] = (uint32_t)i;
	if (!rc) {
		drop_modules(m);
		drop_names(m);
		rc = rename_threads(m);
	}
	rc = rc ? rc : each_run(m, order, 0, tell_apart);
	rc = rc ? rc : each_run(m, order, 1, unite_run);
	rc = rc ? rc : match_stems(m, order);
	if (!rc)
		hide_inlined(m);
	mem_free(order);
	return rc;
}

/* --- answers -------------------------------------------------------------------------- */

uint32_t match_of(const struct match *m, uint32_t id)
{
	return m->items.v[id].same;
}

/* 1 for a shared library, whose version is no news. */
static int is_library(const struct match *m, const struct match_module *x)
{
	return strstr(strtab_get(&m->strings, x->base), ".so") != NULL;
}

static void note_inlined(const struct match *m, struct buf *out)
{
	for (size_t i = 0; i < m->items.n; i++) {
		const struct match_item *x = &m->items.v[i];
		uint32_t last = x->module;
		if (x->same != NOT_SHOWN || lacks_names(&m->modules.v[last]))
			continue;
		buf_fmt(out, "%sinlined calls of %s are known only %s: part of their callers",
			out->n ? "; " : "", strtab_get(&m->strings, m->modules.v[last].base),
			x->sides == MATCH_BEFORE ? "before" : "after");
		return;
	}
}

void match_notes(const struct match *m, struct buf *out)
{
	for (size_t i = 0; i < m->modules.n; i++) {
		const struct match_module *x = &m->modules.v[i];
		if (x->same == i && lacks_names(x))
			buf_fmt(out, "%s%s has no symbols %s, so it is compared as a whole",
				out->n ? "; " : "", strtab_get(&m->strings, x->base),
				x->named == MATCH_AFTER ? "before" : "after");
		if (x->same == i || is_library(m, x))
			continue;
		buf_fmt(out, "%s%s is compared with %s", out->n ? "; " : "",
			strtab_get(&m->strings, x->base),
			strtab_get(&m->strings, m->modules.v[x->same].base));
	}
	note_inlined(m, out);
}
