/* sched_wake.c - wakeups and migrations; see sched_internal.h. */
#include "libtime/sched/sched_internal.h"

static int make_wake(struct sched *s, const struct sched_event *ev, struct wake *w)
{
	*w = (struct wake){.ns = ev->time_ns,
			   .waker = TL_NONE,
			   .path = ev->path,
			   .cpu = ev->cpu,
			   .context = ev->context,
			   .set = 1};
	if ((ev->context != WAKER_TASK && ev->context != WAKER_SOFTIRQ_INLINE) || ev->tid <= 0)
		return 0;
	if (ev->cpu < s->cpus.n)
		return sched_thread_on(s, &s->cpus.v[ev->cpu], ev->tid, &w->waker);
	return sched_thread_of(s, ev->tid, &w->waker);
}

/* The thread is first seen when it is woken: it went to sleep before the recording. */
static void begin_woken(struct sched *s, uint32_t i, const struct wake *w, int flags)
{
	sched_begin_life(s, i, w->ns);
	sched_begin_offcpu(s, i, w->ns, TL_NOCPU);
	s->threads.v[i].offcpu.flags = (uint8_t)(flags | OFF_NO_STACK);
	s->threads.v[i].wake = *w;
}

/* End the interval at `ns` and begin another one there, whose stack is unknown. */
static int cut_off(struct sched *s, uint32_t i, uint64_t ns)
{
	struct thr *t = &s->threads.v[i];
	int r = ns > t->offcpu.start_ns ? sched_end_offcpu(s, i, ns, TL_NOCPU, -1) : 0;
	if (r)
		return r;
	sched_begin_offcpu(s, i, ns, TL_NOCPU);
	t->offcpu.flags |= OFF_SUSPECT | OFF_NO_STACK;
	return 0;
}

/* Was it woken a second time, with no switch that shows it running in between? If switches are
 * missing, it has run: only a thread that went to sleep again is woken. In a complete recording
 * the first waking counts.
 */
static int ran_unseen(const struct sched *s, const struct thr *t)
{
	return t->state == OFF && t->woken && t->sleeps && !t->offcpu.unknown && s->chain &&
	       s->now > t->wake.ns && (s->tl->flags & TL_SOME_CPUS || s->tl->losses.n);
}

/*	out ──blocked──► first waking ──may have ended──► this one ──runnable──► in */
static int woken_again(struct sched *s, uint32_t i)
{
	struct thr *t = &s->threads.v[i];
	int r = sched_end_between(s, i, t->wake.ns, s->now, TL_NOCPU, UNKNOWN_HOLE);
	if (r)
		return r;
	sched_begin_offcpu(s, i, s->now, TL_NOCPU);
	t->offcpu.flags |= OFF_SUSPECT | OFF_NO_STACK;
	return 0;
}

/* Was it woken into the queue of a CPU that was not recorded (-C)? Then no record came from
 * that CPU, or the waking was not followed by a wakeup. */
static int is_woken_unseen(const struct sched *s, const struct thr *t)
{
	uint16_t cpu = t->offcpu.cpu_queue;
	if (!(s->tl->flags & TL_SOME_CPUS) || !t->sleeps)
		return 0;
	if (!t->woken)
		return t->wake.set && s->tl->flags & TL_HAS_WAKEUP;
	return cpu != TL_NOCPU && (cpu >= s->cpus.n || !s->cpus.v[cpu].last_ns);
}

int sched_end_woken(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	if (is_woken_unseen(s, t))
		sched_may_end(t, t->wake.ns, UNKNOWN_HOLE);
	return sched_end_offcpu(s, i, ns, cpu, prio);
}

/* Find the woken thread and the waker. Either may be new, so pointers into s->threads are
 * invalid afterwards. */
static int find_target(struct sched *s, const struct sched_event *ev, uint32_t *i,
		       struct wake *w)
{
	int r = sched_thread_of(s, ev->target_tid, i);
	if (!r)
		r = sched_set_comm_of(s, *i, ev, ev->target_comm);
	return r ? r : make_wake(s, ev, w);
}

