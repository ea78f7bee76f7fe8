#include "libtime/record/calls.h"
#include "base/mem.h"
#include "base/text/nearest.h"
#include "base/text/path.h"
#include "libsym/dwarf/debug_info.h"
#include "libsym/elf/symtab.h"
#include "libsym/name/demangle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64 }; /* most places of one probe */

/* A binary, with its symbols and lines. */
struct target {
	struct elf_file *file, *debug; /* debug: the distribution's debug file, or NULL */
	struct symtab *symbols;
	struct debuginfo *info; /* NULL until lines are needed */
	const char *path;
};

/* Find the distribution's debug file. */
static void find_debug(struct target *t)
{
	char hex[2 * BUILD_ID_MAX + 1], path[PATH_MAX];
	if (!t->file->id.len)
		return;
	build_id_hex(&t->file->id, hex);
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (elf_file_open(path, &t->debug, NULL))
		t->debug = NULL;
	else if (!build_id_equal(&t->file->id, &t->debug->id))
		elf_file_close(t->debug), t->debug = NULL;
}

static void target_close(struct target *t)
{
	debuginfo_close(t->info);
	symtab_free(t->symbols);
	elf_file_close(t->debug);
	elf_file_close(t->file);
}

static int target_open(struct target *t, const char *path, struct err *e)
{
	*t = (struct target){.path = path};
	int r = elf_file_open(path, &t->file, e);
	if (r)
		return r;
	find_debug(t);
	return symtab_from_elf(t->file, t->debug, NULL, &t->symbols, e);
}

/* The file offset of an address in an executable segment: 1, or 0. */
static int offset_of(const struct target *t, uint64_t va, uint64_t *offset)
{
	for (size_t i = 0; i < t->file->nsegments; i++) {
		const struct elf_segment *s = &t->file->segments[i];
		if (!(s->flags & PF_X) || va < s->vaddr || va - s->vaddr >= s->filesz)
			continue;
		*offset = va - s->vaddr + s->offset;
		return 1;
	}
	return 0;
}

static int is_function(const struct symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && s->size;
}

static const char *name_of(const struct target *t, const struct symbol *s)
{
	return t->symbols->names + s->name;
}

/* --- places --------------------------------------------------------------------------- */

static int place_order(const void *a, const void *b)
{
	const struct call_place *x = a, *y = b;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int add_place(struct calls *c, const struct target *t, struct call_place x)
{
	if (!offset_of(t, x.vaddr, &x.offset))
		return 0;
	for (size_t i = 0; i < c->places.n; i++)
		if (!place_order(&c->places.v[i], &x))
			return 0;
	return vec_push(&c->places, x);
}

/* `name` without its parameters, in b; NULL: it has none. */
static const char *plain_name(const char *name, struct buf *b)
{
	buf_clear(b);
	return demangle(name, 0, b) == 1 && !buf_failed(b) ? buf_cstr(b) : NULL;
}

static int no_function(const struct target *t, const char *func, struct err *e)
{
	struct nearest near = nearest_to(func, strlen(func));
	struct buf b = {0};
	for (size_t i = 0; i < t->symbols->n; i++)
		if (is_function(&t->symbols->symbols[i]))
			nearest_offer(&near, name_of(t, &t->symbols->symbols[i]));
	for (size_t i = 0; !near.best && i < t->symbols->n; i++)
		if (is_function(&t->symbols->symbols[i]) &&
		    strstr(name_of(t, &t->symbols->symbols[i]), func))
			near.best = name_of(t, &t->symbols->symbols[i]);
	if (near.best)
		plain_name(near.best, &b);
	err_set(e, ERR_NOTFOUND, "%s has no function '%s'%s%s%s; --list lists them", t->path,
		func, near.best ? "; did you mean '" : "",
		near.best ? (b.n ? buf_cstr(&b) : near.best) : "", near.best ? "'" : "");
	buf_release(&b);
	return ERR_NOTFOUND;
}

static int find_function(struct calls *c, const struct target *t, uint32_t region,
			 const char *func, struct err *e)
{
	size_t before = c->places.n;
	struct buf b = {0};
	int r = 0;
	for (size_t i = 0; !r && i < t->symbols->n; i++) {
		const struct symbol *s = &t->symbols->symbols[i];
		const char *raw = name_of(t, s), *plain;
		if (!is_function(s))
			continue;
		if (strcmp(raw, func) != 0 &&
		    (!(plain = plain_name(raw, &b)) || strcmp(plain, func) != 0))
			continue;
		r = add_place(c, t, (struct call_place){.region = region, .vaddr = s->start});
		if (!r)
			r = add_place(c, t,
				      (struct call_place){.region = region,
							  .vaddr = s->start,
							  .end = 1,
							  .is_return = 1});
	}
	buf_release(&b);
	if (r)
		return err_nomem(e);
	return c->places.n > before ? 0 : no_function(t, func, e);
}

/* --- lines ---------------------------------------------------------------------------- */

struct lines {
	const struct target *t;
	const struct calls *begins; /* for ends: only in functions with a begin; or NULL */
	const char *file;
	uint32_t region;
	uint32_t from, to; /* range in which the first line with a statement is wanted */
	uint32_t line;     /* that line; 0: none yet */
	VEC(uint64_t) at;  /* addresses of its statements */
	int files;         /* the file was found */
};

/* Does `path` end with the path `file`? */
static int is_file(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);
	return n >= m && !strcmp(path + n - m, file) && (n == m || path[n - m - 1] == '/');
}

