#include "libsym/names.h"
#include "base/mem.h"
#include "libparse/linux_mmap.h"

#include <string.h>

enum {
	/* Most frames unwound (expand.h), their marker, and the kernel's frames. */
	DEFAULT_MAX_STACK = 1024 + 512,
	CACHE_BITS = 15, /* log2 of the words that a namer remembers: 512 KiB */
};

/* The upper bits of a run's number say what the run means for the next word. */
#define RUN_INTERRUPTS (1u << 31) /* the next frame was interrupted: its address is exact */
#define RUN_EXECVE (1u << 30)     /* inside the system call that replaces the address space */
#define RUN_START (1u << 29)      /* a function in which threads or processes begin */
#define RUN_INDEX (RUN_START - 1)

/* The runs of one DSO. */
struct dso_names {
	struct module_symbols symbols;
	/* Runs by symbol, two each: [1] is of guessed frames; and those of addresses without a
	 * symbol. 0: not made. Written under the lock, read without. */
	uint32_t *by_symbol, unnamed[2];
	uint64_t top; /* top_bits of the addresses that `unnamed` is for */
	struct u64map by_addr;
};

/* A word and its run, for a view and state of the walk. */
struct cached_word {
	uint64_t word;
	uint32_t how; /* view and state, see walk_context */
	uint32_t run;
};

/* A version of an address space, as a number that is never 0. */
struct view {
	uint32_t space, version, number;
};

/* A word of a named stack, and its run. */
struct named_word {
	uint64_t word;
	uint32_t run;   /* 0: none */
	uint32_t state; /* state_of the walk before it */
};

struct namer {
	struct names *names;
	struct cached_word *known;
	struct cached_word *places;   /* `word` is a place in a DSO, see find_run; or NULL */
	VEC(struct dso_names *) dsos; /* the tables of `names` that this thread has used */
	struct u64map views;          /* space << 32 | version → number */
	struct view user, kernel;
	uint64_t kernel_since, kernel_until; /* when `kernel` holds */
	uint32_t unmapped_top[2][16]; /* runs of unmapped addresses by their top bits; 0: not
					 seen */
	VEC(uint32_t) runs;
	VEC(struct named_word) stack, before; /* being named; the one before it */
	uint64_t views_before;                /* the numbers of its views */
};

/* The context of the words being read. */
struct walk {
	const struct stack_entry *entry;
	int early;
	int kernel; /* address space of the addresses that follow */
	int skip;   /* context that is not resolved (hypervisor, guest) */
	int exact;  /* the next address is not a return address */
	int lookup; /* addresses are lookup addresses (UNWOUND_USER) */
	int execve; /* a kernel frame is inside execve */
	int guessed;
	int timed;   /* the meaning of an address depends on the time */
	int started; /* the frame before is one in which threads or processes begin … */
	int ended;   /* … and what follows it in this context is none */
};

/* --- interning ------------------------------------------------------------------- */

void names_init(struct names *n, struct machine *m, struct modules *modules,
		struct stacks *stacks, const struct names_options *opt, int swap)
{
	*n = (struct names){
		.machine = m, .modules = modules, .stacks = stacks, .opt = *opt, .swap = swap};
}

void names_forget(struct names *n)
{
	for (size_t i = 0; i < n->ndsos; i++) {
		if (!n->dsos[i])
			continue;
		u64map_release(&n->dsos[i]->by_addr);
		mem_free(n->dsos[i]->by_symbol);
		mem_free(n->dsos[i]);
	}
	mem_free(n->dsos);
	n->dsos = NULL;
	n->ndsos = 0;
	vec_release(&n->frames);
	vec_release(&n->runs);
	idmap_release(&n->run_index);
	u64map_release(&n->unmapped[0]);
	u64map_release(&n->unmapped[1]);
	vec_release(&n->stack);
	vec_release(&n->last.v);
	namer_free(n->own);
	n->own = NULL;
}

void names_release(struct names *n)
{
	if (!n->machine)
		return;
	names_forget(n);
	*n = (struct names){0};
}