int sched_on_waking(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = find_target(s, ev, &i, &w);
	if (r)
		return r;
	struct thr *t = &s->threads.v[i];
	skew_woken(s, i, ev->cpu);
	if (t->state == UNSEEN) {
		begin_woken(s, i, &w, OFF_OPEN);
	} else if (t->state == RUNNING) {
		t->early = w;
	} else if (!t->woken && t->sleeps) {
		/* a waking proves that a thread in an unknown state was asleep */
		r = t->offcpu.unknown ? cut_off(s, i, s->now) : 0;
		if (t->wake.set && !t->first_ns)
			t->first_ns = t->wake.ns;
		t->wake = w;
	} else if (ran_unseen(s, t)) {
		r = woken_again(s, i);
		t->wake = w;
	}
	return r;
}

int sched_on_wakeup(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = find_target(s, ev, &i, &w);
	if (r)
		return r;
	struct thr *t = &s->threads.v[i];
	if (s->tl->flags & TL_HAS_WAKING) { /* its waking is missing: the waker is unknown */
		w.waker = TL_NONE;
		w.path = 0;
		w.context = WAKER_NONE;
	} else {
		skew_woken(s, i, ev->cpu);
	}
	if (t->state == UNSEEN) {
		begin_woken(s, i, &w, OFF_OPEN);
		t->offcpu.cpu_queue = ev->to_cpu;
		t->woken = 1; /* so that it does not end a later sleep */
	} else if (t->state == RUNNING) {
		t->early.set = 0;
	} else if (!t->woken && t->sleeps && !t->offcpu.unknown) {
		s->unwoken += !t->wake.set && !t->early.set && s->tl->flags & TL_HAS_WAKING;
		if (!t->wake.set)
			t->wake = t->early.set ? t->early : w;
		t->offcpu.cpu_queue = ev->to_cpu;
		t->woken = 1;
	}
	return 0;
}

/*
 * A sleeping thread stays on the CPU it left. If it is migrated from another one, it has run
 * there in between and gone to sleep again before this wakeup.
 *
 *	out ──unknown──► waking ──runnable──► in
 */
static int ran_elsewhere(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	const struct wake wake = t->wake;
	uint64_t out = t->offcpu.start_ns;
	int lost = cpu < s->cpus.n && s->cpus.v[cpu].lost_ns > out;
	t->offcpu.unknown = lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	int r = lost ? 0 : sched_note_hole(s, cpu, out, wake.ns);
	if (!r)
		r = sched_end_offcpu(s, i, wake.ns, TL_NOCPU, -1);
	if (r)
		return r;
	sched_begin_offcpu(s, i, wake.ns, TL_NOCPU);
	t->offcpu.flags |= OFF_SUSPECT | OFF_NO_STACK;
	t->wake = wake;
	return 0;
}

int sched_on_migrate(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = 0;
	if (!s->chain || !u64map_get(&s->by_tid, (uint32_t)ev->target_tid, &i) ||
	    s->threads.v[i].state != OFF)
		return 0;
	struct thr *t = &s->threads.v[i];
	if (t->offcpu.cpu_out != TL_NOCPU && !t->offcpu.unknown && ev->from_cpu != TL_NOCPU &&
	    t->cpu != TL_NOCPU && ev->from_cpu != t->cpu) {
		t->offcpu.flags |= OFF_SUSPECT;
		if (t->sleeps && !t->woken && t->wake.set && t->wake.ns > t->offcpu.start_ns)
			r = ran_elsewhere(s, i, ev->from_cpu);
	}
	t->cpu = ev->to_cpu;
	return r;
}

int sched_on_wakeup_new(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	struct wake w;
	int r = sched_new_thread(s, ev, &i);
	if (!r)
		r = make_wake(s, ev, &w);
	if (r)
		return r;
	begin_woken(s, i, &w, 0);
	s->threads.v[i].offcpu.cpu_queue = ev->to_cpu;
	s->threads.v[i].offcpu.cause = CAUSE_RUNQUEUE;
	s->threads.v[i].woken = 1;
	return 0;
}

void sched_add_stack_wake(struct sched *s, uint32_t i, const struct sched_event *ev,
			  uint64_t first_ns)
{
	struct thr *t = &s->threads.v[i];
	struct wake *w = t->state == OFF && t->wake.set ? &t->wake : &t->early;
	if (w->set && w->ns == first_ns && !w->path)
		w->path = ev->path;
}
