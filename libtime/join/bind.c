#include "libtime/join/bind.h"
#include "base/mem.h"
#include "libtime/join/ranges.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

struct binder {
	struct timeline *tl;
	const struct side *side;
	const struct side_clock_map *map;
	struct side_bound *counts;
	struct ranges ranges;    /* of trampolines that are known by address */
	struct u64map by_symbol; /* strings id → the first trampoline of that name */
	uint32_t *next;          /* trampoline → the next one of its name, or TL_NONE */
	uint8_t *seen;           /* by trampoline: it is a frame of some stack */
	uint32_t first;          /* index of the first history that is added */
};

/* --- frames --------------------------------------------------------------------------- */

static int index_symbols(struct binder *b)
{
	for (uint32_t i = (uint32_t)b->side->trampolines.n; i-- > 0;) {
		uint32_t symbol = b->side->trampolines.v[i].symbol;
		if (b->side->trampolines.v[i].high)
			continue;
		if (!u64map_get(&b->by_symbol, symbol, &b->next[i]))
			b->next[i] = TL_NONE;
		if (u64map_put(&b->by_symbol, symbol, i))
			return ERR_NOMEM;
	}
	return 0;
}

static int add_trampoline(struct binder *b, uint32_t frame, uint32_t i)
{
	struct tl_trampoline t = {.frame = frame,
				  .history = b->first + i,
				  .pid = b->side->trampolines.v[i].pid,
				  .thread_end = (uint32_t)b->tl->threads.n};
	b->seen[i] = 1;
	return vec_push(&b->tl->trampolines, t) ? ERR_NOMEM : 0;
}

static int add_frame(struct binder *b, uint32_t frame, uint32_t symbol)
{
	uint32_t i;
	int r = 0;
	if (!u64map_get(&b->by_symbol, symbol, &i))
		return 0;
	for (; i != TL_NONE && !r; i = b->next[i])
		r = add_trampoline(b, frame, i);
	return r;
}

static int match_ranges(struct binder *b, uint32_t frame, const struct frame *f)
{
	size_t n;
	const struct frame_range *v = ranges_of(&b->ranges, f, &n);
	int r = 0;
	for (size_t i = 0; i < n && !r; i++)
		r = add_trampoline(b, frame, v[i].trampoline);
	return r;
}

/* +1 for a bracket of templates or arguments that opens, -1 for one that closes. */
static int depth_by(char c)
{
	return c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
}

/* The length of the name without its arguments. */
static size_t own_name(const char *s)
{
	int depth = 0;
	size_t n = 0;
	for (; s[n] && !(s[n] == '(' && !depth); n++)
		depth += depth_by(s[n]);
	return n;
}

/* Match the frame by each of its names: "void a::b<7>(int)" is also "a::b<7>" and "b<7>". */
static int match_frame(struct binder *b, uint32_t frame, char *name)
{
	const struct strtab *strings = b->side->strings;
	uint32_t symbol;
	int depth = 0, r = 0;
	if (strtab_find(strings, name, &symbol) && u64map_get(&b->by_symbol, symbol, &symbol))
		return add_frame(b, frame, b->side->trampolines.v[symbol].symbol);
	name[own_name(name)] = '\0';
	for (char *s = name; *s && !r; s++) {
		int starts = s == name || (!depth && (s[-1] == ' ' || s[-1] == ':'));
		if (starts && strtab_find(strings, s, &symbol))
			r = add_frame(b, frame, symbol);
		depth += depth_by(*s);
	}
	return r;
}

static int match_frames(struct binder *b)
{
	const struct stacks *s = b->tl->stacks;
	int r = 0;
	for (uint32_t i = 1; i < s->frames.n && !r; i++) {
		const struct frame *f = &s->frames.v[i];
		if (f->kind == FRAME_KERNEL || f->kind == FRAME_MARK)
			continue;
		r = match_ranges(b, i, f);
		if (!f->name || r)
			continue;
		char *name = mem_strdup(strtab_get(&s->strings, f->name));
		r = name ? match_frame(b, i, name) : ERR_NOMEM;
		mem_free(name);
	}
	return r;
}

