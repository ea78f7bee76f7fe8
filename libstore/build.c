#include "libstore/build.h"
#include "base/mem.h"
#include "libparse/order.h"
#include "libparse/tracepoint.h"
#include "libstore/prevstate.h"
#include "libstore/sched.h"
#include "libstore/spandef.h"
#include "libsym/expand.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DUMMY_TIMES 0xffffffff00000000u /* of accumulated --off-cpu samples */

enum {
	TELL_EVERY = 1 << 18, /* records between two words of progress */
	VIEWS = 1024,         /* thread views kept */
	STATES = 64,          /* prev_state values decoded already */
};

/* What the samples of an event are to us. */
enum role {
	ROLE_SAMPLE,
	ROLE_SCHED, /* a scheduler tracepoint: `kind` says which */
	ROLE_MARK,
	ROLE_TOTAL, /* offcpu-time */
	ROLE_NONE,  /* other tracepoints of the kernel: they only tell who is current */
};

struct source_event {
	uint8_t role, kind;               /* enum sched_kind */
	uint8_t chain;                    /* its samples carry callchains */
	uint32_t name;                    /* strings id */
	uint32_t role_at, nroles;         /* in builder.roles */
	struct tp_field a, b, c, d, e, f; /* meaning by kind: see fields_of */
};

/* A distinct callchain, waiting for its name. */
struct raw_chain {
	struct stack_entry entry;
	uint64_t hash;
};

struct state_memo {
	uint64_t value;
	uint8_t state, class, set;
};

struct view_memo {
	int32_t pid, tid;
	uint8_t set;
	struct thread_view view;
};

struct throttle {
	uint64_t since;
	uint8_t on;
};

struct builder {
	struct profile *p;
	struct recording *rec;
	const struct build_options *opt;
	struct timeline *tl;
	struct sched *sched;
	struct tracepoints *formats;
	struct expander *expander; /* NULL: the recorded callchains are all there is */
	struct deferred_chains deferred;
	struct prevstate prevstate;
	struct spans *spans;
	struct span_roles roles;
	VEC(struct source_event) events;
	VEC(struct raw_chain) chains; /* index 0 is a dummy */
	struct idmap chain_index;
	struct arena words;
	struct state_memo states[STATES];
	struct view_memo views[VIEWS];
	VEC(struct throttle) throttles; /* by CPU */
	struct u64map kernel_pids, execed;
	uint64_t first_ns, last_ns, records;
	int sideband_done; /* the machine knows everything already */
	int system_wide, per_task;
};

/* --- events --------------------------------------------------------------------------------
 */

static int tp_is(const struct tracepoint *tp, const char *system, const char *name)
{
	return !strcmp(tp->system, system) && !strcmp(tp->name, name);
}

/* Where the fields we use lie:
 *	switch: a prev_pid, b prev_state, c next_pid, d next_prio, e prev_comm, f next_comm
 *	others: a the thread meant, e its name; fork: a child_pid, b parent_pid */
static void fields_of(struct source_event *se, const struct tracepoint *tp)
{
	if (se->kind == SCHED_SWITCH) {
		tracepoint_field(tp, "prev_pid", &se->a);
		tracepoint_field(tp, "prev_state", &se->b);
		tracepoint_field(tp, "next_pid", &se->c);
		tracepoint_field(tp, "next_prio", &se->d);
		tracepoint_field(tp, "prev_comm", &se->e);
		tracepoint_field(tp, "next_comm", &se->f);
		return;
	}
	tracepoint_field(tp, se->kind == SCHED_FORK ? "child_pid" : "pid", &se->a);
	tracepoint_field(tp, se->kind == SCHED_FORK ? "child_comm" : "comm", &se->e);
}

static int is_sched(const struct tracepoint *tp, struct source_event *se)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} map[] = {
		{"sched_switch", SCHED_SWITCH},     {"sched_waking", SCHED_WAKING},
		{"sched_wakeup", SCHED_WAKEUP},     {"sched_wakeup_new", SCHED_WAKEUP_NEW},
		{"sched_process_fork", SCHED_FORK}, {"sched_process_exit", SCHED_EXIT},
	};
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++) {
		if (!tp_is(tp, "sched", map[i].name))
			continue;
		se->role = ROLE_SCHED;
		se->kind = map[i].kind;
		fields_of(se, tp);
		return 1;
	}
	return 0;
}

/* Kernel tracepoints that come by the million say nothing as single marks. */
static int is_noise(const char *system)
{
	static const char *const systems[] = {
		"sched",      "irq",   "irq_vectors", "timer", "syscalls", "raw_syscalls",
		"exceptions", "power", "lock",        "kmem",  "ipi",      "rcu"};
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(system, systems[i]))
			return 1;
	return 0;
}

