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
	t->first_ns = 0;
	t->may_end_why = KNOWN;
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
		s->unwoken += !(o->flags & OFF_OPEN);
		return;
	}
	s->woken++;
	uint64_t woken = w->ns < o->end_ns ? w->ns : o->end_ns;
	o->blocked_ns = woken > o->start_ns ? woken - o->start_ns : 0;
	o->waker = w->waker;
	o->waker_path = w->path;
	o->waker_context = w->context;
	o->cpu_wake = w->cpu;
}

/*
 * An interval that ended in [lo, end]: what is known of it, and the rest.
 *
 *	out ──blocked, runnable──► lo ──unknown──► end
 */
static int emit_with_rest(struct sched *s, struct thr *t, uint64_t lo, uint8_t why)
{
	struct offcpu all = t->offcpu;
	t->offcpu.end_ns = lo;
	t->offcpu.cpu_in = TL_NOCPU;
	t->offcpu.prio_in = -1;
	t->offcpu.flags &= (uint8_t)~OFF_OPEN;
	split(s, t);
	int r = emit(s, &t->offcpu);
	if (r)
		return r;
	sched_begin_offcpu(s, all.thread, lo, TL_NOCPU);
	t->offcpu.end_ns = all.end_ns;
	t->offcpu.cpu_in = all.cpu_in;
	t->offcpu.prio_in = all.prio_in;
	t->offcpu.flags =
		(uint8_t)(OFF_REST | OFF_NO_STACK | OFF_SUSPECT | (all.flags & OFF_OPEN));
	t->offcpu.unknown = why;
	return emit(s, &t->offcpu);
}

int sched_end_offcpu(struct sched *s, uint32_t i, uint64_t ns, uint16_t cpu, int16_t prio)
{
	struct thr *t = &s->threads.v[i];
	struct offcpu *o = &t->offcpu;
	if (t->first_ns && (s->tl->losses.n || s->tl->flags & TL_SOME_CPUS))
		sched_may_end(t, t->first_ns, UNKNOWN_HOLE);
	uint64_t lo = t->may_end_why ? t->may_end_ns : ns;
	o->end_ns = ns;
	o->cpu_in = cpu;
	o->prio_in = prio;
	if (lo < ns && lo <= o->start_ns && !o->unknown)
		o->unknown = t->may_end_why; /* nothing shows how long it waited */
	if (t->may_end_why && o->unknown) {
		o->flags |= OFF_SUSPECT;
	} else if (lo < ns) {
		if (!is_length_known(offcpu_ns(o), ns - lo))
			o->flags |= OFF_SUSPECT;
		if (ns - lo > LENGTH_KNOWN_NS)
			return emit_with_rest(s, t, lo, t->may_end_why);
		o->slack_ns = (uint32_t)(ns - lo);
	}
	split(s, t);
	return emit(s, o);
}

void sched_may_end(struct thr *t, uint64_t lo, uint8_t why)
{
	if (t->may_end_why && t->may_end_ns <= lo)
		return;
	t->may_end_ns = lo;
	t->may_end_why = why;
}

int sched_end_between(struct sched *s, uint32_t i, uint64_t lo, uint64_t hi, uint16_t cpu,
		      uint8_t why)
{
	struct thr *t = &s->threads.v[i];
	sched_may_end(t, t->wake.set && t->wake.ns > lo ? t->wake.ns : lo, why);
	return sched_end_offcpu(s, i, hi, cpu, -1);
}

int sched_arrive(struct sched *s, uint32_t i, uint16_t cpu, uint64_t lo, uint64_t hi,
		 uint8_t reason)
{
	struct thr *t = &s->threads.v[i];
	struct cpu *c = &s->cpus.v[cpu];
	int r = 0;
	/* the waking may have come while it still ran */
	int raced = t->state == OFF && !t->woken && (t->offcpu.unknown || !t->sleeps);
	struct wake waking = raced ? t->wake : (struct wake){0};
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
	if (!t->wake.set && t->sleeps && lo <= t->offcpu.start_ns)
		t->offcpu.unknown = reason; /* nothing shows how long it slept */
	if ((r = sched_end_between(s, i, lo, hi, cpu, reason)))
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

/* How many waits in a thousand recordings like this one ended and began again unseen, because
 * the two switches between them are missing: where h of n switches are, h * h / n pairs are. Of
 * some threads (of init, on virtual machines) all switch-outs are missing: that shows. */
static double unseen(const struct sched *s)
{
	enum { SOME = 4 };
	double holes = 0, outs = 0;
	for (size_t i = 0; i < s->threads.n; i++) {
		const struct thr *t = &s->threads.v[i];
		holes += (uint64_t)t->outs * SOME >= t->holes ? t->holes : 0;
		outs += t->outs;
	}
	return holes > 0 ? holes * (holes - 1) * 1000 / (outs + 1) : 0;
}

void sched_bounds(struct sched *s)
{
	enum { BELIEVED = 10 }; /* in a thousand */
	double woken = unseen(s);
	double unwoken = woken * (double)s->unwoken / (double)(s->woken + s->unwoken + 1);
	if (woken < BELIEVED || !s->chain)
		return;
	for (size_t i = 0; i < s->tl->offcpu.n; i++) {
		struct offcpu *o = &s->tl->offcpu.v[i];
		if (!(o->flags & (OFF_OPEN | OFF_REST)))
			offcpu_may_end_at(o, o->start_ns + (unwoken < BELIEVED && !o->unknown
								    ? o->blocked_ns
								    : 0));
	}
}
