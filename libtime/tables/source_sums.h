/*
 * source_sums.h - where in their functions stacks spend their weight: source lines, inlined
 * calls, copies of a function, instructions.
 *
 * Each frame is a line of its function, also an inlined one; what a line has inlined hangs below
 * it, as a tree.
 *
 *	stack (root first)           lines
 *	main     a.c:3               main a.c:3              total
 *	sort     sort.h:9            sort sort.h:9           total, inlined
 *	less     a.c:20  (inlined)     └ less a.c:20         total, self
 *	                             less a.c:20             total, self
 *
 * self: the stack ends in the line itself; inlined: in a call inlined there; total: it passes
 * through the line, counted once.
 */
#ifndef LIBTIME_TABLES_SOURCE_SUMS_H
#define LIBTIME_TABLES_SOURCE_SUMS_H

#include "libtime/sched/timeline.h"
#include "libtime/tables/function_sums.h"

struct source_weight {
	uint64_t self, inlined, total;
};

/* Other counters that the event's samples read, at most. */
enum { SOURCE_COUNTERS = 6 };

struct source_function {
	uint32_t name, module; /* ids of source_sums.names */
	uint64_t samples;      /* that end in it */
	uint64_t near;         /* weight of stacks whose nearest frame with a text is its, or if
			* they have none, the nearest with a known line; waits
			* in inlined code count for the function that contains it */
	struct source_weight w;
	uint64_t counts[SOURCE_COUNTERS]; /* of each counter, self and inlined */
};

struct source_line {
	uint32_t function; /* index; of an inlined call, the called one */
	uint32_t parent;   /* index of the line it is inlined in; NO_ID: the function's own */
	uint32_t dso;      /* strings ids of the stacks: whose debug information says so, … */
	uint32_t file;     /* … 0: not known */
	uint32_t line;     /* 0: not known */
	struct source_weight w;
	uint64_t counts[SOURCE_COUNTERS];
};

/* One copy of a function's code: its symbol, or an inlined call. */
struct source_place {
	uint32_t function;
	uint32_t dso;  /* strings id of the stacks */
	uint32_t name; /* the symbol's, in the same way; 0: it has none, or is inlined */
	uint64_t addr; /* of the symbol; else 0 */
	uint32_t
		caller; /* line (with file, line of the call) it is inlined in; NO_ID: a symbol */
	struct source_weight w;
};

/* An instruction of a place that is a symbol, `at` bytes from its start; inlined code is its
 * own. Only with names_options.places. */
struct source_code {
	uint32_t place, at;
	uint64_t self, total;
};

/* Zero-initialised, except for what is above `names`; stacks are borrowed. */
struct source_sums {
	const struct stacks *stacks;
	/* Set for waits: the kernel's frames count as the function that called them, and a stack
	 * is nearest to its innermost application frame (app_frame.h). */
	const struct timeline *waits_of;
	int code;             /* instructions, too */
	const uint8_t *files; /* NULL, or a flag per strings id: the lines of these files … */
	const char *files_name; /* … are one function of this name */
	const uint8_t *texts;   /* NULL, or a flag per strings id: files that have a text */
	struct strtab names;
	VEC(struct source_function) functions;
	VEC(struct source_line) lines;
	VEC(struct source_place) places;
	VEC(struct source_code) codes;
	uint64_t all, samples; /* of all stacks */
	uint64_t counted[SOURCE_COUNTERS];
	struct source_index *index;
};

/* Count all stacks of `from`. If they have windows, these are stacks, too, with which they go on:
 * of the thread that a wait is for. ERR_NOMEM. */
int source_sums_add_all(struct source_sums *s, const struct function_sums *from);

/* Count stacks that are weighted by a counter, into `counts` alone. ERR_NOMEM. */
int source_sums_add_counter(struct source_sums *s, unsigned counter,
			    const struct function_sums *from);

/* The code of a symbol that a stack passes through. */
struct source_passed {
	const uint32_t *lines; /* indices: its lines, and those of what is inlined there */
	size_t n;
	uint32_t code; /* index of the instruction; NO_ID: not known */
	int ends;      /* the stack does, in this code */
};

/* Call `take` for each of these, root first. Stops at the first return value that is not 0 and
 * returns it. ERR_NOMEM. */
int source_sums_lines(struct source_sums *s, uint32_t path,
		      int (*take)(void *ctx, const struct source_passed *p), void *ctx);

/* The functions that a text names, hottest first, as indices: by the id or the whole name, else
 * by its end after "::", ".", or "/", else by a pattern (* ? [), else by any part. NULL: all.
 * ERR_NOMEM. */
typedef VEC(uint32_t) source_picks;
int source_pick_functions(const struct source_sums *s, const char *name, source_picks *out);

/*
 * The files whose path is `name` or ends with /name: flags per strings id into *files (heap, as
 * large as the stacks' strings), and their number; 0: none. `line` (0: any): only if a line of
 * that number has weight. ERR_NOMEM.
 */
int source_pick_files(const struct source_sums *s, const char *name, uint32_t line,
		      uint8_t **files);

/* The functions with a line of these files, hottest first. ERR_NOMEM. */
int source_pick_in_files(const struct source_sums *s, const uint8_t *files, uint32_t line,
			 source_picks *out);

/* Free the memory. */
void source_sums_release(struct source_sums *s);

#endif