static int push_frame(struct names *n, const struct frame *f)
{
	uint32_t id;
	return stacks_frame(n->stacks, f, &id) ? ERR_NOMEM : vec_push(&n->frames, id);
}

static int same_run(const struct names *n, const struct frame_run *a, const struct frame_run *b)
{
	return a->n == b->n &&
	       !memcmp(n->frames.v + a->at, n->frames.v + b->at, a->n * sizeof(*n->frames.v));
}

/* The number of the run of all frames from `at` on; they are dropped if an equal run exists. */
static int intern_run(struct names *n, size_t at, uint32_t *run)
{
	struct frame_run r = {.at = (uint32_t)at, .n = (uint32_t)(n->frames.n - at)};
	uint64_t h = hash_bytes(n->frames.v + at, r.n * sizeof(*n->frames.v), hash_seed());
	size_t cursor = 0;
	while (idmap_next(&n->run_index, h, &cursor, run))
		if (same_run(n, &n->runs.v[*run], &r)) {
			n->frames.n = at;
			return 0;
		}
	if ((!n->runs.n && vec_push(&n->runs, (struct frame_run){0})) ||
	    n->runs.n >= RUN_INDEX || vec_push(&n->runs, r))
		return ERR_NOMEM;
	*run = (uint32_t)(n->runs.n - 1);
	return idmap_put(&n->run_index, h, *run);
}

/* 1 for code of a JIT compiler: named by a map, or in memory that perf calls /tmp/perf-PID.map.
 */
static int is_jit(const struct names *n, const struct dso *d, int named)
{
	static const char perf_map[] = "/tmp/perf-";
	return d->kind == DSO_ANON &&
	       (named || !strncmp(strtab_get(&n->stacks->strings, d->name), perf_map,
				  sizeof(perf_map) - 1));
}

static uint8_t frame_kind(const struct names *n, const struct dso *d, int named)
{
	if (!d)
		return FRAME_USER;
	if (d->kind == DSO_KERNEL || d->kind == DSO_MODULE || d->kind == DSO_BPF)
		return FRAME_KERNEL;
	return is_jit(n, d, named) ? FRAME_JIT : FRAME_USER;
}

/* See names_options.addrs. */
static uint64_t top_bits(uint64_t addr)
{
	uint64_t kernel = 0xffff000000000000u;
	return addr >= kernel ? kernel : addr & 0xf000000000000000u;
}

/* The frames of one address of a DSO (NO_ID: none): the module's, or the bare address.
 */
static int make_run(struct names *n, uint32_t dso, uint64_t addr, const struct module_lookup *l,
		    int guessed, uint32_t *run)
{
	const struct dso *d = dso == NO_ID ? NULL : &n->machine->dsos.v[dso];
	uint8_t flags = guessed ? FRAME_GUESSED : 0;
	struct frame f = {.dso = d ? d->name : 0, .flags = flags};
	size_t at = n->frames.n;
	int rc;
	f.kind = frame_kind(n, d, l->n > 0);
	if (!l->n) {
		f.addr = n->opt.addrs == MERGE_UNNAMED ? top_bits(addr) : addr;
		rc = push_frame(n, &f);
		return rc ? rc : intern_run(n, at, run);
	}
	for (size_t i = l->n; i-- > 0;) { /* the module's list has the innermost first */
		const struct module_frame *mf = &l->frames[i];
		f.name = mf->name;
		f.srcfile = mf->file;
		f.line = mf->line;
		f.addr = mf->start;
		f.flags = (uint8_t)(flags | (mf->inlined ? FRAME_INLINED : 0));
		f.at = n->opt.places && i + 1 == l->n ? l->at : 0;
		if (push_frame(n, &f))
			return ERR_NOMEM;
	}
	rc = intern_run(n, at, run);
	const char *outer = strtab_get(&n->stacks->strings, l->frames[l->n - 1].name);
	/* a recorded chain lacks the user code that a signal interrupted: the frame pointer
	 * below the handler's is that of its caller */
	if (f.kind == FRAME_KERNEL && modules_is_interrupt_entry(outer))
		*run |= RUN_INTERRUPTS;
	*run |= strstr(outer, "execve") ? RUN_EXECVE : 0;
	if (f.kind == FRAME_USER && modules_is_start(n->modules, outer))
		*run |= RUN_START;
	return rc;
}

