#include "libtime/population/sample_sums.h"
#include "base/count.h"
#include "libparse/sample.h"
#include "libtime/sched/timeline_parts.h"

/* --- selection ------------------------------------------------------------------------ */

static int event_is_selected(const struct sample_selection *s, uint32_t event)
{
	return !s->events || s->events[event];
}

int sample_is_selected(const struct sample_selection *s, const struct timeline *tl,
		       const struct tl_sample *x)
{
	return event_is_selected(s, x->event) && population_has_sample(&s->of, tl, x);
}

int event_sample_is_selected(const struct sample_selection *s, const struct timeline *tl,
			     const struct tl_event_sample *x)
{
	return event_is_selected(s, x->event) && population_has_event_sample(&s->of, tl, x);
}

/* --- times ---------------------------------------------------------------------------- */

static void note_time(struct event_time *t, uint64_t ns)
{
	if (ns < t->first)
		t->first = ns;
	if (ns < SAMPLE_DUMMY_TIMES && ns > t->last)
		t->last = ns;
}

int event_times_has(const struct event_times *t, uint32_t event)
{
	for (size_t at = event; at < t->v.n; at += t->events)
		if (t->v.v[at].first != UINT64_MAX)
			return 1;
	return 0;
}

double event_times_seconds(const struct event_times *t, uint32_t event, event_is *is,
			   const void *ctx)
{
	double seconds = 0;
	for (size_t at = 0; at < t->v.n; at += t->events) {
		struct event_time all = {.first = UINT64_MAX};
		for (uint32_t i = 0; i < t->events; i++) {
			const struct event_time *x = &t->v.v[at + i];
			if (!is(ctx, i, event))
				continue;
			all.first = x->first < all.first ? x->first : all.first;
			all.last = x->last > all.last ? x->last : all.last;
		}
		seconds += all.last > all.first ? (double)(all.last - all.first) / 1e9 : 0;
	}
	return seconds;
}

uint64_t event_times_start(const struct event_times *t, uint32_t event, event_is *is,
			   const void *ctx)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < t->v.n; i++)
		if (is(ctx, (uint32_t)(i % t->events), event) && t->v.v[i].first < first)
			first = t->v.v[i].first;
	return first;
}

uint64_t event_times_others(const struct event_times *t, uint32_t event, event_is *is,
			    const void *ctx)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->v.n; i++)
		if (is(ctx, (uint32_t)(i % t->events), event))
			n += t->v.v[i].others;
	return n;
}

/* --- sums ----------------------------------------------------------------------------- */

struct summing {
	struct sample_sums *out;
	const struct timeline *tl;
	const struct sample_selection *s;
	struct sample_selection anyone; /* times are of all programs', as in a fold */
	unsigned by;
	struct event_time *times; /* of the current recording */
};

static int same_row(const struct folded *a, const struct folded *b)
{
	return a->event == b->event && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->path == b->path &&
	       a->label == b->label;
}

static int add_row(struct sample_sums *s, const struct folded *f)
{
	uint64_t h = hash_u64((uint64_t)f->comm << 32 | f->path);
	s->weight = count_add(s->weight, f->weight);
	h = hash_u64(h ^ ((uint64_t)f->event << 48 | (uint64_t)(uint32_t)f->tid << 16) ^
		     f->cpu) ^
	    hash_u64((uint64_t)f->label << 32 | (uint32_t)f->pid);
	size_t at = 0;
	for (uint32_t id; idmap_next(&s->index, h, &at, &id);) {
		struct folded *x = &s->rows.v[id];
		if (!same_row(x, f))
			continue;
		x->weight += f->weight;
		x->samples += f->samples;
		return 0;
	}
	if (vec_push(&s->rows, *f))
		return ERR_NOMEM;
	return idmap_put(&s->index, h, (uint32_t)(s->rows.n - 1));
}

/* Add one sample of a thread with these ids; only its time if it is not meant. */
static int add_sample(struct summing *c, const struct tl_sample *x, int32_t pid, int32_t tid,
		      int is_meant)
{
	uint64_t until;
	struct folded f = {.event = x->event,
			   .comm = x->comm,
			   .pid = c->by & (BY_PID | BY_TID) ? pid : -1,
			   .tid = c->by & BY_TID ? tid : -1,
			   .cpu = c->by & BY_CPU && x->cpu != TL_NOCPU
					  ? timeline_cpu(c->tl, x->cpu)
					  : UINT32_MAX,
			   .path = x->path,
			   .weight = x->period,
			   .samples = 1};
	note_time(&c->times[x->event], x->time_ns);
	c->times[x->event].others += !is_meant;
	if (!is_meant)
		return 0;
	if (c->s->split &&
	    label_sets_at(c->s->split, x->thread, x->path, x->time_ns, &until, &f.label))
		return ERR_NOMEM;
	return add_row(c->out, &f);
}

