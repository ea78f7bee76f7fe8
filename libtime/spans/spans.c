#include "libtime/spans/spans.h"
#include "base/mem.h"
#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"
#include "libtime/spans/span_add.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 256, /* open spans of one thread; more drop the outermost */
	LOOK_BACK = 256, /* intervals searched for a hand-over */
};

/* An open span of a lane (a thread or a CPU), innermost first. */
struct node {
	uint32_t span, kind, below;
};

enum { LAST_ENDED = 8 };

struct lane {
	uint32_t top; /* node, TL_NONE: nothing open */
	uint32_t depth;
	/* the spans that ended last, the newest first; kind TL_NONE: none. One hit may end some of
	 * several kinds. */
	struct ended {
		uint32_t span, kind;
	} ended[LAST_ENDED];
};

/* The newest span of one key of one kind. */
struct keyed {
	uint64_t key;
	uint32_t kind, span;
	uint32_t first, last; /* threads: the first and the last that began it */
	uint32_t open;        /* begins without an end */
};

/* What spans_finish needs besides the span; parallel to tl->spans. */
struct extra {
	uint64_t given_ns; /* last end event of the first thread */
	uint64_t taken_ns; /* last begin event of another thread */
	uint32_t reading;  /* of span_counters, at its begin */
	uint8_t headless;  /* its begin was not recorded */
	uint8_t by;
};

struct spans {
	struct timeline *tl;
	VEC(struct span_kind) kinds;
	VEC(struct extra) extra;
	VEC(struct node) nodes;
	uint32_t free; /* list of unused nodes through `below` */
	VEC(struct lane) lanes;
	VEC(struct keyed) keyed;
	struct u64map lane_of; /* thread, or 1 << 32 | CPU */
	struct u64map seen;    /* kind << 32 | lane: a begin was seen there */
	struct idmap by_key;
	struct span_counters counters;
	struct u64map costs; /* name → ns of its probes */
};

int spans_new(struct timeline *tl, struct spans **out, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->tl = tl;
	(*out)->free = TL_NONE;
	return 0;
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	vec_release(&s->kinds);
	vec_release(&s->extra);
	vec_release(&s->nodes);
	vec_release(&s->lanes);
	vec_release(&s->keyed);
	u64map_release(&s->lane_of);
	u64map_release(&s->seen);
	idmap_release(&s->by_key);
	span_counters_release(&s->counters);
	u64map_release(&s->costs);
	mem_free(s);
}

int spans_kind(struct spans *s, const struct span_kind *kind, uint32_t *id)
{
	*id = (uint32_t)s->kinds.n;
	return vec_push(&s->kinds, *kind);
}

/* --- spans ---------------------------------------------------------------------------- */

/* A span that begins with `ev` and is open until closed. */
static int open_span(struct spans *s, const struct span_event *ev, uint32_t parent,
		     uint32_t *out)
{
	const struct span_kind *k = &s->kinds.v[ev->kind];
	struct tl_span x = {.start_ns = ev->time_ns,
			    .end_ns = ev->time_ns,
			    .key = ev->key,
			    .name = k->name,
			    .thread = ev->thread,
			    .end_thread = ev->thread,
			    .parent = parent,
			    .pid = -1,
			    .flags = OFF_OPEN};
	if (s->tl->spans.n >= TL_NONE)
		return ERR_LIMIT;
	*out = (uint32_t)s->tl->spans.n;
	return vec_push(&s->tl->spans, x) || vec_push(&s->extra, (struct extra){.by = k->by})
		       ? ERR_NOMEM
		       : 0;
}

static int headless_span(struct spans *s, const struct span_event *ev, uint32_t *out)
{
	int r = open_span(s, ev, TL_NONE, out);
	if (!r)
		s->extra.v[*out].headless = 1;
	return r;
}

/* --- by thread and by CPU ------------------------------------------------------------- */

