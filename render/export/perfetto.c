#include "render/export/perfetto.h"
#include "base/mem.h"
#include "render/export/export_rows.h"
#include "render/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* Fields, by the files that define them below protos/perfetto/trace. */
enum {
	TRACE_PACKET = 1, /* trace.proto */

	PACKET_FTRACE_EVENTS = 1, /* trace_packet.proto */
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	SEQUENCE_CLEARED = 1,
	SEQUENCE_NEEDS_STATE = 2,

	SYSTEM_INFO_UTSNAME = 1, /* system_info.proto */
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,

	TREE_PROCESSES = 1, /* ps/process_tree.proto */
	TREE_THREADS = 2,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 3,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_TGID = 3,

	BUNDLE_CPU = 1, /* ftrace/ftrace_event_bundle.proto */
	BUNDLE_EVENT = 2,
	EVENT_TIMESTAMP = 1, /* ftrace/ftrace_event.proto */
	EVENT_PID = 2,
	EVENT_SCHED_SWITCH = 4,
	EVENT_COMMON_FLAGS = 5,
	EVENT_SCHED_WAKING = 20,

	SWITCH_PREV_COMM = 1, /* ftrace/sched.proto */
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_PRIO = 3,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7,
	WAKING_COMM = 1,
	WAKING_PID = 2,
	WAKING_PRIO = 3,
	WAKING_SUCCESS = 4,
	WAKING_TARGET_CPU = 5,

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

	SAMPLE_CPU = 1, /* profiling/profile_packet.proto */
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_CPU_MODE = 5,
	MODE_KERNEL = 1,
	MODE_USER = 2,

	DESCRIPTOR_UUID = 1, /* track_event/track_descriptor.proto */
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PID = 1, /* track_event/thread_descriptor.proto */
	DESCRIPTOR_TID = 2,
	DESCRIPTOR_THREAD_NAME = 5,
	TRACK_EVENT_TYPE = 9, /* track_event/track_event.proto */
	TRACK_EVENT_TRACK = 11,
	TRACK_EVENT_NAME = 23,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
};

/* What was interned, numbered in the order of first use; 0: not yet. */
struct interned {
	uint32_t *iid; /* by id */
	uint32_t n;
};

struct perfetto {
	const struct timeline *tl;
	const struct stacks *s;
	FILE *f;
	struct buf b;
	struct tl_runs runs;
	int modern; /* the kernel reports states as 4.14 and later do */
	struct interned paths, frames, mappings;
	VEC(uint32_t) frame_ids; /* of the sample at hand, root first */
	VEC(uint32_t) wakings;   /* intervals with a wakeup, by its CPU and time */
	VEC(uint32_t) spans;     /* by thread, outer ones first */
	uint64_t tracks;         /* that have a number */
};

enum { FLUSH = 1 << 16, SEQUENCE = 1, BUNDLE_BYTES = 1 << 15 };

static int flush(struct perfetto *p, size_t above, struct err *e)
{
	if (buf_failed(&p->b))
		return err_nomem(e);
	if (p->b.n < above)
		return 0;
	fwrite(p->b.v, 1, p->b.n, p->f);
	buf_clear(&p->b);
	return ferror(p->f) ? err_sys(e, "cannot write") : 0;
}

static const char *text(const struct perfetto *p, uint32_t id)
{
	return strtab_get(&p->s->strings, id);
}

/* A packet with a time; what pb_close is to be given. */
static size_t open_packet(struct perfetto *p, uint64_t ns)
{
	size_t at = pb_open(&p->b, TRACE_PACKET);
	pb_u64(&p->b, PACKET_TIMESTAMP, ns);
	pb_u64(&p->b, PACKET_SEQUENCE_ID, SEQUENCE);
	return at;
}

/* --- the host, processes and threads -------------------------------------------------- */

