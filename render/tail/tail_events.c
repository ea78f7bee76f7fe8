#include "render/tail/tail_events.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = 48 }; /* characters shown of an event's fields */

static int add(inner_events *x, uint32_t name, uint32_t text, uint64_t at, uint64_t ns)
{
	size_t i = 0;
	while (i < x->n && x->v[i].name != name)
		i++;
	if (i == x->n && vec_push(x, ((struct inner_event){.name = name, .first_ns = at})))
		return ERR_NOMEM;
	struct inner_event *h = &x->v[i];
	if (!h->count || at < h->first_ns) {
		h->first_ns = at;
		h->text = text;
	}
	h->count++;
	h->ns += ns;
	return 0;
}

static int add_marks(inner_events *x, struct evidence *ev, const struct window *w,
		     struct err *e)
{
	size_t first, last;
	int r = evidence_marks(ev, w->thread, w->from_ns, w->to_ns, &first, &last, e);
	for (size_t i = first; !r && i < last; i++) {
		const struct tl_mark *m = &ev->tl->marks.v[ev->marks.id.v[i]];
		r = add(x, m->name, m->text, m->time_ns, 0);
	}
	return r;
}

/* Add the spans of the window's thread that overlap it, except the episode itself and those
 * around it.
 */
static int add_spans(inner_events *x, struct evidence *ev, const struct episode *ep,
		     const struct window *w, struct err *e)
{
	size_t first, last;
	int r = evidence_spans(ev, w->thread, w->to_ns, &first, &last, e);
	for (size_t i = first; !r && i < last; i++) {
		const struct tl_span *s = &ev->tl->spans.v[ev->spans.id.v[i]];
		if (s->end_ns <= w->from_ns ||
		    (s->start_ns <= ep->start_ns && s->end_ns >= ep->end_ns))
			continue;
		uint64_t from = s->start_ns > w->from_ns ? s->start_ns : w->from_ns;
		uint64_t to = s->end_ns < w->to_ns ? s->end_ns : w->to_ns;
		r = add(x, s->name, 0, from, to - from);
	}
	return r;
}

static int by_time(const void *a, const void *b, void *strings)
{
	const struct inner_event *x = a, *y = b;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static void put(struct buf *b, const struct timeline *tl, const struct episode *ep,
		const struct inner_event *h)
{
	const struct strtab *s = &tl->stacks->strings;
	size_t n = strtab_len(s, h->text);
	escape_visible(b, strtab_get(s, h->name), strtab_len(s, h->name));
	if (h->count > 1) {
		buf_char(b, ' ');
		units_count(b, h->count);
		buf_str(b, " times");
	}
	if (n) {
		struct buf text = {0};
		escape_visible(&text, strtab_get(s, h->text), n);
		size_t shown = escape_prefix(buf_cstr(&text), text.n, TEXT);
		buf_str(b, " (");
		buf_add(b, buf_cstr(&text), shown);
		buf_str(b, shown < text.n ? "...)" : ")");
		buf_release(&text);
	} else if (h->ns) {
		buf_str(b, " (");
		units_duration(b, h->ns);
		buf_char(b, ')');
	}
	buf_str(b, h->count > 1 ? ", first at +" : " at +");
	units_duration(b, h->first_ns - ep->start_ns);
}

int events_inside(struct evidence *ev, const struct episode *ep, inner_events *out,
		  struct err *e)
{
	windows_vec windows = {0};
	int r = episode_windows(ev->tl, ep, &windows);
	out->n = 0;
	for (size_t i = 0; !r && i < windows.n; i++) {
		r = add_marks(out, ev, &windows.v[i], e);
		if (!r)
			r = add_spans(out, ev, ep, &windows.v[i], e);
	}
	if (!r && out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), by_time,
			(void *)&ev->tl->stacks->strings);
	vec_release(&windows);
	return r ? err_nomem(e) : 0;
}

int describe_events(struct buf *b, struct evidence *ev, const struct episode *ep, size_t max,
		    struct err *e)
{
	inner_events x = {0};
	int r = events_inside(ev, ep, &x, e);
	for (size_t i = 0; !r && i < x.n && i < max; i++) {
		buf_str(b, i ? "; " : "");
		put(b, ev->tl, ep, &x.v[i]);
	}
	if (!r && x.n > max) {
		buf_str(b, "; and ");
		units_plural(b, x.n - max, "other event", "other events");
	}
	vec_release(&x);
	return r;
}
