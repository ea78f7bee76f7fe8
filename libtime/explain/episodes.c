#include "libtime/explain/episodes.h"
#include "libtime/explain/by_design.h"
#include "libtime/explain/episode_id.h"
#include "libtime/explain/lock_holders.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/radix.h"
#include "base/search.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

const char *episode_kind_name(unsigned int kind)
{
	static const char *const names[] = {"wait", "span", "activation", "window", "gap"};
	ENTRIES(names, EPISODE_GAP + 1);
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

/* --- collecting ----------------------------------------------------------------------- */

struct collector {
	const struct timeline *tl;
	const struct population *of;
	struct episodes *out;
	struct err *e; /* ERR_IO is set there */
};

static int add_episode(struct collector *c, const struct episode *in)
{
	struct episodes *out = c->out;
	struct episode own = *in;
	const struct episode *ep = &own;
	uint64_t ns = episode_ns(ep);
	int dirty = is_dirty(ep);
	if (!own.low_ns && !(own.flags & OFF_SUSPECT))
		own.low_ns = ns;
	if (!own.high_ns)
		own.high_ns = ns;
	int r = bigvec_push(&out->v, own, c->e);
	if (!r)
		r = dirty ? vec_push(&out->dirty, ns) : bigvec_push(&out->clean, ns, c->e);
	if (!r && ep->flags & OFF_OPEN)
		r = vec_push(&out->cut, ns);
	else if (!r && dirty)
		r = vec_push(&out->low, ep->low_ns) || vec_push(&out->high, ep->high_ns)
			    ? ERR_NOMEM
			    : 0;
	if (r)
		return r;
	out->open += (ep->flags & OFF_OPEN) != 0;
	out->suspect += (ep->flags & OFF_SUSPECT) != 0;
	out->unknown += !dirty && ep->unknown;
	return 0;
}

static void hide_system(struct episodes *out, uint64_t ns)
{
	out->apart.system++;
	out->apart.system_ns += ns;
}

/* Until a wait is the first to differ in it, `both` has what `clean` has. */
static int begin_both(struct collector *c)
{
	struct episodes *out = c->out;
	int r = bigvec_reserve(&out->both, out->clean.n + 1, c->e);
	if (!r && out->clean.n)
		memcpy(out->both.v, out->clean.v, out->clean.n * sizeof(*out->both.v));
	out->both.n = r ? 0 : out->clean.n;
	out->both_differ = !r;
	return r;
}

/* Count the separate part of a wait and leave the rest in *w. `both` gets an unclear wait in
 * full, unless its begin was cut off; of other waits the rest. */
static int set_apart(struct collector *c, struct wait *w)
{
	enum apart apart = w->apart;
	uint64_t full = w->end - w->start;
	int open = w->open, r = 0;
	if (w->unclear && c->of->likely &&
	    site_sums_add(&c->out->probable, c->tl, w->offcpu, w->blocked + w->unknown, open))
		return ERR_NOMEM;
	uint64_t ns = wait_split_off(w);
	uint64_t both = apart == APART_UNCLEAR && !open ? full
			: w->open                       ? 0
							: w->end - w->start;
	if (apart == APART_UNCLEAR && !open && !c->out->both_differ)
		r = begin_both(c);
	if (!r && c->out->both_differ && both && !(w->offcpu->flags & OFF_SUSPECT))
		r = bigvec_push(&c->out->both, both, c->e);
	return r    ? r
	       : ns ? site_sums_add(&c->out->apart.by[apart], c->tl, w->offcpu, ns, open)
		    : 0;
}

int episode_wait(const struct timeline *tl, const struct population *of, uint32_t offcpu,
		 struct wait *out, uint32_t *last)
{
	struct wait end;
	*last = offcpu;
	if (!population_wait(of, tl, &tl->offcpu.v[offcpu], out))
		return 0;
	*last = lock_last_try(tl, offcpu);
	if (of->to_ns && of->to_ns < tl->offcpu.v[*last].end_ns)
		*last = offcpu; /* between the tries the label does not hold */
	if (*last == offcpu)
		return 1;
	const struct offcpu *o = &tl->offcpu.v[*last];
	out->end = o->end_ns;
	population_clip(of, &out->start, &out->end, &out->open);
	out->open |= o->flags & OFF_OPEN;
	out->ongoing = population_wait(of, tl, o, &end) && end.ongoing;
	return 1;
}

/* *last: see episode_wait. */
static int add_part(struct collector *c, const struct population *of, uint32_t i,
		    uint32_t *last)
{
	const struct offcpu *o = &c->tl->offcpu.v[i];
	struct wait w;
	if (!episode_wait(c->tl, of, i, &w, last))
		return 0;
	if (population_hides_thread(c->of, c->tl, o->thread)) {
		hide_system(c->out, w.end - w.start);
		return 0;
	}
	int r = set_apart(c, &w);
	uint64_t slack = offcpu_ns(o) - offcpu_low_ns(c->tl, o), ns = w.end - w.start;
	uint64_t rest = offcpu_rest_ns(c->tl, o);
	if (r || !ns)
		return r;
	*last += *last == i && rest; /* which is part of the bounds */
	struct episode ep = {
		.start_ns = w.start,
		.end_ns = w.end,
		.thread = o->thread,
		.end_thread = o->thread,
		.comm = o->comm,
		.at = i,
		.cpu = o->cpu_in != TL_NOCPU ? o->cpu_in : o->cpu_out,
		.flags = wait_flags(c->tl, &w),
		.low_ns = ns > slack ? ns - slack : 0,
		.high_ns = ns + rest,
		.unknown = o->unknown != KNOWN,
		.ongoing = w.ongoing != 0,
	};
	return add_episode(c, &ep);
}

static int add_wait(struct collector *c, uint32_t i, uint32_t *last)
{
	const struct offcpu *o = &c->tl->offcpu.v[i];
	struct population part;
	uint64_t at = o->start_ns;
	int r = 0;
	*last = i;
	if (!population_has_thread(c->of, c->tl, o->thread, o->comm))
		return 0;
	if (!c->of->label)
		return add_part(c, c->of, i, last);
	while (!r && population_part(c->of, o->thread, o->path, &at, o->end_ns, &part))
		r = add_part(c, &part, i, last);
	return r;
}

static int has_labels(const struct timeline *tl, const struct episode_query *q, uint32_t span)
{
	for (size_t i = 0; i < q->nwhere; i++)
		if (!q->where[i].value ||
		    timeline_label(tl, span, q->where[i].key) != q->where[i].value)
			return 0;
	return 1;
}

int episodes_include_thread(const struct timeline *tl, const struct episode_query *q,
			    uint32_t thread)
{
	return population_has_thread(&q->of, tl, thread, tl->threads.v[thread].comm) &&
	       !population_hides_thread(&q->of, tl, thread);
}

int episodes_only_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t *thread)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < tl->threads.n && n < 2; i++) {
		if (!episodes_include_thread(tl, q, i))
			continue;
		*thread = i;
		n++;
	}
	return n == 1;
}

