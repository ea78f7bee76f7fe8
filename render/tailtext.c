#include "render/tailtext.h"
#include "libstore/causes.h"
#include "render/escape.h"
#include "render/tailevents.h"
#include "render/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

static const uint32_t shown_percentiles[] = {50000, 90000, 99000, 99900, 99990};
enum { PERCENTILES = sizeof(shown_percentiles) / sizeof(*shown_percentiles) };

/* --- columns -------------------------------------------------------------------------------
 */

/* Blanks up to a column of the line that begins at `line`. */
static void pad(struct buf *b, size_t line, size_t column)
{
	if (buf_failed(b))
		return;
	size_t chars = b->n > line ? escape_chars(b->v + line, b->n - line) : 0;
	for (; chars < column; chars++)
		buf_char(b, ' ');
}

/* What was appended since `from` becomes at most `width` characters, right-aligned if asked. */
static void fit(struct buf *b, size_t from, size_t width, int right)
{
	if (buf_failed(b))
		return;
	size_t n = b->n - from, chars = n ? escape_chars(b->v + from, n) : 0;
	if (chars > width) {
		b->n = from + escape_prefix(b->v + from, n, width - 1);
		buf_str(b, "~");
		chars = width;
	}
	size_t gap = width - chars;
	for (size_t i = 0; i < gap; i++)
		buf_char(b, ' ');
	if (right && gap && !buf_failed(b)) {
		memmove(b->v + from + gap, b->v + from, b->n - from - gap);
		memset(b->v + from, ' ', gap);
	}
}

static void duration_cell(struct buf *b, uint64_t ns, size_t width)
{
	size_t at = b->n;
	units_duration(b, ns);
	fit(b, at, width, 1);
}

/* Words broken at blanks: the first line goes on at `column`, later ones are indented. */
static void wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
	for (int first = 1; *text; first = 0) {
		size_t n = strcspn(text, " "), chars = escape_chars(text, n);
		if (!first && column + 1 + chars > WIDTH) {
			buf_char(out, '\n');
			for (size_t i = 0; i < indent; i++)
				buf_char(out, ' ');
			column = indent;
		} else if (!first) {
			buf_char(out, ' ');
			column++;
		}
		buf_add(out, text, n);
		column += chars;
		text += n;
		text += strspn(text, " ");
	}
	buf_char(out, '\n');
}

/* --- the population ------------------------------------------------------------------------
 */

static void kind_words(struct buf *b, const struct tail *t)
{
	const struct episode_query *q = &t->episodes.query;
	if (q->kind != EPISODE_SPAN) {
		buf_str(b, q->kind == EPISODE_WAIT ? "waits" : "activations");
		return;
	}
	buf_str(b, "spans of ");
	const struct strtab *s = &t->tl->stacks->strings;
	escape_visible(b, strtab_get(s, q->span), strtab_len(s, q->span));
}

static void population_line(struct buf *b, const struct tail *t,
			    const struct tailtext_options *o)
{
	const struct episodes *x = &t->episodes;
	struct buf line = {0};
	units_count(&line, x->clean.n);
	buf_char(&line, ' ');
	kind_words(&line, t);
	buf_str(&line, " of ");
	units_plural(&line, x->threads, "thread", "threads");
	buf_str(&line, " in ");
	units_plural(&line, x->processes, "process", "processes");
	buf_fmt(&line, " (%s)", *o->filters ? o->filters : "all");
	if (x->query.kind == EPISODE_WAIT && !x->query.idle)
		buf_str(&line, ", less their idle parts");
	buf_str(b, "population: ");
	wrapped(b, buf_cstr(&line), 12, 12);
	buf_release(&line);
}

static void hidden_line(struct buf *b, const struct tail *t, struct evidence *ev)
{
	const struct episodes *x = &t->episodes;
	struct buf line = {0};
	if (x->idle.count) {
		units_plural(&line, x->idle.count, "idle wait", "idle waits");
		buf_str(&line, " (");
		units_duration(&line, x->idle.ns);
		buf_str(&line, ", most of it ");
		escape_visible(&line, strtab_get(&t->tl->stacks->strings, x->idle.comm),
			       strtab_len(&t->tl->stacks->strings, x->idle.comm));
		buf_str(&line, " in ");
		words_stack(&line, ev, x->idle.path, 2);
		buf_str(&line, "; --idle shows them)");
	}
	if (x->system.count) {
		if (line.n)
			buf_str(&line, ", ");
		units_count(&line, x->system.count);
		buf_str(&line, " of kernel threads and perf (");
		units_duration(&line, x->system.ns);
		buf_str(&line, "; --system)");
	}
	if (line.n) {
		buf_str(b, "hidden:     ");
		wrapped(b, buf_cstr(&line), 12, 12);
	}
	buf_release(&line);
}

