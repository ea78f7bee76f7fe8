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
 * The smaller of the two is certain. A waker that races with the sleeper looks like the second
 * case by a few microseconds, and so do some missing switches: one case proves nothing.
 */
#include "libtime/sched/sched_internal.h"

enum {
	CASE_LEAST = 1000,  /* ns */
	SKEW_LEAST = 10000, /* ns: clocks that differ by less are in step */
	CASES = 3,          /* of any kind that make one of the first kind count */
};

void skew_release(struct skew *k)
{
	vec_release(&k->pairs);
	u64map_release(&k->of_cpus);
}

static int pair_of(struct skew *k, uint16_t a, uint16_t b, struct skew_pair **out)
{
	struct skew_pair fresh = {.cpus = {a < b ? a : b, a < b ? b : a}};
	uint64_t key = (uint64_t)fresh.cpus[0] << 16 | fresh.cpus[1];
	uint32_t at;
	if (!u64map_get(&k->of_cpus, key, &at)) {
		at = (uint32_t)k->pairs.n;
		if (vec_push(&k->pairs, fresh) || u64map_put(&k->of_cpus, key, at))
			return ERR_NOMEM;
	}
	*out = &k->pairs.v[at];
	return 0;
}

/* The clocks of two CPUs differ by the smaller of `either` and `or`, or more. */
static int add_case(struct sched *s, uint16_t a, uint16_t b, int twice, uint64_t either,
		    uint64_t or)
{
	uint64_t ns = either < or ? either : or ;
	struct skew_pair *p;
	if (a == b || a == TL_NOCPU || b == TL_NOCPU || ns < CASE_LEAST)
		return 0;
	if (pair_of(&s->skew, a, b, &p))
		return ERR_NOMEM;
	p->n++;
	if (twice && ns > p->twice)
		p->twice = ns;
	if (ns > p->most) {
		p->second = p->most;
		p->most = ns;
	} else if (ns > p->second) {
		p->second = ns;
	}
	return 0;
}

/* The difference that two cases prove, or one of the first kind with others; 0: none. */
static uint64_t proved_ns(const struct skew_pair *p)
{
	uint64_t ns = p->second;
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
	uint64_t key = a < b ? (uint64_t)a << 16 | b : (uint64_t)b << 16 | a;
	if (a == b || !u64map_get(&k->of_cpus, key, &at))
		return 0;
	*ns = proved_ns(&k->pairs.v[at]);
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

void skew_finish(struct sched *s)
{
	enum { PART = 100 }; /* an error of less than 1 in so many does not matter */
	const struct skew *k = &s->skew;
	struct tl_disorder *d = &s->tl->disorder;
	for (size_t i = 0; i < k->pairs.n; i++) {
		const struct skew_pair *p = &k->pairs.v[i];
		uint64_t ns = proved_ns(p);
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
}
