#include "render/export/perfetto_internal.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

/* Fields, by the files that define them below protos/perfetto/trace/track_event. */
enum {
	DESCRIPTOR_UUID = 1, /* track_descriptor.proto */
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_PID = 1, /* thread_descriptor.proto */
	DESCRIPTOR_TID = 2,
	DESCRIPTOR_THREAD_NAME = 5,
	TRACK_EVENT_ANNOTATION = 4, /* track_event.proto */
	TRACK_EVENT_TYPE = 9,
	TRACK_EVENT_TRACK = 11,
	TRACK_EVENT_NAME = 23,
	TRACK_EVENT_FLOW = 47,
	TRACK_EVENT_FLOW_ENDS = 48,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
	ANNOTATION_UINT = 3, /* debug_annotation.proto */
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
};

/* --- tracks and slices -----------------------------------------------------------------------
 */

/* A track: of a thread, or with a name, below `parent` (0: by itself). Its number. */
static uint64_t put_track(struct perfetto *p, const struct tl_thread *t, const char *name,
			  uint64_t parent)
{
	size_t packet = perfetto_open(p, SEQUENCE, p->tl->rec.origin_ns);
	size_t track = pb_open(&p->b, PACKET_TRACK_DESCRIPTOR);
	pb_u64(&p->b, DESCRIPTOR_UUID, ++p->tracks);
	if (t) {
		size_t at = pb_open(&p->b, DESCRIPTOR_THREAD);
		pb_i64(&p->b, DESCRIPTOR_PID, t->pid);
		pb_i64(&p->b, DESCRIPTOR_TID, t->tid);
		pb_text(&p->b, DESCRIPTOR_THREAD_NAME, perfetto_text(p, t->comm));
		pb_close(&p->b, at);
	} else {
		pb_text(&p->b, DESCRIPTOR_NAME, name);
	}
	if (parent)
		pb_u64(&p->b, DESCRIPTOR_PARENT, parent);
	pb_close(&p->b, track);
	pb_close(&p->b, packet);
	return p->tracks;
}

/* The track of a thread. A second one of its tid would begin another thread in readers. */
static uint64_t thread_track(struct perfetto *p, uint32_t thread)
{
	const struct tl_thread *t = &p->tl->threads.v[thread];
	uint32_t track;
	if (u64map_get(&p->threads, (uint32_t)t->tid, &track))
		return track;
	track = (uint32_t)put_track(p, t, NULL, 0);
	if (u64map_put(&p->threads, (uint32_t)t->tid, track))
		p->b.failed = ERR_NOMEM;
	return track;
}

/* An event of a track, open: the packet and it. */
struct edge {
	size_t packet, event;
};

static struct edge open_edge(struct perfetto *p, uint64_t track, uint64_t ns, int type,
			     const char *name)
{
	struct edge g = {.packet = perfetto_open(p, SEQUENCE, ns)};
	g.event = pb_open(&p->b, PACKET_TRACK_EVENT);
	pb_u64(&p->b, TRACK_EVENT_TYPE, (uint64_t)type);
	pb_u64(&p->b, TRACK_EVENT_TRACK, track);
	if (name)
		pb_text(&p->b, TRACK_EVENT_NAME, name);
	return g;
}

static void close_edge(struct perfetto *p, const struct edge *g)
{
	pb_close(&p->b, g->event);
	pb_close(&p->b, g->packet);
}

/* The begin of a slice, or with NULL for a name its end. */
static void put_edge(struct perfetto *p, uint64_t track, uint64_t ns, const char *name)
{
	struct edge g = open_edge(p, track, ns, name ? SLICE_BEGIN : SLICE_END, name);
	close_edge(p, &g);
}

static void annotate(struct perfetto *p, const char *key, const char *text, uint64_t number)
{
	size_t at = pb_open(&p->b, TRACK_EVENT_ANNOTATION);
	if (text)
		pb_text(&p->b, ANNOTATION_STRING, text);
	else
		pb_u64(&p->b, ANNOTATION_UINT, number);
	pb_text(&p->b, ANNOTATION_NAME, key);
	pb_close(&p->b, at);
}