static void note_switch_attr(struct builder *b, const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	if (attr_flag(a, ATTR_FREQ) ? a->sample_period != 0 : a->sample_period > 1)
		b->tl->flags |= TL_SAMPLED;
}

static int classify(struct builder *b, const struct event *ev)
{
	struct source_event se = {.chain = !!(ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN)};
	struct tl_event te = {.tracepoint = (uint8_t)ev->is_tracepoint};
	const struct tracepoint *tp = tracepoint_of(b->formats, ev);
	const char *name = ev->name ? ev->name : "";
	if (strtab_intern(&b->p->stacks.strings, name, &se.name))
		return ERR_NOMEM;
	if (tp && is_sched(tp, &se)) {
		te.sched = 1;
		if (se.kind == SCHED_SWITCH) {
			note_switch_attr(b, ev);
			b->tl->flags |= TL_HAS_SWITCH;
			prevstate_parse(&b->prevstate, tp->format, tp->format_size, NULL);
		}
		b->tl->flags |= se.kind == SCHED_WAKING   ? TL_HAS_WAKING
				: se.kind == SCHED_WAKEUP ? TL_HAS_WAKEUP
							  : 0u;
	} else if (ev->is_tracepoint) {
		se.role = !tp || is_noise(tp->system) ? ROLE_NONE : ROLE_MARK;
	} else if (!strncmp(name, "offcpu-time", 11)) {
		se.role = ROLE_TOTAL;
	}
	if (attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH))
		b->tl->flags |= TL_HAS_RECORDS;
	if (attr_flag(&ev->attr, ATTR_ENABLE_ON_EXEC))
		b->per_task = 1;
	te.name = se.name;
	return vec_push(&b->events, se) || vec_push(&b->tl->events, te) ? ERR_NOMEM : 0;
}

/* Which events begin or end spans; they are no marks then. */
static int begin_spans(struct builder *b, struct err *e)
{
	int r = spans_new(b->tl, &b->spans, e);
	if (!r)
		r = spandefs_find(&b->roles, b->spans, &b->p->stacks.strings, b->rec,
				  b->formats, b->opt->spans, b->opt->nspans, e);
	for (uint32_t i = 0; !r && i < b->roles.v.n; i++) {
		struct source_event *se = &b->events.v[b->roles.v.v[i].event];
		if (!se->nroles++)
			se->role_at = i;
		if (se->role == ROLE_MARK)
			se->role = ROLE_NONE;
	}
	return r;
}

/* Before the first record with a time: formats and the kind of recording are known by then. */
static int begin(struct builder *b, struct err *e)
{
	int r = tracepoints_new(&b->formats, b->rec, e);
	for (size_t i = 0; !r && i < b->rec->events.n; i++)
		if (classify(b, &b->rec->events.v[i]))
			r = err_nomem(e);
	if (!r)
		r = begin_spans(b, e);
	if (!r && b->per_task && !b->system_wide)
		b->tl->flags |= TL_PER_TASK;
	if (!r && expander_needed(b->rec))
		r = expander_new(&b->expander, b->rec, &b->p->machine, b->p->modules,
				 &b->deferred, b->p->names.opt.max_stack, e);
	return r ? r : sched_new(b->tl, &b->sched, e);
}

/* --- threads and stacks --------------------------------------------------------------------
 */

static const struct thread_view *view_of(struct builder *b, int32_t pid, int32_t tid,
					 uint64_t ns)
{
	struct view_memo *m = &b->views[(uint32_t)tid % VIEWS];
	if (!m->set || m->tid != tid || m->pid != pid || ns < m->view.since ||
	    ns >= m->view.until) {
		*m = (struct view_memo){.pid = pid, .tid = tid, .set = 1};
		machine_thread_at(&b->p->machine, pid, tid, ns, &m->view);
	}
	return &m->view;
}

static int same_chain(const struct stack_entry *a, const struct stack_entry *x)
{
	return a->nwords == x->nwords && a->space == x->space && a->version == x->version &&
	       a->kind == x->kind && a->cpumode == x->cpumode &&
	       !memcmp(a->words, x->words, (size_t)x->nwords * 8);
}

static int intern_chain(struct builder *b, const struct stack_entry *x, uint32_t *id)
{
	uint64_t h = hash_bytes(x->words, (size_t)x->nwords * 8) ^
		     hash_u64((uint64_t)x->space << 32 ^ (uint64_t)x->version << 8 ^ x->kind);
	size_t at = 0;
	while (idmap_next(&b->chain_index, h, &at, id))
		if (same_chain(&b->chains.v[*id].entry, x))
			return 0;
	struct raw_chain c = {.entry = *x, .hash = h};
	uint8_t *copy = arena_alloc(&b->words, (size_t)x->nwords * 8);
	if (!copy || b->chains.n >= UINT32_MAX - 1)
		return ERR_NOMEM;
	memcpy(copy, x->words, (size_t)x->nwords * 8);
	c.entry.words = copy;
	*id = (uint32_t)b->chains.n;
	return vec_push(&b->chains, c) ? ERR_NOMEM : idmap_put(&b->chain_index, h, *id);
}