/* 1 when the DSO's addresses become offsets, to be named on the machine that has the file. */
static int keeps_offsets(const struct names *n, const struct dso *d)
{
	return n->opt.offsets && d->kind == DSO_FILE && *stacks_build_id(n->stacks, d->name);
}

/* The frame of such an address. Under the lock. */
static int make_offset(struct names *n, const struct map *map, uint64_t offset,
		       const struct walk *w, uint32_t *run)
{
	struct frame f = {.dso = n->machine->dsos.v[map->dso].name,
			  .addr = offset,
			  .flags = FRAME_OFFSET};
	size_t at = n->frames.n;
	f.flags |= w->guessed ? FRAME_GUESSED : 0;
	return push_frame(n, &f) ? ERR_NOMEM : intern_run(n, at, run);
}

static int make_cut(struct names *n, uint32_t *run)
{
	struct frame f = {.kind = FRAME_MARK};
	size_t at = n->frames.n;
	if (strtab_intern(&n->stacks->strings, "[truncated]", &f.name) || push_frame(n, &f))
		return ERR_NOMEM;
	return intern_run(n, at, run);
}

/* --- a DSO ---------------------------------------------------------------------------- */

static struct dso_names *dso_new(const struct module_symbols *s, uint8_t kind)
{
	struct dso_names *d = mem_zalloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->symbols = *s;
	d->top = kind == DSO_KERNEL ? top_bits(UINT64_MAX) : 0;
	/* zeroed now: reading a page before writing it costs each thread two faults */
	d->by_symbol =
		s->table ? mem_zalloc_table(s->table->n * 2 * sizeof(*d->by_symbol)) : NULL;
	if (s->table && !d->by_symbol) {
		mem_free(d);
		return NULL;
	}
	return d;
}

/* The names of a DSO, made once it has been read; returns like namer_runs. Under the lock. */
static int dso_of(struct names *n, uint32_t dso, uint64_t offset, struct dso_names **out)
{
	struct module_symbols s;
	if (dso >= n->ndsos) {
		size_t want = n->machine->dsos.n;
		struct dso_names **v = mem_resize(n->dsos, want, sizeof(struct dso_names *));
		if (!v)
			return ERR_NOMEM;
		memset(v + n->ndsos, 0, (want - n->ndsos) * sizeof(*v));
		n->dsos = v;
		n->ndsos = want;
	}
	if (!n->dsos[dso]) {
		int rc = modules_read(n->modules, dso, offset, &s);
		if (rc != 1)
			return rc ? rc : 1;
		n->dsos[dso] = dso_new(&s, n->machine->dsos.v[dso].kind);
	}
	*out = n->dsos[dso];
	return *out ? 0 : ERR_NOMEM;
}

static int dso_cached(struct namer *r, uint32_t dso, uint64_t offset, struct dso_names **out)
{
	while (r->dsos.n <= dso)
		if (vec_push(&r->dsos, NULL))
			return ERR_NOMEM;
	*out = r->dsos.v[dso];
	if (*out)
		return 0;
	modules_lock(r->names->modules);
	int rc = dso_of(r->names, dso, offset, out);
	modules_unlock(r->names->modules);
	if (!rc)
		r->dsos.v[dso] = *out;
	return rc;
}

int names_is_data(const char *dso)
{
	static const char *const heads[] = {"//anon", "[heap]", "[stack", "[anon:"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strncmp(dso, heads[i], strlen(heads[i])))
			return 1;
	return 0;
}

/* --- an address ----------------------------------------------------------------------- */

uint64_t names_place(const struct machine *m, const struct map *map, uint64_t ip)
{
	uint8_t kind = m->dsos.v[map->dso].kind;
	return kind == DSO_FILE || kind == DSO_VDSO ? ip - map->start + map->pgoff : ip;
}

static int lookup_how(const struct walk *w)
{
	return w->lookup || w->exact ? LOOKUP_EXACT : LOOKUP_RETURN;
}

