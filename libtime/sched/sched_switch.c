/* sched_switch.c - switches, and what they contradict; see sched_internal.h. */
#include "libtime/sched/sched_internal.h"

/* --- what a switch means for each thread ---------------------------------------------- */

/* Nothing waits for a CPU that is idle: a thread that it runs next was woken after `ns`. */
static void woken_after(struct sched *s, uint32_t i, uint64_t ns)
{
	struct thr *t = &s->threads.v[i];
	if (t->state == OFF && t->sleeps && !t->wake.set && !t->offcpu.unknown &&
	    ns > t->offcpu.start_ns)
		t->wake = (struct wake){.ns = ns, .waker = TL_NONE, .cpu = TL_NOCPU, .set = 1};
}

/* A switch is missing: thread i (TL_NONE = idle) leaves the CPU now, but the last switch put
 * another one on it. */
static int hole(struct sched *s, struct cpu *c, uint16_t cpu, int32_t tid, uint32_t i)
{
	uint64_t hi = c->alt_tid == tid ? c->alt_ns : s->now;
	uint8_t reason = c->lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	uint64_t from = c->cur_ns;
	if (c->cur != TL_NONE && !c->lost)
		s->threads.v[c->cur].holes++;
	if (c->cur != TL_NONE && s->threads.v[c->cur].state == RUNNING &&
	    s->threads.v[c->cur].cpu == cpu)
		sched_lost_out(s, c->cur, 1);
	if (!c->lost && sched_note_hole(s, cpu, from, hi))
		return ERR_NOMEM;
	if (i != TL_NONE && !c->cur_tid && !c->lost)
		woken_after(s, i, from);
	sched_set_current(c, tid, i, hi);
	return i == TL_NONE ? 0 : sched_arrive(s, i, cpu, from, hi, reason);
}

/* Thread i is on this CPU: make its state say so, whatever it was. */
static int expect_on(struct sched *s, struct cpu *c, uint16_t cpu, int32_t tid, uint32_t i)
{
	if (s->chain && c->cur_tid >= 0 && c->cur_tid != tid)
		return hole(s, c, cpu, tid, i);
	if (i == TL_NONE)
		return 0;
	const struct thr *t = &s->threads.v[i];
	if (t->state == RUNNING && t->cpu == cpu)
		return 0;
	uint8_t reason = s->chain ? UNKNOWN_EDGE : UNKNOWN_HOLE;
	return sched_arrive(s, i, cpu, 0, s->now, reason);
}

static int leave(struct sched *s, const struct sched_event *ev, uint32_t i)
{
	if (ev->state_class == STATE_DEAD) {
		sched_end_life(s, i, ev->time_ns);
		return 0;
	}
	struct thr *t = &s->threads.v[i];
	sched_begin_offcpu(s, i, ev->time_ns, ev->cpu);
	t->outs++;
	t->offcpu.path = ev->path;
	t->offcpu.state = ev->state;
	t->offcpu.syscall = ev->syscall;
	t->offcpu.arg = ev->arg;
	if (ev->no_stack)
		t->offcpu.flags |= OFF_NO_STACK;
	if (ev->state_class == STATE_RUNNING) {
		t->offcpu.flags |= OFF_RUNNING;
		t->sleeps = 0;
	}
	return 0;
}

static int enter(struct sched *s, uint32_t i, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	if (t->state == RUNNING)
		sched_lost_out(s, i, 0);
	if (t->state == UNSEEN) {
		sched_begin_running(s, i, cpu, prio, s->now);
		return 0;
	}
	int r = sched_end_woken(s, i, s->now, cpu, prio);
	if (!r)
		sched_run_on(s, i, cpu);
	return r;
}

/* --- events --------------------------------------------------------------------------- */

/* Is this the last record again? perf sometimes repeats one when it empties a small buffer
 * late. */
static int is_repeated(const struct cpu *c, const struct sched_event *ev)
{
	return ev->time_ns == c->switch_ns && ev->prev_tid == c->switch_from &&
	       ev->next_tid == c->cur_tid && ev->prev_tid != ev->next_tid;
}

/* In a per-task recording `next` may be a thread whose switch-out will not be recorded, so
 * only SWITCH records put threads on CPUs there. */
