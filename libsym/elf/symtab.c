#include "libsym/elf/symtab.h"

#include "base/mem.h"
#include "base/radix.h"
#include "base/search.h"
#include "libsym/name/demangle.h"

#include <string.h>

/* --- sorting ---------------------------------------------------------------------------- */

/* Linkers and /proc/kallsyms write nearly sorted tables of 10^5 to 10^6 symbols. */
static int is_sorted(const struct raw_symbol *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].start < v[i - 1].start)
			return 0;
	return 1;
}

static int sort_symbols(struct raw_symbol **v, size_t n)
{
	if (is_sorted(*v, n))
		return 0;
	struct radix_key *a = mem_zalloc(n, sizeof(*a)), *b = mem_zalloc(n, sizeof(*b));
	struct raw_symbol *sorted = mem_zalloc(n, sizeof(*sorted));
	if (!a || !b || !sorted) {
		mem_free(a);
		mem_free(b);
		mem_free(sorted);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++)
		a[i] = (struct radix_key){(*v)[i].start, i};
	const struct radix_key *in_order = radix_sort(a, b, n);
	for (size_t i = 0; i < n; i++)
		sorted[i] = (*v)[in_order[i].at];
	mem_free(a);
	mem_free(b);
	mem_free(*v);
	*v = sorted;
	return 0;
}

/* --- ends ------------------------------------------------------------------------------- */

