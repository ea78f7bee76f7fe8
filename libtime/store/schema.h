/*
 * schema.h - the tables of a store, declared once: each column's name, kind, unit and meaning.
 *
 * CREATE TABLE, the writer, the reader and docs/schema.md (make schema) come from here; writers
 * of other formats use it, too. A column declares where its value is in the row's struct, and
 * its kind says how it is stored. A new column is one line in schema.c, plus its field.
 *
 *	const struct table *t = &store_tables[TABLE_SPANS];
 *	for (size_t i = 0; i < t->n; i++) ... t->columns[i].name, .unit, .meaning ...
 */
#ifndef LIBTIME_STORE_SCHEMA_H
#define LIBTIME_STORE_SCHEMA_H

#include "base/text/buf.h"
#include "libtime/explain/chain.h"
#include "libtime/explain/worst.h"

/* The type of a field, and which of its values is NULL. Ids of the model become row ids. */
enum column_kind {
	/* columns of the table, without a field */
	COLUMN_ID,        /* the row's key: counts from 1 over all recordings */
	COLUMN_RECORDING, /* → recordings */
	COLUMN_FIRST_OFF, /* uint32_t index of timeline.offcpu → offcpu_rows; never read */
	COLUMN_FIRST,     /* id of the recording's first row in the table `arg`; never read */
	/* numbers */
	COLUMN_U64,         /* larger values are stored as 2^63 - 1 */
	COLUMN_U64_OR_0,    /* the same, NULL for 0 */
	COLUMN_TIME_OR_MAX, /* a time; NULL, read as UINT64_MAX, past 2^63 - 1 */
	COLUMN_BITS,        /* any uint64_t, as a signed number */
	COLUMN_OFFSET, /* the same for frames of kind FRAME_OFFSET, else NULL; flat tables only
			*/
	COLUMN_LENGTH, /* uint64_t end of what starts at field `arg`: stored as a length */
	COLUMN_I32,
	COLUMN_I32_OR_NEGATIVE, /* NULL below 0 */
	COLUMN_I16_OR_NEGATIVE,
	COLUMN_U32,
	COLUMN_U32_OR_0,
	COLUMN_U8,   /* 0 or 1 */
	COLUMN_CPU,  /* uint16_t, NULL for TL_NOCPU */
	COLUMN_BIT8, /* the bits `arg` of a uint8_t, as 0 or 1 */
	COLUMN_BIT32,
	/* texts */
	COLUMN_TEXT, /* a strings id */
	COLUMN_LINE, /* the same, of a text that is not cut; NULL if empty */
	COLUMN_TEXT_OR_EMPTY,
	COLUMN_WORD,     /* uint8_t of the enumeration `word`; NULL for "" */
	COLUMN_BUILD_ID, /* a strings id of a DSO: its build-id; NULL if not known */
	COLUMN_FUNCTION, /* a frame: its name; NULL for none */
	COLUMN_STACK,    /* of a call path: folded text; NULL if no row has that stack */
	COLUMN_IN,       /* of a call path: the application's function; NULL likewise. These
			  * four are of flat tables only */
	COLUMN_STATE,    /* index of timeline.states */
	COLUMN_SYSCALL,  /* index of timeline.syscalls */
	COLUMN_VARIABLE, /* index of timeline.args: its variable, NULL for "" */
	COLUMN_ARG,      /* index of timeline.args, NULL for 0 */
	COLUMN_BLOB,     /* a struct store_bytes (store.h); NULL for none. Not of flat tables */
	/* references: NULL for none */
	COLUMN_COMM,       /* a strings id → comms */
	COLUMN_DSO,        /* a strings id → dsos */
	COLUMN_FILE,       /* a strings id → files */
	COLUMN_SYMBOL,     /* a strings id, of the DSO at `arg` → symbols */
	COLUMN_EVENT,      /* uint16_t → selected_events */
	COLUMN_THREAD,     /* → threads; TL_NONE */
	COLUMN_THREAD_KEY, /* the same, never NULL */
	COLUMN_FRAME,      /* → frames */
	COLUMN_PATH,       /* → call_paths */
	COLUMN_FOLDED,     /* → folded_paths */
	COLUMN_SITE,       /* → sites */
	COLUMN_SPAN,       /* → spans; TL_NONE */
	COLUMN_SPAN_KEY,
	COLUMN_KIND,    /* → offcpu_kinds, never NULL */
	COLUMN_TASK,    /* → sample_tasks, never NULL */
	COLUMN_SUM,     /* → sample_sums, never NULL */
	COLUMN_FINDING, /* → findings, never NULL */
	COLUMN_KINDS,
};

struct column {
	const char *name;
	enum column_kind kind;
	uint32_t at;  /* offset of the field */
	uint32_t arg; /* see enum column_kind */
	const char *(*word)(unsigned int);
	unsigned int words;
	const char *unit; /* "ns"; "" for none */
	const char *meaning;
};