int sched_on_switch(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t prev = TL_NONE, next = TL_NONE;
	int r = sched_cpu_of(s, ev->cpu, &c);
	if (!r && is_repeated(c, ev))
		return 0;
	if (!r && ev->prev_tid > 0) {
		r = sched_thread_on(s, c, ev->prev_tid, &prev);
		if (!r)
			r = sched_set_comm_of(s, prev, ev, ev->prev_comm);
		if (!r && ev->tid == ev->prev_tid)
			sched_set_pid(s, prev, ev->pid);
		if (!r && s->chain)
			r = skew_leaves(s, c, prev, ev->cpu, ev->state_class == STATE_BLOCKED);
	}
	if (!r)
		r = expect_on(s, c, ev->cpu, ev->prev_tid, prev);
	if (!r && prev != TL_NONE)
		r = leave(s, ev, prev);
	if (!r && !s->chain) {
		sched_set_current(c, -1, TL_NONE, ev->time_ns);
		return 0;
	}
	if (!r && ev->next_tid > 0) {
		r = sched_thread_of(s, ev->next_tid, &next);
		if (!r)
			r = sched_set_comm_of(s, next, ev, ev->next_comm);
		if (!r)
			r = enter(s, next, ev->cpu, ev->next_prio);
		if (!r)
			skew_comes(s, next, ev->cpu);
	}
	if (!r) {
		sched_set_current(c, ev->next_tid, next, ev->time_ns);
		c->switch_ns = ev->time_ns;
		c->switch_from = ev->prev_tid;
	}
	return r;
}

/* Are PERF_RECORD_SWITCH records used? They add nothing to system-wide tracepoints. With
 * per-task ones, the switch-outs are known already, but only they have switch-ins. */
static int records_matter(const struct sched *s)
{
	return !(s->tl->flags & TL_HAS_SWITCH) || s->tl->flags & TL_PER_TASK;
}

int sched_on_out(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i = TL_NONE;
	if (!records_matter(s) || ev->tid < 0)
		return 0;
	int r = sched_cpu_of(s, ev->cpu, &c);
	if (!r && ev->tid > 0) {
		if (u64map_get(&s->by_tid, (uint32_t)ev->tid, &i) &&
		    (s->threads.v[i].state == DEAD || s->threads.v[i].state == OFF))
			return 0;
		r = sched_thread_of(s, ev->tid, &i);
	}
	if (!r && i != TL_NONE)
		sched_set_pid(s, i, ev->pid);
	if (!r && i != TL_NONE && s->chain)
		r = skew_leaves(s, c, i, ev->cpu, !ev->preempt);
	if (!r)
		r = expect_on(s, c, ev->cpu, ev->tid, i);
	if (!r && i != TL_NONE) {
		struct sched_event out = *ev;
		out.path = s->threads.v[i].leaving;
		out.no_stack = !out.path;
		out.state_class = ev->preempt ? STATE_RUNNING : STATE_BLOCKED;
		if (s->threads.v[i].exiting && !ev->preempt)
			out.state_class = STATE_DEAD;
		r = leave(s, &out, i);
	}
	if (!r)
		sched_set_current(c, -1, TL_NONE, ev->time_ns);
	return r;
}

int sched_on_in(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i = TL_NONE;
	if (!records_matter(s) || ev->tid < 0)
		return 0;
	int r = sched_cpu_of(s, ev->cpu, &c);
	if (!r && ev->tid > 0) {
		r = sched_thread_of(s, ev->tid, &i);
		if (!r)
			sched_set_pid(s, i, ev->pid);
	}
	if (!r && c->cur_tid > 0 && c->cur_tid != ev->tid &&
	    s->threads.v[c->cur].state == RUNNING && s->threads.v[c->cur].cpu == ev->cpu) {
		uint64_t from = c->cur_ns;
		sched_lost_out(s, c->cur, 1);
		if (s->chain && !c->lost)
			r = sched_note_hole(s, ev->cpu, from, s->now);
	}
	if (!r && i != TL_NONE) {
		struct thr *t = &s->threads.v[i];
		if (t->state != RUNNING || t->cpu != ev->cpu)
			r = enter(s, i, ev->cpu, -1);
		if (!r && s->chain)
			skew_comes(s, i, ev->cpu);
	}
	if (!r)
		sched_set_current(c, ev->tid, i, ev->time_ns);
	return r;
}

void sched_add_stack_out(struct sched *s, uint32_t i, const struct sched_event *ev,
			 uint64_t first_ns)
{
	struct thr *t = &s->threads.v[i];
	if (t->state != OFF || t->offcpu.start_ns != first_ns || t->offcpu.path)
		return;
	t->offcpu.path = ev->path;
	t->offcpu.arg = ev->arg;
	t->offcpu.flags &= (uint8_t)~OFF_NO_STACK;
}
