#include "libparse/counters.h"
#include "base/bytes.h"
#include "libparse/perfabi.h"

void counters_release(struct counters *c)
{
	u64map_release(&c->index);
	vec_release(&c->stood);
}

/* How far counter `id` has come since it was last read. 0 or ERR_NOMEM. */
static int moved_since(struct counters *c, uint64_t id, uint64_t value, uint64_t *moved)
{
	uint32_t i;
	if (!u64map_get(&c->index, id, &i)) {
		i = (uint32_t)c->stood.n;
		if (vec_push(&c->stood, 0) || u64map_put(&c->index, id, i))
			return ERR_NOMEM;
	}
	*moved = value - c->stood.v[i];
	c->stood.v[i] = value;
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
		if (moved_since(c, id, load_u64(p, rec->swap), moved))
			return ERR_NOMEM;
		if (*ev && *moved)
			return 1;
	}
	return 0;
}
