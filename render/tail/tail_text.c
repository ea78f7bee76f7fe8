#include "render/tail/tail_text.h"
#include "base/check.h"
#include "libtime/causes/causes.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/sched/timeline_names.h"
#include "render/text/escape.h"
#include "render/text/labels.h"
#include "render/text/table.h"
#include "render/tail/program_table.h"
#include "render/tail/episodes_answer.h"
#include "render/tail/site_words.h"
#include "render/tail/tail_answer.h"
#include "render/tail/tail_events.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

enum { PROSE = 80 };

static const uint32_t shown_percentiles[] = {50000, 90000, 99000, 99900, 99990};
enum { PERCENTILES = sizeof(shown_percentiles) / sizeof(*shown_percentiles) };

/* --- columns -------------------------------------------------------------------------- */

/* Blanks up to a column of the line that begins at `line`. */
static void pad(struct buf *b, size_t line, size_t column)
{
	if (buf_failed(b))
		return;
	size_t chars = b->n > line ? escape_chars(b->v + line, b->n - line) : 0;
	for (; chars < column; chars++)
		buf_char(b, ' ');
}

/* Wrap prose, which stays narrow on wide terminals. */
static void put_wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
	text_wrapped(out, text, column, indent, PROSE);
}

/* --- the population ------------------------------------------------------------------- */

static void kind_words(struct buf *b, const struct tail *t)
{
	const struct episode_query *q = &t->episodes.query;
	if (q->kind == EPISODE_WAIT || q->kind == EPISODE_ACTIVATION) {
		buf_str(b, q->kind == EPISODE_WAIT ? "waits" : "activations");
		return;
	}
	if (q->kind == EPISODE_GAP) {
		buf_str(b, "gaps of CPUs");
		return;
	}
	buf_str(b, q->kind == EPISODE_SPAN ? "spans of " : "windows of ");
	const struct strtab *s = &t->tl->stacks->strings;
	escape_visible(b, strtab_get(s, q->span), strtab_len(s, q->span));
}

static void population_line(struct buf *b, const struct tail *t,
			    const struct tailtext_options *o)
{
	const struct episodes *x = &t->episodes;
	struct buf line = {0};
	kind_words(&line, t);
	if (x->query.kind != EPISODE_WINDOW && x->query.kind != EPISODE_GAP) {
		buf_str(&line, " of ");
		units_plural(&line, x->threads, "thread", "threads");
		buf_str(&line, " in ");
		units_plural(&line, x->processes, "process", "processes");
	}
	buf_fmt(&line, " (%s)", *o->filters ? o->filters : "all");
	buf_str(b, "population: ");
	put_wrapped(b, buf_cstr(&line), 12, 12);
	buf_release(&line);
}

static void symbols_line(struct buf *b, const struct tail *t)
{
	struct buf line = {0};
	if (describe_unnamed_waits(&line, t->tl)) {
		buf_str(&line, " (they count as work)");
		buf_str(b, "symbols:    ");
		put_wrapped(b, buf_cstr(&line), 12, 12);
	}
	buf_release(&line);
}

static void left_out_line(struct buf *b, const struct tail *t)
{
	const struct episodes *x = &t->episodes;
	struct buf line = {0};
	symbols_line(b, t);
	if (x->dirty.n) {
		units_count(&line, x->open);
		buf_str(&line, " open (cut off by the recording's edge), ");
		units_count(&line, x->suspect);
		buf_str(&line, " suspect (next to missing records); with them, as long as "
			       "they were seen, p99.9 is ");
		units_duration(&line, episodes_percentile(x, 99900, 1));
		buf_str(b, "left out:   ");
		put_wrapped(b, buf_cstr(&line), 12, 12);
		buf_clear(&line);
	}
	if (x->unknown) {
		units_plural(&line, x->unknown, "episode has a wait", "episodes have waits");
		buf_str(&line, " without a recorded wakeup: blocked and runnable time cannot "
			       "be told apart");
		buf_str(b, "unknown:    ");
		put_wrapped(b, buf_cstr(&line), 12, 12);
	}
	buf_release(&line);
}