/* Where the run of an address is kept if its symbol decides it; else NULL. */
static uint32_t *run_slot(const struct namer *r, struct dso_names *d, const struct map *map,
			  uint64_t ip, uint64_t at, const struct walk *w)
{
	struct symbol_hit hit;
	if (!d->symbols.table || r->names->opt.places)
		return NULL;
	if (module_symbol_at(&d->symbols, map, ip, lookup_how(w), &hit))
		return &d->by_symbol[hit.index * 2 + (size_t)w->guessed];
	return r->names->opt.addrs == MERGE_UNNAMED && top_bits(at) == d->top
		       ? &d->unnamed[w->guessed]
		       : NULL;
}

/* Look the address up in its module. Under the lock. */
static int lookup_module_run(struct names *n, const struct map *map, uint64_t ip, uint64_t at,
			     const struct walk *w, uint32_t *run)
{
	struct module_lookup l;
	int rc = modules_lookup(n->modules, map, ip, w->entry->first, lookup_how(w), &l);
	return rc ? rc : make_run(n, map->dso, at, &l, w->guessed, run);
}

/*
 * Where this thread caches the run of a place in a DSO that its symbol alone does not decide:
 * it is the same for all processes, and the shared table needs a lock. NULL: no memory.
 */
static struct cached_word *place_in_dso(struct namer *r, uint64_t at, uint32_t how)
{
	enum { PLACE_BITS = 14 };
	if (!r->places)
		r->places = mem_zalloc(sizeof(*r->places), 1 << PLACE_BITS);
	uint64_t h = hash_u64(at ^ (uint64_t)how << 32);
	return r->places ? &r->places[h >> (64 - PLACE_BITS)] : NULL;
}

/* Find a run that is not at `place`, or has no place. */
static int find_run(struct namer *r, struct dso_names *d, const struct map *map, uint64_t ip,
		    const struct walk *w, uint32_t *place, uint32_t *run)
{
	struct names *n = r->names;
	uint64_t at = names_place(n->machine, map, ip);
	uint64_t key =
		at << 2 | (uint64_t)(lookup_how(w) == LOOKUP_EXACT) << 1 | (uint64_t)w->guessed;
	uint32_t how = map->dso << 2 | (uint32_t)(key & 3);
	int rc = 0, lasting = !place && !d->symbols.timed;
	struct cached_word *k = lasting ? place_in_dso(r, at, how) : NULL;
	if (lasting && !k)
		return ERR_NOMEM;
	if (lasting && k->run && k->word == at && k->how == how) {
		*run = k->run;
		return 0;
	}
	if (!d->symbols.table)
		modules_read_unit(n->modules, map->dso, ip - map->start + map->pgoff);
	modules_lock(n->modules);
	if (!lasting || !u64map_get(&d->by_addr, key, run)) {
		rc = lookup_module_run(n, map, ip, at, w, run);
		if (!rc && place)
			__atomic_store_n(place, *run, __ATOMIC_RELAXED);
		else if (!rc && lasting)
			rc = u64map_put(&d->by_addr, key, *run);
	}
	modules_unlock(n->modules);
	if (lasting && !rc)
		*k = (struct cached_word){at, how, *run};
	return rc;
}

static int run_of_offset(struct namer *r, const struct map *map, uint64_t ip,
			 const struct walk *w, uint32_t *run)
{
	uint64_t offset = names_place(r->names->machine, map, ip);
	modules_lock(r->names->modules);
	int rc = make_offset(r->names, map, offset - (lookup_how(w) == LOOKUP_RETURN), w, run);
	modules_unlock(r->names->modules);
	return rc;
}

/*
 * The run of generated code in memory that a forked process inherited: its own map comes first,
 * and what its parent wrote after the fork is of other memory. 1 and *run, 0: as in the parent;
 * ERR_NOMEM. It is the same for a view, not for a DSO.
 */
