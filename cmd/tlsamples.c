#include "cmd/tlsamples.h"
#include "base/buf.h"
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

uint32_t tl_find_event(const struct tlinput *ti, const char *want)
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

static int no_such_event(const struct tlinput *ti, const char *want, struct err *e)
{
	struct buf has = {0};
	for (size_t k = 0; k < ti->tl.events.n; k++)
		buf_fmt(&has, " %s", event_name(ti, k));
	err_set(e, ERR_USAGE, "no event '%s' in %s; it has:%s", want, ti->path, buf_cstr(&has));
	buf_release(&has);
	return ERR_USAGE;
}

int tl_check_events(const struct tlinput *ti, struct err *e)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++)
		if (tl_find_event(ti, l->v[i]) == TL_NONE)
			return no_such_event(ti, l->v[i], e);
	return 0;
}

/* Flags of the events asked for by name. */
static int asked_events(const struct tlinput *ti, uint8_t *want, struct err *e)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++) {
		uint32_t at = tl_find_event(ti, l->v[i]);
		if (at == TL_NONE)
			return no_such_event(ti, l->v[i], e);
		for (size_t k = 0; k < ti->tl.events.n; k++)
			want[k] |= !strcmp(event_name(ti, k), event_name(ti, at));
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

enum { WANTED = 1, LEFT_OUT };

/* Of the events wanted the first that is no tracepoint and has samples, with its halves; the
 * others become LEFT_OUT. */
static void drawn_event(const struct tlinput *ti, uint8_t *want, uint32_t *event)
{
	const struct timeline *tl = &ti->tl;
	uint32_t best = TL_NONE;
	for (size_t i = 0; i < tl->samples.n; i++) {
		uint32_t at = tl->samples.v[i].event;
		int worse = tl->events.v[at].tracepoint;
		if (at == best || !want[at] || !tl_sample_passes(ti, &tl->samples.v[i]))
			continue;
		if (best == TL_NONE || worse < tl->events.v[best].tracepoint ||
		    (worse == tl->events.v[best].tracepoint && at < best))
			best = at;
	}
	*event = best;
	for (size_t k = 0; best != TL_NONE && k < tl->events.n; k++)
		if (want[k] && !tl_same_event(event_name(ti, k), event_name(ti, best)))
			want[k] = LEFT_OUT;
}

static int has_tracepoints(const struct timeline *tl)
{
	for (size_t k = 0; k < tl->events.n; k++)
		if (tl->events.v[k].tracepoint)
			return 1;
	return 0;
}

/* Samples of tracepoints, and of perf's own --off-cpu, became waits, marks and totals. */
static int is_kept(const struct tlinput *ti, size_t event)
{
	return !ti->tl.events.v[event].tracepoint &&
	       strncmp(event_name(ti, event), "offcpu-time", 11) != 0;
}

/* Whether the samples of all events that are wanted are there; `want` NULL: of any. */
static int check_kept(const struct tlinput *ti, const uint8_t *want, struct err *e)
{
	const struct timeline *tl = &ti->tl;
	size_t k = 0, named;
	while (k < tl->events.n && ((want && !want[k]) || is_kept(ti, k)))
		k++;
	if (k == tl->events.n)
		return 0;
	if (!tl->samples.n)
		return err_set(e, ERR_REFUSED, "%s: no samples in it, only waits (--offcpu)",
			       ti->path);
	named = tl->samples.v[0].event;
	return err_set(e, ERR_REFUSED,
		       "%s: keeps %s as waits or marks, not as samples: %s (--event %s)",
		       ti->path, event_name(ti, k),
		       want ? "it has the samples of others" : "name the event to show",
		       event_name(ti, named));
}

/* The event of the earliest sample, and all of its name. */
static int earliest_event(const struct tlinput *ti, uint8_t *want, uint32_t *event,
			  struct err *e)
{
	const struct timeline *tl = &ti->tl;
	/* perf writes its --off-cpu sums last */
	int rc = has_tracepoints(tl) || !tl->samples.n ? check_kept(ti, NULL, e) : 0;
	for (size_t i = 0; i < tl->samples.n && !rc && *event == TL_NONE; i++)
		if (tl_sample_passes(ti, &tl->samples.v[i])) /* in the order of time */
			*event = tl->samples.v[i].event;
	if (!rc && *event == TL_NONE)
		return check_kept(ti, NULL, e);
	for (size_t k = 0; k < tl->events.n && !rc; k++)
		want[k] = !strcmp(event_name(ti, k), event_name(ti, *event));
	return rc;
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
	/* as stores of an older perfkit have the idle task */
	return s->thread == TL_NONE ? !ti->in.pids.n && !ti->in.tids.n && !ti->opt->in.comms.n
				    : tl_thread_passes(ti, s->thread, s->comm);
}

/* As samples of a recording have it: UINT32_MAX where it was not recorded. */
static uint32_t cpu_of(const struct tlinput *ti, uint16_t cpu)
{
	return cpu == TL_NOCPU ? UINT32_MAX : timeline_cpu(&ti->tl, cpu);
}

static int fold(const struct tlinput *ti, unsigned by, const uint8_t *want,
		struct tl_folded *out)
{
	for (size_t i = 0; i < ti->tl.samples.n; i++) {
		const struct tl_sample *s = &ti->tl.samples.v[i];
		if (!tl_sample_passes(ti, s))
			continue;
		out->left_out += want[s->event] == LEFT_OUT;
		if (want[s->event] != WANTED)
			continue;
		const struct tl_thread *t =
			s->thread == TL_NONE ? NULL : &ti->tl.threads.v[s->thread];
		struct folded f = {.event = s->event,
				   .comm = s->comm,
				   .pid = t && by & (BY_PID | BY_TID) ? t->pid : -1,
				   .tid = t && by & BY_TID ? t->tid : -1,
				   .cpu = by & BY_CPU ? cpu_of(ti, s->cpu) : UINT32_MAX,
				   .path = s->path,
				   .chain = 1,
				   .weight =
					   ti->tl.events.v[s->event].tracepoint ? 1 : s->period,
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
	if (which == FOLD_ALL) {
		memset(want, WANTED, ti->tl.events.n);
		rc = check_kept(ti, NULL, e);
	} else if (ti->opt->in.events.n) {
		rc = asked_events(ti, want, e);
		rc = rc ? rc : check_kept(ti, want, e);
		if (!rc && which == FOLD_DRAWN)
			drawn_event(ti, want, &out->event);
	} else if (which == FOLD_DRAWN) {
		memset(want, WANTED, ti->tl.events.n);
		drawn_event(ti, want, &out->event);
		if (out->event == TL_NONE)
			rc = check_kept(ti, NULL, e);
	} else {
		rc = earliest_event(ti, want, &out->event, e);
	}
	if (!rc && fold(ti, by, want, out))
		rc = err_nomem(e);
	mem_free(want);
	return rc;
}
