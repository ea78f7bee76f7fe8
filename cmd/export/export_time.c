#include "cmd/export/export_time.h"
#include "cmd/query/timeline_samples.h"
#include "render/export/firefox.h"
#include "render/export/perfetto.h"
#include "render/export/speedscope.h"

#include <string.h>

int export_speedscope(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e)
{
	struct population of = waits_population(ti, opt);
	struct set_apart hidden;
	int rc = speedscope_timeline(&ti->tl, &of, f, &hidden, e);
	if (!rc)
		tl_say_hidden(ti, &hidden);
	set_apart_release(&hidden);
	return rc == ERR_REFUSED ? err_prefix(e, "%s", input_shown(ti->path)) : rc;
}

static int one_recording(const struct tlinput *ti, const char *what, struct err *e)
{
	if (!ti->tl.parts.n)
		return 0;
	return err_set(e, ERR_USAGE, "%s: several recordings; %s takes one (--recording)",
		       input_shown(ti->path), what);
}

/* The event that is shown and its halves on hybrid CPUs. */
struct shown_event {
	const struct tlinput *ti;
	const char *name;
};

static const char *event_name(const struct tlinput *ti, uint32_t event)
{
	return strtab_get(&ti->names->strings, ti->tl.events.v[event].name);
}

static int is_shown(const void *ctx, uint32_t event)
{
	const struct shown_event *x = ctx;
	return event_names_match(event_name(x->ti, event), x->name);
}

int export_firefox(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e)
{
	struct population of = waits_population(ti, opt);
	struct set_apart hidden;
	uint32_t event;
	int rc = one_recording(ti, "a profile", e);
	rc = rc ? rc : tl_one_event(ti, "--to firefox shows", &event, e);
	if (rc)
		return rc;
	struct shown_event shown = {ti, ti->tl.events.n ? event_name(ti, event) : ""};
	struct firefox_options o = {.of = &of,
				    .wanted = is_shown,
				    .ctx = &shown,
				    .in_time = !strcmp(event_name_unit(shown.name, 0), "ns")};
	rc = firefox_write(&ti->tl, &o, f, &hidden, e);
	if (!rc)
		tl_say_hidden(ti, &hidden);
	set_apart_release(&hidden);
	return rc ? err_prefix(e, "%s", input_shown(ti->path)) : 0;
}

int export_perfetto(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e)
{
	struct population of = waits_population(ti, opt);
	int rc = one_recording(ti, "a trace", e);
	rc = rc ? rc : tlinput_check_label(ti, e);
	return rc ? rc : perfetto_write(&ti->tl, &of, f, e);
}
