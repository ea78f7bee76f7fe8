/*
 * names.h - stack words → frames: every distinct symbol, or (DSO, address) if the symbol does
 * not decide, is looked up once.
 *
 *	words ─► (mapping, address) ─► run: symbol and what was inlined there ─► call path
 *
 * Return addresses are looked up at address − 1, so that a call to a function that never
 * returns belongs to its caller, not to whatever follows it in memory. The first address of
 * each context is the instruction pointer and is looked up unchanged; so are addresses that
 * were planted on the stack (signal trampolines, ret_from_fork) or interrupted (below asm_*
 * entries).
 *
 * A *run* is the frames of one address, outermost first, and equal runs have one number. So two
 * stacks of equal runs print alike, even if their addresses inside functions, or those of the
 * mappings, differ. That merges most stacks: in a system-wide recording nearly every callchain
 * is new, but only one in ten named stacks.
 *
 * Each thread that names has a *namer*. Callers shared with the previous stack cost only a
 * comparison: they are a third of the words of a busy host, and more of a single program. The
 * runs of other recent words are in a table that fits into the CPU's cache. A word not seen
 * recently costs a search for its mapping and one for its symbol, without a lock. Only a symbol
 * seen for the first time takes a lock.
 */
#ifndef LIBSYM_NAMES_H
#define LIBSYM_NAMES_H

#include "libsym/chain_limits.h"
#include "libsym/process/modules.h"
#include "libsym/stacks.h"
#include "libsym/unwind/stack_words.h"

struct names_options {
	int inlines;   /* add frames that were inlined */
	int lines;     /* fill srcfile and line of frames */
	int max_stack; /* frames kept from the leaf; 0 = 1536, of which 1024 unwound */
	/* Which unnamed frames that differ only by address are merged: none, those of user
	 * space outside of any mapping (mostly from broken frame pointers: on a busy host four
	 * fifths of all frames; see FRAME_MERGED), or all. What is kept of an address tells
	 * kernel from user: the upper 16 bits of the kernel's, else the upper 4. */
	enum { KEEP_ADDRS, MERGE_UNMAPPED, MERGE_UNNAMED } addrs;
	/* Addresses in files with a known build-id are not named: their frames are
	 * FRAME_OFFSET.
	 */
	int offsets;
	/* Frames of files have their instruction (frame.at): stacks that differ only by
	 * addresses inside functions are kept apart. */
	int places;
};

/* Frames of `stacks`. A VEC. */
struct frame_ids {
	uint32_t *v;
	size_t n, cap;
};

struct names {
	struct machine *machine;
	struct modules *modules;
	struct stacks *stacks;
	struct names_options opt;
	struct chain_limits chains; /* without a recording until the caller sets it */
	int swap;
	/* modules_lock protects everything below, and the strings and frames of `stacks`. */
	struct dso_names **dsos;
	size_t ndsos;
	VEC(uint32_t) frames;                           /* of the runs, ids */
	VEC(struct frame_run { uint32_t at, n; }) runs; /* [0] is a dummy */
	struct idmap run_index;
	struct u64map unmapped[2]; /* address → run, outside of DSOs; [1]: guessed */
	struct namer *own;         /* of names_frames, … */
	struct frame_ids stack;    /* … and of names_symbolize: the stack, … */
	struct last_stack last;    /* … and the one before */
};

/* All pointers are borrowed for the life of `n`. `swap`: raw words are in the other byte
 * order. */
void names_init(struct names *n, struct machine *m, struct modules *modules,
		struct stacks *stacks, const struct names_options *opt, int swap);
void names_release(struct names *n);

/* Drop all names, for a machine that is filled again. There must be no namer. */
void names_forget(struct names *n);

/* The address of an unnamed frame as perf prints it: the file offset, or the address itself
 * outside of files. */
uint64_t names_place(const struct machine *m, const struct map *map, uint64_t ip);

/* Is it a DSO's name of a heap, stack or other memory that holds data alone? What such memory
 * has of code is a DSO of perf's map. */
int names_is_data(const char *dso);

/* One thread's view of `n`, which is borrowed. ERR_NOMEM. */
int namer_new(struct namer **out, struct names *n);
void namer_free(struct namer *r);

/*
 * The runs of a stack, leaf first: views, valid until the next call. 0 or ERR_NOMEM. The
 * machine must know all records. With `early`, 1 when a preparing thread is still reading a
 * file that is needed, or the runs depend on the time (jitdumps): ask for that stack again
 * later.
 */
int namer_runs(struct namer *r, const struct stack_entry *x, int early, const uint32_t **runs,
	       size_t *n);

/* Append the frames of an entry's stack, root first. 0 or ERR_NOMEM. Not thread-safe. */
int names_frames(struct names *n, const struct stack_entry *entry, struct frame_ids *out);

/* The call path of an entry (0 when its stack is empty). 0 or ERR_NOMEM. Not thread-safe. */
int names_symbolize(struct names *n, const struct stack_entry *entry, uint32_t *path,
		    struct err *e);

#endif