static int add_samples(struct summing *c, size_t from, size_t to)
{
	const struct timeline *tl = c->tl;
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		const struct tl_thread *t =
			x->thread == TL_NONE ? NULL : &tl->threads.v[x->thread];
		if (sample_is_selected(&c->anyone, tl, x))
			rc = add_sample(c, x, t ? t->pid : -1, t ? t->tid : -1,
					sample_is_selected(c->s, tl, x));
	}
	return rc;
}

/* Asked for labels alone. */
static uint32_t thread_of(const struct summing *c, const struct tl_event_sample *x)
{
	const struct label_sets *split = c->s->split;
	return split ? label_lanes_thread(split->lanes.v, c->tl, x) : TL_NONE;
}

static int add_event_samples(struct summing *c, size_t from, size_t to)
{
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_event_sample *x = &c->tl->event_samples.v[i];
		struct tl_sample as = {.time_ns = x->time_ns,
				       .thread = thread_of(c, x),
				       .period = x->period,
				       .comm = x->comm,
				       .path = x->path,
				       .event = x->event,
				       .cpu = x->cpu};
		if (event_sample_is_selected(&c->anyone, c->tl, x))
			rc = add_sample(c, &as, x->pid, x->tid,
					event_sample_is_selected(c->s, c->tl, x));
	}
	return rc;
}

/* Add sums that the store made when samples were imported. */
static int add_sums(struct summing *c, size_t from, size_t to)
{
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_sum *x = &c->tl->sums.v[i];
		struct event_time *t = &c->times[x->event];
		struct folded f = {.event = x->event,
				   .comm = x->comm,
				   .pid = c->by & (BY_PID | BY_TID) ? x->pid : -1,
				   .tid = c->by & BY_TID ? x->tid : -1,
				   .cpu = UINT32_MAX,
				   .path = x->path,
				   .weight = x->weight,
				   .samples = x->samples};
		if (!event_is_selected(c->s, x->event))
			continue;
		/* samples without a time count, too, after all others */
		note_time(t, x->last_ns ? x->first_ns : SAMPLE_DUMMY_TIMES);
		if (x->last_ns)
			note_time(t, x->last_ns);
		if (!c->s->of.meant || x->meant)
			rc = add_row(c->out, &f);
		else
			t->others += x->samples;
	}
	return rc;
}

static int add_part(struct summing *c, const struct tl_part *part, const struct tl_part *next)
{
	const struct timeline *tl = c->tl;
	struct event_times *t = &c->out->times;
	int rc = 0;
	for (size_t k = 0; k < t->events && !rc; k++)
		rc = vec_push(&t->v, (struct event_time){.first = UINT64_MAX});
	if (rc)
		return rc;
	c->times = t->events ? &t->v.v[t->v.n - t->events] : NULL;
	rc = add_samples(c, part->sample_first, next ? next->sample_first : tl->samples.n);
	rc = rc ? rc
		: add_event_samples(c, part->event_sample_first,
				    next ? next->event_sample_first : tl->event_samples.n);
	return rc ? rc : add_sums(c, part->sum_first, next ? next->sum_first : tl->sums.n);
}

int sample_sums_collect(struct sample_sums *out, const struct timeline *tl,
			const struct sample_selection *s, unsigned by, struct err *e)
{
	const struct tl_part whole = {0}, *parts = tl->parts.n ? tl->parts.v : &whole;
	size_t n = tl->parts.n ? tl->parts.n : 1;
	struct summing c = {.out = out, .tl = tl, .s = s, .anyone = *s, .by = by};
	c.anyone.of.meant = 0;
	*out = (struct sample_sums){.times.events = tl->events.n};
	for (size_t i = 0; i < n; i++)
		if (add_part(&c, &parts[i], i + 1 < n ? &parts[i + 1] : NULL))
			return err_nomem(e);
	return out->weight <= INT64_MAX
		       ? 0
		       : err_set(e, ERR_LIMIT, "the weights add up to more than 2^63");
}

void sample_sums_release(struct sample_sums *s)
{
	vec_release(&s->rows);
	vec_release(&s->times.v);
	idmap_release(&s->index);
}