static int run_inherited(struct namer *r, const struct map *map, uint64_t ip,
			 const struct walk *w, int *timed, uint32_t *run)
{
	struct names *n = r->names;
	const struct stack_entry *x = w->entry;
	uint64_t forked = x->first;
	struct module_lookup l;
	if (n->machine->dsos.v[map->dso].kind != DSO_ANON || x->pid <= 0 ||
	    n->machine->dsos.v[map->dso].process == n->machine->spaces.v[x->space].process)
		return 0;
	modules_lock(n->modules);
	int own = modules_own_code(n->modules, x->space, map->dso), rc = own < 0 ? own : 0;
	*timed |= own == 2;
	if (!rc && (own || *timed) && !(*timed && w->early)) {
		machine_map_then(n->machine, x->space, ip, &forked);
		rc = modules_lookup_inherited(n->modules, map, x->space, ip, x->first, forked,
					      lookup_how(w), &l);
		rc = rc ? rc : make_run(n, map->dso, ip, &l, w->guessed, run);
		rc = rc ? rc : 1;
	}
	modules_unlock(n->modules);
	return rc;
}

static int run_in_map(struct namer *r, const struct map *map, uint64_t ip, const struct walk *w,
		      int *timed, uint32_t *run)
{
	struct dso_names *d;
	if (keeps_offsets(r->names, &r->names->machine->dsos.v[map->dso]))
		return run_of_offset(r, map, ip, w, run);
	int rc = dso_cached(r, map->dso, ip - map->start + map->pgoff, &d);
	if (rc)
		return rc;
	*timed = d->symbols.timed;
	rc = run_inherited(r, map, ip, w, timed, run);
	if (rc)
		return rc == 1 ? 0 : rc;
	if (*timed && w->early)
		return 1;
	uint32_t *place = run_slot(r, d, map, ip, names_place(r->names->machine, map, ip), w);
	*run = place ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
	return *run ? 0 : find_run(r, d, map, ip, w, place, run);
}

/* See names_options.addrs. 1 when only the upper 4 bits of *addr are kept. Not for the kernel:
 * any of its addresses may be code. */
static int merge_unmapped(const struct names *n, const struct walk *w, uint64_t *addr)
{
	uint64_t top = top_bits(*addr);
	int upper = top << 4 == 0;
	if (n->opt.addrs == MERGE_UNNAMED)
		*addr = top;
	else if (n->opt.addrs == KEEP_ADDRS || w->kernel || !upper)
		return 0;
	else
		*addr = top | FRAME_MERGED;
	return upper;
}

static int run_unmapped(struct namer *r, uint64_t ip, const struct walk *w, uint32_t *run)
{
	struct names *n = r->names;
	struct module_lookup none = {.n = 0};
	uint64_t key = ip;
	uint32_t *known = &r->unmapped_top[w->guessed][ip >> 60];
	int merged = merge_unmapped(n, w, &key), rc = 0;
	*run = merged ? *known : 0;
	if (*run)
		return 0;
	modules_lock(n->modules);
	if (!u64map_get(&n->unmapped[w->guessed], key, run)) {
		rc = make_run(n, NO_ID, key, &none, w->guessed, run);
		if (!rc)
			rc = u64map_put(&n->unmapped[w->guessed], key, *run);
	}
	modules_unlock(n->modules);
	if (merged && !rc)
		*known = *run;
	return rc;
}

/*
 * The kernel's .init.text, where the idle task of the boot CPU starts, is outside the mapping
 * that perf records. The symbols cover it, so extend the mapping to it.
 */
static int extend_kernel_map(struct namer *r, uint64_t ip, const struct walk *w,
			     const struct map **found)
{
	const struct machine *m = r->names->machine;
	const struct space *kernel = &m->spaces.v[SPACE_KERNEL];
	for (size_t i = 0; i < kernel->by_start.n; i++) {
		const struct map *map = &m->maps.v[kernel->by_start.v[i]];
		struct dso_names *d;
		struct symbol_hit hit;
		if (m->dsos.v[map->dso].kind != DSO_KERNEL)
			continue;
		int rc = dso_cached(r, map->dso, 0, &d);
		if (!rc && module_symbol_at(&d->symbols, map, ip, lookup_how(w), &hit))
			*found = map;
		return rc;
	}
	return 0;
}