/* Is va in a function that already has a place of the region? */
static int is_in_known_function(const struct calls *c, const struct target *t, uint32_t region,
				int end, uint64_t va)
{
	struct symbol_hit at, other;
	if (!symtab_find(t->symbols, va, &at))
		return 0;
	for (size_t i = 0; i < c->places.n; i++) {
		const struct call_place *x = &c->places.v[i];
		if (x->region == region && x->end == end &&
		    symtab_find(t->symbols, x->vaddr, &other) && other.start == at.start)
			return 1;
	}
	return 0;
}

static int add_statement(void *ctx, uint64_t va, const char *file, uint32_t line)
{
	struct lines *l = ctx;
	if (!is_file(file, l->file))
		return 0;
	l->files = 1;
	if (line < l->from || line > l->to || (l->line && line > l->line))
		return 0;
	if (l->begins && !is_in_known_function(l->begins, l->t, l->region, 0, va))
		return 0;
	if (line < l->line || !l->line) {
		l->line = line;
		l->at.n = 0;
	}
	return vec_push(&l->at, va);
}

/* Add the lowest address in each function. */
static int add_lines(struct calls *c, const struct lines *l)
{
	for (size_t i = 0; i < l->at.n; i++) {
		struct symbol_hit hit, other;
		int first = symtab_find(l->t->symbols, l->at.v[i], &hit);
		for (size_t k = 0; first && k < l->at.n; k++)
			first = !(l->at.v[k] < l->at.v[i] &&
				  symtab_find(l->t->symbols, l->at.v[k], &other) &&
				  other.start == hit.start);
		if (first && add_place(c, l->t,
				       (struct call_place){.region = l->region,
							   .vaddr = l->at.v[i],
							   .end = l->begins != NULL,
							   .line = l->line}))
			return ERR_NOMEM;
	}
	return 0;
}

/* Drop begins in functions without an end, since their spans would never end. */
static void drop_lone_begins(struct calls *c, const struct target *t, uint32_t region)
{
	size_t n = 0;
	for (size_t i = 0; i < c->places.n; i++) {
		const struct call_place *x = &c->places.v[i];
		if (x->region != region || x->end ||
		    is_in_known_function(c, t, region, 1, x->vaddr))
			c->places.v[n++] = *x;
	}
	c->places.n = n;
}

static int open_info(struct target *t, struct err *e)
{
	struct debuginfo_options opt = {.statements = 1};
	if (t->info)
		return 0;
	int r = debuginfo_open(t->file, t->debug, &opt, &t->info, e);
	if (r == ERR_NOTFOUND)
		err_set(e, r, "%s has no debug information, so lines cannot be found (-g)",
			t->path);
	return r;
}

static int find_line(struct calls *c, struct lines *l, struct err *e)
{
	l->line = 0;
	l->at.n = 0;
	int r = debuginfo_each_statement(l->t->info, add_statement, l);
	r = r ? r : add_lines(c, l);
	if (r)
		return err_nomem(e);
	if (l->at.n)
		return 0;
	if (l->begins)
		return err_set(e, ERR_NOTFOUND,
			       "%s: no statement begins on line %u of %s or below in that "
			       "function: end on an earlier line, or give the function",
			       l->t->path, l->from, l->file);
	if (!l->files)
		return err_set(e, ERR_NOTFOUND, "%s has no code from a file %s", l->t->path,
			       l->file);
	char to[32] = "";
	if (l->to > l->from)
		snprintf(to, sizeof(to), " to %u", l->to);
	return err_set(e, ERR_NOTFOUND, "%s: no statement begins on line%s %u%s of %s",
		       l->t->path, *to ? "s" : "", l->from, to, l->file);
}

/* Parse "FILE:FIRST-LAST": 1, or 0 if it is another text. */
static int parse_lines(const char *text, struct buf *file, uint32_t *from, uint32_t *to)
{
	const char *colon = strrchr(text, ':');
	char more;
	if (!colon || colon == text || sscanf(colon + 1, "%u-%u%c", from, to, &more) != 2)
		return 0;
	buf_add(file, text, (size_t)(colon - text));
	return 1;
}

