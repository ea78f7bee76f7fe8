#include "libtime/tables/rows.h"
#include "libtime/explain/gap_parts.h"
#include "base/check.h"
#include "base/mem.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

static const struct column_info *column_info(enum column c)
{
	static const struct column_info infos[] = {
		[COL_TIME] = {"time_ns", "from", CELL_TIME},
		[COL_THREAD] = {"thread", "thread", CELL_THREAD},
		[COL_WAKER] = {"waker", "waker", CELL_ACTOR},
		[COL_SITE] = {"site", "site", CELL_SITE},
		[COL_NAME] = {"name", "name", CELL_TEXT},
		[COL_FUNCTION] = {"function", "function", CELL_NAME},
		[COL_MODULE] = {"module", "module", CELL_NAME},
		[COL_PROCESS] = {"process", "process", CELL_TEXT},
		[COL_PROGRAM] = {"program", "program", CELL_TEXT},
		[COL_ADDRESS] = {"address", "address", CELL_ADDRESS},
		[COL_LOCK] = {"lock", "lock", CELL_TEXT},
		[COL_VALUE] = {"value", "value", CELL_TEXT},
		[COL_CGROUP] = {"cgroup", "cgroup", CELL_TEXT},
		[COL_INTERRUPT] = {"interrupt", "interrupt", CELL_TEXT},
		[COL_TAKER] = {"taker", "who had the CPU", CELL_ACTOR},
		[COL_DISK] = {"disk", "disk", CELL_NAME},
		[COL_OPERATION] = {"operation", "operation", CELL_NAME},
		[COL_CPU] = {"cpu", "CPU", CELL_COUNT},
		[COL_RUN] = {"run_ns", "running", CELL_NS},
		[COL_IDLE] = {"idle_ns", "at rest", CELL_NS},
		[COL_UNCLEAR] = {"unclear_ns", "unclear", CELL_NS},
		[COL_BLOCKED] = {"blocked_ns", "blocked", CELL_NS},
		[COL_RUNNABLE] = {"runnable_ns", "runnable", CELL_NS},
		[COL_PREEMPTED] = {"preempted_ns", "preempted", CELL_NS},
		[COL_INTERRUPTED] = {"interrupted_ns", "interrupted", CELL_NS},
		[COL_UNKNOWN] = {"unknown_ns", "unknown", CELL_NS},
		[COL_WAITING] = {"waiting_ns", "waiting", CELL_NS},
		[COL_WAITS] = {"waits", "waits", CELL_COUNT},
		[COL_STACKS] = {"with_stack", "with stack", CELL_COUNT},
		[COL_CALLS] = {"calls", "calls", CELL_COUNT},
		[COL_COUNT] = {"count", "count", CELL_COUNT},
		[COL_GAPS] = {"gaps", "gaps", CELL_COUNT},
		[COL_BYTES] = {"bytes", "bytes", CELL_COUNT},
		[COL_SAMPLES] = {"samples", "samples", CELL_COUNT},
		[COL_OPEN] = {"open", "open", CELL_COUNT},
		[COL_SUSPECT] = {"suspect", "suspect", CELL_COUNT},
		[COL_IDLE_WAITS] = {"idle_waits", "waits at rest", CELL_COUNT},
		[COL_QUEUED] = {"queued_ns", "queued", CELL_NS},
		[COL_QUEUED_MAX] = {"queued_max_ns", "queued max", CELL_NS},
		[COL_SERVED] = {"served_ns", "served", CELL_NS},
		[COL_SELF] = {"self_ns", "self", CELL_NS},
		[COL_SELF_COUNT] = {"self", "self", CELL_COUNT},
		[COL_SELF_SHARE] = {"self_percent", "self %", CELL_SHARE},
		[COL_TOTAL_COUNT] = {"total", "total", CELL_COUNT},
		[COL_TOTAL_SHARE] = {"total_percent", "total %", CELL_SHARE},
		[COL_TOTAL] = {"total_ns", "total", CELL_NS},
		[COL_AVERAGE] = {"average_ns", "average", CELL_NS},
		[COL_P50] = {"p50_ns", "p50", CELL_NS},
		[COL_P90] = {"p90_ns", "p90", CELL_NS},
		[COL_P99] = {"p99_ns", "p99", CELL_NS},
		[COL_P999] = {"p999_ns", "p99.9", CELL_NS},
		[COL_P9999] = {"p9999_ns", "p99.99", CELL_NS},
		[COL_MAX] = {"max_ns", "max", CELL_NS},
		[COL_MAX_OPEN] = {"max_open", "max open", CELL_COUNT},
		[COL_SHARE] = {"share_percent", "share", CELL_SHARE},
		[COL_PARENT_SHARE] = {"parent_percent", "of parent", CELL_SHARE},
		[COL_OPTION] = {"option", "option", CELL_NAME},
		[COL_VERDICT] = {"verdict", "verdict", CELL_VERDICT},
		[COL_REASON] = {"reason", "reason", CELL_REASON},
		[COL_WAITERS] = {"waiters", "waiters", CELL_COUNT},
		[COL_HOLDS] = {"holds", "holds", CELL_COUNT},
		[COL_HOLDER] = {"holder", "worst holder", CELL_THREAD},
		[COL_HOLDER_TIME] = {"holder_ns", "held", CELL_NS},
		[COL_THREADS] = {"threads", "threads", CELL_COUNT},
		[COL_CPUS] = {"cpus", "CPUs", CELL_COUNT},
		[COL_FROM_THREADS] = {"from_threads_ns", "from threads", CELL_NS},
		[COL_TAIL] = {"tail_ns", "in tail", CELL_NS},
		[COL_MEDIAN] = {"median_ns", "in median", CELL_NS},
		[COL_MORE] = {"more_ns", "more", CELL_CHANGE},
		[COL_TAIL_CALLS] = {"tail_calls", "tail calls", CELL_COUNT},
		[COL_QUOTA] = {"quota_percent", "CPU quota", CELL_SHARE},
		[COL_THROTTLED] = {"throttled_periods", "throttled", CELL_COUNT},
		[COL_CONTROL] = {"control", "control", CELL_COUNT},
		[COL_COUNTED] = {"counted_calls", "counted", CELL_COUNT},
		[COL_BOUNDED] = {"bounded_calls", "bounded", CELL_COUNT},
		[COL_SCALED] = {"scaled_calls", "scaled", CELL_COUNT},
		[COL_COUNTER_LAST] = {"counter", "counter", CELL_COUNT},
	};
	ENTRIES(infos, COLUMNS);
	return &infos[c];
}

