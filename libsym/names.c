#include "libsym/names.h"
#include "base/mem.h"
#include "libsym/unwind/stack_words.h"

/* What is unwound at most (expand.h), its mark, and the kernel's frames in front of it. */
enum { DEFAULT_MAX_STACK = 1024 + 512 };

/* (address in the DSO) << 1 | exact → run */
struct names_cache {
	struct u64map by_addr;
};

/* One word of a stack as it was named. Words further out are part of `path` and `depth`. */
struct named_word {
	uint64_t word;
	uint32_t run;   /* NO_ID: a marker, no frames */
	uint32_t path;  /* of the stack from the root to here */
	uint32_t depth; /* runs from the root to here */
	uint8_t state;  /* of the walk in front of the word */
};

/* Where the words being read stand. */
struct walk {
	const struct stack_entry *entry;
	int kernel; /* address space of the addresses that follow */
	int skip;   /* context that is not resolved (hypervisor, guest) */
	int exact;  /* the next address is no return address */
	int lookup; /* addresses are lookup addresses (UNWOUND_USER) */
	int execve; /* a kernel frame is inside execve */
	int timed;  /* an address was met whose meaning depends on the time */
	uint8_t flags;
};

/* All that decides what a word of user space means, besides the space; never 0. */
static uint8_t walk_state(const struct walk *w)
{
	return (uint8_t)(1 | !!w->kernel << 1 | !!w->skip << 2 | !!w->exact << 3 |
			 !!w->lookup << 4 | !!w->execve << 5 | !!w->flags << 6);
}

void names_init(struct names *n, struct machine *m, struct modules *modules,
		struct stacks *stacks, const struct names_options *opt, int swap)
{
	*n = (struct names){
		.machine = m, .modules = modules, .stacks = stacks, .opt = *opt, .swap = swap};
}

void names_release(struct names *n)
{
	for (size_t i = 0; i < n->ncache; i++)
		u64map_release(&n->cache[i].by_addr);
	mem_free(n->cache);
	vec_release(&n->frames);
	vec_release(&n->runs);
	vec_release(&n->last.words);
	u64map_release(&n->unmapped);
	*n = (struct names){0};
}

static struct names_cache *cache_of(struct names *n, uint32_t dso)
{
	if (dso >= n->ncache) {
		size_t want = n->machine->dsos.n;
		struct names_cache *c = mem_resize(n->cache, want, sizeof(*c));
		if (!c)
			return NULL;
		memset(c + n->ncache, 0, (want - n->ncache) * sizeof(*c));
		n->cache = c;
		n->ncache = want;
	}
	return &n->cache[dso];
}

static int begin_run(struct names *n, uint32_t *run)
{
	struct frame_run r = {.at = (uint32_t)n->frames.n};
	*run = (uint32_t)n->runs.n;
	return vec_push(&n->runs, r);
}

static int push_frame(struct names *n, uint32_t run, const struct frame *f)
{
	uint32_t id;
	if (stacks_frame(n->stacks, f, &id) || vec_push(&n->frames, id))
		return ERR_NOMEM;
	n->runs.v[run].n++;
	return 0;
}

/* Code of a JIT compiler: what a map names, and all memory that perf calls /tmp/perf-PID.map.
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

/* The frames of one address of a DSO, made once: what the module says, or the bare address. */
static int make_run(struct names *n, uint32_t dso, uint64_t addr, const struct module_lookup *l,
		    uint8_t flags, uint32_t *run)
{
	const struct dso *d = dso == NO_ID ? NULL : &n->machine->dsos.v[dso];
	struct frame f = {.dso = d ? d->name : 0, .flags = flags};
	f.kind = frame_kind(n, d, l->n > 0);
	if (begin_run(n, run))
		return ERR_NOMEM;
	if (!l->n) {
		f.addr = addr;
		return push_frame(n, *run, &f);
	}
	const char *outer = strtab_get(&n->stacks->strings, l->frames[l->n - 1].name);
	n->runs.v[*run].interrupts = (uint8_t)modules_interrupts_caller(outer);
	n->runs.v[*run].execve = strstr(outer, "execve") != NULL;
	for (size_t i = l->n; i-- > 0;) { /* the module lists the innermost first */
		const struct module_frame *mf = &l->frames[i];
		f.name = mf->name;
		f.srcfile = mf->file;
		f.line = mf->line;
		f.addr = mf->start;
		f.flags = (uint8_t)(flags | (mf->inlined ? FRAME_INLINED : 0));
		if (push_frame(n, *run, &f))
			return ERR_NOMEM;
	}
	return 0;
}

