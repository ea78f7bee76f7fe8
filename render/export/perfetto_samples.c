#include "base/mem.h"
#include "render/export/export_rows.h"
#include "render/export/perfetto_internal.h"

#include <stdlib.h>
#include <string.h>

/* Fields, by the files that define them below protos/perfetto/trace. */
enum {
	INTERNED_FUNCTION_NAMES = 5, /* interned_data/interned_data.proto */
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_MAPPINGS = 19,
	STRING_IID = 1, /* profiling/profile_common.proto */
	STRING_STR = 2,
	MAPPING_IID = 1,
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7,
	FRAME_IID = 1,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_REL_PC = 4,
	CALLSTACK_IID = 1,
	CALLSTACK_FRAME = 2,

	DEFAULTS_PERF_SAMPLE = 12, /* trace_packet_defaults.proto */
	DEFAULTS_TIMEBASE = 1,     /* profiling/profile_packet.proto */
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_CPU_MODE = 5,
	SAMPLE_COUNT = 6,
	MODE_KERNEL = 1,
	MODE_USER = 2,

	TIMEBASE_TRACEPOINT = 3, /* ../common/perf_events.proto */
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10,
	TRACEPOINT_NAME = 1,
};

/* Events whose unit Perfetto knows: PerfEvents.Counter. */
static const struct {
	const char *name;
	uint32_t counter;
} counters[] = {
	{"cpu-clock", 1},        {"page-faults", 2},    {"task-clock", 3},
	{"context-switches", 4}, {"cpu-migrations", 5}, {"minor-faults", 6},
	{"major-faults", 7},     {"cycles", 10},        {"cpu-cycles", 10},
	{"instructions", 11},    {"branch-misses", 15}, {"cache-misses", 13},
};

/* What was interned, numbered in the order of first use; 0: not yet. */
struct interned {
	uint32_t *iid; /* by id */
	uint32_t n;
};

/* The samples of one event: a sequence of packets. */
struct stream {
	uint32_t sequence;
	struct interned paths, frames, mappings;
	VEC(uint64_t) counts; /* what was counted so far: on no CPU, on CPU 0, ... */
};

/* A sample, or a switch that took a thread off its CPU. */
struct sampled {
	uint64_t ns, period;
	uint32_t thread, path;
	uint16_t cpu;
};

struct sampling {
	struct perfetto *p;
	VEC(struct stream) streams; /* by event, and behind them that of switches */
	VEC(uint32_t) frame_ids;    /* of the sample at hand, root first */
};

/* --- stacks ----------------------------------------------------------------------------------
 */

static int interned_init(struct interned *x, size_t n)
{
	x->iid = mem_zalloc(n + 1, sizeof(*x->iid));
	return x->iid ? 0 : ERR_NOMEM;
}

/* The number of an id; 1 when it was given just now. */
static int intern(struct interned *x, uint32_t id, uint32_t *iid)
{
	int is_new = !x->iid[id];
	if (is_new)
		x->iid[id] = ++x->n;
	*iid = x->iid[id];
	return is_new;
}

static void put_string(struct perfetto *p, uint32_t field, uint32_t iid, const char *s)
{
	size_t at = pb_open(&p->b, field);
	pb_u64(&p->b, STRING_IID, iid);
	pb_text(&p->b, STRING_STR, s);
	pb_close(&p->b, at);
}

/* A build-id as the bytes that its hex stands for, nothing if it is not one. */
static void put_build_id(struct perfetto *p, uint32_t iid, const char *hex)
{
	size_t n = strlen(hex);
	if (!n || n % 2 || strspn(hex, "0123456789abcdef") != n)
		return;
	size_t at = pb_open(&p->b, INTERNED_BUILD_IDS);
	pb_u64(&p->b, STRING_IID, iid);
	size_t bytes = pb_open(&p->b, STRING_STR);
	for (size_t i = 0; i < n; i += 2) {
		char byte[3] = {hex[i], hex[i + 1], 0};
		buf_char(&p->b, (char)strtoul(byte, NULL, 16));
	}
	pb_close(&p->b, bytes);
	pb_close(&p->b, at);
}

static uint32_t put_mapping(struct perfetto *p, struct stream *st, uint32_t dso)
{
	uint32_t iid;
	if (!intern(&st->mappings, dso, &iid))
		return iid;
	put_string(p, INTERNED_MAPPING_PATHS, iid, perfetto_text(p, dso));
	put_build_id(p, iid, stacks_build_id(p->s, dso));
	size_t at = pb_open(&p->b, INTERNED_MAPPINGS);
	pb_u64(&p->b, MAPPING_IID, iid);
	if (*stacks_build_id(p->s, dso))
		pb_u64(&p->b, MAPPING_BUILD_ID, iid);
	pb_u64(&p->b, MAPPING_PATH, iid);
	pb_close(&p->b, at);
	return iid;
}

