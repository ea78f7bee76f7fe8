/*
 * sites.c - see sites.h. In two passes: the intervals are put into sites and counted, with what
 * other stacks show of each role's work; then each site is judged, and its verdict goes into
 * the intervals.
 *
 * Call paths are reduced first. `place` holds, for every path, the path of its application
 * functions alone ("app path", lines and files of calls do not count) and what the roles of its
 * frames add up to.
 */
#include "libtime/explain/sites.h"
#include "base/mem.h"
#include "libsym/name/frame_table.h"
#include "libtime/explain/app_frame.h"

#include <string.h>

enum {
	ENOUGH = 4,          /* waits, or stacks, that say something */
	LOOKED_BACK = 16,    /* intervals, for a waker's last wait */
	LOOP_EVENTS = 2,     /* waits for others that a thread without a loop may have */
	BY_TABLE = 1u << 31, /* of a site's key: a frame of the table, not an app path */
};

/* What the frames of a path add up to. */
enum place_flag {
	WHOLE = 1,         /* begins where threads do */
	INTERPRETED = 2,   /* an opaque frame hides which function runs */
	IN_RUNTIME = 4,    /* the innermost user frame is not the application's */
	WORK_WAIT = 8,     /* below a known work wait */
	TAKES_WORK = 16,   /* below a function that fetches work */
	PROGRAM_LOOP = 32, /* directly in a program's own loop */
	LIBRARY_LOOP = 64, /* directly in a library's loop */
	IN_HANDLER = 128,  /* below a signal handler's caller */
	ASKED_WORK = 256,  /* --work-frame */
	ASKED_IDLE = 512,  /* --idle-frame, of the innermost application function */
	SENDS = 1024,      /* in the kernel, sends to a socket */
	DECIDED = WORK_WAIT | TAKES_WORK | PROGRAM_LOOP,
};

struct place {
	uint32_t app;   /* app path; 0 = no application function */
	uint32_t role;  /* outermost application function; 0 = not told */
	uint32_t known; /* the frame that DECIDED is about; 0 = none */
	uint32_t loop;  /* a poll loop with nothing but nameless functions below it; 0 = none */
	uint32_t flags; /* enum place_flag */
};

struct app_path {
	uint32_t parent, function;
};

struct role {
	uint32_t program, name; /* strings ids */
	uint64_t work, all;     /* stacks that count for line 5 */
	uint64_t events;        /* waits for others that look like its loop's */
};

struct share { /* of a role's stacks, those with one function on them */
	uint64_t work, all;
};

struct site {
	uint32_t role, path, app, flags;
	uint64_t answered, packets;
	uint32_t args; /* what was waited on: bits by enum wait_arg */
};

/* Equal stacks of a role, counted. */
struct stack_count {
	uint32_t role, path;
	uint64_t n;
	int work;
};

struct sites {
	struct causes *c;
	struct timeline *tl;
	const struct stacks *s;
	int dwarf;
	VEC(uint8_t) asked;      /* by frame: enum frame_asked */
	VEC(uint32_t) function;  /* frame → the first one of the same function */
	VEC(struct place) place; /* by path */
	VEC(struct app_path) app;
	VEC(uint32_t) program; /* thread → strings id */
	VEC(struct role) role;
	VEC(struct site) site; /* beside tl->sites */
	VEC(struct stack_count) count;
	VEC(struct share) share;
	VEC(uint32_t) near;  /* thread → where a look into its intervals ended */
	VEC(uint32_t) stamp; /* function → the last stack it was counted for */
	struct u64map app_of, role_of, key_of, site_of, waits_at, count_of[2], share_of;
};

static int first_of(struct u64map *m, uint64_t key, uint32_t *id)
{
	uint32_t seen;
	if (u64map_get(m, key, &seen)) {
		*id = seen;
		return 0;
	}
	return u64map_put(m, key, *id);
}

/* --- call paths ----------------------------------------------------------------------------
 */

static int find_functions(struct sites *x)
{
	struct u64map functions = {0};
	int r = 0;
	for (uint32_t i = 0; !r && i < x->s->frames.n; i++) {
		const struct frame *f = &x->s->frames.v[i];
		uint32_t id = i;
		if (f->name)
			r = first_of(&functions, (uint64_t)f->name << 32 | f->dso, &id);
		r = r || vec_push(&x->function, id) ? ERR_NOMEM : 0;
	}
	u64map_release(&functions);
	return r;
}

