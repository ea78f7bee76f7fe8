#include "cmd/query/timeline_samples.h"
#include "base/mem.h"

#include <limits.h>
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

int tl_choose_events(struct tlinput *ti)
{
	const struct opt_list *l = &ti->opt->in.events;
	const struct timeline *tl = &ti->tl;
	if (!l->n)
		return 0;
	ti->events = mem_zalloc(tl->events.n + 1, 1);
	for (size_t i = 0; i < l->n && ti->events; i++) {
		uint32_t at = find_event(ti, l->v[i]);
		for (size_t k = 0; k < tl->events.n && at != TL_NONE; k++)
			ti->events[k] |=
				event_is_chosen(event_name(ti, k), event_name(ti, at), l->v[i]);
	}
	return ti->events ? 0 : ERR_NOMEM;
}

/* event_default_rank; 0 where nothing has samples with a time. */
static uint32_t default_event(const struct tlinput *ti)
{
	const struct timeline *tl = &ti->tl;
	uint32_t best = 0;
	int lowest = INT_MAX;
	for (size_t i = 0; i < tl->samples.n; i++) {
		uint32_t event = tl->samples.v[i].event;
		int rank = event_default_rank(event_name(ti, event), 0);
		if (rank < lowest || (rank == lowest && event < best)) {
			lowest = rank;
			best = event;
		}
	}
	return best;
}

int tl_one_event(const struct tlinput *ti, const char *what, uint32_t *event, struct err *e)
{
	const struct opt_list *l = &ti->opt->in.events;
	const char *want = l->n ? l->v[0] : NULL;
	if (l->n > 1)
		return err_set(e, ERR_USAGE, "%s one event, not %zu", what, l->n);
	*event = want ? find_event(ti, want) : default_event(ti);
	if (*event == TL_NONE)
		return err_set(e, ERR_USAGE, "no event '%s' in %s", want,
			       input_shown(ti->path));
	return 0;
}

static const char *name_of(const void *ti, size_t event)
{
	return event_name(ti, event);
}

/* The name of event i, if --event does not leave it out. */
static const char *nth_shown(const void *tlinput, size_t i)
{
	const struct tlinput *ti = tlinput;
	return !ti->events || ti->events[i] ? event_name(ti, i) : NULL;
}

void tl_event_shown(const struct tlinput *ti, uint32_t event, struct buf *b)
{
	event_name_shown(b, event_name(ti, event), nth_shown, ti, ti->tl.events.n);
}

int tl_check_events(const struct tlinput *ti)
{
	const struct opt_list *l = &ti->opt->in.events;
	for (size_t i = 0; i < l->n; i++)
		if (find_event(ti, l->v[i]) == TL_NONE)
			return input_no_event(&ti->in, l->v[i], name_of, ti, ti->tl.events.n);
	return 0;
}

struct sample_selection tl_selection(const struct tlinput *ti)
{
	return (struct sample_selection){
		.of = waits_population(ti, NULL), .events = ti->events, .split = ti->split};
}
