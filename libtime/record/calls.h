/*
 * calls.h - finds places for probes on functions and ranges of lines, and makes the command
 * lines that set these probes and record counters with them.
 *
 * A probe is set only where an instruction is known to begin: at a function's symbol, or where
 * the compiler says that a statement begins.
 */
#ifndef LIBTIME_RECORD_CALLS_H
#define LIBTIME_RECORD_CALLS_H

#include "libtime/record/plan.h"

/* One address of a probe. */
struct call_place {
	uint32_t region;   /* index of calls.regions */
	uint64_t vaddr;    /* by the ELF headers */
	uint64_t offset;   /* in the file */
	uint8_t end;       /* 0: a start of the region, 1: an end */
	uint8_t is_return; /* a return probe: all returns of the function */
	uint32_t line;     /* 0: a function's entry */
};

/* A function or a range of lines to count in. */
struct call_region {
	char *text;       /* as the user wrote it; heap */
	char *name;       /* of its probes, without the suffix of an end; heap */
	uint8_t is_lines; /* else a function */
};

struct calls {
	VEC(struct call_region) regions;
	VEC(struct call_place) places; /* by region, begins first, by address */
};

/*
 * Find the regions ("FUNC", "FILE:FIRST-LAST") in a binary. FUNC is every function of that
 * symbol, or of that name without parameters. FILE:FIRST-LAST starts at the first statement of
 * line FIRST, or of the next line with one, once in each function, and ends at the first
 * statement of LAST. ERR_NOTFOUND with the nearest names; ERR_USAGE; errors of reading.
 */
int calls_find(struct calls *out, const char *binary, const char *const *regions, size_t n,
	       struct err *e);
void calls_release(struct calls *c);

/* Every function of a binary, a line each: address and name. Errors of reading. */
int calls_list_functions(struct buf *out, const char *binary, struct err *e);

/* The definitions for the kernel's uprobe_events, a line each; with `undo`, the lines that
 * remove them. */
void calls_definitions(struct buf *out, const struct calls *c, const char *binary, int undo);

/* The bytes of each ring buffer, of which every thread has one: fewer for many threads, but not
 * fewer than perf's own default. */
uint64_t calls_ring(size_t threads);

struct calls_wish {
	const char *perf, *output, *pid, *tid, *events;
	int inherit, own_ids, duration;
	uint64_t ring; /* -m, bytes; 0: perf's own */
	int version;   /* of perf, as in struct record_wish; 0: any */
	const char *const *command;
	size_t ncommand;
};

/* The `perf record` line: all probes in the group of the counters; with tracepoints among
 * these, a group for each probe. ERR_USAGE, ERR_NOMEM. */
int calls_line(struct words *out, const struct calls *c, const struct calls_wish *w,
	       struct err *e);

/* What calls_line was asked to count, from the list of events after its first -e. */
void calls_counters(struct buf *out, const char *list);

struct recording;
struct event;

/* 1 if the event is a probe, or another tracepoint, that reads counters. */
int calls_reads(const struct event *ev);

/* A tracepoint that reads counters, but that perf moved out of their group, or NULL. */
const struct event *calls_split_event(const struct recording *rec);

#endif
