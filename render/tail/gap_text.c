#include "render/tail/gap_text.h"
#include "libtime/explain/gap_parts.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/tail_words.h"
#include "render/text/csv.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <inttypes.h>

enum { PARTS = 8, TEXT = 16, PROSE = 80 };

struct writer {
	struct buf *b;
	const struct episodes_answer *a;
	const struct gap_answer *x;
};

static const struct tl_gap *gap_at(const struct writer *w, size_t rank)
{
	return &w->a->tl->gaps.v[w->a->episodes->v.v[w->a->selection->v.v[rank]].at];
}

static const struct gap_parts *parts_of(const struct writer *w, size_t rank)
{
	return &w->x->gaps.v[rank];
}

void gap_describe_taker(struct buf *b, const struct timeline *tl, const struct gap_part *p)
{
	const struct strtab *s = &tl->stacks->strings;
	if (p->by == GAP_THREAD)
		describe_thread(b, tl, p->what, tl->threads.v[p->what].comm);
	else if (p->by == GAP_INTERRUPT)
		escape_visible(b, strtab_get(s, p->what), strtab_len(s, p->what));
	else
		buf_fmt(b, "[%s]", gap_part_kind_name(p->by));
}

/* --- the control ---------------------------------------------------------------------- */

static void controls_text(struct writer *w)
{
	for (size_t i = 0; i < w->x->controls.n; i++) {
		const struct gap_control *c = &w->x->controls.v[i];
		buf_fmt(w->b,
			"\ncontrol CPU %u (otherwise idle): ", timeline_cpu(w->a->tl, c->cpu));
		units_plural(w->b, c->lengths.n, "gap", "gaps");
		buf_str(w->b, ", p50 ");
		units_duration(w->b, gap_control_at(c, 50000));
		buf_str(w->b, ", p99 ");
		units_duration(w->b, gap_control_at(c, 99000));
		buf_str(w->b, ", max ");
		units_duration(w->b, gap_control_at(c, 100000));
		buf_char(w->b, '\n');
	}
}

