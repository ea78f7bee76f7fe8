/*
 * by_span.c - spans by name, function or label; and what makes slow requests slow.
 */
#include "base/text/buf.h"
#include "base/mem.h"
#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"
#include "libtime/tables/collect.h"
#include "libtime/tables/nest.h"

#include <stdlib.h>
#include <string.h>

struct by_span {
	struct collect *c;
	struct episode_query q;
	struct part_sums parts;
	uint32_t *parent;      /* of each span (nest.h) */
	uint64_t *parent_time; /* by row: sum of the parents of its spans, each once */
	size_t nparent_time;
	uint8_t *counter;     /* by strings id: column of the event's counter; 0: none */
	uint8_t *is_function; /* by strings id; NULL: not needed */
};

/* A column for each event that was counted in spans. */
static int find_counters(struct by_span *x)
{
	const struct timeline *tl = x->c->tl;
	const struct strtab *s = &tl->stacks->strings;
	x->counter = mem_zalloc(strtab_count(s) + 1, 1);
	if (!x->counter)
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->counters.n; i++) {
		uint32_t event = tl->counters.v[i].event;
		if (!x->counter[event])
			x->counter[event] =
				(uint8_t)rows_add_counter(x->c->rows, strtab_get(s, event));
	}
	return 0;
}

static int begin(struct by_span *x, struct collect *c)
{
	const struct timeline *tl = c->tl;
	*x = (struct by_span){.c = c};
	if (!tl->spans.n)
		return err_set(c->e, ERR_REFUSED,
			       "there are no spans: record probes (perfkit record requests), "
			       "name events (--span) or give the program's own file (--with)");
	x->q = (struct episode_query){.kind = EPISODE_SPAN,
				      .of = c->q->of,
				      .where = c->q->where,
				      .nwhere = c->q->nwhere};
	x->q.alone = episodes_only_thread(tl, &x->q, &x->q.alone_thread);
	int r = part_sums_init(&x->parts, tl);
	r = r ? r : spans_nest(tl, &x->parent);
	return r || !tl->counters.n ? r : find_counters(x);
}

static void end(struct by_span *x)
{
	part_sums_release(&x->parts);
	mem_free(x->parent);
	mem_free(x->parent_time);
	mem_free(x->counter);
	mem_free(x->is_function);
}

/* What the span's one or two threads did in [from, to). */
static struct tl_sums parts_of(const struct by_span *x, uint32_t span, const struct episode *ep)
{
	const struct tl_span *s = &x->c->tl->spans.v[span];
	struct tl_sums sums = {0};
	uint64_t at = s->handed_ns ? s->handed_ns : ep->end_ns;
	at = at < ep->start_ns ? ep->start_ns : at > ep->end_ns ? ep->end_ns : at;
	part_sums_add(&x->parts, ep->thread, ep->start_ns, at, &sums);
	part_sums_add(&x->parts, ep->end_thread, at, ep->end_ns, &sums);
	return sums;
}

/* 1: a thread's work; 2: a window, without a known thread; 0: not selected */
static int select_span(const struct by_span *x, uint32_t span, struct episode *ep)
{
	struct episode_query q = x->q;
	if (episodes_span(x->c->tl, &q, span, ep))
		return 1;
	q.kind = EPISODE_WINDOW;
	uint32_t thread;
	if (episodes_span_thread(x->c->tl, &x->q, span, &thread))
		return 0; /* its thread is filtered out */
	return episodes_span(x->c->tl, &q, span, ep) ? 2 : 0;
}

static int add_parent(struct by_span *x, uint32_t row, uint32_t span)
{
	uint32_t p = x->parent[span];
	if (row >= x->nparent_time) {
		size_t n = 2 * (size_t)row + 16;
		uint64_t *v = mem_resize(x->parent_time, n, sizeof(*v));
		if (!v)
			return ERR_NOMEM;
		memset(v + x->nparent_time, 0, (n - x->nparent_time) * sizeof(*v));
		x->parent_time = v;
		x->nparent_time = n;
	}
	uint64_t key = (uint64_t)row << 32 | p;
	uint32_t any;
	if (p == TL_NONE || u64map_get(&x->c->rows->seen, key, &any))
		return 0;
	const struct tl_span *s = &x->c->tl->spans.v[p];
	x->parent_time[row] += s->end_ns - s->start_ns;
	return u64map_put(&x->c->rows->seen, key, 0);
}