int episodes_span_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t span, uint32_t *thread)
{
	const struct tl_span *s = &tl->spans.v[span];
	*thread = s->thread;
	if (s->thread != TL_NONE || !q->alone)
		return s->thread != TL_NONE && !(s->flags & SPAN_OVERLAPPED);
	*thread = q->alone_thread;
	return s->pid < 0 || tl->threads.v[*thread].pid == s->pid;
}

/* A window is not its thread's work, so it does not matter what is suspect or unknown there. */
static void drop_thread_flags(struct episode *ep)
{
	ep->flags &= OFF_OPEN;
	ep->unknown = 0;
}

static int clip(const struct population *of, struct episode *ep)
{
	int cut = 0;
	int some = population_clip(of, &ep->start_ns, &ep->end_ns, &cut);
	ep->flags |= cut ? OFF_OPEN : 0;
	return some;
}

int episodes_span(const struct timeline *tl, const struct episode_query *q, uint32_t span,
		  struct episode *out)
{
	const struct tl_span *s = &tl->spans.v[span];
	int window = q->kind == EPISODE_WINDOW;
	uint32_t thread = s->thread;
	if (!window && !episodes_span_thread(tl, q, span, &thread))
		return 0;
	*out = (struct episode){
		.start_ns = s->start_ns,
		.end_ns = s->end_ns,
		.key = s->key,
		.thread = thread,
		.end_thread = s->thread == TL_NONE ? thread : s->end_thread,
		.comm = thread == TL_NONE ? 0 : tl->threads.v[thread].comm,
		.at = span,
		.cpu = TL_NOCPU,
		.flags = s->flags & (OFF_OPEN | OFF_SUSPECT),
		.unknown = s->unknown_ns != 0 && s->thread != TL_NONE,
	};
	if (window)
		drop_thread_flags(out);
	if (thread != TL_NONE && !population_has_thread(&q->of, tl, thread, out->comm))
		return 0;
	if (q->of.ncpus && thread != TL_NONE) {
		uint16_t cpu = timeline_cpu_at(tl, thread, s->start_ns);
		if (!population_has_cpu(&q->of, tl, cpu, cpu))
			return 0;
	}
	return has_labels(tl, q, span) && population_has_span(&q->of, tl, span) &&
	       clip(&q->of, out);
}