static int find_asked(struct sites *x)
{
	for (size_t i = 0; i < x->s->frames.n; i++) {
		const struct frame *f = &x->s->frames.v[i];
		unsigned asked =
			f->kind == FRAME_KERNEL || !f->name
				? 0
				: causes_asked(x->c, strtab_get(&x->s->strings, f->name));
		if (vec_push(&x->asked, (uint8_t)asked))
			return ERR_NOMEM;
	}
	return 0;
}

static int is_application(unsigned roles)
{
	const unsigned others = ROLE_RUNTIME | ROLE_START | ROLE_WRAPPER | ROLE_OPAQUE;
	return roles & ROLE_APPLICATION || !(roles & others);
}

/* What a frame of the table says of the paths through it. */
static void take_roles(struct place *p, uint32_t frame, unsigned roles)
{
	if (roles & ROLE_WORK_WAIT) {
		p->flags |= WORK_WAIT;
		p->known = frame;
	}
	if (roles & ROLE_TAKES_WORK && !(p->flags & WORK_WAIT)) {
		p->flags |= TAKES_WORK;
		p->known = frame;
	}
	if (roles & ROLE_LOOP && !(p->flags & (WORK_WAIT | TAKES_WORK))) {
		p->flags |= PROGRAM_LOOP;
		p->known = frame;
	}
	if (roles & ROLE_POLL_LOOP)
		p->loop = frame;
	if (roles & ROLE_LIBRARY_LOOP)
		p->flags |= LIBRARY_LOOP;
	if (roles & ROLE_HANDLER)
		p->flags |= IN_HANDLER;
}

/* What is called from a loop is not the loop's own waiting. */
static void leave_loop(struct place *p)
{
	if (p->flags & PROGRAM_LOOP && !(p->flags & (WORK_WAIT | TAKES_WORK)))
		p->known = 0;
	p->flags &= ~(unsigned)(PROGRAM_LOOP | LIBRARY_LOOP | IN_RUNTIME | ASKED_IDLE);
}

static int push_app(struct sites *x, struct place *p, uint32_t frame)
{
	uint32_t f = x->function.v[frame], id = (uint32_t)x->app.n;
	if (first_of(&x->app_of, (uint64_t)p->app << 32 | f, &id))
		return ERR_NOMEM;
	if (id == x->app.n && vec_push(&x->app, ((struct app_path){p->app, f})))
		return ERR_NOMEM;
	p->app = id;
	if (!p->role && (p->flags & (WHOLE | INTERPRETED)) == WHOLE)
		p->role = f;
	return 0;
}

/* A user frame below those of *p. */
static int take_frame(struct sites *x, struct place *p, uint32_t frame, int root)
{
	const struct frame *f = &x->s->frames.v[frame];
	unsigned roles = timeline_roles(x->tl, frame), asked = x->asked.v[frame];
	int app = is_application(roles), r = 0;
	/* a libc without symbols: its outermost frames are the thread's start */
	if (root && (roles & ROLE_START || (roles & ROLE_RUNTIME && !f->name)))
		p->flags |= WHOLE;
	if (app || roles & ROLE_OPAQUE)
		leave_loop(p);
	if ((app && f->name) || roles & (ROLE_OPAQUE | ROLE_WRAPPER))
		p->loop = 0;
	if (roles & ROLE_OPAQUE)
		p->flags |= INTERPRETED;
	if (app)
		r = push_app(x, p, frame);
	else
		p->flags |= IN_RUNTIME;
	if (asked & ASKED_FOR_WORK)
		p->flags |= ASKED_WORK;
	if (asked & ASKED_FOR_IDLE && (app || !p->app))
		p->flags |= ASKED_IDLE;
	take_roles(p, frame, roles);
	return r;
}

static int is_poll(const char *name)
{
	return strstr(name, "epoll_") || !strcmp(name, "do_select");
}

static void take_kernel_frame(const struct sites *x, struct place *p, uint32_t frame)
{
	const char *name = strtab_get(&x->s->strings, x->s->frames.v[frame].name);
	take_roles(p, frame, timeline_roles(x->tl, frame));
	if (strstr(name, "sendmsg"))
		p->flags |= SENDS;
	if (p->loop && !(p->flags & DECIDED) && is_poll(name)) {
		p->flags |= PROGRAM_LOOP;
		p->known = p->loop;
	}
}

