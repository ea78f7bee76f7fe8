#include "libtime/spans/span_counters.h"

#include "base/hash.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"

/* A begin's reading, until its span ends. */
struct kept_reading {
	uint64_t enabled_ns, running_ns;
	uint32_t first; /* into values */
	uint32_t instance, group;
	uint8_t n, place;
};

/* How much a counter grew in a span, by the sets of counters at its begin and end. */
struct counted_span {
	int64_t moved;
	uint64_t enabled_ns, running_ns;
	uint32_t span, name;
	uint32_t offset; /* into offsets; TL_NONE: one set, or two that were started together */
	uint8_t place;
	uint8_t apart; /* two sets that were multiplexed: they did not count the same */
};

/* By how much a counter in the end's set is behind the one in the begin's set. */
struct counter_offset {
	int64_t low, high;
	uint64_t begin, end; /* their last values */
	uint8_t began, ended;
};

void span_counters_release(struct span_counters *c)
{
	vec_release(&c->kept);
	vec_release(&c->values);
	vec_release(&c->counted);
	vec_release(&c->offsets);
	u64map_release(&c->offset_of);
}

/* The offset of a counter, for one thread, kind of span and instance. */
static int offset_at(struct span_counters *c, uint32_t thread, uint32_t kind, uint32_t instance,
		     uint32_t name, uint32_t *at)
{
	uint64_t who = hash_u64((uint64_t)kind << 32 | thread);
	uint64_t key = hash_u64(who ^ hash_u64((uint64_t)instance << 32 | name));
	if (u64map_get(&c->offset_of, key, at))
		return 0;
	*at = (uint32_t)c->offsets.n;
	if (vec_push(&c->offsets,
		     ((struct counter_offset){.low = INT64_MIN, .high = INT64_MAX})))
		return ERR_NOMEM;
	return u64map_put(&c->offset_of, key, *at);
}

static void offset_began(struct counter_offset *o, uint64_t value)
{
	if (o->began && value < o->begin) /* a new counter */
		*o = (struct counter_offset){.low = INT64_MIN, .high = INT64_MAX};
	int64_t at_most = (int64_t)(value - o->end);
	if (o->ended && at_most < o->high)
		o->high = at_most;
	o->begin = value;
	o->began = 1;
}

static void offset_ended(struct counter_offset *o, uint64_t value)
{
	int64_t at_least = (int64_t)(o->begin - value);
	if (o->began && at_least > o->low)
		o->low = at_least;
	o->end = value;
	o->ended = 1;
}

/* Did a group count all the time (no multiplexing)? */
static int is_whole(uint64_t enabled_ns, uint64_t running_ns)
{
	return enabled_ns == running_ns;
}

int span_counters_begin(struct span_counters *c, uint32_t thread, uint32_t kind,
			const struct span_reading *r, uint32_t *id)
{
	struct kept_reading k = {.enabled_ns = r->enabled_ns,
				 .running_ns = r->running_ns,
				 .first = (uint32_t)c->values.n,
				 .instance = r->instance,
				 .group = r->group,
				 .n = r->n,
				 .place = r->place};
	*id = 0;
	if (c->kept.n >= TL_NONE - 1 || c->values.n + 2 * SPAN_COUNTERS >= TL_NONE ||
	    vec_reserve(&c->values, 2 * SPAN_COUNTERS) || vec_push(&c->kept, k))
		return ERR_NOMEM;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t at;
		c->values.v[c->values.n++] = r->name[i];
		c->values.v[c->values.n++] = r->value[i];
		if (r->from_zero || !is_whole(r->enabled_ns, r->running_ns))
			continue;
		if (offset_at(c, thread, kind, r->instance, r->name[i], &at))
			return ERR_NOMEM;
		offset_began(&c->offsets.v[at], r->value[i]);
	}
	*id = (uint32_t)c->kept.n;
	return 0;
}

/* The value of a counter in a kept reading; NULL if it has no such counter. */
static const uint64_t *kept_value(const struct span_counters *c, const struct kept_reading *k,
				  uint32_t name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (c->values.v[k->first + 2 * i] == name)
			return &c->values.v[k->first + 2 * i + 1];
	return NULL;
}

/* The innermost span's readings were kept last. */
static void forget(struct span_counters *c, uint32_t id)
{
	if (id != c->kept.n)
		return;
	c->values.n = c->kept.v[id - 1].first;
	c->kept.n--;
}