static int add_span(struct collector *c, uint32_t i)
{
	struct episode ep;
	return c->tl->spans.v[i].name == c->out->query.span &&
			       episodes_span(c->tl, &c->out->query, i, &ep)
		       ? add_episode(c, &ep)
		       : 0;
}

/* Only the length of a gap is sure if it is not placed: it is put at the end of its interval.
 */
static int add_gap(struct collector *c, uint32_t i)
{
	const struct tl_gap *g = &c->tl->gaps.v[i];
	struct episode ep = {.start_ns = g->end_ns - g->lost_ns,
			     .end_ns = g->end_ns,
			     .thread = TL_NONE,
			     .end_thread = TL_NONE,
			     .at = i,
			     .cpu = g->cpu,
			     .flags = g->flags & OFF_OPEN};
	return !(g->flags & GAP_CONTROL) && population_has_cpu(c->of, c->tl, g->cpu, g->cpu) &&
			       clip(c->of, &ep)
		       ? add_episode(c, &ep)
		       : 0;
}

/* --- activations: from one idle wait of a thread to the next */

struct activation {
	struct episode ep;
	int begun;
};

static int add_activation(struct collector *c, const struct population *of, struct episode ep)
{
	if (!clip(of, &ep))
		return 0;
	if (population_hides_thread(c->of, c->tl, ep.thread)) {
		hide_system(c->out, episode_ns(&ep));
		return 0;
	}
	return add_episode(c, &ep);
}

static int end_activation(struct collector *c, struct activation *a, uint64_t end_ns,
			  uint8_t flags)
{
	struct population part;
	uint64_t at = a->ep.start_ns;
	int begun = a->begun, r = 0;
	a->ep.end_ns = end_ns;
	a->ep.flags |= flags;
	a->begun = 0;
	if (!begun || end_ns <= a->ep.start_ns ||
	    !population_has_cpu(c->of, c->tl, a->ep.cpu, a->ep.cpu))
		return 0;
	while (!r && population_part(c->of, a->ep.thread, 0, &at, end_ns, &part))
		r = add_activation(c, &part, a->ep);
	return r;
}

static void begin_activation(struct activation *a, const struct offcpu *o)
{
	/* an idle wait cut by the recording's end has no waking */
	a->begun = !(o->flags & OFF_OPEN) || offcpu_runnable_ns(o);
	a->ep = (struct episode){
		.start_ns = o->start_ns + (o->unknown ? offcpu_ns(o) : o->blocked_ns),
		.thread = o->thread,
		.end_thread = o->thread,
		.comm = o->comm,
		.at = TL_NONE,
		.cpu = o->cpu_in,
		.flags = o->flags & OFF_SUSPECT,
		.unknown = o->unknown != KNOWN,
	};
}

/* Add the idle wait before or after an activation. --cpu filters only activations. */
static int add_bound(struct collector *c, const struct offcpu *o)
{
	struct population all = {.start_ns = c->of->start_ns, .stop_ns = c->of->stop_ns};
	struct wait w;
	if (c->tl->threads.v[o->thread].flags & THREAD_SYSTEM ||
	    !population_wait(&all, c->tl, o, &w))
		return 0;
	enum apart apart = o->flags & OFF_IDLE ? APART_IDLE : APART_UNCLEAR;
	w.apart = apart;
	int open = w.open;
	uint64_t ns = wait_split_off(&w);
	return ns ? site_sums_add(&c->out->apart.by[apart], c->tl, o, ns, open) : 0;
}

