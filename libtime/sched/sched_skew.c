/*
 * sched_skew.c - finds clocks of CPUs that differ, by impossible orders of records; see
 * sched_internal.h.
 *
 * Each CPU's own records are in order, so a difference shows where a thread moves from one CPU
 * to another:
 *
 *	CPU 0   in ──────────── out          running twice: CPU 0 is ahead by out - in' or
 *	CPU 1          in' ──────────── out'         more, or CPU 1 by out' - in or more
 *
 *	CPU 0        waking                  back from sleep, then woken: CPU 0 is ahead by
 *	CPU 1   in ──────────── out                  waking - in or more, or behind by
 *	                                             out - waking or more (the next sleep's)
 *
 * The smaller of the two is certain if no record is missing. A waker that races with the
 * sleeper after an unrecorded waking looks like the second case, for as long as interrupts
 * delay the sleeper: one case proves nothing, cases of that kind alone only if two pairs with a
 * CPU in common have them, and none does while wakeups show that the clocks are in step. A
 * thread that is on CPU 1 sooner than SKEW_LEAST after CPU 0 woke it shows that CPU 1 is not
 * ahead by more than that.
 */
#include "libtime/sched/sched_internal.h"

enum {
	CASE_LEAST = 1000,  /* ns */
	SKEW_LEAST = 10000, /* ns: clocks that differ by less are in step */
	CASES = 3,          /* of any kind that make one of the first kind count */
	CASES_KEPT = 1000,  /* of a pair: later ones say nothing new */
	WAKEUPS = 2,        /* either way, within NEAR seconds, that show clocks in step */
	NEAR = 1,
	NS_PER_SEC = 1000000000,
};

void skew_release(struct skew *k)
{
	vec_release(&k->pairs);
	vec_release(&k->cases);
	u64map_release(&k->of_cpus);
}

static uint64_t pair_key(uint16_t a, uint16_t b)
{
	return a < b ? (uint64_t)a << 16 | b : (uint64_t)b << 16 | a;
}

static int pair_of(struct skew *k, uint16_t a, uint16_t b, uint32_t *at)
{
	struct skew_pair fresh = {.cpus = {a < b ? a : b, a < b ? b : a}};
	if (u64map_get(&k->of_cpus, pair_key(a, b), at))
		return 0;
	*at = (uint32_t)k->pairs.n;
	return vec_push(&k->pairs, fresh) || u64map_put(&k->of_cpus, pair_key(a, b), *at)
		       ? ERR_NOMEM
		       : 0;
}

/* The clocks of two CPUs differ by the smaller of `either` and `or`, or more. */
static int add_case(struct sched *s, uint16_t a, uint16_t b, int twice, uint64_t either,
		    uint64_t or)
{
	struct skew_case x = {
		.time_ns = s->now, .least_ns = either < or ? either : or, .twice = twice};
	struct skew_pair *p;
	if (a == b || a == TL_NOCPU || b == TL_NOCPU || x.least_ns < CASE_LEAST)
		return 0;
	if (pair_of(&s->skew, a, b, &x.pair))
		return ERR_NOMEM;
	p = &s->skew.pairs.v[x.pair];
	p->n++;
	if (x.least_ns < SKEW_LEAST || p->kept == CASES_KEPT)
		return 0;
	p->kept++;
	return vec_push(&s->skew.cases, x) ? ERR_NOMEM : 0;
}

static void count_case(struct skew_pair *p, const struct skew_case *x)
{
	if (x->twice && x->least_ns > p->twice)
		p->twice = x->least_ns;
	if (x->least_ns > p->most) {
		p->second = p->most;
		p->most = x->least_ns;
	} else if (x->least_ns > p->second) {
		p->second = x->least_ns;
	}
}

/* Wakeups from the smaller to the larger CPU of a pair (back: the other way) in one second. */
static uint64_t wakeups_key(const struct skew *k, uint64_t second, uint32_t pair, int back)
{
	return (second * k->pairs.n + pair) * 2 + (uint64_t)back;
}

/* Count the wakeups that took less than SKEW_LEAST, of the pairs that have cases. */
static int count_wakeups(const struct sched *s, struct u64map *fast)
{
	const struct skew *k = &s->skew;
	for (size_t i = 0; i < s->tl->offcpu.n; i++) {
		const struct offcpu *o = &s->tl->offcpu.v[i];
		uint32_t pair, n = 0;
		uint64_t key;
		if (o->cpu_wake == TL_NOCPU || o->cpu_in == TL_NOCPU ||
		    o->cpu_wake == o->cpu_in || o->unknown ||
		    o->flags & (OFF_SUSPECT | OFF_OPEN) ||
		    offcpu_ns(o) - o->blocked_ns >= SKEW_LEAST ||
		    !u64map_get(&k->of_cpus, pair_key(o->cpu_wake, o->cpu_in), &pair))
			continue;
		key = wakeups_key(k, o->end_ns / NS_PER_SEC, pair, o->cpu_wake > o->cpu_in);
		u64map_get(fast, key, &n);
		if (n < WAKEUPS && u64map_put(fast, key, n + 1))
			return ERR_NOMEM;
	}
	return 0;
}

static int in_step(const struct skew *k, const struct u64map *fast, const struct skew_case *x)
{
	uint64_t second = x->time_ns / NS_PER_SEC;
	uint64_t first = second > NEAR ? second - NEAR : 0;
	uint32_t way[2] = {0};
	for (uint64_t i = first; i <= second + NEAR; i++)
		for (int back = 0; back < 2; back++) {
			uint32_t n = 0;
			u64map_get(fast, wakeups_key(k, i, x->pair, back), &n);
			way[back] += n;
		}
	return way[0] >= WAKEUPS && way[1] >= WAKEUPS;
}