static void percentile_cell(struct table *t, const struct episodes *x, uint32_t millipercent)
{
	if (!x->clean.n)
		table_text(t, "-");
	else if (episodes_are_uncertain(x, millipercent))
		table_text(t, "cannot say");
	else {
		struct buf cell = {0};
		answer_put_percentile(&cell, x, millipercent);
		table_text(t, buf_cstr(&cell));
		buf_release(&cell);
	}
}

static void work_row(struct table *t, const struct episodes *x)
{
	int ranked = x->query.kind == EPISODE_WAIT && !x->query.of.idle;
	table_text(t, !ranked ? "all" : x->probable.count ? "work, likely ?" : "work");
	table_count(t, x->clean.n);
	for (int i = 0; i < PERCENTILES; i++)
		percentile_cell(t, x, shown_percentiles[i]);
	if (x->clean.n)
		table_duration(t, x->clean.v[x->clean.n - 1]);
	else
		table_text(t, "-");
}

static void both_row(struct table *t, const struct episodes *x)
{
	table_text(t, "work or unclear");
	table_count(t, episodes_count_of_both(x));
	for (int i = 0; i < PERCENTILES; i++)
		table_duration(t, episodes_percentile_of_both(x, shown_percentiles[i]));
	table_duration(t, episodes_percentile_of_both(x, 100000));
}

static void percentile_table(struct buf *b, const struct episodes *x, size_t width)
{
	static const struct table_column columns[] = {
		{""},
		{"count", .right = 1},
		{"p50", .right = 1},
		{"p90", .right = 1},
		{"p99", .right = 1},
		{"p99.9", .right = 1},
		{"p99.99", .right = 1, .drop = 1},
		{"max", .right = 1},
	};
	struct table t = {columns, PERCENTILES + 3};
	ENTRIES(columns, PERCENTILES + 3);
	work_row(&t, x);
	int twice = x->apart.by[APART_UNCLEAR].count && episodes_count_of_both(x);
	if (twice)
		both_row(&t, x);
	buf_char(b, '\n');
	table_write(b, &t, width);
	if (twice)
		text_wrapped(b, "(the row work counts an unclear wait from its wakeup on)", 0,
			     0, width);
	table_release(&t);
}

int tailtext_population(struct buf *b, const struct tail *t, const struct tailtext_options *o)
{
	population_line(b, t, o);
	left_out_line(b, t);
	percentile_table(b, &t->episodes, o->width);
	return buf_failed(b);
}

/* --- histogram ------------------------------------------------------------------------ */

static int log2_of(uint64_t ns)
{
	return ns ? 63 - __builtin_clzll(ns) : 0;
}

/* Buckets double; each line has the lower and upper bound, the count, and a bar in proportion
 * to the largest count. */
static void histogram(struct buf *b, const struct episodes *x, size_t width)
{
	enum { BAR = 38 };
	static const struct table_column columns[] = {
		{"from", .right = 1}, {"to", .right = 1}, {"count", .right = 1}, {""}};
	struct table t = {columns, 4};
	uint64_t count[64] = {0}, most = 0;
	int lo = 63, hi = 0;
	for (size_t i = 0; i < x->clean.n; i++)
		count[log2_of(x->clean.v[i])]++;
	for (int i = 0; i < 64; i++) {
		if (!count[i])
			continue;
		lo = i < lo ? i : lo;
		hi = i;
		most = count[i] > most ? count[i] : most;
	}
	for (int i = lo; i <= hi && most; i++) {
		table_duration(&t, i ? 1ull << i : 0);
		table_duration(&t, i < 63 ? 1ull << (i + 1) : UINT64_MAX);
		table_count(&t, count[i]);
		for (uint64_t k = (count[i] * BAR + most - 1) / most; k; k--)
			buf_char(&t.text, '*');
		table_next(&t);
	}
	buf_char(b, '\n');
	table_write(b, &t, width);
	table_release(&t);
}

/* --- groups --------------------------------------------------------------------------- */