/* perf's notion of an address inside a mapping: file offset, or as it is for memory of no file.
 */
static uint64_t map_ip(const struct machine *m, const struct map *map, uint64_t ip)
{
	uint8_t kind = m->dsos.v[map->dso].kind;
	return kind == DSO_FILE || kind == DSO_VDSO ? ip - map->start + map->pgoff : ip;
}

static int run_in_map(struct names *n, const struct map *map, uint64_t ip, struct walk *w,
		      uint32_t *run)
{
	uint64_t at = map_ip(n->machine, map, ip);
	struct names_cache *c = cache_of(n, map->dso);
	int cached = !modules_timed(n->modules, map->dso);
	w->timed |= !cached;
	uint64_t key = at << 2 | (uint64_t)(w->exact || w->lookup) << 1 |
		       (w->flags & FRAME_GUESSED ? 1 : 0);
	if (!c)
		return ERR_NOMEM;
	if (cached && u64map_get(&c->by_addr, key, run))
		return 0;
	struct module_lookup l;
	int how = w->lookup || w->exact ? LOOKUP_EXACT : LOOKUP_RETURN;
	int rc = modules_lookup(n->modules, map, ip, w->entry->first, how, &l);
	if (!rc)
		rc = make_run(n, map->dso, at, &l, w->flags, run);
	return rc || !cached ? rc : u64map_put(&c->by_addr, key, *run);
}

static int run_unmapped(struct names *n, uint64_t ip, uint8_t flags, uint32_t *run)
{
	if (u64map_get(&n->unmapped, ip, run))
		return 0;
	struct module_lookup none = {.n = 0};
	if (make_run(n, NO_ID, ip, &none, flags, run))
		return ERR_NOMEM;
	return u64map_put(&n->unmapped, ip, *run);
}

/*
 * The kernel's .init.text, where the idle task of the boot CPU comes from, lies outside the
 * mapping that perf records; the symbols reach there, and so does the mapping then.
 */
static const struct map *beside_kernel(struct names *n, uint64_t ip, const struct walk *w)
{
	const struct machine *m = n->machine;
	const struct space *kernel = &m->spaces.v[SPACE_KERNEL];
	for (size_t i = 0; i < kernel->by_start.n; i++) {
		const struct map *map = &m->maps.v[kernel->by_start.v[i]];
		struct module_lookup l;
		if (m->dsos.v[map->dso].kind != DSO_KERNEL)
			continue;
		if (modules_lookup(n->modules, map, ip, w->entry->first,
				   w->exact ? LOOKUP_EXACT : LOOKUP_RETURN, &l))
			return NULL;
		return l.n ? map : NULL;
	}
	return NULL;
}

static int take_address(struct names *n, uint64_t ip, struct walk *w, uint32_t *run)
{
	uint32_t space = w->kernel ? SPACE_KERNEL : w->entry->space;
	uint64_t time = w->entry->first;
	const struct map *map = machine_map_at(n->machine, space, ip, time);
	if (!map && !w->exact &&
	    !w->lookup) /* a call was the last instruction of the mapping */
		map = machine_map_at(n->machine, space, ip - 1, time);
	if (!map && w->execve && !w->kernel)
		map = machine_map_before_exec(n->machine, space, ip);
	if (!map && w->kernel)
		map = beside_kernel(n, ip, w);
	int rc = map ? run_in_map(n, map, ip, w, run) : run_unmapped(n, ip, w->flags, run);
	w->exact = 0;
	w->flags = 0;
	if (rc)
		return rc;
	w->exact = n->runs.v[*run].interrupts;
	w->execve |= w->kernel && n->runs.v[*run].execve;
	return 0;
}