static void put_system(struct perfetto *p)
{
	const struct tl_recording *rec = &p->tl->rec;
	size_t packet = open_packet(p, rec->origin_ns);
	pb_u64(&p->b, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	size_t info = pb_open(&p->b, PACKET_SYSTEM_INFO);
	size_t name = pb_open(&p->b, SYSTEM_INFO_UTSNAME);
	pb_text(&p->b, UTSNAME_SYSNAME, "Linux");
	if (rec->kernel)
		pb_text(&p->b, UTSNAME_RELEASE, text(p, rec->kernel));
	if (rec->arch)
		pb_text(&p->b, UTSNAME_MACHINE, text(p, rec->arch));
	pb_close(&p->b, name);
	pb_close(&p->b, info);
	pb_close(&p->b, packet);
}

static void put_thread(struct perfetto *p, const struct tl_thread *t)
{
	size_t at;
	if (t->pid == t->tid) {
		at = pb_open(&p->b, TREE_PROCESSES);
		pb_i64(&p->b, PROCESS_PID, t->pid);
		pb_text(&p->b, PROCESS_CMDLINE, text(p, t->comm));
		pb_close(&p->b, at);
	}
	at = pb_open(&p->b, TREE_THREADS);
	pb_i64(&p->b, THREAD_TID, t->tid);
	pb_text(&p->b, THREAD_NAME, text(p, t->comm));
	if (t->pid > 0)
		pb_i64(&p->b, THREAD_TGID, t->pid);
	pb_close(&p->b, at);
}

static int put_threads(struct perfetto *p, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < p->tl->threads.n && !rc; i++) {
		const struct tl_thread *t = &p->tl->threads.v[i];
		if (t->tid <= 0)
			continue;
		size_t packet = open_packet(p, p->tl->rec.origin_ns);
		size_t tree = pb_open(&p->b, PACKET_PROCESS_TREE);
		put_thread(p, t);
		pb_close(&p->b, tree);
		pb_close(&p->b, packet);
		rc = flush(p, FLUSH, e);
	}
	return rc;
}

/* --- switches and wakeups ------------------------------------------------------------- */

/* A bundle of the events of one CPU, and the packet around it. */
struct bundle {
	size_t packet, events;
	int open;
};

static void open_bundle(struct perfetto *p, struct bundle *b, uint32_t cpu)
{
	if (b->open)
		return;
	b->packet = pb_open(&p->b, TRACE_PACKET);
	b->events = pb_open(&p->b, PACKET_FTRACE_EVENTS);
	pb_u64(&p->b, BUNDLE_CPU, cpu);
	b->open = 1;
}

static int close_bundle(struct perfetto *p, struct bundle *b, size_t above, struct err *e)
{
	if (!b->open || p->b.n - b->packet < above)
		return buf_failed(&p->b) ? err_nomem(e) : 0;
	pb_close(&p->b, b->events);
	pb_close(&p->b, b->packet);
	b->open = 0;
	return flush(p, FLUSH, e);
}

/* 1 from Linux 4.14 on, where the bits of states that sched_switch reports got their places. */
static int is_modern(const char *release)
{
	char *dot;
	unsigned long major = strtoul(release, &dot, 10);
	unsigned long minor = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
	return major > 4 || (major == 4 && minor >= 14);
}

/* The state as sched_switch reports it (include/trace/events/sched.h): of several letters the
 * first. What older kernels number otherwise is left at runnable. */
static int64_t state_bits(const struct perfetto *p, const char *state)
{
	static const char letters[] = "SDTtXZPI";
	enum { PREEMPTED = 0x100, SAME_ALWAYS = 6 };
	const char *at = *state ? strchr(letters, *state) : NULL;
	if (at)
		return p->modern || at - letters < SAME_ALWAYS ? 1 << (at - letters) : 0;
	return p->modern && !strcmp(state, "R+") ? PREEMPTED : 0;
}

/* The interval that ends a run; NULL: the recording or the thread ended there. */
static const struct off *off_behind(const struct perfetto *p, const struct tl_run *r)
{
	const struct tl_thread *t = &p->tl->threads.v[r->thread];
	uint32_t i = timeline_off_after(p->tl, r->thread, r->end_ns);
	int is = i < t->off_first + t->off_n && p->tl->off.v[i].start_ns == r->end_ns;
	return is ? &p->tl->off.v[i] : NULL;
}