static void groups_table(struct buf *b, struct tail *t, const struct tailtext_options *o)
{
	uint64_t total = 0;
	for (size_t i = 0; i < t->groups.n; i++)
		total += t->groups.v[i].ns;
	if (t->rows.n < 2)
		return;
	buf_char(b, '\n');
	const char *name = t->group_by == GROUP_COMM ? "thread name"
			   : t->group_by == GROUP_LABEL
				   ? strtab_get(&t->tl->stacks->strings, t->group_label)
				   : tail_group_name(t->group_by);
	const struct table_column columns[] = {
		{"count", .right = 1}, {"time", .right = 1}, {"share", .right = 1}, {name}};
	struct table table = {columns, 4};
	for (size_t i = 0; i < t->groups.n && (!o->rows || i < o->rows); i++) {
		const struct tail_group *g = &t->groups.v[i];
		table_count(&table, g->count);
		table_duration(&table, g->ns);
		buf_fmt(&table.text, "%u %%",
			total ? (unsigned)((double)g->ns * 100 / (double)total + .5) : 0);
		table_next(&table);
		describe_group(&table.text, t, g);
		table_next(&table);
	}
	table_write(b, &table, o->width);
	table_release(&table);
	if (o->rows && t->groups.n > o->rows) {
		buf_str(b, "... ");
		units_plural(b, t->groups.n - o->rows, "more group", "more groups");
		buf_char(b, '\n');
	}
}

void tailtext_recurrence(struct buf *line, const struct tail *t)
{
	const struct recurrence *r = &t->recurrence;
	size_t begin = line->n;
	describe_period(line, r, "They");
	for (size_t i = 0; i < t->nrecurrences; i++) {
		struct buf who = {0};
		buf_str(&who, "The ");
		units_count(&who, t->recurrences[i].count);
		buf_str(&who, " that ");
		describe_name(&who, t->tl, t->recurrences[i].comm);
		buf_str(&who, " held up");
		buf_str(line, line->n > begin ? " " : "");
		describe_period(line, &t->recurrences[i].recurrence, buf_cstr(&who));
		buf_release(&who);
	}
	if (r->together * 2 >= r->occurrences && r->together > 1)
		buf_fmt(line, "%s%llu of %llu times several threads were hit at once.",
			line->n > begin ? " " : "", (unsigned long long)r->together,
			(unsigned long long)r->occurrences);
}

static void recurrence_lines(struct buf *b, const struct tail *t)
{
	struct buf line = {0};
	tailtext_recurrence(&line, t);
	if (line.n) {
		buf_char(b, '\n');
		put_wrapped(b, buf_cstr(&line), 0, 0);
	}
	buf_release(&line);
}

/* --- the worst, one a line ------------------------------------------------------------ */

/* 1 when the episodes have keys. */
static int has_keys(const struct tail *t)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (episode_key_text(&t->episodes, t->tl,
				     &t->episodes.v.v[t->rows.v[i].episode]))
			return 1;
	return 0;
}

static void episode_row(struct table *table, const struct tail *t, size_t rank, int keys)
{
	const struct tail_row *row = &t->rows.v[rank];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	table_count(table, rank + 1);
	units_since(&table->text, ep->start_ns, t->tl->rec.origin_ns);
	table_next(table);
	if (ep->flags & OFF_OPEN)
		buf_str(&table->text, "\xe2\x89\xa5 ");
	table_duration(table, episode_ns(ep));
	if (keys) {
		describe_name(&table->text, t->tl, episode_key_text(&t->episodes, t->tl, ep));
		table_next(table);
	}
	describe_thread(&table->text, t->tl, ep->thread, ep->comm);
	table_next(table);
	table_text(table, describe_cause(row->state, row->cause));
	describe_root_brief(&table->text, t, &row->root);
	table_next(table);
}

static void episodes_table(struct buf *b, const struct tail *t,
			   const struct tailtext_options *o)
{
	static const struct table_column plain[] = {{"#", .right = 1},
						    {"start (s)", .right = 1},
						    {"length", .right = 1},
						    {"thread", .cut = TABLE_CUT_ID},
						    {"cause"},
						    {"root"}};
	static const struct table_column keyed[] = {
		{"#", .right = 1}, {"start (s)", .right = 1},       {"length", .right = 1},
		{"key"},           {"thread", .cut = TABLE_CUT_ID}, {"cause"},
		{"root"}};
	int keys = has_keys(t);
	struct table table = {keys ? keyed : plain, keys ? 7 : 6};
	size_t n = o->rows && o->rows < t->rows.n ? o->rows : t->rows.n;
	if (!n || (t->rows.n == 1 && o->details)) /* which have more */
		return;
	for (size_t i = 0; i < n; i++)
		episode_row(&table, t, i, keys);
	buf_char(b, '\n');
	table_write(b, &table, o->width);
	table_release(&table);
	if (n < t->rows.n) {
		buf_str(b, "... ");
		units_count(b, t->rows.n - n);
		buf_str(b, " more (show all with --rows 0)\n");
	}
}

