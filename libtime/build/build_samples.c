/* build_samples.c - puts samples into the state machine and timeline; see build_internal.h. */
#include "base/count.h"
#include "base/mem.h"
#include "libtime/build/build_internal.h"
#include "libtime/sched/syscalls.h"

#include <stdio.h>
#include <string.h>

/* --- tracepoints of the scheduler ----------------------------------------------------- */

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

/* By the interrupt bits of the record. Whether a softirq ran in the current task's own system
 * call is found from the stack, at the end (resolve_context). */
static uint8_t context_of(const struct sample *s)
{
	uint8_t flags = tp_common_flags(s->raw, s->raw_size);
	if (flags & TP_HARDIRQ)
		return WAKER_HARDIRQ;
	if (flags & TP_SOFTIRQ)
		return s->tid > 0 ? WAKER_SOFTIRQ_INLINE : WAKER_SOFTIRQ;
	return s->tid == 0 ? WAKER_IDLE : WAKER_TASK;
}

void builder_event(const struct record_id *id, uint8_t kind, struct sched_event *ev)
{
	mem_clear(ev, sizeof(*ev));
	ev->time_ns = id->time;
	ev->pid = id->has_tid ? id->pid : -1;
	ev->tid = id->has_tid ? id->tid : -1;
	ev->prev_tid = ev->next_tid = ev->target_tid = ev->target_pid = -1;
	ev->next_prio = -1;
	ev->cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU;
	ev->kind = kind;
}

/* A thread's name: of the field that all kernels have, the bytes are there to be read. */
static const char *comm_field(const struct tp_field *f, const struct sample *s, int swap,
			      struct sched_event *ev)
{
	if (f->size == SCHED_COMM_SIZE && !f->is_dynamic && f->offset <= s->raw_size &&
	    f->size <= s->raw_size - f->offset)
		return (const char *)s->raw + f->offset;
	ev->whole_comms = 0;
	return tp_text(f, s->raw, s->raw_size, swap);
}

static uint16_t cpu_field(const struct tp_field *f, const struct sample *s, int swap)
{
	int64_t cpu = f->size ? tp_int(f, s->raw, s->raw_size, swap) : -1;
	return cpu >= 0 && cpu < TL_NOCPU ? (uint16_t)cpu : TL_NOCPU;
}

/* A copy of `s` without the user's part of its stack. */
static const struct sample *kernel_part(const struct sample *s, int swap, struct sample *copy)
{
	size_t n = 0;
	while (n < s->callchain.n &&
	       load_u64(s->callchain.p + n * 8, swap) != PERF_CONTEXT_USER)
		n++;
	*copy = *s;
	copy->callchain.n = n;
	copy->regs_abi = copy->stack_size = copy->stack_dyn = 0;
	return copy;
}

static int handle_sched(struct builder *b, const struct source_event *se,
			const struct sample *s, const struct record_id *id, struct err *e)
{
	struct sched_event ev;
	struct sample kernel;
	int swap = b->rec->swap, r = 0;
	builder_event(id, se->kind, &ev);
	ev.whole_comms = 1;
	if (se->kind == SCHED_SWITCH) {
		ev.prev_tid = (int32_t)tp_int(&se->a, s->raw, s->raw_size, swap);
		ev.next_tid = (int32_t)tp_int(&se->c, s->raw, s->raw_size, swap);
		ev.next_prio = (int16_t)tp_int(&se->d, s->raw, s->raw_size, swap);
		ev.prev_comm = comm_field(&se->e, s, swap, &ev);
		ev.next_comm = comm_field(&se->f, s, swap, &ev);
		ev.syscall = builder_syscall_of(b, ev.prev_tid);
		if (s->period > 1) /* it stands for several switches, whatever the attr says */
			b->tl->flags |= TL_SAMPLED;
		r = state_of(b, (uint64_t)tp_int(&se->b, s->raw, s->raw_size, swap), &ev);
	} else if (se->kind != SCHED_LEAVING) {
		ev.target_tid = (int32_t)tp_int(&se->a, s->raw, s->raw_size, swap);
		ev.target_comm = comm_field(&se->e, s, swap, &ev);
		ev.context = context_of(s);
		ev.from_cpu = cpu_field(&se->b, s, swap);
		ev.to_cpu = cpu_field(&se->c, s, swap);
		if (b->opt->no_bystanders && ev.context == WAKER_HARDIRQ)
			s = kernel_part(s, swap, &kernel);
	}
	int stack =
		(se->chain || b->expander) &&
		(se->kind == SCHED_WAKING || se->kind == SCHED_WAKEUP ||
		 se->kind == SCHED_WAKEUP_NEW || se->kind == SCHED_LEAVING ||
		 (se->kind == SCHED_SWITCH && ev.prev_tid > 0 && ev.state_class != STATE_DEAD));
	if (!r && stack)
		r = builder_chain(b, s, &ev.path);
	if (!r && se->kind == SCHED_SWITCH && ev.state_class == STATE_BLOCKED)
		r = builder_argument(b, s, &ev.arg);
	ev.no_stack = !ev.path;
	if (r)
		return err_nomem(e);
	return b->hit_ns && se->kind != SCHED_LEAVING
		       ? sched_add_stack(b->sched, &ev, b->hit_ns, e)
		       : sched_event(b->sched, &ev, e);
}