/* The mapping of an address, *map; NULL: none. */
static int find_map(struct namer *r, uint64_t ip, const struct walk *w, const struct map **map)
{
	const struct machine *m = r->names->machine;
	uint32_t space = w->kernel ? SPACE_KERNEL : w->entry->space;
	uint64_t time = w->entry->first;
	*map = machine_map_at(m, space, ip, time);
	if (!*map && !w->exact &&
	    !w->lookup) /* the call was the last instruction of the mapping */
		*map = machine_map_at(m, space, ip - 1, time);
	if (!*map && w->execve && !w->kernel)
		*map = machine_map_before_exec(m, space, ip);
	return !*map && w->kernel ? extend_kernel_map(r, ip, w, map) : 0;
}

/* All that decides a word's run, besides the word. */
static uint32_t walk_context(const struct namer *r, const struct walk *w)
{
	uint32_t view = w->kernel ? r->kernel.number : r->user.number;
	return view << 3 | (uint32_t) !!w->execve << 2 | (uint32_t)w->guessed << 1 |
	       (w->exact || w->lookup);
}

/* The cache slot of a word: forked processes have equal words. */
static struct cached_word *cache_slot(const struct namer *r, uint64_t word)
{
	uint64_t view = word >> 63 ? r->kernel.number : r->user.number;
	return &r->known[(word ^ view << 40) * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS)];
}

/* Find the run of an address that is not cached, and cache it. */
static int find_address(struct namer *r, uint64_t ip, uint32_t how, struct walk *w,
			uint32_t *run)
{
	const struct map *map;
	int timed = 0;
	int rc = find_map(r, ip, w, &map);
	if (!rc)
		rc = map ? run_in_map(r, map, ip, w, &timed, run) : run_unmapped(r, ip, w, run);
	if (rc)
		return rc;
	w->timed |= timed;
	if (!timed)
		*cache_slot(r, ip) = (struct cached_word){ip, how, *run};
	return 0;
}

static inline __attribute__((always_inline)) int name_address(struct namer *r, uint64_t ip,
							      struct walk *w, uint32_t *run)
{
	uint32_t how = walk_context(r, w);
	const struct cached_word *k = cache_slot(r, ip);
	uint32_t found = k->run;
	if (k->word != ip || k->how != how) {
		int rc = find_address(r, ip, how, w, &found);
		if (rc)
			return rc;
	}
	w->guessed = 0;
	w->exact = !!(found & RUN_INTERRUPTS);
	w->execve |= w->kernel && found & RUN_EXECVE;
	w->started = !!(found & RUN_START);
	*run = found & RUN_INDEX;
	return 0;
}

/* --- a stack -------------------------------------------------------------------------- */

int namer_new(struct namer **out, struct names *n)
{
	struct namer *r = *out = mem_zalloc(1, sizeof(*r));
	if (!r)
		return ERR_NOMEM;
	r->names = n;
	r->user.space = r->kernel.space = NO_ID - 1;
	r->known = mem_zalloc_table(sizeof(*r->known) << CACHE_BITS);
	if (r->known)
		return 0;
	namer_free(r);
	*out = NULL;
	return ERR_NOMEM;
}

void namer_free(struct namer *r)
{
	if (!r)
		return;
	mem_free(r->known);
	mem_free(r->places);
	vec_release(&r->dsos);
	u64map_release(&r->views);
	vec_release(&r->runs);
	vec_release(&r->stack);
	vec_release(&r->before);
	mem_free(r);
}

static int number_view(struct namer *r, uint32_t space, uint32_t version, struct view *v)
{
	uint64_t key = (uint64_t)space << 32 | version;
	if (v->space == space && v->version == version)
		return 0;
	*v = (struct view){.space = space, .version = version};
	if (u64map_get(&r->views, key, &v->number))
		return 0;
	v->number = (uint32_t)r->views.n + 1;
	return u64map_put(&r->views, key, v->number);
}

/* Number the views of a stack. BPF programs come and go within a version of user space. */
static int number_views(struct namer *r, const struct stack_entry *x)
{
	if (x->first < r->kernel_since || x->first >= r->kernel_until) {
		struct thread_view v;
		machine_kernel_at(r->names->machine, x->first, &v);
		r->kernel_since = v.since;
		r->kernel_until = v.until;
		if (number_view(r, SPACE_KERNEL, v.version, &r->kernel))
			return ERR_NOMEM;
	}
	return number_view(r, x->space, x->version, &r->user);
}