/* Count the cases that wakeups do not contradict. */
static int judge_cases(struct sched *s)
{
	struct skew *k = &s->skew;
	struct u64map fast = {0};
	int r = k->cases.n ? count_wakeups(s, &fast) : 0;
	for (size_t i = 0; !r && i < k->cases.n; i++) {
		const struct skew_case *x = &k->cases.v[i];
		if (in_step(k, &fast, x))
			k->pairs.v[x->pair].n--;
		else
			count_case(&k->pairs.v[x->pair], x);
	}
	u64map_release(&fast);
	return r;
}

/* Does another pair with one of the two CPUs have cases, too? */
static int agrees(const struct skew *k, const struct skew_pair *p)
{
	for (size_t i = 0; i < k->pairs.n; i++) {
		const struct skew_pair *q = &k->pairs.v[i];
		int common = q->cpus[0] == p->cpus[0] || q->cpus[0] == p->cpus[1] ||
			     q->cpus[1] == p->cpus[0] || q->cpus[1] == p->cpus[1];
		if (q != p && common && q->second >= SKEW_LEAST)
			return 1;
	}
	return 0;
}

/* The difference that two cases prove, or one of the first kind with others; 0: none. */
static uint64_t proved_ns(const struct skew *k, const struct skew_pair *p)
{
	uint64_t ns = p->second && (p->twice || agrees(k, p)) ? p->second : 0;
	if (p->n >= CASES && p->twice > ns)
		ns = p->twice;
	return ns >= SKEW_LEAST ? ns : 0;
}

int skew_leaves(struct sched *s, const struct cpu *c, uint32_t i, uint16_t cpu, int sleeps)
{
	struct seen *x = &s->threads.v[i].seen;
	int r = 0;
	if (x->twice && x->old_cpu == cpu) {
		if (c->cur == i && !c->lost)
			r = add_case(s, cpu, x->new_cpu, 1, s->now - x->new_in,
				     x->new_out ? x->new_out - x->old_in : UINT64_MAX);
		x->twice = 0;
	}
	if (!r && x->runs && x->cpu == cpu && x->waking_ns)
		r = add_case(s, cpu, x->waking_cpu, 0, x->waking_ns - x->unwoken_ns,
			     s->now - x->waking_ns);
	if (x->twice && x->new_cpu == cpu)
		x->new_out = s->now;
	if (x->cpu == cpu)
		x->runs = 0;
	x->slept = (uint8_t)sleeps;
	x->woken = 0;
	x->unwoken_ns = x->waking_ns = 0;
	return r;
}

void skew_comes(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct seen *x = &s->threads.v[i].seen;
	if (x->runs && x->cpu != cpu && s->cpus.v[x->cpu].cur == i && !s->cpus.v[x->cpu].lost) {
		x->twice = 1;
		x->old_cpu = x->cpu;
		x->old_in = x->in_ns;
		x->new_cpu = cpu;
		x->new_in = s->now;
		x->new_out = 0;
	} else if (!x->runs && x->slept && !x->woken) {
		x->unwoken_ns = s->now;
	}
	x->runs = 1;
	x->cpu = cpu;
	x->in_ns = s->now;
}

void skew_woken(struct sched *s, uint32_t i, uint16_t cpu)
{
	struct seen *x = &s->threads.v[i].seen;
	if (!x->runs) {
		x->woken = 1;
	} else if (x->unwoken_ns && !x->waking_ns) {
		x->waking_ns = s->now;
		x->waking_cpu = cpu;
	}
}

static int clocks_differ(const struct skew *k, uint16_t a, uint16_t b, uint64_t *ns)
{
	uint32_t at;
	if (a == b || !u64map_get(&k->of_cpus, pair_key(a, b), &at))
		return 0;
	*ns = proved_ns(k, &k->pairs.v[at]);
	return *ns > 0;
}

/* By how much the interval's ends or its waking may be wrong. */
static uint64_t skew_of(const struct skew *k, const struct offcpu *o)
{
	uint64_t ns = 0, most = 0;
	if (clocks_differ(k, o->cpu_out, o->cpu_in, &ns))
		most = ns;
	if (clocks_differ(k, o->cpu_wake, o->cpu_in, &ns) && ns > most)
		most = ns;
	if (clocks_differ(k, o->cpu_wake, o->cpu_out, &ns) && ns > most)
		most = ns;
	return most;
}

int skew_finish(struct sched *s)
{
	enum { PART = 100 }; /* an error of less than 1 in so many does not matter */
	const struct skew *k = &s->skew;
	struct tl_disorder *d = &s->tl->disorder;
	if (judge_cases(s))
		return ERR_NOMEM;
	for (size_t i = 0; i < k->pairs.n; i++) {
		const struct skew_pair *p = &k->pairs.v[i];
		uint64_t ns = proved_ns(k, p);
		if (!ns)
			continue;
		d->skewed_pairs++;
		d->skewed += p->n;
		if (ns <= d->skew_ns)
			continue;
		d->skew_ns = ns;
		d->skew_cpus[0] = p->cpus[0];
		d->skew_cpus[1] = p->cpus[1];
	}
	for (size_t i = 0; d->skew_ns && i < s->tl->offcpu.n; i++) {
		struct offcpu *o = &s->tl->offcpu.v[i];
		uint64_t ns = o->unknown == UNKNOWN_NO_WAKE ? d->skew_ns : skew_of(k, o);
		if (ns > offcpu_ns(o) / PART)
			o->flags |= OFF_SUSPECT;
	}
	return 0;
}