/* Switch context at a marker. */
static void take_marker(struct walk *w, uint64_t word)
{
	w->skip = w->lookup = 0;
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

static int take_cut(struct names *n, uint32_t *run)
{
	struct frame f = {.kind = FRAME_MARK};
	if (strtab_intern(&n->stacks->strings, "[truncated]", &f.name) || begin_run(n, run))
		return ERR_NOMEM;
	return push_frame(n, *run, &f);
}

static uint64_t word_at(const struct names *n, const struct stack_entry *x, uint32_t i)
{
	return load_u64(x->words + (size_t)i * 8, n->swap && x->kind == CHAIN_RAW);
}

/* What one word adds: a run, or NO_ID. */
static int take_word(struct names *n, uint64_t word, struct walk *w, uint32_t *run)
{
	*run = NO_ID;
	if (word == UNWOUND_GUESS)
		w->flags |= FRAME_GUESSED;
	else if (word == UNWOUND_CUT)
		return take_cut(n, run);
	else if (word >= PERF_CONTEXT_MAX || word == UNWOUND_USER)
		take_marker(w, word);
	else if (!w->skip)
		return take_address(n, word, w, run);
	return 0;
}

/* How many words, from the outermost in, the entry has in common with the stack named last. */
static size_t common_words(const struct names *n, const struct stack_entry *x)
{
	const struct named_stack *last = &n->last;
	size_t max = x->nwords < last->n ? x->nwords : last->n, c = 0;
	if (last->kind != x->kind || last->space != x->space || last->version != x->version)
		return 0;
	while (c < max && last->words.v[c].word == word_at(n, x, x->nwords - 1 - (uint32_t)c))
		c++;
	return c;
}

/*
 * Fill n->last.words with the runs of the entry's words, from the leaf outwards, until what is
 * left means what it meant in the stack before: *kept words from the root are as they were. In
 * the kernel's space programs come and go within one version, so its words are always looked
 * up. *from: the outermost word that counts; those beyond it are more than max_stack.
 */
static int resolve(struct names *n, const struct stack_entry *x, struct walk *w, size_t *kept,
		   size_t *from)
{
	size_t common = common_words(n, x), depth = 0;
	size_t max = n->opt.max_stack > 0 ? (size_t)n->opt.max_stack : DEFAULT_MAX_STACK;
	struct named_stack *s = &n->last;
	s->words.n = s->n;
	if (x->nwords > s->n && vec_reserve(&s->words, x->nwords - s->n))
		return ERR_NOMEM;
	*kept = *from = 0;
	for (size_t i = x->nwords; i-- > 0;) {
		struct named_word *to = &s->words.v[i];
		uint8_t state = walk_state(w);
		if (i < common && !w->kernel && to->state == state &&
		    depth + to->depth <= max) {
			*kept = i + 1;
			return 0;
		}
		if (depth == max) {
			*from = i + 1;
			return 0;
		}
		to->word = word_at(n, x, (uint32_t)(x->nwords - 1 - i));
		to->state = state;
		int rc = take_word(n, to->word, w, &to->run);
		if (rc)
			return rc;
		depth += to->run != NO_ID;
	}
	return 0;
}

/* The path of n->last.words, of which `kept` have theirs, from the root to the leaf. */
static int push_paths(struct names *n, size_t kept, size_t from, size_t nwords, uint32_t *path)
{
	uint32_t depth = kept ? n->last.words.v[kept - 1].depth : 0;
	*path = kept ? n->last.words.v[kept - 1].path : 0;
	for (size_t i = kept > from ? kept : from; i < nwords; i++) {
		struct named_word *at = &n->last.words.v[i];
		if (at->run != NO_ID) {
			const struct frame_run *r = &n->runs.v[at->run];
			for (uint32_t k = 0; k < r->n; k++)
				if (stacks_push(n->stacks, *path, n->frames.v[r->at + k], path))
					return ERR_NOMEM;
			depth++;
		}
		at->path = *path;
		at->depth = depth;
	}
	return 0;
}

int names_path(struct names *n, const struct stack_entry *entry, uint32_t *path, struct err *e)
{
	struct walk w = {.entry = entry,
			 .exact = 1,
			 .kernel = entry->cpumode == PERF_RECORD_MISC_KERNEL};
	struct named_stack *last = &n->last;
	size_t kept, from;
	*path = 0;
	int rc = resolve(n, entry, &w, &kept, &from);
	if (!rc)
		rc = push_paths(n, kept, from, entry->nwords, path);
	last->n = rc || from || w.timed ? 0 : entry->nwords;
	last->space = entry->space;
	last->version = entry->version;
	last->kind = entry->kind;
	return rc ? err_nomem(e) : 0;
}
