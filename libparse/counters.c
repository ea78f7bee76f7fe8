#include "libparse/counters.h"
#include "base/bytes.h"
#include "libparse/perf_abi.h"

void counters_release(struct counters *c)
{
	idmap_release(&c->index);
	vec_release(&c->stood);
}

/*
 * The thread whose own counter the sample reads; 0 if one counter is for all threads. perf
 * before 6.13 marks events of `-a` as inherited, too, although they count whole CPUs; but it
 * never inherits groups, and -a starts no event at exec.
 */
static int32_t thread_of(const struct sample *s)
{
	const struct event_attr *a = &s->event->attr;
	if (!attr_flag(a, ATTR_INHERIT) || !(a->sample_type & PERF_SAMPLE_TID))
		return 0;
	return a->read_format & PERF_FORMAT_GROUP || attr_flag(a, ATTR_ENABLE_ON_EXEC) ? s->tid
										       : 0;
}

/* The last reading of a counter, made if it is the first; NULL when out of memory. */
static struct counter_reading *counter_of(struct counters *c, uint64_t id, int32_t tid)
{
	struct counter_reading fresh = {.id = id, .tid = tid};
	uint64_t h = hash_u64(hash_u64(id ^ hash_seed()) ^ (uint32_t)tid);
	size_t at = 0;
	for (uint32_t i; idmap_next(&c->index, h, &at, &i);)
		if (c->stood.v[i].id == id && c->stood.v[i].tid == tid)
			return &c->stood.v[i];
	if (vec_push(&c->stood, fresh) || idmap_put(&c->index, h, (uint32_t)(c->stood.n - 1)))
		return NULL;
	return &c->stood.v[c->stood.n - 1];
}

/* By how much a counter grew since it was last read. 0 or ERR_NOMEM. */
static int moved_since(struct counters *c, uint64_t id, int32_t tid, uint64_t value,
		       uint64_t *moved)
{
	struct counter_reading *x = counter_of(c, id, tid);
	if (!x)
		return ERR_NOMEM;
	*moved = value < x->value ? value : value - x->value;
	x->value = value;
	return 0;
}

int counters_next(struct counters *c, const struct recording *rec, const struct sample *s,
		  uint64_t *at, const struct event **ev, uint64_t *moved)
{
	uint64_t format = s->event->attr.read_format;
	int group = !!(format & PERF_FORMAT_GROUP);
	if (group && !(format & PERF_FORMAT_ID)) {
		*ev = s->event;
		*moved = s->period;
		return !(*at)++;
	}
	while (*at < s->read_values.n) {
		const uint8_t *p = s->read_values.p + *at * 8;
		uint64_t id = group ? load_u64(p + 8, rec->swap) : s->id;
		*at += s->read_stride;
		*ev = group ? recording_event_of_id(rec, id) : s->event;
		if (moved_since(c, id, thread_of(s), load_u64(p, rec->swap), moved))
			return ERR_NOMEM;
		if (*ev && *moved)
			return 1;
	}
	return 0;
}
