#include "libtime/population/likely.h"
#include "base/mem.h"
#include "libtime/causes/sites.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

enum {
	ENOUGH = 4,      /* waits that show a thread's habit */
	LOOKED_BACK = 8, /* intervals searched for a waker's last wait */
	FAR_LONGER = 10, /* than the median */
	MAX_DEPTH = 64,  /* functions counted on a stack */
};

/* A thread's waits at one site. */
struct visits {
	uint64_t ns;
	uint32_t site, n, answered, depth;
};

struct base {
	uint32_t site;  /* 0: none */
	uint32_t turns; /* the site that bounds its cycles; 0: none */
	uint64_t usual; /* its median, if its waits are answers; else UINT64_MAX */
};

struct likely {
	const struct timeline *tl;
	VEC(struct base) base; /* by thread */
	/* scratch, of one thread */
	VEC(struct visits) sites;
	VEC(uint64_t) lengths;
	struct u64map index; /* site → sites */
	int copies;
};

static int counts(const struct offcpu *o)
{
	return o->flags & (OFF_IDLE | OFF_UNCLEAR) && o->blocked_ns && o->site;
}

static int is_wait(const struct offcpu *o)
{
	return o->blocked_ns && o->site;
}

/* How many functions of the application are on a stack. */
static uint32_t depth_of(const struct timeline *tl, uint32_t path)
{
	const unsigned others = ROLE_RUNTIME | ROLE_START | ROLE_WRAPPER | ROLE_OPAQUE;
	const struct stacks *s = tl->stacks;
	uint32_t n = 0;
	for (; path && n < MAX_DEPTH; path = s->paths.v[path].parent) {
		uint32_t frame = s->paths.v[path].frame;
		n += s->frames.v[frame].kind != FRAME_KERNEL &&
		     !(timeline_roles(tl, frame) & others);
	}
	return n;
}

/* Did this thread end the last wait of the thread that ended this one? */
static int is_answer(const struct timeline *tl, const struct offcpu *o)
{
	if (o->waker == TL_NONE || o->waker == o->thread)
		return 0;
	const struct tl_thread *t = &tl->threads.v[o->waker];
	uint32_t i = timeline_offcpu_after(tl, o->waker, o->start_ns + o->blocked_ns);
	for (int n = 0; n < (int)LOOKED_BACK && i > t->offcpu_first; n++) {
		const struct offcpu *w = &tl->offcpu.v[--i];
		if (w->blocked_ns && !(w->flags & OFF_RUNNING))
			return w->waker == o->thread;
	}
	return 0;
}

static int count_wait(struct likely *x, const struct offcpu *o)
{
	uint32_t at = (uint32_t)x->sites.n;
	if (!u64map_get(&x->index, o->site, &at)) {
		struct visits new = {.site = o->site, .depth = depth_of(x->tl, o->path)};
		if (vec_push(&x->sites, new) || u64map_put(&x->index, o->site, at))
			return ERR_NOMEM;
	}
	struct visits *v = &x->sites.v[at];
	v->n++;
	v->ns += o->blocked_ns;
	v->answered += (uint32_t)is_answer(x->tl, o);
	return 0;
}

static int mostly_answered(const struct visits *v)
{
	return v->answered * 2 > v->n;
}

/* Leave out of the sites those with less than half of the most waits. */
static void keep_frequent(struct likely *x)
{
	size_t n = 0;
	uint32_t most = 0;
	for (size_t i = 0; i < x->sites.n; i++)
		most = x->sites.v[i].n > most ? x->sites.v[i].n : most;
	for (size_t i = 0; i < x->sites.n; i++)
		if (x->sites.v[i].n >= most - x->sites.v[i].n)
			x->sites.v[n++] = x->sites.v[i];
	x->sites.n = n;
}

/* ... those whose waits are mostly answers, if others are not. */
static void keep_unanswered(struct likely *x)
{
	size_t n = 0;
	for (size_t i = 0; i < x->sites.n; i++)
		n += !mostly_answered(&x->sites.v[i]);
	if (!n || n == x->sites.n)
		return;
	n = 0;
	for (size_t i = 0; i < x->sites.n; i++)
		if (!mostly_answered(&x->sites.v[i]))
			x->sites.v[n++] = x->sites.v[i];
	x->sites.n = n;
}

/* ... those with less than half of the most time. */
static void keep_long(struct likely *x)
{
	size_t n = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < x->sites.n; i++)
		most = x->sites.v[i].ns > most ? x->sites.v[i].ns : most;
	for (size_t i = 0; i < x->sites.n; i++)
		if (x->sites.v[i].ns >= most - x->sites.v[i].ns)
			x->sites.v[n++] = x->sites.v[i];
	x->sites.n = n;
}

/*
 * The site where a thread rests, NULL if it has none: of those with about the most waits, the one
 * with the shallowest stack of those with about the most time. Each step asks all sites at once:
 * "twice as many" is not transitive, so that comparing two at a time would let their order
 * decide. Leaves out sites.
 */
