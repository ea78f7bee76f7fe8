#include "libtime/explain/slow_time.h"
#include "libtime/causes/app_frame.h"
#include "libtime/explain/told.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

enum {
	ENOUGH = 20,  /* cycles, of which a long one is unusual ... */
	UNUSUAL = 3,  /* ... if it is so many times as long as the median */
	SEVERAL = 3,  /* unusual ones, that are no accident */
	MOSTLY = 60,  /* percent of their time that was running */
	AS_LONG = 50, /* percent of the running time that another thread lacked a CPU */
	WORTH = 4,    /* what fewer than 1 in so many samples show is not said */
};

/* One of the longest cycles. */
struct cycle {
	const struct episode *ep;
	uint64_t run_ns, samples, in_function; /* in_function: of samples */
	uint32_t function, path; /* which it ran most, as samples show; 0: not known */
	const struct mechanism *mechanism; /* of that */
};

typedef VEC(struct cycle) cycles_vec;

/* The largest part of an episode's own running time, if samples show what that was; else NULL.
 */
static const struct chain_part *ran_most(const struct explanation *x)
{
	const struct chain_link *l = &x->chain.v[0];
	for (uint32_t i = 0; !l->guessed && i < l->nparts; i++) {
		const struct chain_part *p = &x->parts.v[l->part + i];
		if (p->state == PART_RUNNING)
			return p->function && p->end != END_IRQ ? p : NULL;
	}
	return NULL;
}

static int add_cycle(cycles_vec *v, const struct episode *ep, const struct explanation *x)
{
	const struct chain_part *p = ran_most(x);
	struct cycle c = {.ep = ep, .run_ns = x->run_ns, .samples = x->samples};
	if (p) {
		c.function = p->function;
		c.path = p->path;
		c.in_function = p->samples;
		c.mechanism = p->mechanism;
	}
	return vec_push(v, c);
}

/* The function that more than half of the cycles ran most; 0: none. */
static uint32_t common_function(const cycles_vec *v)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < v->n; k++)
			n += v->v[k].function == v->v[i].function;
		if (n * 2 > v->n)
			return v->v[i].function;
	}
	return 0;
}

/* The same for what a mechanism says of them; NULL: none. */
static const struct mechanism *common_mechanism(const cycles_vec *v)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < v->n; k++)
			n += v->v[k].mechanism == v->v[i].mechanism;
		if (n * 2 > v->n)
			return v->v[i].mechanism;
	}
	return NULL;
}

/* Does a cycle have in common with most of them what `out` says? */
static int is_alike(const struct cycle *c, const struct slow_time *out)
{
	return out->function ? c->function == out->function
			     : !out->mechanism || c->mechanism == out->mechanism;
}

/* For how long a thread was ready in [from, to), but without a CPU. */
static uint64_t lacked_cpu(const struct timeline *tl, uint32_t thread, uint64_t from,
			   uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t ns = 0;
	for (uint32_t i = timeline_offcpu_after(tl, thread, from);
	     i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < to; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t a = o->start_ns + o->blocked_ns, b = o->end_ns;
		a = a < from ? from : a;
		b = b > to ? to : b;
		ns += !o->unknown && !(o->flags & OFF_SUSPECT) && b > a ? b - a : 0;
	}
	return ns;
}

/* The same, but of the time in which the episode's thread ran. */
static uint64_t lacked_while(const struct timeline *tl, uint32_t thread,
			     const struct episode *ep)
{
	const struct tl_thread *own = &tl->threads.v[ep->thread];
	uint64_t ns = 0, at = ep->start_ns;
	for (uint32_t i = timeline_offcpu_after(tl, ep->thread, at);
	     i < own->offcpu_first + own->offcpu_n && tl->offcpu.v[i].start_ns < ep->end_ns;
	     i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (o->start_ns > at)
			ns += lacked_cpu(tl, thread, at, o->start_ns);
		at = o->end_ns;
	}
	return at < ep->end_ns ? ns + lacked_cpu(tl, thread, at, ep->end_ns) : ns;
}

/* Find the thread of the same process that lacked a CPU longest while the cycles of `out`
 * ran. */
static void find_stalled(const struct timeline *tl, const cycles_vec *v, struct slow_time *out)
{
	uint64_t most = out->run_ns / 100 * AS_LONG;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		uint64_t ns = 0;
		for (size_t k = 0; k < v->n; k++) {
			const struct cycle *c = &v->v[k];
			uint32_t own = c->ep->thread;
			if (i != own && t->pid >= 0 && t->pid == tl->threads.v[own].pid &&
			    timeline_part_of(tl, i) == timeline_part_of(tl, own) &&
			    is_alike(c, out))
				ns += lacked_while(tl, i, c->ep);
		}
		if (ns > most) {
			most = out->stalled_ns = ns;
			out->stalled = i;
		}
	}
}

/* What called the function in most of the cycles that ran it most (a majority vote); else 0. */
static uint32_t common_caller(const struct timeline *tl, const cycles_vec *v,
			      const struct slow_time *of)
{
	uint32_t caller = 0;
	size_t lead = 0, n = 0;
	for (int round = 0; of->function && round < 2; round++)
		for (size_t i = 0; i < v->n; i++) {
			uint32_t own = appframe_named_caller(tl, v->v[i].path);
			if (v->v[i].function != of->function)
				continue;
			if (round) {
				n += own && told_same_name(tl, own, caller);
				continue;
			}
			caller = lead ? caller : own;
			lead += told_same_name(tl, own, caller) ? 1 : (size_t)-1;
		}
	return n * 2 > of->alike ? caller : 0;
}

