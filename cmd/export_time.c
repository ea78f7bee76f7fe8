#include "cmd/export_time.h"
#include "base/mem.h"
#include "cmd/query/timeline_samples.h"
#include "libtime/population/wall.h"
#include "render/export/firefox.h"
#include "render/export/perfetto.h"
#include "render/export/speedscope.h"

#include <stdlib.h>
#include <string.h>

/* The thread at hand, gathered. */
struct gathering {
	struct tlinput *ti;
	struct speedscope *out;
	VEC(struct speedscope_piece) pieces;
	VEC(struct speedscope_span) spans;
	VEC(uint32_t) by_thread; /* spans of one thread, as indexes of the timeline's */
	uint32_t thread;
	size_t written;
	struct err *e;
};

static int compare_thread(const void *a, const void *b, void *timeline)
{
	const struct tl_span *v = ((const struct timeline *)timeline)->spans.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (v[x].thread != v[y].thread)
		return v[x].thread < v[y].thread ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int index_spans(struct gathering *g)
{
	const struct timeline *tl = &g->ti->tl;
	for (size_t i = 0; i < tl->spans.n; i++)
		if (tl->spans.v[i].thread == tl->spans.v[i].end_thread &&
		    vec_push(&g->by_thread, (uint32_t)i))
			return ERR_NOMEM;
	if (g->by_thread.n)
		qsort_r(g->by_thread.v, g->by_thread.n, sizeof(*g->by_thread.v), compare_thread,
			(void *)tl);
	return 0;
}

/* The first of by_thread that belongs to `thread` or a later one. */
static size_t first_span(const struct gathering *g, uint32_t thread)
{
	size_t low = 0, high = g->by_thread.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (g->ti->tl.spans.v[g->by_thread.v[mid]].thread < thread)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Its spans, cut to --time. */
static int take_spans(struct gathering *g)
{
	const struct sample_filter *f = &g->ti->in.fold.aggregate.filter;
	const struct timeline *tl = &g->ti->tl;
	g->spans.n = 0;
	for (size_t i = first_span(g, g->thread); i < g->by_thread.n; i++) {
		const struct tl_span *x = &tl->spans.v[g->by_thread.v[i]];
		struct speedscope_span s = {x->start_ns, x->end_ns, x->name};
		if (x->thread != g->thread)
			break;
		s.start_ns = s.start_ns < f->start ? f->start : s.start_ns;
		s.end_ns = f->stop && s.end_ns > f->stop ? f->stop : s.end_ns;
		if (s.start_ns <= s.end_ns && vec_push(&g->spans, s))
			return ERR_NOMEM;
	}
	return 0;
}

static int write_thread(struct gathering *g)
{
	const struct timeline *tl = &g->ti->tl;
	if (!g->pieces.n)
		return 0;
	if (take_spans(g))
		return err_nomem(g->e);
	const struct tl_thread *t = &tl->threads.v[g->thread];
	struct speedscope_thread s = {.comm = t->comm,
				      .pid = t->pid,
				      .tid = t->tid,
				      .zero_ns =
					      timeline_recording_of(tl, g->thread)->origin_ns,
				      .pieces = g->pieces.v,
				      .npieces = g->pieces.n,
				      .spans = g->spans.v,
				      .nspans = g->spans.n};
	int rc = speedscope_thread(g->out, &s, g->e);
	g->pieces.n = 0;
	g->written++;
	return rc;
}

static int take_row(void *ctx, const struct wall_row *r)
{
	struct gathering *g = ctx;
	struct speedscope_piece p = {r->start_ns, r->start_ns + r->ns, r->path};
	int rc = g->thread == r->thread ? 0 : write_thread(g);
	g->thread = r->thread;
	if (!rc && ((r->what && stacks_mark(g->ti->tl.stacks, r->what, &p.path)) ||
		    vec_push(&g->pieces, p)))
		rc = err_nomem(g->e);
	return rc;
}

int export_speedscope(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e)
{
	struct gathering g = {.ti = ti, .thread = TL_NONE, .e = e};
	struct population of = waits_population(ti, opt);
	struct set_apart h = {.system = 0};
	int rc = index_spans(&g) ? err_nomem(e) : speedscope_open(&g.out, ti->tl.stacks, f, e);
	rc = rc ? rc : wall_collect(&ti->tl, &of, take_row, &g, &h, e);
	rc = rc ? rc : write_thread(&g);
	if (!rc && !g.written)
		rc = err_set(e, ERR_REFUSED,
			     "%s: nothing ran or waited here (show hidden waits with --idle, "
			     "--system)",
			     ti->path);
	rc = speedscope_close(g.out, rc, e);
	if (!rc)
		tl_say_hidden(ti, &h);
	set_apart_release(&h);
	vec_release(&g.pieces);
	vec_release(&g.spans);
	vec_release(&g.by_thread);
	return rc;
}

static int one_recording(const struct tlinput *ti, const char *what, struct err *e)
{
	if (!ti->tl.parts.n)
		return 0;
	return err_set(e, ERR_USAGE, "%s: several recordings; %s is of one (--recording)",
		       ti->path, what);
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
	return rc ? err_prefix(e, "%s", ti->path) : 0;
}

int export_perfetto(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e)
{
	(void)opt;
	int rc = one_recording(ti, "a trace", e);
	return rc ? rc : perfetto_write(&ti->tl, f, e);
}