const struct column_info *rows_info(const struct rows *r, enum column c)
{
	return c >= COL_COUNTER && c < COL_COUNTER + r->ncounters
		       ? &r->counters[c - COL_COUNTER]
		       : column_info(c);
}

static void add_column(struct rows *r, enum column c, uint8_t drop, uint8_t data)
{
	if (r->slot[c] < r->ncolumns)
		return;
	for (size_t i = 0; i < COLUMNS; i++) /* "none" is now one higher */
		r->slot[i] += r->slot[i] == r->ncolumns;
	r->slot[c] = (uint8_t)r->ncolumns;
	r->columns[r->ncolumns++] = (struct table_column_of){c, drop, data};
}

enum column rows_add_counter(struct rows *r, const char *event)
{
	size_t n = r->ncounters;
	if (n >= ROW_COUNTERS)
		return 0;
	enum cell cell = counter_is_time(event) ? CELL_NS : CELL_COUNT;
	r->counters[n] = (struct column_info){event, event, cell};
	add_column(r, COL_COUNTER + (enum column)n, 0, 0);
	r->ncounters++;
	if (n)
		return COL_COUNTER + (enum column)n;
	add_column(r, COL_COUNTED, 0, 1);
	add_column(r, COL_BOUNDED, 0, 1);
	add_column(r, COL_SCALED, 0, 1);
	return COL_COUNTER;
}