/* Without the kernel's names a wait is not known to be for a lock or for work. */
static void symbols_line(struct buf *b, const struct tail *t)
{
	uint64_t all, n = timeline_nameless_waits(t->tl, &all);
	struct buf line = {0};
	if (n * 20 < all || !n)
		return;
	buf_fmt(&line,
		"no kernel symbols for %.0f %% of waits, so their causes are unknown and idle "
		"waits are not recognized: the percentiles include them",
		100.0 * (double)n / (double)all);
	buf_str(b, "symbols:    ");
	wrapped(b, buf_cstr(&line), 12, 12);
	buf_release(&line);
}

static void left_out_line(struct buf *b, const struct tail *t)
{
	const struct episodes *x = &t->episodes;
	struct buf line = {0};
	symbols_line(b, t);
	if (x->dirty.n) {
		units_count(&line, x->open);
		buf_str(&line, " open (cut by the edge), ");
		units_count(&line, x->suspect);
		buf_str(&line, " suspect (records missing there); with them, as long as they "
			       "were seen, p99.9 is ");
		units_duration(&line, episodes_percentile(x, 99900, 1));
		buf_str(b, "left out:   ");
		wrapped(b, buf_cstr(&line), 12, 12);
		buf_clear(&line);
	}
	if (x->unknown) {
		units_plural(&line, x->unknown, "episode has a wait", "episodes have waits");
		buf_str(&line, " without a recorded wakeup: how much of it was blocked and how "
			       "much runnable is not known");
		buf_str(b, "not known:  ");
		wrapped(b, buf_cstr(&line), 12, 12);
	}
	buf_release(&line);
}

static void percentile_table(struct buf *b, const struct episodes *x)
{
	size_t line;
	buf_str(b, "\n     count");
	for (int i = 0; i < PERCENTILES; i++) {
		line = b->n;
		buf_char(b, 'p');
		units_percent(b, shown_percentiles[i]);
		fit(b, line, 11, 1);
	}
	buf_str(b, "        max\n");
	line = b->n;
	units_count(b, x->clean.n);
	fit(b, line, 10, 1);
	for (int i = 0; i < PERCENTILES; i++) {
		if (!x->clean.n || episodes_cannot_say(x, shown_percentiles[i]))
			buf_str(b, x->clean.n ? " cannot say" : "          -");
		else
			duration_cell(b, episodes_percentile(x, shown_percentiles[i], 0), 11);
	}
	if (x->clean.n)
		duration_cell(b, x->clean.v[x->clean.n - 1], 11);
	else
		buf_str(b, "          -");
	buf_char(b, '\n');
}

int tailtext_population(struct buf *b, const struct tail *t, const struct tailtext_options *o)
{
	population_line(b, t, o);
	left_out_line(b, t);
	percentile_table(b, &t->episodes);
	return buf_failed(b);
}

/* --- histogram -----------------------------------------------------------------------------
 */

static int log2_of(uint64_t ns)
{
	return ns ? 63 - __builtin_clzll(ns) : 0;
}

/* Buckets double; each line is the lower and upper bound, the count, and a bar as wide as the
 * count is of the largest. */
static void histogram(struct buf *b, const struct episodes *x)
{
	enum { BAR = 38 };
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
	buf_str(b, "\n      from         to      count\n");
	for (int i = lo; i <= hi && most; i++) {
		size_t at;
		duration_cell(b, i ? 1ull << i : 0, 10);
		duration_cell(b, i < 63 ? 1ull << (i + 1) : UINT64_MAX, 11);
		at = b->n;
		units_count(b, count[i]);
		fit(b, at, 11, 1);
		uint64_t bar = (count[i] * BAR + most - 1) / most;
		buf_str(b, bar ? " " : "");
		for (uint64_t k = 0; k < bar; k++)
			buf_char(b, '*');
		buf_char(b, '\n');
	}
}

