#include "cmd/query/samples.h"
#include "base/mem.h"
#include "cmd/query/timeline_samples.h"
#include "libparse/sample.h"

#include <string.h>

/* --- of a recording ---------------------------------------------------------------------- */

static int take_profile(struct samples *s)
{
	const struct profile *p = s->ti.in.profile;
	const uint8_t *wanted = s->ti.in.events;
	s->stacks = &p->stacks;
	s->v = p->folded.v;
	s->n = p->folded.n;
	for (size_t i = 0; i < p->rec->events.n; i++) {
		const struct event *ev = &p->rec->events.v[i];
		struct samples_event x = {.name = ev->name,
					  .unit = event_unit(ev),
					  .tracepoint = ev->is_tracepoint,
					  .wanted = !wanted || wanted[i]};
		struct samples_time t = {p->first_of_event[i], p->last_of_event[i]};
		if (vec_push(&s->events, x) || vec_push(&s->times, t))
			return ERR_NOMEM;
	}
	return 0;
}

static int open_recording(struct samples *s, const char *verb, const struct tlinput_opts *opt,
			  struct source *src, unsigned by)
{
	struct input *in = &s->ti.in;
	const char *path = s->ti.path;
	int rc = tlinput_no_choice(opt, verb, path);
	if (rc && src)
		source_close(src);
	if (!rc)
		rc = src ? input_open_source(in, verb, &opt->in, path, src)
			 : input_open(in, verb, &opt->in, &path, 1);
	if (rc)
		return rc;
	in->fold.aggregate.by = by;
	rc = input_fold(in);
	if (!rc && take_profile(s))
		rc = input_fail(in, &(struct err){ERR_NOMEM, "out of memory"});
	return rc;
}

/* --- of a store -------------------------------------------------------------------------- */

static int take_events(struct samples *s)
{
	const struct timeline *tl = &s->ti.tl;
	for (uint32_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		const char *name = strtab_get(&s->stacks->strings, ev->name);
		struct samples_event x = {.name = name,
					  .unit = tl_event_unit(name, ev->tracepoint),
					  .tracepoint = ev->tracepoint,
					  .wanted = tl_event_wanted(&s->ti, i)};
		if (vec_push(&s->events, x))
			return ERR_NOMEM;
	}
	return 0;
}

static int same_row(const struct folded *a, const struct folded *b)
{
	return a->event == b->event && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->path == b->path &&
	       a->label == b->label;
}

static int add_row(struct samples *s, const struct folded *f)
{
	uint64_t h = hash_u64((uint64_t)f->comm << 32 | f->path);
	h = hash_u64(h ^ ((uint64_t)f->event << 48 | (uint64_t)(uint32_t)f->tid << 16) ^
		     f->cpu) ^
	    hash_u64((uint64_t)f->label << 32 | (uint32_t)f->pid);
	size_t at = 0;
	for (uint32_t id; idmap_next(&s->index, h, &at, &id);) {
		struct folded *x = &s->own.v[id];
		if (!same_row(x, f))
			continue;
		x->weight += f->weight;
		x->samples += f->samples;
		return 0;
	}
	if (vec_push(&s->own, *f))
		return ERR_NOMEM;
	return idmap_put(&s->index, h, (uint32_t)(s->own.n - 1));
}

static void note_time(struct samples_time *t, uint64_t ns)
{
	if (ns < t->first)
		t->first = ns;
	if (ns < SAMPLE_DUMMY_TIMES && ns > t->last)
		t->last = ns;
}

/* One sample that passes the filters, of the recording begun last. */
static int count(struct samples *s, unsigned by, const struct tl_sample *x, int32_t pid,
		 int32_t tid)
{
	struct folded f = {.event = x->event,
			   .comm = x->comm,
			   .pid = by & (BY_PID | BY_TID) ? pid : -1,
			   .tid = by & BY_TID ? tid : -1,
			   .cpu = by & BY_CPU && x->cpu != TL_NOCPU
					  ? timeline_cpu(&s->ti.tl, x->cpu)
					  : UINT32_MAX,
			   .label = tl_split_label(&s->ti, x->thread, x->time_ns),
			   .path = x->path,
			   .weight = x->period,
			   .samples = 1};
	note_time(&s->times.v[s->times.n - s->events.n + x->event], x->time_ns);
	return add_row(s, &f);
}