/* The number of a sample's raw stack; 0 when it has none. */
static int chain_of(struct builder *b, const struct sample *s, uint32_t *id)
{
	const struct thread_view *v = view_of(b, s->pid, s->tid, s->time);
	const uint64_t *expanded;
	size_t n = 0;
	uint8_t ip[8];
	struct stack_entry x = {.samples = 1,
				.first = s->time,
				.event = s->event->index,
				.comm = v->comm,
				.pid = s->pid,
				.tid = s->tid,
				.cpu = s->cpu,
				.space = v->space,
				.version = v->version,
				.cpumode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK};
	int r = b->expander ? expander_expand(b->expander, s, v, b->rec->swap, &expanded, &n)
			    : 0;
	*id = 0;
	if (r < 0)
		return r;
	if (r) {
		x.kind = CHAIN_UNWOUND;
		x.words = (const uint8_t *)expanded;
		x.nwords = (uint32_t)n;
	} else if (b->events.v[s->event->index].chain) {
		x.kind = CHAIN_RAW;
		x.words = s->callchain.p;
		x.nwords = (uint32_t)s->callchain.n;
	} else if (b->events.v[s->event->index].role == ROLE_SAMPLE) {
		x.kind = CHAIN_NONE;
		memcpy(ip, &s->ip, sizeof(ip));
		x.words = ip;
		x.nwords = 1;
	}
	return x.nwords ? intern_chain(b, &x, id) : 0;
}

/* --- tracepoints of the scheduler ------------------------------------------------------------
 */

static int state_of(struct builder *b, uint64_t value, struct sched_event *ev)
{
	struct state_memo *m = &b->states[value % STATES];
	char text[PREVSTATE_TEXT];
	if (!m->set || m->value != value) {
		m->value = value;
		m->class = b->prevstate.nflags ? prevstate_class(&b->prevstate, value)
			   : value             ? STATE_BLOCKED
					       : STATE_RUNNING;
		if (!b->prevstate.nflags)
			snprintf(text, sizeof(text), value ? "0x%llx" : "R",
				 (unsigned long long)value);
		else
			prevstate_text(&b->prevstate, value, text);
		if (timeline_state(b->tl, text, &m->state))
			return ERR_NOMEM;
		m->set = 1;
	}
	ev->state = m->state;
	ev->state_class = m->class;
	return 0;
}

/* By the interrupt bits of the record; whether a softirq ran inside the current task's own
 * system call is told by the stack, at the end (settle_context). */
static uint8_t context_of(const struct sample *s)
{
	uint8_t flags = tp_common_flags(s->raw, s->raw_size);
	if (flags & TP_HARDIRQ)
		return WAKER_HARDIRQ;
	if (flags & TP_SOFTIRQ)
		return s->tid > 0 ? WAKER_SOFTIRQ_INLINE : WAKER_SOFTIRQ;
	return s->tid == 0 ? WAKER_IDLE : WAKER_TASK;
}

static void event_of(const struct record_id *id, uint8_t kind, struct sched_event *ev)
{
	*ev = (struct sched_event){
		.time_ns = id->time,
		.pid = id->has_tid ? id->pid : -1,
		.tid = id->has_tid ? id->tid : -1,
		.prev_tid = -1,
		.next_tid = -1,
		.target_tid = -1,
		.target_pid = -1,
		.next_prio = -1,
		.cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU,
		.kind = kind,
	};
}

static int take_sched(struct builder *b, const struct source_event *se, const struct sample *s,
		      const struct record_id *id, struct err *e)
{
	struct sched_event ev;
	int swap = b->rec->swap, r = 0;
	event_of(id, se->kind, &ev);
	if (se->kind == SCHED_SWITCH) {
		ev.prev_tid = (int32_t)tp_int(&se->a, s->raw, s->raw_size, swap);
		ev.next_tid = (int32_t)tp_int(&se->c, s->raw, s->raw_size, swap);
		ev.next_prio = (int16_t)tp_int(&se->d, s->raw, s->raw_size, swap);
		ev.prev_comm = tp_text(&se->e, s->raw, s->raw_size, swap);
		ev.next_comm = tp_text(&se->f, s->raw, s->raw_size, swap);
		r = state_of(b, (uint64_t)tp_int(&se->b, s->raw, s->raw_size, swap), &ev);
	} else {
		ev.target_tid = (int32_t)tp_int(&se->a, s->raw, s->raw_size, swap);
		ev.target_comm = tp_text(&se->e, s->raw, s->raw_size, swap);
		ev.context = context_of(s);
	}
	int stack =
		se->kind == SCHED_WAKING || se->kind == SCHED_WAKEUP ||
		se->kind == SCHED_WAKEUP_NEW ||
		(se->kind == SCHED_SWITCH && ev.prev_tid > 0 && ev.state_class != STATE_DEAD);
	if (!r && stack)
		r = chain_of(b, s, &ev.path);
	ev.no_stack = !ev.path;
	return r ? err_nomem(e) : sched_event(b->sched, &ev, e);
}

