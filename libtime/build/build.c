#include "libtime/build/build.h"
#include "base/mem.h"
#include "libparse/order.h"
#include "libsym/process/jit_files.h"
#include "libtime/build/build_internal.h"

#include <string.h>
#include <unistd.h>

enum {
	PROGRESS_EVERY = 1 << 14, /* records between two reports of progress */
	APPLY_EVERY = 4096,       /* records that the machine collects before it applies them */
};

/* --- side-band ------------------------------------------------------------------------ */

static int note_task(struct builder *b, const struct record_task *t)
{
	if (t->pid == 2 || t->ppid == 2)
		return u64map_put(&b->kernel_pids, (uint64_t)(uint32_t)t->pid, 1);
	return 0;
}

static int handle_task(struct builder *b, const struct record *r, const struct record_id *id,
		       struct err *e)
{
	struct record_task t;
	struct sched_event ev;
	if (record_task_decode(r, b->rec->swap, &t, NULL))
		return 0;
	if (note_task(b, &t))
		return err_nomem(e);
	uint32_t thread;
	if (!id->has_time || !id->time) /* synthesized by perf for an existing thread */
		return sched_thread(b->sched, t.pid, t.tid, NULL, &thread, e);
	builder_event(id, r->type == PERF_RECORD_FORK ? SCHED_FORK : SCHED_EXIT, &ev);
	ev.target_tid = t.tid;
	ev.target_pid = t.pid;
	char comm[SCHED_COMM_SIZE] = "";
	if (r->type == PERF_RECORD_FORK) /* kernel/fork.c copies it */
		sched_comm_of(b->sched, t.ptid, comm);
	ev.target_comm = comm;
	return sched_event(b->sched, &ev, e);
}

static int handle_comm(struct builder *b, const struct record *r, const struct record_id *id,
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
	builder_event(id, SCHED_COMM, &ev);
	ev.target_tid = c.tid;
	ev.target_pid = c.pid;
	ev.target_comm = c.comm;
	return sched_event(b->sched, &ev, e);
}

static int handle_switch(struct builder *b, const struct record *r, const struct record_id *id,
			 struct err *e)
{
	struct record_switch sw;
	struct sched_event ev;
	if (record_switch_decode(r, b->rec->swap, &sw, NULL) || !id->has_tid)
		return 0;
	b->tl->flags |= TL_HAS_RECORDS;
	builder_event(id, sw.out ? SCHED_OUT : SCHED_IN, &ev);
	ev.preempt = (uint8_t)sw.preempt;
	ev.syscall = builder_syscall_of(b, ev.tid);
	ev.no_stack = 1;
	return sched_event(b->sched, &ev, e);
}

static int handle_lost(struct builder *b, const struct record *r, const struct record_id *id,
		       struct err *e)
{
	struct record_lost l;
	struct sched_event ev;
	if (record_lost_decode(r, b->rec->swap, &l, NULL))
		return 0;
	builder_event(id, SCHED_LOST, &ev);
	ev.count = l.lost;
	u64map_release(&b->in_syscall); /* an exit may be among the lost */
	return sched_event(b->sched, &ev, e);
}

/* struct { header; u64 time, id, stream_id; } */
static int handle_throttle(struct builder *b, const struct record *r,
			   const struct record_id *id, struct err *e)
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
	builder_event(id, SCHED_THROTTLED, &ev);
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

/* As in libsym/collect: without times, positions in the file replace them. */
static uint64_t machine_time(const struct builder *b, const struct record *r,
			     const struct record_id *id)
{
	if (!b->timed)
		return r->offset;
	return id->has_time ? id->time : 0;
}

static int update_machine(struct builder *b, const struct record *r, uint64_t ns, struct err *e)
{
	if (b->sideband_done || !record_is_sideband(r->type))
		return 0;
	struct err why = {0};
	int rc = machine_apply(&b->p->machine, b->rec, r, ns, &why);
	if (rc == ERR_FORMAT) {
		bad_records_note(&b->bad, r->offset, &why);
		return 0;
	}
	b->pending = 1;
	if (!rc && b->p->machine.pending.n >= b->pending_max) {
		rc = builder_apply_pending(b, ns) ? err_nomem(&why) : 0;
		/* records of later times are left: do not sort them again for each record */
		b->pending_max = APPLY_EVERY + 2 * b->p->machine.pending.n;
	}
	if (rc && e)
		*e = why;
	return rc;
}

