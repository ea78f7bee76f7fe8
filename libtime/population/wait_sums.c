#include "libtime/population/wait_sums.h"
#include "base/check.h"

const char *wait_mark_text(unsigned mark)
{
	static const char *const texts[] = {NULL, "[open]", "[state unknown]", "[suspect]",
					    "[unclear]"};
	ENTRIES(texts, WAIT_UNCLEAR + 1);
	return mark < sizeof(texts) / sizeof(*texts) ? texts[mark] : NULL;
}

/* The selected time of a wait. */
static uint64_t shown_ns(const struct wait *w, unsigned states)
{
	uint64_t ns = 0;
	if (states & WAITS_BLOCKED)
		ns += w->blocked;
	if (states & WAITS_RUNNABLE)
		ns += w->runnable - w->preempted;
	if (states & WAITS_PREEMPTED)
		ns += w->preempted;
	if (states & WAITS_UNKNOWN)
		ns += w->unknown;
	return ns;
}

static int same_row(const struct wait_row *a, const struct wait_row *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->path == b->path && a->waker_comm == b->waker_comm &&
	       a->waker_path == b->waker_path && a->waker_context == b->waker_context &&
	       a->cause == b->cause && a->mark == b->mark && a->label == b->label &&
	       a->is_runnable == b->is_runnable;
}

static uint64_t row_hash(const struct wait_row *r)
{
	uint64_t h = hash_u64((uint64_t)r->comm << 32 | r->path);
	h = hash_u64(h ^ ((uint64_t)r->waker_comm << 32 | r->waker_path));
	h = hash_u64(h ^ ((uint64_t)(uint32_t)r->pid << 32 | (uint32_t)r->tid));
	return hash_u64(h ^ ((uint64_t)r->label << 32 | (uint64_t)r->waker_context << 24 |
			     (uint64_t)r->is_runnable << 16 | r->cause << 8 | r->mark));
}

/* The row of a key, added if it is new. */
static int find_row(struct wait_sums *w, const struct wait_row *key, uint32_t *id)
{
	uint64_t h = row_hash(key);
	size_t at = 0;
	while (idmap_next(&w->index, h, &at, id))
		if (same_row(&w->rows.v[*id], key))
			return 0;
	struct wait_row empty = *key;
	empty.ns = empty.unknown_ns = empty.count = 0;
	*id = (uint32_t)w->rows.n;
	return vec_push(&w->rows, empty) || idmap_put(&w->index, h, *id) ? ERR_NOMEM : 0;
}

/* Intervals are by thread, and a thread has few stacks: mostly the row is a recent one. */
static int add_row(struct wait_sums *w, const struct wait_row *key)
{
	uint32_t *id = &w->recent[(key->path ^ key->mark << 4) % WAITS_RECENT];
	if ((*id >= w->rows.n || !same_row(&w->rows.v[*id], key)) && find_row(w, key, id))
		return ERR_NOMEM;
	w->total_ns += key->ns;
	w->rows.v[*id].ns += key->ns;
	w->rows.v[*id].unknown_ns += key->unknown_ns;
	w->rows.v[*id].count += key->count;
	return 0;
}

static uint8_t mark_of(const struct wait *x)
{
	if (x->open)
		return WAIT_OPEN;
	if (x->offcpu->unknown)
		return WAIT_UNKNOWN;
	return x->offcpu->flags & OFF_SUSPECT ? WAIT_SUSPECT : WAIT_PLAIN;
}

static void set_waker(const struct timeline *tl, const struct offcpu *o, struct wait_row *r)
{
	r->waker_context = o->waker_context;
	if (o->waker == TL_NONE)
		return;
	r->waker_comm = tl->threads.v[o->waker].comm;
	r->waker_path = o->waker_path;
}

/* Add the selected time of one wait, with rows of their own for marked parts. */
static int add_parts(struct wait_sums *w, const struct timeline *tl,
		     const struct wait_selection *s, const struct wait *x, uint32_t label)
{
	const struct offcpu *o = x->offcpu;
	const struct tl_thread *t = &tl->threads.v[o->thread];
	struct wait late = *x, unclear = {.blocked = x->blocked};
	struct wait_row r = {.comm = o->comm,
			     .pid = s->by & (WAITS_BY_PID | WAITS_BY_TID) ? t->pid : -1,
			     .tid = s->by & WAITS_BY_TID ? t->tid : -1,
			     .path = o->path,
			     .cause = s->by & WAITS_BY_CAUSE ? o->cause : 0,
			     .mark = mark_of(x),
			     .label = label,
			     .count = 1};
	if (s->by & WAITS_BY_WAKER)
		set_waker(tl, o, &r);
	late.blocked = x->unclear && r.mark == WAIT_PLAIN ? 0 : x->blocked;
	if (s->by & WAITS_BY_STATE)
		late.runnable = late.preempted = 0;
	r.ns = shown_ns(&late, s->states);
	r.unknown_ns = s->states & WAITS_UNKNOWN ? late.unknown : 0;
	uint64_t blocked = late.blocked == x->blocked ? 0 : shown_ns(&unclear, s->states);
	if (r.ns && add_row(w, &r))
		return ERR_NOMEM;
	r.count = r.ns == 0;
	r.unknown_ns = 0;
	struct wait_row later = r;
	later.is_runnable = 1;
	later.ns = shown_ns(x, s->states) - r.ns - blocked;
	if (later.ns && add_row(w, &later))
		return ERR_NOMEM;
	if (!blocked)
		return 0;
	r.count = r.count && !later.ns;
	r.ns = blocked;
	r.mark = WAIT_UNCLEAR;
	return add_row(w, &r);
}

