#include "cmd/tlsamples.h"
#include "base/mem.h"

#include <string.h>

void tl_folded_release(struct tl_folded *f)
{
	vec_release(&f->rows);
	idmap_release(&f->index);
}

static const char *event_name(const struct tlinput *ti, size_t event)
{
	return strtab_get(&ti->names->strings, ti->tl.events.v[event].name);
}

/* "cycles" names "cycles:P" too. */
static int name_matches(const char *have, const char *want)
{
	size_t n = strlen(want);
	return !strncmp(have, want, n) && (!have[n] || have[n] == ':');
}

/* Flags of the events asked for by name. */
static int asked_events(const struct tlinput *ti, uint8_t *want, struct err *e)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++) {
		int found = 0;
		for (size_t k = 0; k < ti->tl.events.n; k++)
			if (name_matches(event_name(ti, k), l->v[i]))
				found = want[k] = 1;
		if (!found)
			return err_set(e, ERR_USAGE, "no event '%s' in %s", l->v[i], ti->path);
	}
	return 0;
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

/* The first event that is no tracepoint and has samples, with its halves. */
static void drawn_event(const struct tlinput *ti, uint8_t *want, uint32_t *event)
{
	const struct timeline *tl = &ti->tl;
	uint32_t best = TL_NONE;
	for (size_t i = 0; i < tl->samples.n; i++) {
		uint32_t at = tl->samples.v[i].event;
		int worse = tl->events.v[at].tracepoint;
		if (best == TL_NONE || worse < tl->events.v[best].tracepoint ||
		    (worse == tl->events.v[best].tracepoint && at < best))
			best = at;
	}
	*event = best;
	for (size_t k = 0; best != TL_NONE && k < tl->events.n; k++)
		want[k] = (uint8_t)tl_same_event(event_name(ti, k), event_name(ti, best));
}

static int has_tracepoints(const struct timeline *tl)
{
	for (size_t k = 0; k < tl->events.n; k++)
		if (tl->events.v[k].tracepoint)
			return 1;
	return 0;
}

/* The event of the earliest sample, and all of its name. */
static int earliest_event(const struct tlinput *ti, uint8_t *want, uint32_t *event,
			  struct err *e)
{
	const struct timeline *tl = &ti->tl;
	if (!tl->samples.n)
		return 0;
	if (has_tracepoints(tl))
		return err_set(e, ERR_REFUSED,
			       "%s: keeps tracepoints as waits, not as samples: name the event "
			       "to show (--event %s)",
			       ti->path, event_name(ti, tl->samples.v[0].event));
	*event = tl->samples.v[0].event; /* samples are in the order of time */
	for (size_t k = 0; k < tl->events.n; k++)
		want[k] = !strcmp(event_name(ti, k), event_name(ti, *event));
	return 0;
}

static int add(struct tl_folded *out, const struct folded *f)
{
	uint64_t h = hash_u64((uint64_t)f->comm << 32 | f->path);
	h = hash_u64(h ^ ((uint64_t)f->event << 48 | (uint64_t)(uint32_t)f->tid << 16) ^
		     f->cpu);
	size_t at = 0;
	for (uint32_t id; idmap_next(&out->index, h, &at, &id);) {
		struct folded *x = &out->rows.v[id];
		if (x->event != f->event || x->comm != f->comm || x->pid != f->pid ||
		    x->tid != f->tid || x->cpu != f->cpu || x->path != f->path)
			continue;
		x->weight += f->weight;
		x->samples += f->samples;
		return 0;
	}
	if (vec_push(&out->rows, *f))
		return ERR_NOMEM;
	return idmap_put(&out->index, h, (uint32_t)(out->rows.n - 1));
}

int tl_sample_passes(const struct tlinput *ti, const struct tl_sample *s)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	if (s->time_ns < f->start || (f->stop && s->time_ns > f->stop))
		return 0;
	if (!tl_cpu_passes(ti, s->cpu, s->cpu))
		return 0;
	return s->thread == TL_NONE || tl_thread_passes(ti, s->thread, s->comm);
}

static int fold(const struct tlinput *ti, unsigned by, const uint8_t *want,
		struct tl_folded *out)
{
	for (size_t i = 0; i < ti->tl.samples.n; i++) {
		const struct tl_sample *s = &ti->tl.samples.v[i];
		if (!want[s->event] || !tl_sample_passes(ti, s))
			continue;
		const struct tl_thread *t =
			s->thread == TL_NONE ? NULL : &ti->tl.threads.v[s->thread];
		struct folded f = {
			.event = s->event,
			.comm = s->comm,
			.pid = t && by & (BY_PID | BY_TID) ? t->pid : -1,
			.tid = t && by & BY_TID ? t->tid : -1,
			.cpu = by & BY_CPU ? timeline_cpu(&ti->tl, s->cpu) : UINT32_MAX,
			.path = s->path,
			.chain = 1,
			.weight = ti->tl.events.v[s->event].tracepoint ? 1 : s->period,
			.samples = 1};
		if (add(out, &f))
			return ERR_NOMEM;
	}
	return 0;
}

int tl_fold_samples(const struct tlinput *ti, unsigned by, enum tl_fold_which which,
		    struct tl_folded *out, struct err *e)
{
	*out = (struct tl_folded){.event = TL_NONE};
	uint8_t *want = mem_zalloc(ti->tl.events.n, 1);
	int rc = 0;
	if (!want)
		return err_nomem(e);
	/* of a recording without samples the answer is empty, too */
	if (!ti->tl.samples.n && has_tracepoints(&ti->tl) && which != FOLD_ALL)
		rc = err_set(e, ERR_REFUSED, "%s: no samples in it, only waits (--offcpu)",
			     ti->path);
	else if (which == FOLD_ALL)
		memset(want, 1, ti->tl.events.n);
	else if (ti->opt->in.events.n)
		rc = asked_events(ti, want, e);
	else if (which == FOLD_DRAWN)
		drawn_event(ti, want, &out->event);
	else
		rc = earliest_event(ti, want, &out->event, e);
	if (!rc && fold(ti, by, want, out))
		rc = err_nomem(e);
	mem_free(want);
	return rc;
}
