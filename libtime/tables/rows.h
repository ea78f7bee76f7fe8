/*
 * rows.h - the rows of a table, while they are summed up and as finished data: the answer of
 * `report --by WHAT` before it becomes text.
 *
 *	rows_init(&r, kind, 0);
 *	for (each wait, span ...) {
 *		rows_row(&r, window, key, &row);       // added if the key is new
 *		rows_add(&r, row, COL_TOTAL, ns);
 *		rows_length(&r, row, ns, open);        // for percentiles and the maximum
 *	}
 *	rows_finish(&r);                               // percentiles, maxima, averages
 *	rows_sort(&r, strings, column, down);
 *	for (i < r.order.n) rows_get(&r, r.order.v[i], COL_TOTAL) ...
 */
#ifndef LIBTIME_TABLES_ROWS_H
#define LIBTIME_TABLES_ROWS_H

#include "base/bigvec.h"
#include "base/radix.h"
#include "libtime/sched/timeline.h"

/* The content of a cell. */
enum cell {
	CELL_TEXT,    /* strings id */
	CELL_NAME,    /* id of rows.names */
	CELL_THREAD,  /* index of timeline.threads */
	CELL_ACTOR,   /* the same, or one of ACTOR_... */
	CELL_SITE,    /* index of timeline.sites */
	CELL_VERDICT, /* enum site_verdict */
	CELL_REASON,  /* enum site_reason */
	CELL_ADDRESS,
	CELL_COUNT,
	CELL_NS,
	CELL_CHANGE, /* ns, as int64_t */
	CELL_SHARE,  /* thousandths of a percent */
	CELL_TIME,   /* ns on the recording's clock */
};

#define CELL_NONE UINT64_MAX /* unknown, or none */
/* Actors other than threads; the low half says which. */
#define ACTOR_CONTEXT (1ull << 32) /* enum waker_context */
#define ACTOR_NAMED (1ull << 33)   /* a strings id: an interrupt */
#define ACTOR_GAP (1ull << 34)     /* enum gap_part_kind */

enum column {
	COL_TIME, /* start of the row's window (--every) */
	COL_THREAD,
	COL_WAKER,
	COL_SITE,
	COL_NAME,
	COL_FUNCTION,
	COL_MODULE,
	COL_PROCESS,
	COL_PROGRAM,
	COL_ADDRESS,
	COL_LOCK,
	COL_VALUE,
	COL_CGROUP,
	COL_INTERRUPT,
	COL_TAKER,
	COL_DISK,
	COL_OPERATION,
	COL_CPU,
	COL_RUN,
	COL_IDLE,
	COL_UNCLEAR,
	COL_BLOCKED,
	COL_RUNNABLE,
	COL_PREEMPTED,
	COL_INTERRUPTED,
	COL_UNKNOWN,
	COL_WAITING, /* blocked, unclear and runnable */
	COL_WAITS,
	COL_STACKS, /* waits with a stack */
	COL_CALLS,
	COL_COUNT,
	COL_GAPS,
	COL_BYTES,
	COL_SAMPLES,
	COL_OPEN,
	COL_SUSPECT,
	COL_IDLE_WAITS,
	COL_QUEUED,
	COL_QUEUED_MAX,
	COL_SERVED,
	COL_SELF,
	COL_SELF_COUNT,
	COL_SELF_SHARE,
	COL_TOTAL,
	COL_TOTAL_COUNT,
	COL_TOTAL_SHARE,
	COL_AVERAGE,
	COL_P50,
	COL_P90,
	COL_P99,
	COL_P999,
	COL_P9999,
	COL_MAX,
	COL_MAX_OPEN, /* 1: the longest was cut, so it lasted longer */
	COL_SHARE,
	COL_PARENT_SHARE,
	COL_OPTION, /* that asks about the row alone */
	COL_VERDICT,
	COL_REASON,
	COL_WAITERS,
	COL_HOLDS,
	COL_HOLDER,
	COL_HOLDER_TIME,
	COL_THREADS,
	COL_CPUS,
	COL_FROM_THREADS, /* time taken from threads, not from the idle task */
	COL_TAIL,
	COL_MEDIAN,
	COL_MORE,
	COL_TAIL_CALLS,
	COL_QUOTA,     /* of one CPU */
	COL_THROTTLED, /* periods in which the quota was used up */
	COL_CONTROL,   /* 1: a CPU that should be idle */
	COL_COUNTED,   /* calls whose counters were read */
	COL_BOUNDED,   /* … of these, only with lower bounds */
	COL_SCALED,    /* … of these, counted part of the time */
	COL_COUNTER,   /* the first of ROW_COUNTERS: rows.counters */
	COL_COUNTER_LAST = COL_COUNTER + 15,
	COLUMNS,
};

struct column_info {
	const char *name; /* in CSV, JSON and --sort: "total_ns" */
	const char *head; /* its title in text: "total" */
	enum cell cell;
};

/* The name of an actor other than a thread: "hardirq", "local_timer", "unexplained". */
const char *actor_name(const struct timeline *tl, uint64_t actor);

/* Whether a column is in the text; CSV and JSON have them all. */
enum in_text {
	TEXT_ALWAYS,
	TEXT_NEVER,
	TEXT_IF_ANY, /* unless it is 0 in all rows */
};

/* A column of a table. */
struct table_column_of {
	enum column column;
	uint8_t drop; /* if the text is too wide, 1 is dropped first; 0: never */
	uint8_t text; /* enum in_text */
};

enum { TABLE_KIND_COLUMNS = 24, ROW_COUNTERS = 16 };

struct collect;