static const struct visits *find_rest(struct likely *x)
{
	const struct visits *best = NULL;
	keep_frequent(x);
	if (x->copies)
		keep_unanswered(x);
	keep_long(x);
	for (size_t i = 0; i < x->sites.n; i++) {
		const struct visits *v = &x->sites.v[i];
		if (!best || v->depth < best->depth ||
		    (v->depth == best->depth &&
		     (v->ns > best->ns || (v->ns == best->ns && v->site < best->site))))
			best = v;
	}
	return best;
}

static int length_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The median of a thread's waits at a site. */
static int find_usual(struct likely *x, const struct tl_thread *t, struct base *base)
{
	x->lengths.n = 0;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &x->tl->offcpu.v[i];
		if (counts(o) && o->site == base->site && vec_push(&x->lengths, o->blocked_ns))
			return ERR_NOMEM;
	}
	qsort(x->lengths.v, x->lengths.n, sizeof(*x->lengths.v), length_order);
	base->usual = x->lengths.v[x->lengths.n / 2];
	return 0;
}

/* The site with most waits, whichever thread's, of the role that a site belongs to. */
static uint32_t base_of_role(const struct timeline *tl, uint32_t site)
{
	const struct tl_site *role = timeline_site(tl, site), *best = NULL;
	for (size_t i = 1; i < tl->sites.n; i++) {
		const struct tl_site *s = &tl->sites.v[i];
		if (s->program == role->program && s->role == role->role &&
		    s->verdict != SITE_WORK && (!best || s->waits > best->waits))
			best = s;
	}
	return best && best->waits >= ENOUGH ? (uint32_t)(best - tl->sites.v) : 0;
}

/* The site where a thread rests, by those of its waits that count; NULL if it has none. */
static int find_site(struct likely *x, const struct tl_thread *t,
		     int (*waits)(const struct offcpu *), const struct visits **best)
{
	x->sites.n = 0;
	u64map_release(&x->index);
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++)
		if (waits(&x->tl->offcpu.v[i]) && count_wait(x, &x->tl->offcpu.v[i]))
			return ERR_NOMEM;
	*best = find_rest(x);
	return 0;
}

static int find_base(struct likely *x, uint32_t thread)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	struct base base = {.usual = UINT64_MAX};
	const struct visits *best;
	if (find_site(x, t, counts, &best))
		return ERR_NOMEM;
	if (best) {
		base.site = best->n < ENOUGH ? base_of_role(x->tl, best->site) : best->site;
		base.turns = base.site;
		if (best->n >= ENOUGH && mostly_answered(best) && find_usual(x, t, &base))
			return ERR_NOMEM;
	} else {
		if (find_site(x, t, is_wait, &best))
			return ERR_NOMEM;
		base.turns = best && best->n >= ENOUGH ? best->site : 0;
	}
	return vec_push(&x->base, base) ? ERR_NOMEM : 0;
}

int likely_new(const struct timeline *tl, struct likely **out)
{
	struct likely *x = *out = mem_zalloc(1, sizeof(*x));
	int r = x ? 0 : ERR_NOMEM;
	if (x) {
		x->tl = tl;
		x->copies = sites_have_copies(tl);
	}
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		r = find_base(x, i);
	if (x) {
		vec_release(&x->sites);
		vec_release(&x->lengths);
		u64map_release(&x->index);
	}
	if (r) {
		likely_free(x);
		*out = NULL;
	}
	return r;
}

void likely_free(struct likely *x)
{
	if (!x)
		return;
	vec_release(&x->base);
	mem_free(x);
}

int likely_bounds(const struct likely *x, const struct offcpu *o)
{
	return x && o->blocked_ns && o->site && o->site == x->base.v[o->thread].turns &&
	       !likely_waited_for(x, o);
}

int likely_is_base(const struct likely *x, uint32_t site)
{
	for (size_t i = 0; x && site && i < x->base.n; i++)
		if (x->base.v[i].site == site)
			return 1;
	return 0;
}

int likely_waited_for(const struct likely *x, const struct offcpu *o)
{
	if (!x || !(o->flags & OFF_UNCLEAR))
		return 0;
	const struct tl_site *s = timeline_site(x->tl, o->site);
	const struct base *b = &x->base.v[o->thread];
	if (!b->site)
		return 0; /* it waited too seldom to have a habit */
	if (o->site == b->site)
		return b->usual != UINT64_MAX && o->blocked_ns / FAR_LONGER > b->usual;
	if (x->copies && o->cause == CAUSE_SLEEP)
		return 0; /* copies show whether it is inside work */
	/* without a function of the application, or its name, all sites of a thread with one
	 * cause may be one */
	if (x->copies && s->cause != timeline_site(x->tl, b->site)->cause &&
	    s->reason == REASON_NO_FRAME)
		return 1;
	return s->frame && x->tl->stacks->frames.v[s->frame].name &&
	       s->reason != REASON_NO_FRAME && s->reason != REASON_LIBRARY_LOOP;
}