/* A parent's id is below its children's. */
static int find_places(struct sites *x)
{
	const struct stacks *s = x->s;
	if (vec_push(&x->app, (struct app_path){0}) || vec_push(&x->place, (struct place){0}))
		return ERR_NOMEM;
	for (size_t i = 1; i < s->paths.n; i++) {
		const struct call_path *path = &s->paths.v[i];
		uint8_t kind = s->frames.v[path->frame].kind;
		struct place p = x->place.v[path->parent];
		int r = 0;
		if (kind == FRAME_KERNEL)
			take_kernel_frame(x, &p, path->frame);
		else if (kind != FRAME_MARK)
			r = take_frame(x, &p, path->frame, !path->parent);
		if (r || vec_push(&x->place, p))
			return ERR_NOMEM;
	}
	return 0;
}

/* --- roles ---------------------------------------------------------------------------------
 */

/* A process is called as its first thread is, whatever the others are. */
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

/* The role that a stack of a thread shows; its name then stands for those it does not show. */
static int role_of(struct sites *x, uint32_t thread, uint32_t comm, uint32_t path,
		   uint32_t *out)
{
	const struct place *p = &x->place.v[path];
	uint32_t function = p->flags & INTERPRETED ? 0 : p->role;
	uint64_t program = x->program.v[thread] & (BY_TABLE - 1u);
	uint64_t key =
		program << 33 | (uint64_t)(function != 0) << 32 | (function ? function : comm);
	uint32_t id = (uint32_t)x->role.n;
	if (first_of(&x->role_of, key, &id))
		return ERR_NOMEM;
	*out = id;
	uint32_t name = function ? x->s->frames.v[function].name : comm;
	struct role new = {.program = x->program.v[thread], .name = name ? name : comm};
	return id == x->role.n && vec_push(&x->role, new) ? ERR_NOMEM : 0;
}

/* --- sites ---------------------------------------------------------------------------------
 */

/* May a wait of this cause be for work? */
static int may_idle(unsigned cause)
{
	return cause_may_idle(cause) || cause == CAUSE_SEMAPHORE;
}

/* Where an interval waits: an app path, a frame of the table, or nowhere: it did not wait. */
static uint32_t where(const struct sites *x, const struct off *o)
{
	const struct place *p = &x->place.v[o->path];
	if (o->flags & OFF_RUNNING || o->cause == CAUSE_RUNQUEUE)
		return 0;
	return p->known ? BY_TABLE | x->function.v[p->known] : p->app;
}

static int new_site(struct sites *x, const struct off *o, uint32_t role)
{
	const struct place *p = &x->place.v[o->path];
	const struct role *r = &x->role.v[role];
	struct tl_site t = {.program = r->program, .role = r->name, .cause = o->cause};
	struct site s = {.role = role, .path = o->path, .app = p->app, .flags = p->flags};
	int somewhere = where(x, o) != 0;
	t.frame = !somewhere ? 0 : p->known ? p->known : x->app.v[p->app].function;
	if (!somewhere)
		s.app = 0;
	return vec_push(&x->tl->sites, t) || vec_push(&x->site, s) ? ERR_NOMEM : 0;
}

static int site_of(struct sites *x, const struct off *o, uint32_t role, uint32_t *out)
{
	uint64_t asked = (x->place.v[o->path].flags & (ASKED_WORK | ASKED_IDLE)) >> 8;
	uint32_t at = (uint32_t)x->key_of.n, id = (uint32_t)x->tl->sites.n;
	if (first_of(&x->key_of, (uint64_t)role << 32 | where(x, o), &at) ||
	    first_of(&x->site_of, (uint64_t)at << 8 | asked << 5 | o->cause, &id))
		return ERR_NOMEM;
	*out = id;
	return id == x->tl->sites.n ? new_site(x, o, role) : 0;
}

/* Did who ended the wait itself wait, the last time, for this thread? */
static int is_answer(struct sites *x, const struct off *o)
{
	const struct timeline *tl = x->tl;
	if (o->waker == TL_NONE || o->waker == o->thread)
		return 0;
	const struct tl_thread *t = &tl->threads.v[o->waker];
	uint32_t *near = &x->near.v[o->waker];
	uint32_t i = *near =
		timeline_off_after_near(tl, o->waker, o->start_ns + o->blocked_ns, *near);
	for (int n = 0; n < (int)LOOKED_BACK && i > t->off_first; n++) {
		const struct off *w = &tl->off.v[--i];
		if (may_idle(w->cause) || w->cause == CAUSE_FUTEX)
			return w->waker == o->thread;
	}
	return 0;
}

