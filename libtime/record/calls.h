/*
 * calls.h - where probes go for calls of functions and stretches of lines, and the lines that
 * set them and record the counters in their groups.
 *
 * A probe is set only where an instruction is known to begin: at a function's symbol, or where
 * the compiler says that a statement begins.
 */
#ifndef LIBTIME_RECORD_CALLS_H
#define LIBTIME_RECORD_CALLS_H

#include "libtime/record/plan.h"

/* One address of a probe. */
struct call_place {
	uint32_t region;   /* index of what was asked for */
	uint64_t vaddr;    /* in the file */
	uint64_t offset;   /* of it in the file */
	uint8_t end;       /* 0: the begin */
	uint8_t is_return; /* at the function's return, wherever that is */
	uint32_t line;     /* 0: a function's entry */
};

/* What is counted in. */
struct call_region {
	char *text;       /* as asked for; heap */
	char *name;       /* of its probes, without what tells begin from end; heap */
	uint8_t is_lines; /* else a function */
};

struct calls {
	VEC(struct call_region) regions;
	VEC(struct call_place) places; /* by region, begins first, by address */
};

/*
 * Find the regions ("FUNC", "FILE:FIRST-LAST") in a binary. A function is every one of that
 * symbol, or of that name without its parameters. Lines begin where the first statement of line
 * FIRST, or of the next line that has one, begins, once in each function, and end where that of
 * LAST does. ERR_NOTFOUND with the nearest names; ERR_USAGE; reading's errors.
 */
int calls_find(struct calls *out, const char *binary, const char *const *regions, size_t n,
	       struct err *e);
void calls_release(struct calls *c);

/* Every function of a binary, a line each: address and name. Reading's errors. */
int calls_list_functions(struct buf *out, const char *binary, struct err *e);

/* The definitions for the kernel's uprobe_events, a line each; `undo`: those that remove them.
 */
void calls_definitions(struct buf *out, const struct calls *c, const char *binary, int undo);

struct calls_wish {
	const char *perf, *output, *pid, *tid, *events;
	int inherit, duration, pages;
	const char *const *command;
	size_t ncommand;
};

/* The `perf record` line. ERR_USAGE, ERR_NOMEM. */
int calls_line(struct words *out, const struct calls *c, const struct calls_wish *w,
	       struct err *e);

#endif
