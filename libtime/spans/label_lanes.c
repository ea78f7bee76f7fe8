#include "libtime/spans/label_lanes.h"
#include "base/search.h"
#include "base/mem.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

void label_lanes_release(struct label_lanes *x)
{
	vec_release(&x->v);
	vec_release(&x->first);
	vec_release(&x->by_tid);
	vec_release(&x->inner);
}

/* --- which spans ---------------------------------------------------------------------- */

enum { BY_LABEL, BY_NAME, BY_KEY };

static int is_bound(const struct timeline *tl, uint32_t key)
{
	for (size_t i = 0; i < tl->bindings.n; i++)
		if (tl->bindings.v[i].key == key)
			return 1;
	return 0;
}

static int kind_of(const struct timeline *tl, const char *key, uint32_t *id)
{
	if (strtab_find(&tl->stacks->strings, key, id)) {
		for (size_t i = 0; i < tl->labels.n; i++)
			if (tl->labels.v[i].key == *id)
				return BY_LABEL;
		if (is_bound(tl, *id))
			return BY_LABEL;
	}
	return !strcmp(key, "span") ? BY_NAME : !strcmp(key, "key") ? BY_KEY : -1;
}

const char *label_lanes_key(const struct label_lanes *x, const struct timeline *tl)
{
	return x->kind == BY_NAME  ? "span"
	       : x->kind == BY_KEY ? "key"
				   : strtab_get(&tl->stacks->strings, x->key);
}

uint32_t label_lanes_of_span(const struct label_lanes *x, const struct timeline *tl,
			     uint32_t span)
{
	const struct tl_span *s = &tl->spans.v[span];
	return x->kind == BY_NAME  ? s->name
	       : x->kind == BY_KEY ? s->key_text
				   : timeline_label(tl, span, x->key);
}

typedef VEC(struct label_piece) pieces;

static int push(pieces *v, uint32_t thread, uint64_t from, uint64_t to, uint32_t value)
{
	struct label_piece p = {from, to, thread, value};
	return thread != TL_NONE && from < to ? vec_push(v, p) : 0;
}

/* One piece for each span, or two if it was handed over; they may overlap. */
static int find_pieces(const struct label_lanes *x, const struct timeline *tl, pieces *out)
{
	int r = 0;
	for (uint32_t i = 0; i < tl->spans.n && !r; i++) {
		const struct tl_span *s = &tl->spans.v[i];
		uint32_t value = s->thread == TL_NONE || s->flags & SPAN_OVERLAPPED
					 ? 0
					 : label_lanes_of_span(x, tl, i);
		uint64_t at = s->handed_ns ? s->handed_ns : s->end_ns;
		if (value)
			r = push(out, s->thread, s->start_ns, at, value) ||
			    push(out, s->end_thread, at, s->end_ns, value);
	}
	return r ? ERR_NOMEM : 0;
}

/* --- the innermost piece -------------------------------------------------------------- */