/* A frame and the name, which has its number; of mappings there is one for frames of none. */
static void put_frame(struct perfetto *p, struct stream *st, uint32_t frame)
{
	const struct frame *f = &p->s->frames.v[frame];
	struct buf name = {0};
	uint32_t iid;
	if (!intern(&st->frames, frame, &iid))
		return;
	uint32_t mapping = put_mapping(p, st, f->dso);
	export_frame_name(&name, p->s, f);
	put_string(p, INTERNED_FUNCTION_NAMES, iid, buf_cstr(&name));
	if (buf_failed(&name))
		p->b.failed = ERR_NOMEM;
	buf_release(&name);
	size_t at = pb_open(&p->b, INTERNED_FRAMES);
	pb_u64(&p->b, FRAME_IID, iid);
	pb_u64(&p->b, FRAME_FUNCTION, iid);
	pb_u64(&p->b, FRAME_MAPPING, mapping);
	pb_u64(&p->b, FRAME_REL_PC, f->addr);
	pb_close(&p->b, at);
}

/* The number of a call stack, which is written with all it needs where it is new. */
static int put_callstack(struct sampling *x, struct stream *st, uint32_t path, uint32_t *iid)
{
	struct perfetto *p = x->p;
	size_t n = stacks_depth(p->s, path);
	if (!intern(&st->paths, path, iid))
		return 0;
	if (n > x->frame_ids.cap && vec_reserve(&x->frame_ids, n))
		return ERR_NOMEM;
	stacks_frames(p->s, path, x->frame_ids.v, n);
	size_t data = pb_open(&p->b, PACKET_INTERNED_DATA);
	for (size_t i = 0; i < n; i++)
		put_frame(p, st, x->frame_ids.v[i]);
	size_t at = pb_open(&p->b, INTERNED_CALLSTACKS);
	pb_u64(&p->b, CALLSTACK_IID, *iid);
	for (size_t i = 0; i < n; i++)
		pb_u64(&p->b, CALLSTACK_FRAME, st->frames.iid[x->frame_ids.v[i]]);
	pb_close(&p->b, at);
	pb_close(&p->b, data);
	return 0;
}

/* --- events ----------------------------------------------------------------------------------
 */

/* "cycles" of "cycles:u", "cpu-clock" of "cpu-clock/freq=997/"; 0: none that is known. */
static uint32_t counter_of(const char *event)
{
	size_t n = strcspn(event, ":/");
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (strlen(counters[i].name) == n && !memcmp(counters[i].name, event, n))
			return counters[i].counter;
	return 0;
}