/* A kind of table. */
struct table_kind {
	const char *name;       /* of --by; "label:" stands for any label */
	const char *help;       /* a few words */
	const char *one, *many; /* "thread", "threads" */
	enum column sort, then; /* default order: descending */
	struct table_column_of columns[TABLE_KIND_COLUMNS]; /* up to COL_TIME */
	int (*collect)(struct collect *c);                  /* NULL: not from a timeline */
};

struct rows {
	const struct table_kind *kind;
	struct table_column_of columns[TABLE_KIND_COLUMNS + ROW_COUNTERS + 4];
	size_t ncolumns;
	struct column_info counters[ROW_COUNTERS]; /* of COL_COUNTER and the next ones */
	size_t ncounters;
	uint8_t slot[COLUMNS]; /* column → place in a row; ncolumns: not in it */
	struct strtab names;   /* texts that the timeline does not have */
	VEC(uint64_t) cells;   /* row by row, ncolumns each */
	VEC(struct row_key {
		uint64_t key;
		uint32_t window;
		uint8_t hidden;
	})
	keys;
	struct idmap index;
	BIGVEC(struct radix_key) lengths; /* ns, row; until rows_finish */
	size_t finished;                  /* rows by the last rows_finish */
	uint32_t last;                    /* of rows_row */
	struct u64map seen;               /* of rows_distinct */
	VEC(uint32_t) order;              /* the rows to show; of rows_sort */
	uint64_t hidden;                  /* number of system threads left out */
};

/* A column's names and content; never NULL. */
const struct column_info *rows_info(const struct rows *r, enum column c);

/* Add a column for the counter of an event (borrowed), and the columns that say how certain
 * counters are, before any row. Returns the column; 0 past ROW_COUNTERS. */
enum column rows_add_counter(struct rows *r, const char *event);

/* Initialize for a kind of table; `timed`: the first column is the window. */
void rows_init(struct rows *r, const struct table_kind *kind, int timed);
void rows_release(struct rows *r);

/* 1 if the last rows_row was of that key: `last` is its row. */
static inline int rows_is_last(const struct rows *r, uint32_t window, uint64_t key)
{
	return r->last < r->keys.n && r->keys.v[r->last].key == key &&
	       r->keys.v[r->last].window == window;
}

/* Used by rows_row only. */
int rows_find_(struct rows *r, uint32_t window, uint64_t key, uint32_t *row);

/* The row of a key in a window (0 without --every), added if it is new. ERR_NOMEM. */
static inline int rows_row(struct rows *r, uint32_t window, uint64_t key, uint32_t *row)
{
	/* mostly the row of the last call, since a thread's intervals follow each other */
	*row = r->last;
	return rows_is_last(r, window, key) ? 0 : rows_find_(r, window, key, row);
}

/* A cell. Columns that the table does not have are CELL_NONE, and setting them does nothing. */
uint64_t rows_get(const struct rows *r, uint32_t row, enum column c);

static inline uint64_t *rows_cell(struct rows *r, uint32_t row, enum column c)
{
	size_t n = r->ncolumns;
	return r->slot[c] < n ? &r->cells.v[row * n + r->slot[c]] : NULL;
}

static inline void rows_set(struct rows *r, uint32_t row, enum column c, uint64_t value)
{
	uint64_t *x = rows_cell(r, row, c);
	if (x)
		*x = value;
}

static inline void rows_add(struct rows *r, uint32_t row, enum column c, uint64_t more)
{
	uint64_t *x = rows_cell(r, row, c);
	if (x)
		*x = *x == CELL_NONE ? more : *x + more;
}

/* A cell of CELL_NAME. ERR_NOMEM. */
int rows_name(struct rows *r, uint32_t row, enum column c, const char *text);

/* Count `value` in column c if it is the row's first of it; one such column a table. ERR_NOMEM.
 */
int rows_distinct(struct rows *r, uint32_t row, enum column c, uint32_t value);

/* Add a length to the row's percentiles, maximum and average; `open`: it lasted longer.
 * ERR_NOMEM. */
int rows_length(struct rows *r, uint32_t row, uint64_t ns, int open);

/* Compute percentiles (nearest rank) and averages of the rows added since the last call, to which
 * no lengths may be added later. Call it after all rows, or after each while its lengths are in
 * the CPU's cache. ERR_NOMEM. */
int rows_finish(struct rows *r);

/* Add the rows of another table of this kind, which is finished; none are in both. ERR_NOMEM.
 */
int rows_append(struct rows *r, const struct rows *more);

/* A condition that rows must meet to be shown. */
struct row_filter {
	enum column column;
	enum { FILTER_EQUAL, FILTER_OTHER, FILTER_LESS, FILTER_MORE } how;
	int or_equal;     /* of LESS and MORE */
	uint64_t value;   /* numbers */
	const char *text; /* texts, including names of threads and sites */
};

/* Put the rows that are not hidden and pass all n filters into r->order. ERR_NOMEM. */
int rows_filter(struct rows *r, const struct timeline *tl, const struct row_filter *f,
		size_t n);

/* Sort r->order by window, then by the column (numbers descending, texts ascending; `reverse`:
 * the other way), then by the kind's second column, then in the order of addition. */
void rows_sort(struct rows *r, const struct timeline *tl, enum column by, int reverse);

/* 1 if all counts and times of a row are 0 or unknown. */
int rows_is_empty(const struct rows *r, uint32_t row);

/* The text by which a cell with a text, thread or site is compared; "" for others. */
const char *rows_text(const struct rows *r, const struct timeline *tl, uint32_t row,
		      enum column c);

#endif
