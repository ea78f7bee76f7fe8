#include "cmd/query/waits.h"
#include "base/mem.h"
#include "base/text/name_id.h"
#include "cmd/cli/say.h"
#include "cmd/query/meant_input.h"
#include "render/text/escape.h"
#include "render/tail/site_words.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct wait_opts, field)

const struct opt wait_rows[] = {
	OPT_HEADING("Waits"),
	{"idle", 0, OPT_FLAG, AT(idle), NULL,
	 "include waits at rest: until the next request comes"},
	{"system", 0, OPT_FLAG, AT(system), NULL, "include kernel threads and perf itself"},
	{"no-unclear", 0, OPT_FLAG, AT(no_unclear), NULL,
	 "leave out unclear waits: perhaps at rest, perhaps work"},
	{"state", 0, OPT_LIST, AT(states), "STATE,...",
	 "only time in this state: blocked, runnable, preempted,\nunknown; for tail also "
	 "running"},
	{"cause", 0, OPT_LIST, AT(causes), "CAUSE,...",
	 "only waits with this cause: lock, io, sleep, ... (all of\nthem: perfkit help "
	 "causes); '!sleep': all but these"},
	{"site", 0, OPT_STRING, AT(tl.site), "SITE", "only waits at this site: its name or id"},
	OPT_END,
};

struct population waits_population(const struct tlinput *ti, const struct wait_opts *opt)
{
	const struct input *in = &ti->in;
	const struct sample_filter *f = &in->fold.aggregate.filter;
	return (struct population){
		.comms = ti->opt->in.comms.v,
		.ncomms = ti->opt->in.comms.n,
		.pids = in->pids.v,
		.npids = in->pids.n,
		.tids = in->tids.v,
		.ntids = in->tids.n,
		.meant = ti->meant,
		.cpus = in->cpus.v,
		.ncpus = in->cpus.n,
		.start_ns = f->start,
		.stop_ns = f->stop,
		.label = ti->opt->label ? &ti->label : NULL,
		.label_value = ti->label_value,
		.sites = ti->sites,
		.idle = opt && opt->idle,
		.system = opt && opt->system,
		.no_unclear = opt && opt->no_unclear,
	};
}

int waits_find_site(struct tlinput *ti)
{
	const struct timeline *tl = &ti->tl;
	const char *asked = ti->opt->site;
	struct buf name = {0};
	struct err e = {0};
	int found = 0;
	ti->sites = asked ? mem_zalloc(tl->sites.n + 1, 1) : NULL;
	int failed = asked && !ti->sites;
	for (uint32_t i = 1; i < tl->sites.n && ti->sites; i++) {
		buf_clear(&name);
		describe_site(&name, tl, i);
		ti->sites[i] = !strcmp(buf_cstr(&name), asked) ||
			       name_has_id("site", asked, buf_cstr(&name));
		found |= ti->sites[i];
	}
	failed |= buf_failed(&name);
	buf_release(&name);
	if (failed)
		return input_fail(&ti->in, (err_nomem(&e), &e));
	if (!asked || found)
		return 0;
	say("%s: no wait site %s (see: perfkit report --by site)", input_shown(ti->path),
	    asked);
	return 3;
}

void tl_meant_by_spans(struct tlinput *ti)
{
	const struct timeline *tl = &ti->tl;
	int any = !tl->spans.n;
	for (size_t i = 0; i < tl->spans.n && !any; i++) {
		uint32_t t = tl->spans.v[i].thread;
		any = t != TL_NONE && tl->threads.v[t].flags & THREAD_MEANT;
	}
	ti->meant &= any;
}

int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm)
{
	struct population p = waits_population(ti, NULL);
	const struct tl_thread *t = &ti->tl.threads.v[thread];
	return (!p.meant || t->flags & THREAD_MEANT) &&
	       population_has_task(&p, &ti->tl, t->pid, t->tid, comm);
}

void tl_say_hidden(struct tlinput *ti, const struct set_apart *x)
{
	struct buf b = {0};
	meant_say_threads(ti);
	if (!ti->opt->in.quiet && set_apart_any(x)) {
		describe_hidden(&b, &ti->tl, x);
		say("hidden: %s", buf_cstr(&b));
	}
	buf_release(&b);
}

/* --- sums ------------------------------------------------------------------------------ */

int waits_no_state(const char *word, const char *words, struct err *e)
{
	struct buf b = {0};
	for (const char *p = words; *p; p++)
		buf_fmt(&b, *p == ' ' ? ",%c" : "%c", *p);
	opt_suggest(&b, words, word);
	int rc = err_set(e, ERR_USAGE, "--state: '%s' is not one of %s", word, buf_cstr(&b));
	buf_release(&b);
	return rc;
}

static int select_states(const struct opt_list *l, struct wait_selection *s, struct err *e)
{
	static const char *const names[] = {"blocked", "runnable", "preempted", "unknown"};
	s->states = l->n ? 0 : WAITS_ALL_STATES;
	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;
		while (k < 4 && strcmp(l->v[i], names[k]))
			k++;
		if (k == 4)
			return waits_no_state(l->v[i], "blocked runnable preempted unknown", e);
		s->states |= 1u << k;
		if (1u << k == WAITS_RUNNABLE)
			s->states |= WAITS_PREEMPTED; /* preempted is part of runnable */
	}
	return 0;
}

int waits_causes(const struct opt_list *l, uint32_t *mask, struct err *e)
{
	_Static_assert(CAUSE_COUNT < 31, "a bit for each cause, and one for none of them");
	*mask = !l->n ? 0 : 1u << 31 | (l->v[0][0] == '!' ? (1u << CAUSE_COUNT) - 1 : 0);
	for (size_t i = 0; i < l->n; i++) {
		int out = l->v[i][0] == '!';
		int c = cause_parse(l->v[i] + out, e);
		if (c < 0)
			return err_prefix(e, "--cause");
		*mask = out ? *mask & ~(1u << c) : *mask | 1u << c;
	}
	return 0;
}

static int select_causes(const struct opt_list *l, struct wait_selection *s, struct err *e)
{
	uint32_t mask;
	int rc = waits_causes(l, &mask, e);
	for (unsigned c = 0; c < CAUSE_COUNT && !rc; c++)
		s->causes[c] = !mask || mask >> c & 1;
	return rc;
}

int waits_shown(struct wait_selection *out, const struct wait_opts *opt, struct err *e)
{
	int rc = select_states(&opt->states, out, e);
	return rc ? rc : select_causes(&opt->causes, out, e);
}

int waits_selection(struct wait_selection *out, const struct tlinput *ti,
		    const struct wait_opts *opt, unsigned by, struct err *e)
{
	*out = (struct wait_selection){
		.of = waits_population(ti, opt), .by = by, .split = ti->split};
	return waits_shown(out, opt, e);
}