static void put_task(struct perfetto *p, const struct tl_run *r, uint32_t cpu, uint32_t comm,
		     uint32_t pid, uint32_t prio)
{
	char idle[32];
	snprintf(idle, sizeof(idle), "swapper/%u", cpu);
	const struct off *o = r ? off_behind(p, r) : NULL;
	const struct tl_thread *t = r ? &p->tl->threads.v[r->thread] : NULL;
	pb_text(&p->b, comm, o ? text(p, o->comm) : t ? text(p, t->comm) : idle);
	pb_i64(&p->b, pid, t ? t->tid : 0);
	if (r && r->prio >= 0)
		pb_i64(&p->b, prio, r->prio);
}

static size_t open_event(struct perfetto *p, uint64_t ns, int32_t pid)
{
	size_t at = pb_open(&p->b, BUNDLE_EVENT);
	pb_u64(&p->b, EVENT_TIMESTAMP, ns);
	pb_u64(&p->b, EVENT_PID, (uint32_t)pid);
	return at;
}

/* From one run to the next; NULL is the idle task. */
static void put_switch(struct perfetto *p, uint32_t cpu, uint64_t ns, const struct tl_run *prev,
		       const struct tl_run *next)
{
	const struct off *o = prev ? off_behind(p, prev) : NULL;
	const char *state = o ? text(p, p->tl->states[o->state]) : prev ? "X" : "R";
	size_t event = open_event(p, ns, prev ? p->tl->threads.v[prev->thread].tid : 0);
	size_t at = pb_open(&p->b, EVENT_SCHED_SWITCH);
	put_task(p, prev, cpu, SWITCH_PREV_COMM, SWITCH_PREV_PID, SWITCH_PREV_PRIO);
	pb_i64(&p->b, SWITCH_PREV_STATE, state_bits(p, state));
	put_task(p, next, cpu, SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO);
	pb_close(&p->b, at);
	pb_close(&p->b, event);
}

/* Interrupts are recognized by the flags of trace events (TRACE_FLAG_HARDIRQ, _SOFTIRQ). */
static uint32_t context_flags(const struct off *o)
{
	return o->waker_context == WAKER_HARDIRQ   ? 0x08
	       : o->waker_context == WAKER_SOFTIRQ ? 0x10
						   : 0;
}

static void put_waking(struct perfetto *p, const struct off *o)
{
	uint16_t target = o->cpu_queue != TL_NOCPU ? o->cpu_queue : o->cpu_in;
	int32_t waker = o->waker == TL_NONE ? 0 : p->tl->threads.v[o->waker].tid;
	size_t event = open_event(p, o->start_ns + o->blocked_ns, waker);
	if (context_flags(o))
		pb_u64(&p->b, EVENT_COMMON_FLAGS, context_flags(o));
	size_t at = pb_open(&p->b, EVENT_SCHED_WAKING);
	pb_text(&p->b, WAKING_COMM, text(p, o->comm));
	pb_i64(&p->b, WAKING_PID, p->tl->threads.v[o->thread].tid);
	if (o->prio_in >= 0)
		pb_i64(&p->b, WAKING_PRIO, o->prio_in);
	pb_u64(&p->b, WAKING_SUCCESS, 1);
	if (target != TL_NOCPU)
		pb_u64(&p->b, WAKING_TARGET_CPU, target);
	pb_close(&p->b, at);
	pb_close(&p->b, event);
}

static int has_waking(const struct off *o)
{
	return o->waker_context != WAKER_NONE && o->cpu_wake != TL_NOCPU && !o->unknown;
}