/* --- groups --------------------------------------------------------------------------------
 */

/* How far the worst share one root: the largest group, which need not be the first by time. */
static void groups_sentence(struct buf *b, const struct tail *t, const char *name)
{
	uint64_t most = 0;
	for (size_t i = 0; i < t->groups.n; i++)
		most = most > t->groups.v[i].count ? most : t->groups.v[i].count;
	if (most < 2 && t->rows.n > 1)
		buf_str(b, "no two of the ");
	else {
		units_count(b, most);
		buf_str(b, " of ");
	}
	units_plural(b, t->rows.n, "worst episode has", "worst episodes have");
	buf_fmt(b, " the same %s\n", name);
}

static void groups_table(struct buf *b, struct tail *t, const struct tailtext_options *o)
{
	uint64_t total = 0;
	for (size_t i = 0; i < t->groups.n; i++)
		total += t->groups.v[i].ns;
	if (!t->groups.n)
		return;
	buf_char(b, '\n');
	const char *name =
		t->group_by == GROUP_COMM ? "thread name" : tail_group_name(t->group_by);
	groups_sentence(b, t, name);
	buf_fmt(b, "\n  count      time  share  %s\n", name);
	for (size_t i = 0; i < t->groups.n && (!o->rows || i < o->rows); i++) {
		const struct tail_group *g = &t->groups.v[i];
		size_t at = b->n;
		units_count(b, g->count);
		fit(b, at, 7, 1);
		duration_cell(b, g->ns, 10);
		at = b->n;
		buf_fmt(b, "%u %%",
			total ? (unsigned)((double)g->ns * 100 / (double)total + .5) : 0);
		fit(b, at, 7, 1);
		buf_str(b, "  ");
		at = b->n;
		words_group(b, t, g);
		fit(b, at, WIDTH - 26, 0);
		while (!buf_failed(b) && b->n && b->v[b->n - 1] == ' ')
			b->n--;
		buf_char(b, '\n');
	}
	if (o->rows && t->groups.n > o->rows) {
		buf_str(b, "  ... ");
		units_plural(b, t->groups.n - o->rows, "more group", "more groups");
		buf_char(b, '\n');
	}
}

static void recurrence_lines(struct buf *b, const struct tail *t)
{
	const struct recurrence *r = &t->recurrence;
	struct buf line = {0};
	words_rhythm(&line, r, "They");
	for (size_t i = 0; i < t->nrhythms; i++) {
		struct buf who = {0};
		buf_str(&who, "The ");
		units_count(&who, t->rhythms[i].count);
		buf_str(&who, " that ");
		words_name(&who, t->tl, t->rhythms[i].comm);
		buf_str(&who, " held up");
		buf_str(&line, line.n ? " " : "");
		words_rhythm(&line, &t->rhythms[i].recurrence, buf_cstr(&who));
		buf_release(&who);
	}
	if (r->together * 2 >= r->occurrences && r->together > 1)
		buf_fmt(&line, "%s%llu of %llu times several threads were hit at once.",
			line.n ? " " : "", (unsigned long long)r->together,
			(unsigned long long)r->occurrences);
	if (line.n) {
		buf_char(b, '\n');
		wrapped(b, buf_cstr(&line), 0, 0);
	}
	buf_release(&line);
}

/* --- the worst, one a line -----------------------------------------------------------------
 */

/* comm/tid; a long comm is cut, the tid never: it is what one looks for elsewhere. */
static void thread_cell(struct buf *b, const struct timeline *tl, const struct episode *ep,
			size_t width)
{
	size_t at = b->n, slash;
	words_thread(b, tl, ep->thread, ep->comm);
	for (slash = b->n; slash > at && b->v[slash - 1] != '/';)
		slash--;
	char tid[16] = "";
	size_t n = slash > at ? b->n - slash + 1 : 0;
	if (n && n < sizeof(tid) && escape_chars(b->v + at, b->n - at) > width) {
		memcpy(tid, b->v + slash - 1, n);
		b->n = slash - 1;
		fit(b, at, width - n, 0);
		buf_str(b, tid);
	}
	fit(b, at, width, 0);
}