/* --- other samples
 * ---------------------------------------------------------------------------- */

static int tell_current(struct builder *b, const struct record_id *id, struct err *e)
{
	struct sched_event ev;
	if (id->cpu >= TL_NOCPU)
		return 0;
	event_of(id, SCHED_OTHER, &ev);
	return sched_event(b->sched, &ev, e);
}

/* perf's name of the thread at that time, else the one the scheduler told. */
static uint32_t comm_of(struct builder *b, const struct sample *s, uint32_t thread)
{
	const struct thread_view *v = view_of(b, s->pid, s->tid, s->time);
	if (v->comm != NO_ID)
		return v->comm;
	return thread == TL_NONE ? b->p->machine.comm_swapper : b->tl->threads.v[thread].comm;
}

static int take_sample(struct builder *b, const struct sample *s, const struct record_id *id,
		       struct err *e)
{
	struct tl_sample x = {.time_ns = s->time,
			      .period = s->period,
			      .event = (uint16_t)s->event->index,
			      .cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	int r = tell_current(b, id, e);
	if (!r)
		r = sched_thread(b->sched, s->pid, s->tid, NULL, &x.thread, e);
	if (r || b->opt->no_samples)
		return r;
	x.comm = comm_of(b, s, x.thread);
	if (chain_of(b, s, &x.path) || vec_push(&b->tl->samples, x))
		return err_nomem(e);
	return 0;
}

static int take_mark(struct builder *b, const struct source_event *se, const struct sample *s,
		     const struct record_id *id, struct err *e)
{
	struct tl_mark x = {.time_ns = s->time,
			    .name = se->name,
			    .cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	int r = tell_current(b, id, e);
	if (!r)
		r = sched_thread(b->sched, s->pid, s->tid, NULL, &x.thread, e);
	if (r)
		return r;
	struct buf text = {.max = 8192};
	const struct tracepoint *tp = tracepoint_of(b->formats, s->event);
	if (tp)
		tracepoint_text(b->formats, tp, s->raw, s->raw_size, &text);
	if (!buf_failed(&text) && text.n)
		r = strtab_intern_n(&b->p->stacks.strings, text.v, strnlen(text.v, text.n),
				    &x.text);
	buf_release(&text);
	if (r || chain_of(b, s, &x.path) || vec_push(&b->tl->marks, x))
		return err_nomem(e);
	return 0;
}

/*
 * The direct kind, perf 6.16 and later: the time is the end of the wait, what was waited lies
 * in the raw data: u32 pid, tid; u64 period (ns), nr, ips[nr], cgroup (builtin-record.c and
 * bpf_off_cpu.c of perf).
 */
static int take_direct(struct builder *b, const struct sample *s, const struct record_id *id,
		       struct err *e)
{
	enum { HEAD = 24 };
	struct sched_event ev;
	struct sample own = *s;
	if (s->raw_size < HEAD)
		return 0;
	int32_t pid = (int32_t)load_u32(s->raw, b->rec->swap);
	int32_t tid = (int32_t)load_u32(s->raw + 4, b->rec->swap);
	uint64_t ns = load_u64(s->raw + 8, b->rec->swap);
	uint64_t nr = load_u64(s->raw + 16, b->rec->swap);
	if (ns > s->time || nr > (s->raw_size - HEAD) / 8)
		return 0;
	event_of(id, SCHED_DIRECT, &ev);
	ev.from_ns = s->time - ns;
	ev.target_tid = tid;
	ev.target_pid = pid;
	own.pid = pid;
	own.tid = tid;
	own.callchain = (struct sample_words){.p = s->raw + HEAD, .n = nr};
	b->tl->flags |= TL_HAS_DIRECT;
	b->events.v[s->event->index].chain = 1;
	if (chain_of(b, &own, &ev.path))
		return err_nomem(e);
	ev.no_stack = !ev.path;
	return sched_event(b->sched, &ev, e);
}

static int take_total(struct builder *b, const struct sample *s, struct err *e)
{
	struct tl_off_total x = {.ns = s->period, .count = 1};
	int r = sched_thread(b->sched, s->pid, s->tid, NULL, &x.thread, e);
	if (r || x.thread == TL_NONE)
		return r;
	x.comm = comm_of(b, s, x.thread);
	b->tl->flags |= TL_HAS_TOTALS;
	if (chain_of(b, s, &x.path) || vec_push(&b->tl->totals, x))
		return err_nomem(e);
	return 0;
}

static int take_spans(struct builder *b, const struct source_event *se, const struct sample *s,
		      const struct record_id *id, struct err *e)
{
	struct span_event ev = {.time_ns = s->time,
				.cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	int r = sched_thread(b->sched, s->pid, s->tid, NULL, &ev.thread, e);
	for (uint32_t i = 0; !r && i < se->nroles; i++) {
		const struct span_role *role = &b->roles.v.v[se->role_at + i];
		ev.kind = role->kind;
		ev.end = role->end;
		ev.key = span_key_of(&role->key, s->raw, s->raw_size, b->rec->swap);
		r = spans_event(b->spans, &ev, e);
	}
	return r;
}

static int take_sample_record(struct builder *b, const struct record *r, struct record_id *id,
			      struct err *e)
{
	const struct event *ev =
		id->id ? recording_event_of_id(b->rec, id->id) : recording_event(b->rec, r);
	struct sample s;
	struct err why = {0};
	if (!ev || ev->index >= b->events.n) {
		b->p->totals.no_event++;
		return 0;
	}
	if (sample_decode(r, ev, b->rec->swap, &s, &why)) {
		recording_note_bad(b->rec, &why);
		return 0;
	}
	if (b->opt->watch)
		b->opt->watch(b->opt->watch_ctx, b->rec, r, id, &s);
	const struct source_event *se = &b->events.v[ev->index];
	id->cpu = s.cpu;
	int rc = se->nroles ? take_spans(b, se, &s, id, e) : 0;
	if (rc)
		return rc;
	switch (se->role) {
	case ROLE_SCHED:
		return take_sched(b, se, &s, id, e);
	case ROLE_SAMPLE:
		return take_sample(b, &s, id, e);
	case ROLE_MARK:
		return take_mark(b, se, &s, id, e);
	case ROLE_TOTAL:
		return s.time < DUMMY_TIMES ? take_direct(b, &s, id, e) : take_total(b, &s, e);
	default:
		return tell_current(b, id, e);
	}
}

/* --- side-band -------------------------------------------------------------------------------
 */

static int note_task(struct builder *b, const struct record_task *t)
{
	if (t->pid == 2 || t->ppid == 2)
		return u64map_put(&b->kernel_pids, (uint64_t)(uint32_t)t->pid, 1);
	return 0;
}

static int take_task(struct builder *b, const struct record *r, const struct record_id *id,
		     struct err *e)
{
	struct record_task t;
	struct sched_event ev;
	if (record_task_decode(r, b->rec->swap, &t, NULL))
		return 0;
	if (note_task(b, &t))
		return err_nomem(e);
	uint32_t thread;
	if (!id->has_time || !id->time) /* made up by perf for a thread that was there before */
		return sched_thread(b->sched, t.pid, t.tid, NULL, &thread, e);
	event_of(id, r->type == PERF_RECORD_FORK ? SCHED_FORK : SCHED_EXIT, &ev);
	ev.target_tid = t.tid;
	ev.target_pid = t.pid;
	return sched_event(b->sched, &ev, e);
}

static int take_comm(struct builder *b, const struct record *r, const struct record_id *id,
		     struct err *e)
{
	struct record_comm c;
	struct sched_event ev;
	uint32_t thread;
	if (record_comm_decode(r, b->rec->swap, &c, NULL))
		return 0;
	if (!id->has_time || !id->time)
		return sched_thread(b->sched, c.pid, c.tid, c.comm, &thread, e);
	if (c.exec && u64map_put(&b->execed, (uint64_t)(uint32_t)c.pid, 1))
		return err_nomem(e);
	event_of(id, SCHED_COMM, &ev);
	ev.target_tid = c.tid;
	ev.target_pid = c.pid;
	ev.target_comm = c.comm;
	return sched_event(b->sched, &ev, e);
}

static int take_switch(struct builder *b, const struct record *r, const struct record_id *id,
		       struct err *e)
{
	struct record_switch sw;
	struct sched_event ev;
	if (record_switch_decode(r, b->rec->swap, &sw, NULL) || !id->has_tid)
		return 0;
	b->tl->flags |= TL_HAS_RECORDS;
	event_of(id, sw.out ? SCHED_OUT : SCHED_IN, &ev);
	ev.preempt = (uint8_t)sw.preempt;
	ev.no_stack = 1;
	return sched_event(b->sched, &ev, e);
}

static int take_lost(struct builder *b, const struct record *r, const struct record_id *id,
		     struct err *e)
{
	struct record_lost l;
	struct sched_event ev;
	if (record_lost_decode(r, b->rec->swap, &l, NULL))
		return 0;
	event_of(id, SCHED_LOST, &ev);
	ev.count = l.lost;
	return sched_event(b->sched, &ev, e);
}

/* struct { header; u64 time, id, stream_id; } */
static int take_throttle(struct builder *b, const struct record *r, const struct record_id *id,
			 struct err *e)
{
	struct sched_event ev;
	if (r->size < RECORD_HEADER_SIZE + 16 || id->cpu >= TL_NOCPU)
		return 0;
	uint64_t event_id = load_u64(r->p + RECORD_HEADER_SIZE + 8, b->rec->swap);
	const struct event *what = recording_event_of_id(b->rec, event_id);
	if (!what || what->index >= b->events.n || b->events.v[what->index].role != ROLE_SCHED)
		return 0;
	while (b->throttles.n <= id->cpu)
		if (vec_push(&b->throttles, (struct throttle){0}))
			return err_nomem(e);
	struct throttle *t = &b->throttles.v[id->cpu];
	if (r->type == PERF_RECORD_THROTTLE) {
		if (!t->on)
			*t = (struct throttle){.since = id->time, .on = 1};
		return 0;
	}
	if (!t->on)
		return 0;
	t->on = 0;
	event_of(id, SCHED_THROTTLED, &ev);
	ev.from_ns = t->since;
	ev.count = 1;
	return sched_event(b->sched, &ev, e);
}

/* THREAD_MAP: u64 nr, then { u64 pid; char comm[16] }: -1 stands for every thread there is. */
static void note_thread_map(struct builder *b, const struct record *r)
{
	if (r->size < RECORD_HEADER_SIZE + 16)
		return;
	uint64_t pid = load_u64(r->p + RECORD_HEADER_SIZE + 8, b->rec->swap);
	if ((int32_t)pid == -1)
		b->system_wide = 1;
	else
		b->per_task = 1;
}

static int take_machine(struct builder *b, const struct record *r, uint64_t ns, struct err *e)
{
	struct err why = {0};
	if (b->sideband_done || !machine_wants(r->type))
		return 0;
	int rc = machine_take(&b->p->machine, b->rec, r, ns, &why);
	if (rc == ERR_FORMAT) {
		recording_note_bad(b->rec, &why);
		return 0;
	}
	if (!rc)
		rc = machine_advance(&b->p->machine, ns, &why);
	memset(b->views, 0, sizeof(b->views));
	if (rc && e)
		*e = why;
	return rc;
}

static int take_record(struct builder *b, const struct record *r, struct record_id *id,
		       struct err *e)
{
	int rc = take_machine(b, r, id->has_time ? id->time : 0, e);
	if (rc)
		return rc;
	if (b->opt->watch && r->type != PERF_RECORD_SAMPLE)
		b->opt->watch(b->opt->watch_ctx, b->rec, r, id, NULL);
	if (r->type == PERF_RECORD_THREAD_MAP && !b->sched)
		note_thread_map(b, r);
	if (r->type >= PERF_RECORD_HEADER_ATTR)
		return 0;
	if (!b->sched && (rc = begin(b, e)))
		return rc;
	if (id->has_time && id->time && id->time < DUMMY_TIMES) {
		if (!b->first_ns)
			b->first_ns = id->time;
		b->last_ns = id->time;
	}
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample_record(b, r, id, e);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(b, r, id, e);
	case PERF_RECORD_COMM:
		return take_comm(b, r, id, e);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(b, r, id, e);
	case PERF_RECORD_LOST:
		return take_lost(b, r, id, e);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return take_throttle(b, r, id, e);
	default:
		return id->has_time && id->time && id->has_tid ? tell_current(b, id, e) : 0;
	}
}

/* --- reading ---------------------------------------------------------------------------------
 */

/* A mapped file's mappings and names, ahead of all samples. */
static int read_sideband(struct builder *b, struct err *e)
{
	enum { RUN_MAX = 1 << 20 };
	struct record r;
	struct record_run run;
	struct record_id id;
	struct err bad = {0};
	uint64_t nbad = 0;
	int got;
	for (;;) {
		while (recording_sample_run(b->rec, RUN_MAX, &run))
			; /* samples come later, in the order of time */
		got = recording_next(b->rec, &r, e);
		if (got != 1)
			break;
		if (r.type == PERF_RECORD_THREAD_MAP)
			note_thread_map(b, &r);
		if (r.type == PERF_RECORD_CALLCHAIN_DEFERRED &&
		    deferred_take(&b->deferred, &r, b->rec->swap, NULL) == ERR_NOMEM)
			return err_nomem(e);
		if (!machine_wants(r.type))
			continue;
		recording_id(b->rec, &r, &id);
		struct err why = {0};
		int rc = machine_take(&b->p->machine, b->rec, &r, id.has_time ? id.time : 0,
				      &why);
		if (rc == ERR_FORMAT) {
			bad = nbad ? bad : why;
			nbad++;
		} else if (rc) {
			if (e)
				*e = why;
			return rc;
		}
	}
	if (!got)
		got = machine_advance(&b->p->machine, TIME_END, e);
	if (!got)
		got = machine_take_build_ids(&b->p->machine, b->rec, e);
	if (!got)
		got = recording_rewind(b->rec, e);
	while (nbad && nbad--) /* rewinding forgets them */
		recording_note_bad(b->rec, &bad);
	b->sideband_done = 1;
	return got;
}

static int read_records(struct builder *b, struct err *e)
{
	struct order *o;
	struct record r;
	struct record_id id;
	int got, rc = order_new(&o, b->rec, e);
	if (rc)
		return rc;
	while (!rc && (got = order_next(o, &r, &id, e)) != 0) {
		rc = got < 0 ? got : take_record(b, &r, &id, e);
		if (++b->records % TELL_EVERY == 0 && b->opt->progress)
			b->opt->progress(b->opt->progress_ctx, r.offset, b->rec->data_size);
	}
	order_free(o);
	return rc;
}

/* --- the end ---------------------------------------------------------------------------------
 */

/* Raw stack numbers → call paths. */
static int name_chains(struct builder *b, struct err *e)
{
	struct timeline *tl = b->tl;
	uint32_t *path = mem_zalloc(b->chains.n, sizeof(*path));
	int r = path ? 0 : err_nomem(e);
	if (!r && !b->sideband_done) {
		r = machine_advance(&b->p->machine, TIME_END, e);
		if (!r)
			r = machine_take_build_ids(&b->p->machine, b->rec, e);
	}
	for (size_t i = 1; !r && i < b->chains.n; i++)
		r = names_path(&b->p->names, &b->chains.v[i].entry, &path[i], e);
	for (size_t i = 0; !r && i < tl->off.n; i++) {
		tl->off.v[i].path = path[tl->off.v[i].path];
		tl->off.v[i].waker_path = path[tl->off.v[i].waker_path];
	}
	for (size_t i = 0; !r && i < tl->samples.n; i++)
		tl->samples.v[i].path = path[tl->samples.v[i].path];
	for (size_t i = 0; !r && i < tl->marks.n; i++)
		tl->marks.v[i].path = path[tl->marks.v[i].path];
	for (size_t i = 0; !r && i < tl->totals.n; i++)
		tl->totals.v[i].path = path[tl->totals.v[i].path];
	mem_free(path);
	return r;
}

/* 1 when the softirq of this stack was run by the current task's own system call (or by what
 * else it was doing), not on the way out of an interrupt nor by ksoftirqd. */
static int ran_inline(const struct stacks *s, uint32_t path)
{
	static const char *const yes[] = {"do_softirq", "__local_bh_enable_ip",
					  "do_softirq_own_stack"};
	static const char *const no[] = {"irq_exit", "irq_exit_rcu", "__irq_exit_rcu",
					 "run_ksoftirqd"};
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		const char *name = strtab_get(&s->strings, f->name);
		if (f->kind != FRAME_KERNEL)
			return 0;
		for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
			if (!strcmp(name, no[i]))
				return 0;
		for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
			if (!strcmp(name, yes[i]))
				return 1;
	}
	return 0;
}

static int settle_context(struct builder *b, struct err *e)
{
	struct timeline *tl = b->tl;
	struct u64map memo = {0};
	int r = 0;
	for (size_t i = 0; !r && i < tl->off.n; i++) {
		struct off *o = &tl->off.v[i];
		uint32_t inl;
		if (o->waker_context != WAKER_SOFTIRQ_INLINE)
			continue;
		if (!u64map_get(&memo, o->waker_path, &inl)) {
			inl = (uint32_t)ran_inline(tl->stacks, o->waker_path);
			r = u64map_put(&memo, o->waker_path, inl);
		}
		if (inl)
			continue;
		o->waker_context = WAKER_SOFTIRQ;
		o->waker = TL_NONE;
	}
	u64map_release(&memo);
	return r ? err_nomem(e) : 0;
}

/* perf's own process: named as the recorder's command, and there before the recording began. */
static int is_recorder(const struct builder *b, const struct tl_thread *t)
{
	const char *cmd = b->rec->features.cmdline, *comm;
	char name[16] = "perf";
	uint32_t seen;
	if (cmd && *cmd) {
		size_t n = strcspn(cmd, " "), base = n;
		while (base && cmd[base - 1] != '/')
			base--;
		n -= base;
		n = n < sizeof(name) - 1 ? n : sizeof(name) - 1;
		memcpy(name, cmd + base, n);
		name[n] = '\0';
	}
	comm = strtab_get(&b->p->stacks.strings, t->comm);
	return t->pid > 0 && !strcmp(comm, name) &&
	       !u64map_get(&b->execed, (uint64_t)(uint32_t)t->pid, &seen);
}

/* Kernel threads whose parent no record tells, by the names the kernel gives them. */
static int is_kernel_name(const char *comm)
{
	static const char *const globs[] = {"kworker/*", "ksoftirqd/*", "migration/*",
					    "rcu_*",     "kswapd*",     "kthreadd",
					    "cpuhp/*",   "watchdog/*"};
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++)
		if (!fnmatch(globs[i], comm, 0))
			return 1;
	return 0;
}