static int count_cpu(struct samples *s, unsigned by, size_t from, size_t to)
{
	const struct timeline *tl = &s->ti.tl;
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		const struct tl_thread *t =
			x->thread == TL_NONE ? NULL : &tl->threads.v[x->thread];
		if (s->events.v[x->event].wanted && tl_sample_passes(&s->ti, x))
			rc = count(s, by, x, t ? t->pid : -1, t ? t->tid : -1);
	}
	return rc;
}

static int count_events(struct samples *s, unsigned by, size_t from, size_t to)
{
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_event_sample *x = &s->ti.tl.event_samples.v[i];
		struct tl_sample as = {.time_ns = x->time_ns,
				       .thread = tl_event_thread(&s->ti, x),
				       .period = x->period,
				       .comm = x->comm,
				       .path = x->path,
				       .event = x->event,
				       .cpu = x->cpu};
		if (s->events.v[x->event].wanted && tl_event_sample_passes(&s->ti, x))
			rc = count(s, by, &as, x->pid, x->tid);
	}
	return rc;
}

/* The same of samples that the store has added up. */
static int count_sums(struct samples *s, unsigned by, size_t from, size_t to)
{
	int rc = 0;
	for (size_t i = from; i < to && !rc; i++) {
		const struct tl_sum *x = &s->ti.tl.sums.v[i];
		struct samples_time *t = &s->times.v[s->times.n - s->events.n + x->event];
		struct folded f = {.event = x->event,
				   .comm = x->comm,
				   .pid = by & (BY_PID | BY_TID) ? x->pid : -1,
				   .tid = by & BY_TID ? x->tid : -1,
				   .cpu = UINT32_MAX,
				   .path = x->path,
				   .weight = x->weight,
				   .samples = x->samples};
		if (!s->events.v[x->event].wanted)
			continue;
		/* samples at no known time are there, too: behind all others */
		note_time(t, x->last_ns ? x->first_ns : SAMPLE_DUMMY_TIMES);
		if (x->last_ns)
			note_time(t, x->last_ns);
		rc = add_row(s, &f);
	}
	return rc;
}

/* Of one recording after the other. */
static int count_samples(struct samples *s, unsigned by)
{
	const struct timeline *tl = &s->ti.tl;
	const struct tl_part whole = {0}, *parts = tl->parts.n ? tl->parts.v : &whole;
	size_t n = tl->parts.n ? tl->parts.n : 1;
	int rc = 0;
	for (size_t i = 0; i < n && !rc; i++) {
		const struct tl_part *next = i + 1 < n ? &parts[i + 1] : NULL;
		for (size_t k = 0; k < s->events.n && !rc; k++)
			rc = vec_push(&s->times, (struct samples_time){.first = UINT64_MAX});
		rc = rc ? rc
			: count_cpu(s, by, parts[i].sample_first,
				    next ? next->sample_first : tl->samples.n);
		rc = rc ? rc
			: count_events(s, by, parts[i].event_sample_first,
				       next ? next->event_sample_first : tl->event_samples.n);
		rc = rc ? rc
			: count_sums(s, by, parts[i].sum_first,
				     next ? next->sum_first : tl->sums.n);
	}
	s->v = s->own.v;
	s->n = s->own.n;
	return rc;
}

/* Labels are the threads' in time. */
/* Sums tell nothing of CPUs or labels, nor which samples are of some time. What findings say of
 * some threads only is told by waits, too. */
static int sums_do(const struct tlinput_opts *opt, unsigned by)
{
	const struct input_opts *o = &opt->in;
	return !(by & BY_CPU) && !tlinput_asks_labels(opt) && !o->comms.n && !o->pids.n &&
	       !o->tids.n && !o->cpus.n && !o->time;
}

/* A store, or a recording whose samples are asked for by label; `src`: already looked at. */
static int open_timeline(struct samples *s, const char *verb, const struct tlinput_opts *opt,
			 struct source *src, unsigned by)
{
	struct err e = {0};
	struct input in;
	const char *path = s->ti.path;
	int what = sums_do(opt, by) ? TLINPUT_SUMS : TLINPUT_CONTENTS;
	int rc = src ? input_open_source(&in, verb, &opt->in, path, src) : 0;
	rc = rc    ? rc
	     : src ? tlinput_of_input(&s->ti, verb, opt, &in, TLINPUT_CONTENTS)
		   : tlinput_open(&s->ti, verb, opt, path, what);
	if (rc)
		return rc;
	s->stacks = s->ti.names;
	rc = tl_check_events(&s->ti);
	if (rc)
		return rc;
	if (take_events(s))
		rc = err_nomem(&e);
	if (!rc && count_samples(s, by))
		rc = err_nomem(&e);
	if (rc)
		return input_fail(&s->ti.in, &e);
	input_say_empty(&s->ti.in, s->n);
	return 0;
}