/* The first packet of a sequence: what its samples count. */
static void put_timebase(struct perfetto *p, uint32_t sequence, const char *event,
			 int tracepoint)
{
	size_t packet = perfetto_open(p, sequence, p->tl->rec.origin_ns);
	pb_u64(&p->b, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	size_t defaults = pb_open(&p->b, PACKET_DEFAULTS);
	size_t sample = pb_open(&p->b, DEFAULTS_PERF_SAMPLE);
	size_t timebase = pb_open(&p->b, DEFAULTS_TIMEBASE);
	if (tracepoint) {
		size_t at = pb_open(&p->b, TIMEBASE_TRACEPOINT);
		pb_text(&p->b, TRACEPOINT_NAME, event);
		pb_close(&p->b, at);
	} else if (counter_of(event)) {
		pb_u64(&p->b, TIMEBASE_COUNTER, counter_of(event));
	}
	pb_text(&p->b, TIMEBASE_NAME, event);
	pb_close(&p->b, timebase);
	pb_close(&p->b, sample);
	pb_close(&p->b, defaults);
	pb_close(&p->b, packet);
}

static int begin_stream(struct sampling *x, size_t event)
{
	struct perfetto *p = x->p;
	struct stream *st = &x->streams.v[event];
	int switches = event == p->tl->events.n;
	if (st->sequence)
		return 0;
	st->sequence = SEQUENCE_OF_EVENT + (uint32_t)event;
	put_timebase(p, st->sequence,
		     switches ? "sched:sched_switch"
			      : perfetto_text(p, p->tl->events.v[event].name),
		     switches || p->tl->events.v[event].tracepoint);
	return interned_init(&st->paths, p->s->paths.n) ||
			       interned_init(&st->frames, p->s->frames.n) ||
			       interned_init(&st->mappings, strtab_count(&p->s->strings))
		       ? ERR_NOMEM
		       : 0;
}

/* --- samples ---------------------------------------------------------------------------------
 */

/* The event's count on a CPU with this sample in it. */
static int count(struct stream *st, const struct sampled *s, uint64_t *n)
{
	size_t at = s->cpu == TL_NOCPU ? 0 : s->cpu + 1u;
	while (st->counts.n <= at)
		if (vec_push(&st->counts, 0))
			return ERR_NOMEM;
	*n = st->counts.v[at] += s->period;
	return 0;
}

static int put_sample(struct sampling *x, size_t event, const struct sampled *s)
{
	struct perfetto *p = x->p;
	struct stream *st = &x->streams.v[event];
	const struct tl_thread *t = s->thread == TL_NONE ? NULL : &p->tl->threads.v[s->thread];
	uint32_t iid = 0;
	uint64_t n = 0;
	if (begin_stream(x, event) || count(st, s, &n))
		return ERR_NOMEM;
	size_t packet = perfetto_open(p, st->sequence, s->ns);
	pb_u64(&p->b, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (s->path && put_callstack(x, st, s->path, &iid))
		return ERR_NOMEM;
	size_t at = pb_open(&p->b, PACKET_PERF_SAMPLE);
	if (s->cpu != TL_NOCPU)
		pb_u64(&p->b, SAMPLE_CPU, s->cpu);
	if (t && t->pid >= 0)
		pb_u64(&p->b, SAMPLE_PID, (uint32_t)t->pid);
	if (t && t->tid >= 0)
		pb_u64(&p->b, SAMPLE_TID, (uint32_t)t->tid);
	if (iid) {
		uint32_t leaf = p->s->paths.v[s->path].frame;
		pb_u64(&p->b, SAMPLE_CALLSTACK, iid);
		pb_u64(&p->b, SAMPLE_CPU_MODE,
		       p->s->frames.v[leaf].kind == FRAME_KERNEL ? MODE_KERNEL : MODE_USER);
	}
	pb_u64(&p->b, SAMPLE_COUNT, n);
	pb_close(&p->b, at);
	pb_close(&p->b, packet);
	return 0;
}

static int put_events(struct sampling *x, struct err *e)
{
	const struct timeline *tl = x->p->tl;
	int rc = 0;
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		const struct tl_sample *v = &tl->samples.v[i];
		struct sampled s = {v->time_ns, v->period, v->thread, v->path, v->cpu};
		if (!population_has_label(x->p->of, v->thread, v->path, v->time_ns))
			continue;
		rc = put_sample(x, v->event, &s) ? err_nomem(e)
						 : perfetto_flush(x->p, FLUSH, e);
	}
	return rc;
}

static int compare_starts(const void *a, const void *b, void *timeline)
{
	const struct offcpu *v = ((const struct timeline *)timeline)->offcpu.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (v[x].start_ns != v[y].start_ns)
		return v[x].start_ns < v[y].start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Where threads left a CPU with a stack: each is one switch. */
static int put_switches(struct sampling *x, struct err *e)
{
	const struct timeline *tl = x->p->tl;
	VEC(uint32_t) order = {0};
	int rc = 0;
	for (size_t i = 0; i < tl->offcpu.n && !rc; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (o->path && population_has_label(x->p->of, o->thread, o->path, o->start_ns))
			rc = vec_push(&order, (uint32_t)i) ? err_nomem(e) : 0;
	}
	if (order.n && !rc)
		qsort_r(order.v, order.n, sizeof(*order.v), compare_starts, (void *)tl);
	for (size_t i = 0; i < order.n && !rc; i++) {
		const struct offcpu *o = &tl->offcpu.v[order.v[i]];
		struct sampled s = {o->start_ns, 1, o->thread, o->path, o->cpu_out};
		rc = put_sample(x, tl->events.n, &s) ? err_nomem(e)
						     : perfetto_flush(x->p, FLUSH, e);
	}
	vec_release(&order);
	return rc;
}

int perfetto_put_samples(struct perfetto *p, struct err *e)
{
	struct sampling x = {.p = p};
	int rc = 0;
	for (size_t i = 0; i <= p->tl->events.n && !rc; i++)
		rc = vec_push(&x.streams, (struct stream){0}) ? err_nomem(e) : 0;
	rc = rc ? rc : put_events(&x, e);
	rc = rc ? rc : put_switches(&x, e);
	for (size_t i = 0; i < x.streams.n; i++) {
		struct stream *st = &x.streams.v[i];
		mem_free(st->paths.iid);
		mem_free(st->frames.iid);
		mem_free(st->mappings.iid);
		vec_release(&st->counts);
	}
	vec_release(&x.streams);
	vec_release(&x.frame_ids);
	return rc;
}