static int handle_record(struct builder *b, const struct record *r, struct record_id *id,
			 struct err *e)
{
	int rc = r->type == PERF_RECORD_SAMPLE
			 ? 0
			 : update_machine(b, r, machine_time(b, r, id), e);
	if (rc)
		return rc;
	if (b->opt->watch && r->type != PERF_RECORD_SAMPLE)
		b->opt->watch(b->opt->watch_ctx, b->rec, r, id, NULL);
	if (r->type == PERF_RECORD_THREAD_MAP && !b->sched)
		note_thread_map(b, r);
	if (r->type == PERF_RECORD_ID_INDEX && builder_read_id_index(b, r))
		return err_nomem(e);
	if (r->type == PERF_RECORD_CALLCHAIN_DEFERRED && !b->sideband_done &&
	    deferred_add(&b->deferred, r, b->rec->swap, NULL) == ERR_NOMEM)
		return err_nomem(e);
	if (r->type >= PERF_RECORD_HEADER_ATTR)
		return 0;
	if (!b->sched && (rc = builder_begin(b, e)))
		return rc;
	if (id->has_time && id->time && sample_is_time(id->time)) {
		if (!b->first_ns)
			b->first_ns = id->time;
		b->last_ns = id->time;
	}
	if (r->type == PERF_RECORD_SAMPLE)
		return builder_handle_sample(b, r, id, e);
	if (id->has_time && !sample_is_time(id->time))
		return 0;
	switch (r->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
		modules_lock(b->p->modules); /* names of threads are interned */
		rc = r->type == PERF_RECORD_COMM ? handle_comm(b, r, id, e)
						 : handle_task(b, r, id, e);
		modules_unlock(b->p->modules);
		return rc;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return handle_switch(b, r, id, e);
	case PERF_RECORD_LOST:
		return handle_lost(b, r, id, e);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return handle_throttle(b, r, id, e);
	default:
		return id->has_time && id->time && id->has_tid ? builder_note_current(b, id, e)
							       : 0;
	}
}

/* --- reading -------------------------------------------------------------------------- */

/*
 * Side-band records must be read before samples if stacks are unwound, since that opens files;
 * if these records have no times; and if a ring buffer is written backward, because perf then
 * writes what existed at the end (--tail-synthesize).
 */
static int sideband_first(const struct recording *rec)
{
	int first = rec->pipe_mode || expander_needed(rec);
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event_attr *a = &rec->events.v[i].attr;
		first |= !attr_flag(a, ATTR_SAMPLE_ID_ALL) ||
			 !(a->sample_type & PERF_SAMPLE_TIME) ||
			 attr_flag(a, ATTR_WRITE_BACKWARD);
	}
	return first;
}

/* Records before the first sample that must be known before the first record is handled. */
static int read_head(struct builder *b, struct err *e)
{
	struct record r;
	int got;
	while ((got = recording_next(b->rec, &r, e)) == 1 && r.type != PERF_RECORD_SAMPLE)
		if (r.type == PERF_RECORD_THREAD_MAP)
			note_thread_map(b, &r);
	return got < 0 ? got : recording_rewind(b->rec, e);
}

/* Read a file's mappings and names before all samples. */
static int read_sideband(struct builder *b, struct err *e)
{
	enum { RUN_MAX = 1 << 20 };
	struct record r;
	struct record_run run;
	struct record_id id;
	struct bad_records bad = {0};
	int got;
	for (;;) {
		while (recording_sample_run(b->rec, RUN_MAX, &run))
			/* samples are read later, in order of time */
			chain_limits_note_run(&b->p->names.chains, run.p, run.end);
		got = recording_next(b->rec, &r, e);
		if (got != 1)
			break;
		if (r.type == PERF_RECORD_THREAD_MAP)
			note_thread_map(b, &r);
		if (r.type == PERF_RECORD_CALLCHAIN_DEFERRED &&
		    deferred_add(&b->deferred, &r, b->rec->swap, NULL) == ERR_NOMEM)
			return err_nomem(e);
		if (!record_is_sideband(r.type))
			continue;
		recording_id(b->rec, &r, &id);
		struct err why = {0};
		int rc = machine_apply(&b->p->machine, b->rec, &r, machine_time(b, &r, &id),
				       &why);
		if (rc == ERR_FORMAT) {
			bad_records_note(&bad, r.offset, &why);
		} else if (rc) {
			if (e)
				*e = why;
			return rc;
		}
	}
	if (!got)
		got = machine_advance(&b->p->machine, TIME_END, e);
	if (!got)
		got = machine_set_build_ids(&b->p->machine, b->rec, e);
	if (!got)
		got = recording_rewind(b->rec, e);
	bad_records_add(&b->rec->stats.bad, &bad); /* rewinding clears them */
	b->sideband_done = 1;
	return got;
}

/*
 * Chains can be named while records are read if nothing but their names needs files and, besides
 * names of threads, strings. Small recordings do better with threads that prepare files.
 */
static int can_name_early(const struct builder *b)
{
	enum { LEAST = 32 << 20 };
	const struct recording *rec = b->rec;
	int can = rec->data_size >= LEAST && sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
		  !b->opt->no_samples && !expander_needed(rec);
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		can &= !ev->is_tracepoint && !attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH) &&
		       !attr_flag(&ev->attr, ATTR_DEFER_CALLCHAIN);
	}
	return can;
}

/* An address then means different things over time; it is named as of its first sample. */
static int has_jitdump(const struct builder *b)
{
	const struct machine *m = &b->p->machine;
	for (size_t i = 0; i < m->dsos.n; i++)
		if (jitfiles_is_jitdump(strtab_get(&b->p->stacks.strings, m->dsos.v[i].name)))
			return 1;
	return 0;
}