static void controls_json(const struct writer *w, struct json *j)
{
	json_open(j, "control", '[');
	for (size_t i = 0; i < w->x->controls.n; i++) {
		const struct gap_control *c = &w->x->controls.v[i];
		json_open(j, NULL, '{');
		json_u64(j, "cpu", timeline_cpu(w->a->tl, c->cpu));
		json_u64(j, "count", c->lengths.n);
		for (const struct answer_percentile *p = answer_percentiles; p->key; p++)
			json_u64(j, p->key, gap_control_at(c, p->millipercent));
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* --- text ----------------------------------------------------------------------------- */

static void taker_row(struct table *t, const struct timeline *tl, const struct gap_taker *x,
		      uint64_t all)
{
	gap_describe_taker(&t->text, tl, &x->all);
	table_next(t);
	table_count(t, x->gaps);
	table_duration(t, x->all.ns);
	buf_fmt(&t->text, "%.1f %%", (double)x->all.ns * 100 / (double)all);
	table_next(t);
	table_duration(t, x->max_ns);
}

static void takers_table(struct writer *w)
{
	static const struct table_column columns[] = {{"who had the CPU", .cut = TABLE_CUT_ID},
						      {"gaps", .right = 1},
						      {"time", .right = 1},
						      {"share", .right = 1},
						      {"longest", .right = 1}};
	struct table table = {columns, 5};
	const struct gap_answer *x = w->x;
	for (size_t i = 0; i < x->takers.n && (!w->a->rows || i < w->a->rows); i++)
		taker_row(&table, w->a->tl, &x->takers.v[i], x->taken_ns);
	buf_char(w->b, '\n');
	table_write(w->b, &table, w->a->width);
	table_release(&table);
}

static void gap_row(struct writer *w, struct table *t, size_t rank)
{
	const struct tl_gap *g = gap_at(w, rank);
	const struct gap_parts *x = parts_of(w, rank);
	table_count(t, rank + 1);
	table_count(t, timeline_cpu(w->a->tl, g->cpu));
	if (x->end_ns)
		units_since(&t->text, x->start_ns, w->a->tl->rec.origin_ns);
	else
		buf_str(&t->text, "?");
	table_next(t);
	table_duration(t, g->lost_ns);
	if (x->v.n)
		gap_describe_taker(&t->text, w->a->tl, &x->v.v[0]);
	table_next(t);
	table_duration(t, x->v.n ? x->v.v[0].ns : 0);
}

static void gaps_table(struct writer *w)
{
	static const struct table_column columns[] = {{"#", .right = 1},
						      {"CPU", .right = 1},
						      {"start (s)", .right = 1},
						      {"length", .right = 1},
						      {"most of it", .cut = TABLE_CUT_ID},
						      {"time", .right = 1}};
	struct table table = {columns, 6};
	size_t n = answer_rows(w->a);
	for (size_t i = 0; i < n; i++)
		gap_row(w, &table, i);
	buf_char(w->b, '\n');
	table_write(w->b, &table, w->a->width);
	table_release(&table);
	answer_more(w->b, w->a);
}

static void detail(struct writer *w, size_t rank)
{
	const struct tl_gap *g = gap_at(w, rank);
	const struct gap_parts *x = parts_of(w, rank);
	buf_fmt(w->b, "\n#%zu  CPU %u  ", rank + 1, timeline_cpu(w->a->tl, g->cpu));
	units_duration(w->b, g->lost_ns);
	buf_str(w->b, x->end_ns ? "  from " : "  somewhere from ");
	units_stretch(w->b, x->end_ns ? x->start_ns : g->start_ns,
		      x->end_ns ? x->end_ns : g->end_ns, w->a->tl->rec.origin_ns);
	buf_char(w->b, '\n');
	for (size_t i = 0; i < x->v.n && i < PARTS; i++) {
		struct buf text = {0};
		units_duration(&text, x->v.v[i].ns);
		buf_fmt(w->b, "    %9s  ", buf_cstr(&text));
		gap_describe_taker(w->b, w->a->tl, &x->v.v[i]);
		buf_char(w->b, '\n');
		buf_release(&text);
	}
	if (x->v.n > PARTS)
		buf_fmt(w->b, "    ... %zu more\n", x->v.n - PARTS);
}

static void text(struct writer *w)
{
	takers_table(w);
	gaps_table(w);
	controls_text(w);
	for (size_t i = 0; i < w->a->selection->v.n && i < w->a->details; i++)
		detail(w, i);
	more_details(w->b, w->a->selection->v.n, w->a->details);
	buf_str(w->b, "\n[unexplained]: the program had the CPU, and nothing recorded took it: "
		      "the\nhypervisor, SMIs and NMIs are in no recording");
	if (!w->a->tl->interrupts.n)
		buf_str(w->b, "; nor are interrupts in this one\n(perfkit record tail --also "
			      "vectors records them)");
	buf_str(w->b, ".\n");
}

/* --- JSON ----------------------------------------------------------------------------- */

static void parts(const struct writer *w, struct json *j, const struct gap_parts *x)
{
	json_open(j, "parts", '[');
	for (size_t i = 0; i < x->v.n; i++) {
		const struct gap_part *p = &x->v.v[i];
		json_open(j, NULL, '{');
		json_str(j, "by", gap_part_kind_name(p->by));
		if (p->by == GAP_THREAD)
			answer_json_thread(j, w->a->tl, p->what);
		if (p->by == GAP_INTERRUPT)
			answer_json_text(j, w->a->tl, "vector", p->what);
		json_u64(j, "ns", p->ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void gap_json(const struct writer *w, struct json *j, size_t rank)
{
	const struct tl_gap *g = gap_at(w, rank);
	uint64_t origin = w->a->tl->rec.origin_ns;
	const struct gap_parts *x = parts_of(w, rank);
	json_open(j, NULL, '{');
	answer_json_episode(j, w->a, rank);
	json_u64(j, "cpu", timeline_cpu(w->a->tl, g->cpu));
	if (x->end_ns) {
		json_i64(j, "start_ns", (int64_t)(x->start_ns - origin));
		json_i64(j, "end_ns", (int64_t)(x->end_ns - origin));
	} else {
		json_null(j, "start_ns");
		json_null(j, "end_ns");
	}
	json_u64(j, "duration_ns", g->lost_ns);
	json_bool(j, "open", g->flags & OFF_OPEN);
	json_bool(j, "placed", x->end_ns != 0);
	if (g->thread != TL_NONE) {
		json_open(j, "spinner", '{');
		answer_json_thread(j, w->a->tl, g->thread);
		json_close(j, '}');
	}
	parts(w, j, x);
	json_close(j, '}');
}

static void json(struct writer *w)
{
	struct json j = {.b = w->b};
	answer_json_open(&j, "gap");
	json_bool(&j, "interrupts_recorded", w->a->tl->interrupts.n != 0);
	answer_json_population(&j, w->a->episodes);
	json_open(&j, "episodes", '[');
	for (size_t i = 0; i < answer_rows(w->a); i++)
		gap_json(w, &j, i);
	json_close(&j, ']');
	controls_json(w, &j);
	json_close(&j, '}');
	buf_char(w->b, '\n');
}

/* --- CSV ------------------------------------------------------------------------------ */

static void csv_part(struct writer *w, size_t rank, const struct gap_part *p)
{
	const struct timeline *tl = w->a->tl;
	const struct strtab *s = &tl->stacks->strings;
	const struct tl_gap *g = gap_at(w, rank);
	const struct gap_parts *x = parts_of(w, rank);
	buf_fmt(w->b, "%zu,%u,", rank + 1, timeline_cpu(tl, g->cpu));
	if (x->end_ns)
		buf_fmt(w->b, "%" PRIu64 ",%" PRIu64, x->start_ns, x->end_ns);
	else
		buf_char(w->b, ',');
	buf_fmt(w->b, ",%" PRIu64 ",%d,%s,", g->lost_ns, (g->flags & OFF_OPEN) != 0,
		gap_part_kind_name(p->by));
	if (p->by == GAP_THREAD) {
		const struct tl_thread *t = &tl->threads.v[p->what];
		csv_field(w->b, strtab_get(s, t->comm), strtab_len(s, t->comm));
		buf_fmt(w->b, ",%d,%d", t->pid, t->tid);
	} else {
		if (p->by == GAP_INTERRUPT)
			csv_field(w->b, strtab_get(s, p->what), strtab_len(s, p->what));
		buf_str(w->b, ",,");
	}
	buf_fmt(w->b, ",%" PRIu64 "\n", p->ns);
}

static void csv(struct writer *w)
{
	size_t n = w->a->selection->v.n;
	buf_str(w->b, "rank,cpu,start_ns,end_ns,duration_ns,open,by,name,pid,tid,part_ns\n");
	for (size_t i = 0; i < n && (!w->a->rows || i < w->a->rows); i++)
		for (size_t k = 0; k < parts_of(w, i)->v.n; k++)
			csv_part(w, i, &parts_of(w, i)->v.v[k]);
}

/* --- public functions ----------------------------------------------------------------- */

static int answer(struct buf *b, const struct episodes_answer *a,
		  void (*with)(struct writer *w), struct err *e)
{
	struct writer w = {.b = b, .a = a, .x = a->gaps};
	with(&w);
	return buf_failed(b) ? err_nomem(e) : 0;
}

int gaps_text(struct buf *b, const struct episodes_answer *a, struct err *e)
{
	return answer(b, a, text, e);
}

int gaps_json(struct buf *b, const struct episodes_answer *a, struct err *e)
{
	return answer(b, a, json, e);
}

int gaps_csv(struct buf *b, const struct episodes_answer *a, struct err *e)
{
	return answer(b, a, csv, e);
}