/* --- bindings ------------------------------------------------------------------------- */

/* Of two at one moment, the later one in the file is valid. */
static int binding_order(const void *a, const void *b, void *ctx)
{
	const struct side_binding *v = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].trampoline != v[k].trampoline)
		return v[i].trampoline < v[k].trampoline ? -1 : 1;
	if (v[i].at_ns != v[k].at_ns)
		return v[i].at_ns < v[k].at_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int add_bindings(struct binder *b)
{
	const struct side_binding *v = b->side->bindings.v;
	size_t n = b->side->bindings.n;
	uint32_t *order = mem_resize(NULL, n + 1, sizeof(*order));
	int r = order ? vec_reserve(&b->tl->bindings, n) : ERR_NOMEM;
	for (uint32_t i = 0; i < n && !r; i++)
		order[i] = i;
	if (!r && n)
		qsort_r(order, n, sizeof(*order), binding_order, (void *)v);
	for (size_t i = 0; i < n && !r; i++) {
		const struct side_binding *x = &v[order[i]];
		struct tl_binding to = {
			.history = b->first + x->trampoline, .key = x->key, .value = x->value};
		if (side_clock_apply(b->map, x->at_ns, &to.from_ns))
			to.from_ns = 0; /* it is before the zero of the recording's clock */
		r = vec_push(&b->tl->bindings, to);
	}
	mem_free(order);
	return r;
}

static int is_recorded(const struct timeline *tl, int32_t pid)
{
	for (uint32_t i = 0; pid >= 0 && i < tl->threads.n; i++)
		if (tl->threads.v[i].pid == pid)
			return 1;
	return pid < 0;
}

static void count(struct binder *b)
{
	int32_t pid = -1;
	int known = 1;
	b->counts->bindings = b->side->bindings.n;
	b->counts->trampolines = b->side->trampolines.n;
	b->counts->shared = b->ranges.shared;
	for (size_t i = 0; i < b->side->trampolines.n; i++) {
		const struct side_trampoline *t = &b->side->trampolines.v[i];
		if (t->pid != pid)
			known = is_recorded(b->tl, pid = t->pid);
		b->counts->unmatched += !known;
		b->counts->unseen += known && !b->seen[i];
	}
}

/* Names stay with a store, addresses do not. */
static int check_addresses(const struct profile *p, const struct side *side, struct err *e)
{
	for (size_t i = 0; i < side->trampolines.n && !p; i++)
		if (side->trampolines.v[i].high)
			return err_set(
				e, ERR_REFUSED,
				"its trampolines are addresses, and a store does not say "
				"what code was there; give the file to perfkit import");
	return 0;
}

int side_bind(struct timeline *tl, struct profile *p, const struct side *side,
	      const struct side_clock_map *map, struct side_bound *out, struct err *e)
{
	struct binder b = {.tl = tl, .side = side, .map = map, .counts = out};
	size_t n = side->trampolines.n;
	*out = (struct side_bound){0};
	if (!n || check_addresses(p, side, e))
		return n ? ERR_REFUSED : 0;
	b.first = timeline_next_history(tl);
	b.next = mem_zalloc(n, sizeof(*b.next));
	b.seen = mem_zalloc(n, 1);
	int r = b.next && b.seen ? index_symbols(&b) : ERR_NOMEM;
	r = r ? r : ranges_find(&b.ranges, p, side, map);
	r = r ? r : match_frames(&b);
	r = r ? r : add_bindings(&b);
	timeline_sort_trampolines(tl);
	if (!r)
		count(&b);
	u64map_release(&b.by_symbol);
	ranges_release(&b.ranges);
	mem_free(b.next);
	mem_free(b.seen);
	return r ? err_nomem(e) : 0;
}