static uint64_t next_page(uint64_t addr)
{
	uint64_t x;
	if (__builtin_add_overflow(addr, 4096 + 4095, &x))
		return UINT64_MAX;
	return x & ~(uint64_t)4095;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * perf's symbols__fixup_end: a symbol without a size extends to the next entry, even at the
 * same address (then it stays empty and loses to its aliases). At the border between the kernel
 * and a module, or two modules, it ends with the following page.
 */
static void set_ends(struct symtab_builder *b)
{
	for (size_t i = 0; i < b->raw.n; i++) {
		struct raw_symbol *s = &b->raw.v[i], *next = s + 1;
		if (s->end != s->start)
			continue;
		s->sizeless = 1;
		s->end = i + 1 < b->raw.n ? next->start : UINT64_MAX;
		if (i + 1 == b->raw.n || (b->kallsyms && s->module != next->module))
			s->end = smaller(s->end, next_page(s->start));
		s->end = smaller(s->end, s->limit > s->start ? s->limit : s->start);
	}
}

/* --- aliases ---------------------------------------------------------------------------- */

/*
 * Bytes of names to read and demangle per table; further names are compared mangled. The
 * aliases of libLLVM 14 have 0.3 MB.
 */
enum { ALIAS_WORK = 64 << 20 };

struct chooser {
	int plain; /* names are printed as they are */
	size_t work;
	struct buf tmp;
};

/* The properties of a printed name that decide between aliases. */
struct alias_rank {
	size_t under, len; /* leading underscores, length */
};

/* The work of a name; one abandoned because it explodes counts as the longest. */
static size_t work_of(const char *name, const char *shown, size_t len)
{
	const char *p = name + strspn(name, "_");
	int given_up = shown == name && (*p == 'Z' || *p == 'R');
	return given_up ? DEMANGLE_OUTPUT_MAX : len + 1;
}

static struct alias_rank rank_of(struct chooser *c, const char *name)
{
	const char *shown = name;
	if (!c->plain && c->work < ALIAS_WORK &&
	    (name[0] == '_' || name[0] == 'L' || name[0] == 'c')) {
		buf_clear(&c->tmp);
		if (demangle(name, 0, &c->tmp) == 1)
			shown = buf_cstr(&c->tmp);
		c->work += strlen(name);
		c->work += work_of(name, shown, strlen(shown));
	}
	return (struct alias_rank){strspn(shown, "_"), strlen(shown)};
}

/* perf's choose_best_symbol: 1 when `a`, which comes first, wins over `b`. Their looks are
 * computed when needed, a's unless they are known already. */
static int first_wins(struct chooser *c, const struct raw_symbol *a, const struct raw_symbol *b,
		      struct alias_rank *la, struct alias_rank *lb)
{
	int ea = a->end == a->start, eb = b->end == b->start;
	if (ea != eb)
		return eb;
	/* perf compares the ends that it made up: a label of the function's address may win */
	if (a->sizeless != b->sizeless)
		return b->sizeless;
	if ((a->bind == STB_WEAK) != (b->bind == STB_WEAK))
		return b->bind == STB_WEAK;
	if ((a->bind == STB_GLOBAL) != (b->bind == STB_GLOBAL))
		return a->bind == STB_GLOBAL;
	if (strcmp(a->name, b->name) != 0) { /* else it is in both .symtab and .dynsym */
		if (!la->len)
			*la = rank_of(c, a->name);
		*lb = rank_of(c, b->name);
		if (la->under != lb->under)
			return la->under < lb->under;
		if (la->len != lb->len)
			return la->len > lb->len;
	}
	/* Old kernels' aliases of system calls. */
	return strncmp(a->name, "SyS", 3) != 0 && strncmp(a->name, "compat_SyS", 10) != 0;
}

/* Keep one symbol of each address. */
static void choose_aliases(struct symtab_builder *b)
{
	struct chooser c = {.plain = b->plain_names};
	struct alias_rank best = {0};
	size_t n = 0;
	for (size_t i = 0; i < b->raw.n; i++) {
		struct raw_symbol *s = &b->raw.v[i];
		struct alias_rank own = {0};
		if (n && b->raw.v[n - 1].start == s->start) {
			if (first_wins(&c, &b->raw.v[n - 1], s, &best, &own))
				continue;
			b->raw.v[n - 1] = *s;
		} else {
			b->raw.v[n++] = *s;
		}
		best = own;
	}
	b->raw.n = n;
	buf_release(&c.tmp);
}

/* --- nesting and the final table -------------------------------------------------------- */

/*
 * Walk in address order with the chain of open symbols: each one's parent is the innermost that
 * still covers its start. Those without a recorded size inside a symbol with a size are labels
 * of that function and are dropped.
 */
static void link_parents(struct symtab *t, const struct raw_symbol *raw, size_t nraw)
{
	size_t open = 0; /* index + 1 of the innermost open symbol */
	for (size_t i = 0; i < nraw; i++) {
		const struct raw_symbol *r = &raw[i];
		if (r->end <= r->start)
			continue;
		while (open &&
		       t->symbols[open - 1].start + t->symbols[open - 1].size <= r->start)
			open = t->symbols[open - 1].parent;
		if (open && r->sizeless)
			continue;
		uint64_t size = r->end - r->start;
		t->symbols[t->n] = (struct symbol){
			.start = r->start,
			.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
			.name = (uint32_t)i, /* replaced by copy_names, adopt_names */
			.parent = (uint32_t)open,
			.module = r->module,
			.bind = r->bind,
			.type = r->type,
		};
		open = ++t->n;
	}
}

/* The table owns the text with all names from now on. */
static int adopt_names(struct symtab *t, struct symtab_builder *b)
{
	if (b->names_size > UINT32_MAX)
		return ERR_LIMIT;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t *name = &t->symbols[i].name;
		*name = (uint32_t)(b->raw.v[*name].name - b->names);
	}
	char *fitted = mem_resize(b->names, b->names_size, 1);
	t->names = fitted ? fitted : b->names; /* larger than needed */
	t->names_size = b->names_size;
	b->names = NULL;
	return 0;
}

static int copy_names(struct symtab *t, const struct raw_symbol *raw)
{
	size_t total = 1;
	for (size_t i = 0; i < t->n; i++)
		total += strlen(raw[t->symbols[i].name].name) + 1;
	if (total > UINT32_MAX)
		return ERR_LIMIT;
	char *p = t->names = mem_alloc(total);
	if (!p)
		return ERR_NOMEM;
	*p++ = '\0';
	for (size_t i = 0; i < t->n; i++) {
		const char *name = raw[t->symbols[i].name].name;
		size_t n = strlen(name) + 1;
		memcpy(p, name, n);
		t->symbols[i].name = (uint32_t)(p - t->names);
		p += n;
	}
	t->names_size = total;
	return 0;
}