/* --- cells ---------------------------------------------------------------------------- */

void rows_init(struct rows *r, const struct table_kind *kind, int timed)
{
	*r = (struct rows){.kind = kind, .ncolumns = timed != 0};
	for (size_t i = 0; i < TABLE_KIND_COLUMNS && kind->columns[i].column; i++)
		if (r->ncolumns < TABLE_KIND_COLUMNS)
			r->columns[r->ncolumns++] = kind->columns[i];
	memset(r->slot, (int)r->ncolumns, sizeof(r->slot));
	for (size_t i = 0; i < r->ncolumns; i++)
		r->slot[r->columns[i].column] = (uint8_t)i;
}

void rows_release(struct rows *r)
{
	strtab_release(&r->names);
	vec_release(&r->cells);
	vec_release(&r->keys);
	idmap_release(&r->index);
	bigvec_release(&r->lengths);
	u64map_release(&r->seen);
	vec_release(&r->order);
}

uint64_t rows_get(const struct rows *r, uint32_t row, enum column c)
{
	size_t n = r->ncolumns;
	return r->slot[c] < n ? r->cells.v[row * n + r->slot[c]] : CELL_NONE;
}

int rows_name(struct rows *r, uint32_t row, enum column c, const char *text)
{
	uint32_t id;
	if (strtab_intern(&r->names, text, &id))
		return ERR_NOMEM;
	rows_set(r, row, c, id);
	return 0;
}

/* Cells that are unknown until rows_finish, or remain so. */
static int starts_unknown(enum column c)
{
	return (c >= COL_AVERAGE && c <= COL_MAX) || c == COL_ADDRESS || c == COL_HOLDER ||
	       c == COL_HOLDER_TIME || c == COL_SHARE || c == COL_PARENT_SHARE ||
	       c == COL_QUEUED || c == COL_QUEUED_MAX;
}

static int new_row(struct rows *r, uint32_t window, uint64_t key, uint64_t hash, uint32_t *row)
{
	size_t n = r->ncolumns;
	*row = (uint32_t)r->keys.n;
	if (r->keys.n >= TL_NONE || vec_reserve(&r->cells, n) ||
	    vec_push(&r->keys, ((struct row_key){.key = key, .window = window})) ||
	    idmap_put(&r->index, hash, *row))
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		r->cells.v[r->cells.n++] = starts_unknown(r->columns[i].column) ? CELL_NONE : 0;
	return 0;
}

static uint64_t hash_row(uint32_t window, uint64_t key)
{
	return hash_u64(hash_u64(key) ^ window);
}

static int is_row(const struct rows *r, uint32_t row, uint32_t window, uint64_t key)
{
	return r->keys.v[row].key == key && r->keys.v[row].window == window;
}

int rows_find_(struct rows *r, uint32_t window, uint64_t key, uint32_t *row)
{
	size_t at = 0;
	uint64_t h = hash_row(window, key);
	int met = 0;
	while (!met && idmap_next(&r->index, h, &at, row))
		met = is_row(r, *row, window, key);
	if (!met && new_row(r, window, key, h, row))
		return ERR_NOMEM;
	r->last = *row;
	return 0;
}

int rows_distinct(struct rows *r, uint32_t row, enum column c, uint32_t value)
{
	uint64_t key = (uint64_t)row << 32 | value;
	uint32_t any;
	if (u64map_get(&r->seen, key, &any))
		return 0;
	rows_add(r, row, c, 1);
	return u64map_put(&r->seen, key, 0);
}

/* --- lengths -------------------------------------------------------------------------- */

int rows_length(struct rows *r, uint32_t row, uint64_t ns, int open)
{
	uint64_t *max = rows_cell(r, row, COL_MAX);
	if (max && (*max == CELL_NONE || ns > *max)) {
		*max = ns;
		rows_set(r, row, COL_MAX_OPEN, open != 0);
	}
	return bigvec_push(&r->lengths, ((struct radix_key){ns, row}), NULL) ? ERR_NOMEM : 0;
}