static void mark_system(struct builder *b)
{
	for (size_t i = 0; i < b->tl->threads.n; i++) {
		struct tl_thread *t = &b->tl->threads.v[i];
		uint32_t seen;
		int32_t pid = t->pid >= 0 ? t->pid : t->tid;
		if (u64map_get(&b->kernel_pids, (uint64_t)(uint32_t)pid, &seen) ||
		    (t->pid < 0 && is_kernel_name(strtab_get(&b->p->stacks.strings, t->comm))))
			t->flags |= THREAD_KERNEL;
		else if (is_recorder(b, t))
			t->flags |= THREAD_RECORDER;
	}
}

static int intern_opt(struct builder *b, const char *s, uint32_t *id)
{
	return strtab_intern(&b->p->stacks.strings, s ? s : "", id);
}

static const char *clock_name(const struct recording *rec)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",          "CLOCK_MONOTONIC",     "CLOCK_PROCESS_CPUTIME_ID",
		"CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE",
		"CLOCK_MONOTONIC_COARSE",  "CLOCK_BOOTTIME"};
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event_attr *a = &rec->events.v[i].attr;
		if (attr_flag(a, ATTR_USE_CLOCKID) && a->clockid >= 0 &&
		    (size_t)a->clockid < sizeof(names) / sizeof(*names))
			return names[a->clockid];
	}
	return "perf";
}