static int compare_wakings(const void *a, const void *b, void *timeline)
{
	const struct off *v = ((const struct timeline *)timeline)->off.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t tx = v[x].start_ns + v[x].blocked_ns, ty = v[y].start_ns + v[y].blocked_ns;
	if (v[x].cpu_wake != v[y].cpu_wake)
		return v[x].cpu_wake < v[y].cpu_wake ? -1 : 1;
	if (tx != ty)
		return tx < ty ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int collect_wakings(struct perfetto *p)
{
	for (size_t i = 0; i < p->tl->off.n; i++)
		if (has_waking(&p->tl->off.v[i]) && vec_push(&p->wakings, (uint32_t)i))
			return ERR_NOMEM;
	if (p->wakings.n)
		qsort_r(p->wakings.v, p->wakings.n, sizeof(*p->wakings.v), compare_wakings,
			(void *)p->tl);
	return 0;
}

/* The wakeups on a CPU up to a time; *next is the first that was not written. */
static int put_wakings(struct perfetto *p, struct bundle *b, uint32_t cpu, uint64_t until,
		       size_t *next, struct err *e)
{
	int rc = 0;
	for (; *next < p->wakings.n && !rc; ++*next) {
		const struct off *o = &p->tl->off.v[p->wakings.v[*next]];
		if (o->cpu_wake != cpu || o->start_ns + o->blocked_ns > until)
			break;
		open_bundle(p, b, cpu);
		put_waking(p, o);
		rc = close_bundle(p, b, BUNDLE_BYTES, e);
	}
	return rc;
}

/* A CPU: switches where its runs begin and end. What runs at the end of the recording goes on.
 */
static int put_cpu(struct perfetto *p, uint32_t cpu, size_t *waking, struct err *e)
{
	const struct tl_run *v = p->runs.v.v;
	uint32_t first = p->runs.first.v[cpu], end = p->runs.first.v[cpu + 1];
	struct bundle b = {0};
	int rc = 0;
	for (uint32_t i = first; i < end && !rc; i++) {
		int follows = i > first && v[i - 1].end_ns == v[i].start_ns;
		int goes_on = i + 1 < end && v[i + 1].start_ns == v[i].end_ns;
		if (!follows) {
			rc = put_wakings(p, &b, cpu, v[i].start_ns, waking, e);
			open_bundle(p, &b, cpu);
			put_switch(p, cpu, v[i].start_ns, NULL, &v[i]);
		}
		rc = rc ? rc : put_wakings(p, &b, cpu, v[i].end_ns, waking, e);
		if (goes_on || v[i].end_ns < p->tl->rec.end_ns || off_behind(p, &v[i])) {
			open_bundle(p, &b, cpu);
			put_switch(p, cpu, v[i].end_ns, &v[i], goes_on ? &v[i + 1] : NULL);
		}
		rc = rc ? rc : close_bundle(p, &b, BUNDLE_BYTES, e);
	}
	rc = rc ? rc : put_wakings(p, &b, cpu, UINT64_MAX, waking, e);
	return rc ? rc : close_bundle(p, &b, 0, e);
}

static int put_cpus(struct perfetto *p, struct err *e)
{
	size_t waking = 0;
	int rc = timeline_runs(p->tl, &p->runs, e);
	if (!rc && collect_wakings(p))
		rc = err_nomem(e);
	for (uint32_t cpu = 0; cpu + 1 < p->runs.first.n && !rc; cpu++)
		rc = put_cpu(p, cpu, &waking, e);
	return rc;
}

/* --- samples
 * ------------------------------------------------------------------------------------
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

static uint32_t put_mapping(struct perfetto *p, uint32_t dso)
{
	uint32_t iid;
	if (!intern(&p->mappings, dso, &iid))
		return iid;
	put_string(p, INTERNED_MAPPING_PATHS, iid, text(p, dso));
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
static void put_frame(struct perfetto *p, uint32_t frame)
{
	const struct frame *f = &p->s->frames.v[frame];
	struct buf name = {0};
	uint32_t iid;
	if (!intern(&p->frames, frame, &iid))
		return;
	uint32_t mapping = put_mapping(p, f->dso);
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
static int put_callstack(struct perfetto *p, uint32_t path, uint32_t *iid)
{
	size_t n = stacks_depth(p->s, path);
	if (!intern(&p->paths, path, iid))
		return 0;
	if (n > p->frame_ids.cap && vec_reserve(&p->frame_ids, n))
		return ERR_NOMEM;
	stacks_frames(p->s, path, p->frame_ids.v, n);
	size_t data = pb_open(&p->b, PACKET_INTERNED_DATA);
	for (size_t i = 0; i < n; i++)
		put_frame(p, p->frame_ids.v[i]);
	size_t at = pb_open(&p->b, INTERNED_CALLSTACKS);
	pb_u64(&p->b, CALLSTACK_IID, *iid);
	for (size_t i = 0; i < n; i++)
		pb_u64(&p->b, CALLSTACK_FRAME, p->frames.iid[p->frame_ids.v[i]]);
	pb_close(&p->b, at);
	pb_close(&p->b, data);
	return 0;
}

static int put_sample(struct perfetto *p, const struct tl_sample *x)
{
	const struct tl_thread *t = x->thread == TL_NONE ? NULL : &p->tl->threads.v[x->thread];
	uint32_t iid = 0;
	size_t packet = open_packet(p, x->time_ns);
	pb_u64(&p->b, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (x->path && put_callstack(p, x->path, &iid))
		return ERR_NOMEM;
	size_t at = pb_open(&p->b, PACKET_PERF_SAMPLE);
	if (x->cpu != TL_NOCPU)
		pb_u64(&p->b, SAMPLE_CPU, x->cpu);
	if (t && t->pid >= 0)
		pb_u64(&p->b, SAMPLE_PID, (uint32_t)t->pid);
	if (t && t->tid >= 0)
		pb_u64(&p->b, SAMPLE_TID, (uint32_t)t->tid);
	if (iid) {
		uint32_t leaf = p->s->paths.v[x->path].frame;
		pb_u64(&p->b, SAMPLE_CALLSTACK, iid);
		pb_u64(&p->b, SAMPLE_CPU_MODE,
		       p->s->frames.v[leaf].kind == FRAME_KERNEL ? MODE_KERNEL : MODE_USER);
	}
	pb_close(&p->b, at);
	pb_close(&p->b, packet);
	return 0;
}

static int put_samples(struct perfetto *p, struct err *e)
{
	int rc = interned_init(&p->paths, p->s->paths.n) ||
				 interned_init(&p->frames, p->s->frames.n) ||
				 interned_init(&p->mappings, p->s->strings.entries.n)
			 ? err_nomem(e)
			 : 0;
	for (size_t i = 0; i < p->tl->samples.n && !rc; i++)
		rc = put_sample(p, &p->tl->samples.v[i]) ? err_nomem(e) : flush(p, FLUSH, e);
	return rc;
}

/* --- slices
 * -------------------------------------------------------------------------------------
 */

/* A track, of a thread or (NULL) of its own; its number. */
static uint64_t put_track(struct perfetto *p, const struct tl_thread *t, const char *name)
{
	size_t packet = open_packet(p, p->tl->rec.origin_ns);
	size_t track = pb_open(&p->b, PACKET_TRACK_DESCRIPTOR);
	pb_u64(&p->b, DESCRIPTOR_UUID, ++p->tracks);
	if (t) {
		size_t at = pb_open(&p->b, DESCRIPTOR_THREAD);
		pb_i64(&p->b, DESCRIPTOR_PID, t->pid);
		pb_i64(&p->b, DESCRIPTOR_TID, t->tid);
		pb_text(&p->b, DESCRIPTOR_THREAD_NAME, text(p, t->comm));
		pb_close(&p->b, at);
	} else {
		pb_text(&p->b, DESCRIPTOR_NAME, name);
	}
	pb_close(&p->b, track);
	pb_close(&p->b, packet);
	return p->tracks;
}

/* The begin of a slice, or with NULL for a name its end. */
static void put_edge(struct perfetto *p, uint64_t track, uint64_t ns, const char *name)
{
	size_t packet = open_packet(p, ns);
	size_t at = pb_open(&p->b, PACKET_TRACK_EVENT);
	pb_u64(&p->b, TRACK_EVENT_TYPE, name ? SLICE_BEGIN : SLICE_END);
	pb_u64(&p->b, TRACK_EVENT_TRACK, track);
	if (name)
		pb_text(&p->b, TRACK_EVENT_NAME, name);
	pb_close(&p->b, at);
	pb_close(&p->b, packet);
}

static void put_alone(struct perfetto *p, const char *name, uint64_t start, uint64_t end)
{
	uint64_t track = put_track(p, NULL, name);
	put_edge(p, track, start, name);
	put_edge(p, track, end, NULL);
}

static int compare_spans(const void *a, const void *b, void *timeline)
{
	const struct tl_span *v = ((const struct timeline *)timeline)->spans.v;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].thread != v[k].thread)
		return v[i].thread < v[k].thread ? -1 : 1;
	if (v[i].start_ns != v[k].start_ns)
		return v[i].start_ns < v[k].start_ns ? -1 : 1;
	if (v[i].end_ns != v[k].end_ns)
		return v[i].end_ns > v[k].end_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The spans of one thread, [first, first + n) of p->spans: `ends` holds the ends of those that
 * are open. */
