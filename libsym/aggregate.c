#include "libsym/aggregate.h"
#include "base/count.h"
#include "base/mem.h"
#include "base/text/glob.h"

#include <stdio.h>

enum { VIEWS = 4096 }; /* direct-mapped by tid */

/* The view of a tid at its last sample, so that the next sample usually costs only a
 * comparison.
 */
struct cached_view {
	int32_t pid, tid;
	int filled;
	int comm_wanted;
	struct thread_view view;
};

/* Samples of one stack. */
struct counted {
	/* pid and tid are all samples' when BY_PID, BY_TID or comm is NO_ID */
	struct stack_entry stack;
	uint64_t weight, samples; /* sums */
	uint32_t comm;            /* strings id, or NO_ID */
	uint32_t cpu;
	uint32_t cgroup; /* BY_CGROUP: strings id of the path, NO_ID unknown; else 0 */
};

struct aggregate {
	const struct recording *rec;
	const struct machine *machine;
	struct namer *namer;
	struct tally tally;
	struct aggregate_options opt;
	void *expand_ctx;
	const uint8_t *slice,
		*home; /* the slice being read, and its place in the mapped file */
	struct arena words;
	VEC(struct counted) entries; /* stacks to name later */
	struct idmap index;
	uint64_t seed;
	struct aggregate_stats stats;
	struct cached_view *views;
	uint64_t *first_of_event, *last_of_event;
	struct counters counters;
	struct activity activity;
};

int aggregate_new(struct aggregate **out, const struct recording *rec, struct names *names,
		  const struct aggregate_options *opt, void *expand_ctx, struct err *e)
{
	struct aggregate *a = mem_zalloc(1, sizeof(*a));
	*out = NULL;
	if (!a)
		return err_nomem(e);
	a->rec = rec;
	a->machine = names->machine;
	a->opt = *opt;
	a->expand_ctx = expand_ctx;
	a->stats.first_time = UINT64_MAX;
	a->seed = hash_seed();
	a->views = mem_zalloc(VIEWS, sizeof(*a->views));
	a->first_of_event = mem_zalloc(rec->events.n, sizeof(*a->first_of_event));
	a->last_of_event = mem_zalloc(rec->events.n, sizeof(*a->last_of_event));
	if (!a->views || !a->first_of_event || !a->last_of_event ||
	    namer_new(&a->namer, names)) {
		aggregate_free(a);
		return err_nomem(e);
	}
	for (size_t i = 0; i < rec->events.n; i++)
		a->first_of_event[i] = UINT64_MAX;
	*out = a;
	return 0;
}

void aggregate_free(struct aggregate *a)
{
	if (!a)
		return;
	arena_release(&a->words);
	vec_release(&a->entries);
	idmap_release(&a->index);
	tally_release(&a->tally);
	namer_free(a->namer);
	mem_free(a->views);
	mem_free(a->first_of_event);
	mem_free(a->last_of_event);
	counters_release(&a->counters);
	activity_release(&a->activity);
	mem_free(a);
}

struct tally *aggregate_tally(struct aggregate *a)
{
	return &a->tally;
}

const struct aggregate_stats *aggregate_stats(const struct aggregate *a)
{
	return &a->stats;
}

const struct activity *aggregate_activity(const struct aggregate *a)
{
	return &a->activity;
}

uint64_t aggregate_first_of_event(const struct aggregate *a, uint32_t index)
{
	return a->first_of_event[index];
}

uint64_t aggregate_last_of_event(const struct aggregate *a, uint32_t index)
{
	return a->last_of_event[index];
}

static int in_i32(const int32_t *v, size_t n, int32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return 0;
}

static int in_u32(const uint32_t *v, size_t n, uint32_t x)
{
	return in_i32((const int32_t *)v, n, (int32_t)x);
}

static int event_wanted(const struct aggregate *a, const struct event *ev)
{
	return !a->opt.filter.events || a->opt.filter.events[ev->index];
}

