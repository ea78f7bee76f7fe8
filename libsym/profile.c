#include "libsym/profile.h"
#include "base/count.h"
#include "base/mem.h"

#include <stdio.h>

int profile_of(struct profile **out, struct recording *rec, const struct profile_options *opt,
	       struct err *e)
{
	struct profile *p = mem_zalloc(1, sizeof(*p));
	*out = NULL;
	if (!p) {
		recording_close(rec);
		return err_nomem(e);
	}
	p->rec = rec;
	int rc = machine_init(&p->machine, &p->stacks.strings, e);
	if (!rc)
		rc = modules_new(&p->modules, &p->machine, rec, &opt->modules, e);
	names_init(&p->names, &p->machine, p->modules, &p->stacks, &opt->names, rec->swap);
	p->names.chains.rec = rec;
	if (rc)
		profile_close(p);
	else
		*out = p;
	return rc;
}

int profile_open(struct profile **out, const char *path, const struct profile_options *opt,
		 struct err *e)
{
	struct recording *rec;
	*out = NULL;
	int rc = recording_open(&rec, path, e);
	return rc ? rc : profile_of(out, rec, opt, e);
}

void profile_close(struct profile *p)
{
	if (!p)
		return;
	names_release(&p->names);
	modules_free(p->modules);
	machine_release(&p->machine);
	stacks_release(&p->stacks);
	recording_close(p->rec);
	vec_release(&p->folded);
	activity_release(&p->activity);
	mem_free(p->first_of_event);
	mem_free(p->last_of_event);
	mem_free(p);
}

static void add_totals(struct profile *p, const struct aggregate *a)
{
	const struct aggregate_stats *s = aggregate_stats(a);
	struct aggregate_stats *t = &p->totals;
	bad_records_add(&p->rec->stats.bad, &s->bad);
	t->samples += s->samples;
	t->weight = count_add(t->weight, s->weight);
	t->filtered += s->filtered;
	t->guest += s->guest;
	t->no_event += s->no_event;
	t->deferred_missing += s->deferred_missing;
	if (s->first_time < t->first_time)
		t->first_time = s->first_time;
	if (s->last_time > t->last_time)
		t->last_time = s->last_time;
	for (uint32_t i = 0; i < p->rec->events.n; i++) {
		uint64_t first = aggregate_first_of_event(a, i);
		if (first < p->first_of_event[i])
			p->first_of_event[i] = first;
		uint64_t last = aggregate_last_of_event(a, i);
		if (last > p->last_of_event[i])
			p->last_of_event[i] = last;
	}
}

int profile_tid_comm(struct profile *p, int32_t tid, uint32_t *comm)
{
	char text[16];
	snprintf(text, sizeof(text), ":%d", tid);
	return strtab_intern(&p->stacks.strings, text, comm);
}

/* One worker's stacks in order, and how many were merged. */
struct counted {
	struct tally *tally;
	size_t next;
};

/* All workers' stacks in one order. */
struct merge {
	struct profile *p;
	struct counted v[MAX_WORKERS]; /* v[0] has the next stack, v[1] the one after it … */
	size_t n;
	int fresh;                                         /* no call paths existed before */
	VEC(struct pushed { uint32_t frame, path; }) last; /* the previous stack */
	const struct tally *tally;                         /* the previous stack's: */
	const struct tallied *before;
};

static int compare_next(const struct counted *a, const struct counted *b)
{
	return tally_compare(a->tally, &a->tally->v.v[a->next], b->tally,
			     &b->tally->v.v[b->next]);
}

/* Move v[at] to its place among those after it, which are in order; drop it if it has ended.
 */
static void reorder(struct merge *m, size_t at)
{
	struct counted x = m->v[at];
	int ended = x.next == x.tally->v.n;
	for (; at + 1 < m->n && (ended || compare_next(&x, &m->v[at + 1]) > 0); at++)
		m->v[at] = m->v[at + 1];
	m->v[at] = x;
	m->n -= (size_t)ended;
}