/* Does a wait bound activations? */
static int is_bound(const struct collector *c, const struct offcpu *o)
{
	if (!c->out->query.by_base)
		return o->flags & (OFF_IDLE | OFF_LOOP);
	return o->flags & OFF_IDLE || likely_bounds(c->of->likely, o);
}

static int add_activations(struct collector *c, uint32_t thread)
{
	const struct tl_thread *t = &c->tl->threads.v[thread];
	struct activation a = {.begun = 0};
	int any = 0;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &c->tl->offcpu.v[i];
		if (!is_bound(c, o)) {
			a.ep.flags |= o->flags & (OFF_SUSPECT | OFF_OPEN);
			a.ep.unknown |= o->unknown != KNOWN;
			continue;
		}
		any = 1;
		int r = end_activation(c, &a, o->start_ns, 0);
		r = r ? r : add_bound(c, o);
		if (r)
			return r;
		begin_activation(&a, o);
	}
	return any ? end_activation(c, &a, t->last_ns, t->flags & THREAD_EXITED ? 0 : OFF_OPEN)
		   : 0;
}

static int add_thread(struct collector *c, uint32_t thread)
{
	const struct tl_thread *t = &c->tl->threads.v[thread];
	int r = 0;
	if (c->out->query.kind == EPISODE_ACTIVATION)
		return population_has_thread(c->of, c->tl, thread, t->comm)
			       ? add_activations(c, thread)
			       : 0;
	for (uint32_t i = t->offcpu_first; !r && i < t->offcpu_first + t->offcpu_n; i++)
		r = add_wait(c, i, &i);
	return r;
}

/* --- durations in order --------------------------------------------------------------- */

/* Sort them all in one scratch memory. */
static int sort_lengths(struct episodes *x)
{
	const struct {
		uint64_t *v;
		size_t n;
	} all[] = {{x->clean.v, x->clean.n}, {x->dirty.v, x->dirty.n}, {x->both.v, x->both.n},
		   {x->low.v, x->low.n},     {x->high.v, x->high.n},   {x->cut.v, x->cut.n}};
	enum { ALL = sizeof(all) / sizeof(*all) };
	size_t most = 1;
	for (int i = 0; i < ALL; i++)
		most = all[i].n > most ? all[i].n : most;
	uint64_t *other = mem_alloc_large(most * sizeof(*other));
	for (int i = 0; other && i < ALL; i++)
		if (all[i].n > 1 && radix_sort_u64(all[i].v, other, all[i].n) == other)
			memcpy(all[i].v, other, all[i].n * sizeof(*other));
	mem_free(other);
	return other ? 0 : ERR_NOMEM;
}

static int count_threads(struct collector *c)
{
	struct u64map threads = {0}, pids = {0};
	int r = 0;
	uint32_t last = TL_NONE;
	for (size_t i = 0; !r && i < c->out->v.n; i++) {
		uint32_t t = c->out->v.v[i].thread;
		if (t == last || t == TL_NONE)
			continue;
		last = t;
		r = u64map_put(&threads, t, 0);
		const struct tl_part *p = timeline_part_of(c->tl, t);
		uint64_t pid = (uint32_t)c->tl->threads.v[t].pid;
		if (!r)
			r = u64map_put(&pids, (p ? (uint64_t)p->id << 32 : 0) | pid, 0);
	}
	c->out->threads = threads.n;
	c->out->processes = pids.n;
	u64map_release(&threads);
	u64map_release(&pids);
	return r;
}