/* Where no times were recorded, the place in the file stands for them, except in what is kept.
 */
static uint64_t sample_time(const struct sample *s)
{
	return s->event->attr.sample_type & PERF_SAMPLE_TIME ? s->time : 0;
}

/* --- other samples ------------------------------------------------------------------- */

int builder_note_current(struct builder *b, const struct record_id *id, struct err *e)
{
	struct sched_event ev;
	if (id->cpu >= TL_NOCPU)
		return 0;
	builder_event(id, SCHED_OTHER, &ev);
	return sched_event(b->sched, &ev, e);
}

/* The thread's name at that time. */
static int comm_of(struct builder *b, const struct sample *s, uint32_t *comm)
{
	const struct thread_view *v = builder_view(b, s->pid, s->tid, s->time);
	*comm = v->comm;
	if (*comm != NO_ID)
		return 0;
	modules_lock(b->p->modules);
	int r = profile_tid_comm(b->p, s->tid, comm);
	modules_unlock(b->p->modules);
	return r;
}

/* For the idle task, exiting threads that no longer have a tid, and tids that records assign to
 * several processes. */
static int pseudo_thread(struct builder *b, const struct sample *s, uint32_t *thread,
			 struct err *e)
{
	uint64_t key = (uint64_t)(uint32_t)s->pid << 32 | (uint32_t)s->tid;
	if (u64map_get(&b->pseudo_threads, key, thread))
		return 0;
	int r = sched_pseudo_thread(b->sched, s->pid, s->tid, s->time, thread, e);
	if (!r && (comm_of(b, s, &b->tl->threads.v[*thread].comm) ||
		   u64map_put(&b->pseudo_threads, key, *thread)))
		r = err_nomem(e);
	return r;
}