/* The call path of the stack: the part shared with the previous one exists, the rest is new. */
static int path_of(struct merge *m, const uint32_t *frames, uint32_t n, uint32_t *path)
{
	struct stacks *s = &m->p->stacks;
	size_t i = 0;
	while (i < n && i < m->last.n && m->last.v[i].frame == frames[i])
		i++;
	*path = i ? m->last.v[i - 1].path : 0;
	for (m->last.n = i; i < n; i++)
		if ((m->fresh ? stacks_append : stacks_push)(s, *path, frames[i], path) ||
		    vec_push(&m->last, ((struct pushed){frames[i], *path})))
			return ERR_NOMEM;
	return 0;
}

static int add_folded(struct merge *m, const struct tally *t, const struct tallied *x)
{
	struct profile *p = m->p;
	struct folded f = {
		.event = x->event,
		.comm = x->comm,
		.pid = x->pid,
		.tid = x->tid,
		.cpu = x->cpu,
		.cgroup = x->cgroup,
		.chain = (int)x->chain,
		.weight = x->weight,
		.samples = x->samples,
	};
	if (m->before && !tally_compare(m->tally, m->before, t, x)) {
		p->folded.v[p->folded.n - 1].weight += x->weight;
		p->folded.v[p->folded.n - 1].samples += x->samples;
		return 0;
	}
	m->tally = t;
	m->before = x;
	return path_of(m, t->runs.v + x->runs, x->nruns, &f.path) ? ERR_NOMEM
								  : vec_push(&p->folded, f);
}

/* Merge equal stacks that several workers counted, or one worker as different words. */
static int merge_all(struct profile *p, struct collection *c)
{
	struct merge m = {.p = p, .fresh = p->stacks.paths.n <= 1};
	int rc = 0;
	for (int i = 0; i < c->n; i++) {
		struct tally *t = aggregate_tally(c->aggregates[i]);
		if (t->v.n)
			m.v[m.n++] = (struct counted){t, 0};
	}
	for (size_t i = m.n; i-- > 0;)
		reorder(&m, i);
	while (!rc && m.n) {
		const struct tally *t = m.v[0].tally;
		rc = add_folded(&m, t, &t->v.v[m.v[0].next++]);
		reorder(&m, 0);
	}
	vec_release(&m.last);
	return rc;
}

/* Name threads without a name by their tid; stacks that become equal are merged. */
static int name_threads(struct profile *p, struct tally *t, unsigned by)
{
	for (size_t i = 0; i < t->v.n; i++) {
		struct tallied *x = &t->v.v[i];
		if (x->comm == NO_ID && profile_tid_comm(p, x->tid, &x->comm))
			return ERR_NOMEM;
		x->tid = by & BY_TID ? x->tid : -1;
	}
	return 0;
}

static int name_all(struct profile *p, struct collection *c, unsigned by, struct err *e)
{
	int rc = collection_finish(c, e);
	for (int i = 0; i < c->n; i++)
		add_totals(p, c->aggregates[i]);
	if (!rc && p->totals.weight > INT64_MAX)
		rc = err_set(e, ERR_LIMIT, "the weights add up to more than 2^63");
	for (int i = 0; !rc && i < c->n; i++)
		if (name_threads(p, aggregate_tally(c->aggregates[i]), by) ||
		    activity_merge(&p->activity, aggregate_activity(c->aggregates[i])))
			rc = err_nomem(e);
	rc = rc ? rc : collection_sort(c, &p->names, e);
	return rc ? rc : merge_all(p, c) ? err_nomem(e) : 0;
}

/* Expanders for all workers, when any sample needs one. */
static int make_expanders(struct profile *p, struct collect_options *co, struct err *e)
{
	if (!expander_needed(p->rec))
		return 0;
	co->aggregate.expand = expander_expand;
	for (int i = 0; i < collect_workers(co); i++) {
		struct expander *x;
		int rc = expander_new(&x, p->rec, &p->machine, p->modules, co->deferred,
				      p->names.opt.max_stack, e);
		if (rc)
			return rc;
		co->expand_ctx[i] = x;
	}
	return 0;
}

static void count_unwinding(struct profile *p, const struct collect_options *co)
{
	for (int i = 0; i < MAX_WORKERS && co->expand_ctx[i]; i++) {
		const struct expand_counts *c = expander_counts(co->expand_ctx[i]);
		p->unwinding.unwound += c->unwound;
		p->unwinding.full += c->full;
		p->unwinding.half += c->half;
		p->unwinding.deferred_missing += c->deferred_missing;
		for (int k = 0; k <= UNWIND_NO_REGS; k++)
			p->unwinding.by_end[k] += c->by_end[k];
		for (int k = 0; k <= UNWIND_LATE_LOST; k++)
			p->unwinding.late[k] += c->late[k];
	}
}

