/*
 * unwind.h - the user stack of one sample, from its registers and its copy of the stack.
 *
 * PERF_SAMPLE_REGS_USER + PERF_SAMPLE_STACK_USER in, return addresses out, leaf first, each
 * with its trust, and one reason why the stack ends there. Works on recordings of every
 * architecture of arch.h on any host: all registers and rules are data.
 *
 *	sample: ip sp fp ... │ stack bytes from sp up
 *	   │
 *	   ├─ (space, pc) in the cache? ── no ──► module_at(pc) ──► cfi_find(va) ──► remember
 *	   ▼                                                         no CFI: PLT and signal code
 *	 rule: CFA, where fp and the return address lie               by their bytes
 *	   │
 *	   ├─ two loads: next pc, next fp ────────────────► next frame
 *	   ├─ needs more registers: the whole stack once more, with all registers (rare)
 *	   ├─ no rule: a guess that must look like a call, marked as one
 *	   └─ the bytes end: go on along the recorded frame-pointer chain, if there is one
 *
 * How a caller uses it:
 *
 *	struct unwind_opts o = {.machine = elf.e_machine, .module_at = my_module_at};
 *	struct unwinder *u;
 *	unwinder_new(&o, &u, e);                        // one per thread
 *	for each sample:
 *		struct unwind_sample s = {
 *			.regs = regs, .regs_mask = attr.sample_regs_user, .abi = abi,
 *			.stack = bytes, .stack_size = dyn_size, .stack_asked = size,
 *			.chain = user_ips, .nchain = n,          // if PERF_SAMPLE_CALLCHAIN
 *			.space = proc->map_generation, .ctx = proc,
 *		};
 *		struct unwind_stack st;
 *		unwind_sample(u, &s, &st, e);
 *		for (size_t i = 0; i < st.n; i++)
 *			name(st.frames[i].module, st.frames[i].lookup);
 *		if (st.end == UNWIND_TRUNCATED) ...
 *
 * Threads: an unwinder belongs to one thread. The struct cfi handles that module_at hands out
 * may be shared by all of them (cfi.h).
 */
#ifndef LIBSYM_UNWIND_UNWIND_H
#define LIBSYM_UNWIND_UNWIND_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct cfi;
struct unwinder;

/* Why a stack ends. */
enum unwind_end {
	UNWIND_COMPLETE = 1, /* the outermost frame was reached */
	UNWIND_CHAIN,        /* went on along the recorded frame-pointer chain to its end */
	UNWIND_TRUNCATED,    /* the stack copy is too short */
	UNWIND_HOLE, /* it ends early: usually at a page that the kernel could not read because
			nothing had touched it yet; or at the stack's end, by a broken rule */
	UNWIND_OTHER_STACK, /* a signal handler runs on its own stack: the interrupted one is
			       beyond any copy */
	UNWIND_NO_MAP,      /* the next address is in no executable mapping */
	UNWIND_NO_FILE,     /* the mapped file is not available, or only another build of it */
	UNWIND_NO_CFI,      /* no unwind information, and no guess fits */
	UNWIND_BAD_READ,    /* a rule led below or far from the stack, or is broken */
	UNWIND_LOOP,        /* no progress */
	UNWIND_DEPTH,       /* max_depth frames */
	UNWIND_LATE,        /* a precise event at a return: the caller is not known */
	UNWIND_UPROBES,     /* a return probe replaced the return address */
	UNWIND_NO_REGS,     /* no user registers but pc, or those of a task of another width */
};

/* A short word for messages and JSON: "complete", "truncated", "no_map" ... Static text. */
const char *unwind_end_name(enum unwind_end end);

/* How a frame was found. */
enum unwind_trust {
	UNWIND_REGS,       /* the sample's own registers */
	UNWIND_CFI,        /* call-frame information */
	UNWIND_PLT,        /* shape of a PLT stub without CFI */
	UNWIND_SIGCODE,    /* bytes of a signal trampoline without CFI */
	UNWIND_RECORDED,   /* from the recorded frame-pointer chain */
	UNWIND_LEAF_GUESS, /* the word at sp (or lr) is a return address: guessed */
	UNWIND_FP_GUESS,   /* the frame pointer leads to a return address: guessed */
	UNWIND_SIG_GUESS,  /* the words below look like the kernel's signal frame: guessed */
};

/* 1 for a frame that may be wrong and must be marked. */
static inline int unwind_guessed(uint8_t trust)
{
	return trust >= UNWIND_LEAF_GUESS;
}

/* How a precise event's late registers were handled. */
enum unwind_late {
	UNWIND_NOT_LATE,    /* unchanged, or by the rule of the next instruction */
	UNWIND_LATE_CALL,   /* at a call: the pushed return address was popped again */
	UNWIND_LATE_RETURN, /* at a return: the caller was guessed from its calls */
	UNWIND_LATE_LOST,   /* at a return: no caller, or several, fit the stack */
};