static int lane_of(struct spans *s, const struct span_event *ev, uint32_t *lane)
{
	uint64_t key =
		s->kinds.v[ev->kind].by == SPAN_BY_CPU ? 1ull << 32 | ev->cpu : ev->thread;
	if (u64map_get(&s->lane_of, key, lane))
		return 0;
	*lane = (uint32_t)s->lanes.n;
	struct lane none = {.top = TL_NONE};
	for (size_t i = 0; i < LAST_ENDED; i++)
		none.ended[i].kind = TL_NONE;
	if (vec_push(&s->lanes, none))
		return ERR_NOMEM;
	return u64map_put(&s->lane_of, key, *lane);
}

/* Remove a node from its lane; `link` points to it. */
static void unlink_node(struct spans *s, struct lane *l, uint32_t *link)
{
	uint32_t n = *link;
	*link = s->nodes.v[n].below;
	s->nodes.v[n].below = s->free;
	s->free = n;
	l->depth--;
}

static int push_node(struct spans *s, struct lane *l, uint32_t span, uint32_t kind)
{
	struct node x = {.span = span, .kind = kind, .below = l->top};
	if (l->depth >= MAX_DEPTH) {
		uint32_t *link = &l->top;
		while (s->nodes.v[*link].below != TL_NONE)
			link = &s->nodes.v[*link].below;
		unlink_node(s, l, link);
		x.below = l->top;
	}
	if (s->free != TL_NONE) {
		uint32_t n = s->free;
		s->free = s->nodes.v[n].below;
		s->nodes.v[n] = x;
		l->top = n;
	} else {
		if (vec_push(&s->nodes, x))
			return ERR_NOMEM;
		l->top = (uint32_t)(s->nodes.n - 1);
	}
	l->depth++;
	return 0;
}

static int read_begin(struct spans *s, const struct span_event *ev, uint32_t span)
{
	uint32_t *id = &s->extra.v[span].reading;
	return ev->reading && !*id ? span_counters_begin(&s->counters, ev->thread, ev->kind,
							 ev->reading, id)
				   : 0;
}

static int read_end(struct spans *s, const struct span_event *ev, uint32_t span)
{
	uint32_t id = s->extra.v[span].reading;
	if (!ev->reading)
		return 0;
	s->extra.v[span].reading = 0;
	return span_counters_end(&s->counters, ev->thread, ev->kind, span, ev->reading, id);
}

int spans_reading(struct spans *s, const struct span_event *ev)
{
	uint32_t lane;
	if (s->kinds.v[ev->kind].by == SPAN_BY_KEY || ev->thread == TL_NONE)
		return 0;
	if (lane_of(s, ev, &lane))
		return ERR_NOMEM;
	const struct lane *l = &s->lanes.v[lane];
	for (const struct ended *x = l->ended; ev->end && x < l->ended + LAST_ENDED; x++)
		if (x->kind == ev->kind && s->tl->spans.v[x->span].end_ns == ev->time_ns)
			return read_end(s, ev, x->span);
	if (ev->end)
		return 0;
	for (uint32_t n = l->top; n != TL_NONE; n = s->nodes.v[n].below) {
		const struct node *x = &s->nodes.v[n];
		if (s->tl->spans.v[x->span].start_ns != ev->time_ns)
			break;
		if (x->kind == ev->kind)
			return read_begin(s, ev, x->span);
	}
	return 0;
}

static int begin_nested(struct spans *s, const struct span_event *ev, uint32_t lane)
{
	uint32_t top = s->lanes.v[lane].top, span;
	uint32_t parent = top == TL_NONE ? TL_NONE : s->nodes.v[top].span;
	/* perf record may write a record twice, at the end of a round and at the next's start
	 */
	if (parent != TL_NONE && s->nodes.v[top].kind == ev->kind &&
	    s->tl->spans.v[parent].start_ns == ev->time_ns)
		return 0;
	int r = u64map_put(&s->seen, (uint64_t)ev->kind << 32 | lane, 1);
	if (!r)
		r = open_span(s, ev, parent, &span);
	if (!r)
		r = read_begin(s, ev, span);
	return r ? r : push_node(s, &s->lanes.v[lane], span, ev->kind);
}

