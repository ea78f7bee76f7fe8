#include "tests/fuzz/asktimeline.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_query.h"
#include "tests/fuzz/fuzz.h"

#include "libtime/causes/causes.h"
#include "libtime/store/store_read.h"
#include "libtime/explain/tail_model.h"
#include "libtime/sched/timeline_join.h"
#include "render/timeline/timeline_svg.h"

#include <stdio.h>
#include <stdlib.h>

static void ask_tail(const struct timeline *tl, enum episode_kind kind, uint32_t span)
{
	struct tail_query q = {.episodes = {.kind = kind, .span = span, .of = {.system = 1}},
			       .pick = {.kind = PICK_TOP, .top = 5, .dirty = 1}};
	struct tail t;
	struct err e = {0};
	int rc = tail_make(tl, &q, &t, &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return;
	}
	for (size_t i = 0; i < t.rows.n; i++) {
		struct explanation x = {0};
		const struct episode *ep = &t.episodes.v.v[t.rows.v[i].episode];
		if (!explain(t.explainer, ep, &x, &e))
			fuzz_must(x.run_ns + x.blocked_ns + x.runnable_ns + x.unknown_ns ==
					  episode_ns(ep),
				  "the parts of an episode sum up to it");
		explanation_release(&x);
	}
	tail_release(&t);
}

static void draw(const struct timeline *tl)
{
	struct tl_pick_options po = {.top = 8,
				     .from_ns = tl->rec.origin_ns,
				     .to_ns = tl->rec.end_ns,
				     .show_system = 1};
	struct tl_pick pick = {0};
	struct tl_svg_options o;
	char *svg = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&svg, &size);
	struct err e = {0};
	tl_svg_defaults(&o);
	o.no_script = tl->rec.end_ns % 8 != 0; /* the data for it costs more */
	if (!out)
		abort();
	int rc = tl_pick(tl, &po, &pick, &e);
	struct tl_panel p = {.from_ns = po.from_ns,
			     .to_ns = po.to_ns,
			     .zero_ns = tl->rec.origin_ns,
			     .rows = pick.rows.v,
			     .nrows = pick.rows.n};
	if (!rc)
		rc = timeline_svg_write(tl, &p, 1, &o, out, NULL, &e);
	if (rc)
		fuzz_failed(rc, &e);
	fclose(out);
	for (size_t i = 0; i < size; i++)
		fuzz_must((uint8_t)svg[i] >= ' ' || svg[i] == '\n' || svg[i] == '\t',
			  "no control characters in a picture");
	free(svg);
	tl_pick_release(&pick);
}

void ask_timeline(struct timeline *tl)
{
	static struct causes *c; /* the built-in rules, read once */
	struct tl_runs runs = {0};
	struct err e = {0};
	uint32_t names[4];
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		struct tl_sums sums;
		timeline_thread_sums(tl, i, &sums);
		fuzz_must(sums.run + sums.blocked + sums.runnable + sums.unknown ==
				  tl->threads.v[i].last_ns - tl->threads.v[i].first_ns,
			  "a thread's states sum up to its life");
	}
	timeline_answerable(tl, 1, &e);
	if (!timeline_runs(tl, &runs, &e))
		tl_runs_release(&runs);
	if (!c && causes_new(&c, &e))
		return;
	causes_apply(c, tl, &e);
	ask_tail(tl, EPISODE_WAIT, 0);
	ask_tail(tl, EPISODE_ACTIVATION, 0);
	if (episodes_span_names(tl, names, 4))
		ask_tail(tl, EPISODE_SPAN, names[0]);
	draw(tl);
}

/* One recording of a store over the stacks of those before, added to `all`. */
static int take_recording(struct store *s, int64_t id, struct timeline *all,
			  struct stacks *stacks, int first)
{
	struct timeline tl = {0};
	struct err e = {0};
	int rc = store_load(s, id, 1, first ? all : &tl, stacks, &e);
	if (!rc)
		fuzz_must(!timeline_check(first ? all : &tl, &e),
			  "what was loaded keeps the conservation law");
	if (!rc && !first)
		rc = timeline_join(all, &tl, &e);
	if (rc)
		fuzz_failed(rc, &e);
	timeline_release(&tl);
	return rc;
}

/* What collapse and svg read of it. */
static void take_folded(struct store *s)
{
	struct timeline tl = {0};
	struct stacks stacks = {0};
	struct err e = {0};
	int rc = store_load(s, 0, STORE_FOLDED, &tl, &stacks, &e);
	for (size_t i = 0; !rc && i < tl.sums.n; i++)
		fuzz_must(tl.sums.v[i].event < tl.events.n &&
				  tl.sums.v[i].path < stacks.paths.n,
			  "sums have events and stacks");
	if (rc)
		fuzz_failed(rc, &e);
	timeline_release(&tl);
	stacks_release(&stacks);
}

void ask_store(const char *path)
{
	enum { RECORDINGS_MAX = 3 };
	const struct store_recording *recordings;
	struct timeline tl = {0};
	struct stacks stacks = {0};
	struct store *s;
	struct err e = {0};
	size_t n = 0;
	int rc = store_open(&s, path, &e);
	if (!rc)
		rc = store_recordings(s, &recordings, &n, &e);
	if (rc)
		fuzz_failed(rc, &e);
	if (!rc)
		take_folded(s);
	for (size_t i = 0; !rc && i < n && i < RECORDINGS_MAX; i++) {
		fuzz_text(recordings[i].host);
		fuzz_text(recordings[i].file);
		rc = take_recording(s, recordings[i].id, &tl, &stacks, !i);
	}
	if (!rc && n && (n == 1 || !timeline_label_parts(&tl, &e)))
		ask_timeline(&tl);
	timeline_release(&tl);
	stacks_release(&stacks);
	store_close(s);
}