/* Filters that do not depend on the thread. */
static int sample_passes(const struct sample_filter *f, const struct sample *s)
{
	if (s->time < f->start || (f->stop && s->time > f->stop))
		return 0;
	if (f->npids && !in_i32(f->pids, f->npids, s->pid))
		return 0;
	if (f->ntids && !in_i32(f->tids, f->ntids, s->tid))
		return 0;
	return !f->ncpus || in_u32(f->cpus, f->ncpus, s->cpu);
}

static int has_comm(const struct aggregate *a, uint32_t comm, int32_t tid)
{
	char unnamed[16];
	const char *name = unnamed;
	if (comm == NO_ID)
		snprintf(unnamed, sizeof(unnamed), ":%d", tid);
	else
		name = strtab_get(a->machine->strings, comm);
	return glob_any(a->opt.filter.comms, a->opt.filter.ncomms, name);
}

static const struct cached_view *view_of(struct aggregate *a, const struct sample *s)
{
	struct cached_view *c = &a->views[(uint32_t)s->tid % VIEWS];
	if (c->filled && c->tid == s->tid && c->pid == s->pid && s->time >= c->view.since &&
	    s->time < c->view.until)
		return c;
	const struct sample_filter *f = &a->opt.filter;
	c->filled = 1;
	c->pid = s->pid;
	c->tid = s->tid;
	uint64_t applied = a->machine->applied;
	machine_thread_at(a->machine, s->pid, s->tid, s->time, &c->view);
	if (c->view.until > applied) /* later records may not be applied yet */
		c->view.until = applied == TIME_END ? TIME_END : applied + 1;
	c->comm_wanted = !f->ncomms || has_comm(a, c->view.comm, s->tid);
	return c;
}

/* The BY_* bits that distinguish entries with the same words. */
static unsigned distinguished_by(const struct aggregate *a, const struct counted *x)
{
	return a->opt.by | (x->comm == NO_ID ? BY_TID : 0);
}

static int same_entry(const struct aggregate *a, const struct counted *x,
		      const struct counted *y)
{
	const struct stack_entry *p = &x->stack, *q = &y->stack;
	unsigned by = distinguished_by(a, y);
	return p->nwords == q->nwords && p->event == q->event && x->comm == y->comm &&
	       p->space == q->space && p->version == q->version && p->kind == q->kind &&
	       p->cpumode == q->cpumode && (!(by & (BY_PID | BY_TID)) || p->pid == q->pid) &&
	       (!(by & BY_TID) || p->tid == q->tid) && (!(by & BY_CPU) || x->cpu == y->cpu) &&
	       x->cgroup == y->cgroup &&
	       (!p->nwords || !memcmp(p->words, q->words, (size_t)p->nwords * 8));
}

static int add_entry(struct aggregate *a, const struct counted *key, uint64_t h)
{
	struct counted entry = *key;
	if (a->entries.n >= UINT32_MAX - 1)
		return ERR_NOMEM;
	if (key->stack.kind == CHAIN_RAW && a->home) {
		entry.stack.words = a->home + (key->stack.words - a->slice);
	} else {
		uint8_t *copy = arena_bytes(&a->words, (size_t)key->stack.nwords * 8);
		if (!copy)
			return ERR_NOMEM;
		if (key->stack.nwords) /* else words may be NULL */
			memcpy(copy, key->stack.words, (size_t)key->stack.nwords * 8);
		entry.stack.words = copy;
	}
	if (vec_push(&a->entries, entry))
		return ERR_NOMEM;
	if (a->opt.first_seen)
		a->opt.first_seen(a->opt.first_seen_ctx, &entry.stack, a->entries.n - 1);
	return idmap_put(&a->index, h, (uint32_t)(a->entries.n - 1));
}

/* A hash of all that same_entry compares: many threads have the same words. */
static uint64_t hash_entry(const struct aggregate *a, const struct counted *key)
{
	const struct stack_entry *x = &key->stack;
	unsigned by = distinguished_by(a, key);
	uint64_t h = hash_bytes(x->words, (size_t)x->nwords * 8, a->seed);
	h ^= hash_u64((uint64_t)x->space << 32 | x->version);
	h = hash_u64(h ^ ((uint64_t)key->comm << 32 | x->event << 8 | x->cpumode));
	if (by & (BY_PID | BY_TID))
		h = hash_u64(h ^ ((uint64_t)(uint32_t)x->pid << 32 |
				  (by & BY_TID ? (uint32_t)x->tid : 0)));
	if (by & (BY_CPU | BY_CGROUP))
		h = hash_u64(h ^ ((uint64_t)key->cgroup << 32 | (by & BY_CPU ? key->cpu : 0)));
	return h;
}