static void add_parts(struct rows *rows, uint32_t row, const struct tl_sums *s)
{
	rows_add(rows, row, COL_RUN, s->run);
	rows_add(rows, row, COL_BLOCKED, s->blocked);
	rows_add(rows, row, COL_RUNNABLE, s->runnable);
	rows_add(rows, row, COL_PREEMPTED, s->preempted);
	rows_add(rows, row, COL_INTERRUPTED, s->interrupted);
	rows_add(rows, row, COL_UNKNOWN, s->unknown);
}

static void add_counters(const struct by_span *x, uint32_t row, uint32_t span)
{
	const struct timeline *tl = x->c->tl;
	size_t first, n = timeline_counters_of(tl, span, &first);
	int bounded = 0, scaled = 0;
	for (size_t i = first; i < first + n; i++) {
		const struct tl_counter *c = &tl->counters.v[i];
		if (!x->counter[c->event])
			continue;
		rows_add(x->c->rows, row, x->counter[c->event], c->value);
		bounded |= c->error || c->flags & COUNTER_AT_LEAST;
		scaled |= !!(c->flags & COUNTER_SCALED);
	}
	rows_add(x->c->rows, row, COL_COUNTED, n > 0);
	rows_add(x->c->rows, row, COL_BOUNDED, (uint64_t)bounded);
	rows_add(x->c->rows, row, COL_SCALED, (uint64_t)scaled);
}

/* Is it within another span of its name, which includes its time? */
static int is_recursion(const struct by_span *x, uint32_t span)
{
	const struct tl_span *v = x->c->tl->spans.v;
	uint32_t p = x->parent[span];
	while (p != TL_NONE && v[p].name != v[span].name)
		p = x->parent[p];
	return p != TL_NONE;
}

/* Add a span to the row whose column `about` is `text`. */
static int add(struct by_span *x, uint32_t span, enum column about, uint32_t text)
{
	struct rows *rows = x->c->rows;
	struct episode ep;
	uint32_t row;
	int how = x->c->q->outermost && is_recursion(x, span) ? 0 : select_span(x, span, &ep);
	if (!how)
		return 0;
	uint64_t ns = episode_ns(&ep);
	struct tl_sums sums = {.unknown = ns};
	if (how == 1)
		sums = parts_of(x, span, &ep);
	if (collect_row(x->c, ep.start_ns, text, &row) || add_parent(x, row, span))
		return ERR_NOMEM;
	rows_set(rows, row, about, text);
	rows_add(rows, row, COL_CALLS, 1);
	rows_add(rows, row, COL_TOTAL, ns);
	rows_add(rows, row, COL_OPEN, (ep.flags & OFF_OPEN) != 0);
	rows_add(rows, row, COL_SUSPECT, (ep.flags & OFF_SUSPECT) != 0);
	add_parts(rows, row, &sums);
	add_counters(x, row, span);
	return ep.flags & (OFF_OPEN | OFF_SUSPECT) ? 0 : rows_length(rows, row, ns, 0);
}

static void set_shares(struct by_span *x)
{
	struct rows *rows = x->c->rows;
	for (uint32_t i = 0; i < rows->keys.n && i < x->nparent_time; i++) {
		double of = (double)x->parent_time[i];
		if (of > 0)
			rows_set(rows, i, COL_PARENT_SHARE,
				 (uint64_t)((double)rows_get(rows, i, COL_TOTAL) / of * 1e5 +
					    0.5));
	}
}

int collect_spans(struct collect *c)
{
	struct by_span x;
	int r = begin(&x, c);
	for (uint32_t i = 0; i < c->tl->spans.n && !r; i++)
		r = add(&x, i, COL_NAME, c->tl->spans.v[i].name);
	if (!r)
		set_shares(&x);
	end(&x);
	return r;
}

int collect_labels(struct collect *c)
{
	struct by_span x;
	int r = begin(&x, c);
	for (uint32_t i = 0; i < c->tl->spans.n && !r; i++) {
		uint32_t value = timeline_label(c->tl, i, c->q->label);
		if (value)
			r = add(&x, i, COL_VALUE, value);
	}
	if (!r)
		set_shares(&x);
	end(&x);
	return r;
}