static int find_lines(struct calls *c, struct target *t, uint32_t region, const char *file,
		      uint32_t from, uint32_t to, struct err *e)
{
	struct lines l = {.t = t, .file = file, .region = region, .from = from, .to = to - 1};
	if (!from || from >= to)
		return err_set(
			e, ERR_USAGE,
			"%s:%u-%u: the second line, where the call ends, must follow the first",
			file, from, to);
	int r = open_info(t, e);
	r = r ? r : find_line(c, &l, e);
	l.begins = c;
	l.from = to;
	l.to = UINT32_MAX;
	r = r ? r : find_line(c, &l, e);
	if (!r)
		drop_lone_begins(c, t, region);
	vec_release(&l.at);
	return r;
}

/* --- names ---------------------------------------------------------------------------- */

/* Words with another meaning for perf's event parser. */
static int perf_misreads(const char *s)
{
	static const char *const words[] = {"cycles", "branches",   "instructions",
					    "faults", "cs",         "migrations",
					    "mem",    "bus-cycles", "dummy"};
	size_t n = strlen(s);
	if (strspn(s, "ukhpPGHSDIWebR") == n)
		return 1;
	if (*s == 'r' && strspn(s + 1, "0123456789abcdefABCDEF") == n - 1)
		return 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(s, words[i]))
			return 1;
	return 0;
}

/* A name for the kernel: letters, digits and _, at most 40. */
static int name_region(const struct calls *c, struct call_region *r, const char *text)
{
	enum { NAME = 40 };
	struct buf b = {0};
	for (const char *p = path_base(text); *p && *p != '(' && b.n < NAME; p++) {
		int plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9' && b.n);
		buf_char(&b, plain ? *p : '_');
	}
	if (perf_misreads(buf_cstr(&b)))
		buf_str(&b, "_");
	for (size_t i = 0; i < c->regions.n; i++)
		if (!strcmp(c->regions.v[i].name, buf_cstr(&b)))
			buf_fmt(&b, "_%zu", c->regions.n + 1);
	r->name = buf_failed(&b) ? NULL : mem_strdup(buf_cstr(&b));
	buf_release(&b);
	return r->name ? 0 : ERR_NOMEM;
}

static int find_region(struct calls *c, struct target *t, const char *text, struct err *e)
{
	struct call_region x = {.text = mem_strdup(text)};
	uint32_t from, to, region = (uint32_t)c->regions.n;
	struct buf file = {0};
	x.is_lines = (uint8_t)parse_lines(text, &file, &from, &to);
	int r = !x.text || name_region(c, &x, text) || vec_push(&c->regions, x) ? err_nomem(e)
		: x.is_lines ? find_lines(c, t, region, buf_cstr(&file), from, to, e)
			     : find_function(c, t, region, text, e);
	if (c->regions.n == region) {
		mem_free(x.text);
		mem_free(x.name);
	}
	buf_release(&file);
	return r;
}

int calls_find(struct calls *out, const char *binary, const char *const *regions, size_t n,
	       struct err *e)
{
	struct target t;
	int r = target_open(&t, binary, e);
	for (size_t i = 0; !r && i < n; i++) {
		size_t before = out->places.n;
		r = find_region(out, &t, regions[i], e);
		if (!r && out->places.n - before > PLACES)
			r = err_set(e, ERR_LIMIT, "%s is at more than %d places", regions[i],
				    PLACES);
	}
	if (!r && out->places.n)
		qsort(out->places.v, out->places.n, sizeof(*out->places.v), place_order);
	target_close(&t);
	if (!r && e) /* errors of optional files */
		*e = (struct err){0};
	return r;
}

void calls_release(struct calls *c)
{
	for (size_t i = 0; i < c->regions.n; i++) {
		mem_free(c->regions.v[i].text);
		mem_free(c->regions.v[i].name);
	}
	vec_release(&c->regions);
	vec_release(&c->places);
}

int calls_list_functions(struct buf *out, const char *binary, struct err *e)
{
	struct target t;
	struct buf b = {0};
	int r = target_open(&t, binary, e);
	for (size_t i = 0; !r && i < t.symbols->n; i++) {
		const struct symbol *s = &t.symbols->symbols[i];
		const char *plain;
		if (!is_function(s))
			continue;
		plain = plain_name(name_of(&t, s), &b);
		buf_fmt(out, "0x%llx %s\n", (unsigned long long)s->start,
			plain ? plain : name_of(&t, s));
	}
	target_close(&t);
	r = r ? r : buf_failed(out) || buf_failed(&b) ? err_nomem(e) : 0;
	buf_release(&b);
	return r;
}
