/*
 * build_twins.c - one tracepoint recorded by several perf events, for example switches of all
 * threads without stacks and those of some threads with stacks:
 *
 *	-e sched:sched_switch -e sched:sched_switch/call-graph=dwarf/ \
 *		--filter 'prev_comm == "db"'
 *
 * Each hit then has a sample for every event whose filter it passes. The kernel makes the raw
 * bytes of a hit once and passes them to one event after another (perf_tp_event() in
 * kernel/events/core.c), with interrupts off for scheduler tracepoints. So the samples of one
 * hit follow each other on its CPU, with equal raw bytes, and times some microseconds apart.
 */
#include "libtime/build/build_internal.h"

enum { MAX_TWINS = 64, NEAR_NS = 10000000 };

void builder_find_twins(struct builder *b)
{
	unsigned int of_kind[SCHED_OTHER + 1] = {0}, nth[SCHED_OTHER + 1] = {0};
	for (size_t i = 0; i < b->events.n; i++)
		if (b->events.v[i].role == ROLE_SCHED)
			of_kind[b->events.v[i].kind]++;
	for (size_t i = 0; i < b->events.n; i++) {
		struct source_event *se = &b->events.v[i];
		if (se->role == ROLE_SCHED && of_kind[se->kind] > 1 &&
		    nth[se->kind] < MAX_TWINS)
			se->twin = (uint8_t)++nth[se->kind];
	}
}

static int twin_slot(struct builder *b, uint32_t cpu, uint8_t kind, struct twin **out)
{
	size_t at = (size_t)cpu * (SCHED_OTHER + 1) + kind;
	while (b->twins.n <= at)
		if (vec_push(&b->twins, (struct twin){0}))
			return ERR_NOMEM;
	*out = &b->twins.v[at];
	return 0;
}

int builder_twin(struct builder *b, const struct source_event *se, const struct sample *s,
		 const struct record_id *id, uint64_t *first_ns)
{
	struct twin *t;
	if (!se->twin || id->cpu >= TL_NOCPU)
		return 0;
	if (twin_slot(b, id->cpu, se->kind, &t))
		return ERR_NOMEM;
	uint64_t bit = (uint64_t)1 << (se->twin - 1);
	uint64_t hash = hash_bytes(s->raw, s->raw_size, hash_seed());
	if (t->seen && !(t->seen & bit) && t->hash == hash && s->time - t->ns <= NEAR_NS) {
		t->seen |= bit;
		*first_ns = t->ns;
		return 1;
	}
	*t = (struct twin){.hash = hash, .ns = s->time, .seen = bit};
	return 0;
}
