/*
 * schedrig.h - event streams written by hand, for the tests of sched.
 *
 * A row reads: tid out-in state blocked+runnable [preempted] [?reason] [flags] [slack ns]
 * [<-waker context]. Times are µs; every test also proves conservation (timeline_check).
 */
#ifndef TESTS_SCHEDRIG_H
#define TESTS_SCHEDRIG_H

#include "tests/lib/unit.h"

#include "base/text/buf.h"
#include "libtime/sched/sched.h"
#include "libtime/sched/timeline_names.h"

struct rig {
	struct stacks stacks;
	struct timeline tl;
	struct sched *s;
	uint64_t end;
	struct buf text;
};

static inline struct rig *rig_new(uint32_t flags)
{
	static struct rig r;
	r = (struct rig){0};
	assert_int_equal(timeline_init(&r.tl, &r.stacks), 0);
	r.tl.flags = flags;
	assert_int_equal(sched_new(&r.tl, &r.s, NULL), 0);
	return &r;
}

enum { FULL = TL_HAS_SWITCH | TL_HAS_WAKING | TL_HAS_WAKEUP };

static inline struct sched_event event(uint8_t kind, double us, uint16_t cpu, int tid)
{
	return (struct sched_event){.kind = kind,
				    .time_ns = (uint64_t)(us * 1000 + .5),
				    .cpu = cpu,
				    .tid = tid,
				    .pid = tid,
				    .prev_tid = -1,
				    .next_tid = -1,
				    .target_tid = -1,
				    .target_pid = -1,
				    .next_prio = 120,
				    .from_cpu = TL_NOCPU,
				    .to_cpu = TL_NOCPU};
}

static inline void put(struct rig *r, const struct sched_event *ev)
{
	struct err e = {0};
	assert_int_equal(sched_event(r->s, ev, &e), 0);
	r->end = ev->time_ns;
}

/* prev leaves in `state`, next gets the CPU. */
static inline void sw(struct rig *r, double us, uint16_t cpu, int prev, const char *state,
		      int next)
{
	struct sched_event ev = event(SCHED_SWITCH, us, cpu, prev);
	assert_int_equal(timeline_state(&r->tl, state, &ev.state), 0);
	ev.state_class = *state == 'R'          ? STATE_RUNNING
			 : strchr("XZ", *state) ? STATE_DEAD
						: STATE_BLOCKED;
	ev.prev_tid = prev;
	ev.next_tid = next;
	if (*state == 'X')
		ev.tid = ev.pid = -1; /* as perf writes it for exiting threads */
	put(r, &ev);
}

static inline void wake(struct rig *r, uint8_t kind, double us, uint16_t cpu, int by, int whom,
			uint8_t context)
{
	struct sched_event ev = event(kind, us, cpu, by);
	ev.target_tid = whom;
	ev.context = context;
	put(r, &ev);
}

static inline void waking(struct rig *r, double us, uint16_t cpu, int by, int whom)
{
	wake(r, SCHED_WAKING, us, cpu, by, whom, WAKER_TASK);
}

static inline void wakeup(struct rig *r, double us, uint16_t cpu, int by, int whom)
{
	wake(r, SCHED_WAKEUP, us, cpu, by, whom, WAKER_TASK);
}

static inline void migrate(struct rig *r, double us, uint16_t cpu, int by, int whom,
			   uint16_t from, uint16_t to)
{
	struct sched_event ev = event(SCHED_MIGRATE, us, cpu, by);
	ev.target_tid = whom;
	ev.from_cpu = from;
	ev.to_cpu = to;
	put(r, &ev);
}

static inline void lost(struct rig *r, double us, uint16_t cpu, uint64_t n)
{
	struct sched_event ev = event(SCHED_LOST, us, cpu, -1);
	ev.count = n;
	put(r, &ev);
}

static inline void record(struct rig *r, uint8_t kind, double us, uint16_t cpu, int tid,
			  int preempt)
{
	struct sched_event ev = event(kind, us, cpu, tid);
	ev.preempt = (uint8_t)preempt;
	put(r, &ev);
}

static inline void us(struct buf *b, uint64_t ns)
{
	buf_u64(b, ns / 1000);
	if (ns % 1000)
		buf_fmt(b, ".%03u", (unsigned)(ns % 1000));
}

static inline void row(struct rig *r, const struct offcpu *o)
{
	struct buf *b = &r->text;
	const struct strtab *names = &r->stacks.strings;
	buf_fmt(b, "%d ", r->tl.threads.v[o->thread].tid);
	us(b, o->start_ns);
	buf_char(b, '-');
	us(b, o->end_ns);
	buf_fmt(b, " %s ", strtab_get(names, r->tl.states[o->state]));
	us(b, o->blocked_ns);
	buf_char(b, '+');
	us(b, offcpu_runnable_ns(o));
	if (offcpu_preempted_ns(o))
		buf_str(b, " preempted");
	if (o->unknown)
		buf_fmt(b, " ?%s", unknown_reason_name(o->unknown));
	if (o->flags & OFF_OPEN)
		buf_str(b, " open");
	if (o->flags & OFF_SUSPECT)
		buf_str(b, " suspect");
	if (o->flags & OFF_REST)
		buf_str(b, " rest");
	if (o->slack_ns && o->slack_ns < offcpu_ns(o))
		buf_fmt(b, " slack %u", o->slack_ns);
	if (o->waker_context)
		buf_fmt(b, " <-%d %s", o->waker == TL_NONE ? 0 : r->tl.threads.v[o->waker].tid,
			waker_context_name(o->waker_context));
	buf_char(b, '\n');
}

static inline void expect(struct rig *r, const char *rows)
{
	struct err e = {0};
	assert_int_equal(sched_finish(r->s, r->end, &e), 0);
	if (timeline_check(&r->tl, &e))
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < r->tl.offcpu.n; i++)
		row(r, &r->tl.offcpu.v[i]);
	assert_string_equal(buf_cstr(&r->text), rows);
}

static inline void done(struct rig *r)
{
	buf_release(&r->text);
	sched_free(r->s);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

#endif
