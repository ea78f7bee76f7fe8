/*
 * unwind_internal.h - what the parts of the unwinder share: the walk over one stack.
 *
 *	unwind.c        the loop, the cache, the rules of two loads
 *	unwind_full.c   the same step with every register (expressions, odd registers)
 *	unwind_guess.c  code bytes and frame pointers, without CFI
 *	unwind_late.c   precise events, whose registers are one instruction late
 *	unwind_chain.c  continuing along the recorded frame-pointer chain
 */
#ifndef LIBSYM_UNWIND_UNWIND_INTERNAL_H
#define LIBSYM_UNWIND_UNWIND_INTERNAL_H

#include "base/check.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/call_sites.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

/* What steps return besides reasons to end: the walk is at the next frame; a register is
 * missing, so walk with all registers. */
#define UNWIND_CONTINUE ((enum unwind_end)0)
#define UNWIND_NEEDS_FULL ((enum unwind_end)100)

enum {
	SIGNALS_MAX = 8, /* signal frames in one stack; counted, since their sp may decrease */
	CACHE_BITS_FIRST = 11, /* 4,096 addresses: a small program's */
	CACHE_BITS_STEP = 2,
	CACHE_BITS_MAX = 15,
};

/* The rule for a pc: half a cache line. */
struct cached_rule {
	uint64_t key; /* pc << 1 | pc is exact */
	uint32_t space, module;
	struct unwind_rule rule;
};
SIZE_IS(struct cached_rule, 32);

/* The cache's two ways, the newer first: one cache line. */
struct cached_rule_set {
	struct cached_rule way[2];
};
SIZE_IS(struct cached_rule_set, 64);

/* The direct calls of a file, collected for unwind_late.c. */
struct late_calls {
	const struct cfi *cfi;
	struct callsites sites;
};

struct unwinder {
	struct unwind_opts o;
	const struct arch *arch;
	uint64_t mask;        /* the regs_mask that `at` belongs to */
	uint8_t at[CFI_REGS]; /* DWARF register → word in the record, ARCH_NONE */
	uint64_t pac_mask;
	struct unwind_stats stats;
	struct unwind_frame *frames;   /* o.max_depth of them */
	struct cached_rule_set *cache; /* 1 << cache_bits of them */
	unsigned cache_bits;
	uint64_t grow_at; /* misses after which the cache grows */
	VEC(struct late_calls) late_calls;
};

struct walk {
	struct unwinder *u;
	const struct unwind_sample *s;
	struct err *e;
	size_t n; /* frames so far */
	uint64_t pc, sp, fp, lr;
	uint64_t frame_sp; /* sp of the last frame added */
	uint64_t low;      /* the stack copy is [low, low + size) */
	size_t size;
	uint8_t have_fp, have_lr;
	uint8_t sp_known; /* 0: no registers but pc */
	uint8_t fresh; /* pc is exact and all registers are live: the sample itself, or the code
			  that a signal interrupted */
	uint8_t trust; /* how the frame at pc was found */
	uint8_t full;  /* reg[] is kept */
	uint8_t planted; /* the last frame's return address was the start of a function */
	uint8_t nsignals;
	uint8_t late;      /* enum unwind_late */
	uint8_t late_skip; /* the first frame has the rule of the instruction this many bytes
			      later */
	int rc;            /* < 0: a callback failed */
	uint64_t signal_at[SIGNALS_MAX];
	uint64_t known; /* bit n: reg[n] is valid; only when full */
	uint64_t reg[CFI_REGS];
};

/* One word of the stack copy. */
static inline int walk_read(const struct walk *w, uint64_t addr, uint64_t *v)
{
	uint64_t off = addr - w->low;
	unsigned word = w->u->arch->word;
	int swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	if (off > w->size || w->size - off < word)
		return 0;
	const uint8_t *p = (const uint8_t *)w->s->stack + off;
	*v = word == 8 ? load_u64(p, swap) : load_u32(p, swap);
	return 1;
}

/* The address of a word of the frame record at fp. */
static inline uint64_t record_word(uint64_t fp, int8_t offset)
{
	return fp + (uint64_t)(int64_t)offset;
}

/* A user return address without its pointer authentication code. */
static inline uint64_t strip(const struct walk *w, uint64_t ra)
{
	return ra & w->u->pac_mask;
}

/* Why a read at `addr` failed: truncated, or a bad rule. */
enum unwind_end read_failure(const struct walk *w, uint64_t addr);

/* The rule for an address, cached if it is new; NULL: w->rc says why. */
const struct cached_rule *rule_at(struct walk *w, uint64_t pc, int exact);

/* Move to the caller as a guess: other registers are lost, or kept as calls keep them. */
void walk_to(struct walk *w, uint64_t pc, uint64_t sp, enum unwind_trust trust);

/* The step of a compact rule. */
enum unwind_end step_rule(struct walk *w, const struct unwind_rule *r);

/* The step with all registers, at the frame w->pc. */
enum unwind_end step_full(struct walk *w, const struct cached_rule *k);

/* Update reg[] after a step that was not a full one. */
void keep_registers(struct walk *w, int signal);

/* One more signal frame at w->sp: UNWIND_CONTINUE, or UNWIND_LOOP. */
enum unwind_end count_signal(struct walk *w);

/* Rules of PLT stubs and signal trampolines, recognized by section and code bytes: 1 or 0. */
int rule_from_code(struct cfi *c, uint64_t va, int exact, struct unwind_rule *rule);

/* A step without CFI: the most certain guess that fits, else the reason in `k`. */
enum unwind_end step_guess(struct walk *w, const struct cached_rule *k);

/* 1 when the bytes before va end in a call instruction, 0 when not, -1 when unreadable. */
int after_call(struct cfi *c, uint64_t va);

/* 1 when `ra` may be a return address. strict: only if readable code there confirms it. */
int is_return_address(struct walk *w, uint64_t ra, int strict);

/* 1 and the target of the direct call before `ra`; 0: an indirect one, or not readable. */
int call_target(struct walk *w, uint64_t ra, uint64_t *target);

/* At the first frame of a precise event: set w->late and w->late_skip, correct w->sp. */
void late_registers(struct walk *w);

/* The step from the first frame where w->late is UNWIND_LATE_RETURN. */
enum unwind_end step_late_return(struct walk *w);

/* Append the recorded chain's frames above those found; returns the new end. */
enum unwind_end append_chain(struct walk *w, enum unwind_end stopped);

#endif
