/* recording_event.c - which event a record belongs to, and its fields pid, tid, time, cpu and
 * id. */
#include "libparse/recording.h"
#include "base/text/buf.h"

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

/* The length of "cpu_core/", "armv8_cortex_a53/", the unit that counts an event on one kind of
 * core; or 0. Names of such units: /sys/bus/event_source/devices. */
static size_t core_unit(const char *name)
{
	static const char *const units[] = {"cpu_", "armv7_", "armv8_", "armv9_", "apple_"};
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
	for (size_t i = 0; name[n] == '/' && i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(name, units[i], strlen(units[i])))
			return n + 1;
	return 0;
}

int event_name_fits(const char *have, const char *want)
{
	size_t n = strlen(want), unit = core_unit(want) ? 0 : core_unit(have);
	if (strncmp(have + unit, want, n) != 0)
		return 0;
	have += unit;
	if (unit && have[n] == '/') /* "cpu_core/cycles/P" */
		return have[n + 1 + strspn(have + n + 1, "ukhpPGHSDWIe")] == 0;
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

/* Where the name "cycles" of "cpu_core/cycles/P" or "cycles:P" ends. */
static size_t bare_length(const char *name)
{
	return strcspn(name, "/:");
}

int event_names_match(const char *a, const char *b)
{
	size_t in_a = core_unit(a), in_b = core_unit(b);
	if (!in_a || !in_b)
		return !strcmp(a, b);
	a += in_a;
	b += in_b;
	size_t n = bare_length(a);
	if (n != bare_length(b) || strncmp(a, b, n) != 0)
		return 0;
	a += n + (a[n] != 0);
	b += n + (b[n] != 0);
	return !strcmp(a, b);
}

uint64_t event_name_hash(const char *name)
{
	size_t unit = core_unit(name), n = unit ? bare_length(name + unit) : 0;
	uint64_t seed = hash_bytes(name + unit, n, hash_seed());
	name += unit + n;
	name += unit && *name;
	return hash_bytes(name, strlen(name), seed);
}

static void add_unit(struct buf *b, const char *name, int first)
{
	buf_str(b, first ? " (" : ", ");
	buf_add(b, name, core_unit(name) - 1);
}

void event_name_shown(struct buf *b, const char *name,
		      const char *(*nth)(const void *ctx, size_t i), const void *ctx, size_t n)
{
	size_t halves = 0, unit = core_unit(name), bare = bare_length(name + unit);
	for (size_t i = 0; unit && i < n; i++) {
		const char *x = nth(ctx, i);
		halves += x && strcmp(x, name) != 0 && event_names_match(x, name);
	}
	if (!halves) {
		buf_str(b, name);
		return;
	}
	const char *modifiers = name + unit + bare;
	buf_add(b, name + unit, bare);
	if (*modifiers && modifiers[1])
		buf_fmt(b, ":%s", modifiers + 1);
	add_unit(b, name, 1);
	for (size_t i = 0; i < n; i++) {
		const char *x = nth(ctx, i);
		if (x && strcmp(x, name) != 0 && event_names_match(x, name))
			add_unit(b, x, 0);
	}
	buf_char(b, ')');
}

int event_of_core(const char *name)
{
	return core_unit(name) != 0;
}

int event_is_chosen(const char *name, const char *found, const char *want)
{
	return !strcmp(name, found) || (!core_unit(want) && event_names_match(name, found));
}

int event_default_rank(const char *name, int tracepoint)
{
	static const char *const clocks[] = {"cycles",     "cpu-cycles", "cpu_cycles",
					     "ref-cycles", "cpu-clock",  "task-clock"};
	if (tracepoint)
		return strncmp(name, "sched:", 6) ? 1 : 2;
	name += core_unit(name);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (strlen(clocks[i]) == bare_length(name) &&
		    !strncmp(name, clocks[i], strlen(clocks[i])))
			return 0;
	return 1;
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
