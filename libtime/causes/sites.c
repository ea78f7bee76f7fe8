/* sites.c - puts intervals into sites, and counts what else their roles do; see
 * sites_internal.h. */
#include "libtime/causes/sites.h"
#include "base/mem.h"
#include "libtime/causes/sites_internal.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <string.h>

enum {
	LOOKED_BACK = 16,    /* intervals searched for a waker's last wait */
	BY_TABLE = 1u << 31, /* in a site's key: a frame of frames.rules, not an app path */
};

/* In struct found: the stack shows no function of the application; it woke another thread. */
static const uint32_t NO_COUNT = UINT32_MAX, WORKS = UINT32_MAX;

int sites_first_of(struct u64map *m, uint64_t key, uint32_t *id)
{
	uint32_t seen;
	if (u64map_get(m, key, &seen)) {
		*id = seen;
		return 0;
	}
	return u64map_put(m, key, *id);
}

/* --- roles ---------------------------------------------------------------------------- */

/* A process has the name of its first thread. */
static int find_programs(struct sites *x)
{
	struct u64map main = {0};
	const struct timeline *tl = x->tl;
	int r = 0;
	for (uint32_t i = 0; !r && i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		uint32_t any;
		if (t->pid >= 0 &&
		    (t->tid == t->pid || !u64map_get(&main, (uint32_t)t->pid, &any)))
			r = u64map_put(&main, (uint32_t)t->pid, t->comm);
	}
	for (uint32_t i = 0; !r && i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		uint32_t name = t->comm;
		if (t->pid >= 0)
			u64map_get(&main, (uint32_t)t->pid, &name);
		r = vec_push(&x->program, name);
	}
	u64map_release(&main);
	return r ? ERR_NOMEM : 0;
}

/* The role of a thread by one of its stacks; the thread's name if the stack does not show it.
 */
static int role_of(struct sites *x, uint32_t thread, uint32_t comm, uint32_t path,
		   uint32_t *out)
{
	const struct place *p = &x->place.v[path];
	uint32_t function = p->flags & INTERPRETED ? 0 : p->role;
	uint64_t program = x->program.v[thread] & (BY_TABLE - 1u);
	uint64_t key =
		program << 33 | (uint64_t)(function != 0) << 32 | (function ? function : comm);
	uint32_t id = (uint32_t)x->role.n;
	if (sites_first_of(&x->role_of, key, &id))
		return ERR_NOMEM;
	*out = id;
	uint32_t name = function ? x->s->frames.v[function].name : comm;
	struct role new = {.program = x->program.v[thread], .name = name ? name : comm};
	return id == x->role.n && vec_push(&x->role, new) ? ERR_NOMEM : 0;
}

/* --- sites ---------------------------------------------------------------------------- */

/* May a wait of this cause be for work? */
int sites_may_idle(unsigned cause)
{
	return cause_may_idle(cause) || cause == CAUSE_SEMAPHORE;
}

/* Where an interval waits: an app path, or a frame of frames.rules; 0: it did not wait. */
static uint32_t site_key(const struct sites *x, const struct offcpu *o)
{
	const struct place *p = &x->place.v[o->path];
	if (o->flags & OFF_RUNNING || o->cause == CAUSE_RUNQUEUE)
		return 0;
	return p->known ? BY_TABLE | x->function.v[p->known] : p->app;
}

static int new_site(struct sites *x, const struct offcpu *o, uint32_t role)
{
	const struct place *p = &x->place.v[o->path];
	const struct role *r = &x->role.v[role];
	struct tl_site t = {.program = r->program, .role = r->name, .cause = o->cause};
	struct site s = {.role = role, .path = o->path, .app = p->app, .flags = p->flags};
	int somewhere = site_key(x, o) != 0;
	t.frame = !somewhere ? 0 : p->known ? p->known : x->app.v[p->app].function;
	if (!somewhere)
		s.app = 0;
	return vec_push(&x->tl->sites, t) || vec_push(&x->site, s) ? ERR_NOMEM : 0;
}

static int site_of(struct sites *x, const struct offcpu *o, uint32_t role, uint32_t *out)
{
	uint64_t asked = (x->place.v[o->path].flags & (ASKED_WORK | ASKED_IDLE)) >> 8;
	uint32_t at = (uint32_t)x->key_of.n, id = (uint32_t)x->tl->sites.n;
	if (sites_first_of(&x->key_of, (uint64_t)role << 32 | site_key(x, o), &at) ||
	    sites_first_of(&x->site_of, (uint64_t)at << 8 | asked << 5 | o->cause, &id))
		return ERR_NOMEM;
	*out = id;
	return id == x->tl->sites.n ? new_site(x, o, role) : 0;
}

