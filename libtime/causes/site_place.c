/* site_place.c - call paths as wait sites see them; see sites_internal.h. */
#include "base/mem.h"
#include "libsym/name/frame_table.h"
#include "libtime/causes/sites_internal.h"

#include <string.h>

/* An inlined lambda. All have one name, so lambdas are distinguished by the place where they
 * were inlined. Most threads of C++ programs begin in one. */
static int is_lambda(const struct sites *x, const struct frame *f)
{
	return f->flags & FRAME_INLINED &&
	       !strcmp(strtab_get(&x->s->strings, f->name), "operator()");
}

static int find_functions(struct sites *x)
{
	struct u64map functions = {0}, lambdas = {0};
	int r = 0;
	for (uint32_t i = 0; !r && i < x->s->frames.n; i++) {
		const struct frame *f = &x->s->frames.v[i];
		uint32_t id = i;
		if (f->name && is_lambda(x, f))
			r = sites_first_of(&lambdas, (uint64_t)f->dso << 48 ^ f->addr, &id);
		else if (f->name)
			r = sites_first_of(&functions, (uint64_t)f->name << 32 | f->dso, &id);
		r = r || vec_push(&x->function, id) ? ERR_NOMEM : 0;
	}
	u64map_release(&functions);
	u64map_release(&lambdas);
	return r;
}

static int match_options(struct sites *x)
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

/* Unnamed generated code hides which function runs, as an interpreter does: all threads of a
 * JVM without a perf map begin at one such address. */
static unsigned roles_of(const struct sites *x, uint32_t frame)
{
	const struct frame *f = &x->s->frames.v[frame];
	return timeline_roles(x->tl, frame) |
	       (f->kind == FRAME_JIT && !f->name ? ROLE_OPAQUE : 0);
}

static int is_application(unsigned roles)
{
	const unsigned others = ROLE_RUNTIME | ROLE_START | ROLE_WRAPPER | ROLE_OPAQUE;
	return roles & ROLE_APPLICATION || !(roles & others);
}

/* Apply the roles of a frame to a path through it. */
static void apply_roles(struct place *p, uint32_t frame, unsigned roles)
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

/* A wait in a function that the loop calls is not the loop's own. */
static void leave_loop(struct place *p)
{
	if (p->flags & PROGRAM_LOOP && !(p->flags & (WORK_WAIT | TAKES_WORK)))
		p->known = 0;
	p->flags &= ~(unsigned)(PROGRAM_LOOP | LIBRARY_LOOP | IN_RUNTIME | ASKED_IDLE);
}

static int push_app(struct sites *x, struct place *p, uint32_t frame)
{
	uint32_t f = x->function.v[frame], id = (uint32_t)x->app.n;
	if (sites_first_of(&x->app_of, (uint64_t)p->app << 32 | f, &id))
		return ERR_NOMEM;
	if (id == x->app.n && vec_push(&x->app, ((struct app_path){p->app, f})))
		return ERR_NOMEM;
	p->app = id;
	if (!p->role && (p->flags & (WHOLE | INTERPRETED)) == WHOLE)
		p->role = f;
	return 0;
}

/* Add a user frame below those of *p. */
static int add_frame(struct sites *x, struct place *p, uint32_t frame, int root)
{
	const struct frame *f = &x->s->frames.v[frame];
	unsigned roles = roles_of(x, frame), asked = x->asked.v[frame];
	/* part of the function that it is inlined into, as app_frame.h has it */
	int part = roles & ROLE_SHARED_INLINE && p->app && !(p->flags & IN_RUNTIME);
	int app = is_application(roles) && !part, r = 0;
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
	else if (!part)
		p->flags |= IN_RUNTIME;
	if (asked & ASKED_FOR_WORK)
		p->flags |= ASKED_WORK;
	if (asked & ASKED_FOR_IDLE && (app || !p->app))
		p->flags |= ASKED_IDLE;
	apply_roles(p, frame, roles);
	return r;
}

static int is_poll(const char *name)
{
	return strstr(name, "epoll_") || !strcmp(name, "do_select");
}

static void add_kernel_frame(const struct sites *x, struct place *p, uint32_t frame)
{
	const char *name = strtab_get(&x->s->strings, x->s->frames.v[frame].name);
	apply_roles(p, frame, timeline_roles(x->tl, frame));
	if (strstr(name, "sendmsg"))
		p->flags |= SENDS;
	if (p->loop && !(p->flags & DECIDED) && is_poll(name)) {
		p->flags |= PROGRAM_LOOP;
		p->known = p->loop;
	}
}

/* Parents have lower ids than their children. */
static int find_paths(struct sites *x)
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
			add_kernel_frame(x, &p, path->frame);
		else if (kind != FRAME_MARK)
			r = add_frame(x, &p, path->frame, !path->parent);
		if (r || vec_push(&x->place, p))
			return ERR_NOMEM;
	}
	return 0;
}

int sites_find_places(struct sites *x)
{
	return find_functions(x) || match_options(x) || find_paths(x) ? ERR_NOMEM : 0;
}