/* Switch context at a marker. */
static void set_context(struct walk *w, uint64_t word)
{
	w->skip = w->lookup = w->started = w->ended = 0;
	w->exact = 1;
	w->kernel = word == PERF_CONTEXT_KERNEL;
	switch (word) {
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_USER:
		break;
	case UNWOUND_USER:
		w->lookup = 1;
		break;
	default:
		w->skip = 1;
		break;
	}
}

static int handle_marker(struct namer *r, uint64_t word, struct walk *w, uint32_t *run)
{
	*run = 0;
	if (word == UNWOUND_GUESS) {
		w->guessed = 1;
	} else if (word == UNWOUND_CUT) {
		modules_lock(r->names->modules);
		int rc = make_cut(r->names, run);
		modules_unlock(r->names->modules);
		return rc;
	} else if (word >= PERF_CONTEXT_MAX || word == UNWOUND_USER) {
		set_context(w, word);
	} else if (!w->skip) {
		return name_address(r, word, w, run);
	}
	return 0;
}

/* All that decides the runs of the next words, besides the views. */
static uint32_t state_of(const struct walk *w)
{
	return (uint32_t)(w->kernel | w->skip << 1 | w->exact << 2 | w->lookup << 3 |
			  !!w->execve << 4 | w->guessed << 5 | w->started << 6 | w->ended << 7);
}

static uint64_t views_of(const struct namer *r)
{
	return (uint64_t)r->kernel.number << 32 | r->user.number;
}

/* How many of the last words of x equal those of the previous stack: the callers of a thread
 * that is sampled again are mostly the same and need no lookup. */
static size_t same_callers(const struct namer *r, const struct stack_entry *x, int swap)
{
	size_t n = 0, most = r->before.n < x->nwords ? r->before.n : x->nwords;
	if (r->views_before != views_of(r))
		return 0;
	while (n < most && r->before.v[r->before.n - 1 - n].word ==
				   load_u64(x->words + (x->nwords - 1 - n) * 8, swap))
		n++;
	return n;
}

/* Three numbers, not a struct: copying a struct just after its members were stored one by one
 * waits for these stores. */
static void push_named(struct namer *r, uint64_t word, uint32_t run, uint32_t state)
{
	r->stack.v[r->stack.n++] = (struct named_word){word, run, state};
	if (run)
		r->runs.v[r->runs.n++] = run;
}

/* Keep the named stack as the previous one, unless it is incomplete. */
static void keep_stack(struct namer *r, int whole)
{
	__typeof__(r->stack) named = r->stack;
	r->stack = r->before;
	r->before = named;
	r->views_before = views_of(r);
	if (!whole)
		r->before.n = 0;
}

/*
 * Whether a word that a recorded chain has after a function in which threads or processes begin
 * may be its caller. C libraries are built without frame pointers: what the kernel finds there
 * is whatever the register held, such as a list of pointers to functions.
 */
static int may_call_start(struct namer *r, uint64_t word, const struct walk *w)
{
	const struct names *n = r->names;
	const struct map *map =
		machine_map_at(n->machine, w->entry->space, word, w->entry->first);
	uint64_t start;
	if (!map || !(map->prot & LINUX_PROT_EXEC))
		return 0;
	if (n->machine->dsos.v[map->dso].kind != DSO_FILE)
		return 1;
	modules_lock(n->modules);
	int first = modules_function_at(n->modules, map, word, &start) && start == word;
	modules_unlock(n->modules);
	return !first;
}

static int name_word(struct namer *r, uint64_t word, struct walk *w)
{
	uint32_t run = 0, state = state_of(w);
	int rc = 0;
	if (is_chain_marker(word)) {
		rc = handle_marker(r, word, w, &run);
	} else if (!w->skip) {
		w->ended |= w->started && !w->lookup && !may_call_start(r, word, w);
		rc = w->ended ? 0 : name_address(r, word, w, &run);
	}
	if (!rc)
		push_named(r, word, run, state);
	return rc;
}

