/* recording_event.c - which event a record belongs to, and its fields pid, tid, time, cpu and
 * id. */
#include "libparse/recording.h"

const struct event *recording_event(const struct recording *rec, const struct record *r)
{
	if (rec->events.n <= 1)
		return rec->events.n ? &rec->events.v[0] : NULL;
	uint64_t id = 0;
	if (r->type == PERF_RECORD_SAMPLE) {
		if (rec->id_offset < 0)
			return &rec->events.v[0];
		if (r->size < RECORD_HEADER_SIZE + rec->id_offset + 8)
			return NULL;
		id = load_u64(r->p + RECORD_HEADER_SIZE + rec->id_offset, rec->swap);
	} else {
		struct record_id rid;
		record_id_decode(r, &rec->events.v[0], rec->swap, &rid);
		id = rid.id;
	}
	const struct event *ev = recording_event_of_id(rec, id);
	/* records synthesized by perf have id 0 and the layout of the first event */
	return ev || id ? ev : &rec->events.v[0];
}

/* The length of "/freq=99,call-graph=dwarf/", which says how an event is recorded; or 0. */
static size_t record_terms(const char *s)
{
	static const char *const keys[] = {
		"freq=", "period=", "call-graph=", "stack-size=", "max-stack=",
		"time=", "inherit", "no-inherit",  "overwrite",   "no-overwrite"};
	const char *end = *s == '/' ? strchr(s + 1, '/') : NULL;
	for (size_t i = 0; end && i < sizeof(keys) / sizeof(*keys); i++)
		if (!strncmp(s + 1, keys[i], strlen(keys[i])))
			return (size_t)(end - s) + 1;
	return 0;
}

int event_name_fits(const char *have, const char *want)
{
	size_t n = strlen(want);
	if (strncmp(have, want, n) != 0)
		return 0;
	have += n;
	if (!*have)
		return 2;
	size_t terms = record_terms(have);
	have += terms;
	if (*have != ':' && !terms) /* "cycles:u", "cycles/freq=99/u" */
		return 0;
	have += *have == ':';
	return have[strspn(have, "ukhpPGHSDWIe")] == 0;
}

int event_names_match(const char *a, const char *b)
{
	static const char *const pmus[] = {"cpu_core/", "cpu_atom/"};
	for (size_t i = 0; i < 2; i++) {
		if (!strncmp(a, pmus[i], 9))
			a += 9;
		if (!strncmp(b, pmus[i], 9))
			b += 9;
	}
	return !strcmp(a, b);
}

int event_name_is_off_cpu(const char *name)
{
	return !strncmp(name, "offcpu-time", 11);
}

const char *event_unit(const struct event *ev)
{
	if (ev->is_tracepoint)
		return "samples";
	if (ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config <= 1)
		return "ns"; /* cpu-clock, task-clock */
	return event_name_unit(ev->name ? ev->name : "", 0);
}

const char *event_name_unit(const char *name, int tracepoint)
{
	if (tracepoint)
		return "samples";
	return !strncmp(name, "cpu-clock", 9) || !strncmp(name, "task-clock", 10) ||
			       event_name_is_off_cpu(name)
		       ? "ns"
		       : "events";
}

const struct event *recording_find_event(const struct recording *rec, const char *name)
{
	const struct event *found = NULL;
	int best = 0;
	for (size_t i = 0; i < rec->events.n; i++) {
		int fits = event_name_fits(rec->events.v[i].name, name);
		if (fits > best) {
			best = fits;
			found = &rec->events.v[i];
		}
	}
	return found;
}

/* The field at *p if the sample has it, up to the record's end; else NULL. */
static inline const uint8_t *take(const uint8_t **p, const uint8_t *end, uint64_t has)
{
	const uint8_t *field = *p;
	if (!has || end - field < 8)
		return NULL;
	*p += 8;
	return field;
}

/* The fixed fields in the kernel's order. */
static void sample_id_fields(const struct recording *rec, const struct event *ev,
			     const struct record *r, struct record_id *out)
{
	uint64_t t = ev->attr.sample_type;
	const uint8_t *p = r->p + RECORD_HEADER_SIZE, *end = r->p + r->size, *f;
	if ((f = take(&p, end, t & PERF_SAMPLE_IDENTIFIER)))
		out->id = load_u64(f, rec->swap);
	take(&p, end, t & PERF_SAMPLE_IP);
	if ((f = take(&p, end, t & PERF_SAMPLE_TID))) {
		out->pid = (int32_t)load_u32(f, rec->swap);
		out->tid = (int32_t)load_u32(f + 4, rec->swap);
		out->has_tid = 1;
	}
	if ((f = take(&p, end, t & PERF_SAMPLE_TIME))) {
		out->time = load_u64(f, rec->swap);
		out->has_time = 1;
	}
	take(&p, end, t & PERF_SAMPLE_ADDR);
	if ((f = take(&p, end, t & PERF_SAMPLE_ID)))
		out->id = load_u64(f, rec->swap);
	take(&p, end, t & PERF_SAMPLE_STREAM_ID);
	if ((f = take(&p, end, t & PERF_SAMPLE_CPU)))
		out->cpu = load_u32(f, rec->swap);
}

void recording_id_of(const struct recording *rec, const struct record *r,
		     const struct event *ev, struct record_id *out)
{
	*out = (struct record_id){.cpu = UINT32_MAX};
	if (ev && r->type == PERF_RECORD_SAMPLE)
		sample_id_fields(rec, ev, r, out);
	else if (ev && r->type < PERF_RECORD_HEADER_ATTR)
		record_id_decode(r, ev, rec->swap, out);
	out->event = ev;
}

void recording_id(const struct recording *rec, const struct record *r, struct record_id *out)
{
	recording_id_of(rec, r, recording_event(rec, r), out);
}
