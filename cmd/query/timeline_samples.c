#include "cmd/query/timeline_samples.h"

#include <string.h>

static const char *event_name(const struct tlinput *ti, size_t event)
{
	return strtab_get(&ti->names->strings, ti->tl.events.v[event].name);
}

/* The event that --event names (event_name_fits), index of timeline.events; TL_NONE. */
static uint32_t find_event(const struct tlinput *ti, const char *want)
{
	uint32_t found = TL_NONE;
	int best = 0;
	for (size_t k = 0; k < ti->tl.events.n; k++) {
		int fits = event_name_fits(event_name(ti, k), want);
		if (fits > best) {
			best = fits;
			found = (uint32_t)k;
		}
	}
	return found;
}

int tl_one_event(const struct tlinput *ti, const char *what, uint32_t *event, struct err *e)
{
	const struct opt_list *l = &ti->opt->in.events;
	const char *want = l->n ? l->v[0] : NULL;
	if (l->n > 1)
		return err_set(e, ERR_USAGE, "%s one event, not %zu", what, l->n);
	*event = want ? find_event(ti, want) : ti->tl.samples.n ? ti->tl.samples.v[0].event : 0;
	if (*event == TL_NONE)
		return err_set(e, ERR_USAGE, "no event '%s' in %s", want, ti->path);
	return 0;
}

static const char *name_of(const void *ti, size_t event)
{
	return event_name(ti, event);
}

int tl_check_events(const struct tlinput *ti)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++)
		if (find_event(ti, l->v[i]) == TL_NONE)
			return input_no_event(&ti->in, l->v[i], name_of, ti, ti->tl.events.n);
	return 0;
}

int tl_event_wanted(const struct tlinput *ti, uint32_t event)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++) {
		uint32_t at = find_event(ti, l->v[i]);
		if (at != TL_NONE && ti->tl.events.v[at].name == ti->tl.events.v[event].name)
			return 1;
	}
	return !l->n;
}

int tl_is_off_cpu(const char *event)
{
	return !strncmp(event, OFF_CPU_EVENT, strlen(OFF_CPU_EVENT));
}

int tl_same_event(const char *a, const char *b)
{
	static const char *const pmus[] = {"cpu_core/", "cpu_atom/"};
	for (size_t i = 0; i < 2; i++) {
		if (!strncmp(a, pmus[i], 9))
			a += 9;
		if (!strncmp(b, pmus[i], 9))
			b += 9;
	}
	return !strcmp(a, b);
}

const char *event_unit(const struct event *ev)
{
	if (ev->is_tracepoint)
		return "samples";
	if (ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config <= 1)
		return "ns"; /* cpu-clock, task-clock */
	return tl_event_unit(ev->name ? ev->name : "", 0);
}

const char *tl_event_unit(const char *name, int tracepoint)
{
	static const char *const times[] = {"cpu-clock", "task-clock", OFF_CPU_EVENT};
	if (tracepoint)
		return "samples";
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!strncmp(name, times[i], strlen(times[i])))
			return "ns";
	return "events";
}

int tl_sample_is_of(const struct tlinput *ti, const struct tl_sample *s, const char *event)
{
	return tl_same_event(event_name(ti, s->event), event) && tl_sample_passes(ti, s);
}

/* What needs no thread. */
static int place_passes(const struct tlinput *ti, uint64_t time_ns, uint16_t cpu)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	return time_ns >= f->start && !(f->stop && time_ns > f->stop) &&
	       tl_cpu_passes(ti, cpu, cpu);
}

/* Does a thread bear the label of --label then? */
static int label_passes(const struct tlinput *ti, uint32_t thread, uint64_t time_ns)
{
	uint64_t until;
	return !ti->opt->label ||
	       label_lanes_at(&ti->label, thread, time_ns, &until) == ti->label_value;
}

uint32_t tl_event_thread(const struct tlinput *ti, const struct tl_event_sample *s)
{
	if (!ti->opt->label && !ti->splits)
		return TL_NONE;
	for (uint32_t i = 0; i < ti->tl.threads.n; i++) {
		const struct tl_thread *t = &ti->tl.threads.v[i];
		if (t->tid == s->tid && t->first_ns <= s->time_ns && s->time_ns <= t->last_ns)
			return i;
	}
	return TL_NONE;
}

uint32_t tl_split_label(const struct tlinput *ti, uint32_t thread, uint64_t time_ns)
{
	uint64_t until;
	return ti->splits ? label_lanes_at(&ti->split, thread, time_ns, &until) : 0;
}

int tl_sample_passes(const struct tlinput *ti, const struct tl_sample *s)
{
	if (!place_passes(ti, s->time_ns, s->cpu) || !label_passes(ti, s->thread, s->time_ns))
		return 0;
	/* as stores of an older perfkit have the idle task */
	return s->thread == TL_NONE ? !ti->in.pids.n && !ti->in.tids.n && !ti->opt->in.comms.n
				    : tl_thread_passes(ti, s->thread, s->comm);
}

int tl_event_sample_passes(const struct tlinput *ti, const struct tl_event_sample *s)
{
	return place_passes(ti, s->time_ns, s->cpu) &&
	       label_passes(ti, tl_event_thread(ti, s), s->time_ns) &&
	       tl_task_passes(ti, s->pid, s->tid, s->comm);
}