static void episode_row(struct buf *b, const struct tail *t, size_t rank)
{
	const struct tail_row *row = &t->rows.v[rank];
	const struct episode *ep = &t->episodes.v.v[row->episode];
	size_t line = b->n, at;
	buf_fmt(b, "%zu", rank + 1);
	fit(b, line, 4, 1);
	at = b->n;
	units_seconds(b, ep->start_ns);
	fit(b, at, 15, 1);
	duration_cell(b, episode_ns(ep), 10);
	buf_str(b, "  ");
	thread_cell(b, t->tl, ep, 17);
	buf_char(b, ' ');
	at = b->n;
	buf_str(b, words_cause(row->state, row->cause));
	fit(b, at, 9, 0);
	buf_char(b, ' ');
	at = b->n;
	words_root_cell(b, t, row, 0);
	fit(b, at, 21, 0);
	while (!buf_failed(b) && b->n > line && b->v[b->n - 1] == ' ')
		b->n--;
	buf_char(b, '\n');
}

static void episodes_table(struct buf *b, const struct tail *t,
			   const struct tailtext_options *o)
{
	size_t n = o->rows && o->rows < t->rows.n ? o->rows : t->rows.n;
	if (!n)
		return;
	buf_str(b, "\n   #      start (s)  duration  thread            cause     root\n");
	for (size_t i = 0; i < n; i++)
		episode_row(b, t, i);
	if (n < t->rows.n) {
		buf_str(b, "     ... ");
		units_count(b, t->rows.n - n);
		buf_str(b, " more (--rows 0 shows all)\n");
	}
}

/* --- details -------------------------------------------------------------------------------
 */

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
	wrapped(d->b, buf_cstr(&d->line), TEXT, TEXT);
	buf_clear(&d->line);
}

static void detail_head(struct detail *d, size_t rank, const struct episode *ep)
{
	struct buf *b = d->b;
	buf_fmt(b, "\n#%zu  ", rank + 1);
	words_thread(b, d->t->tl, ep->thread, ep->comm);
	if (ep->end_thread != ep->thread) {
		buf_str(b, " to ");
		words_thread(b, d->t->tl, ep->end_thread,
			     d->t->tl->threads.v[ep->end_thread].comm);
	}
	buf_str(b, "  ");
	units_duration(b, episode_ns(ep));
	buf_str(b, "  from ");
	units_seconds(b, ep->start_ns);
	buf_str(b, " to ");
	units_seconds(b, ep->end_ns);
	if (ep->flags & OFF_OPEN)
		buf_str(b, ", open");
	if (ep->flags & OFF_SUSPECT)
		buf_str(b, ", suspect");
	buf_char(b, '\n');
}

static void sum_item(struct buf *b, uint64_t ns, uint64_t whole, const char *what)
{
	if (!ns)
		return;
	if (b->n)
		buf_str(b, " + ");
	units_part(b, ns, whole);
	buf_fmt(b, " %s", what);
}

static void detail_sum(struct detail *d, const struct explanation *x, uint64_t whole)
{
	struct buf *b = &d->line;
	sum_item(b, x->run_ns, whole, "running");
	for (unsigned c = 0; c < CAUSE_COUNT; c++) {
		char text[48];
		snprintf(text, sizeof(text), "blocked (%s)", cause_name(c));
		sum_item(b, x->blocked_by[c], whole, text);
	}
	sum_item(b, x->runnable_ns - x->preempted_ns, whole, "runnable");
	sum_item(b, x->preempted_ns, whole, "preempted");
	sum_item(b, x->unknown_ns, whole, "unknown");
	detail_line(d, "time");
}

static void full_stack(struct detail *d, uint32_t path)
{
	const struct stacks *s = d->t->tl->stacks;
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		size_t at = d->b->n;
		pad(d->b, at, TEXT);
		words_frame(d->b, d->t->tl, s->paths.v[path].frame);
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
	words_stack(&d->line, d->ev, path, 3);
	detail_line(d, label);
}

