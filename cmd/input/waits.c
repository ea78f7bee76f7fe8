#include "cmd/input/waits.h"
#include "base/check.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/text/site_words.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct wait_opts, field)

const struct opt wait_rows[] = {
	OPT_HEADING("Waits"),
	{"idle", 0, OPT_FLAG, AT(idle), NULL, "include threads waiting for work"},
	{"system", 0, OPT_FLAG, AT(system), NULL, "include kernel threads and perf itself"},
	{"no-unclear", 0, OPT_FLAG, AT(no_unclear), NULL,
	 "leave out waits that may be for work or for an answer"},
	{"state", 0, OPT_LIST, AT(states), "STATE,...",
	 "only time in this state: blocked, runnable, preempted,\nunknown; for tail also "
	 "running"},
	{"cause", 0, OPT_LIST, AT(causes), "CAUSE,...",
	 "only waits with this cause: lock, io, sleep, ... (all of\nthem: perfkit help "
	 "causes)"},
	OPT_END,
};

struct population waits_population(const struct tlinput *ti, const struct wait_opts *opt)
{
	const struct input *in = &ti->in;
	const struct sample_filter *f = &in->fold.aggregate.filter;
	return (struct population){
		.comms = ti->opt->in.comms.v,
		.ncomms = ti->opt->in.comms.n,
		.pids = in->pids.v,
		.npids = in->pids.n,
		.tids = in->tids.v,
		.ntids = in->tids.n,
		.cpus = in->cpus.v,
		.ncpus = in->cpus.n,
		.start_ns = f->start,
		.stop_ns = f->stop,
		.idle = opt && opt->idle,
		.system = opt && opt->system,
		.unclear = opt && opt->no_unclear ? UNCLEAR_LEFT_OUT : UNCLEAR_SHOWN,
	};
}

int tl_task_passes(const struct tlinput *ti, int32_t pid, int32_t tid, uint32_t comm)
{
	struct population p = waits_population(ti, NULL);
	return population_has_task(&p, &ti->tl, pid, tid, comm);
}

int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm)
{
	const struct tl_thread *t = &ti->tl.threads.v[thread];
	return tl_task_passes(ti, t->pid, t->tid, comm);
}

int tl_cpu_passes(const struct tlinput *ti, uint16_t a, uint16_t b)
{
	if (!ti->in.cpus.n)
		return 1;
	struct population p = waits_population(ti, NULL);
	return population_has_cpu(&p, &ti->tl, a, b);
}

void tl_say_hidden(struct tlinput *ti, const struct set_apart *x)
{
	struct buf b = {0};
	if (!ti->opt->in.quiet && set_apart_any(x)) {
		words_hidden(&b, &ti->tl, x);
		say("hidden: %s", buf_cstr(&b));
	}
	buf_release(&b);
}

/* --- sums ------------------------------------------------------------------------------ */

enum { SHOW_BLOCKED = 1, SHOW_RUNNABLE = 2, SHOW_PREEMPTED = 4, SHOW_UNKNOWN = 8 };

struct selection {
	struct population of;
	unsigned states;
	uint8_t causes[CAUSE_COUNT];
	unsigned by;
};

const char *wait_mark_text(unsigned mark)
{
	static const char *const texts[] = {NULL, "[open]", "[state unknown]", "[suspect]",
					    "[unclear]"};
	ENTRIES(texts, WAIT_UNCLEAR + 1);
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

/* What is asked for of one wait; of that, in a row of its own, what is marked. */
static int add_parts(struct waits *w, const struct tlinput *ti, const struct selection *s,
		     const struct wait *x)
{
	const struct off *o = x->off;
	const struct tl_thread *t = &ti->tl.threads.v[o->thread];
	struct wait late = *x;
	struct wait_row r = {.comm = o->comm,
			     .pid = s->by & (WAITS_BY_PID | WAITS_BY_TID) ? t->pid : -1,
			     .tid = s->by & WAITS_BY_TID ? t->tid : -1,
			     .path = o->path,
			     .cause = s->by & WAITS_BY_CAUSE ? o->cause : 0,
			     .mark = mark_of(x),
			     .count = 1};
	if (s->by & WAITS_BY_WAKER)
		set_waker(ti, o, &r);
	late.blocked = x->unclear && r.mark == WAIT_PLAIN ? 0 : x->blocked;
	r.ns = shown_ns(&late, s->states);
	uint64_t blocked = shown_ns(x, s->states) - r.ns;
	if (r.ns && add_row(w, &r))
		return ERR_NOMEM;
	if (!blocked)
		return 0;
	r.count = r.ns == 0;
	r.ns = blocked;
	r.mark = WAIT_UNCLEAR;
	return add_row(w, &r);
}

static int add_wait(struct waits *w, const struct tlinput *ti, const struct selection *s,
		    const struct off *o)
{
	struct wait x;
	if (!population_has_thread(&s->of, &ti->tl, o->thread, o->comm) ||
	    !population_wait(&s->of, &ti->tl, o, &x))
		return 0;
	uint64_t ns = shown_ns(&x, s->states);
	if (!ns || !s->causes[o->cause < CAUSE_COUNT ? o->cause : CAUSE_UNKNOWN])
		return 0;
	if (population_hides_thread(&s->of, &ti->tl, o->thread)) {
		w->apart.system++;
		w->apart.system_ns += ns;
		return 0;
	}
	enum apart apart = x.apart;
	int open = x.open;
	wait_take_apart(&x);
	ns -= shown_ns(&x, s->states);
	if (ns && site_sums_add(&w->apart.by[apart], o, ns, open))
		return ERR_NOMEM;
	return add_parts(w, ti, s, &x);
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
	if (!population_has_task(&s->of, &ti->tl, t->pid, t->tid, o->comm) ||
	    !population_has_cpu(&s->of, &ti->tl, TL_NOCPU, TL_NOCPU) || !r.ns)
		return 0;
	if (population_hides_thread(&s->of, &ti->tl, o->thread)) {
		w->apart.system += o->count;
		w->apart.system_ns += o->ns;
		return 0;
	}
	return add_row(w, &r);
}

int waits_collect(struct waits *w, const struct tlinput *ti, const struct wait_opts *opt,
		  unsigned by, struct err *e)
{
	struct selection s = {.of = waits_population(ti, opt), .by = by};
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
	return set_apart_finish(&w->apart) ? err_nomem(e) : 0;
}

void waits_release(struct waits *w)
{
	vec_release(&w->rows);
	idmap_release(&w->index);
	set_apart_release(&w->apart);
}