/* A file is read once if that suffices. */
static int read_first(struct builder *b, struct err *e)
{
	int early = can_name_early(b);
	b->ahead = 1;
	if (!early && !sideband_first(b->rec))
		return read_head(b, e);
	int r = read_sideband(b, e);
	if (!r && early && !has_jitdump(b)) {
		modules_prepare_end(b->p->modules, 0);
		raw_chains_name_early(&b->chains, &b->p->names);
	}
	return r;
}

/* Record in the timeline what sorting has shown about the records' times. */
static int note_order(struct builder *b, const struct order *o, struct err *e)
{
	const struct order_counts c = order_counts(o);
	struct tl_disorder *d = &b->tl->disorder;
	size_t n;
	const struct order_doubt *v = order_doubts(o, &n);
	d->late = c.late;
	d->late_ns = c.late_ns;
	d->back = c.back;
	d->back_ns = c.back_ns;
	d->moved = c.late && recording_is_stream(b->rec);
	for (size_t i = 0; i < n; i++) {
		struct tl_loss l = {.from_ns = v[i].from_ns - 1,
				    .to_ns = v[i].to_ns,
				    .count = 1,
				    .cpu = v[i].cpu < TL_NOCPU ? (uint16_t)v[i].cpu : TL_NOCPU,
				    .kind = LOSS_DISORDER,
				    .sched = 1};
		if (vec_push(&b->tl->losses, l))
			return err_nomem(e);
	}
	return 0;
}

static int read_records(struct builder *b, int whole, struct err *e)
{
	struct order *o;
	struct ordered *next;
	int got, rc = order_new(&o, b->rec, e);
	if (!rc && whole)
		order_whole(o);
	if (!rc && b->ahead && recording_is_mapped(b->rec))
		rc = order_read_ahead(o, e);
	while (!rc && (got = order_next(o, &next, e)) != 0) {
		rc = got != 1 ? got : handle_record(b, &next->r, &next->id, e);
		if (++b->records % PROGRESS_EVERY == 0 && !rc && b->opt->progress)
			b->opt->progress(b->opt->progress_ctx, next->r.offset,
					 b->rec->data_size);
	}
	if (!rc)
		rc = note_order(b, o, e);
	order_free(o);
	bad_records_add(&b->rec->stats.bad, &b->bad);
	return rc;
}

static void builder_free(struct builder *b)
{
	modules_prepare_end(b->p->modules, 0);
	if (b->expander)
		b->p->unwinding = *expander_counts(b->expander);
	expander_free(b->expander);
	deferred_release(&b->deferred);
	sched_free(b->sched);
	spans_free(b->spans);
	span_roles_release(&b->roles);
	tracepoints_free(b->formats);
	vec_release(&b->events);
	vec_release(&b->throttles);
	vec_release(&b->twins);
	u64map_release(&b->twin_of);
	vec_release(&b->irqs);
	vec_release(&b->opened);
	raw_chains_release(&b->chains);
	u64map_release(&b->kernel_pids);
	u64map_release(&b->in_syscall);
	u64map_release(&b->syscall_index);
	u64map_release(&b->execed);
	u64map_release(&b->pseudo_threads);
	u64map_release(&b->instances);
	u64map_release(&b->places);
	counters_release(&b->counters);
	mem_free(b);
}

/* As timeline_build; ORDER_LATE: records came late, so call again with `whole`. */
static int build(struct profile *p, const struct build_options *opt, int whole,
		 struct timeline *tl, struct err *e)
{
	*tl = (struct timeline){.stacks = &p->stacks};
	struct builder *b = mem_zalloc(1, sizeof(*b));
	if (!b)
		return err_nomem(e);
	b->p = p;
	b->rec = p->rec;
	b->opt = opt;
	b->tl = tl;
	b->epoch = 1;
	b->pending_max = APPLY_EVERY;
	b->pending_ns = UINT64_MAX;
	p->totals.guest = p->totals.no_event = 0;
	for (size_t i = 0; i < p->rec->events.n; i++)
		b->timed |= !!(p->rec->events.v[i].attr.sample_type & PERF_SAMPLE_TIME);
	modules_prepare(p->modules, sysconf(_SC_NPROCESSORS_ONLN) > 1);
	int r = timeline_init(tl, &p->stacks) ? err_nomem(e) : 0;
	if (!r && recording_is_plain(b->rec))
		r = read_first(b, e);
	if (!r)
		r = read_records(b, whole, e);
	if (!r)
		r = builder_finish(b, e);
	builder_free(b);
	return r;
}

int timeline_build(struct profile *p, const struct build_options *opt, struct timeline *tl,
		   struct err *e)
{
	const struct recording_stats stats = p->rec->stats;
	p->names.opt.addrs = opt->addrs ? KEEP_ADDRS : MERGE_UNMAPPED;
	int r = build(p, opt, 0, tl, e);
	if (r != ORDER_LATE)
		return r;
	timeline_release(tl);
	if (opt->rewatch)
		opt->rewatch(opt->watch_ctx);
	r = profile_start_over(p, &stats, e);
	return r ? r : build(p, opt, 1, tl, e);
}
