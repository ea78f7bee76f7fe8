#include "libtime/explain/worst.h"
#include "base/text/path.h"
#include "libtime/explain/tail_model.h"

#include <string.h>

void worst_frame_name(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	const struct frame *f = &tl->stacks->frames.v[frame];
	const char *base = path_base(strtab_get(&tl->stacks->strings, f->dso));
	if (f->name)
		buf_str(b, strtab_get(&tl->stacks->strings, f->name));
	else if (*base == '[')
		buf_str(b, base);
	else
		buf_fmt(b, "[%s]", *base ? base : "unknown");
}

static int function_of(struct timeline *tl, uint32_t frame, uint32_t *name, struct err *e)
{
	struct buf b = {0};
	*name = 0;
	if (!frame)
		return 0;
	worst_frame_name(&b, tl, frame);
	int r = buf_failed(&b) || strtab_intern(&tl->stacks->strings, buf_cstr(&b), name);
	buf_release(&b);
	return r ? err_nomem(e) : 0;
}

static int add_episode(struct worst *w, struct timeline *tl, const struct tail *t, size_t i,
		       struct err *e)
{
	const struct tail_row *r = &t->rows.v[i];
	const struct episode *ep = &t->episodes.v.v[r->episode];
	struct worst_episode x = {
		.start_ns = ep->start_ns,
		.end_ns = ep->end_ns,
		.population = t->episodes.clean.n,
		.name = t->episodes.query.kind == EPISODE_SPAN ? t->episodes.query.span : 0,
		.nth = (uint32_t)i + 1,
		.thread = ep->thread,
		.comm = ep->comm,
		.path = r->path,
		.kind = (uint8_t)t->episodes.query.kind,
		.cause = r->cause,
		.state = r->state,
		.root_comm = r->root.comm,
		.root_process = r->root.process,
		.root_state = r->root.state,
		.root_cause = r->root.cause,
		.root_ns = r->root.ns,
	};
	int rc = function_of(tl, r->root.function, &x.root_function, e);
	return rc ? rc : vec_push(&w->v, x) ? err_nomem(e) : 0;
}

/* A tail that depends mostly on open and suspect episodes is left out: tail refuses it, too. */
static int add_tail(struct worst *w, struct timeline *tl, const struct population *of,
		    enum episode_kind kind, uint32_t span, struct err *e)
{
	struct tail_query q = {.episodes = {.kind = kind, .span = span, .of.ranked = 1},
			       .pick = {.kind = PICK_PERCENTILE,
					.millipercent = 99900,
					.least = PICK_LEAST,
					.unusual = 1},
			       .group_by = GROUP_ROOT};
	struct tail t;
	if (of) {
		q.episodes.of.label = of->label;
		q.episodes.of.label_value = of->label_value;
	}
	q.episodes.alone = episodes_only_thread(tl, &q.episodes, &q.episodes.alone_thread);
	int r = tail_make(tl, &q, &t, e);
	if (r)
		return r;
	size_t n = t.selection.uncertain ? 0 : t.rows.n;
	for (size_t i = 0; !r && i < n && i < WORST_MOST; i++)
		r = add_episode(w, tl, &t, i, e);
	tail_release(&t);
	return r;
}

int worst_collect(struct worst *w, struct timeline *tl, const struct population *of,
		  struct err *e)
{
	struct u64map seen = {0};
	uint32_t none;
	*w = (struct worst){0};
	int r = tl->offcpu.n ? add_tail(w, tl, of, EPISODE_WAIT, 0, e) : 0;
	for (size_t i = 0; !r && i < tl->spans.n; i++) {
		uint32_t name = tl->spans.v[i].name;
		if (u64map_get(&seen, name, &none))
			continue;
		r = u64map_put(&seen, name, 0) ? err_nomem(e)
					       : add_tail(w, tl, of, EPISODE_SPAN, name, e);
	}
	u64map_release(&seen);
	return r;
}

void worst_release(struct worst *w)
{
	vec_release(&w->v);
}