/* Did this thread end the last wait of the thread that ended this one? */
static int is_answer(struct sites *x, const struct offcpu *o)
{
	const struct timeline *tl = x->tl;
	if (o->waker == TL_NONE || o->waker == o->thread)
		return 0;
	const struct tl_thread *t = &tl->threads.v[o->waker];
	uint32_t *near = &x->near.v[o->waker];
	uint32_t i = *near =
		timeline_offcpu_after_near(tl, o->waker, o->start_ns + o->blocked_ns, *near);
	for (int n = 0; n < (int)LOOKED_BACK && i > t->offcpu_first; n++) {
		const struct offcpu *w = &tl->offcpu.v[--i];
		if (sites_may_idle(w->cause) || w->cause == CAUSE_FUTEX)
			return w->waker == o->thread;
	}
	return 0;
}

static void count_wait(struct sites *x, const struct offcpu *o, uint32_t id)
{
	struct tl_site *t = &x->tl->sites.v[id];
	struct site *s = &x->site.v[id];
	uint64_t ns = o->unknown ? offcpu_ns(o) : o->blocked_ns;
	if (!ns)
		return;
	t->waits++;
	t->wait_ns += ns;
	t->max_ns = ns > t->max_ns ? ns : t->max_ns;
	if (!sites_may_idle(o->cause))
		return;
	s->answered += (uint64_t)is_answer(x, o);
	s->packets +=
		o->waker_context == WAKER_SOFTIRQ || o->waker_context == WAKER_SOFTIRQ_INLINE;
	/* a thread that cannot send is in the middle of work */
	s->args |= 1u << (x->place.v[o->path].flags & SENDS ? ARG_FD : o->arg_kind);
}

/* --- what else a role does ------------------------------------------------------------ */

/* *id: of x->count, or NO_COUNT. */
static int find_count(struct sites *x, uint32_t role, uint32_t path, int work, uint32_t *id)
{
	struct stack_count new = {.role = role, .path = path, .work = work};
	*id = NO_COUNT;
	if (!x->place.v[path].app)
		return 0;
	*id = (uint32_t)x->count.n;
	if (sites_first_of(&x->count_of[work], (uint64_t)role << 32 | path, id))
		return ERR_NOMEM;
	return *id == x->count.n && vec_push(&x->count, new) ? ERR_NOMEM : 0;
}

static void count_stack(struct sites *x, uint32_t id)
{
	if (id != NO_COUNT)
		x->count.v[id].n++;
}

static int find_site(struct sites *x, const struct offcpu *o, struct found *out)
{
	uint32_t role, one = 1;
	int waits = sites_may_idle(o->cause) && !(o->flags & OFF_RUNNING);
	if (role_of(x, o->thread, o->comm, o->path, &role) || site_of(x, o, role, &out->site) ||
	    (waits && sites_first_of(&x->waits_at,
				     (uint64_t)role << 32 | x->place.v[o->path].app, &one)))
		return ERR_NOMEM;
	return find_count(x, role, o->path, !waits && o->cause != CAUSE_FUTEX, &out->count);
}

static int find_work(struct sites *x, uint32_t thread, uint32_t comm, uint32_t path,
		     struct found *out)
{
	uint32_t role;
	return role_of(x, thread, comm, path, &role)
		       ? ERR_NOMEM
		       : find_count(x, role, path, 1, &out->count);
}

/* Where this was found before; else `found` is to be set. A thread has few stacks. */
static struct found *recent(struct sites *x, struct found new, int *known)
{
	struct found *f = &x->recent[(new.path * 0x9e3779b1u >> 16 ^ new.thread) % RECENT];
	*known = f->comm == new.comm && f->thread == new.thread && f->path == new.path &&
		 f->how == new.how;
	if (!*known)
		*f = new;
	return f;
}

static int add_interval(struct sites *x, struct offcpu *o)
{
	const uint32_t how = 1u + o->cause * 2u + !!(o->flags & OFF_RUNNING);
	int known;
	struct found *f =
		recent(x, (struct found){o->thread, o->comm, o->path, how, 0, 0}, &known);
	if (!known && find_site(x, o, f))
		return ERR_NOMEM;
	o->site = f->site;
	count_wait(x, o, o->site);
	count_stack(x, f->count);
	if (o->waker == TL_NONE || !o->waker_path)
		return 0;
	uint32_t comm = x->tl->threads.v[o->waker].comm;
	f = recent(x, (struct found){o->waker, comm, o->waker_path, WORKS, 0, 0}, &known);
	if (!known && find_work(x, o->waker, comm, o->waker_path, f))
		return ERR_NOMEM;
	count_stack(x, f->count);
	return 0;
}

static int add_all(struct sites *x)
{
	struct timeline *tl = x->tl;
	for (size_t i = 0; i < tl->offcpu.n; i++)
		if (add_interval(x, &tl->offcpu.v[i]))
			return ERR_NOMEM;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->thread == TL_NONE || !x->place.v[s->path].role)
			continue;
		struct found f;
		if (find_work(x, s->thread, s->comm, s->path, &f))
			return ERR_NOMEM;
		count_stack(x, f.count);
	}
	return 0;
}