static int put_nested(struct perfetto *p, size_t first, size_t n, struct err *e)
{
	const struct tl_span *v = p->tl->spans.v;
	VEC(uint64_t) ends = {0};
	uint64_t track = put_track(p, &p->tl->threads.v[v[p->spans.v[first]].thread], NULL);
	int rc = 0;
	for (size_t i = first; i < first + n && !rc; i++) {
		const struct tl_span *x = &v[p->spans.v[i]];
		for (; ends.n && ends.v[ends.n - 1] <= x->start_ns; ends.n--)
			put_edge(p, track, ends.v[ends.n - 1], NULL);
		if (x->thread != x->end_thread || (ends.n && ends.v[ends.n - 1] < x->end_ns)) {
			put_alone(p, text(p, x->name), x->start_ns, x->end_ns);
		} else {
			put_edge(p, track, x->start_ns, text(p, x->name));
			rc = vec_push(&ends, x->end_ns) ? err_nomem(e) : 0;
		}
		rc = rc ? rc : flush(p, FLUSH, e);
	}
	for (; ends.n; ends.n--)
		put_edge(p, track, ends.v[ends.n - 1], NULL);
	vec_release(&ends);
	return rc;
}

static int put_spans(struct perfetto *p, struct err *e)
{
	const struct tl_span *v = p->tl->spans.v;
	int rc = 0;
	for (size_t i = 0; i < p->tl->spans.n; i++)
		if (v[i].thread != TL_NONE && vec_push(&p->spans, (uint32_t)i))
			return err_nomem(e);
	if (p->spans.n)
		qsort_r(p->spans.v, p->spans.n, sizeof(*p->spans.v), compare_spans,
			(void *)p->tl);
	for (size_t i = 0, n; i < p->spans.n && !rc; i += n) {
		for (n = 1; i + n < p->spans.n; n++)
			if (v[p->spans.v[i]].thread != v[p->spans.v[i + n]].thread)
				break;
		rc = put_nested(p, i, n, e);
	}
	return rc;
}