static const struct {
	enum column column;
	uint32_t millipercent;
} percentiles[] = {{COL_P50, 50000},
		   {COL_P90, 90000},
		   {COL_P99, 99000},
		   {COL_P999, 99900},
		   {COL_P9999, 99990}};

/* Nearest rank: the ⌈n·p⌉-th of n, from 1 on. */
static uint64_t rank_of(uint64_t n, uint32_t millipercent)
{
	return n / 100000 * millipercent + (n % 100000 * millipercent + 99999) / 100000;
}

enum { PERCENTILES = sizeof(percentiles) / sizeof(*percentiles) };

struct of_row {
	uint64_t n, seen, sum;
	uint64_t rank; /* of percentile `next` */
	size_t next;
};

static void next_percentile(struct of_row *x, size_t next)
{
	x->next = next;
	x->rank = next < PERCENTILES ? rank_of(x->n, percentiles[next].millipercent) : 0;
}

/* The next length of a row, in ascending order. */
static void next_length(struct rows *r, uint32_t row, uint64_t ns, struct of_row *x)
{
	if (!x->seen++)
		next_percentile(x, 0);
	x->sum += ns;
	for (; x->rank == x->seen; next_percentile(x, x->next + 1))
		rows_set(r, row, percentiles[x->next].column, ns);
	if (x->seen == x->n)
		rows_set(r, row, COL_AVERAGE, x->sum / x->n);
}

int rows_finish(struct rows *r)
{
	size_t n = r->lengths.n, first = r->finished;
	struct radix_key *other = mem_alloc_large((n + 1) * sizeof(*other));
	struct of_row *of = mem_zalloc(r->keys.n - first + 1, sizeof(*of));
	int rc = other && of ? 0 : ERR_NOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		of[r->lengths.v[i].at - first].n++;
	const struct radix_key *v = rc || !n ? NULL : radix_sort(r->lengths.v, other, n);
	for (size_t i = 0; v && i < n; i++)
		next_length(r, (uint32_t)v[i].at, v[i].key, &of[v[i].at - first]);
	mem_free(other);
	mem_free(of);
	r->lengths.n = 0;
	r->finished = r->keys.n;
	return rc;
}

int rows_append(struct rows *r, const struct rows *more)
{
	size_t n = r->ncolumns;
	for (size_t i = 0; i < more->keys.n; i++) {
		const struct row_key *k = &more->keys.v[i];
		uint32_t row;
		if (new_row(r, k->window, k->key, hash_row(k->window, k->key), &row))
			return ERR_NOMEM;
		r->keys.v[row].hidden = k->hidden;
		memcpy(&r->cells.v[row * n], &more->cells.v[i * n], n * sizeof(*r->cells.v));
	}
	r->hidden += more->hidden;
	return 0;
}

/* --- order ---------------------------------------------------------------------------- */

const char *actor_name(const struct timeline *tl, uint64_t actor)
{
	if (actor & ACTOR_NAMED)
		return strtab_get(&tl->stacks->strings, (uint32_t)actor);
	return actor & ACTOR_GAP ? gap_part_kind_name((unsigned)actor)
				 : waker_context_name((unsigned)actor);
}

const char *rows_text(const struct rows *r, const struct timeline *tl, uint32_t row,
		      enum column c)
{
	const struct strtab *s = &tl->stacks->strings;
	uint64_t v = rows_get(r, row, c);
	if (v == CELL_NONE)
		return "";
	switch (rows_info(r, c)->cell) {
	case CELL_TEXT:
		return strtab_get(s, (uint32_t)v);
	case CELL_NAME:
		return strtab_get(&r->names, (uint32_t)v);
	case CELL_ACTOR:
		if (v >> 32)
			return actor_name(tl, v);
		return strtab_get(s, tl->threads.v[v].comm);
	case CELL_THREAD:
		return strtab_get(s, tl->threads.v[v].comm);
	case CELL_SITE:
		return strtab_get(s, timeline_site(tl, (uint32_t)v)->role);
	case CELL_VERDICT:
		return site_verdict_name((unsigned)v);
	case CELL_REASON:
		return site_reason_name((unsigned)v);
	default:
		return "";
	}
}