/* --- spans -----------------------------------------------------------------------------------
 */

/* The begin of a span's slice, with its key and labels. */
static void put_span(struct perfetto *p, uint64_t track, uint32_t span)
{
	const struct tl_span *x = &p->tl->spans.v[span];
	size_t first, n = timeline_labels_of(p->tl, span, &first);
	struct edge g =
		open_edge(p, track, x->start_ns, SLICE_BEGIN, perfetto_text(p, x->name));
	if (x->key_text)
		annotate(p, "key", perfetto_text(p, x->key_text), 0);
	for (const struct tl_label *l = p->tl->labels.v + first; n--; l++)
		annotate(p, perfetto_text(p, l->key), perfetto_text(p, l->value), 0);
	close_edge(p, &g);
}

/* One that does not nest has a track of its own. */
static void put_apart(struct perfetto *p, uint32_t span)
{
	const struct tl_span *x = &p->tl->spans.v[span];
	uint64_t track = put_track(p, NULL, perfetto_text(p, x->name), 0);
	put_span(p, track, span);
	put_edge(p, track, x->end_ns, NULL);
}

static int compare_spans(const void *a, const void *b, void *timeline)
{
	const struct tl_span *v = ((const struct timeline *)timeline)->spans.v;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].thread != v[k].thread)
		return v[i].thread < v[k].thread ? -1 : 1;
	if (v[i].start_ns != v[k].start_ns)
		return v[i].start_ns < v[k].start_ns ? -1 : 1;
	if (v[i].end_ns != v[k].end_ns)
		return v[i].end_ns > v[k].end_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The spans of one thread, or of none, [first, first + n) of p->spans: `ends` holds the ends of
 * those that are open. */
static int put_nested(struct perfetto *p, size_t first, size_t n, struct err *e)
{
	const struct tl_span *v = p->tl->spans.v;
	VEC(uint64_t) ends = {0};
	uint32_t thread = v[p->spans.v[first]].thread;
	uint64_t track = thread == TL_NONE ? 0 : thread_track(p, thread);
	int rc = 0;
	for (size_t i = first; i < first + n && !rc; i++) {
		const struct tl_span *x = &v[p->spans.v[i]];
		for (; ends.n && ends.v[ends.n - 1] <= x->start_ns; ends.n--)
			put_edge(p, track, ends.v[ends.n - 1], NULL);
		if (!track || x->thread != x->end_thread ||
		    (ends.n && ends.v[ends.n - 1] < x->end_ns)) {
			put_apart(p, p->spans.v[i]);
		} else {
			put_span(p, track, p->spans.v[i]);
			rc = vec_push(&ends, x->end_ns) ? err_nomem(e) : 0;
		}
		rc = rc ? rc : perfetto_flush(p, FLUSH, e);
	}
	for (; ends.n; ends.n--)
		put_edge(p, track, ends.v[ends.n - 1], NULL);
	vec_release(&ends);
	return rc;
}

static int put_spans(struct perfetto *p, struct err *e)
{
	const struct tl_span *v = p->tl->spans.v;
	int rc = 0;
	for (size_t i = 0; i < p->tl->spans.n; i++)
		if (population_has_span(p->of, p->tl, (uint32_t)i) &&
		    vec_push(&p->spans, (uint32_t)i))
			return err_nomem(e);
	if (p->spans.n)
		qsort_r(p->spans.v, p->spans.n, sizeof(*p->spans.v), compare_spans,
			(void *)p->tl);
	for (size_t i = 0, n; i < p->spans.n && !rc; i += n) {
		for (n = 1; i + n < p->spans.n; n++)
			if (v[p->spans.v[i]].thread != v[p->spans.v[i + n]].thread)
				break;
		rc = put_nested(p, i, n, e);
	}
	return rc;
}

/* --- the worst episodes ----------------------------------------------------------------------
 */