static int end_nested(struct spans *s, const struct span_event *ev, uint32_t lane)
{
	struct lane *l = &s->lanes.v[lane];
	uint32_t seen;
	for (uint32_t *link = &l->top; *link != TL_NONE; link = &s->nodes.v[*link].below) {
		if (s->nodes.v[*link].kind != ev->kind)
			continue;
		uint32_t span = s->nodes.v[*link].span;
		struct tl_span *x = &s->tl->spans.v[span];
		x->end_ns = ev->time_ns;
		x->flags &= ~(uint32_t)OFF_OPEN;
		unlink_node(s, l, link);
		memmove(l->ended + 1, l->ended, sizeof(l->ended) - sizeof(*l->ended));
		*l->ended = (struct ended){span, ev->kind};
		return read_end(s, ev, span);
	}
	uint64_t key = (uint64_t)ev->kind << 32 | lane;
	if (u64map_get(&s->seen, key, &seen))
		return 0;
	return headless_span(s, ev, &seen) ? ERR_NOMEM : u64map_put(&s->seen, key, 1);
}

/* --- by key --------------------------------------------------------------------------- */

static int keyed_of(struct spans *s, const struct span_event *ev, struct keyed **out)
{
	uint64_t h = hash_u64(ev->key ^ (uint64_t)ev->kind << 48);
	size_t at = 0;
	uint32_t i;
	while (idmap_next(&s->by_key, h, &at, &i)) {
		*out = &s->keyed.v[i];
		if ((*out)->key == ev->key && (*out)->kind == ev->kind)
			return 0;
	}
	struct keyed k = {.key = ev->key, .kind = ev->kind, .span = TL_NONE};
	if (vec_push(&s->keyed, k))
		return ERR_NOMEM;
	*out = &s->keyed.v[s->keyed.n - 1];
	return idmap_put(&s->by_key, h, (uint32_t)(s->keyed.n - 1));
}

/* Does this begin start another piece of work than the key's last span? */
static int is_new_work(const struct keyed *k, const struct span_event *ev, int once)
{
	return k->span == TL_NONE || once ||
	       (!k->open && (ev->thread == k->first || ev->thread == k->last));
}

/* The innermost open span of a thread, or TL_NONE. */
static uint32_t innermost(const struct spans *s, uint32_t thread)
{
	uint32_t lane;
	if (!u64map_get(&s->lane_of, thread, &lane) || s->lanes.v[lane].top == TL_NONE)
		return TL_NONE;
	return s->nodes.v[s->lanes.v[lane].top].span;
}

static int begin_keyed(struct spans *s, const struct span_event *ev, struct keyed *k)
{
	if (is_new_work(k, ev, s->kinds.v[ev->kind].once)) {
		int r = open_span(s, ev, innermost(s, ev->thread), &k->span);
		if (r)
			return r;
		k->first = ev->thread;
		k->open = 0;
	} else {
		s->tl->spans.v[k->span].flags |= OFF_OPEN;
		if (ev->thread != k->first)
			s->extra.v[k->span].taken_ns = ev->time_ns;
	}
	k->last = ev->thread;
	k->open++;
	return 0;
}

static int end_keyed(struct spans *s, const struct span_event *ev, struct keyed *k)
{
	int once = s->kinds.v[ev->kind].once;
	if (k->span == TL_NONE) {
		k->first = k->last = ev->thread;
		return headless_span(s, ev, &k->span);
	}
	if (once && !k->open)
		return 0;
	struct tl_span *x = &s->tl->spans.v[k->span];
	x->end_ns = ev->time_ns;
	/* a request completed by an interrupt ends on the thread that began it */
	x->end_thread = ev->thread == TL_NONE ? x->thread : ev->thread;
	if (!s->extra.v[k->span].headless)
		x->flags &= ~(uint32_t)OFF_OPEN;
	if (ev->thread == x->thread)
		s->extra.v[k->span].given_ns = ev->time_ns;
	if (k->open)
		k->open--;
	return 0;
}