static int piece_order(const void *a, const void *b)
{
	const struct label_piece *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	if (x->to_ns != y->to_ns)
		return x->to_ns > y->to_ns ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

struct sweep {
	struct label_lanes *out;
	pieces open; /* the innermost last */
	uint64_t at_ns;
};

/* Add the innermost open piece up to `to`. */
static int add_innermost(struct sweep *w, uint64_t to)
{
	while (w->open.n) {
		const struct label_piece *p = &w->open.v[w->open.n - 1];
		uint64_t end = p->to_ns < to ? p->to_ns : to;
		if (end > w->at_ns) {
			struct label_piece x = {w->at_ns, end, p->thread, p->value};
			if (vec_push(&w->out->v, x))
				return ERR_NOMEM;
			w->at_ns = end;
		}
		if (p->to_ns > to)
			return 0;
		w->open.n--;
	}
	return 0;
}

static int sweep(struct sweep *w, const pieces *v)
{
	int r = 0;
	for (size_t i = 0; i < v->n && !r; i++) {
		const struct label_piece *p = &v->v[i];
		int other = i && p->thread != v->v[i - 1].thread;
		r = add_innermost(w, other ? UINT64_MAX : p->from_ns);
		w->at_ns = p->from_ns;
		r = r ? r : vec_push(&w->open, *p);
	}
	return r ? r : add_innermost(w, UINT64_MAX);
}

static int index_threads(struct label_lanes *x, size_t threads)
{
	size_t at = 0;
	if (vec_reserve(&x->first, threads + 1))
		return ERR_NOMEM;
	for (size_t t = 0; t <= threads; t++) {
		while (at < x->v.n && x->v.v[at].thread < t)
			at++;
		x->first.v[x->first.n++] = (uint32_t)at;
	}
	return 0;
}

static int tid_order(const void *a, const void *b, void *timeline)
{
	const struct tl_thread *v = ((const struct timeline *)timeline)->threads.v;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].tid != v[k].tid)
		return v[i].tid < v[k].tid ? -1 : 1;
	return (i > k) - (i < k);
}

static int index_tids(struct label_lanes *x, const struct timeline *tl)
{
	if (vec_reserve(&x->by_tid, tl->threads.n + 1))
		return ERR_NOMEM;
	for (uint32_t i = 0; i < tl->threads.n; i++)
		x->by_tid.v[x->by_tid.n++] = i;
	qsort_r(x->by_tid.v, x->by_tid.n, sizeof(*x->by_tid.v), tid_order, (void *)tl);
	return 0;
}

/* The recording that has an event sample; NULL if the timeline is one recording. */
static const struct tl_part *part_of(const struct timeline *tl, const struct tl_event_sample *s)
{
	size_t index = (size_t)(s - tl->event_samples.v);
	size_t behind =
		PARTITION_POINT(i, 0, tl->parts.n, tl->parts.v[i].event_sample_first <= index);
	return behind ? &tl->parts.v[behind - 1] : NULL;
}

uint32_t label_lanes_thread(const struct label_lanes *x, const struct timeline *tl,
			    const struct tl_event_sample *s)
{
	const struct tl_thread *v = tl->threads.v;
	const struct tl_part *part = part_of(tl, s);
	const uint32_t *of = x->by_tid.v;
	size_t at = PARTITION_POINT(i, 0, x->by_tid.n, v[of[i]].tid < s->tid);
	for (; at < x->by_tid.n && v[of[at]].tid == s->tid; at++)
		if (v[of[at]].first_ns <= s->time_ns && s->time_ns <= v[of[at]].last_ns &&
		    (!part || timeline_part_of(tl, of[at]) == part))
			return of[at];
	return TL_NONE;
}

/* --- trampolines -------------------------------------------------------------------------- */

static size_t first_of_frame(const struct timeline *tl, uint32_t frame)
{
	return PARTITION_POINT(i, 0, tl->trampolines.n, tl->trampolines.v[i].frame < frame);
}

/* Callers have lower ids than what they call. */
static int find_inner(struct label_lanes *x, const struct stacks *s)
{
	if (vec_reserve(&x->inner, s->paths.n + 1))
		return ERR_NOMEM;
	for (uint32_t p = 0; p < s->paths.n; p++) {
		const struct call_path *path = &s->paths.v[p];
		size_t at = p ? first_of_frame(x->tl, path->frame) : 0;
		int is = p && at < x->tl->trampolines.n &&
			 x->tl->trampolines.v[at].frame == path->frame;
		x->inner.v[x->inner.n++] = is ? p : p ? x->inner.v[path->parent] : 0;
	}
	return 0;
}

/* The index after the history's last binding up to `ns`. */
static size_t binding_after(const struct timeline *tl, uint32_t history, uint64_t ns)
{
	const struct tl_binding *v = tl->bindings.v;
	return PARTITION_POINT(i, 0, tl->bindings.n,
			       v[i].history < history ||
				       (v[i].history == history && v[i].from_ns <= ns));
}

