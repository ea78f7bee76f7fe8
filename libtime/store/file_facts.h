/*
 * file_facts.h - facts about a recording as a file, which `perfkit report` prints: host,
 * events, records, losses, and files without names. A store keeps them, because it has no
 * recording to read them from.
 */
#ifndef LIBTIME_STORE_FILE_FACTS_H
#define LIBTIME_STORE_FILE_FACTS_H

#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

enum file_mode { FILE_MODE_FILE, FILE_MODE_PIPE, FILE_MODE_DIRECTORY, FILE_MODES };

enum event_stacks {
	EVENT_STACKS_NONE,
	EVENT_STACKS_CHAINS,
	EVENT_STACKS_COPIES,
	EVENT_STACKS_BRANCHES,
	EVENT_STACKS_KINDS
};

/* One event of the recording: what was requested, and what was recorded. */
struct file_event {
	uint64_t samples, weight, rate; /* rate: a period, or samples a second if by_rate */
	uint32_t name;
	uint8_t tracepoint, by_rate, stacks; /* stacks: enum event_stacks */
};

struct file_records {
	uint64_t count;
	uint32_t type;
};

/* A file, or something like it (vdso, anonymous memory), with frames that have no names. */
struct unnamed_file {
	uint64_t samples;                /* with at least one such frame */
	uint32_t name;                   /* 0: the addresses are in no mapping */
	uint32_t path, detail, build_id; /* detail: the candidate that was refused */
	int32_t pid;                     /* of anonymous memory, or -1 */
	uint8_t kind;                    /* enum dso_kind + 1; 0: none */
	uint8_t reason;                  /* enum dso_reason */
	size_t last_counted;             /* for missing.c */
};

struct unnamed_files {
	VEC(struct unnamed_file) v;   /* most samples first */
	uint64_t samples, named_leaf; /* all; with a named innermost frame */
};

/* Texts are ids of stacks->strings; zero-initialised is empty. */
struct file_facts {
	struct stacks *stacks; /* borrowed, or `own`; NULL: no facts */
	struct stacks own;
	uint32_t path, host, kernel, arch, perf, cpu, command, torn;
	uint32_t clock; /* "CLOCK_MONOTONIC", …, "perf"; "" = unknown */
	uint32_t cpus;
	uint64_t bytes;             /* of records */
	uint64_t first_ns, last_ns; /* of samples; last 0: none has a time */
	uint64_t lost, dropped, broken, unknown_records;
	uint8_t mode, big_endian, compressed, cut_off;
	uint8_t has_names; /* `unnamed` was filled */
	VEC(struct file_event) events;
	VEC(struct file_records) records; /* by type */
	struct unnamed_files unnamed;
};

/* Release everything; the facts are then empty. */
void file_facts_release(struct file_facts *f);

/* Write the facts of the recording that was added last. Errors as for store_writer_add. */
int store_write_file(struct store_writer *w, const struct file_facts *f, struct err *e);

/* Read the facts of a recording. The caller releases *out, after a failure, too. ERR_IO,
 * ERR_FORMAT, ERR_NOMEM. */
int store_read_file(struct store *s, int64_t recording, struct file_facts *out, struct err *e);

#endif