static int describe(struct builder *b, struct err *e)
{
	const struct features *f = &b->rec->features;
	struct tl_recording *out = &b->tl->rec;
	if (intern_opt(b, f->hostname, &out->host) || intern_opt(b, b->rec->name, &out->file) ||
	    intern_opt(b, clock_name(b->rec), &out->clock) ||
	    intern_opt(b, f->osrelease, &out->kernel) || intern_opt(b, f->arch, &out->arch) ||
	    intern_opt(b, f->cmdline, &out->cmdline))
		return err_nomem(e);
	out->origin_ns = b->first_ns;
	out->end_ns = b->last_ns;
	out->ncpus = f->cpus_available;
	if (f->has_clock_data && f->wall_ns) {
		out->wall_ns = f->wall_ns + (b->first_ns - f->clockid_ns);
		out->wall_exact = 1;
	}
	return 0;
}

static int finish(struct builder *b, struct err *e)
{
	int r = b->sched ? 0 : begin(b, e);
	if (!r)
		r = sched_finish(b->sched, b->last_ns, e);
	if (!r)
		r = spans_finish(b->spans, b->first_ns, b->last_ns, e);
	if (!r)
		r = name_chains(b, e);
	if (!r)
		r = settle_context(b, e);
	if (!r)
		mark_system(b);
	return r ? r : describe(b, e);
}