static int is_text(enum column c)
{
	return column_info(c)->cell <= CELL_REASON;
}

static int passes(const struct rows *r, const struct timeline *tl, uint32_t row,
		  const struct row_filter *f)
{
	uint64_t v = rows_get(r, row, f->column);
	int order;
	if (is_text(f->column))
		order = strcmp(rows_text(r, tl, row, f->column), f->text ? f->text : "");
	else if (v == CELL_NONE)
		return f->how == FILTER_OTHER;
	else if (rows_info(r, f->column)->cell == CELL_CHANGE)
		order = (int64_t)v < (int64_t)f->value ? -1 : (int64_t)v > (int64_t)f->value;
	else
		order = v < f->value ? -1 : v > f->value;
	switch (f->how) {
	case FILTER_EQUAL:
		return !order;
	case FILTER_OTHER:
		return order != 0;
	case FILTER_LESS:
		return order < 0 || (!order && f->or_equal);
	default:
		return order > 0 || (!order && f->or_equal);
	}
}

int rows_filter(struct rows *r, const struct timeline *tl, const struct row_filter *f, size_t n)
{
	for (uint32_t i = 0; i < r->keys.n; i++) {
		int stays = !r->keys.v[i].hidden;
		for (size_t k = 0; k < n && stays; k++)
			stays = passes(r, tl, i, &f[k]);
		if (stays && vec_push(&r->order, i))
			return ERR_NOMEM;
	}
	return 0;
}

int rows_is_empty(const struct rows *r, uint32_t row)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		uint64_t v = rows_get(r, row, r->columns[i].column);
		enum cell cell = rows_info(r, r->columns[i].column)->cell;
		if (cell >= CELL_COUNT && cell <= CELL_CHANGE && v && v != CELL_NONE)
			return 0;
	}
	return 1;
}

struct sorting {
	const struct rows *r;
	const struct timeline *tl;
	enum column by;
	int reverse;
};

/* Numbers in descending order, unknown ones last; texts in ascending order. */
static int cell_order(const struct sorting *s, uint32_t x, uint32_t y, enum column c)
{
	uint64_t a = rows_get(s->r, x, c), b = rows_get(s->r, y, c);
	if (a == b || is_text(c))
		return a == b ? 0
			      : strcmp(rows_text(s->r, s->tl, x, c),
				       rows_text(s->r, s->tl, y, c));
	if (a == CELL_NONE || b == CELL_NONE)
		return a == CELL_NONE ? 1 : -1;
	if (rows_info(s->r, c)->cell == CELL_CHANGE)
		return (int64_t)a > (int64_t)b ? -1 : 1;
	return a > b ? -1 : 1;
}

static int row_order(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t wx = s->r->keys.v[x].window, wy = s->r->keys.v[y].window;
	if (wx != wy)
		return wx < wy ? -1 : 1;
	int order = cell_order(s, x, y, s->by);
	if (order)
		return s->reverse ? -order : order;
	order = cell_order(s, x, y, s->r->kind->then);
	/* stacks have no defined order, so functions have none of addition */
	order = order ? order : cell_order(s, x, y, COL_FUNCTION);
	order = order ? order : cell_order(s, x, y, COL_MODULE);
	return order ? order : x < y ? -1 : x > y;
}

void rows_sort(struct rows *r, const struct timeline *tl, enum column by, int reverse)
{
	struct sorting s = {r, tl, by, reverse};
	if (r->order.n)
		qsort_r(r->order.v, r->order.n, sizeof(*r->order.v), row_order, &s);
}
