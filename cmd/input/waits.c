#include "cmd/input/waits.h"
#include "base/check.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct wait_opts, field)

const struct opt wait_rows[] = {
	OPT_HEADING("Waits"),
	{"idle", 0, OPT_FLAG, AT(idle), NULL, "include threads waiting for work"},
	{"system", 0, OPT_FLAG, AT(system), NULL, "include kernel threads and perf itself"},
	{"state", 0, OPT_LIST, AT(states), "STATE,...",
	 "only time in this state: blocked, runnable, preempted,\nunknown; for tail also "
	 "running"},
	{"cause", 0, OPT_LIST, AT(causes), "CAUSE,...",
	 "only waits with this cause: lock, io, sleep, ... (all of\nthem: perfkit help "
	 "causes)"},
	OPT_END,
};

struct episode_query waits_population(const struct tlinput *ti, const struct wait_opts *opt)
{
	const struct input *in = &ti->in;
	const struct sample_filter *f = &in->fold.aggregate.filter;
	return (struct episode_query){
		.kind = EPISODE_WAIT,
		.comms = opt->tl.in.comms.v,
		.ncomms = opt->tl.in.comms.n,
		.pids = in->pids.v,
		.npids = in->pids.n,
		.tids = in->tids.v,
		.ntids = in->tids.n,
		.cpus = in->cpus.v,
		.ncpus = in->cpus.n,
		.start_ns = f->start,
		.stop_ns = f->stop,
		.idle = opt->idle,
		.system = opt->system,
	};
}

/* --- one interval -------------------------------------------------------------------- */

static int has_id(const int32_t *v, size_t n, int32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return 0;
}

int tl_task_passes(const struct tlinput *ti, int32_t pid, int32_t tid, uint32_t comm)
{
	const struct input *in = &ti->in;
	const struct opt_list *comms = &ti->opt->in.comms;
	if (in->pids.n && !has_id(in->pids.v, in->pids.n, pid))
		return 0;
	if (in->tids.n && !has_id(in->tids.v, in->tids.n, tid))
		return 0;
	if (!comms->n)
		return 1;
	const char *name = strtab_get(&ti->names->strings, comm);
	for (size_t i = 0; i < comms->n; i++)
		if (!strcmp(name, comms->v[i]))
			return 1;
	return 0;
}

int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm)
{
	const struct tl_thread *t = &ti->tl.threads.v[thread];
	return tl_task_passes(ti, t->pid, t->tid, comm);
}

int tl_cpu_passes(const struct tlinput *ti, uint16_t a, uint16_t b)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	if (!f->ncpus)
		return 1;
	a = timeline_cpu(&ti->tl, a);
	b = timeline_cpu(&ti->tl, b);
	for (size_t i = 0; i < f->ncpus; i++)
		if (f->cpus[i] == a || f->cpus[i] == b)
			return 1;
	return 0;
}

int tl_clip(const struct tlinput *ti, const struct off *o, struct wait *out)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	uint64_t wake = o->start_ns + o->blocked_ns;
	*out = (struct wait){.off = o,
			     .start = o->start_ns > f->start ? o->start_ns : f->start,
			     .end = !f->stop || o->end_ns < f->stop ? o->end_ns : f->stop};
	if (out->end <= out->start)
		return 0;
	out->open = o->flags & OFF_OPEN || out->start > o->start_ns || out->end < o->end_ns;
	out->idle = !!(o->flags & OFF_IDLE);
	if (o->unknown) {
		out->unknown = out->end - out->start;
		return 1;
	}
	uint64_t split = wake < out->start ? out->start : wake > out->end ? out->end : wake;
	out->blocked = split - out->start;
	out->runnable = out->end - split;
	out->preempted = o->flags & OFF_RUNNING ? out->runnable : 0;
	return 1;
}

uint64_t tl_take_idle(struct wait *x)
{
	const struct off *o = x->off;
	uint64_t ns = x->blocked + x->unknown;
	if (!x->idle)
		return 0;
	x->blocked = x->unknown = 0;
	x->start = x->end - x->runnable;
	x->open = o->flags & OFF_OPEN || x->start > o->start_ns + off_idle_ns(o) ||
		  x->end < o->end_ns;
	return ns;
}

static void stack_text(const struct tlinput *ti, uint32_t path, struct buf *b)
{
	enum { SHOWN = 3 };
	uint32_t frames[256];
	size_t n = stacks_frames(ti->names, path, frames, 256), k = 0;
	if (n > 256)
		n = 256;
	for (size_t i = n; i-- > 0 && k < SHOWN;) { /* innermost user frames tell most */
		const struct frame *f = &ti->names->frames.v[frames[i]];
		const char *s = strtab_get(&ti->names->strings, f->name);
		if (f->kind == FRAME_KERNEL || !*s)
			continue;
		if (k++)
			buf_str(b, " < ");
		escape_visible(b, s, strlen(s));
	}
	if (!k)
		buf_str(b, "no user stack");
}

