#include "cmd/query/samples.h"
#include "cmd/query/meant_input.h"

#include <limits.h>
#include <string.h>

/* --- of a recording ---------------------------------------------------------------------- */

static int read_profile(struct samples *s)
{
	const struct profile *p = s->ti.in.profile;
	const uint8_t *wanted = s->ti.in.events;
	s->stacks = &p->stacks;
	s->v = p->folded.v;
	s->n = p->folded.n;
	s->sums.times.events = p->rec->events.n;
	for (size_t i = 0; i < p->rec->events.n; i++) {
		const struct event *ev = &p->rec->events.v[i];
		struct samples_event x = {.name = ev->name,
					  .unit = event_unit(ev),
					  .tracepoint = ev->is_tracepoint,
					  .wanted = !wanted || wanted[i],
					  .skid = (uint8_t)event_skid(ev),
					  .counts = (uint8_t)event_role(ev),
					  .group = event_group(p->rec->events.v, (uint32_t)i)};
		struct event_time t = {.first = p->first_of_event[i],
				       .last = p->last_of_event[i]};
		if (vec_push(&s->events, x) || vec_push(&s->sums.times.v, t))
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
	in->fold.aggregate.branches = opt->in.branches;
	struct err e = {0};
	int meant = meant_prepare(in, opt);
	rc = input_fold(in);
	rc = rc ? rc : tlinput_fold_trampolines(&s->ti, &in->profile->stacks);
	if (!rc && read_profile(s))
		rc = input_fail(in, (err_nomem(&e), &e));
	if (rc || !meant)
		return rc;
	if (meant_rows_of(in->profile, by, &s->meant, &s->ti.meant_name, &e))
		return input_fail(in, &e);
	s->ti.meant = s->ti.meant_name.n > 0;
	for (size_t i = 0; i < s->n; i++)
		s->sums.times.v.v[s->v[i].event].others += s->v[i].samples;
	s->v = s->meant.v.v;
	s->n = s->meant.v.n;
	for (size_t i = 0; i < s->n; i++)
		s->sums.times.v.v[s->v[i].event].others -= s->v[i].samples;
	return 0;
}

/* --- of a store -------------------------------------------------------------------------- */

static int read_events(struct samples *s)
{
	const struct timeline *tl = &s->ti.tl;
	for (uint32_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		const char *name = strtab_get(&s->stacks->strings, ev->name);
		struct samples_event x = {.name = name,
					  .unit = event_name_unit(name, ev->tracepoint),
					  .tracepoint = ev->tracepoint,
					  .wanted = !s->ti.events || s->ti.events[i],
					  .skid = ev->skid,
					  .counts = ev->counts,
					  .group = ev->group};
		if (vec_push(&s->events, x))
			return ERR_NOMEM;
	}
	return 0;
}

/* 1 if sums are enough: they lack CPUs, labels and times of samples. Findings about some
 * threads also need waits. */
static int sums_suffice(const struct tlinput_opts *opt, unsigned by)
{
	const struct input_opts *o = &opt->in;
	return !(by & BY_CPU) && !tlinput_asks_labels(opt) && !o->comms.n && !o->pids.n &&
	       !o->tids.n && !o->cpus.n && !o->time;
}

/* Open the timeline of a store; sums by name do not tell whose they are, so those of somebody
 * are read by process. */
static int open_sums(struct samples *s, const char *verb, const struct tlinput_opts *opt,
		     unsigned by)
{
	const char *path = s->ti.path;
	const struct tlinput_needs *what = !sums_suffice(opt, by) ? &tlinput_contents
					   : by                   ? &tlinput_added_up
								  : &tlinput_folded;
	int rc = tlinput_open(&s->ti, verb, opt, path, what);
	if (rc || what != &tlinput_folded || !s->ti.meant)
		return rc;
	tlinput_close(&s->ti);
	return tlinput_open(&s->ti, verb, opt, path, &tlinput_added_up);
}

/* Open a store, or a recording whose samples are separated by label; `src` may be open
 * already. */
static int open_timeline(struct samples *s, const char *verb, const struct tlinput_opts *opt,
			 struct source *src, unsigned by)
{
	struct err e = {0};
	struct input in;
	const char *path = s->ti.path;
	int rc = src ? input_open_source(&in, verb, &opt->in, path, src) : 0;
	rc = rc    ? rc
	     : src ? tlinput_of_input(&s->ti, verb, opt, &in, &tlinput_contents)
		   : open_sums(s, verb, opt, by);
	if (rc)
		return rc;
	s->stacks = s->ti.names;
	rc = tl_check_events(&s->ti);
	if (rc)
		return rc;
	const struct sample_selection which = tl_selection(&s->ti);
	rc = read_events(s) ? err_nomem(&e)
			    : sample_sums_collect(&s->sums, &s->ti.tl, &which, by, &e);
	s->v = s->sums.rows.v;
	s->n = s->sums.rows.n;
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
	vec_release(&s->meant.v);
	sample_sums_release(&s->sums);
	tlinput_close(&s->ti);
}

uint32_t samples_default(const struct samples *s)
{
	uint32_t best = NO_ID;
	int lowest = INT_MAX;
	for (uint32_t i = 0; i < s->events.n; i++) {
		int rank = event_default_rank(s->events.v[i].name, s->events.v[i].tracepoint);
		if (rank < lowest && samples_has(s, i)) {
			lowest = rank;
			best = i;
		}
	}
	return best;
}

int samples_has(const struct samples *s, uint32_t event)
{
	return event_times_has(&s->sums.times, event);
}

double samples_seconds(const struct samples *s, uint32_t event, event_is *is)
{
	return event_times_seconds(&s->sums.times, event, is, s);
}

uint64_t samples_start(const struct samples *s, uint32_t event, event_is *is)
{
	return event_times_start(&s->sums.times, event, is, s);
}

void samples_say_others(const struct samples *s, uint32_t event, event_is *is)
{
	if (s->ti.meant)
		meant_say(&s->ti.meant_name, event_times_others(&s->sums.times, event, is, s));
}

int samples_same_event(const void *samples, uint32_t a, uint32_t b)
{
	const struct samples *s = samples;
	return a == b || event_names_match(s->events.v[a].name, s->events.v[b].name);
}

int samples_any_event(const void *samples, uint32_t a, uint32_t b)
{
	(void)samples, (void)a, (void)b;
	return 1;
}

/* The name of event i, if it is among those that are shown. */
static const char *nth_shown(const void *samples, size_t i)
{
	const struct samples *s = samples;
	const struct samples_event *ev = &s->events.v[i];
	int shown = samples_has(s, (uint32_t)i) && (!s->ti.opt->in.events.n || ev->wanted);
	return shown ? ev->name : NULL;
}

void samples_event_shown(const struct samples *s, uint32_t event, struct buf *b)
{
	event_name_shown(b, s->events.v[event].name, nth_shown, s, s->events.n);
}

static unsigned topics_of(const struct samples *s, uint32_t shown)
{
	unsigned topics = s->events.n ? ABOUT_NAMES : ABOUT_NAMES | ABOUT_CPU;
	int asked = s->ti.opt->in.events.n > 0;
	for (uint32_t i = 0; i < s->events.n; i++) {
		const struct samples_event *ev = &s->events.v[i];
		if (asked ? ev->wanted : shown == NO_ID || i == shown)
			topics |= ev->tracepoint ? ABOUT_COUNTS : ABOUT_CPU;
	}
	return topics;
}

int samples_check_findings(struct samples *s, uint32_t shown)
{
	unsigned topics = topics_of(s, shown);
	return !s->ti.tl.finished
		       ? input_check_findings(&s->ti.in, topics)
		       : tlinput_check_findings(&s->ti, ASKED_OF_SAMPLES | topics, topics, 1);
}

uint64_t samples_weight(const struct samples *s, const struct folded *f)
{
	return s->events.v[f->event].tracepoint ? f->samples : f->weight;
}