static int push_sample(struct builder *b, const struct sample *s, const struct event *ev,
		       uint64_t period, const struct record_id *id, struct err *e)
{
	struct tl_sample x = {.time_ns = sample_time(s),
			      .period = period,
			      .event = (uint16_t)ev->index,
			      .cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	int r = sched_thread(b->sched, s->pid, s->tid, NULL, &x.thread, e);
	if (r || b->opt->no_samples)
		return r;
	if (builder_apply_pending(b, s->time))
		return err_nomem(e);
	/* a thread without a pid may later get another one than this sample's -1 */
	if ((x.thread == TL_NONE || s->pid < 0 || b->tl->threads.v[x.thread].pid != s->pid) &&
	    (r = pseudo_thread(b, s, &x.thread, e)))
		return r;
	if (comm_of(b, s, &x.comm) || builder_stack(b, s, &x.path))
		return err_nomem(e);
	return bigvec_push(&b->tl->samples, x, e);
}

static int push_event_sample(struct builder *b, const struct sample *s, const struct event *ev,
			     uint64_t period, const struct record_id *id, struct err *e)
{
	struct tl_event_sample x = {
		.time_ns = s->time < SAMPLE_DUMMY_TIMES ? sample_time(s) : SAMPLE_DUMMY_TIMES,
		.period = period,
		.pid = s->pid,
		.tid = s->tid,
		.event = (uint16_t)ev->index,
		.cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	if (builder_apply_pending(b, s->time) || comm_of(b, s, &x.comm) ||
	    builder_stack(b, s, &x.path))
		return err_nomem(e);
	return bigvec_push(&b->tl->event_samples, x, e);
}

/* Only count the sample, by event. */
static int count_event_sample(struct builder *b, const struct sample *s, const struct event *ev,
			      uint64_t period)
{
	struct tl_event *te = &b->tl->events.v[ev->index];
	uint64_t time = s->time < SAMPLE_DUMMY_TIMES ? sample_time(s) : SAMPLE_DUMMY_TIMES;
	te->counted++;
	te->counted_period += period;
	if (sample_is_time(time) && time < te->first_ns)
		te->first_ns = time;
	if (sample_is_time(time) && time > te->last_ns)
		te->last_ns = time;
	return 0;
}

/* Add `s` as a sample of `ev`. */
static int push_as(struct builder *b, const struct sample *s, const struct event *ev,
		   uint64_t period, const struct record_id *id, struct err *e)
{
	b->weight = count_add(b->weight, period);
	if (b->weight > INT64_MAX)
		return err_set(e, ERR_LIMIT, "the weights add up to more than 2^63");
	if (b->events.v[ev->index].role == ROLE_SAMPLE)
		return push_sample(b, s, ev, period, id, e);
	return b->keeps_event_samples ? push_event_sample(b, s, ev, period, id, e)
				      : count_event_sample(b, s, ev, period);
}

/* Count a sample as libsym/aggregate does: for its event, or for each counter that it reads and
 * that has changed. */
static int count_sample(struct builder *b, const struct sample *s, const struct record_id *id,
			struct err *e)
{
	const struct event *ev;
	uint64_t at = 0, moved;
	int got, r = 0;
	if (!(s->event->attr.sample_type & PERF_SAMPLE_READ))
		return push_as(b, s, s->event, s->period, id, e);
	while (!r && (got = counters_next(&b->counters, b->rec, s, &at, &ev, &moved)) == 1)
		r = push_as(b, s, ev, moved, id, e);
	return r ? r : got < 0 ? err_nomem(e) : 0;
}

/* One name for all events of a tracepoint. */
static uint32_t mark_name(const struct builder *b, const struct source_event *se)
{
	return se->twin ? b->events.v[se->original].name : se->name;
}

/* A mark that another event has made gets the stack. */
static int add_mark_stack(struct builder *b, const struct source_event *se,
			  const struct sample *s, uint16_t cpu)
{
	for (size_t i = b->tl->marks.n; i-- > 0 && b->tl->marks.v[i].time_ns >= b->hit_ns;) {
		struct tl_mark *x = &b->tl->marks.v[i];
		if (x->time_ns == b->hit_ns && x->name == mark_name(b, se) && x->cpu == cpu)
			return x->path ? 0 : builder_chain(b, s, &x->path);
	}
	return 0;
}

static int handle_mark(struct builder *b, const struct source_event *se, const struct sample *s,
		       const struct record_id *id, struct err *e)
{
	struct tl_mark x = {.time_ns = s->time,
			    .name = mark_name(b, se),
			    .cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	int r = builder_note_current(b, id, e);
	if (!r && b->hit_ns)
		return add_mark_stack(b, se, s, x.cpu) ? err_nomem(e) : 0;
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
	if (r || builder_chain(b, s, &x.path) || vec_push(&b->tl->marks, x))
		return err_nomem(e);
	return 0;
}

/* The interrupted thread has nothing to do with it. */
static int handle_timer(struct builder *b, const struct source_event *se,
			const struct sample *s, const struct record_id *id, struct err *e)
{
	struct tl_mark x = {.time_ns = s->time,
			    .name = mark_name(b, se),
			    .thread = TL_NONE,
			    .cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	uint64_t function = (uint64_t)tp_int(&se->a, s->raw, s->raw_size, b->rec->swap);
	if (builder_kernel_function(b, s, function, &x.path) || vec_push(&b->tl->marks, x))
		return err_nomem(e);
	return builder_note_current(b, id, e);
}

/* The direct kind of --off-cpu, perf 6.16 and later: its time is the end of the wait. */
static int handle_direct(struct builder *b, const struct sample *s, const struct record_id *id,
			 struct err *e)
{
	struct sched_event ev;
	if (!s->raw || s->period > s->time)
		return 0;
	builder_event(id, SCHED_DIRECT, &ev);
	ev.from_ns = s->time - s->period;
	ev.target_tid = s->tid;
	ev.target_pid = s->pid;
	b->tl->flags |= TL_HAS_DIRECT;
	if (builder_chain(b, s, &ev.path))
		return err_nomem(e);
	ev.no_stack = !ev.path;
	return sched_event(b->sched, &ev, e);
}

static int handle_total(struct builder *b, const struct sample *s, struct err *e)
{
	struct tl_offcpu_total x = {.ns = s->period, .count = 1};
	int r = sched_thread(b->sched, s->pid, s->tid, NULL, &x.thread, e);
	if (r || x.thread == TL_NONE)
		return r;
	b->tl->flags |= TL_HAS_TOTALS;
	if (builder_apply_pending(b, s->time) || comm_of(b, s, &x.comm) ||
	    builder_chain(b, s, &x.path) || vec_push(&b->tl->totals, x))
		return err_nomem(e);
	return 0;
}

/* --- system calls --------------------------------------------------------------------- */

static int call_index(struct builder *b, const struct source_event *se, int64_t number,
		      int64_t op, uint32_t *index)
{
	uint64_t key = (uint64_t)number << 8 | (uint64_t)(op + 1);
	char name[SYSCALL_TEXT], text[SYSCALL_TEXT];
	const char *arch = b->rec->features.arch;
	uint16_t i;
	if (u64map_get(&b->syscall_index, key, index))
		return 0;
	syscall_name(arch ? arch : "", number, name);
	syscall_text(*se->call ? se->call : name, number, op, text);
	if (timeline_syscall(b->tl, text, &i))
		return ERR_NOMEM;
	*index = i;
	return u64map_put(&b->syscall_index, key, i);
}

static int handle_enter(struct builder *b, const struct source_event *se,
			const struct sample *s, const struct record_id *id, struct err *e)
{
	enum { OPS = 127 };
	int64_t number = tp_int(&se->a, s->raw, s->raw_size, b->rec->swap), op = -1;
	char name[SYSCALL_TEXT];
	const char *arch = b->rec->features.arch, *call = se->call;
	uint32_t index;
	if (!*call && syscall_name(arch ? arch : "", number, name))
		call = name;
	if (se->b.size && !strcmp(call, "futex"))
		op = tp_int(&se->b, s->raw, s->raw_size, b->rec->swap) & OPS;
	if (call_index(b, se, number, op, &index) ||
	    u64map_put(&b->in_syscall, (uint32_t)s->tid, index))
		return err_nomem(e);
	return builder_note_current(b, id, e);
}

static int handle_leave(struct builder *b, const struct sample *s, const struct record_id *id,
			struct err *e)
{
	if (u64map_put(&b->in_syscall, (uint32_t)s->tid, 0))
		return err_nomem(e);
	return builder_note_current(b, id, e);
}

uint16_t builder_syscall_of(const struct builder *b, int32_t tid)
{
	uint32_t index;
	return tid > 0 && u64map_get(&b->in_syscall, (uint32_t)tid, &index) ? (uint16_t)index
									    : 0;
}

/* --- spans, and all kinds ------------------------------------------------------------- */

/* Of a hit that another event has reported, only the counters are new. */
static int handle_spans(struct builder *b, const struct source_event *se,
			const struct sample *s, const struct record_id *id, struct err *e)
{
	struct span_event ev = {.time_ns = s->time,
				.cpu = id->cpu < TL_NOCPU ? (uint16_t)id->cpu : TL_NOCPU};
	struct span_reading reading;
	int r = sched_thread(b->sched, s->pid, s->tid, NULL, &ev.thread, e);
	int read = r ? 0 : builder_reading(b, s, ev.thread, &reading);
	if (read < 0)
		return err_nomem(e);
	if (read)
		ev.reading = &reading;
	else if (b->hit_ns)
		return r;
	if (b->hit_ns)
		ev.time_ns = b->hit_ns;
	for (uint32_t i = 0; !r && i < se->nroles; i++) {
		const struct span_role *role = &b->roles.v.v[se->role_at + i];
		ev.kind = role->kind;
		ev.end = role->end;
		ev.key = span_key_of(&role->key, s->raw, s->raw_size, b->rec->swap);
		if (!b->hit_ns)
			r = spans_event(b->spans, &ev, e);
		else if (spans_reading(b->spans, &ev))
			r = err_nomem(e);
	}
	return r;
}

/* What the sample means for threads and CPUs. Of a hit that another event has reported, only
 * the stack is new. */
static int handle_role(struct builder *b, const struct source_event *se, const struct sample *s,
		       const struct record_id *id, struct err *e)
{
	if (b->hit_ns && se->role != ROLE_SCHED && se->role != ROLE_MARK)
		return builder_note_current(b, id, e);
	switch (se->role) {
	case ROLE_SCHED:
		return handle_sched(b, se, s, id, e);
	case ROLE_MARK:
		return handle_mark(b, se, s, id, e);
	case ROLE_TIMER:
		return handle_timer(b, se, s, id, e);
	case ROLE_ENTER:
		return handle_enter(b, se, s, id, e);
	case ROLE_LEAVE:
		return handle_leave(b, s, id, e);
	case ROLE_IRQ_ENTRY:
	case ROLE_IRQ_EXIT:
		return builder_handle_irq(b, se, s, id, e);
	case ROLE_TOTAL:
		return s->time < SAMPLE_DUMMY_TIMES ? handle_direct(b, s, id, e)
						    : handle_total(b, s, e);
	default:
		return builder_note_current(b, id, e);
	}
}

/* Set what order_next leaves out. The task of --off-cpu samples is not the one that waited. */
static void complete_id(const struct builder *b, const struct source_event *se,
			const struct record *r, const struct sample *s, struct record_id *id)
{
	if (se->role == ROLE_TOTAL && sample_is_off_cpu(s->event))
		recording_id_of(b->rec, r, s->event, id);
	id->cpu = s->cpu;
	if (id->has_tid || !(s->event->attr.sample_type & PERF_SAMPLE_TID))
		return;
	id->pid = s->pid;
	id->tid = s->tid;
	id->has_tid = 1;
}

int builder_handle_sample(struct builder *b, const struct record *r, struct record_id *id,
			  struct err *e)
{
	const struct event *ev = id->event;
	struct sample s;
	struct err why; /* set on failure; clearing it takes a tenth of a sample's time */
	if (!ev || ev->index >= b->events.n) {
		b->p->totals.no_event++;
		return 0;
	}
	if (sample_decode(r, ev, b->rec->swap, &s, &why)) {
		bad_records_note(&b->bad, r->offset, &why);
		return 0;
	}
	if (b->opt->watch)
		b->opt->watch(b->opt->watch_ctx, b->rec, r, id, &s);
	if (!b->sideband_done)
		chain_limits_note(&b->p->names.chains, &s);
	if (!(ev->attr.sample_type & PERF_SAMPLE_TIME))
		s.time = r->offset;
	if (b->opt->activity && activity_add(&b->p->activity, s.pid, s.time))
		return err_nomem(e);
	const struct source_event *se = &b->events.v[ev->index];
	b->chain_known = 0;
	b->chains.stay = recording_holds(b->rec, r->p);
	complete_id(b, se, r, &s, id);
	b->chains.cpu = id->cpu;
	if (sample_in_guest(&s)) {
		b->p->totals.guest++;
		return builder_note_current(b, id, e);
	}
	b->hit_ns = 0;
	if (se->twin && builder_twin(b, se, &s, id))
		return err_nomem(e);
	int rc = se->nroles ? handle_spans(b, se, &s, id, e) : 0;
	if (!rc)
		rc = handle_role(b, se, &s, id, e);
	return rc ? rc : count_sample(b, &s, id, e);
}