struct doing {
	const struct mechanism *of;
	uint64_t samples;
};

/* What a mechanism says of most samples of the cycles: out->doing and ->doing_samples. ERR_NOMEM.
 */
static int find_doing(struct evidence *ev, const cycles_vec *v, struct slow_time *out,
		      struct err *e)
{
	VEC(struct doing) all = {0};
	size_t first, last, at;
	int r = 0;
	for (size_t i = 0; !r && i < v->n; i++) {
		const struct episode *ep = v->v[i].ep;
		r = evidence_samples(ev, ep->thread, ep->start_ns, ep->end_ns, &first, &last,
				     e);
		for (size_t k = first; !r && k < last; k++) {
			const struct tl_sample *s = &ev->tl->samples.v[ev->samples.id.v[k]];
			const struct mechanism *m = mechanism_of(
				ev->mechanisms, MECHANISMS_OF_RUNNING, s->path, 0, 0);
			for (at = 0; at < all.n && all.v[at].of != m; at++)
				;
			if (at == all.n && vec_push(&all, ((struct doing){m, 0})))
				r = err_nomem(e);
			else
				all.v[at].samples++;
		}
	}
	for (size_t i = 0; !r && i < all.n; i++)
		if (all.v[i].of && all.v[i].samples > out->doing_samples) {
			out->doing = all.v[i].of;
			out->doing_samples = all.v[i].samples;
		}
	vec_release(&all);
	return r;
}

/* Of what the function that most cycles ran most and what they did say, keep the larger part. */
static void choose(const cycles_vec *v, struct slow_time *out)
{
	uint64_t all = 0, own = 0, in_function = 0;
	out->function = common_function(v);
	for (size_t i = 0; i < v->n; i++) {
		const struct cycle *c = &v->v[i];
		all += c->samples;
		own += c->function == out->function ? c->samples : 0;
		in_function += c->function == out->function ? c->in_function : 0;
	}
	if (in_function * WORTH < own)
		out->function = 0;
	if (out->doing_samples * WORTH < all ||
	    (out->function &&
	     (double)out->doing_samples * (double)own <= (double)in_function * (double)all))
		out->doing = NULL;
	else
		out->function = 0;
}

/* Sum up the cycles that ran the function which most ran, or did what most did, or all. */
static void sum_up(const struct timeline *tl, const cycles_vec *v, struct slow_time *out)
{
	const struct mechanism *same = NULL;
	choose(v, out);
	out->mechanism = out->function || out->doing ? NULL : common_mechanism(v);
	for (size_t i = 0; i < v->n; i++) {
		const struct cycle *c = &v->v[i];
		if (!out->cycles++)
			out->comm = c->ep->comm;
		else if (c->ep->comm != out->comm)
			out->comm = 0;
		if (!is_alike(c, out))
			continue;
		same = !out->alike++ || c->mechanism == same ? c->mechanism : NULL;
		out->ns += episode_ns(c->ep);
		out->run_ns += c->run_ns;
		out->samples += c->samples;
		out->in_function += out->function ? c->in_function : 0;
	}
	out->caller = common_caller(tl, v, out);
	find_stalled(tl, v, out);
	out->mechanism = out->doing ? NULL : same;
}

/* Does running explain the cycles, and more than the waits? */
static int ran_mostly(const cycles_vec *v, uint64_t waits_ns)
{
	uint64_t ns = 0, run_ns = 0;
	for (size_t i = 0; i < v->n; i++) {
		ns += episode_ns(v->v[i].ep);
		run_ns += v->v[i].run_ns;
	}
	return run_ns > waits_ns && run_ns >= ns / 100 * MOSTLY;
}

int slow_time_find(struct explainer *x, const struct timeline *tl,
		   const struct episode_query *q, uint64_t waits_ns, struct slow_time *out,
		   struct err *e)
{
	struct episode_query cycles = *q;
	struct episode_pick pick = {.kind = PICK_TOP, .top = SLOW_CYCLES};
	struct episodes all;
	struct episode_selection worst = {.threshold_ns = 0};
	struct explanation of = {0};
	cycles_vec v = {0};
	*out = (struct slow_time){.stalled = TL_NONE};
	cycles.kind = EPISODE_ACTIVATION;
	cycles.by_base = 1;
	int r = episodes_collect(tl, &cycles, &all, e);
	if (r)
		return r;
	uint64_t usual = episodes_percentile(&all, 50000, 0);
	if (all.clean.n >= ENOUGH)
		r = episodes_select(&all, tl, &pick, &worst, e);
	for (size_t i = 0; !r && i < worst.v.n; i++) {
		const struct episode *ep = &all.v.v[worst.v.v[i]];
		if (episode_ns(ep) / UNUSUAL < usual)
			continue;
		r = explain(x, ep, &of, e);
		if (!r && add_cycle(&v, ep, &of))
			r = err_nomem(e);
	}
	if (!r && v.n >= SEVERAL && ran_mostly(&v, waits_ns)) {
		r = find_doing(explainer_evidence(x), &v, out, e);
		if (!r)
			sum_up(tl, &v, out);
	}
	vec_release(&v);
	explanation_release(&of);
	episode_selection_release(&worst);
	episodes_release(&all);
	return r;
}