/* --- details -------------------------------------------------------------------------- */

struct detail {
	struct buf *b;
	struct tail *t;
	struct evidence *ev;
	const struct tailtext_options *o;
	struct buf line;
};

enum { LABEL = 4, TEXT = 16 }; /* columns */

/* "    label       text", the text from d->line, which is emptied. */
static void detail_line(struct detail *d, const char *label)
{
	size_t at = d->b->n;
	buf_str(d->b, "    ");
	buf_str(d->b, label);
	pad(d->b, at, TEXT);
	put_wrapped(d->b, buf_cstr(&d->line), TEXT, TEXT);
	buf_clear(&d->line);
}

static void detail_head(struct detail *d, size_t rank, const struct episode *ep)
{
	struct buf *b = d->b;
	buf_fmt(b, "\n#%zu  ", rank + 1);
	describe_thread(b, d->t->tl, ep->thread, ep->comm);
	if (ep->end_thread != ep->thread) {
		buf_str(b, " to ");
		describe_thread(b, d->t->tl, ep->end_thread,
				d->t->tl->threads.v[ep->end_thread].comm);
	}
	if (ep->key && !episode_key_text(&d->t->episodes, d->t->tl, ep))
		buf_fmt(b, "  key=%llu", (unsigned long long)ep->key);
	buf_str(b, "  ");
	units_duration(b, episode_ns(ep));
	buf_str(b, "  from ");
	units_stretch(b, ep->start_ns, ep->end_ns, d->t->tl->rec.origin_ns);
	if (ep->flags & OFF_OPEN)
		buf_str(b, ", open");
	if (ep->flags & OFF_SUSPECT)
		buf_str(b, ", suspect");
	buf_char(b, '\n');
	if (d->t->episodes.query.kind == EPISODE_SPAN)
		labels_words(&d->line, d->t->tl, ep->at);
	if (d->line.n)
		detail_line(d, "request");
	if (d->t->episodes.query.kind == EPISODE_SPAN)
		counters_words(&d->line, d->t->tl, ep->at);
	if (d->line.n)
		detail_line(d, "counted");
}

/* The parts of an episode's time; the slight ones together. */
struct sum {
	struct buf *b;
	uint64_t whole, slight;
	size_t parts; /* slight ones */
};

static void sum_item(struct sum *s, uint64_t ns, const char *what)
{
	if (!ns)
		return;
	if (is_slight(ns, s->whole)) {
		s->slight += ns;
		s->parts++;
		return;
	}
	buf_str(s->b, s->b->n ? " + " : "");
	units_part(s->b, ns, s->whole);
	buf_fmt(s->b, " %s", what);
}

static void detail_sum(struct detail *d, const struct explanation *x, uint64_t whole)
{
	struct sum s = {.b = &d->line, .whole = whole};
	struct buf by = {0};
	buf_str(&by, "interrupted (");
	describe_name(&by, d->t->tl, x->interrupt);
	buf_str(&by, x->interrupts > 1 ? " and others)" : ")");
	sum_item(&s, x->run_ns - x->interrupted_ns, "running");
	sum_item(&s, x->interrupted_ns, buf_cstr(&by));
	buf_release(&by);
	for (unsigned c = 0; c < CAUSE_COUNT; c++) {
		char text[48];
		snprintf(text, sizeof(text), "blocked (%s)", cause_name(c));
		sum_item(&s, x->blocked_by[c], text);
	}
	sum_item(&s, x->runnable_ns - x->preempted_ns, "runnable");
	sum_item(&s, x->preempted_ns - x->throttled_ns, "preempted");
	sum_item(&s, x->throttled_ns, "throttled (CPU quota)");
	sum_item(&s, x->unknown_ns, "unknown");
	if (s.slight && !is_slight(s.slight, whole)) {
		buf_str(&d->line, d->line.n ? " + " : "");
		units_part(&d->line, s.slight, whole);
		buf_str(&d->line, " in ");
		units_plural(&d->line, s.parts, "smaller part", "smaller parts");
	}
	detail_line(d, "time");
}