/* Idle waits, and the stack that most of their time is of. */
static void idle_text(const struct tlinput *ti, const struct hidden_waits *h, struct buf *b)
{
	units_plural(b, h->idle_n, "idle wait, ", "idle waits, ");
	units_duration(b, h->idle_ns);
	if (!h->largest_ns)
		return;
	buf_fmt(b, " (largest: %s: ", strtab_get(&ti->names->strings, h->largest_comm));
	stack_text(ti, h->largest_path, b);
	buf_str(b, ", ");
	units_duration(b, h->largest_ns);
	buf_char(b, ')');
}

void tl_say_hidden(struct tlinput *ti, const struct hidden_waits *h)
{
	struct buf b = {0};
	if (ti->opt->in.quiet || (!h->idle_n && !h->system_n))
		return;
	if (h->idle_n)
		idle_text(ti, h, &b);
	if (h->system_n) {
		buf_str(&b, b.n ? "; " : "");
		units_plural(&b, h->system_n, "wait", "waits");
		buf_str(&b, " of kernel threads and perf, ");
		units_duration(&b, h->system_ns);
	}
	say("hidden: %s (show with %s)", buf_cstr(&b),
	    !h->idle_n     ? "--system"
	    : !h->system_n ? "--idle"
			   : "--idle, --system");
	buf_release(&b);
}

/* --- sums ------------------------------------------------------------------------------ */

enum { SHOW_BLOCKED = 1, SHOW_RUNNABLE = 2, SHOW_PREEMPTED = 4, SHOW_UNKNOWN = 8 };

struct selection {
	unsigned states;
	uint8_t causes[CAUSE_COUNT];
	unsigned by;
	const struct wait_opts *opt;
};

const char *wait_mark_text(unsigned mark)
{
	static const char *const texts[] = {NULL, "[open]", "[state unknown]", "[suspect]"};
	ENTRIES(texts, WAIT_SUSPECT + 1);
	return mark < sizeof(texts) / sizeof(*texts) ? texts[mark] : NULL;
}

int waits_no_state(const char *word, const char *words, struct err *e)
{
	struct buf b = {0};
	for (const char *p = words; *p; p++)
		buf_fmt(&b, *p == ' ' ? ",%c" : "%c", *p);
	opt_suggest(&b, words, word);
	int rc = err_set(e, ERR_USAGE, "--state: '%s' is not one of %s", word, buf_cstr(&b));
	buf_release(&b);
	return rc;
}

static int select_states(const struct opt_list *l, struct selection *s, struct err *e)
{
	static const char *const names[] = {"blocked", "runnable", "preempted", "unknown"};
	s->states = l->n ? 0 : SHOW_BLOCKED | SHOW_RUNNABLE | SHOW_PREEMPTED | SHOW_UNKNOWN;
	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;
		while (k < 4 && strcmp(l->v[i], names[k]))
			k++;
		if (k == 4)
			return waits_no_state(l->v[i], "blocked runnable preempted unknown", e);
		s->states |= 1u << k;
		if (1u << k == SHOW_RUNNABLE)
			s->states |= SHOW_PREEMPTED; /* preempted is part of runnable */
	}
	return 0;
}

static int select_causes(const struct opt_list *l, struct selection *s, struct err *e)
{
	memset(s->causes, l->n ? 0 : 1, sizeof(s->causes));
	for (size_t i = 0; i < l->n; i++) {
		int c = cause_named(l->v[i], e);
		if (c < 0)
			return err_prefix(e, "--cause");
		s->causes[c] = 1;
	}
	return 0;
}

/* Time of a wait that is asked for. */
static uint64_t shown_ns(const struct wait *w, unsigned states)
{
	uint64_t ns = 0;
	if (states & SHOW_BLOCKED)
		ns += w->blocked;
	if (states & SHOW_RUNNABLE)
		ns += w->runnable - w->preempted;
	if (states & SHOW_PREEMPTED)
		ns += w->preempted;
	if (states & SHOW_UNKNOWN)
		ns += w->unknown;
	return ns;
}

static int same_row(const struct wait_row *a, const struct wait_row *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->path == b->path && a->waker_comm == b->waker_comm &&
	       a->waker_path == b->waker_path && a->waker_context == b->waker_context &&
	       a->cause == b->cause && a->mark == b->mark;
}

static uint64_t row_hash(const struct wait_row *r)
{
	uint64_t h = hash_u64((uint64_t)r->comm << 32 | r->path);
	h = hash_u64(h ^ ((uint64_t)r->waker_comm << 32 | r->waker_path));
	h = hash_u64(h ^ ((uint64_t)(uint32_t)r->pid << 32 | (uint32_t)r->tid));
	return hash_u64(h ^ ((uint64_t)r->waker_context << 16 | r->cause << 8 | r->mark));
}

static int add_row(struct waits *w, const struct wait_row *key)
{
	uint64_t h = row_hash(key);
	size_t at = 0;
	w->total_ns += key->ns;
	for (uint32_t id; idmap_next(&w->index, h, &at, &id);) {
		struct wait_row *r = &w->rows.v[id];
		if (!same_row(r, key))
			continue;
		r->ns += key->ns;
		r->count += key->count;
		return 0;
	}
	if (vec_push(&w->rows, *key))
		return ERR_NOMEM;
	return idmap_put(&w->index, h, (uint32_t)(w->rows.n - 1));
}

