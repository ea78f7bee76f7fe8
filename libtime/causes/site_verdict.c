/* site_verdict.c - each site's verdict, by the steps of sites.h; see sites_internal.h. */
#include "libtime/causes/app_frame.h"
#include "libtime/causes/sites_internal.h"

enum { LOOP_EVENTS = 2 }; /* waits for other threads that a thread without a loop may have */

/* Step 5, for stacks of any kind. */
static int inside_work(const struct sites *x, const struct site *s)
{
	const struct role *r = &x->role.v[s->role];
	uint32_t id;
	if (r->work < SITE_ENOUGH || s->flags & INTERPRETED)
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
	return t->waits < SITE_ENOUGH ? REASON_FEW : REASON_NOTHING;
}

static uint8_t reason_of(const struct sites *x, const struct site *s, const struct tl_site *t)
{
	const uint32_t served = 1u << ARG_ACCEPTED | 1u << ARG_LISTENING;
	if (s->flags & ASKED_WORK)
		return REASON_WORK_FRAME;
	if (s->flags & ASKED_IDLE)
		return REASON_IDLE_FRAME;
	if (!sites_may_idle(t->cause))
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

/* If a role's loop waits for other threads, its sleeps are not the loop. */
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

/* Name a site without a function of the application by another frame. */
static void name_site(const struct timeline *tl, const struct site *s, struct tl_site *t)
{
	if (!t->frame && s->path && t->waits)
		t->frame = appframe_of_wait(tl, s->path);
}

void sites_set_verdicts(struct sites *x)
{
	for (size_t i = 1; i < x->site.n; i++) {
		struct tl_site *t = &x->tl->sites.v[i];
		t->reason = reason_of(x, &x->site.v[i], t);
		t->verdict = verdict_of(t->reason);
		t->loop = (uint8_t)looks_like_loop(x, &x->site.v[i], t);
		name_site(x->tl, &x->site.v[i], t);
	}
	drop_delays(x);
	for (size_t i = 0; i < x->tl->offcpu.n; i++) {
		struct offcpu *o = &x->tl->offcpu.v[i];
		o->flags = (uint8_t)((o->flags & ~OFF_SITE) |
				     site_flags(&x->tl->sites.v[o->site]));
	}
}