int episodes_collect(const struct timeline *tl, const struct episode_query *q,
		     struct episodes *out, struct err *e)
{
	struct collector c = {.tl = tl, .of = &out->query.of, .out = out, .e = e};
	int r = 0;
	*out = (struct episodes){.query = *q};
	if (!q->of.likely && q->of.ranked &&
	    (q->kind == EPISODE_WAIT || q->kind == EPISODE_ACTIVATION))
		r = likely_new(tl, &out->likely);
	out->query.of.likely = q->of.likely ? q->of.likely : out->likely;
	if (r)
		; /* out of memory */
	else if (q->kind == EPISODE_SPAN || q->kind == EPISODE_WINDOW)
		for (uint32_t i = 0; !r && i < tl->spans.n; i++)
			r = add_span(&c, i);
	else if (q->kind == EPISODE_GAP)
		for (uint32_t i = 0; !r && i < tl->gaps.n; i++)
			r = add_gap(&c, i);
	else
		for (uint32_t i = 0; !r && i < tl->threads.n; i++)
			r = add_thread(&c, i);
	if (!r)
		r = sort_lengths(out);
	if (!r)
		r = set_apart_finish(&out->apart) || site_sums_finish(&out->probable)
			    ? ERR_NOMEM
			    : 0;
	if (!r)
		r = count_threads(&c);
	if (r)
		episodes_release(out);
	return r && r != ERR_IO ? err_nomem(e) : r;
}

void episodes_release(struct episodes *x)
{
	bigvec_release(&x->v);
	bigvec_release(&x->clean);
	vec_release(&x->dirty);
	vec_release(&x->low);
	vec_release(&x->high);
	vec_release(&x->cut);
	bigvec_release(&x->both);
	set_apart_release(&x->apart);
	site_sums_release(&x->probable);
	likely_free(x->likely);
	x->likely = NULL;
	x->query.of.likely = NULL;
}

size_t episodes_span_names(const struct timeline *tl, uint32_t *names, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < tl->spans.n; i++) {
		size_t k = 0;
		while (k < n && k < max && names[k] != tl->spans.v[i].name)
			k++;
		if (k < n && k < max)
			continue;
		if (n < max)
			names[n] = tl->spans.v[i].name;
		n++;
	}
	return n;
}

/* --- percentiles ---------------------------------------------------------------------- */

/* How many of the ascending v are below x. */
static size_t below(const uint64_t *v, size_t n, uint64_t x)
{
	return PARTITION_POINT(i, 0, n, v[i] < x);
}

/* The rank-th smallest of x->clean and v together; both are ascending. */
static uint64_t ranked(const struct episodes *x, const uint64_t *v, size_t n, uint64_t rank)
{
	size_t i = 0, k = 0;
	uint64_t last = 0;
	/* k takes at most n steps, i skips whole runs */
	while (rank) {
		if (k == n)
			return x->clean.v[i + rank - 1];
		size_t to = below(x->clean.v, x->clean.n, v[k]);
		if (to - i >= rank)
			return x->clean.v[i + rank - 1];
		rank -= to - i;
		i = to;
		last = v[k++];
		rank--;
	}
	return last;
}

uint64_t episodes_percentile(const struct episodes *x, uint32_t millipercent, int with_dirty)
{
	if (with_dirty && x->dirty.n)
		return ranked(x, x->dirty.v, x->dirty.n,
			      percentile_rank(x->clean.n + x->dirty.n, millipercent));
	return x->clean.n ? x->clean.v[percentile_rank(x->clean.n, millipercent) - 1] : 0;
}

void episodes_percentile_range(const struct episodes *x, uint32_t millipercent, uint64_t *low,
			       uint64_t *high)
{
	uint64_t known = episodes_percentile(x, millipercent, 0);
	uint64_t rank = percentile_rank(x->clean.n + x->low.n, millipercent);
	*low = *high = known;
	if (!x->low.n)
		return;
	uint64_t a = ranked(x, x->low.v, x->low.n, rank);
	uint64_t b = ranked(x, x->high.v, x->high.n, rank);
	a = x->clean.n && known < a ? known : a;
	b = b < known ? known : b;
	if (x->clean.n && is_length_known(b, b - a))
		return;
	*low = a;
	*high = b;
}

/* For waits, if no unclear one is in full in `both`, that is `clean`. */
static int both_are_clean(const struct episodes *x)
{
	return x->query.kind == EPISODE_WAIT && !x->both_differ;
}

size_t episodes_count_of_both(const struct episodes *x)
{
	return both_are_clean(x) ? x->clean.n : x->both.n;
}