/* Count an idle part that --idle would show, and remember the largest stack of all. */
static int hide_idle(struct waits *w, const struct wait *x, uint64_t ns)
{
	struct hidden_waits *h = &w->hidden;
	uint32_t i;
	if (!ns)
		return 0;
	h->idle_n++;
	h->idle_ns += ns;
	uint64_t key = (uint64_t)x->off->comm << 32 | x->off->path;
	if (!u64map_get(&w->idle_stacks, key, &i)) {
		i = (uint32_t)w->idle_ns.n;
		if (vec_push(&w->idle_ns, 0) || u64map_put(&w->idle_stacks, key, i))
			return ERR_NOMEM;
	}
	w->idle_ns.v[i] += ns;
	if (w->idle_ns.v[i] > h->largest_ns) {
		h->largest_ns = w->idle_ns.v[i];
		h->largest_path = x->off->path;
		h->largest_comm = x->off->comm;
	}
	return 0;
}

static uint8_t mark_of(const struct wait *x)
{
	if (x->open)
		return WAIT_OPEN;
	if (x->off->unknown)
		return WAIT_UNKNOWN;
	return x->off->flags & OFF_SUSPECT ? WAIT_SUSPECT : WAIT_PLAIN;
}

static void set_waker(const struct tlinput *ti, const struct off *o, struct wait_row *r)
{
	r->waker_context = o->waker_context;
	if (o->waker == TL_NONE)
		return;
	r->waker_comm = ti->tl.threads.v[o->waker].comm;
	r->waker_path = o->waker_path;
}

static int add_wait(struct waits *w, const struct tlinput *ti, const struct selection *s,
		    const struct off *o)
{
	const struct tl_thread *t = &ti->tl.threads.v[o->thread];
	struct wait x;
	if (t->flags & THREAD_IDLE_TASK || !tl_thread_passes(ti, o->thread, o->comm) ||
	    !tl_cpu_passes(ti, o->cpu_out, o->cpu_in) || !tl_clip(ti, o, &x))
		return 0;
	uint64_t ns = shown_ns(&x, s->states);
	if (!ns || !s->causes[o->cause < CAUSE_COUNT ? o->cause : CAUSE_UNKNOWN])
		return 0;
	if (tl_is_system(ti, s->opt, o->thread)) {
		w->hidden.system_n++;
		w->hidden.system_ns += ns;
		return 0;
	}
	if (x.idle && !s->opt->idle) {
		/* a late wakeup behind it is latency and stays */
		tl_take_idle(&x);
		if (hide_idle(w, &x, ns - shown_ns(&x, s->states)))
			return ERR_NOMEM;
	}
	struct wait_row r = {.comm = o->comm,
			     .pid = s->by & (WAITS_BY_PID | WAITS_BY_TID) ? t->pid : -1,
			     .tid = s->by & WAITS_BY_TID ? t->tid : -1,
			     .path = o->path,
			     .cause = s->by & WAITS_BY_CAUSE ? o->cause : 0,
			     .mark = mark_of(&x),
			     .ns = shown_ns(&x, s->states),
			     .count = 1};
	if (!r.ns)
		return 0;
	if (s->by & WAITS_BY_WAKER)
		set_waker(ti, o, &r);
	return add_row(w, &r);
}

static int add_total(struct waits *w, const struct tlinput *ti, const struct selection *s,
		     const struct tl_off_total *o)
{
	const struct tl_thread *t = &ti->tl.threads.v[o->thread];
	struct wait_row r = {.comm = o->comm,
			     .pid = s->by & (WAITS_BY_PID | WAITS_BY_TID) ? t->pid : -1,
			     .tid = s->by & WAITS_BY_TID ? t->tid : -1,
			     .path = o->path,
			     .ns = o->ns,
			     .count = o->count};
	if (!tl_thread_passes(ti, o->thread, o->comm) ||
	    !tl_cpu_passes(ti, TL_NOCPU, TL_NOCPU) || !r.ns)
		return 0;
	if (tl_is_system(ti, s->opt, o->thread)) {
		w->hidden.system_n += o->count;
		w->hidden.system_ns += o->ns;
		return 0;
	}
	return add_row(w, &r);
}

int waits_collect(struct waits *w, const struct tlinput *ti, const struct wait_opts *opt,
		  unsigned by, struct err *e)
{
	struct selection s = {.by = by, .opt = opt};
	*w = (struct waits){.total_ns = 0};
	int rc = select_states(&opt->states, &s, e);
	rc = rc ? rc : select_causes(&opt->causes, &s, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < ti->tl.off.n; i++)
		if (add_wait(w, ti, &s, &ti->tl.off.v[i]))
			return err_nomem(e);
	for (size_t i = 0; i < ti->tl.totals.n; i++)
		if (add_total(w, ti, &s, &ti->tl.totals.v[i]))
			return err_nomem(e);
	return 0;
}

void waits_release(struct waits *w)
{
	vec_release(&w->rows);
	idmap_release(&w->index);
	u64map_release(&w->idle_stacks);
	vec_release(&w->idle_ns);
}