/* What `tail` says of it. */
static void put_episode_edge(struct perfetto *p, uint64_t track, const struct worst_episode *w)
{
	char wait[64];
	snprintf(wait, sizeof(wait), "wait: %s", cause_name(w->cause));
	struct edge g = open_edge(p, track, w->start_ns, SLICE_BEGIN,
				  w->name ? perfetto_text(p, w->name) : wait);
	annotate(p, "rank", NULL, w->nth);
	annotate(p, "of", NULL, w->population);
	annotate(p, "cause", cause_name(w->cause), 0);
	annotate(p, "root", perfetto_text(p, w->root_comm), 0);
	if (w->root_function)
		annotate(p, "root function", perfetto_text(p, w->root_function), 0);
	annotate(p, "root ns", NULL, w->root_ns);
	close_edge(p, &g);
}

/* The moment of the wakeup on the waker's track, from which a flow leads to `track`. */
static void put_wakeup(struct perfetto *p, const struct offcpu *o, uint64_t ns, uint64_t track)
{
	uint64_t waker = thread_track(p, o->waker), flow = ++p->flows;
	struct edge g = open_edge(p, waker, ns, INSTANT, "wakeup");
	annotate(p, "woken", perfetto_text(p, o->comm), 0);
	pb_fixed64(&p->b, TRACK_EVENT_FLOW, flow);
	close_edge(p, &g);
	g = open_edge(p, track, ns, SLICE_BEGIN, "runnable");
	pb_fixed64(&p->b, TRACK_EVENT_FLOW_ENDS, flow);
	close_edge(p, &g);
}

/* A wait inside an episode: blocked, woken, runnable. */
static void put_inside(struct perfetto *p, const struct worst_episode *w,
		       const struct offcpu *o, uint64_t track)
{
	uint64_t start = o->start_ns > w->start_ns ? o->start_ns : w->start_ns;
	uint64_t end = o->end_ns < w->end_ns ? o->end_ns : w->end_ns;
	uint64_t woken = o->start_ns + o->blocked_ns;
	if (o->unknown || woken > end)
		woken = end;
	if (woken > start) {
		put_edge(p, track, start, o->unknown ? "not running" : cause_name(o->cause));
		put_edge(p, track, woken, NULL);
	}
	if (woken < start)
		woken = start;
	else if (o->waker != TL_NONE && woken == o->start_ns + o->blocked_ns) {
		put_wakeup(p, o, woken, track);
		put_edge(p, track, end, NULL);
		return;
	}
	if (woken < end) {
		put_edge(p, track, woken, "runnable");
		put_edge(p, track, end, NULL);
	}
}

static void put_episode(struct perfetto *p, const struct worst_episode *w)
{
	const struct timeline *tl = p->tl;
	const struct tl_thread *t = &tl->threads.v[w->thread];
	uint64_t track = put_track(p, NULL, w->name ? "worst spans" : "worst waits",
				   thread_track(p, w->thread));
	put_episode_edge(p, track, w);
	uint32_t i = timeline_offcpu_after(tl, w->thread, w->start_ns);
	for (; i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < w->end_ns; i++)
		put_inside(p, w, &tl->offcpu.v[i], track);
	put_edge(p, track, w->end_ns, NULL);
}

static int put_episodes(struct perfetto *p, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < p->worst->v.n && !rc; i++) {
		put_episode(p, &p->worst->v.v[i]);
		rc = perfetto_flush(p, FLUSH, e);
	}
	return rc;
}

/* --- losses ----------------------------------------------------------------------------------
 */

static int put_losses(struct perfetto *p, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < p->tl->losses.n && !rc; i++) {
		const struct tl_loss *l = &p->tl->losses.v[i];
		const char *kind = loss_kind_name(l->kind);
		char name[64];
		if (l->cpu == TL_NOCPU)
			snprintf(name, sizeof(name), "%s", kind);
		else
			snprintf(name, sizeof(name), "%s on CPU %u", kind, l->cpu);
		uint64_t track = put_track(p, NULL, name, 0);
		put_edge(p, track, l->from_ns, name);
		put_edge(p, track, l->to_ns, NULL);
		rc = perfetto_flush(p, FLUSH, e);
	}
	return rc;
}

int perfetto_put_slices(struct perfetto *p, struct err *e)
{
	int rc = put_spans(p, e);
	rc = rc ? rc : put_episodes(p, e);
	return rc ? rc : put_losses(p, e);
}
