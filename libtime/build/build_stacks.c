/* build_stacks.c - a sample's thread and stack; see build_internal.h. */
#include "libtime/build/build_internal.h"

#include <string.h>

/* The machine collects records and sorts many at once, when it is queried; records later than
 * the query stay pending. */
int builder_apply_pending(struct builder *b, uint64_t ns)
{
	if (!b->pending && ns < b->pending_ns)
		return 0;
	b->pending = 0;
	b->epoch++;
	int r = machine_advance(&b->p->machine, ns, NULL);
	b->pending_ns = machine_next(&b->p->machine);
	return r;
}

const struct thread_view *builder_view(struct builder *b, int32_t pid, int32_t tid, uint64_t ns)
{
	struct view_memo *m = &b->views[(uint32_t)tid % VIEWS];
	if (m->epoch != b->epoch || m->tid != tid || m->pid != pid || ns < m->view.since ||
	    ns >= m->view.until) {
		*m = (struct view_memo){.pid = pid, .tid = tid, .epoch = b->epoch};
		machine_thread_at(&b->p->machine, pid, tid, ns, &m->view);
	}
	return &m->view;
}

/* Open a file that a stack needs. Only this thread may query the machine while it changes;
 * other threads start reading the file now. */
static int open_file(struct builder *b, const struct map *map, uint64_t word)
{
	uint64_t offset = word - map->start + map->pgoff;
	uint8_t kind = b->p->machine.dsos.v[map->dso].kind;
	while (b->opened.n <= map->dso)
		if (vec_push(&b->opened, 0))
			return ERR_NOMEM;
	if (b->opened.v[map->dso] || (kind != DSO_FILE && kind != DSO_VDSO))
		return 0;
	b->opened.v[map->dso] = 1;
	if (machine_set_build_ids(&b->p->machine, b->rec, NULL) ||
	    modules_open(b->p->modules, map->dso))
		return ERR_NOMEM;
	modules_prefetch(b->p->modules, map->dso, offset);
	return 0;
}

static int open_files(struct builder *b, const struct stack_entry *x)
{
	int user = x->cpumode != PERF_RECORD_MISC_KERNEL, r = 0;
	for (uint32_t i = 0; !r && i < x->nwords; i++) {
		uint64_t word = load_u64(x->words + (size_t)i * 8,
					 b->rec->swap && x->kind == CHAIN_RAW);
		const struct map *map = NULL;
		if (word >= PERF_CONTEXT_MAX)
			user = word == PERF_CONTEXT_USER;
		else if (user)
			map = machine_map_at(&b->p->machine, x->space, word, x->first);
		if (map)
			r = open_file(b, map, word);
	}
	return r;
}

/* The kernel's symbols are read as soon as a stack has begun in it: by then its build-id must
 * be known. */
static int know_kernel(struct builder *b, const struct stack_entry *x)
{
	if (b->knows_kernel || x->cpumode != PERF_RECORD_MISC_KERNEL)
		return 0;
	b->knows_kernel = 1;
	return machine_set_build_ids(&b->p->machine, b->rec, NULL);
}

static int intern(struct builder *b, const struct stack_entry *x, uint32_t *id)
{
	size_t before = b->chains.v.n;
	int r = raw_chains_intern(&b->chains, x, id);
	if (r || b->chains.v.n == before || x->kind == CHAIN_UNWOUND || b->chains.namer)
		return r;
	if (b->ahead)
		r = know_kernel(b, x) ? ERR_NOMEM : open_files(b, x);
	modules_prefetch_stack(b->p->modules, x, b->chains.v.n, b->rec->swap, b->ahead);
	return r;
}

/* The sample's stack entry, without its words. */
static struct stack_entry entry_of(struct builder *b, const struct sample *s)
{
	const struct thread_view *v = builder_view(b, s->pid, s->tid, s->time);
	return (struct stack_entry){.first = s->time,
				    .event = s->event->index,
				    .pid = s->pid,
				    .tid = s->tid,
				    .space = v->space,
				    .version = v->version,
				    .cpumode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK};
}

static int find_chain(struct builder *b, const struct sample *s, uint32_t *id)
{
	const struct source_event *se = &b->events.v[s->event->index];
	const uint64_t *expanded;
	size_t n = 0;
	*id = 0;
	if (!b->expander && !se->chain)
		return 0;
	if (builder_apply_pending(b, s->time))
		return ERR_NOMEM;
	struct stack_entry x = entry_of(b, s);
	int later = !b->sideband_done && attr_flag(&s->event->attr, ATTR_DEFER_CALLCHAIN);
	int r = b->expander && !later
			? expander_expand(b->expander, s,
					  builder_view(b, s->pid, s->tid, s->time),
					  b->rec->swap, &expanded, &n)
			: 0;
	if (r < 0)
		return r;
	if (r) {
		x.kind = CHAIN_UNWOUND;
		x.words = (const uint8_t *)expanded;
		x.nwords = (uint32_t)n;
	} else if (se->chain) {
		x.kind = CHAIN_RAW;
		x.words = s->callchain.p;
		x.nwords = (uint32_t)s->callchain.n;
	}
	return x.nwords ? intern(b, &x, id) : 0;
}

int builder_chain(struct builder *b, const struct sample *s, uint32_t *id)
{
	int r = b->chain_known ? 0 : find_chain(b, s, &b->chain);
	b->chain_known = !r;
	*id = b->chain;
	return r;
}

int builder_stack(struct builder *b, const struct sample *s, uint32_t *id)
{
	int r = builder_chain(b, s, id);
	if (r || *id || b->events.v[s->event->index].chain)
		return r;
	if (builder_apply_pending(b, s->time))
		return ERR_NOMEM;
	struct stack_entry x = entry_of(b, s);
	uint64_t ip = s->ip;
	x.kind = CHAIN_NONE;
	x.words = (const uint8_t *)&ip;
	x.nwords = 1;
	return intern(b, &x, id);
}

int builder_kernel_function(struct builder *b, const struct sample *s, uint64_t address,
			    uint32_t *id)
{
	if (builder_apply_pending(b, s->time))
		return ERR_NOMEM;
	struct stack_entry x = entry_of(b, s);
	x.kind = CHAIN_NONE;
	x.cpumode = PERF_RECORD_MISC_KERNEL;
	x.words = (const uint8_t *)&address;
	x.nwords = 1;
	return intern(b, &x, id);
}
