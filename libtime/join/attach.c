#include "libtime/join/attach.h"
#include "base/mem.h"
#include "base/radix.h"
#include "libtime/spans/span_add.h"

#include <stdlib.h>
#include <string.h>

enum {
	ANCESTORS = 64,  /* most that are searched for a parent */
	COMM_LEN = 15,   /* what the kernel keeps of a thread's name */
	CANDIDATES = 64, /* most threads of one tid or pid that are compared with a span */
};

/* Threads sorted by tid or pid. */
struct by_id {
	VEC(struct id_thread {
		int32_t id;
		uint32_t thread;
	})
	v;
	struct u64map first; /* id → index of v */
};

struct attach {
	struct timeline *tl;
	const struct side *side;
	const struct side_clock_map *map;
	struct side_counts *counts;
	struct by_id tids, pids;
	size_t base;       /* number of the timeline's own spans, which come first */
	struct tl_span *v; /* the latter, n of them */
	size_t n;
	VEC(uint32_t) from; /* index of side->spans, parallel to v */
};

/* --- threads -------------------------------------------------------------------------- */

static int id_order(const void *a, const void *b)
{
	const struct id_thread *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int index_threads(struct by_id *x, const struct timeline *tl, int by_pid)
{
	if (vec_reserve(&x->v, tl->threads.n + 1))
		return ERR_NOMEM;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		int32_t id = by_pid ? t->pid : t->tid;
		if (!(t->flags & (THREAD_IDLE_TASK | THREAD_KERNEL)) && id > 0)
			x->v.v[x->v.n++] = (struct id_thread){id, i};
	}
	qsort(x->v.v, x->v.n, sizeof(*x->v.v), id_order);
	for (uint32_t i = (uint32_t)x->v.n; i-- > 0;)
		if (u64map_put(&x->first, (uint32_t)x->v.v[i].id, i))
			return ERR_NOMEM;
	return 0;
}

static int has_name(const struct attach *a, const struct tl_thread *t, uint32_t name)
{
	const struct strtab *s = a->side->strings;
	return !name || !strncmp(strtab_get(s, name),
				 strtab_get(&a->tl->stacks->strings, t->comm), COMM_LEN);
}

/* Can the span be this thread's? */
static int fits(const struct attach *a, uint32_t thread, const struct side_span *s,
		const struct tl_span *x)
{
	const struct tl_thread *t = &a->tl->threads.v[thread];
	return (s->pid < 0 || t->pid < 0 || t->pid == s->pid) &&
	       has_name(a, t, side_link_of(a->side, s)->thread_name) &&
	       t->first_ns <= x->end_ns && t->last_ns >= x->start_ns;
}

/* The only thread of that id that fits; TL_NONE if none or several do. */
static uint32_t only_one(const struct attach *a, const struct by_id *by, int32_t id,
			 const struct side_span *s, const struct tl_span *x)
{
	uint32_t i, found = TL_NONE;
	if (!u64map_get(&by->first, (uint32_t)id, &i))
		return TL_NONE;
	for (int n = 0; i < by->v.n && by->v.v[i].id == id; i++, n++) {
		if (n == CANDIDATES)
			return TL_NONE;
		if (!fits(a, by->v.v[i].thread, s, x))
			continue;
		if (found != TL_NONE)
			return TL_NONE;
		found = by->v.v[i].thread;
	}
	return found;
}

/* Give the rest of a span to its second thread; if that was not recorded, to no thread. */
static void hand_over(struct attach *a, const struct side_span *s, struct tl_span *x)
{
	const struct side_link *link = side_link_of(a->side, s);
	uint32_t to = only_one(a, &a->tids, link->end_tid, s, x);
	if (to == TL_NONE || side_clock_apply(a->map, link->handed_ns, &x->handed_ns) ||
	    x->handed_ns < x->start_ns || x->handed_ns > x->end_ns) {
		x->thread = x->end_thread = TL_NONE;
		x->handed_ns = 0;
		return;
	}
	x->end_thread = to;
}

static void find_thread(struct attach *a, const struct side_span *s, struct tl_span *x)
{
	uint32_t any;
	int known = s->pid >= 0 && u64map_get(&a->pids.first, (uint32_t)s->pid, &any);
	x->thread = TL_NONE;
	x->pid = known ? s->pid : -1;
	if (s->tid >= 0)
		x->thread = only_one(a, &a->tids, s->tid, s, x);
	if (x->thread == TL_NONE && known && (s->tid < 0 || s->flags & SIDE_OWN_NUMBER))
		x->thread = only_one(a, &a->pids, s->pid, s, x);
	if (s->flags & SIDE_NO_THREAD)
		x->thread = TL_NONE;
	x->end_thread = x->thread;
	if (x->thread != TL_NONE && side_link_of(a->side, s)->handed_ns)
		hand_over(a, s, x);
	if (x->thread != TL_NONE)
		x->pid = -1;
	else if (s->tid < 0 && s->pid < 0)
		a->counts->threadless++;
	else if (!known || (s->tid >= 0 && !(s->flags & SIDE_OWN_NUMBER)))
		a->counts->unmatched++;
	else
		a->counts->threadless++;
}

