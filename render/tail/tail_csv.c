#include "render/tail/tail_csv.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"
#include "render/tail/tail_words.h"
#include "render/text/csv.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	struct buf *b;
	struct tail *t;
	const struct timeline *tl;
	struct buf text;        /* scratch */
	VEC(uint32_t) counters; /* strings ids of events */
};

static void string_field(struct csv *w, uint32_t id)
{
	const struct strtab *s = &w->tl->stacks->strings;
	buf_char(w->b, ',');
	csv_field(w->b, strtab_get(s, id), strtab_len(s, id));
}

static void function_field(struct csv *w, uint32_t frame)
{
	buf_char(w->b, ',');
	if (!frame)
		return;
	buf_clear(&w->text);
	describe_frame(&w->text, w->tl, frame);
	csv_field(w->b, buf_cstr(&w->text), w->text.n);
}

/* Find the events counted in spans, in order of appearance. ERR_NOMEM. */
static int find_counters(struct csv *w)
{
	for (size_t i = 0; i < w->tl->counters.n; i++) {
		uint32_t event = w->tl->counters.v[i].event;
		size_t k = 0;
		while (k < w->counters.n && w->counters.v[k] != event)
			k++;
		if (k == w->counters.n && vec_push(&w->counters, event))
			return ERR_NOMEM;
	}
	return 0;
}

/* Two columns for each: empty if the span has none, or if no error is known. */
static void counter_fields(struct csv *w, uint32_t span)
{
	for (size_t i = 0; i < w->counters.n; i++) {
		const struct tl_counter *c = timeline_counter(w->tl, span, w->counters.v[i]);
		if (!c)
			buf_str(w->b, ",,");
		else if (c->flags & COUNTER_AT_LEAST)
			buf_fmt(w->b, ",%" PRIu64 ",", c->value);
		else
			buf_fmt(w->b, ",%" PRIu64 ",%" PRIu64, c->value, c->error);
	}
}

static void counter_heads(struct csv *w)
{
	const struct strtab *s = &w->tl->stacks->strings;
	for (size_t i = 0; i < w->counters.n; i++) {
		const char *name = strtab_get(s, w->counters.v[i]);
		buf_char(w->b, ',');
		csv_field(w->b, name, strlen(name));
		buf_clear(&w->text);
		buf_fmt(&w->text, "%s_error", name);
		buf_char(w->b, ',');
		csv_field(w->b, buf_cstr(&w->text), w->text.n);
	}
}

static int csv_row(struct csv *w, size_t rank, struct err *e)
{
	const struct explanation *x;
	const struct tail_row *row = &w->t->rows.v[rank];
	const struct episode *ep = &w->t->episodes.v.v[row->episode];
	const struct tl_thread *t = &w->tl->threads.v[ep->thread];
	struct buf *b = w->b;
	if (tail_explain_row(w->t, rank, &x, e))
		return err_nomem(e);
	uint32_t function = appframe_reported(w->tl, x->path);
	buf_fmt(b, "%zu,%d,%d", rank + 1, t->pid, t->tid);
	string_field(w, ep->comm);
	buf_fmt(b, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		timeline_from_origin(w->tl, ep->thread, ep->start_ns),
		timeline_from_origin(w->tl, ep->thread, ep->end_ns), episode_ns(ep));
	buf_fmt(b, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		x->run_ns, x->blocked_ns, x->runnable_ns, x->preempted_ns, x->unknown_ns,
		x->interrupted_ns);
	buf_fmt(b, ",%s,%s", part_state_name(x->state),
		x->state == PART_RUNNING ? "" : cause_name(x->cause));
	function_field(w, function);
	buf_fmt(b, ",%d", w->tl->threads.v[row->root.thread].tid);
	string_field(w, row->root.comm);
	buf_fmt(b, ",%s", row->root.state == PART_RUNNING ? "" : cause_name(row->root.cause));
	function_field(w, row->root.function);
	buf_fmt(b, ",%" PRIu64 ",%d,%d,%" PRIu64 ",%" PRIu64, row->root.ns,
		!!(ep->flags & OFF_SUSPECT), !!(ep->flags & OFF_OPEN), ep->low_ns, ep->high_ns);
	const struct tl_part *p = timeline_part_of(w->tl, ep->thread);
	if (p) {
		buf_fmt(b, ",%" PRId64, p->id);
		string_field(w, p->rec.host);
	}
	if (w->t->episodes.query.kind == EPISODE_SPAN)
		string_field(w, episode_key_text(&w->t->episodes, w->tl, ep));
	if (w->t->episodes.query.kind == EPISODE_SPAN)
		counter_fields(w, ep->at);
	buf_char(b, '\n');
	return 0;
}

int tailcsv_write(struct buf *b, struct tail *t, uint64_t rows, struct err *e)
{
	struct csv w = {.b = b, .t = t, .tl = t->tl};
	int r = 0;
	buf_str(b, "rank,pid,tid,comm,start_ns,end_ns,duration_ns,run_ns,blocked_ns,"
		   "runnable_ns,preempted_ns,unknown_ns,interrupted_ns,state,cause,function,"
		   "root_tid,"
		   "root_comm,root_cause,root_function,root_ns,suspect,open,low_ns,high_ns");
	buf_str(b, t->tl->parts.n ? ",recording,host" : "");
	if (t->episodes.query.kind == EPISODE_SPAN) {
		buf_str(b, ",key");
		r = find_counters(&w);
		counter_heads(&w);
	}
	buf_char(b, '\n');
	for (size_t i = 0; !r && i < tail_rows_shown(t, rows); i++)
		r = csv_row(&w, i, e);
	vec_release(&w.counters);
	r = r == ERR_NOMEM ? err_nomem(e) : r;
	r = r ? r : buf_failed(b) || buf_failed(&w.text) ? err_nomem(e) : 0;
	buf_release(&w.text);
	return r;
}