/*
 * 1 when the outermost frame of a full callchain shows that nothing was cut: there the thread
 * or process begins; or that its callers were not followed: a false frame pointer led out of
 * the code, perhaps in circles.
 */
static int is_outermost(const struct names *n, uint32_t run)
{
	const struct frame *f = &n->stacks->frames.v[n->frames.v[n->runs.v[run].at]];
	const char *name = strtab_get(&n->stacks->strings, f->name);
	const char *dso = strtab_get(&n->stacks->strings, f->dso);
	if (f->kind == FRAME_KERNEL || f->addr >> 48 == 0xffff)
		return !strncmp(name, "ret_from_fork", 13);
	if (!f->dso || names_is_data(dso))
		return 1;
	return !!(frame_roles(modules_frames(n->modules), 0, name, dso) &
		  (ROLE_START | ROLE_ROOT_START));
}

/* End the named stack, a full callchain, with a mark unless it is known to be whole. */
static int mark_cut(struct namer *r)
{
	uint32_t last = r->runs.n ? r->runs.v[r->runs.n - 1] : 0, run;
	modules_lock(r->names->modules);
	int whole = !last || is_outermost(r->names, last);
	int rc = whole ? 0 : make_cut(r->names, &run);
	modules_unlock(r->names->modules);
	if (!rc && !whole)
		r->runs.v[r->runs.n++] = run;
	return rc;
}

int namer_runs(struct namer *r, const struct stack_entry *x, int early, const uint32_t **runs,
	       size_t *n)
{
	size_t max = r->names->opt.max_stack > 0 ? (size_t)r->names->opt.max_stack
						 : DEFAULT_MAX_STACK;
	struct walk w = {.entry = x,
			 .early = early,
			 .exact = 1,
			 .kernel = x->cpumode == PERF_RECORD_MISC_KERNEL};
	int swap = r->names->swap && x->kind == CHAIN_RAW, rc = 0;
	r->runs.n = r->stack.n = 0;
	if (number_views(r, x) || vec_reserve(&r->runs, (size_t)x->nwords + 1) ||
	    vec_reserve(&r->stack, x->nwords))
		return ERR_NOMEM;
	size_t own = x->nwords - same_callers(r, x, swap), i;
	const struct named_word *callers = r->before.v + (r->before.n - (x->nwords - own));
	for (i = 0; i < own; i++)
		__builtin_prefetch(cache_slot(r, load_u64(x->words + i * 8, swap)));
	for (i = 0; !rc && i < x->nwords && r->runs.n < max; i++) {
		if (i >= own && callers[i - own].state == state_of(&w))
			break;
		rc = name_word(r, load_u64(x->words + i * 8, swap), &w);
	}
	for (; !rc && i < x->nwords && r->runs.n < max; i++)
		push_named(r, callers[i - own].word, callers[i - own].run,
			   callers[i - own].state);
	keep_stack(r, !rc && !w.timed && i == x->nwords);
	if (!rc && i == x->nwords && chain_is_full(&r->names->chains, x, swap))
		rc = mark_cut(r);
	*runs = r->runs.v;
	*n = r->runs.n;
	return rc;
}

int names_frames(struct names *n, const struct stack_entry *entry, struct frame_ids *out)
{
	const uint32_t *runs;
	size_t nruns;
	if ((!n->own && namer_new(&n->own, n)) || namer_runs(n->own, entry, 0, &runs, &nruns))
		return ERR_NOMEM;
	for (size_t i = nruns; i-- > 0;) {
		const struct frame_run *r = &n->runs.v[runs[i]];
		if (vec_reserve(out, r->n))
			return ERR_NOMEM;
		for (uint32_t k = 0; k < r->n; k++)
			out->v[out->n++] = n->frames.v[r->at + k];
	}
	return 0;
}

int names_symbolize(struct names *n, const struct stack_entry *entry, uint32_t *path,
		    struct err *e)
{
	n->stack.n = 0;
	if (names_frames(n, entry, &n->stack) ||
	    stacks_path(n->stacks, &n->last, n->stack.v, n->stack.n, path))
		return err_nomem(e);
	return 0;
}