int spans_event(struct spans *s, const struct span_event *ev, struct err *e)
{
	struct keyed *k;
	uint32_t lane;
	int r;
	if (s->kinds.v[ev->kind].by == SPAN_BY_KEY) {
		if (ev->thread == TL_NONE && !ev->end)
			return 0;
		r = keyed_of(s, ev, &k);
		if (!r && !(ev->thread == TL_NONE && k->span == TL_NONE))
			r = ev->end ? end_keyed(s, ev, k) : begin_keyed(s, ev, k);
	} else {
		if (ev->thread == TL_NONE)
			return 0;
		r = lane_of(s, ev, &lane);
		if (!r)
			r = ev->end ? end_nested(s, ev, lane) : begin_nested(s, ev, lane);
	}
	if (r == ERR_LIMIT)
		return err_set(e, r, "more than 2^32 spans");
	return r ? err_nomem(e) : 0;
}

/* --- the end -------------------------------------------------------------------------- */

/* When `to` was last woken by `from` in [start, end); 0 = never. */
static uint64_t woken_by(const struct timeline *tl, uint32_t to, uint32_t from, uint64_t start,
			 uint64_t end)
{
	if (to == TL_NONE)
		return 0;
	const struct tl_thread *t = &tl->threads.v[to];
	uint32_t i = timeline_offcpu_after(tl, to, end);
	if (i == t->offcpu_first + t->offcpu_n && t->offcpu_n)
		i--;
	for (uint32_t n = 0; t->offcpu_n && n < LOOK_BACK; n++, i--) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t at = o->start_ns + o->blocked_ns;
		if (o->end_ns <= start)
			return 0;
		if (o->waker == from && !o->unknown && at >= start && at < end)
			return at;
		if (i == t->offcpu_first)
			break;
	}
	return 0;
}

/* When the first thread handed the span over. */
static uint64_t handed_over(const struct timeline *tl, const struct tl_span *x,
			    const struct extra *m)
{
	uint64_t at = woken_by(tl, x->end_thread, x->thread, x->start_ns, x->end_ns);
	if (!at)
		at = m->given_ns ? m->given_ns : m->taken_ns;
	return at >= x->start_ns && at <= x->end_ns ? at : x->start_ns;
}

static void set_parts(const struct part_sums *parts, struct tl_span *x, const struct extra *m)
{
	if (x->thread != x->end_thread && x->end_thread != TL_NONE)
		x->handed_ns = handed_over(parts->tl, x, m);
	span_set_parts(parts, x);
}

/* Set the edges of an open span. */
static void clip(const struct timeline *tl, struct tl_span *x, const struct extra *m,
		 uint64_t origin, uint64_t end)
{
	const struct tl_thread *t = x->thread == TL_NONE ? NULL : &tl->threads.v[x->thread];
	if (!(x->flags & OFF_OPEN))
		return;
	if (m->headless) {
		uint64_t from = t && m->by != SPAN_BY_KEY && t->first_ns > origin ? t->first_ns
										  : origin;
		x->start_ns = from < x->end_ns ? from : x->end_ns;
		return;
	}
	uint64_t to =
		t && m->by != SPAN_BY_KEY && t->last_ns && t->last_ns < end ? t->last_ns : end;
	x->end_ns = to > x->start_ns ? to : x->start_ns;
}

/* --- the probes' own time ------------------------------------------------------------- */

int spans_probe_cost(struct spans *s, uint32_t name, uint32_t ns, struct err *e)
{
	return u64map_put(&s->costs, name, ns) ? err_nomem(e) : 0;
}

static uint64_t cost_of(const struct spans *s, const struct tl_span *x)
{
	uint32_t ns;
	return !(x->flags & OFF_OPEN) && u64map_get(&s->costs, x->name, &ns) ? ns : 0;
}