/* --- either way -------------------------------------------------------------------------- */

int samples_open(struct samples *s, const char *verb, const struct tlinput_opts *opt,
		 const char *path, struct source *src, unsigned by)
{
	*s = (struct samples){.ti = {.opt = opt, .path = path, .in.opt = &opt->in}};
	int rc = tlinput_asks_labels(opt) || (!src && tlinput_is_store(path))
			 ? open_timeline(s, verb, opt, src, by)
			 : open_recording(s, verb, opt, src, by);
	if (rc)
		samples_close(s);
	return rc;
}

void samples_close(struct samples *s)
{
	vec_release(&s->events);
	vec_release(&s->times);
	vec_release(&s->own);
	idmap_release(&s->index);
	tlinput_close(&s->ti);
}

uint32_t samples_earliest(const struct samples *s)
{
	uint32_t best = NO_ID;
	uint64_t first = UINT64_MAX;
	for (size_t at = 0; at < s->times.n && best == NO_ID; at += s->events.n)
		for (uint32_t i = 0; i < s->events.n; i++)
			if (s->times.v[at + i].first < first) {
				first = s->times.v[at + i].first;
				best = i;
			}
	return best;
}

int samples_has(const struct samples *s, uint32_t event)
{
	for (size_t at = event; at < s->times.n; at += s->events.n)
		if (s->times.v[at].first != UINT64_MAX)
			return 1;
	return 0;
}

double samples_seconds(const struct samples *s, uint32_t event,
		       int (*is)(const struct samples *s, uint32_t a, uint32_t b))
{
	double seconds = 0;
	for (size_t at = 0; at < s->times.n; at += s->events.n) {
		struct samples_time t = {.first = UINT64_MAX};
		for (uint32_t i = 0; i < s->events.n; i++) {
			const struct samples_time *x = &s->times.v[at + i];
			if (!is(s, i, event))
				continue;
			t.first = x->first < t.first ? x->first : t.first;
			t.last = x->last > t.last ? x->last : t.last;
		}
		seconds += t.last > t.first ? (double)(t.last - t.first) / 1e9 : 0;
	}
	return seconds;
}

uint64_t samples_start(const struct samples *s, uint32_t event,
		       int (*is)(const struct samples *s, uint32_t a, uint32_t b))
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < s->times.n; i++)
		if (is(s, (uint32_t)(i % s->events.n), event) && s->times.v[i].first < first)
			first = s->times.v[i].first;
	return first;
}

int samples_same_name(const struct samples *s, uint32_t a, uint32_t b)
{
	return a == b || !strcmp(s->events.v[a].name, s->events.v[b].name);
}

int samples_same_event(const struct samples *s, uint32_t a, uint32_t b)
{
	return a == b || tl_same_event(s->events.v[a].name, s->events.v[b].name);
}

int samples_any_event(const struct samples *s, uint32_t a, uint32_t b)
{
	(void)s, (void)a, (void)b;
	return 1;
}

static unsigned topics_of(const struct samples *s, uint32_t shown)
{
	unsigned topics = ABOUT_NAMES;
	int asked = s->ti.opt->in.events.n > 0;
	for (uint32_t i = 0; i < s->events.n; i++) {
		const struct samples_event *ev = &s->events.v[i];
		if (asked ? ev->wanted : shown == NO_ID || i == shown)
			topics |= ev->tracepoint ? ABOUT_COUNTS : ABOUT_CPU;
	}
	return topics;
}

int samples_judge(struct samples *s, uint32_t shown)
{
	unsigned topics = topics_of(s, shown);
	return !s->ti.tl.finished ? input_judge(&s->ti.in, topics)
				  : tlinput_judge(&s->ti, ASKED_OF_SAMPLES | topics, topics, 1);
}

uint64_t samples_weight(const struct samples *s, const struct folded *f)
{
	return s->events.v[f->event].tracepoint ? f->samples : f->weight;
}