/* No more stretches than symbols: most lookups take two memory reads. */
static int index_stretches(struct symtab *t)
{
	uint64_t base = t->n ? t->symbols[0].start : 0;
	uint64_t span = t->n ? t->symbols[t->n - 1].start - base : 0;
	while (span >> t->shift > t->n)
		t->shift++;
	t->stretches = (size_t)(span >> t->shift) + 1;
	t->first = mem_alloc((t->stretches + 1) * sizeof(*t->first));
	if (!t->first)
		return ERR_NOMEM;
	size_t k = 0;
	for (size_t i = 0; i < t->n; i++)
		while (k <= (t->symbols[i].start - base) >> t->shift)
			t->first[k++] = (uint32_t)i;
	while (k <= t->stretches)
		t->first[k++] = (uint32_t)t->n;
	return 0;
}

const char *symtab_builder_name(struct symtab_builder *b, const char *p, size_t n)
{
	size_t most = n < b->room ? n : b->room, len = strnlen(p, most);
	int ended = len < most;
	b->room -= len + (size_t)ended;
	return ended && len ? p : NULL;
}

int symtab_builder_finish(struct symtab_builder *b, struct symtab **out, struct err *e)
{
	*out = NULL;
	struct symtab *t = mem_zalloc(1, sizeof(*t));
	int rc = t && b->raw.n <= UINT32_MAX ? sort_symbols(&b->raw.v, b->raw.n) : ERR_NOMEM;
	if (!rc) {
		set_ends(b);
		choose_aliases(b);
		t->symbols = mem_alloc(b->raw.n * sizeof(*t->symbols));
		rc = t->symbols ? 0 : ERR_NOMEM;
	}
	if (!rc) {
		link_parents(t, b->raw.v, b->raw.n);
		rc = b->names ? adopt_names(t, b) : copy_names(t, b->raw.v);
	}
	if (!rc)
		rc = index_stretches(t);
	if (t)
		t->doubt = b->doubt;
	symtab_builder_release(b);
	if (rc) {
		symtab_free(t);
		return rc == ERR_LIMIT ? err_set(e, rc, "symbol names of more than 4 GiB")
				       : err_nomem(e);
	}
	*out = t;
	return 0;
}

void symtab_builder_release(struct symtab_builder *b)
{
	vec_release(&b->raw);
	arena_release(&b->text);
	mem_free(b->names);
	b->names = NULL;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	mem_free(t->symbols);
	mem_free(t->names);
	mem_free(t->first);
	mem_free(t);
}

/* --- lookup ----------------------------------------------------------------------------- */

/* Deeper nesting is not real code but an attack on lookup time. */
enum { NESTING_MAX = 64 };

static void fill_hit(const struct symtab *t, const struct symbol *s, struct symbol_hit *hit)
{
	*hit = (struct symbol_hit){.name = t->names + s->name,
				   .start = s->start,
				   .end = s->start + s->size,
				   .index = (uint32_t)(s - t->symbols),
				   .module = s->module};
}

int symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol_hit *hit)
{
	if (!t->n || vaddr < t->symbols[0].start)
		return 0;
	uint64_t stretch = (vaddr - t->symbols[0].start) >> t->shift;
	int within = stretch < t->stretches;
	size_t lo = PARTITION_POINT(i, within ? t->first[stretch] : t->n,
				    within ? t->first[stretch + 1] : t->n,
				    t->symbols[i].start <= vaddr);
	size_t at = lo; /* index + 1 */
	for (int depth = 0; at && depth < NESTING_MAX; depth++) {
		const struct symbol *s = &t->symbols[at - 1];
		if (vaddr - s->start < s->size) {
			fill_hit(t, s, hit);
			return 1;
		}
		at = s->parent;
	}
	return 0;
}

int symtab_find_name(const struct symtab *t, const char *name, struct symbol_hit *hit)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->names + t->symbols[i].name, name)) {
			fill_hit(t, &t->symbols[i], hit);
			return 1;
		}
	return 0;
}
