/* sched_offcpu.c - lives and off-CPU intervals: how they begin and end; see
 * sched_internal.h. */
#include "libtime/sched/sched_internal.h"

void sched_begin_running(struct sched *s, uint32_t i, uint16_t cpu, int16_t prio, uint64_t ns)
{
	sched_begin_life(s, i, ns);
	s->tl->threads.v[i].first_cpu = cpu;
	s->tl->threads.v[i].first_prio = prio;
	sched_run_on(s, i, cpu);
}

void sched_end_life(struct sched *s, uint32_t i, uint64_t ns)
{
	struct tl_thread *t = &s->tl->threads.v[i];
	if (s->threads.v[i].state == UNSEEN)
		t->first_ns = ns;
	t->last_ns = ns;
	t->flags |= THREAD_EXITED;
	s->threads.v[i].state = DEAD;
}

void sched_begin_offcpu(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu)
{
	struct thr *t = &s->threads.v[i];
	t->offcpu = (struct offcpu){
		.start_ns = ns,
		.thread = i,
		.comm = s->tl->threads.v[i].comm,
		.waker = TL_NONE,
		.cpu_out = cpu,
		.cpu_in = TL_NOCPU,
		.cpu_wake = TL_NOCPU,
		.cpu_queue = TL_NOCPU,
		.prio_in = -1,
	};
	t->wake.set = 0;
	t->woken = 0;
	t->sleeps = 1;
	t->state = OFF;
}

uint64_t sched_last_seen(const struct sched *s, const struct thr *t)
{
	return t->cpu < s->cpus.n ? s->cpus.v[t->cpu].cur_ns : t->until_ns;
}

void sched_lost_out(struct sched *s, uint32_t i, int last)
{
	struct thr *t = &s->threads.v[i];
	uint64_t from = sched_last_seen(s, t);
	uint8_t reason =
		t->cpu < s->cpus.n && s->cpus.v[t->cpu].lost ? UNKNOWN_LOST : UNKNOWN_HOLE;
	if (last && t->exiting) {
		sched_end_life(s, i, from);
		return;
	}
	sched_begin_offcpu(s, i, from, t->cpu);
	t->offcpu.unknown = reason;
	t->offcpu.flags |= OFF_SUSPECT | OFF_NO_STACK;
}

static int emit(struct sched *s, const struct offcpu *o)
{
	if (o->unknown && o->end_ns == o->start_ns)
		return 0;
	int r = bigvec_push(&s->tl->offcpu, *o, s->e);
	if (!r && s->no_cpus) {
		struct offcpu *last = &s->tl->offcpu.v[s->tl->offcpu.n - 1];
		last->cpu_out = last->cpu_in = last->cpu_wake = last->cpu_queue = TL_NOCPU;
	}
	return r;
}

/* Where the blocked part ends, by the best evidence there is. */
static void split(struct sched *s, struct thr *t)
{
	struct offcpu *o = &t->offcpu;
	const struct wake *w = &t->wake;
	if (o->unknown || !t->sleeps)
		return;
	if (!w->set && t->early.set && !(s->tl->flags & TL_HAS_WAKEUP))
		w = &t->early;
	if (!w->set) {
		if (o->flags & OFF_OPEN)
			o->blocked_ns = offcpu_ns(o);
		else
			o->unknown = UNKNOWN_NO_WAKE;
		return;
	}
	o->blocked_ns = w->ns > o->start_ns ? w->ns - o->start_ns : 0;
	o->waker = w->waker;
	o->waker_path = w->path;
	o->waker_context = w->context;
	o->cpu_wake = w->cpu;
}

int sched_end_offcpu(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	t->offcpu.end_ns = ns;
	t->offcpu.cpu_in = cpu;
	t->offcpu.prio_in = prio;
	split(s, t);
	return emit(s, &t->offcpu);
}

/* Is a time in [length - slack, length] as good as known? */
static int slack_is_small(uint64_t slack, uint64_t length)
{
	enum { KNOWN_NS = 5000, SHARE = 100 };
	return slack <= UINT32_MAX && (slack <= KNOWN_NS || slack <= length / SHARE);
}

int sched_arrive_from_idle(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi)
{
	struct thr *t = &s->threads.v[i];
	struct offcpu *o = &t->offcpu;
	int woken = t->wake.set && (t->woken || !(s->tl->flags & TL_HAS_WAKEUP));
	if (t->state != OFF || o->unknown || (t->sleeps && !woken) || hi < o->start_ns ||
	    (t->wake.set && hi < t->wake.ns))
		return 0;
	if (t->wake.set && lo < t->wake.ns)
		lo = t->wake.ns;
	if (lo < o->start_ns)
		lo = o->start_ns;
	if (lo > hi || !slack_is_small(hi - lo, hi - o->start_ns))
		return 0;
	o->slack_ns = (uint32_t)(hi - lo);
	int r = sched_end_offcpu(s, i, hi, cpu, -1);
	if (r)
		return r;
	sched_run_on(s, i, cpu);
	return 1;
}

int sched_arrive(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi,
		 uint8_t reason)
{
	struct thr *t = &s->threads.v[i];
	struct cpu *c = &s->cpus.v[cpu];
	int r = 0;
	/* the waking may have come while it still ran */
	struct wake waking = t->state == OFF && !t->woken ? t->wake : (struct wake){0};
	if (t->state == RUNNING)
		sched_lost_out(s, i, 0);
	if (t->state == OFF && (hi < t->offcpu.start_ns || (t->wake.set && hi < t->wake.ns)))
		hi = s->now; /* it has run elsewhere or slept since: the record is wrong */
	if (c->cur == i)
		c->cur_ns = hi;
	if (t->state == UNSEEN) {
		sched_begin_running(s, i, cpu, -1, hi);
		return 0;
	}
	if (t->wake.set && t->wake.ns > lo)
		lo = t->wake.ns;
	if (lo < t->offcpu.start_ns || t->offcpu.unknown)
		lo = t->offcpu.start_ns;
	if (lo > hi)
		lo = hi;
	if (lo > t->offcpu.start_ns) {
		struct offcpu known = t->offcpu;
		known.flags |= OFF_SUSPECT;
		known.end_ns = lo;
		t->offcpu = known;
		if (!t->wake.set && t->sleeps)
			t->offcpu.blocked_ns =
				offcpu_ns(&known); /* asleep until then: not woken yet */
		else
			split(s, t);
		if ((r = emit(s, &t->offcpu)))
			return r;
		sched_begin_offcpu(s, i, lo, TL_NOCPU);
		t->offcpu.flags |= OFF_NO_STACK;
	}
	if (!t->offcpu.unknown)
		t->offcpu.unknown = reason;
	t->offcpu.flags |= OFF_SUSPECT;
	if (hi > t->offcpu.start_ns && (r = sched_end_offcpu(s, i, hi, cpu, -1)))
		return r;
	sched_run_on(s, i, cpu);
	t->early = waking;
	return 0;
}

int sched_note_hole(struct sched *s, uint16_t cpu, uint64_t from, uint64_t to)
{
	struct tl_loss l = {
		.from_ns = from, .to_ns = to, .count = 1, .cpu = cpu, .kind = LOSS_HOLE};
	return vec_push(&s->tl->losses, l);
}