uint64_t episodes_percentile_of_both(const struct episodes *x, uint32_t millipercent)
{
	if (both_are_clean(x))
		return episodes_percentile(x, millipercent, 0);
	return x->both.n ? x->both.v[percentile_rank(x->both.n, millipercent) - 1] : 0;
}

static size_t reaching(const uint64_t *v, size_t n, uint64_t threshold)
{
	return n - below(v, n, threshold);
}

/* May more reach the threshold than surely do? */
static int mostly_dirty(const struct episodes *x, uint64_t threshold)
{
	size_t surely = reaching(x->low.v, x->low.n, threshold);
	return reaching(x->high.v, x->high.n, threshold) +
		       reaching(x->cut.v, x->cut.n, threshold) - surely >
	       reaching(x->clean.v, x->clean.n, threshold) + surely;
}

int episodes_are_uncertain(const struct episodes *x, uint32_t millipercent)
{
	uint64_t threshold = episodes_percentile(x, millipercent, 0);
	return reaching(x->cut.v, x->cut.n, threshold) >
	       reaching(x->clean.v, x->clean.n, threshold);
}

/* --- selection ------------------------------------------------------------------------ */

static uint64_t threshold_of(const struct episodes *x, const struct episode_pick *p)
{
	if (p->kind == PICK_OVER)
		return p->ns;
	if (p->kind == PICK_PERCENTILE)
		return episodes_percentile(x, p->millipercent, 0);
	if (p->kind == PICK_KEY || p->kind == PICK_ID)
		return 0;
	size_t n = x->clean.n + (p->dirty ? x->dirty.n : 0);
	if (!p->top || !n)
		return UINT64_MAX;
	size_t shortest = p->top < n ? n - p->top : 0;
	return p->dirty ? ranked(x, x->dirty.v, x->dirty.n, shortest + 1)
			: x->clean.v[shortest];
}

static int worst_order(const void *a, const void *b, void *ctx)
{
	const struct episode *v = ctx;
	const struct episode *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];
	if (x->by_design != y->by_design)
		return x->by_design - y->by_design;
	if (episode_ns(x) != episode_ns(y))
		return episode_ns(x) > episode_ns(y) ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

uint32_t episode_key_text(const struct episodes *x, const struct timeline *tl,
			  const struct episode *ep)
{
	int span = x->query.kind == EPISODE_SPAN || x->query.kind == EPISODE_WINDOW;
	return span && ep->at < tl->spans.n ? tl->spans.v[ep->at].key_text : 0;
}

/* 0: no; of several that are picked, only those with the highest number are. */
static int is_picked(const struct episodes *x, const struct timeline *tl,
		     const struct episode_pick *pick, const struct episode *ep,
		     uint64_t threshold)
{
	uint32_t key = episode_key_text(x, tl, ep);
	if (pick->kind == PICK_KEY)
		return key ? key == pick->key_text : ep->key && ep->key == pick->key;
	if (pick->kind == PICK_ID)
		return episode_id_fits(tl, &pick->id, ep, x->query.kind);
	return episode_ns(ep) >= threshold &&
	       (!is_dirty(ep) || pick->dirty || (ep->ongoing && !(ep->flags & OFF_SUSPECT)));
}

/* Did no option say whose waits, so that those by design may be left out? */
static int is_of_all(const struct episode_query *q)
{
	const struct population *of = &q->of;
	return q->kind == EPISODE_WAIT && of->ranked && !of->ncomms && !of->npids &&
	       !of->ntids && !of->ncpus && !of->label && !of->sites && !of->idle;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x < y) - (x > y);
}

/* The shortest of the `n` longest waits that are not by design; 0: they are too few or too
 * short to be a tail. */
static int unusual_threshold(const struct episodes *x, uint64_t n, uint64_t *out, struct err *e)
{
	enum { SEVERAL = 3, LONG_NS = 10000000 };
	VEC(uint64_t) v = {0};
	*out = 0;
	for (size_t i = 0; i < x->v.n; i++) {
		const struct episode *ep = &x->v.v[i];
		if (ep->by_design || is_dirty(ep) || episode_ns(ep) < DESIGN_LEAST_NS)
			continue;
		if (vec_push(&v, episode_ns(ep))) {
			vec_release(&v);
			return err_nomem(e);
		}
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), longest_first);
	if (v.n >= SEVERAL || (v.n && v.v[0] >= LONG_NS))
		*out = v.v[(n < v.n ? n : v.n) - 1];
	vec_release(&v);
	return 0;
}