static void full_stack(struct detail *d, uint32_t path)
{
	const struct stacks *s = d->t->tl->stacks;
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		size_t at = d->b->n;
		pad(d->b, at, TEXT);
		describe_frame(d->b, d->t->tl, s->paths.v[path].frame);
		buf_str(d->b, f->kind == FRAME_KERNEL ? " [kernel]\n" : "\n");
	}
}

static void detail_stack(struct detail *d, const char *label, uint32_t path)
{
	if (d->o->full_stacks && path) {
		size_t at = d->b->n;
		buf_str(d->b, "    ");
		buf_str(d->b, label);
		pad(d->b, at, TEXT);
		d->b->n = buf_failed(d->b) ? d->b->n : at + strlen(label) + 4;
		buf_char(d->b, '\n');
		full_stack(d, path);
		return;
	}
	describe_stack(&d->line, d->t->tl, path, 3);
	detail_line(d, label);
}

/* The lock: its variable and address if registers were recorded, because there may be many at
 * one place; and the function that released it. */
static void detail_lock(struct detail *d, const struct explanation *x)
{
	const struct timeline *tl = d->t->tl;
	const struct offcpu *o = x->offcpu != TL_NONE ? &tl->offcpu.v[x->offcpu] : NULL;
	if (!o || !offcpu_is_lock(o) || o->arg_kind != ARG_FUTEX)
		return;
	const char *variable = offcpu_variable(tl, o);
	buf_fmt(&d->line, "%s%sfutex 0x%llx%s", variable, *variable ? " (" : "",
		(unsigned long long)offcpu_arg(tl, o), *variable ? ")" : "");
	o = &tl->offcpu.v[lock_retried(tl, x->offcpu)];
	uint32_t function = o->waker == TL_NONE ? 0 : appframe_reported(tl, o->waker_path);
	if (function) {
		buf_str(&d->line, ", let go in ");
		describe_function(&d->line, tl, function);
	}
	detail_line(d, "lock");
}

static void detail_target(struct detail *d, const struct explanation *x)
{
	const struct timeline *tl = d->t->tl;
	if (x->offcpu == TL_NONE)
		return;
	describe_target(&d->line, tl, &tl->offcpu.v[x->offcpu]);
	if (d->line.n)
		detail_line(d, "waited on");
	describe_disk(&d->line, d->ev, x->offcpu);
	if (d->line.n)
		detail_line(d, "disk");
}

static void detail_waker(struct detail *d, const struct explanation *x)
{
	const struct timeline *tl = d->t->tl;
	const struct offcpu *o =
		x->offcpu != TL_NONE ? &tl->offcpu.v[lock_retried(tl, x->offcpu)] : NULL;
	if (!o || o->waker_context == WAKER_NONE || !o->blocked_ns)
		return;
	if (o->waker == TL_NONE) {
		buf_str(&d->line, o->waker_context == WAKER_IDLE
					  ? "the idle task"
					  : "an interrupt (timer or device)");
		buf_fmt(&d->line, ", context %s", waker_context_name(o->waker_context));
		detail_line(d, "woken by");
		return;
	}
	describe_thread(&d->line, tl, o->waker, tl->threads.v[o->waker].comm);
	if (o->waker_context != WAKER_TASK)
		buf_fmt(&d->line, " (%s)", waker_context_name(o->waker_context));
	if (!d->o->full_stacks && o->waker_path) {
		buf_str(&d->line, " in ");
		describe_stack(&d->line, d->t->tl, o->waker_path, 2);
	}
	detail_line(d, "woken by");
	if (d->o->full_stacks)
		full_stack(d, o->waker_path);
}

