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
#include <stdlib.h>

enum { PARTS = 8, TEXT = 16, PROSE = 80 };

struct writer {
	struct buf *b;
	const struct episodes_answer *a;
	struct gap_finder *finder;
	struct gap_parts w;
};

static const struct tl_gap *gap_at(const struct writer *w, size_t rank)
{
	return &w->a->tl->gaps.v[w->a->episodes->v.v[w->a->selection->v.v[rank]].at];
}

static int look(struct writer *w, size_t rank, struct err *e)
{
	return gap_explain(w->finder, gap_at(w, rank), &w->w, e);
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

/* The gaps of a CPU that should be idle. */
struct baseline {
	uint16_t cpu;
	VEC(uint64_t) lengths; /* sorted */
};

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The baseline of the next such CPU from gap *at on; *at moves past it. 1, 0 at the end,
 * ERR_NOMEM. Gaps are sorted by CPU. */
static int next_baseline(struct baseline *b, const struct timeline *tl, size_t *at)
{
	const struct tl_gap *v = tl->gaps.v;
	b->lengths.n = 0;
	for (; *at < tl->gaps.n; ++*at) {
		const struct tl_gap *g = &v[*at];
		if (b->lengths.n && g->cpu != b->cpu)
			break;
		if (!(g->flags & GAP_CONTROL))
			continue;
		b->cpu = g->cpu;
		if (vec_push(&b->lengths, g->lost_ns))
			return ERR_NOMEM;
	}
	if (b->lengths.n)
		qsort(b->lengths.v, b->lengths.n, sizeof(*b->lengths.v), by_length);
	return b->lengths.n != 0;
}

/* Nearest rank, as elsewhere. */
static uint64_t baseline_at(const struct baseline *b, uint32_t millipercent)
{
	uint64_t rank = ((uint64_t)b->lengths.n * millipercent + 99999) / 100000;
	return b->lengths.v[rank ? rank - 1 : 0];
}

static int baseline_text(struct writer *w, struct err *e)
{
	struct baseline x = {0};
	size_t at = 0;
	int r;
	while ((r = next_baseline(&x, w->a->tl, &at)) > 0) {
		buf_fmt(w->b,
			"\ncontrol CPU %u (otherwise idle): ", timeline_cpu(w->a->tl, x.cpu));
		units_plural(w->b, x.lengths.n, "gap", "gaps");
		buf_str(w->b, ", p50 ");
		units_duration(w->b, baseline_at(&x, 50000));
		buf_str(w->b, ", p99 ");
		units_duration(w->b, baseline_at(&x, 99000));
		buf_str(w->b, ", max ");
		units_duration(w->b, baseline_at(&x, 100000));
		buf_char(w->b, '\n');
	}
	vec_release(&x.lengths);
	return r ? err_nomem(e) : 0;
}

static int baseline_json(struct writer *w, struct json *j, struct err *e)
{
	struct baseline x = {0};
	size_t at = 0;
	int r;
	json_open(j, "control", '[');
	while ((r = next_baseline(&x, w->a->tl, &at)) > 0) {
		json_open(j, NULL, '{');
		json_u64(j, "cpu", timeline_cpu(w->a->tl, x.cpu));
		json_u64(j, "count", x.lengths.n);
		for (const struct answer_percentile *p = answer_percentiles; p->key; p++)
			json_u64(j, p->key, baseline_at(&x, p->millipercent));
		json_close(j, '}');
	}
	json_close(j, ']');
	vec_release(&x.lengths);
	return r ? err_nomem(e) : 0;
}

/* --- text ----------------------------------------------------------------------------- */

struct taker {
	struct gap_part all; /* ns: of all gaps */
	uint64_t gaps, max_ns;
};

typedef VEC(struct taker) takers;

static int add_taker(takers *v, const struct gap_part *p)
{
	size_t i = 0;
	while (i < v->n && (v->v[i].all.by != p->by || v->v[i].all.what != p->what))
		i++;
	if (i == v->n && vec_push(v, ((struct taker){.all = {.what = p->what, .by = p->by}})))
		return ERR_NOMEM;
	v->v[i].all.ns += p->ns;
	v->v[i].gaps++;
	v->v[i].max_ns = p->ns > v->v[i].max_ns ? p->ns : v->v[i].max_ns;
	return 0;
}

static int by_time_taken(const void *a, const void *b)
{
	const struct taker *x = a, *y = b;
	if (x->all.ns != y->all.ns)
		return x->all.ns > y->all.ns ? -1 : 1;
	if (x->all.by != y->all.by)
		return x->all.by < y->all.by ? -1 : 1;
	return x->all.what < y->all.what ? -1 : x->all.what > y->all.what;
}

static void taker_row(struct table *t, const struct timeline *tl, const struct taker *x,
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

static int takers_table(struct writer *w, struct err *e)
{
	static const struct table_column columns[] = {{"who had the CPU", .cut = TABLE_CUT_ID},
						      {"gaps", .right = 1},
						      {"time", .right = 1},
						      {"share", .right = 1},
						      {"longest", .right = 1}};
	struct table table = {columns, 5};
	takers v = {0};
	uint64_t all = 0;
	int r = 0;
	for (size_t i = 0; i < w->a->selection->v.n && !r; i++) {
		r = look(w, i, e);
		for (size_t k = 0; k < w->w.v.n && !r; k++) {
			all += w->w.v.v[k].ns;
			r = add_taker(&v, &w->w.v.v[k]) ? err_nomem(e) : 0;
		}
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_time_taken);
	for (size_t i = 0; i < v.n && (!w->a->rows || i < w->a->rows); i++)
		taker_row(&table, w->a->tl, &v.v[i], all);
	buf_char(w->b, '\n');
	table_write(w->b, &table, w->a->width);
	table_release(&table);
	vec_release(&v);
	return r;
}

static int gap_row(struct writer *w, struct table *t, size_t rank, struct err *e)
{
	const struct tl_gap *g = gap_at(w, rank);
	int r = look(w, rank, e);
	table_count(t, rank + 1);
	table_count(t, timeline_cpu(w->a->tl, g->cpu));
	if (w->w.end_ns)
		units_since(&t->text, w->w.start_ns, w->a->tl->rec.origin_ns);
	else
		buf_str(&t->text, "?");
	table_next(t);
	table_duration(t, g->lost_ns);
	if (w->w.v.n)
		gap_describe_taker(&t->text, w->a->tl, &w->w.v.v[0]);
	table_next(t);
	table_duration(t, w->w.v.n ? w->w.v.v[0].ns : 0);
	return r;
}

static int gaps_table(struct writer *w, struct err *e)
{
	static const struct table_column columns[] = {{"#", .right = 1},
						      {"CPU", .right = 1},
						      {"start (s)", .right = 1},
						      {"length", .right = 1},
						      {"most of it", .cut = TABLE_CUT_ID},
						      {"time", .right = 1}};
	struct table table = {columns, 6};
	size_t n = answer_rows(w->a);
	int r = 0;
	for (size_t i = 0; i < n && !r; i++)
		r = gap_row(w, &table, i, e);
	buf_char(w->b, '\n');
	table_write(w->b, &table, w->a->width);
	table_release(&table);
	answer_more(w->b, w->a);
	return r;
}

static int detail(struct writer *w, size_t rank, struct err *e)
{
	const struct tl_gap *g = gap_at(w, rank);
	int r = look(w, rank, e);
	buf_fmt(w->b, "\n#%zu  CPU %u  ", rank + 1, timeline_cpu(w->a->tl, g->cpu));
	units_duration(w->b, g->lost_ns);
	buf_str(w->b, w->w.end_ns ? "  from " : "  somewhere from ");
	units_stretch(w->b, w->w.end_ns ? w->w.start_ns : g->start_ns,
		      w->w.end_ns ? w->w.end_ns : g->end_ns, w->a->tl->rec.origin_ns);
	buf_char(w->b, '\n');
	for (size_t i = 0; i < w->w.v.n && i < PARTS; i++) {
		struct buf text = {0};
		units_duration(&text, w->w.v.v[i].ns);
		buf_fmt(w->b, "    %9s  ", buf_cstr(&text));
		gap_describe_taker(w->b, w->a->tl, &w->w.v.v[i]);
		buf_char(w->b, '\n');
		buf_release(&text);
	}
	if (w->w.v.n > PARTS)
		buf_fmt(w->b, "    ... %zu more\n", w->w.v.n - PARTS);
	return r;
}

static int text(struct writer *w, struct err *e)
{
	int r = takers_table(w, e);
	r = r ? r : gaps_table(w, e);
	r = r ? r : baseline_text(w, e);
	for (size_t i = 0; i < w->a->selection->v.n && i < w->a->details && !r; i++)
		r = detail(w, i, e);
	more_details(w->b, w->a->selection->v.n, w->a->details);
	buf_str(w->b, "\n[unexplained]: the program had the CPU, and nothing recorded took it: "
		      "the\nhypervisor, SMIs and NMIs are in no recording");
	if (!w->a->tl->interrupts.n)
		buf_str(w->b, "; nor are interrupts in this one\n(perfkit record tail --also "
			      "vectors records them)");
	buf_str(w->b, ".\n");
	return r;
}

/* --- JSON ----------------------------------------------------------------------------- */

static void parts(struct writer *w, struct json *j)
{
	json_open(j, "parts", '[');
	for (size_t i = 0; i < w->w.v.n; i++) {
		const struct gap_part *p = &w->w.v.v[i];
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

static int gap_json(struct writer *w, struct json *j, size_t rank, struct err *e)
{
	const struct tl_gap *g = gap_at(w, rank);
	uint64_t origin = w->a->tl->rec.origin_ns;
	int r = look(w, rank, e);
	json_open(j, NULL, '{');
	answer_json_episode(j, w->a, rank);
	json_u64(j, "cpu", timeline_cpu(w->a->tl, g->cpu));
	if (w->w.end_ns) {
		json_i64(j, "start_ns", (int64_t)(w->w.start_ns - origin));
		json_i64(j, "end_ns", (int64_t)(w->w.end_ns - origin));
	} else {
		json_null(j, "start_ns");
		json_null(j, "end_ns");
	}
	json_u64(j, "duration_ns", g->lost_ns);
	json_bool(j, "open", g->flags & OFF_OPEN);
	json_bool(j, "placed", w->w.end_ns != 0);
	if (g->thread != TL_NONE) {
		json_open(j, "spinner", '{');
		answer_json_thread(j, w->a->tl, g->thread);
		json_close(j, '}');
	}
	parts(w, j);
	json_close(j, '}');
	return r;
}

static int json(struct writer *w, struct err *e)
{
	struct json j = {.b = w->b};
	int r = 0;
	answer_json_open(&j, "gap");
	json_bool(&j, "interrupts_recorded", w->a->tl->interrupts.n != 0);
	answer_json_population(&j, w->a->episodes);
	json_open(&j, "episodes", '[');
	for (size_t i = 0; i < answer_rows(w->a) && !r; i++)
		r = gap_json(w, &j, i, e);
	json_close(&j, ']');
	r = r ? r : baseline_json(w, &j, e);
	json_close(&j, '}');
	buf_char(w->b, '\n');
	return r;
}

/* --- CSV ------------------------------------------------------------------------------ */

static void csv_part(struct writer *w, size_t rank, const struct gap_part *p)
{
	const struct timeline *tl = w->a->tl;
	const struct strtab *s = &tl->stacks->strings;
	const struct tl_gap *g = gap_at(w, rank);
	buf_fmt(w->b, "%zu,%u,", rank + 1, timeline_cpu(tl, g->cpu));
	if (w->w.end_ns)
		buf_fmt(w->b, "%" PRIu64 ",%" PRIu64, w->w.start_ns, w->w.end_ns);
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

static int csv(struct writer *w, struct err *e)
{
	size_t n = w->a->selection->v.n;
	int r = 0;
	buf_str(w->b, "rank,cpu,start_ns,end_ns,duration_ns,open,by,name,pid,tid,part_ns\n");
	for (size_t i = 0; i < n && (!w->a->rows || i < w->a->rows) && !r; i++) {
		r = look(w, i, e);
		for (size_t k = 0; k < w->w.v.n && !r; k++)
			csv_part(w, i, &w->w.v.v[k]);
	}
	return r;
}

/* --- public functions ----------------------------------------------------------------- */

static int answer(struct buf *b, const struct episodes_answer *a,
		  int (*with)(struct writer *w, struct err *e), struct err *e)
{
	struct writer w = {.b = b, .a = a};
	int r = gap_finder_new(&w.finder, a->tl, e);
	r = r ? r : with(&w, e);
	gap_finder_free(w.finder);
	gap_parts_release(&w.w);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
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