struct unwind_frame {
	uint64_t ip;     /* the address: sample's pc, or return address */
	uint64_t lookup; /* address for its symbol and line: ip, or ip - 1 after a call */
	uint32_t module; /* id from module_at; 0 when no mapping contains it */
	uint8_t trust;   /* enum unwind_trust */
	uint8_t signal;  /* this is a signal trampoline; the next frame was interrupted */
};

struct unwind_stack {
	const struct unwind_frame *frames; /* leaf first; valid until the next call */
	size_t n;
	enum unwind_end end;
	enum unwind_end stopped; /* why unwinding itself stopped; differs from end when the
				    recorded chain was appended */
	enum unwind_late late;
	size_t recorded; /* index of the first appended frame; n when there is none */
};

/* The answers of opts.is_root. */
enum unwind_root {
	UNWIND_ROOT = 1, /* nothing called it */
	UNWIND_MAIN =
		2, /* main: its caller is the C library's start function, whatever its name */
};

enum unwind_module_flag {
	UNWIND_MOD_JIT = 1,     /* generated code: without CFI, frame pointers first */
	UNWIND_MOD_NO_FILE = 2, /* cfi is NULL because the recorded file is not available */
	UNWIND_MOD_UPROBES = 4, /* the page to which functions with a return probe return */
};

/* The module of an address. */
struct unwind_module {
	struct cfi *cfi; /* borrowed for the unwinder's life; NULL when there is none */
	uint64_t bias;   /* address in the file = pc - bias */
	uint32_t id;     /* the caller's number, copied to the frames */
	uint32_t flags;  /* enum unwind_module_flag */
};

struct unwind_opts {
	uint16_t machine; /* e_machine of the program */
	/*
	 * The executable mapping that contains pc: 1 and *out (zeroed before), 0 when there is
	 * none, < 0 to give up. Called once per new (space, pc), so it may be slow.
	 */
	int (*module_at)(void *ctx, uint64_t pc, struct unwind_module *out);
	/*
	 * Optional; called once when unwinding stops without a proper end: whether the function
	 * at this lookup address is an outermost one, by its name (ROLE_START and
	 * ROLE_ROOT_START of frame_table.h). enum unwind_root or 0.
	 */
	int (*is_root)(void *ctx, uint64_t lookup);
	/*
	 * Optional; called for code without CFI: 1 and the first address of the function at
	 * this lookup address, 0 when no symbol covers it.
	 */
	int (*function_at)(void *ctx, uint64_t lookup, uint64_t *start);
	unsigned max_depth; /* frames per stack; 0 = 1024 */
	unsigned va_bits;   /* bits of a user address, if the upper ones may be a PAC; 0 = the
			       usual */
};

struct unwind_sample {
	const void *regs;      /* as in the record: one u64 per bit of regs_mask, ascending */
	uint64_t regs_mask;    /* attr.sample_regs_user of the event the sample belongs to */
	uint64_t abi;          /* PERF_SAMPLE_REGS_ABI_*: with another width than the machine's,
				  only pc is used */
	const void *stack;     /* copy of the stack, from the user sp up */
	size_t stack_size;     /* valid bytes: dyn_size */
	size_t stack_asked;    /* bytes requested: size; dyn_size < size: the whole stack */
	const uint64_t *chain; /* user part of the recorded callchain (after
				  PERF_CONTEXT_USER), leaf first; NULL when there is none */
	size_t nchain;
	uint32_t space; /* number of this version of the address space: a pid gets a new, unused
			   one whenever its mappings change */
	uint8_t in_kernel; /* cpumode kernel: on x86-64 registers of ~0 are unknown */
	uint8_t precise;   /* cpumode user and PERF_RECORD_MISC_EXACT_IP: on x86-64 all
			      registers but pc are those after the instruction at pc */
	void *ctx;         /* passed to the callbacks: the process */
};

/* ERR_UNSUPPORTED for an unknown machine, ERR_NOMEM. */
int unwinder_new(const struct unwind_opts *o, struct unwinder **out, struct err *e);

/* NULL is accepted. */
void unwinder_free(struct unwinder *u);

/*
 * Unwind one sample. Always gives a stack with a reason, whatever the bytes are; fails only
 * with ERR_NOMEM or what module_at returned.
 */
int unwind_sample(struct unwinder *u, const struct unwind_sample *s, struct unwind_stack *out,
		  struct err *e);

/* Counters since the unwinder was made. */
struct unwind_stats {
	uint64_t stacks, frames;
	uint64_t misses;   /* (space, pc) not in the cache: new or evicted */
	uint64_t restarts; /* stacks walked again with all registers */
};
void unwind_get_stats(const struct unwinder *u, struct unwind_stats *out);

#endif