static void count_wait(struct sites *x, const struct off *o, uint32_t id)
{
	struct tl_site *t = &x->tl->sites.v[id];
	struct site *s = &x->site.v[id];
	uint64_t ns = o->unknown ? off_ns(o) : o->blocked_ns;
	if (!ns)
		return;
	t->waits++;
	t->wait_ns += ns;
	t->max_ns = ns > t->max_ns ? ns : t->max_ns;
	if (!may_idle(o->cause))
		return;
	s->answered += (uint64_t)is_answer(x, o);
	s->packets +=
		o->waker_context == WAKER_SOFTIRQ || o->waker_context == WAKER_SOFTIRQ_INLINE;
	/* who cannot send is in the middle of something */
	s->args |= 1u << (x->place.v[o->path].flags & SENDS ? ARG_FD : o->arg_kind);
}

/* --- what else a role does -----------------------------------------------------------------
 */

static int count_stack(struct sites *x, uint32_t role, uint32_t path, int work)
{
	uint32_t id = (uint32_t)x->count.n;
	if (!x->place.v[path].app)
		return 0;
	if (first_of(&x->count_of[work], (uint64_t)role << 32 | path, &id))
		return ERR_NOMEM;
	struct stack_count new = {.role = role, .path = path, .work = work};
	if (id == x->count.n && vec_push(&x->count, new))
		return ERR_NOMEM;
	x->count.v[id].n++;
	return 0;
}

static int take_interval(struct sites *x, struct off *o)
{
	uint32_t role, one = 1;
	int waits = may_idle(o->cause) && !(o->flags & OFF_RUNNING);
	if (role_of(x, o->thread, o->comm, o->path, &role) || site_of(x, o, role, &o->site))
		return ERR_NOMEM;
	count_wait(x, o, o->site);
	if (waits &&
	    first_of(&x->waits_at, (uint64_t)role << 32 | x->place.v[o->path].app, &one))
		return ERR_NOMEM;
	if (count_stack(x, role, o->path, !waits && o->cause != CAUSE_FUTEX))
		return ERR_NOMEM;
	if (o->waker == TL_NONE || !o->waker_path)
		return 0;
	uint32_t comm = x->tl->threads.v[o->waker].comm;
	return role_of(x, o->waker, comm, o->waker_path, &role)
		       ? ERR_NOMEM
		       : count_stack(x, role, o->waker_path, 1);
}

static int take_all(struct sites *x)
{
	struct timeline *tl = x->tl;
	uint32_t role;
	for (size_t i = 0; i < tl->off.n; i++)
		if (take_interval(x, &tl->off.v[i]))
			return ERR_NOMEM;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->thread == TL_NONE || !x->place.v[s->path].role)
			continue;
		if (role_of(x, s->thread, s->comm, s->path, &role) ||
		    count_stack(x, role, s->path, 1))
			return ERR_NOMEM;
	}
	return 0;
}

static int add_share(struct sites *x, const struct stack_count *n, uint32_t function)
{
	uint32_t id = (uint32_t)x->share.n;
	if (first_of(&x->share_of, (uint64_t)n->role << 32 | function, &id))
		return ERR_NOMEM;
	if (id == x->share.n && vec_push(&x->share, (struct share){0}))
		return ERR_NOMEM;
	x->share.v[id].all += n->n;
	x->share.v[id].work += n->work ? n->n : 0;
	return 0;
}

/* Equal stacks count for each function on them, once. */
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
		return 0; /* what the waiting itself costs */
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

/* --- verdicts ------------------------------------------------------------------------------
 */

/* Line 5, of any stacks. */
static int inside_work(const struct sites *x, const struct site *s)
{
	const struct role *r = &x->role.v[s->role];
	uint32_t id;
	if (r->work < ENOUGH || s->flags & INTERPRETED)
		return 0;
	for (uint32_t a = s->app; a; a = x->app.v[a].parent) {
		uint64_t key = (uint64_t)s->role << 32 | x->app.v[a].function;
		if (!u64map_get(&x->share_of, key, &id))
			continue;
		const struct share *f = &x->share.v[id];
		if (f->work * 10 >= r->work && f->all * 10 < r->all * 9)
			return 1;
	}
	return 0;
}

static uint8_t why_unclear(const struct sites *x, const struct site *s, const struct tl_site *t)
{
	if (s->flags & LIBRARY_LOOP)
		return REASON_LIBRARY_LOOP;
	if (!s->app)
		return REASON_NO_FRAME;
	if (!x->dwarf)
		return REASON_FRAME_POINTERS;
	if (s->answered * 2 > t->waits)
		return REASON_ANSWERED;
	if (s->packets * 2 > t->waits)
		return REASON_PACKETS;
	if (t->cause == CAUSE_SLEEP)
		return REASON_TIMER;
	return t->waits < ENOUGH ? REASON_FEW : REASON_NOTHING;
}