static int put_losses(struct perfetto *p, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < p->tl->losses.n && !rc; i++) {
		const struct tl_loss *l = &p->tl->losses.v[i];
		const char *kind = loss_kind_name(l->kind);
		char name[64];
		if (l->cpu == TL_NOCPU)
			snprintf(name, sizeof(name), "%s", kind);
		else
			snprintf(name, sizeof(name), "%s on CPU %u", kind, l->cpu);
		put_alone(p, name, l->from_ns, l->to_ns);
		rc = flush(p, FLUSH, e);
	}
	return rc;
}

int perfetto_write(const struct timeline *tl, FILE *f, struct err *e)
{
	struct perfetto p = {.tl = tl, .s = tl->stacks, .f = f};
	p.modern = is_modern(text(&p, tl->rec.kernel));
	put_system(&p);
	int rc = put_threads(&p, e);
	rc = rc ? rc : put_cpus(&p, e);
	rc = rc ? rc : put_samples(&p, e);
	rc = rc ? rc : put_spans(&p, e);
	rc = rc ? rc : put_losses(&p, e);
	rc = rc ? rc : flush(&p, 0, e);
	buf_release(&p.b);
	tl_runs_release(&p.runs);
	mem_free(p.paths.iid);
	mem_free(p.frames.iid);
	mem_free(p.mappings.iid);
	vec_release(&p.frame_ids);
	vec_release(&p.wakings);
	vec_release(&p.spans);
	return rc;
}
