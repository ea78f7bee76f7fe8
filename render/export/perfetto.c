#include "render/export/perfetto_internal.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Fields, by the files that define them below protos/perfetto/trace. */
enum {
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
};

enum { BUNDLE_BYTES = 1 << 15 };

/* The packets of p->b as one packet, in p->packed: what reads traces inflates it. */
static int deflate_packets(struct perfetto *p, struct err *e)
{
	uLongf n = compressBound(p->b.n);
	size_t packet = pb_open(&p->packed, TRACE_PACKET);
	size_t at = pb_open(&p->packed, PACKET_COMPRESSED);
	uint8_t *v = buf_room(&p->packed, n);
	if (!v ||
	    compress2(v, &n, (const uint8_t *)p->b.v, p->b.n, Z_DEFAULT_COMPRESSION) != Z_OK)
		return err_nomem(e);
	p->packed.n += n;
	pb_close(&p->packed, at);
	pb_close(&p->packed, packet);
	return buf_failed(&p->packed) ? err_nomem(e) : 0;
}

int perfetto_flush(struct perfetto *p, size_t above, struct err *e)
{
	if (buf_failed(&p->b))
		return err_nomem(e);
	if (p->b.n < above || !p->b.n)
		return 0;
	int rc = deflate_packets(p, e);
	fwrite(p->packed.v, 1, p->packed.n, p->f);
	buf_clear(&p->packed);
	buf_clear(&p->b);
	return rc ? rc : ferror(p->f) ? err_sys(e, "cannot write") : 0;
}

const char *perfetto_text(const struct perfetto *p, uint32_t id)
{
	return strtab_get(&p->s->strings, id);
}

size_t perfetto_open(struct perfetto *p, uint32_t sequence, uint64_t ns)
{
	size_t at = pb_open(&p->b, TRACE_PACKET);
	pb_u64(&p->b, PACKET_TIMESTAMP, ns);
	pb_u64(&p->b, PACKET_SEQUENCE_ID, sequence);
	return at;
}

/* --- the host, processes and threads -------------------------------------------------- */