static void detail_waker(struct detail *d, const struct explanation *x)
{
	const struct timeline *tl = d->t->tl;
	const struct off *o = x->off != TL_NONE ? &tl->off.v[x->off] : NULL;
	if (!o || o->waker_context == WAKER_NONE || !o->blocked_ns)
		return;
	if (o->waker == TL_NONE) {
		buf_str(&d->line, o->waker_context == WAKER_IDLE
					  ? "the idle task"
					  : "an interrupt (a timer or a device)");
		buf_fmt(&d->line, ", context %s", waker_context_name(o->waker_context));
		detail_line(d, "woken by");
		return;
	}
	words_thread(&d->line, tl, o->waker, tl->threads.v[o->waker].comm);
	if (o->waker_context != WAKER_TASK)
		buf_fmt(&d->line, " (%s)", waker_context_name(o->waker_context));
	if (!d->o->full_stacks && o->waker_path) {
		buf_str(&d->line, " in ");
		words_stack(&d->line, d->ev, o->waker_path, 2);
	}
	detail_line(d, "woken by");
	if (d->o->full_stacks)
		full_stack(d, o->waker_path);
}

static void detail_corunners(struct detail *d, const struct explanation *x)
{
	enum { SHOWN = 3 };
	uint64_t rest = 0;
	if (!x->corunners.n)
		return;
	for (size_t i = 0; i < x->corunners.n; i++) {
		const struct corunner *c = &x->corunners.v[i];
		if (i >= SHOWN) {
			rest += c->ns;
			continue;
		}
		if (i)
			buf_str(&d->line, ", ");
		words_thread(&d->line, d->t->tl, c->thread,
			     d->t->tl->threads.v[c->thread].comm);
		buf_char(&d->line, ' ');
		units_part(&d->line, c->ns, x->runnable_ns);
		if (c->prio >= 0 && c->prio != 120) {
			buf_str(&d->line, " (");
			words_prio(&d->line, c->prio);
			buf_char(&d->line, ')');
		}
	}
	if (rest) {
		buf_str(&d->line, ", others ");
		units_part(&d->line, rest, x->runnable_ns);
	}
	detail_line(d, "CPU had by");
}

static void detail_link(struct detail *d, const struct explanation *x, size_t i)
{
	const struct chain_link *l = &x->chain.v[i];
	struct buf *b = &d->line;
	words_thread(b, d->t->tl, l->thread, l->comm);
	buf_char(b, ' ');
	units_duration(b, l->ns);
	buf_str(b, ": ");
	if (i + 1 == x->chain.n) {
		words_parts(b, d->ev, x, l);
	} else {
		uint32_t function = 0;
		units_part(b, l->next_ns, l->ns);
		buf_fmt(b, " %s", part_state_name(l->state));
		if (l->state == PART_BLOCKED)
			buf_fmt(b, " (%s)", cause_name(l->cause));
		if (!appframe_telling(&d->ev->app, l->path, &function) && function) {
			buf_str(b, " in ");
			words_function(b, d->t->tl, function);
		}
		buf_str(b, x->chain.v[i + 1].via == VIA_CPU     ? ", behind"
			   : x->chain.v[i + 1].via == VIA_OWNER ? ", owner of the lock"
								: ", until woken by");
	}
	detail_line(d, i ? "" : "chain");
}

static void say_missing(void *ctx, const char *line)
{
	struct detail *d = ctx;
	buf_str(&d->line, line);
	detail_line(d, "not known");
}

static int detail(struct detail *d, size_t rank, struct explanation *x, struct err *e)
{
	const struct tail_row *row = &d->t->rows.v[rank];
	const struct episode *ep = &d->t->episodes.v.v[row->episode];
	int r = explain(d->t->explainer, ep, x, e);
	if (r)
		return r;
	detail_head(d, rank, ep);
	detail_sum(d, x, episode_ns(ep));
	detail_stack(d,
		     x->state == PART_RUNNING     ? "ran in"
		     : x->state == PART_PREEMPTED ? "was in"
						  : "waited in",
		     x->path);
	detail_waker(d, x);
	detail_corunners(d, x);
	if (x->run_ns && d->t->tl->samples.n) {
		units_plural(&d->line, x->samples, "sample", "samples");
		buf_str(&d->line, " while it ran");
		detail_line(d, "samples");
	}
	r = words_events(&d->line, d->ev, ep, 4, e);
	if (r)
		return r;
	if (d->line.n)
		detail_line(d, "events");
	for (size_t i = 0; x->chain.n > 1 && i < x->chain.n; i++)
		detail_link(d, x, i);
	words_missing(d->t->tl, x->missing, say_missing, d);
	buf_str(&d->line, "root cause: ");
	words_root(&d->line, d->ev, x);
	buf_str(d->b, "    ");
	wrapped(d->b, buf_cstr(&d->line), 4, 6);
	buf_clear(&d->line);
	return buf_failed(d->b);
}