/* Add the part of a wait that the population includes. */
static int add_wait(struct wait_sums *w, const struct timeline *tl,
		    const struct wait_selection *s, const struct population *of,
		    const struct offcpu *o, uint32_t label)
{
	struct wait x;
	if (!population_wait(of, tl, o, &x))
		return 0;
	uint64_t ns = shown_ns(&x, s->states);
	if (!ns || !s->causes[o->cause < CAUSE_COUNT ? o->cause : CAUSE_UNKNOWN])
		return 0;
	if (population_hides_thread(of, tl, o->thread)) {
		w->apart.system++;
		w->apart.system_ns += ns;
		return 0;
	}
	enum apart apart = x.apart;
	int open = x.open;
	wait_split_off(&x);
	ns -= shown_ns(&x, s->states);
	if (ns && site_sums_add(&w->apart.by[apart], tl, o, ns, open))
		return ERR_NOMEM;
	return add_parts(w, tl, s, &x, label);
}

/* Add a part of a wait, cut where a label of `split` changes. */
static int add_split(struct wait_sums *w, const struct timeline *tl,
		     const struct wait_selection *s, struct population *part,
		     const struct offcpu *o)
{
	uint64_t end = part->to_ns && part->to_ns < o->end_ns ? part->to_ns : o->end_ns;
	uint64_t at = part->from_ns > o->start_ns ? part->from_ns : o->start_ns, until;
	int r = 0;
	if (!s->split)
		return add_wait(w, tl, s, part, o, 0);
	for (; at < end && !r; at = until) {
		uint32_t label;
		if (label_sets_at(s->split, o->thread, o->path, at, &until, &label))
			return ERR_NOMEM;
		part->from_ns = at;
		part->to_ns = until < end ? until : end;
		r = add_wait(w, tl, s, part, o, label);
	}
	return r;
}

static int add_labelled(struct wait_sums *w, const struct timeline *tl,
			const struct wait_selection *s, const struct offcpu *o)
{
	struct population part;
	uint64_t at = o->start_ns;
	int r = 0;
	if (!population_has_thread(&s->of, tl, o->thread, o->comm))
		return 0;
	if (!s->of.label && !s->split)
		return add_wait(w, tl, s, &s->of, o, 0);
	while (!r && population_part(&s->of, o->thread, o->path, &at, o->end_ns, &part))
		r = add_split(w, tl, s, &part, o);
	return r;
}

static int add_total(struct wait_sums *w, const struct timeline *tl,
		     const struct wait_selection *s, const struct tl_offcpu_total *o)
{
	const struct tl_thread *t = &tl->threads.v[o->thread];
	struct wait_row r = {.comm = o->comm,
			     .pid = s->by & (WAITS_BY_PID | WAITS_BY_TID) ? t->pid : -1,
			     .tid = s->by & WAITS_BY_TID ? t->tid : -1,
			     .path = o->path,
			     .ns = o->ns,
			     .unknown_ns = o->ns,
			     .count = o->count};
	if (!population_has_task(&s->of, tl, t->pid, t->tid, o->comm) ||
	    (s->of.meant && !(t->flags & THREAD_MEANT)) ||
	    !population_has_cpu(&s->of, tl, TL_NOCPU, TL_NOCPU) || !r.ns || s->of.label)
		return 0;
	if (population_hides_thread(&s->of, tl, o->thread)) {
		w->apart.system += o->count;
		w->apart.system_ns += o->ns;
		return 0;
	}
	return add_row(w, &r);
}

int wait_sums_collect(struct wait_sums *w, const struct timeline *tl,
		      const struct wait_selection *s, struct err *e)
{
	*w = (struct wait_sums){.total_ns = 0};
	for (size_t i = 0; i < tl->offcpu.n; i++)
		if (add_labelled(w, tl, s, &tl->offcpu.v[i]))
			return err_nomem(e);
	for (size_t i = 0; i < tl->totals.n; i++)
		if (add_total(w, tl, s, &tl->totals.v[i]))
			return err_nomem(e);
	return set_apart_finish(&w->apart) ? err_nomem(e) : 0;
}

void wait_sums_release(struct wait_sums *w)
{
	vec_release(&w->rows);
	idmap_release(&w->index);
	set_apart_release(&w->apart);
}