/* The first begin and last end of the spans inside of a span. */
struct inner_edges {
	uint64_t first_ns, last_ns; /* first_ns 0: no spans inside */
};

/* Shorten a span by the time of its probes: at its start as far as the spans inside allow, then
 * at its end. At least 1 ns remains, since a call of no length would not be counted. Returns by
 * how much. */
static uint64_t shorten(struct tl_span *x, uint64_t cost, const struct inner_edges *in)
{
	uint64_t length = x->end_ns - x->start_ns;
	uint64_t first = in->first_ns ? in->first_ns : x->end_ns;
	cost = cost < length ? cost : length ? length - 1 : 0;
	uint64_t room = first > x->start_ns ? first - x->start_ns : 0;
	uint64_t start = cost < room ? cost : room, rest = cost - start;
	x->start_ns += start;
	uint64_t last = in->first_ns ? in->last_ns : x->start_ns;
	room = last < x->end_ns ? x->end_ns - last : 0;
	rest = rest < room ? rest : room;
	x->end_ns -= rest;
	return start + rest;
}

/* A span comes after the one around it, so going backwards the innermost come first. */
static int subtract_costs(struct spans *s)
{
	struct timeline *tl = s->tl;
	uint32_t event;
	struct inner_edges *in = s->costs.n ? mem_zalloc(tl->spans.n + 1, sizeof(*in)) : NULL;
	if (!s->costs.n)
		return 0;
	int r = !in || strtab_intern(&tl->stacks->strings, PROBE_COST, &event) ? ERR_NOMEM : 0;
	for (size_t i = tl->spans.n; !r && i-- > 0;) {
		struct tl_span *x = &tl->spans.v[i];
		uint64_t cost = cost_of(s, x);
		uint64_t less = cost ? shorten(x, cost, &in[i]) : 0;
		if (cost && vec_push(&tl->counters, ((struct tl_counter){.value = less,
									 .span = (uint32_t)i,
									 .event = event})))
			r = ERR_NOMEM;
		struct inner_edges *out = x->parent == TL_NONE ? NULL : &in[x->parent];
		if (!out)
			continue;
		out->first_ns = !out->first_ns || x->start_ns < out->first_ns ? x->start_ns
									      : out->first_ns;
		out->last_ns = x->end_ns > out->last_ns ? x->end_ns : out->last_ns;
	}
	mem_free(in);
	return r;
}

/* A clock that is a counter of the span has run in its probes, too. */
static void subtract_from_clocks(struct timeline *tl)
{
	uint32_t event;
	if (!strtab_find(&tl->stacks->strings, PROBE_COST, &event))
		return;
	for (size_t i = 0; i < tl->counters.n; i++) {
		const struct tl_counter cost = tl->counters.v[i];
		size_t first, n;
		if (cost.event != event)
			continue;
		n = timeline_counters_of(tl, cost.span, &first);
		for (struct tl_counter *c = &tl->counters.v[first]; n--; c++)
			if (c->event != event &&
			    counter_is_time(strtab_get(&tl->stacks->strings, c->event)))
				c->value -= cost.value < c->value ? cost.value : c->value;
	}
}

int spans_finish(struct spans *s, uint64_t origin_ns, uint64_t end_ns, struct err *e)
{
	struct part_sums parts = {0};
	if (!s->tl->spans.n)
		return 0;
	int r = part_sums_init(&parts, s->tl);
	for (size_t i = 0; !r && i < s->tl->spans.n; i++)
		clip(s->tl, &s->tl->spans.v[i], &s->extra.v[i], origin_ns, end_ns);
	r = r ? r : subtract_costs(s);
	for (size_t i = 0; !r && i < s->tl->spans.n; i++)
		set_parts(&parts, &s->tl->spans.v[i], &s->extra.v[i]);
	part_sums_release(&parts);
	r = r ? r : span_counters_finish(&s->counters, s->tl);
	if (!r && s->costs.n)
		subtract_from_clocks(s->tl);
	return r || spans_sort(s->tl) ? err_nomem(e) : 0;
}