static void detail_corunners(struct detail *d, const struct explanation *x, uint64_t episode)
{
	enum { SHOWN = 3 };
	uint64_t rest = 0;
	for (size_t i = 0; i < x->corunners.n; i++) {
		const struct corunner *c = &x->corunners.v[i];
		if (i >= SHOWN || is_slight(c->ns, episode)) {
			rest += c->ns;
			continue;
		}
		if (i)
			buf_str(&d->line, ", ");
		describe_thread(&d->line, d->t->tl, c->thread,
				d->t->tl->threads.v[c->thread].comm);
		buf_char(&d->line, ' ');
		units_part(&d->line, c->ns, x->runnable_ns);
		if (c->prio >= 0 && c->prio != 120) {
			buf_str(&d->line, " (");
			describe_prio(&d->line, c->prio);
			buf_char(&d->line, ')');
		}
	}
	if (rest && !is_slight(rest, episode)) {
		buf_str(&d->line, d->line.n ? ", others " : "many, together ");
		units_part(&d->line, rest, x->runnable_ns);
	}
	if (d->line.n)
		detail_line(d, "on its CPU");
}

/* What ties a link to the one before it. */
static const char *link_words(const struct chain_link *l)
{
	switch (l->via) {
	case VIA_CPU:
		return "behind ";
	case VIA_OWNER:
		return "lock held by ";
	case VIA_TURN:
		return "the futex let go before by ";
	default:
		return "woken by ";
	}
}

/* A line, cut if it is longer than one: the thread, how long, and what it waited for there. What
 * the last one did is the root cause, which follows. */
static void detail_link(struct detail *d, const struct explanation *x, size_t i)
{
	const struct chain_link *l = &x->chain.v[i];
	struct buf *b = &d->line;
	buf_str(b, i ? link_words(l) : "");
	describe_thread(b, d->t->tl, l->thread, l->comm);
	buf_char(b, ' ');
	if (i + 1 == x->chain.n) {
		units_duration(b, l->ns);
		buf_str(b, ": the root cause");
	} else {
		if (is_slight(l->next_ns, l->ns) || !is_slight(l->ns - l->next_ns, l->ns)) {
			units_duration(b, l->ns);
			buf_str(b, ": ");
		}
		uint32_t function = appframe_reported(d->t->tl, l->path);
		units_part(b, l->next_ns, l->ns);
		buf_char(b, ' ');
		describe_blocked(b, x, l);
		if (function) {
			buf_str(b, " in ");
			describe_function(b, d->t->tl, function);
		}
	}
	if (!buf_failed(b) && escape_chars(b->v, b->n) > PROSE - TEXT) {
		b->n = escape_prefix(b->v, b->n, PROSE - TEXT - 1);
		buf_char(b, '~');
	}
	detail_line(d, i ? "" : "chain");
}

static void say_missing(void *ctx, const char *line)
{
	struct detail *d = ctx;
	buf_str(&d->line, line);
	detail_line(d, "missing");
}

/* "work: known work wait (backend: semaphore in ProcSleep())". */
static void detail_site(struct detail *d, const struct explanation *x)
{
	const struct timeline *tl = d->t->tl;
	uint32_t site = x->offcpu != TL_NONE ? tl->offcpu.v[x->offcpu].site : 0;
	if (!d->o->why || !site)
		return;
	const struct tl_site *s = timeline_site(tl, site);
	describe_site(&d->line, tl, site);
	buf_fmt(&d->line, ": %s (%s)", site_verdict_name(s->verdict),
		site_reason_name(s->reason));
	detail_line(d, "site");
}