/* Leave waits by design out of a selection if the others have a tail. */
static int leave_out_design(struct episodes *x, const struct timeline *tl,
			    const struct episode_pick *pick, struct episode_selection *out,
			    int *leave, struct err *e)
{
	uint64_t threshold = 0;
	uint64_t n = pick->top;
	if (pick->kind == PICK_PERCENTILE && x->clean.n) {
		n = x->clean.n - percentile_rank(x->clean.n, pick->millipercent) + 1;
		n = n < pick->least ? pick->least : n;
	}
	int r = by_design_mark(x, tl, e);
	if (!r && n)
		r = unusual_threshold(x, n, &threshold, e);
	if (r || !threshold)
		return r;
	out->threshold_ns = threshold;
	*leave = pick->kind == PICK_PERCENTILE;
	for (size_t i = 0; i < x->v.n; i++) {
		const struct episode *ep = &x->v.v[i];
		if (!ep->by_design || is_dirty(ep) || episode_ns(ep) < threshold)
			continue;
		out->by_design++;
		out->longest_ns =
			episode_ns(ep) > out->longest_ns ? episode_ns(ep) : out->longest_ns;
	}
	return 0;
}

/* Take the episodes that are picked. */
static int take(const struct episodes *x, const struct timeline *tl,
		const struct episode_pick *pick, int leave, struct episode_selection *out)
{
	int best = 1; /* how well the picked ones fit */
	for (uint32_t i = 0; i < x->v.n; i++) {
		int fits = is_picked(x, tl, pick, &x->v.v[i], out->threshold_ns);
		if (fits > best) {
			best = fits;
			out->v.n = 0;
		}
		if (fits < best || (leave && x->v.v[i].by_design))
			continue;
		if (vec_push(&out->v, i))
			return ERR_NOMEM;
	}
	if (out->v.n)
		qsort_r(out->v.v, out->v.n, sizeof(*out->v.v), worst_order, x->v.v);
	if (pick->kind == PICK_TOP && out->v.n > pick->top)
		out->v.n = (size_t)pick->top;
	return 0;
}

int episodes_select(struct episodes *x, const struct timeline *tl,
		    const struct episode_pick *pick, struct episode_selection *out,
		    struct err *e)
{
	uint64_t threshold = threshold_of(x, pick);
	int leave = 0, r = 0;
	*out = (struct episode_selection){.threshold_ns = threshold};
	out->uncertain = pick->kind == PICK_PERCENTILE && mostly_dirty(x, threshold);
	out->extended = pick->kind == PICK_PERCENTILE &&
			reaching(x->clean.v, x->clean.n, threshold) < pick->least &&
			x->clean.n > 1;
	if (out->extended)
		out->threshold_ns =
			x->clean.v[x->clean.n -
				   (pick->least < x->clean.n ? pick->least : x->clean.n)];
	out->everybody = pick->unusual && is_of_all(&x->query) && !x->query.of.meant;
	if (pick->unusual && is_of_all(&x->query))
		r = leave_out_design(x, tl, pick, out, &leave, e);
	int by_length = pick->kind != PICK_KEY && pick->kind != PICK_ID;
	if (by_length) {
		out->whole = reaching(x->clean.v, x->clean.n, out->threshold_ns);
		out->dirty = reaching(x->dirty.v, x->dirty.n, out->threshold_ns);
	}
	if (!r && take(x, tl, pick, leave, out))
		r = err_nomem(e);
	if (r) {
		episode_selection_release(out);
		return r;
	}
	out->unlisted = out->dirty;
	for (size_t i = 0; i < out->v.n && by_length; i++)
		out->unlisted -= is_dirty(&x->v.v[out->v.v[i]]);
	return 0;
}

void episode_selection_release(struct episode_selection *s)
{
	vec_release(&s->v);
}