/* --- functions ------------------------------------------------------------------------ */

/* Names X for which an event X__return was recorded, in any group, and calls of side files. */
static int find_functions(struct by_span *x)
{
	static const char tail[] = "__return";
	const struct strtab *s = &x->c->tl->stacks->strings;
	const struct timeline *tl = x->c->tl;
	x->is_function = mem_zalloc(strtab_count(s) + 1, 1);
	if (!x->is_function)
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->spans.n; i++)
		if (tl->spans.v[i].flags & SPAN_CALL)
			x->is_function[tl->spans.v[i].name] = 1;
	for (size_t i = 0; i < tl->events.n; i++) {
		const char *name = strtab_get(s, tl->events.v[i].name);
		const char *colon = strchr(name, ':');
		size_t n = strlen(name);
		struct buf b = {0};
		uint32_t id;
		if (n < sizeof(tail) || strcmp(name + n - (sizeof(tail) - 1), tail) != 0)
			continue;
		buf_add(&b, name, n - (sizeof(tail) - 1));
		const char *whole = buf_cstr(&b);
		if (strtab_find(s, whole, &id))
			x->is_function[id] = 1;
		if (colon && strtab_find(s, whole + (colon + 1 - name), &id))
			x->is_function[id] = 1;
		int failed = buf_failed(&b);
		buf_release(&b);
		if (failed)
			return ERR_NOMEM;
	}
	return 0;
}

int table_has_calls(const struct timeline *tl)
{
	struct collect c = {.tl = tl};
	struct by_span x = {.c = &c};
	int found = 0;
	if (tl->spans.n && !find_functions(&x))
		for (uint32_t i = 0; i < tl->spans.n && !found; i++)
			found = x.is_function[tl->spans.v[i].name];
	mem_free(x.is_function);
	return found;
}

static int begin_functions(struct by_span *x, struct collect *c)
{
	int r = begin(x, c);
	r = r ? r : find_functions(x);
	if (r)
		return r;
	for (uint32_t i = 0; i < c->tl->spans.n; i++)
		if (x->is_function[c->tl->spans.v[i].name])
			return 0;
	return err_set(c->e, ERR_REFUSED,
		       "no function was recorded on entry and return: record with "
		       "perfkit record calls FUNCTION");
}

int collect_functions(struct collect *c)
{
	struct by_span x;
	int r = begin_functions(&x, c);
	for (uint32_t i = 0; i < c->tl->spans.n && !r; i++)
		if (x.is_function[c->tl->spans.v[i].name])
			r = add(&x, i, COL_NAME, c->tl->spans.v[i].name);
	if (!r)
		set_shares(&x);
	end(&x);
	return r;
}

/* --- what makes slow requests slow ---------------------------------------------------------
 *
 * A request is a span that is not in another one. Those of one name in order of length:
 *
 *	├──────────┤ as many as the tail, around the median ├──────────┤          ├ tail ┤
 *	                                                                          p99
 *
 * In each, every span counts with its own time: its length less that of the spans directly in
 * it. So the rows of one column add up to the average request.
 */

struct request {
	uint64_t ns;
	uint32_t name, span;
};

enum part { IN_NONE, IN_TAIL, IN_MEDIAN };

struct in_tail {
	struct by_span x;
	VEC(struct request) requests;
	uint8_t *part;   /* by span: enum part of its request */
	uint64_t *inner; /* by span: total of the spans directly in it */
	uint64_t n[3];   /* requests, by part */
};

