/*
 * names.h - stack words → frames: every distinct symbol, and where more than the symbol counts
 * every distinct (DSO, address), looked up once.
 *
 *	words ─► (mapping, address) ─► run: symbol and what was inlined there ─► call path
 *
 * Return addresses are looked up at address − 1, so that a call to a function that never
 * returns is blamed on its caller, not on whatever the linker put behind it. The first address
 * of each context is where the CPU was, and is looked up as it is; so are addresses that were
 * planted on the stack (signal trampolines, ret_from_fork) or interrupted (below asm_*
 * entries).
 *
 * A *run* is the frames of one address, outermost first, and equal runs have one number. So two
 * stacks of equal runs print alike, whatever their addresses: the addresses inside a function,
 * and the places where a file was mapped, do not count. That makes few stacks of many: in a
 * system-wide recording nearly every callchain is new, and one in ten is when it is named.
 *
 * Each thread that names has a *namer*. The callers that a stack shares with the one named
 * before it cost a comparison: they are a third of the words of a busy host, and more of one
 * program. For other words it remembers what the most recent ones mean: a lookup in a table
 * that stays in the CPU's cache. A word not seen recently costs a search for its mapping and
 * one for its symbol, without a lock. Only a symbol seen for the first time takes a lock.
 */
#ifndef LIBSYM_NAMES_H
#define LIBSYM_NAMES_H

#include "libsym/process/modules.h"
#include "libsym/stacks.h"
#include "libsym/unwind/stack_words.h"

struct names_options {
	int inlines;   /* add frames that were inlined */
	int lines;     /* fill srcfile and line of frames */
	int max_stack; /* frames kept from the leaf; 0 = 1536, of which 1024 unwound */
	/* Unnamed frames are one, as far as only the address differs: those of user space that
	 * no mapping holds (mostly what a broken frame pointer led to: on a busy host four
	 * fifths of all frames; see FRAME_MERGED), or all. What is left of that says whose it
	 * may have been: the upper 16 bits of the kernel's, else the upper 4. */
	enum { KEEP_ADDRS, MERGE_UNMAPPED, MERGE_UNNAMED } addrs;
	/* Addresses of files with a known build-id get no name: their frames are FRAME_OFFSET.
	 */
	int offsets;
};

struct names {
	struct machine *machine;
	struct modules *modules;
	struct stacks *stacks;
	struct names_options opt;
	int swap;
	/* All below, and strings and frames of `stacks`: under modules_lock. */
	struct dso_names **dsos;
	size_t ndsos;
	VEC(uint32_t) frames;                           /* of the runs, ids */
	VEC(struct frame_run { uint32_t at, n; }) runs; /* [0] is a dummy */
	struct idmap run_index;
	struct u64map unmapped[2]; /* address → run, where no DSO is known; [1]: guessed */
	struct namer *own;         /* names_symbolize's */
	VEC(struct named { uint32_t run, path; }) last; /* names_symbolize: the stack before */
};

/* All borrowed for the life of `n`. `swap`: raw words are in the other byte order. */
void names_init(struct names *n, struct machine *m, struct modules *modules,
		struct stacks *stacks, const struct names_options *opt, int swap);
void names_release(struct names *n);

/* Forget what was named: for a machine that is filled anew. Nobody may have a namer. */
void names_forget(struct names *n);

/* perf's notion of an address inside a mapping, which frames without a name have: the file
 * offset, or the address itself for memory of no file. */
uint64_t names_place(const struct machine *m, const struct map *map, uint64_t ip);

/* One thread's view of `n`, which is borrowed. ERR_NOMEM. */
int namer_new(struct namer **out, struct names *n);
void namer_free(struct namer *r);

/*
 * The runs of a stack, leaf first: views, valid until the next call. 0 or ERR_NOMEM. The
 * machine must know all records. With `early`, 1 when something would have to be waited for
 * that a preparing thread is reading, or depends on the time (jitdumps): such a stack is to be
 * asked for again, later.
 */
int namer_runs(struct namer *r, const struct stack_entry *x, int early, const uint32_t **runs,
	       size_t *n);

/* The call path of an entry (0 when its stack is empty). 0 or ERR_NOMEM. Not thread-safe. */
int names_symbolize(struct names *n, const struct stack_entry *entry, uint32_t *path,
		    struct err *e);

#endif