/* --- spans ---------------------------------------------------------------------------- */

/* 1 if the span overlaps the recording. */
static int place(const struct attach *a, const struct side_span *s, struct tl_span *x)
{
	const struct tl_recording *r = &a->tl->rec;
	if (side_clock_apply(a->map, s->start_ns, &x->start_ns) ||
	    side_clock_apply(a->map, s->end_ns, &x->end_ns) || x->start_ns > r->end_ns ||
	    x->end_ns < r->origin_ns || x->end_ns < x->start_ns)
		return 0;
	if (x->start_ns < r->origin_ns || x->end_ns > r->end_ns)
		x->flags |= OFF_OPEN;
	x->flags |= s->flags & SIDE_OPEN ? OFF_OPEN : 0;
	x->flags |= s->site ? SPAN_CALL : 0;
	return 1;
}

static int add_span(struct attach *a, uint32_t i)
{
	const struct side_span *s = &a->side->spans.v[i];
	struct tl_span x = {.name = s->name, .key_text = s->key, .parent = TL_NONE};
	uint32_t at = (uint32_t)a->tl->spans.n;
	if (!place(a, s, &x)) {
		a->counts->outside++;
		return 0;
	}
	find_thread(a, s, &x);
	if (vec_push(&a->tl->spans, x) || vec_push(&a->from, i) ||
	    vec_reserve(&a->tl->labels, s->nlabels))
		return ERR_NOMEM;
	for (uint32_t k = s->label; k < s->label + s->nlabels; k++) {
		const struct side_label *l = &a->side->labels.v[k];
		a->tl->labels.v[a->tl->labels.n++] = (struct tl_label){l->key, l->value, at};
	}
	return 0;
}

/* --- order ---------------------------------------------------------------------------- */

/* By start; of spans that start together, longer ones first. */
static int longer_first(const void *a, const void *b, void *ctx)
{
	const struct side_span *v = ctx;
	uint64_t i = ((const struct radix_key *)a)->at, k = ((const struct radix_key *)b)->at;
	if (v[i].end_ns != v[k].end_ns)
		return v[i].end_ns > v[k].end_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void order_equal_starts(struct radix_key *v, size_t n, struct side_span *spans)
{
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && v[to].key == v[from].key;)
			to++;
		if (to - from > 1)
			qsort_r(v + from, to - from, sizeof(*v), longer_first, spans);
	}
}

/* By start, longer ones first, so that parents mostly precede their children. */
static int add_spans(struct attach *a)
{
	size_t n = a->side->spans.n;
	struct radix_key *v = mem_resize(NULL, 2 * n + 1, sizeof(*v)), *sorted = v;
	int r = v ? vec_reserve(&a->tl->spans, n) || vec_reserve(&a->from, n) : ERR_NOMEM;
	for (size_t i = 0; i < n && !r; i++)
		v[i] = (struct radix_key){a->side->spans.v[i].start_ns, i};
	if (!r && n) {
		sorted = radix_sort(v, v + n, n);
		order_equal_starts(sorted, n, a->side->spans.v);
	}
	for (size_t i = 0; i < n && !r; i++)
		r = add_span(a, (uint32_t)sorted[i].at);
	mem_free(v);
	a->v = a->tl->spans.v + a->base;
	a->n = a->from.n;
	return r ? ERR_NOMEM : 0;
}

static const struct side_link *link_of(const struct attach *a, uint32_t i)
{
	return side_link_of(a->side, &a->side->spans.v[a->from.v[i]]);
}

/* A parent starts no later than its child, and precedes it. */
static int set_parents(struct attach *a)
{
	struct u64map by_id = {0};
	int r = 0;
	uint32_t p;
	if (!a->side->links.n)
		return 0;
	for (uint32_t i = 0; i < a->n && !r; i++)
		if (link_of(a, i)->id)
			r = u64map_put(&by_id, link_of(a, i)->id, i);
	for (uint32_t i = 0; i < a->n && !r; i++) {
		uint64_t parent = link_of(a, i)->parent;
		if (parent && u64map_get(&by_id, parent, &p) && p < i &&
		    a->v[p].key_text == a->v[i].key_text)
			a->v[i].parent = (uint32_t)a->base + p;
	}
	u64map_release(&by_id);
	return r;
}