static uint8_t reason_of(const struct sites *x, const struct site *s, const struct tl_site *t)
{
	const uint32_t served = 1u << ARG_ACCEPTED | 1u << ARG_LISTENING;
	if (s->flags & ASKED_WORK)
		return REASON_WORK_FRAME;
	if (s->flags & ASKED_IDLE)
		return REASON_IDLE_FRAME;
	if (!may_idle(t->cause))
		return REASON_CAUSE;
	if (s->flags & WORK_WAIT)
		return REASON_WORK_WAIT;
	if (s->flags & TAKES_WORK)
		return REASON_TAKES_WORK;
	if (s->flags & PROGRAM_LOOP)
		return REASON_PROGRAM_LOOP;
	if (s->flags & IN_HANDLER)
		return REASON_WORK_WAIT;
	if (x->dwarf && inside_work(x, s))
		return REASON_INSIDE_WORK;
	if (t->cause == CAUSE_NET && s->args == 1u << ARG_CONNECTED)
		return REASON_CONNECTED;
	if (t->cause == CAUSE_NET && s->args && !(s->args & ~served))
		return REASON_ACCEPTED;
	return why_unclear(x, s, t);
}

static uint8_t verdict_of(uint8_t reason)
{
	return reason < REASON_IDLE_FRAME ? SITE_WORK
	       : reason < REASON_NO_FRAME ? SITE_IDLE
					  : SITE_UNCLEAR;
}

static int looks_like_loop(const struct sites *x, const struct site *s, const struct tl_site *t)
{
	return t->verdict == SITE_UNCLEAR && s->app && x->place.v[s->path].role &&
	       !(s->flags & INTERPRETED) && s->answered * 2 <= t->waits && !inside_work(x, s);
}

/* A thread that waits for others in its loop does not rest when it sleeps. */
static void drop_delays(struct sites *x)
{
	for (size_t i = 1; i < x->site.n; i++) {
		const struct tl_site *t = &x->tl->sites.v[i];
		if ((t->loop || t->verdict == SITE_IDLE) && t->cause != CAUSE_SLEEP)
			x->role.v[x->site.v[i].role].events += t->waits;
	}
	for (size_t i = 1; i < x->site.n; i++) {
		struct tl_site *t = &x->tl->sites.v[i];
		if (t->cause == CAUSE_SLEEP &&
		    x->role.v[x->site.v[i].role].events > LOOP_EVENTS)
			t->loop = 0;
	}
}

/* Where the stack shows no function of the application: what it does show. */
static void name_site(const struct timeline *tl, const struct site *s, struct tl_site *t)
{
	if (!t->frame && s->path && t->waits)
		t->frame = appframe_of_wait(tl, s->path);
}

static int judge_all(struct sites *x)
{
	for (size_t i = 1; i < x->site.n; i++) {
		struct tl_site *t = &x->tl->sites.v[i];
		t->reason = reason_of(x, &x->site.v[i], t);
		t->verdict = verdict_of(t->reason);
		t->loop = (uint8_t)looks_like_loop(x, &x->site.v[i], t);
		name_site(x->tl, &x->site.v[i], t);
	}
	drop_delays(x);
	for (size_t i = 0; i < x->tl->off.n; i++) {
		struct off *o = &x->tl->off.v[i];
		o->flags = (uint8_t)((o->flags & ~OFF_SITE) |
				     site_flags(&x->tl->sites.v[o->site]));
	}
	return 0;
}

/* --- all of it -----------------------------------------------------------------------------
 */

static int has_dwarf(const struct timeline *tl)
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
	x->dwarf = has_dwarf(x->tl);
	if (vec_push(&x->tl->sites, (struct tl_site){0}) ||
	    vec_push(&x->site, (struct site){0}))
		return ERR_NOMEM;
	for (size_t i = 0; i < x->tl->threads.n; i++)
		if (vec_push(&x->near, x->tl->threads.v[i].off_first))
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

int sites_apply(struct causes *c, struct timeline *tl, struct err *e)
{
	static int (*const steps[])(struct sites *) = {begin,       find_functions, find_asked,
						       find_places, find_programs,  take_all,
						       share_all,   judge_all};
	struct sites x = {.c = c, .tl = tl, .s = tl->stacks};
	int r = 0;
	for (size_t i = 0; !r && i < sizeof(steps) / sizeof(*steps); i++)
		r = steps[i](&x);
	release(&x);
	return r ? err_nomem(e) : 0;
}
