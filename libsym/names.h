/*
 * names.h - stack words → call paths: every distinct (DSO, address) looked up once.
 *
 *	words ─► (mapping, address) ─► frames: symbol and what was inlined there ─► call path
 *
 * Return addresses are looked up at address − 1, so that a call to a function that never
 * returns is blamed on its caller, not on whatever the linker put behind it. The first address
 * of each context is where the CPU was, and is looked up as it is; so are addresses that were
 * planted on the stack (signal trampolines, ret_from_fork) or interrupted (below asm_*
 * entries).
 *
 * Stacks come in the order of their samples, so most share their callers with the stack before:
 * from the outermost word on, what is equal is not looked up again.
 */
#ifndef LIBSYM_NAMES_H
#define LIBSYM_NAMES_H

#include "libsym/aggregate.h"
#include "libsym/process/modules.h"
#include "libsym/stacks.h"

struct names_options {
	int inlines;   /* add frames that were inlined */
	int lines;     /* fill srcfile and line of frames */
	int max_stack; /* frames kept from the leaf; 0 = 1536, of which 1024 unwound */
};

struct names {
	struct machine *machine;
	struct modules *modules;
	struct stacks *stacks;
	struct names_options opt;
	int swap;
	struct names_cache *cache; /* one per DSO, by index */
	size_t ncache;
	VEC(uint32_t) frames; /* runs of frame ids, outermost first */
	VEC(struct frame_run {
		uint32_t at, n;
		uint8_t interrupts; /* the frame below it was interrupted: its address is exact
				     */
		uint8_t execve;     /* inside the system call that replaces the address space */
	})
	runs;
	struct u64map unmapped; /* kind and address → run, where no DSO is known */
	struct named_stack {    /* the stack named last */
		VEC(struct named_word) words; /* outermost first; all of it is valid to reuse */
		size_t n;
		uint32_t space, version;
		uint8_t kind;
	} last;
};

/* All borrowed for the life of `n`. `swap`: raw words are in the other byte order. */
void names_init(struct names *n, struct machine *m, struct modules *modules,
		struct stacks *stacks, const struct names_options *opt, int swap);
void names_release(struct names *n);

/* The call path of an entry (0 when its stack is empty). 0 or ERR_NOMEM. Not thread-safe. */
int names_path(struct names *n, const struct stack_entry *entry, uint32_t *path, struct err *e);

#endif
