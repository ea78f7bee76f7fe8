/* build_events.c - what the samples of each event mean; see build_internal.h. */
#include "libtime/build/build_internal.h"
#include "libtime/sched/timeline_query.h"

#include <string.h>

static int tp_is(const struct tracepoint *tp, const char *system, const char *name)
{
	return !strcmp(tp->system, system) && !strcmp(tp->name, name);
}

/* Find the fields that are used:
 *	switch: a prev_pid, b prev_state, c next_pid, d next_prio, e prev_comm, f next_comm
 *	others: a the thread it is about, e its name; migrate: b orig_cpu, c dest_cpu; wakeups:
 *	c target_cpu, for wakings the CPU it slept on */
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
	if (se->kind == SCHED_MIGRATE) {
		tracepoint_field(tp, "orig_cpu", &se->b);
		tracepoint_field(tp, "dest_cpu", &se->c);
	} else if (se->kind == SCHED_WAKEUP || se->kind == SCHED_WAKEUP_NEW) {
		tracepoint_field(tp, "target_cpu", &se->c);
	}
}

static int is_sched(const struct tracepoint *tp, struct source_event *se)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} map[] = {
		{"sched_switch", SCHED_SWITCH},        {"sched_waking", SCHED_WAKING},
		{"sched_wakeup", SCHED_WAKEUP},        {"sched_wakeup_new", SCHED_WAKEUP_NEW},
		{"sched_migrate_task", SCHED_MIGRATE}, {"sched_process_fork", SCHED_FORK},
		{"sched_process_exit", SCHED_EXIT},
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

/* raw_syscalls:sys_enter (a number, b futex's operation), syscalls:sys_enter_NAME (b the same,
 * named by the tracepoint), and the exits. */
static int is_syscall(const struct tracepoint *tp, struct source_event *se)
{
	int raw = !strcmp(tp->system, "raw_syscalls");
	if (!raw && strcmp(tp->system, "syscalls"))
		return 0;
	const char *enter = raw ? "sys_enter" : "sys_enter_";
	se->role = !strncmp(tp->name, enter, strlen(enter)) ? ROLE_ENTER
		   : !strncmp(tp->name, "sys_exit", 8)      ? ROLE_LEAVE
							    : ROLE_NONE;
	if (se->role != ROLE_ENTER)
		return 1;
	se->call = raw ? "" : tp->name + strlen(enter);
	tracepoint_field(tp, raw ? "id" : "__syscall_nr", &se->a);
	tracepoint_field(tp, raw ? "args" : "op", &se->b);
	if (raw) { /* the second of six */
		se->b.size /= 6;
		se->b.offset += se->b.size;
	}
	return 1;
}

static int is_timer(const struct tracepoint *tp, struct source_event *se)
{
	if (!tp_is(tp, "timer", "timer_expire_entry"))
		return 0;
	tracepoint_field(tp, "function", &se->a);
	se->role = ROLE_TIMER;
	return 1;
}

/* Kernel tracepoints that are too frequent to be useful as single marks, but for the idle
 * states of CPUs. */
static int is_noise(const struct tracepoint *tp)
{
	static const char *const systems[] = {
		"sched",      "irq",   "irq_vectors", "timer", "syscalls", "raw_syscalls",
		"exceptions", "power", "lock",        "kmem",  "ipi",      "rcu"};
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(tp->system, systems[i]))
			return !tp_is(tp, "power", "cpu_idle");
	return 0;
}

static uint8_t stacks_of(uint64_t sample_type)
{
	if (!(sample_type & PERF_SAMPLE_CALLCHAIN))
		return STACKS_NONE;
	return sample_type & PERF_SAMPLE_STACK_USER     ? STACKS_DWARF
	       : sample_type & PERF_SAMPLE_BRANCH_STACK ? STACKS_LBR
							: STACKS_FRAME_POINTERS;
}