/* --- spans that share their thread ---------------------------------------------------- */

/* Where a span leaves its first thread. */
static uint64_t own_end(const struct tl_span *x)
{
	return x->handed_ns ? x->handed_ns : x->end_ns;
}

static int is_ancestor(const struct attach *a, uint32_t of, uint32_t who)
{
	for (int n = 0; n < ANCESTORS; n++, of = a->v[of].parent - (uint32_t)a->base) {
		if (of == who)
			return 1;
		if (a->v[of].parent == TL_NONE)
			return 0;
	}
	return 0;
}

/* Can `inner`, which starts within `outer`, be a part of it? */
static int may_nest(const struct attach *a, uint32_t outer, uint32_t inner)
{
	const struct tl_span *o = &a->v[outer], *x = &a->v[inner];
	if (own_end(x) > own_end(o))
		return 0;
	switch (a->side->nesting) {
	case NEST_ANY:
		return 1;
	case NEST_PARENTS:
		return is_ancestor(a, inner, outer);
	default:
		return o->name != x->name;
	}
}

/*
 * One thread's spans, by start, longer ones first. `open` is the stack of spans around the
 * current one. Every span that starts while a shared one is open is shared as well.
 */
static int mark_shared(struct attach *a, const uint32_t *v, size_t n)
{
	VEC(uint32_t) open = {0};
	uint64_t shared_end = 0;
	int r = 0;
	for (size_t i = 0; i < n && !r; i++) {
		struct tl_span *x = &a->v[v[i]];
		while (open.n && own_end(&a->v[open.v[open.n - 1]]) <= x->start_ns)
			open.n--;
		uint32_t outer = open.n ? open.v[open.n - 1] : TL_NONE;
		int clash = outer != TL_NONE && !may_nest(a, outer, v[i]);
		if (clash)
			a->v[outer].flags |= SPAN_OVERLAPPED;
		if (clash && own_end(&a->v[outer]) > shared_end)
			shared_end = own_end(&a->v[outer]);
		if (clash || x->start_ns < shared_end) {
			x->flags |= SPAN_OVERLAPPED;
			shared_end = own_end(x) > shared_end ? own_end(x) : shared_end;
		}
		while (open.n && own_end(&a->v[open.v[open.n - 1]]) < own_end(x))
			a->v[open.v[--open.n]].flags |= SPAN_OVERLAPPED;
		r = vec_push(&open, v[i]);
	}
	vec_release(&open);
	return r;
}

/* Spans are sorted by start, longer ones first; so are those of each thread. */
static int find_shared(struct attach *a)
{
	size_t threads = a->tl->threads.n;
	uint32_t *first = mem_zalloc(threads + 3, sizeof(*first));
	uint32_t *v = mem_resize(NULL, a->n + 1, sizeof(*v));
	int r = first && v ? 0 : ERR_NOMEM;
	/* while spans are distributed, first[t + 1] is where thread t's next one goes */
	for (size_t i = 0; i < a->n && !r; i++)
		if (a->v[i].thread != TL_NONE)
			first[a->v[i].thread + 2]++;
	for (size_t t = 2; t < threads + 2 && !r; t++)
		first[t] += first[t - 1];
	for (uint32_t i = 0; i < a->n && !r; i++)
		if (a->v[i].thread != TL_NONE)
			v[first[a->v[i].thread + 1]++] = i;
	for (size_t t = 0; t < threads && !r; t++)
		r = mark_shared(a, v + first[t], first[t + 1] - first[t]);
	mem_free(first);
	mem_free(v);
	for (size_t i = 0; i < a->n; i++)
		a->counts->overlapped += !!(a->v[i].flags & SPAN_OVERLAPPED);
	return r;
}

int side_attach(struct timeline *tl, const struct side *side, const struct side_clock_map *map,
		struct side_counts *out, struct err *e)
{
	struct attach a = {
		.tl = tl, .side = side, .map = map, .counts = out, .base = tl->spans.n};
	*out = (struct side_counts){0};
	if (side->spans.n >= TL_NONE - tl->spans.n)
		return err_set(e, ERR_LIMIT, "more than 2^32 spans");
	int r = index_threads(&a.tids, tl, 0);
	r = r ? r : index_threads(&a.pids, tl, 1);
	r = r ? r : add_spans(&a);
	r = r ? r : set_parents(&a);
	r = r ? r : find_shared(&a);
	r = r ? err_nomem(e) : spans_added(tl, a.base, e);
	out->spans = a.n;
	vec_release(&a.tids.v);
	u64map_release(&a.tids.first);
	vec_release(&a.pids.v);
	u64map_release(&a.pids.first);
	vec_release(&a.from);
	return r;
}