static void free_expanders(struct collect_options *co)
{
	for (int i = 0; i < MAX_WORKERS; i++) {
		expander_free(co->expand_ctx[i]);
		co->expand_ctx[i] = NULL;
	}
}

/* Prefetch the files of a stack: they are opened and read on other threads. */
static void prefetch_stack(void *profile, const struct stack_entry *x, size_t nth)
{
	struct profile *p = profile;
	modules_prefetch_stack(p->modules, x, nth, p->rec->swap, recording_is_mapped(p->rec));
}

static void start_preparing(struct profile *p, struct collect_options *co)
{
	int workers = collect_workers(co);
	if (workers < 2)
		return;
	modules_prepare(p->modules, workers);
	co->aggregate.first_seen = prefetch_stack;
	co->aggregate.first_seen_ctx = p;
}

/* Samples that read counters are compared with the previous reading, so one worker counts them
 * in order. */
static int workers_for(const struct recording *rec, int wanted)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (rec->events.v[i].attr.sample_type & PERF_SAMPLE_READ)
			return 1;
	return wanted;
}

int profile_start_over(struct profile *p, const struct recording_stats *stats, struct err *e)
{
	names_forget(&p->names);
	modules_forget(p->modules);
	machine_release(&p->machine);
	int rc = machine_init(&p->machine, &p->stacks.strings, e);
	if (!rc) {
		modules_on_code_change(p->modules);
		rc = recording_rewind(p->rec, e);
	}
	p->rec->stats = *stats;
	p->totals.no_event = 0;
	activity_release(&p->activity);
	return rc;
}

static int collect_all(struct profile *p, struct collect_options *co, struct collection *c,
		       struct err *e)
{
	int rc = make_expanders(p, co, e);
	if (rc)
		return rc;
	start_preparing(p, co);
	rc = collect(p->rec, &p->names, co, c, e);
	modules_prepare_end(p->modules, !rc);
	return rc;
}

int profile_note_build_ids(struct profile *p)
{
	char hex[2 * BUILD_ID_MAX + 1];
	int rc = 0;
	for (size_t i = 0; i < p->machine.dsos.n && !rc; i++) {
		const struct dso *d = &p->machine.dsos.v[i];
		if (d->id.len)
			rc = stacks_note_build_id(&p->stacks, d->name,
						  build_id_hex(&d->id, hex));
	}
	return rc;
}

int profile_fold(struct profile *p, const struct fold_options *opt, struct err *e)
{
	struct collection c = {0};
	struct collect_options co = {.aggregate = opt->aggregate,
				     .workers = workers_for(p->rec, opt->workers),
				     .progress = opt->progress,
				     .progress_ctx = opt->progress_ctx};
	size_t nevents = p->rec->events.n;
	struct deferred_chains deferred = {0};
	co.deferred = &deferred;
	p->names.opt.addrs = opt->aggregate.by & BY_UNMAPPED ? KEEP_ADDRS
			     : opt->aggregate.by & BY_ADDR   ? MERGE_UNMAPPED
							     : MERGE_UNNAMED;
	p->totals.first_time = UINT64_MAX;
	p->first_of_event = mem_alloc(nevents * sizeof(*p->first_of_event));
	p->last_of_event = mem_zalloc(nevents, sizeof(*p->last_of_event));
	int rc = p->first_of_event && p->last_of_event ? 0 : err_nomem(e);
	for (size_t i = 0; !rc && i < nevents; i++)
		p->first_of_event[i] = UINT64_MAX;
	if (!rc)
		rc = collect_all(p, &co, &c, e);
	if (!rc)
		rc = name_all(p, &c, opt->aggregate.by, e);
	if (!rc && profile_note_build_ids(p))
		rc = err_nomem(e);
	collection_release(&c);
	count_unwinding(p, &co);
	free_expanders(&co);
	deferred_release(&deferred);
	return rc;
}
