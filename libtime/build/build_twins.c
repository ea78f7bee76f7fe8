/*
 * build_twins.c - one tracepoint recorded by several perf events, for example switches of all
 * threads without stacks and those of some threads with stacks:
 *
 *	-e sched:sched_switch -e sched:sched_switch/call-graph=dwarf/ \
 *		--filter 'prev_comm == "db"'
 *
 * Each hit then has a sample for every event whose filter it passes. The kernel makes the raw
 * bytes of a hit once and passes them to one event after another (perf_tp_event() in
 * kernel/events/core.c), and no other task runs there meanwhile. So the samples of one hit
 * follow each other on its CPU, with equal raw bytes, and times some microseconds apart.
 */
#include "libtime/build/build_internal.h"

enum { MAX_TWINS = 64, NEAR_NS = 10000000 };

void builder_share_roles(struct builder *b)
{
	for (size_t i = 0; i < b->events.n; i++) {
		struct source_event *se = &b->events.v[i];
		const struct source_event *of = &b->events.v[se->original];
		if (!se->twin || !of->nroles)
			continue;
		se->role_at = of->role_at;
		se->nroles = of->nroles;
		if (se->role == ROLE_MARK)
			se->role = ROLE_NONE;
	}
}

int builder_find_twins(struct builder *b)
{
	struct u64map first = {0}; /* tracepoint → its first event */
	int r = 0;
	for (uint32_t i = 0; !r && i < b->events.n; i++) {
		const struct event *ev = &b->rec->events.v[i];
		struct source_event *se = &b->events.v[i], *of;
		if (!ev->is_tracepoint)
			continue;
		if (!u64map_get(&first, ev->attr.config, &se->original)) {
			se->original = i;
			r = u64map_put(&first, ev->attr.config, i);
			continue;
		}
		of = &b->events.v[se->original];
		if (!of->copies)
			of->twin = of->copies = 1;
		if (of->copies < MAX_TWINS)
			se->twin = ++of->copies;
	}
	u64map_release(&first);
	return r ? ERR_NOMEM : 0;
}

static int last_hit(struct builder *b, uint32_t cpu, uint32_t event, struct twin **out)
{
	uint64_t key = (uint64_t)cpu << 32 | event;
	uint32_t i = (uint32_t)b->twins.n;
	if (!u64map_get(&b->twin_of, key, &i) &&
	    (u64map_put(&b->twin_of, key, i) || vec_push(&b->twins, (struct twin){0})))
		return ERR_NOMEM;
	*out = &b->twins.v[i];
	return 0;
}

int builder_twin(struct builder *b, const struct source_event *se, const struct sample *s,
		 const struct record_id *id)
{
	struct twin *t;
	if (id->cpu >= TL_NOCPU || !s->raw_size)
		return 0;
	if (last_hit(b, id->cpu, se->original, &t))
		return ERR_NOMEM;
	uint64_t bit = (uint64_t)1 << (se->twin - 1);
	uint64_t hash = hash_bytes(s->raw, s->raw_size, hash_seed());
	if (t->seen && !(t->seen & bit) && t->hash == hash && s->time - t->ns <= NEAR_NS) {
		t->seen |= bit;
		b->hit_ns = t->ns;
		return 0;
	}
	*t = (struct twin){.hash = hash, .ns = s->time, .seen = bit};
	return 0;
}