static int classify(struct builder *b, const struct event *ev)
{
	struct source_event se = {.chain = !!(ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN)};
	struct tl_event te = {.tracepoint = (uint8_t)ev->is_tracepoint,
			      .stacks = stacks_of(ev->attr.sample_type),
			      .skid = (uint8_t)event_skid(ev),
			      .counts = (uint8_t)event_role(ev),
			      .group = event_group(b->rec->events.v, ev->index),
			      .first_ns = UINT64_MAX};
	const struct tracepoint *tp = tracepoint_of(b->formats, ev);
	const char *name = ev->name ? ev->name : "";
	if (strtab_intern(&b->p->stacks.strings, name, &se.name))
		return ERR_NOMEM;
	if (tp && is_sched(tp, &se)) {
		te.sched = 1;
		if (se.kind == SCHED_SWITCH) {
			b->tl->flags |= TL_HAS_SWITCH;
			if (attr_samples_tracepoint(&ev->attr))
				b->tl->flags |= TL_SAMPLED;
			prevstate_parse(&b->prevstate, tp->format, tp->format_size, NULL);
		}
		b->tl->flags |= se.kind == SCHED_WAKING   ? TL_HAS_WAKING
				: se.kind == SCHED_WAKEUP ? TL_HAS_WAKEUP
							  : 0u;
	} else if (!tp && ev->is_tracepoint && !strcmp(name, "sched:sched_switch")) {
		se.role = ROLE_SCHED;
		se.kind = SCHED_LEAVING;
		te.sched = 1;
	} else if (ev->is_tracepoint &&
		   !(tp &&
		     (is_syscall(tp, &se) || builder_is_irq(tp, &se) || is_timer(tp, &se)))) {
		se.role = !tp || is_noise(tp) ? ROLE_NONE : ROLE_MARK;
	} else if (event_name_is_off_cpu(name)) {
		se.role = ROLE_TOTAL;
		se.chain = 1;
	}
	if (attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH))
		b->tl->flags |= TL_HAS_RECORDS;
	if (attr_flag(&ev->attr, ATTR_ENABLE_ON_EXEC))
		b->per_task = 1;
	te.name = se.name;
	return vec_push(&b->events, se) || vec_push(&b->tl->events, te) ? ERR_NOMEM : 0;
}

int build_has_scheduler(const struct recording *rec)
{
	struct tracepoints *formats;
	int has = 0, rc = tracepoints_new(&formats, rec, NULL);
	for (size_t i = 0; !rc && !has && i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		const struct tracepoint *tp = tracepoint_of(formats, ev);
		has = (tp && tp_is(tp, "sched", "sched_switch")) ||
		      attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH);
	}
	tracepoints_free(formats);
	return has;
}

/* Events that begin or end spans are not marks. */
static int begin_spans(struct builder *b, struct err *e)
{
	int r = spans_new(b->tl, &b->spans, e);
	if (!r)
		r = spandefs_find(&b->roles, b->spans, &b->p->stacks.strings, b->rec,
				  b->formats, b->opt->spans, b->opt->nspans, e);
	for (size_t i = 0; !r && i < b->roles.v.n; i++) {
		struct span_role *x = &b->roles.v.v[i];
		if (b->events.v[x->event].twin)
			x->event = b->events.v[x->event].original;
	}
	span_roles_order(&b->roles);
	for (uint32_t i = 0; !r && i < b->roles.v.n; i++) {
		struct source_event *se = &b->events.v[b->roles.v.v[i].event];
		if (!se->nroles++)
			se->role_at = i;
		if (se->role == ROLE_MARK)
			se->role = ROLE_NONE;
	}
	builder_share_roles(b);
	return r;
}

size_t build_switch_cpus(const struct recording *rec)
{
	size_t most = 0;
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		int shows_switches = attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH) ||
				     (ev->name && !strncmp(ev->name, "sched:sched_switch", 18));
		if (shows_switches && ev->ids.n > most)
			most = ev->ids.n;
	}
	return most;
}

/* Were only some CPUs recorded? Then switches have fewer instances than the host has CPUs. */
static int some_cpus(const struct builder *b)
{
	size_t most = build_switch_cpus(b->rec);
	return b->system_wide && most && most < b->rec->features.cpus_online;
}

/* Called before the first record with a time, when formats and the kind of recording are known.
 */
int builder_begin(struct builder *b, struct err *e)
{
	int r = tracepoints_new(&b->formats, b->rec, e);
	for (size_t i = 0; !r && i < b->rec->events.n; i++)
		if (classify(b, &b->rec->events.v[i]))
			r = err_nomem(e);
	if (!r && builder_find_twins(b))
		r = err_nomem(e);
	if (!r)
		r = begin_spans(b, e);
	b->keeps_event_samples = b->opt->event_samples == EVENT_SAMPLES_ALL ||
				 (b->opt->event_samples && !timeline_has_switches(b->tl));
	if (!r && b->per_task && !b->system_wide)
		b->tl->flags |= TL_PER_TASK;
	if (!r && some_cpus(b))
		b->tl->flags |= TL_SOME_CPUS;
	if (!r && expander_needed(b->rec))
		r = expander_new(&b->expander, b->rec, &b->p->machine, b->p->modules,
				 &b->deferred, b->p->names.opt.max_stack, e);
	return r ? r : sched_new(b->tl, &b->sched, e);
}