static int add_share(struct sites *x, const struct stack_count *n, uint32_t function)
{
	uint32_t id = (uint32_t)x->share.n;
	if (sites_first_of(&x->share_of, (uint64_t)n->role << 32 | function, &id))
		return ERR_NOMEM;
	if (id == x->share.n && vec_push(&x->share, (struct share){0}))
		return ERR_NOMEM;
	x->share.v[id].all += n->n;
	x->share.v[id].work += n->work ? n->n : 0;
	return 0;
}

/* Count equal stacks once for each function on them. */
static int share_out(struct sites *x, uint32_t i)
{
	const struct stack_count *n = &x->count.v[i];
	const struct place *p = &x->place.v[n->path];
	uint32_t any;
	int r = 0;
	if (!p->role || p->flags & INTERPRETED)
		return 0;
	if (n->work && p->flags & IN_RUNTIME &&
	    u64map_get(&x->waits_at, (uint64_t)n->role << 32 | p->app, &any))
		return 0; /* the cost of waiting itself */
	x->role.v[n->role].all += n->n;
	x->role.v[n->role].work += n->work ? n->n : 0;
	for (uint32_t a = p->app; !r && a; a = x->app.v[a].parent) {
		uint32_t f = x->app.v[a].function;
		if (x->stamp.v[f] != i + 1)
			r = add_share(x, n, f);
		x->stamp.v[f] = i + 1;
	}
	return r;
}

static int share_all(struct sites *x)
{
	for (size_t i = 0; i < x->s->frames.n; i++)
		if (vec_push(&x->stamp, 0))
			return ERR_NOMEM;
	for (uint32_t i = 0; i < x->count.n; i++)
		if (share_out(x, i))
			return ERR_NOMEM;
	return 0;
}

/* --- all of it ------------------------------------------------------------------------ */

int sites_have_copies(const struct timeline *tl)
{
	const struct strtab *s = &tl->stacks->strings;
	for (size_t i = 0; i < tl->events.n; i++)
		if (tl->events.v[i].stacks == STACKS_DWARF &&
		    !strcmp(strtab_get(s, tl->events.v[i].name), "sched:sched_switch"))
			return 1;
	return 0;
}

static int begin(struct sites *x)
{
	x->tl->sites.n = 0;
	x->dwarf = sites_have_copies(x->tl);
	if (vec_push(&x->tl->sites, (struct tl_site){0}) ||
	    vec_push(&x->site, (struct site){0}))
		return ERR_NOMEM;
	for (size_t i = 0; i < x->tl->threads.n; i++)
		if (vec_push(&x->near, x->tl->threads.v[i].offcpu_first))
			return ERR_NOMEM;
	return 0;
}

static void release(struct sites *x)
{
	struct u64map *const maps[] = {&x->app_of,   &x->role_of,    &x->key_of,
				       &x->site_of,  &x->waits_at,   &x->count_of[0],
				       &x->share_of, &x->count_of[1]};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		u64map_release(maps[i]);
	vec_release(&x->asked);
	vec_release(&x->function);
	vec_release(&x->place);
	vec_release(&x->app);
	vec_release(&x->program);
	vec_release(&x->role);
	vec_release(&x->site);
	vec_release(&x->count);
	vec_release(&x->share);
	vec_release(&x->near);
	vec_release(&x->stamp);
}

uint64_t sites_told(const struct timeline *tl, const struct offcpu *o)
{
	if (!o->site)
		return 0;
	const struct tl_site *t = timeline_site(tl, o->site);
	const struct tl_part *part = timeline_part_of(tl, o->thread);
	uint64_t name = 1;
	if (t->frame) {
		const struct frame *f = &tl->stacks->frames.v[t->frame];
		name = f->name ? f->name : (uint64_t)f->dso << 32;
	}
	uint64_t judged = (uint64_t)t->cause << 24 | (uint64_t)t->verdict << 16 |
			  (uint64_t)t->reason << 8 | t->loop;
	name = hash_u64(name ^ hash_u64(judged));
	name = hash_u64(name ^ ((uint64_t)t->program << 32 | t->role));
	return part ? hash_u64(name ^ part->label) : name;
}

int sites_apply(struct causes *c, struct timeline *tl, struct err *e)
{
	static int (*const steps[])(struct sites *) = {begin, sites_find_places, find_programs,
						       add_all, share_all};
	struct sites x = {.c = c, .tl = tl, .s = tl->stacks};
	size_t n = tl->offcpu.n ? sizeof(steps) / sizeof(*steps) : 1; /* no waits, no sites */
	int r = 0;
	for (size_t i = 0; !r && i < n; i++)
		r = steps[i](&x);
	if (!r)
		sites_set_verdicts(&x);
	release(&x);
	return r ? err_nomem(e) : 0;
}