static void put_system(struct perfetto *p)
{
	const struct tl_recording *rec = &p->tl->rec;
	size_t packet = perfetto_open(p, SEQUENCE, rec->origin_ns);
	pb_u64(&p->b, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	size_t info = pb_open(&p->b, PACKET_SYSTEM_INFO);
	size_t name = pb_open(&p->b, SYSTEM_INFO_UTSNAME);
	pb_text(&p->b, UTSNAME_SYSNAME, "Linux");
	if (rec->kernel)
		pb_text(&p->b, UTSNAME_RELEASE, perfetto_text(p, rec->kernel));
	if (rec->arch)
		pb_text(&p->b, UTSNAME_MACHINE, perfetto_text(p, rec->arch));
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
		pb_text(&p->b, PROCESS_CMDLINE, perfetto_text(p, t->comm));
		pb_close(&p->b, at);
	}
	at = pb_open(&p->b, TREE_THREADS);
	pb_i64(&p->b, THREAD_TID, t->tid);
	pb_text(&p->b, THREAD_NAME, perfetto_text(p, t->comm));
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
		size_t packet = perfetto_open(p, SEQUENCE, p->tl->rec.origin_ns);
		size_t tree = pb_open(&p->b, PACKET_PROCESS_TREE);
		put_thread(p, t);
		pb_close(&p->b, tree);
		pb_close(&p->b, packet);
		rc = perfetto_flush(p, FLUSH, e);
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
	return perfetto_flush(p, FLUSH, e);
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
static const struct offcpu *off_behind(const struct perfetto *p, const struct tl_run *r)
{
	const struct tl_thread *t = &p->tl->threads.v[r->thread];
	uint32_t i = timeline_offcpu_after(p->tl, r->thread, r->end_ns);
	int is = i < t->offcpu_first + t->offcpu_n && p->tl->offcpu.v[i].start_ns == r->end_ns;
	return is ? &p->tl->offcpu.v[i] : NULL;
}

static void put_task(struct perfetto *p, const struct tl_run *r, uint32_t cpu, uint32_t comm,
		     uint32_t pid, uint32_t prio)
{
	char idle[32];
	snprintf(idle, sizeof(idle), "swapper/%u", cpu);
	const struct offcpu *o = r ? off_behind(p, r) : NULL;
	const struct tl_thread *t = r ? &p->tl->threads.v[r->thread] : NULL;
	pb_text(&p->b, comm,
		o   ? perfetto_text(p, o->comm)
		: t ? perfetto_text(p, t->comm)
		    : idle);
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
	const struct offcpu *o = prev ? off_behind(p, prev) : NULL;
	const char *state = o ? perfetto_text(p, p->tl->states[o->state]) : prev ? "X" : "R";
	size_t event = open_event(p, ns, prev ? p->tl->threads.v[prev->thread].tid : 0);
	size_t at = pb_open(&p->b, EVENT_SCHED_SWITCH);
	put_task(p, prev, cpu, SWITCH_PREV_COMM, SWITCH_PREV_PID, SWITCH_PREV_PRIO);
	pb_i64(&p->b, SWITCH_PREV_STATE, state_bits(p, state));
	put_task(p, next, cpu, SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO);
	pb_close(&p->b, at);
	pb_close(&p->b, event);
}

/* Interrupts are recognized by the flags of trace events (TRACE_FLAG_HARDIRQ, _SOFTIRQ). */
static uint32_t context_flags(const struct offcpu *o)
{
	return o->waker_context == WAKER_HARDIRQ   ? 0x08
	       : o->waker_context == WAKER_SOFTIRQ ? 0x10
						   : 0;
}

static void put_waking(struct perfetto *p, const struct offcpu *o)
{
	uint16_t target = o->cpu_queue != TL_NOCPU ? o->cpu_queue : o->cpu_in;
	int32_t waker = o->waker == TL_NONE ? 0 : p->tl->threads.v[o->waker].tid;
	size_t event = open_event(p, o->start_ns + o->blocked_ns, waker);
	if (context_flags(o))
		pb_u64(&p->b, EVENT_COMMON_FLAGS, context_flags(o));
	size_t at = pb_open(&p->b, EVENT_SCHED_WAKING);
	pb_text(&p->b, WAKING_COMM, perfetto_text(p, o->comm));
	pb_i64(&p->b, WAKING_PID, p->tl->threads.v[o->thread].tid);
	if (o->prio_in >= 0)
		pb_i64(&p->b, WAKING_PRIO, o->prio_in);
	pb_u64(&p->b, WAKING_SUCCESS, 1);
	if (target != TL_NOCPU)
		pb_u64(&p->b, WAKING_TARGET_CPU, target);
	pb_close(&p->b, at);
	pb_close(&p->b, event);
}

static int has_waking(const struct offcpu *o)
{
	return o->waker_context != WAKER_NONE && o->cpu_wake != TL_NOCPU && !o->unknown;
}

static int compare_wakings(const void *a, const void *b, void *timeline)
{
	const struct offcpu *v = ((const struct timeline *)timeline)->offcpu.v;
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
	for (size_t i = 0; i < p->tl->offcpu.n; i++)
		if (has_waking(&p->tl->offcpu.v[i]) && vec_push(&p->wakings, (uint32_t)i))
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
		const struct offcpu *o = &p->tl->offcpu.v[p->wakings.v[*next]];
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

int perfetto_write(struct timeline *tl, const struct population *of, FILE *f, struct err *e)
{
	struct worst worst;
	struct perfetto p = {.tl = tl, .s = tl->stacks, .of = of, .worst = &worst, .f = f};
	p.modern = is_modern(perfetto_text(&p, tl->rec.kernel));
	put_system(&p);
	int rc = worst_collect(&worst, tl, of, e);
	rc = rc ? rc : put_threads(&p, e);
	rc = rc ? rc : put_cpus(&p, e);
	rc = rc ? rc : perfetto_put_samples(&p, e);
	rc = rc ? rc : perfetto_put_slices(&p, e);
	rc = rc ? rc : perfetto_flush(&p, 0, e);
	worst_release(&worst);
	buf_release(&p.b);
	buf_release(&p.packed);
	tl_runs_release(&p.runs);
	vec_release(&p.wakings);
	vec_release(&p.spans);
	u64map_release(&p.threads);
	return rc;
}