enum store_table {
	TABLE_RECORDINGS,
	TABLE_COMMS,
	TABLE_THREADS,
	TABLE_EVENTS,
	TABLE_DSOS,
	TABLE_SYMBOLS,
	TABLE_FILES,
	TABLE_FRAMES,
	TABLE_CALL_PATHS,
	TABLE_WAIT_FRAMES,
	TABLE_SITES,
	TABLE_KINDS,
	TABLE_OFFCPU,
	TABLE_TOTALS,
	TABLE_TASKS,
	TABLE_SUMS,
	TABLE_SAMPLES,
	TABLE_EVENT_SAMPLES,
	TABLE_FOLDED_PATHS,
	TABLE_FOLDED_SUMS,
	TABLE_SPANS,
	TABLE_LABELS,
	TABLE_COUNTERS,
	TABLE_TRAMPOLINES,
	TABLE_BINDINGS,
	TABLE_MARKS,
	TABLE_INTERRUPTS,
	TABLE_GAPS,
	TABLE_LOSSES,
	TABLE_CONTEXT,
	TABLE_RECORDING_FILES,
	TABLE_RECORDED_EVENTS,
	TABLE_RECORD_COUNTS,
	TABLE_UNNAMED_FILES,
	TABLE_FINDINGS,
	TABLE_FINDING_FACTS,
	TABLE_CODE,
	TABLE_TEXTS,
	STORE_TABLES,
};

struct table {
	const char *name;
	const char *about; /* what a row is, for docs/schema.md */
	const struct column *columns;
	size_t n;
	/* SQL: which rows belong to recording ?1; NULL: all recordings share them */
	const char *of_recording;
	const char *key; /* SQL: the primary key of a table without COLUMN_ID, or NULL */
};

extern const struct table store_tables[STORE_TABLES];

/* --- structs of rows that are part of something larger in the model ------------------- */

/* A strings id with a name; for a symbol also the file it is in. */
struct store_name {
	uint32_t name, dso, build_id;
};

struct wait_frame {
	uint32_t path, frame;
};

/* The fields that many off-CPU intervals share. */
struct offcpu_kind {
	uint8_t state, cause, waker_context, unknown, flags, arg_kind;
	uint16_t syscall, arg;
};

struct offcpu_row {
	struct offcpu offcpu;
	uint32_t kind;
};

/* A thread that an event sampled, with one name. */
struct sample_task {
	uint64_t first_ns, last_ns;
	uint64_t period;       /* of its first sample */
	uint32_t thread, comm; /* thread: TL_NONE if it is given by pid and tid */
	int32_t pid, tid;
	uint16_t event;
	uint8_t tracepoint; /* of event_samples */
};

/* The task's samples with one stack. */
struct sample_sum {
	uint64_t samples, weight;
	uint32_t task, path;
};

struct sample_row {
	uint64_t time_ns, nth;
	uint64_t period; /* UINT64_MAX: the task's */
	uint32_t sum;
	uint16_t cpu;
};

/* A call path of samples, for which unnamed frames that differ only by address are one. */
struct folded_path {
	struct call_path path;
	uint32_t first; /* the first one with the same text; 0: this one */
};

/* The samples of an event and a thread name with such a stack. */
struct folded_sum {
	uint64_t samples, weight;
	uint32_t comm, path;
	uint16_t event;
};

/* --- flat tables ----------------------------------------------------------------------------
 *
 * The same tables for column stores, in which equal values next to each other cost nothing but
 * joins are slow: rows contain their texts, and offcpu, samples and event_samples are like a
 * store's views with these names. Rows are of one recording and ordered by time (flat.h).
 */

enum flat_table_id {
	FLAT_THREADS,
	FLAT_EVENTS,
	FLAT_FRAMES,
	FLAT_CALL_PATHS,
	FLAT_SITES,
	FLAT_OFFCPU,
	FLAT_TOTALS,
	FLAT_SAMPLES,
	FLAT_EVENT_SAMPLES,
	FLAT_SPANS,
	FLAT_LABELS,
	FLAT_MARKS,
	FLAT_LOSSES,
	FLAT_EPISODES,
	FLAT_COUNTERS,
	FLAT_TRAMPOLINES,
	FLAT_BINDINGS,
	FLAT_INTERRUPTS,
	FLAT_GAPS,
	FLAT_CONTEXT,
	FLAT_RECORDING_FILES,
	FLAT_RECORDED_EVENTS,
	FLAT_RECORD_COUNTS,
	FLAT_UNNAMED_FILES,
	FLAT_FINDINGS,
	FLAT_FINDING_FACTS,
	FLAT_RECORDINGS,
	FLAT_TABLES,
};

struct flat_table {
	const char *name;
	const struct column *columns;
	size_t n;
	const char *time; /* the column that rows are ordered by, on the recording's clock, or
			     NULL */
};

extern const struct flat_table flat_tables[FLAT_TABLES];

struct flat_offcpu {
	struct offcpu offcpu;
	uint64_t runnable_ns, wait_ns, work_ns;
	uint8_t verdict; /* enum site_verdict + 1; 0 = no site */
	uint8_t system;
};

/* Is a column's value a text? In flat tables also COLUMN_COMM to COLUMN_EVENT are. */
int schema_is_text(const struct column *c);

/* Can a column be NULL, by its kind? */
int schema_is_optional(const struct column *c);

/* --- SQL from the declarations -------------------------------------------------------- */

/* "a,b,c": all columns, in order. */
void schema_columns(struct buf *b, const struct table *t);

/* The SQL of an empty store: tables, then views. */
void schema_sql(struct buf *b);

#endif
