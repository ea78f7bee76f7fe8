#include "render/tail/spike_text.h"
#include "libtime/sched/timeline_names.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

static void put_waker(struct buf *b, const struct timeline *tl, const struct offcpu *o)
{
	if (o->waker != TL_NONE) {
		buf_str(b, "; woken by ");
		describe_thread(b, tl, o->waker, tl->threads.v[o->waker].comm);
	} else if (o->waker_context != WAKER_NONE && o->waker_context != WAKER_TASK) {
		buf_fmt(b, "; woken in %s", waker_context_name(o->waker_context));
	}
}

/* Which bound of a wait its length is, if its beginning or end was not seen, or if it may be two
 * waits. Clocks that differ make the length wrong in either direction. */
static const char *bound(const struct timeline *tl, const struct episode *ep)
{
	const struct offcpu *o = &tl->offcpu.v[ep->at];
	if (ep->flags & OFF_OPEN)
		return ">= ";
	if (!(ep->flags & OFF_SUSPECT) || tl->disorder.skew_ns > episode_ns(ep) / 100)
		return "";
	return !o->unknown && (o->cpu_out == TL_NOCPU || o->cpu_in == TL_NOCPU) ? ">= " : "<= ";
}

void spike_line(struct buf *b, struct spikes *s, const struct spike_query *q, size_t i)
{
	struct tail *t = &s->tail;
	const struct timeline *tl = t->tl;
	const struct tail_row *row = &t->rows.v[s->rows.v[i]];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	uint64_t ns = episode_ns(ep), us = ep->start_ns / 1000;
	buf_fmt(b, "%llu.%06llu %-8s %s", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000),
		ep->flags & OFF_SUSPECT ? "suspect" : severity_name(spike_severity(q, ns)),
		bound(tl, ep));
	units_duration(b, ns);
	buf_char(b, ' ');
	describe_thread(b, tl, ep->thread, ep->comm);
	buf_fmt(b, " %s: ", describe_cause(row->state, row->cause));
	describe_root_brief(b, t, &row->root);
	put_waker(b, tl, &tl->offcpu.v[ep->at]);
	buf_char(b, '\n');
}