int span_counters_end(struct span_counters *c, uint32_t thread, uint32_t kind, uint32_t span,
		      const struct span_reading *r, uint32_t id)
{
	if (!id)
		return 0;
	const struct kept_reading *k = &c->kept.v[id - 1];
	int same = r->group == k->group, whole = is_whole(r->enabled_ns, r->running_ns);
	for (uint32_t i = 0; i < r->n; i++) {
		struct counted_span x = {.span = span, .name = r->name[i], .offset = TL_NONE};
		const uint64_t *begin = kept_value(c, k, r->name[i]);
		if (!r->from_zero && !same && whole) {
			if (offset_at(c, thread, kind, r->instance, r->name[i], &x.offset))
				return ERR_NOMEM;
			offset_ended(&c->offsets.v[x.offset], r->value[i]);
		}
		if (!begin || k->instance != r->instance)
			continue;
		x.moved = (int64_t)(r->value[i] - *begin);
		x.place = r->place;
		if (same && r->enabled_ns >= k->enabled_ns && r->running_ns >= k->running_ns) {
			x.enabled_ns = r->enabled_ns - k->enabled_ns;
			x.running_ns = r->running_ns - k->running_ns;
		} else {
			x.apart = same || !whole || !is_whole(k->enabled_ns, k->running_ns);
		}
		if (vec_push(&c->counted, x))
			return ERR_NOMEM;
	}
	forget(c, id);
	return 0;
}

/* --- the end -------------------------------------------------------------------------- */

/* 1 if the span's thread is known to have stayed on one CPU. */
static int stayed_on_cpu(const struct timeline *tl, const struct tl_span *s)
{
	const struct tl_thread *t = &tl->threads.v[s->thread];
	if (!(tl->flags & TL_HAS_SWITCH) || tl->flags & TL_PER_TASK || s->flags & OFF_SUSPECT)
		return 0;
	for (uint32_t i = timeline_offcpu_after(tl, s->thread, s->start_ns);
	     i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < s->end_ns; i++)
		if (tl->offcpu.v[i].cpu_in != tl->offcpu.v[i].cpu_out)
			return 0;
	return 1;
}

/* Extrapolate by the share of time in which the counter had a hardware register. */
static void scale(struct tl_counter *x, const struct counted_span *c)
{
	if (c->enabled_ns == c->running_ns)
		return;
	x->flags |= COUNTER_SCALED;
	double value = (double)x->value * (double)c->enabled_ns / (double)c->running_ns + 0.5;
	if (!c->running_ns || value >= 0x1p64)
		x->flags |= COUNTER_AT_LEAST;
	else
		x->value = (uint64_t)value;
}

/* Adds without undefined overflow: a damaged file may have any values. */
static int64_t add_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct tl_counter counter_of(const struct span_counters *c, const struct timeline *tl,
				    const struct counted_span *n)
{
	struct tl_counter x = {.span = n->span, .event = n->name};
	if (n->apart) {
		x.flags = COUNTER_AT_LEAST | COUNTER_SCALED;
		return x;
	}
	int64_t low = n->moved, high = n->moved;
	if (n->offset != TL_NONE) {
		const struct counter_offset *o = &c->offsets.v[n->offset];
		int known = o->low != INT64_MIN && o->high != INT64_MAX && o->low <= o->high;
		low = o->low > o->high ? 0
				       : add_wrapping(low, o->low != INT64_MIN ? o->low : 0);
		high = known ? add_wrapping(n->moved, o->high) : INT64_MAX;
	}
	x.value = low > 0 ? (uint64_t)low : 0;
	int moves = n->place == READING_CPU && !stayed_on_cpu(tl, &tl->spans.v[n->span]);
	if (high == INT64_MAX || moves)
		x.flags = COUNTER_AT_LEAST;
	else if (high > (int64_t)x.value)
		x.error = (uint64_t)high - x.value;
	scale(&x, n);
	return x;
}

int span_counters_finish(struct span_counters *c, struct timeline *tl)
{
	for (size_t i = 0; i < c->counted.n; i++)
		if (vec_push(&tl->counters, counter_of(c, tl, &c->counted.v[i])))
			return ERR_NOMEM;
	timeline_sort_counters(tl);
	return 0;
}
