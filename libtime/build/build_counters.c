/* build_counters.c - values of counters when a probe was hit; see build_internal.h. */
#include "base/bytes.h"
#include "libparse/perf_abi.h"
#include "libtime/build/build_internal.h"

/* What an instance of an event counts; 0: unknown. */
enum instance {
	OF_THREAD = 1, /* a thread, on all CPUs */
	OF_BOTH,       /* a thread on one CPU */
	OF_CPU,        /* all threads of a CPU */
};

/* ID_INDEX: u64 nr, then nr of { u64 id, idx, cpu, tid }; newer perf appends as many pairs for
 * virtual machines (struct perf_record_id_index). */
int builder_read_id_index(struct builder *b, const struct record *r)
{
	const uint8_t *p = r->p + RECORD_HEADER_SIZE;
	if (r->size < RECORD_HEADER_SIZE + 8)
		return 0;
	uint64_t n = load_u64(p, b->rec->swap), room = (r->size - RECORD_HEADER_SIZE - 8) / 32;
	for (uint64_t i = 0; i < n && i < room; i++) {
		const uint8_t *x = p + 8 + 32 * i;
		int64_t cpu = (int64_t)load_u64(x + 16, b->rec->swap);
		int64_t tid = (int64_t)load_u64(x + 24, b->rec->swap);
		uint32_t of = tid <= 0 ? OF_CPU : cpu < 0 ? OF_THREAD : OF_BOTH;
		if (u64map_put(&b->instances, load_u64(x, b->rec->swap), of))
			return ERR_NOMEM;
	}
	return 0;
}

/* Note the places of all ids of an event; one that is not its own is behind them. */
static int index_places(struct builder *b, const struct event *ev, uint64_t id)
{
	uint32_t n = (uint32_t)ev->ids.n;
	int r = u64map_put(&b->places, id, n);
	for (uint32_t i = n; i-- > 0 && !r;)
		r = u64map_put(&b->places, ev->ids.v[i], i);
	return r;
}

/* Which of its event's instances an id is; they are in the same order for all events. */
static int place_of(struct builder *b, const struct event *ev, uint64_t id, uint32_t *place)
{
	if (u64map_get(&b->places, id, place))
		return 0;
	if (index_places(b, ev, id))
		return ERR_NOMEM;
	u64map_get(&b->places, id, place);
	return 0;
}

/* Older perf writes no ID_INDEX; several instances are then assumed to be CPUs. */
static uint32_t instance_of(const struct builder *b, const struct sample *s)
{
	uint32_t of;
	if (u64map_get(&b->instances, s->id, &of))
		return of;
	return b->system_wide ? OF_CPU : s->event->ids.n <= 1 ? OF_THREAD : OF_BOTH;
}

static const struct event *event_read(const struct builder *b, const uint8_t *value)
{
	const struct event *ev =
		recording_event_of_id(b->rec, load_u64(value + 8, b->rec->swap));
	return ev && ev->index < b->events.n ? ev : NULL;
}

static int is_named(const struct span_reading *r, uint32_t name)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->name[i] == name)
			return 1;
	return 0;
}

/* The group's counters are its events but the probes. `cycles` may stand for a software clock
 * that is in the group, too (calls_line.c). */
static void add_values(const struct builder *b, const struct sample *s,
		       struct span_reading *out)
{
	for (uint64_t i = 0; i < s->read_values.n && out->n < SPAN_COUNTERS;
	     i += s->read_stride) {
		const uint8_t *p = s->read_values.p + i * 8;
		const struct event *ev = event_read(b, p);
		if (!i && ev)
			out->group = ev->index;
		if (!ev || b->events.v[ev->index].nroles ||
		    is_named(out, b->events.v[ev->index].name))
			continue;
		out->name[out->n] = b->events.v[ev->index].name;
		out->value[out->n++] = load_u64(p, b->rec->swap);
	}
}

int builder_reading(struct builder *b, const struct sample *s, uint32_t thread,
		    struct span_reading *out)
{
	const struct event_attr *a = &s->event->attr;
	const uint64_t whole = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (!(a->sample_type & PERF_SAMPLE_READ) || (a->read_format & whole) != whole ||
	    thread == TL_NONE)
		return 0;
	*out = (struct span_reading){.group = s->event->index,
				     .enabled_ns = s->time_enabled,
				     .running_ns = s->time_running};
	if (place_of(b, s->event, s->id, &out->instance))
		return ERR_NOMEM;
	uint32_t of = instance_of(b, s);
	if (of == OF_CPU)
		return 0;
	out->place = of == OF_THREAD ? READING_THREAD : READING_CPU;
	out->from_zero =
		attr_flag(a, ATTR_ENABLE_ON_EXEC) ||
		(attr_flag(a, ATTR_INHERIT) && b->tl->threads.v[thread].flags & THREAD_BORN);
	add_values(b, s, out);
	return out->n > 0;
}