static int request_order(const void *a, const void *b, void *strings)
{
	const struct request *x = a, *y = b;
	if (x->name != y->name)
		return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

/* Choose the parts of n requests of one name, sorted by length. */
static void choose(struct in_tail *t, const struct request *v, size_t n)
{
	size_t tail = n - (size_t)percentile_rank(n, 99000) + 1, mid = (n - 1) / 2;
	size_t half = tail <= n / 2 ? tail : n / 2;
	size_t from = mid >= half / 2 ? mid - half / 2 : 0;
	for (size_t i = 0; i < half; i++)
		t->part[v[from + i].span] = IN_MEDIAN;
	for (size_t i = 0; i < tail; i++)
		t->part[v[n - 1 - i].span] = IN_TAIL;
}

static int find_requests(struct in_tail *t)
{
	const struct timeline *tl = t->x.c->tl;
	struct episode ep;
	for (uint32_t i = 0; i < tl->spans.n; i++) {
		uint32_t p = t->x.parent[i];
		if (p != TL_NONE) {
			t->inner[p] += tl->spans.v[i].end_ns - tl->spans.v[i].start_ns;
			continue;
		}
		if (!select_span(&t->x, i, &ep) || ep.flags & (OFF_OPEN | OFF_SUSPECT))
			continue;
		struct request r = {episode_ns(&ep), tl->spans.v[i].name, i};
		if (vec_push(&t->requests, r))
			return ERR_NOMEM;
	}
	return 0;
}

static int choose_requests(struct in_tail *t)
{
	const struct strtab *s = &t->x.c->tl->stacks->strings;
	const struct request *v = t->requests.v;
	size_t n = t->requests.n;
	if (!n)
		return err_set(t->x.c->e, ERR_REFUSED, "no request passes the filters");
	qsort_r(t->requests.v, n, sizeof(*t->requests.v), request_order, (void *)s);
	for (size_t i = 0, from = 0; i <= n; i++) {
		if (i < n && v[i].name == v[from].name)
			continue;
		choose(t, v + from, i - from);
		from = i;
	}
	for (size_t i = 0; i < n; i++)
		t->n[t->part[v[i].span]]++;
	return 0;
}

/* Add a span's own time to the row of its name. */
static int add_own(struct in_tail *t, uint32_t span)
{
	const struct tl_span *s = &t->x.c->tl->spans.v[span];
	struct rows *rows = t->x.c->rows;
	uint64_t ns = s->end_ns - s->start_ns;
	uint32_t row, p = t->x.parent[span];
	if (p != TL_NONE)
		t->part[span] = t->part[p]; /* parents precede their children */
	if (!t->part[span])
		return 0;
	ns -= t->inner[span] < ns ? t->inner[span] : ns;
	if (collect_row(t->x.c, t->x.c->base_ns, s->name, &row))
		return ERR_NOMEM;
	rows_set(rows, row, COL_NAME, s->name);
	rows_add(rows, row, t->part[span] == IN_TAIL ? COL_TAIL : COL_MEDIAN, ns);
	rows_add(rows, row, t->part[span] == IN_TAIL ? COL_TAIL_CALLS : COL_CALLS, 1);
	return 0;
}

/* Sums → averages per request. */
static void divide(struct in_tail *t)
{
	struct rows *rows = t->x.c->rows;
	uint64_t of = 0;
	for (uint32_t i = 0; i < rows->keys.n; i++)
		of += rows_get(rows, i, COL_TAIL);
	for (uint32_t i = 0; i < rows->keys.n; i++) {
		uint64_t tail = rows_get(rows, i, COL_TAIL), all = t->n[IN_TAIL];
		uint64_t median = rows_get(rows, i, COL_MEDIAN), mid = t->n[IN_MEDIAN];
		if (of)
			rows_set(rows, i, COL_SHARE,
				 (uint64_t)((double)tail / (double)of * 1e5 + 0.5));
		tail = all ? tail / all : 0;
		median = mid ? median / mid : 0;
		rows_set(rows, i, COL_TAIL, tail);
		rows_set(rows, i, COL_MEDIAN, median);
		rows_set(rows, i, COL_MORE, tail - median);
	}
}

int collect_in_tail(struct collect *c)
{
	struct in_tail t = {.n = {0}};
	size_t n = c->tl->spans.n;
	int r = begin(&t.x, c);
	t.part = mem_zalloc(n + 1, sizeof(*t.part));
	t.inner = mem_zalloc(n + 1, sizeof(*t.inner));
	if (!r && !(t.part && t.inner))
		r = ERR_NOMEM;
	r = r ? r : find_requests(&t);
	r = r ? r : choose_requests(&t);
	for (uint32_t i = 0; i < n && !r; i++)
		r = add_own(&t, i);
	if (!r)
		divide(&t);
	end(&t.x);
	mem_free(t.part);
	mem_free(t.inner);
	vec_release(&t.requests);
	return r;
}