static void builder_free(struct builder *b)
{
	if (b->expander)
		b->p->unwinding = *expander_counts(b->expander);
	expander_free(b->expander);
	deferred_release(&b->deferred);
	sched_free(b->sched);
	spans_free(b->spans);
	span_roles_release(&b->roles);
	tracepoints_free(b->formats);
	vec_release(&b->events);
	vec_release(&b->chains);
	vec_release(&b->throttles);
	idmap_release(&b->chain_index);
	u64map_release(&b->kernel_pids);
	u64map_release(&b->execed);
	arena_release(&b->words);
	mem_free(b);
}

int timeline_build(struct profile *p, const struct build_options *opt, struct timeline *tl,
		   struct err *e)
{
	*tl = (struct timeline){.stacks = &p->stacks};
	struct builder *b = mem_zalloc(1, sizeof(*b));
	if (!b)
		return err_nomem(e);
	b->p = p;
	b->rec = p->rec;
	b->opt = opt;
	b->tl = tl;
	int r = timeline_init(tl, &p->stacks) || vec_push(&b->chains, (struct raw_chain){0})
			? err_nomem(e)
			: 0;
	if (!r && recording_is_mapped(b->rec))
		r = read_sideband(b, e);
	if (!r)
		r = read_records(b, e);
	if (!r)
		r = finish(b, e);
	builder_free(b);
	return r;
}