static int details(struct buf *b, struct tail *t, const struct tailtext_options *o,
		   struct err *e)
{
	struct detail d = {.b = b, .t = t, .ev = explainer_evidence(t->explainer), .o = o};
	struct explanation x = {0};
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n && i < o->details; i++)
		r = detail(&d, i, &x, e);
	explanation_release(&x);
	buf_release(&d.line);
	return r;
}

/* --- all of it -----------------------------------------------------------------------------
 */

/* Of few episodes a high percentile is just the longest. */
static void too_few(struct buf *b, const struct tail *t, uint32_t millipercent)
{
	uint64_t n = t->episodes.clean.n, need = percentile_needs(millipercent);
	if (!n || !t->too_few)
		return;
	buf_str(b, ", the longest there is: ");
	units_plural(b, n, "episode is", "episodes are");
	buf_str(b, " too few for p");
	units_percent(b, millipercent);
	buf_str(b, " (it takes ");
	units_count(b, need);
	buf_str(b, "; --top N, --p90 ask for less)");
}

static void selection_line(struct buf *b, const struct tail *t,
			   const struct tailtext_options *o)
{
	const struct episode_pick *p = &o->pick;
	struct buf line = {0};
	buf_char(b, '\n');
	if (p->kind == PICK_PERCENTILE && t->selection.cannot_say) {
		buf_char(&line, 'p');
		units_percent(&line, p->millipercent);
		buf_str(&line,
			p->dirty ? ": cannot say; " : ": cannot say; of those measured whole ");
		units_plural(&line, t->selection.v.n, "episode lasted ", "episodes lasted ");
		units_duration(&line, t->selection.threshold_ns);
		buf_str(&line, " or longer");
	} else if (p->kind == PICK_PERCENTILE) {
		buf_char(&line, 'p');
		units_percent(&line, p->millipercent);
		buf_str(&line, " = ");
		units_duration(&line, t->selection.threshold_ns);
		too_few(&line, t, p->millipercent);
		buf_str(&line, "; ");
		units_plural(&line, t->selection.v.n, "episode lasted", "episodes lasted");
		buf_str(&line, " that long or longer");
	} else if (p->kind == PICK_OVER) {
		units_plural(&line, t->selection.v.n, "episode lasted ", "episodes lasted ");
		units_duration(&line, p->ns);
		buf_str(&line, " or longer");
	} else {
		buf_str(&line, "the ");
		units_plural(&line, t->selection.v.n, "longest episode", "longest episodes");
	}
	if (*o->shown) {
		buf_str(&line, "; shown are the ");
		units_count(&line, t->rows.n);
		buf_fmt(&line, " with %s", o->shown);
	}
	if (t->selection.dirty && !p->dirty) {
		buf_str(&line, "; ");
		units_plural(&line, t->selection.dirty, "open or suspect one reaches",
			     "open or suspect ones reach");
		buf_str(&line, " it too (--open lists them)");
	}
	wrapped(b, buf_cstr(&line), 0, 2);
	buf_release(&line);
}

int tailtext_write(struct buf *b, struct tail *t, const struct tailtext_options *o,
		   struct err *e)
{
	struct evidence *ev = explainer_evidence(t->explainer);
	struct buf line = {0};
	buf_fmt(&line, "by %s in ", episode_kind_name(t->episodes.query.kind));
	escape_visible(&line, o->file, strlen(o->file));
	if (*o->also)
		buf_fmt(&line, " (could also be asked: %s)", o->also);
	buf_str(b, "tail ");
	wrapped(b, buf_cstr(&line), 5, 5);
	buf_release(&line);
	population_line(b, t, o);
	hidden_line(b, t, ev);
	left_out_line(b, t);
	percentile_table(b, &t->episodes);
	if (o->hist)
		histogram(b, &t->episodes);
	if (!t->episodes.clean.n && !t->rows.n) {
		buf_str(b, "\nno episodes\n");
		return buf_failed(b) ? err_nomem(e) : 0;
	}
	selection_line(b, t, o);
	groups_table(b, t, o);
	recurrence_lines(b, t);
	episodes_table(b, t, o);
	int r = details(b, t, o, e);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
}