/* Intern the raw words, to name them at the end. */
static int keep_words(struct aggregate *a, const struct counted *key)
{
	uint64_t h = hash_entry(a, key);
	size_t at = 0;
	for (uint32_t id; idmap_next(&a->index, h, &at, &id);) {
		struct counted *x = &a->entries.v[id];
		if (!same_entry(a, x, key))
			continue;
		x->weight += key->weight;
		x->samples++;
		if (key->stack.first < x->stack.first)
			x->stack.first = key->stack.first;
		return 0;
	}
	return add_entry(a, key, h);
}

/* Count a stack by its names. 1: not possible yet. */
static int count_named(struct aggregate *a, const struct counted *x, int early)
{
	unsigned by = a->opt.by;
	struct tallied key = {
		.weight = x->weight,
		.samples = x->samples,
		.event = x->stack.event,
		.comm = x->comm,
		.pid = by & (BY_PID | BY_TID) ? x->stack.pid : -1,
		.tid = by & BY_TID || x->comm == NO_ID ? x->stack.tid : -1,
		.cpu = by & BY_CPU ? x->cpu : UINT32_MAX,
		.cgroup = x->cgroup,
		.chain = x->stack.kind != CHAIN_NONE,
	};
	const uint32_t *runs;
	size_t n;
	int rc = namer_runs(a->namer, &x->stack, early, &runs, &n);
	return rc ? rc : tally_add(&a->tally, &key, runs, n);
}

static int count(struct aggregate *a, const struct counted *x)
{
	int all_known = a->machine->applied == TIME_END;
	int rc = all_known ? count_named(a, x, 1) : 1;
	return rc == 1 ? keep_words(a, x) : rc;
}

int aggregate_finish(struct aggregate *a)
{
	int rc = 0;
	idmap_release(&a->index);
	for (size_t i = 0; !rc && i < a->entries.n; i++)
		rc = count_named(a, &a->entries.v[i], 0);
	rc = rc ? rc : tally_finish(&a->tally);
	vec_release(&a->entries);
	arena_release(&a->words);
	namer_free(a->namer);
	a->namer = NULL;
	mem_free(a->views);
	a->views = NULL;
	return rc;
}

/* The stack words of a sample into `key`. `ip` is caller's room for a stack of one word. */
static int set_words(struct aggregate *a, const struct sample *s, const struct thread_view *v,
		     struct stack_entry *key, uint64_t *ip)
{
	const uint64_t *words;
	size_t n;
	int r = a->opt.expand ? a->opt.expand(a->expand_ctx, s, v, a->rec->swap, &words, &n)
			      : 0;
	if (r < 0)
		return r;
	if (r) {
		key->kind = CHAIN_UNWOUND;
		key->words = (const uint8_t *)words;
		key->nwords = (uint32_t)n;
	} else if (s->callchain.p) {
		key->kind = CHAIN_RAW;
		key->words = s->callchain.p;
		key->nwords = (uint32_t)s->callchain.n;
	} else {
		*ip = s->ip;
		key->kind = CHAIN_NONE;
		key->words = (const uint8_t *)ip;
		key->nwords = 1;
	}
	return 0;
}

static void note_time(struct aggregate *a, const struct sample *s, const struct event *ev)
{
	uint64_t *first = &a->first_of_event[ev->index];
	/* without TIME, `time` is a position in the file */
	uint64_t time = s->event->attr.sample_type & PERF_SAMPLE_TIME ? s->time : 0;
	if (time < *first)
		*first = time;
	if (time >= SAMPLE_DUMMY_TIMES)
		return;
	if (time > a->last_of_event[ev->index])
		a->last_of_event[ev->index] = time;
	if (time < a->stats.first_time)
		a->stats.first_time = time;
	if (time > a->stats.last_time)
		a->stats.last_time = time;
}