static int detail(struct detail *d, size_t rank, struct err *e)
{
	const struct tail_row *row = &d->t->rows.v[rank];
	const struct episode *ep = &d->t->episodes.v.v[row->episode];
	const struct explanation *x;
	int r = tail_explain_row(d->t, rank, &x, e);
	if (r)
		return r;
	detail_head(d, rank, ep);
	detail_sum(d, x, episode_ns(ep));
	detail_stack(d,
		     x->state == PART_RUNNING     ? "ran in"
		     : x->state == PART_PREEMPTED ? "was in"
						  : "waited in",
		     x->path);
	detail_site(d, x);
	detail_lock(d, x);
	detail_target(d, x);
	detail_waker(d, x);
	detail_corunners(d, x, episode_ns(ep));
	if (!is_slight(x->run_ns, episode_ns(ep)) && d->t->tl->samples.n) {
		units_plural(&d->line, x->samples, "sample", "samples");
		buf_str(&d->line, " while running");
		detail_line(d, "samples");
	}
	r = describe_events(&d->line, d->ev, ep, 4, e);
	if (r)
		return r;
	if (d->line.n)
		detail_line(d, "events");
	for (size_t i = 0; x->chain.n > 1 && i < x->chain.n; i++)
		detail_link(d, x, i);
	describe_missing(d->t->tl, x->missing, say_missing, d);
	buf_str(&d->line, "root cause: ");
	describe_root(&d->line, d->ev, x);
	buf_str(d->b, "    ");
	put_wrapped(d->b, buf_cstr(&d->line), 4, 6);
	buf_clear(&d->line);
	if (d->o->picture && rank < d->o->pictured)
		buf_fmt(d->b, "    picture: %s#ep=%zu\n", d->o->picture, rank + 1);
	if (d->o->report && rank < d->o->reported)
		buf_fmt(d->b, "    report: %s#ep=%zu\n", d->o->report, rank + 1);
	return buf_failed(d->b) ? err_nomem(e) : 0;
}

int tailtext_episode(struct buf *b, struct tail *t, size_t rank,
		     const struct tailtext_options *o, struct err *e)
{
	struct detail d = {.b = b, .t = t, .ev = explainer_evidence(t->explainer), .o = o};
	int r = detail(&d, rank, e);
	buf_release(&d.line);
	return r;
}

static int details(struct buf *b, struct tail *t, const struct tailtext_options *o,
		   struct err *e)
{
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n && i < o->details; i++)
		r = tailtext_episode(b, t, i, o, e);
	more_details(b, t->rows.n, o->details);
	return r;
}

/* --- the whole answer ----------------------------------------------------------------- */

static void sites(struct buf *b, const struct tail *t, const struct tailtext_options *o)
{
	const struct episodes *x = &t->episodes;
	struct site_tables tables = {.tl = t->tl,
				     .apart = &x->apart,
				     .probable = &x->probable,
				     .reach = x->query.kind == EPISODE_WAIT && x->clean.n
						      ? t->selection.threshold_ns
						      : 0,
				     .bounds = x->query.kind == EPISODE_ACTIVATION,
				     .width = o->width};
	if (x->query.kind != EPISODE_SPAN)
		site_tables_write(b, &tables);
}

/* Sleeps that last about the same each time, as the program chose. */
static int is_pause(const struct timeline *tl, const struct site_sum *s)
{
	enum { ENOUGH = 4 };
	return timeline_site(tl, s->site)->cause == CAUSE_SLEEP && s->count >= ENOUGH &&
	       s->max_ns / 3 < s->p50_ns;
}

/* The longest of the waits that may be idle; one where its thread probably rests only if there
 * is nothing else to speak of. */
static const struct site_sum *longest_unclear(const struct timeline *tl,
					      const struct episodes *x)
{
	const struct site_sums *u = &x->apart.by[APART_UNCLEAR];
	for (size_t i = 0; i < u->v.n; i++)
		if (!x->clean.n ||
		    !(likely_is_base(x->likely, u->v.v[i].site) || is_pause(tl, &u->v.v[i])))
			return &u->v.v[i];
	return NULL;
}

static void unclear(struct buf *line, const struct tail *t, const char *where,
		    const char *start)
{
	const struct episodes *x = &t->episodes;
	const struct site_sum *u =
		x->query.kind == EPISODE_WAIT ? longest_unclear(t->tl, x) : NULL;
	if (t->selection.everybody && t->rows.n) /* somebody always rests long */
		return;
	if (!u || (x->clean.n && u->max_ns <= x->clean.v[x->clean.n - 1]))
		return;
	buf_fmt(line, "%s longest wait, %s", start, u->open ? "at least " : "");
	units_duration(line, u->max_ns);
	buf_str(line, " in ");
	describe_site(line, t->tl, u->site);
	buf_fmt(line, ", is unclear: see %s.", where);
}

void tailtext_unclear(struct buf *line, const struct tail *t, const char *where)
{
	unclear(line, t, where, "The");
}

