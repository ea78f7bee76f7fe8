/*
 * function_sums.h - what functions cost, by themselves and with all that they call: from
 * weighted stacks to the rows of `report --by function`.
 */
#ifndef LIBTIME_TABLES_FUNCTION_SUMS_H
#define LIBTIME_TABLES_FUNCTION_SUMS_H

#include "libsym/profile.h"
#include "libtime/tables/rows.h"

/* Zero-initialised, except for the stacks (borrowed). */
struct function_sums {
	const struct stacks *stacks;
	int program_only; /* the kernel's frames count as the function that called them */
	int fold_inlined; /* inlined calls count as their callers */
	VEC(struct path_sum {
		uint32_t window, path;
		uint64_t weight, samples;
	})
	v;
	struct u64map at; /* window << 32 | path → v */
};

/* Add a stack, in a window of time (0 without). ERR_NOMEM. */
int function_sums_add(struct function_sums *s, uint32_t window, uint32_t path, uint64_t weight,
		      uint64_t samples);

/*
 * Add a row for each function to *out, which is initialized for table_functions. The column
 * self adds up to all weight; a function that calls itself counts once. Functions are the same
 * by their names and those of their modules. Windows begin at `base_ns`, `every_ns` apart (0:
 * no windows). ERR_NOMEM.
 */
int function_sums_rows(const struct function_sums *s, uint64_t base_ns, uint64_t every_ns,
		       struct rows *out);

/* The function of a frame, as ids of `names`: its name and its module's, without folders. An
 * unnamed frame is "[module]". ERR_NOMEM. */
int function_key(struct strtab *names, const struct stacks *s, const struct frame *f,
		 uint32_t *name, uint32_t *module);

/* How many of a stack's n frames, root first, are the program's: all up to the kernel's, or all
 * if it has no others. */
size_t function_sums_of_program(const struct stacks *s, const uint32_t *frames, size_t n);

/* Free the memory. */
void function_sums_release(struct function_sums *s);

#endif