static int filtered(struct aggregate *a)
{
	a->stats.filtered++;
	return 0;
}

static uint32_t cgroup_of(const struct aggregate *a, const struct sample *s)
{
	uint32_t name = 0;
	if (a->opt.by & BY_CGROUP && !u64map_get(&a->machine->cgroups, s->cgroup, &name))
		return NO_ID;
	return name;
}

/* Count `s` as a sample of event `ev` that weighs `weight`. */
static int count_as(struct aggregate *a, const struct sample *s, const struct event *ev,
		    uint64_t weight, uint8_t cpumode)
{
	if (!sample_passes(&a->opt.filter, s))
		return filtered(a);
	const struct cached_view *c = view_of(a, s);
	if (!c->comm_wanted)
		return filtered(a);
	note_time(a, s, ev);
	a->stats.weight = count_add(a->stats.weight, weight);
	if (a->opt.branches && s->branches.n && ev == s->event &&
	    branches_add(a->opt.branches, s, c->view.space, a->rec->swap))
		return ERR_NOMEM;
	struct counted key = {
		.stack = {.first = s->time,
			  .event = ev->index,
			  .pid = s->pid,
			  .tid = s->tid,
			  .space = c->view.space,
			  .version = c->view.version,
			  .cpumode = cpumode},
		.weight = weight,
		.samples = 1,
		.comm = c->view.comm,
		.cpu = s->cpu,
		.cgroup = cgroup_of(a, s),
	};
	uint64_t ip;
	int rc = set_words(a, s, &c->view, &key.stack, &ip);
	return rc ? rc : count(a, &key);
}

/* A sample that reads counters counts once for each that grew. */
static int count_counters(struct aggregate *a, const struct sample *s, uint8_t cpumode)
{
	const struct event *ev;
	uint64_t at = 0, moved;
	int got, rc = 0;
	while (!rc && (got = counters_next(&a->counters, a->rec, s, &at, &ev, &moved))) {
		if (got < 0)
			return got;
		rc = event_wanted(a, ev) ? count_as(a, s, ev, moved, cpumode) : filtered(a);
	}
	return rc;
}

static int count_sample(struct aggregate *a, const struct record *r)
{
	struct sample s;
	struct err why;
	const struct event *ev = recording_event(a->rec, r);
	a->stats.samples++;
	if (!ev) {
		a->stats.no_event++;
		return 0;
	}
	if (sample_decode(r, ev, a->rec->swap, &s, &why)) {
		bad_records_note(&a->stats.bad, r->offset, &why);
		return 0;
	}
	/* Recordings without times are read in file order; the position serves as the time. */
	if (!(ev->attr.sample_type & PERF_SAMPLE_TIME))
		s.time = r->offset;
	if (a->opt.activity && activity_add(&a->activity, s.pid, s.time))
		return ERR_NOMEM;
	uint8_t cpumode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (sample_in_guest(&s)) {
		a->stats.guest++;
		return 0;
	}
	if (ev->attr.sample_type & PERF_SAMPLE_READ)
		return count_counters(a, &s, cpumode);
	return event_wanted(a, ev) ? count_as(a, &s, ev, s.period, cpumode) : filtered(a);
}

int aggregate_slice(struct aggregate *a, const uint8_t *p, const uint8_t *end,
		    const uint8_t *home, uint64_t offset, struct err *e)
{
	int swap = a->rec->swap;
	a->slice = p;
	a->home = home;
	while (end - p >= RECORD_HEADER_SIZE) {
		struct record r = {.p = p,
				   .type = load_u32(p, swap),
				   .misc = load_u16(p + 4, swap),
				   .size = load_u16(p + 6, swap),
				   .offset = offset};
		if (r.size < RECORD_HEADER_SIZE || r.size > end - p)
			return 0;
		if (r.type == PERF_RECORD_SAMPLE && count_sample(a, &r))
			return err_nomem(e);
		p += r.size;
		offset += r.size;
	}
	return 0;
}