/* The value that a history has at `ns`; 0 if none yet, or for another label. */
static uint32_t bound_at(const struct label_lanes *x, uint32_t history, uint64_t ns,
			 uint64_t *until)
{
	const struct tl_binding *v = x->tl->bindings.v;
	size_t at = binding_after(x->tl, history, ns);
	if (at < x->tl->bindings.n && v[at].history == history && v[at].from_ns < *until)
		*until = v[at].from_ns;
	int is = at && v[at - 1].history == history && v[at - 1].key == x->key;
	return is ? v[at - 1].value : 0;
}

static int is_in_recording(const struct tl_trampoline *t, const struct timeline *tl,
			   uint32_t thread)
{
	return thread >= t->thread_first && thread < t->thread_end &&
	       (t->pid < 0 || tl->threads.v[thread].pid == t->pid);
}

/* The value of the innermost trampoline on the stack that has the label then. */
static uint32_t called_through(const struct label_lanes *x, uint32_t thread, uint32_t path,
			       uint64_t ns, uint64_t *until)
{
	const struct timeline *tl = x->tl;
	const struct stacks *s = tl->stacks;
	if (thread >= tl->threads.n || path >= x->inner.n)
		return 0;
	for (path = x->inner.v[path]; path; path = x->inner.v[s->paths.v[path].parent]) {
		uint32_t frame = s->paths.v[path].frame, value = 0;
		for (size_t i = first_of_frame(tl, frame);
		     !value && i < tl->trampolines.n && tl->trampolines.v[i].frame == frame;
		     i++)
			if (is_in_recording(&tl->trampolines.v[i], tl, thread))
				value = bound_at(x, tl->trampolines.v[i].history, ns, until);
		if (value)
			return value;
	}
	return 0;
}

/* --- both ----------------------------------------------------------------------------- */

static int build_trampolines(struct label_lanes *x, const struct timeline *tl)
{
	x->tl = tl;
	return find_inner(x, tl->stacks);
}

int label_lanes_build(const struct timeline *tl, const char *key, struct label_lanes *out)
{
	struct sweep w = {.out = out};
	pieces v = {0};
	uint32_t id = 0;
	int kind = kind_of(tl, key, &id);
	*out = (struct label_lanes){.kind = kind, .key = id};
	if (kind < 0)
		return 0;
	int r = kind == BY_LABEL && is_bound(tl, id) ? build_trampolines(out, tl) : 0;
	r = r ? r : find_pieces(out, tl, &v);
	if (!r && v.n)
		qsort(v.v, v.n, sizeof(*v.v), piece_order);
	r = r ? r : sweep(&w, &v);
	r = r ? r : index_threads(out, tl->threads.n);
	r = r ? r : index_tids(out, tl);
	vec_release(&v);
	vec_release(&w.open);
	return r ? ERR_NOMEM : 1;
}

static uint32_t in_span(const struct label_lanes *x, uint32_t thread, uint64_t ns,
			uint64_t *until)
{
	if ((size_t)thread + 1 >= x->first.n)
		return 0;
	size_t end = x->first.v[thread + 1];
	size_t at = PARTITION_POINT(i, x->first.v[thread], end, x->v.v[i].to_ns <= ns);
	if (at == end)
		return 0;
	int inside = x->v.v[at].from_ns <= ns;
	uint64_t change = inside ? x->v.v[at].to_ns : x->v.v[at].from_ns;
	*until = change < *until ? change : *until;
	return inside ? x->v.v[at].value : 0;
}

uint32_t label_lanes_at(const struct label_lanes *x, uint32_t thread, uint32_t path,
			uint64_t ns, uint64_t *until)
{
	*until = UINT64_MAX;
	uint32_t value = x->tl ? called_through(x, thread, path, ns, until) : 0;
	return value ? value : in_span(x, thread, ns, until);
}