/* What may be idle ends a sentence that names a cause, else it comes first. */
static int answer_first(struct buf *b, struct tail *t, struct err *e)
{
	struct buf answer = {0}, idle = {0}, first = {0};
	int r = tail_answer(&answer, t, e);
	int joined = told_names_cause(t) && answer.n && answer.v[answer.n - 1] == '.';
	unclear(&idle, t, "below", joined ? "; the" : "The");
	if (joined && idle.n)
		answer.n--;
	buf_str(&first, buf_cstr(joined ? &answer : &idle));
	if (!joined && idle.n && answer.n)
		buf_char(&first, ' ');
	buf_str(&first, buf_cstr(joined ? &idle : &answer));
	if (!r && first.n) {
		put_wrapped(b, buf_cstr(&first), 0, 0);
		buf_char(b, '\n');
	}
	r = r                                                                ? r
	    : buf_failed(&answer) || buf_failed(&idle) || buf_failed(&first) ? err_nomem(e)
									     : 0;
	buf_release(&answer);
	buf_release(&idle);
	buf_release(&first);
	return r;
}

/* The threads that the filters leave. */
struct asked_threads {
	uint64_t n, switched; /* all; with off-CPU intervals */
};

static struct asked_threads asked_threads(const struct tail *t)
{
	struct asked_threads x = {0};
	for (uint32_t i = 0; i < t->tl->threads.n; i++) {
		const struct tl_thread *thread = &t->tl->threads.v[i];
		if (!population_has_thread(&t->episodes.query.of, t->tl, i, thread->comm))
			continue;
		x.n++;
		x.switched += thread->offcpu_n != 0;
	}
	return x;
}

/* Why the chosen threads have no waits, if they have none at any time. */
static void put_no_waits(struct buf *b, const struct tail *t)
{
	const struct population *of = &t->episodes.query.of;
	struct asked_threads x = asked_threads(t);
	struct buf line = {0};
	buf_str(&line, "no episodes");
	if (!x.n && (of->npids || of->ntids || of->ncomms)) {
		buf_str(&line, ": the recording has no such thread");
	} else if (x.n && !x.switched) {
		buf_str(&line, ": no switch was recorded of ");
		units_plural(&line, x.n, "such thread, which", "such threads, which");
		buf_str(&line, " waited or ran throughout, or had no events recorded");
	}
	put_wrapped(b, buf_cstr(&line), 0, 0);
	buf_release(&line);
}

/* The text of an answer without episodes. */
static void put_no_episodes(struct buf *b, const struct tail *t)
{
	buf_char(b, '\n');
	if (t->episodes.query.kind == EPISODE_ACTIVATION)
		put_wrapped(
			b,
			"no activations: these begin and end with a wait at rest, and these "
			"threads have none that perfkit knows. Name the function that waits "
			"for the next request with --idle-frame (report --by site lists "
			"them), or ask --by wait.",
			0, 0);
	else if (t->episodes.apart.by[APART_UNCLEAR].count)
		buf_str(b, "nothing but unclear waits\n");
	else if (t->episodes.query.kind == EPISODE_WAIT)
		put_no_waits(b, t);
	else
		buf_str(b, "no episodes\n");
}

int tailtext_write(struct buf *b, struct tail *t, const struct tailtext_options *o,
		   struct err *e)
{
	struct buf line = {0};
	if (o->programs && program_table(b, t, o->width))
		return err_nomem(e);
	int r = answer_first(b, t, e);
	if (r)
		return r;
	buf_fmt(&line, "by %s in ", episode_kind_name(t->episodes.query.kind));
	escape_visible(&line, o->file, strlen(o->file));
	if (*o->also)
		buf_fmt(&line, "; other view: %s", o->also);
	buf_str(b, "tail ");
	put_wrapped(b, buf_cstr(&line), 5, 5);
	buf_release(&line);
	population_line(b, t, o);
	left_out_line(b, t);
	percentile_table(b, &t->episodes, o->width);
	if (o->hist)
		histogram(b, &t->episodes, o->width);
	if (!t->episodes.clean.n && !t->rows.n) {
		put_no_episodes(b, t);
		sites(b, t, o);
		return buf_failed(b) ? err_nomem(e) : 0;
	}
	tailtext_selection(b, t, o);
	groups_table(b, t, o);
	recurrence_lines(b, t);
	episodes_table(b, t, o);
	sites(b, t, o);
	r = details(b, t, o, e);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
}
